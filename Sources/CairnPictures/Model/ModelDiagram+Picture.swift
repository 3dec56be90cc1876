// The diagram, drawn: links first, then boxes, which lie beside them.
//
//   1. Boxes get their sizes from their rows (EntityBox), and their places from what links them (BoxGraph).
//   2. Boxes that nothing links are as wide as each other, so that they stand in columns.
//   3. At each end of a relationship stands how many objects there are at that end: a crow's foot for many, a bar for one.

import CairnInspection

extension ModelDiagram {
    private static let margin = 10.0

    /// Draws it.
    ///
    /// - Parameters:
    ///   - width: how wide it should be at least; it is as wide as it needs to be.
    ///   - mostAttributes: how many attributes of an entity are shown; nil: the fewer the more entities there are.
    package func picture(width: Double = 960, mostAttributes: Int? = nil) -> Picture {
        var writer = SVGWriter()
        let name = "cairn-model"
        guard !entities.isEmpty else {
            writer.write("The model has no entities.", 4, 20, size: 13, ink: .muted)
            return Picture(
                name, title: title, summary: "The model has no entities.", width: 320, height: 32,
                writer)
        }
        let boxes = entities.map { EntityBox($0, most: mostAttributes ?? usualAttributes) }
        let links = DiagramLink.all(of: self)
        let placement = graph(boxes, links).placed(
            shape: 1.5, leastWidth: min(width, 960) - 2 * Self.margin)
        let whole = max(placement.width + 2 * Self.margin, 320)
        let legend = Legend(entries(links), width: whole)
        legend.draw(in: &writer, y: 0)
        let top = legend.height + Self.margin
        for (link, route) in zip(links, placement.routes) {
            guard let route = route?.moved(Self.margin, top) else { continue }
            draw(link, route, &writer)
        }
        for (index, box) in boxes.enumerated() {
            var frame = placement.frames[index]
            frame.x += Self.margin
            frame.y += top
            draw(box, in: frame, slots: placement.slots[index], &writer)
        }
        return Picture(
            name, title: title, summary: summary(links), width: whole,
            height: placement.height + top + Self.margin, writer)
    }

    private var usualAttributes: Int {
        switch entities.count {
        case ...20: 16
        case ...50: 10
        default: 7
        }
    }

    private var title: String {
        comparison.map { "The model, compared with \($0)" } ?? "The model"
    }

    private func summary(_ links: [DiagramLink]) -> String {
        let joins = links.count { !$0.isInheritance }
        var words =
            "\(PlainText.count(entities.count, "entity", "entities")) and "
            + "\(PlainText.count(joins, "link", "links")) between them, a relationship and its inverse as one."
        if comparison != nil {
            let counts = Change.allCases.map { change in
                let all = entities.filter { $0.change == change }.count
                return
                    "\(all) \(change == .added ? "added" : change == .removed ? "removed" : "changed")"
            }
            words += " Entities: \(counts.joined(separator: ", "))."
        }
        let linked = links.filter { !$0.isInheritance }.prefix(200).map(self.words)
        return words + (linked.isEmpty ? "" : " " + linked.joined(separator: "; ") + ".")
    }

    private func entries(_ links: [DiagramLink]) -> [Legend.Entry] {
        var entries: [Legend.Entry] = []
        if entities.contains(where: { $0.attributes.contains(where: \.isKey) }) {
            entries.append(.init(fill: Ink.panel.css, words: "◆ in a uniqueness constraint"))
        }
        if links.contains(where: \.isInheritance) {
            entries.append(.init(fill: Ink.inheritance.css, words: "inherits"))
        }
        if links.contains(where: { !$0.isInheritance }) {
            entries.append(
                .init(fill: Ink.line.css, words: "relationship: crow's foot = many, bar = one"))
        }
        if comparison != nil {
            entries += Change.allCases.map { .init(fill: $0.ink.css, words: "\($0.sign) \($0)") }
        }
        return entries
    }

    private func graph(_ boxes: [EntityBox], _ links: [DiagramLink]) -> BoxGraph {
        var graph = BoxGraph(
            boxes: boxes.map {
                .init(
                    width: $0.width, height: $0.height, head: 14, slotTop: $0.slotTop,
                    slotHeight: EntityBox.rowHeight, slots: $0.relationships.count)
            },
            lines: links.map {
                .init(
                    from: .init(box: $0.from.entity, slot: $0.from.relationship),
                    to: .init(box: $0.to.entity, slot: $0.to.relationship),
                    leadsRight: $0.isInheritance)
            })
        let linked = Set(links.flatMap { [$0.from.entity, $0.to.entity] })
        let alone = graph.boxes.indices.filter { !linked.contains($0) }
        let widest = alone.map { graph.boxes[$0].width }.max() ?? 0
        for box in alone { graph.boxes[box].width = widest }
        return graph
    }

    // MARK: Links

    private func relationship(_ end: DiagramLink.End) -> Relationship? {
        end.relationship.map { entities[end.entity].relationships[$0] }
    }

    private func words(_ link: DiagramLink) -> String {
        let names = [link.from, link.to].map { end in
            entities[end.entity].name + (relationship(end).map { ".\($0.name)" } ?? "")
        }
        if link.isInheritance { return "\(names[1]) inherits from \(names[0])" }
        let arities = [link.from, link.to].compactMap { relationship($0)?.arity }
        let arrow = link.to.relationship == nil ? "→" : "↔"
        return "\(names[0]) \(arrow) \(names[1]) (\(arities.joined(separator: ", ")))"
    }

    private func change(of link: DiagramLink) -> Change? {
        let changes = [link.from, link.to].compactMap {
            entities[$0.entity].change == .changed
                ? relationship($0)?.change
                : entities[$0.entity].change ?? relationship($0)?.change
        }
        return changes.first { $0 == .added } ?? changes.first { $0 == .removed } ?? changes.first
    }

    private func draw(_ link: DiagramLink, _ route: Route, _ writer: inout SVGWriter) {
        let ink: Ink = link.isInheritance ? .inheritance : .line
        let own = relationship(link.from)
        writer.open(
            "g",
            [
                "class": link.isInheritance ? "cairn-link cairn-inheritance" : "cairn-link",
                "data-entity": entities[link.from.entity].name, "data-property": own?.name,
                "fill": "none", "stroke": ink.css,
                "stroke-width": link.isInheritance ? "1.6" : "1.2",
            ], title: words(link))
        let change = change(of: link)
        let path = Self.path(route)
        if let change {
            writer.add(
                "path", ["d": path, "stroke": change.ink.css, "stroke-width": "5"])
        }
        // A wide one that nobody sees, for the pointer.
        writer.add("path", ["d": path, "stroke": "transparent", "stroke-width": "9"])
        writer.add("path", ["d": path, "stroke-dasharray": change == .removed ? "5 3" : nil])
        if link.isInheritance {
            Self.drawTriangle(route.start, side: route.startSide, &writer)
        } else {
            // At an end stands how many objects the other end leads to.
            Self.drawArity(relationship(link.to), route.start, side: route.startSide, &writer)
            Self.drawArity(own, route.end, side: route.endSide, &writer)
        }
        writer.end("g")
    }

    private static func path(_ route: Route) -> String {
        func text(_ point: Point) -> String {
            "\(SVGWriter.number(point.x)) \(SVGWriter.number(point.y))"
        }
        let stub = 12.0
        var path = "M\(text(route.start))"
        var here = route.start
        for (index, leg) in route.legs.enumerated() {
            switch leg {
            case .straight(let point):
                path += "L\(text(point))"
                here = point
            case .curve(let point):
                let side = (point.x - here.x).sign == .minus ? -1.0 : 1
                // Ends of a line are level for a bit, so that what marks them stands straight.
                var start = here
                var end = point
                if index == 0 { start.x += side * stub }
                if index == route.legs.count - 1 { end.x -= side * stub }
                let middle = (start.x + end.x) / 2
                path += "L\(text(start))C\(text(Point(x: middle, y: start.y))) "
                path += "\(text(Point(x: middle, y: end.y))) \(text(end))L\(text(point))"
                here = point
            case .arc(let point, let reach):
                let x = max(here.x, point.x) + reach * 4 / 3
                path +=
                    "C\(text(Point(x: x, y: here.y))) \(text(Point(x: x, y: point.y))) \(text(point))"
                here = point
            }
        }
        return path
    }

    private static func drawTriangle(_ point: Point, side: Double, _ writer: inout SVGWriter) {
        let x = point.x + side * 11
        writer.add(
            "path",
            [
                "d":
                    "M\(SVGWriter.number(point.x)) \(SVGWriter.number(point.y))L\(SVGWriter.number(x)) \(SVGWriter.number(point.y - 6))V\(SVGWriter.number(point.y + 6))Z",
                "fill": Ink.paper.css,
            ])
    }

    private static func drawArity(
        _ relationship: Relationship?, _ point: Point, side: Double, _ writer: inout SVGWriter
    ) {
        let y = point.y
        func text(_ value: Double) -> String { SVGWriter.number(value) }
        guard let relationship else {
            writer.add(
                "circle",
                [
                    "cx": text(point.x), "cy": text(y), "r": "2.5", "fill": Ink.line.css,
                    "stroke": "none",
                ])
            return
        }
        let x = point.x + side * (relationship.isToMany ? 10 : 7)
        let path =
            relationship.isToMany
            ? "M\(text(point.x)) \(text(y - 5))L\(text(x)) \(text(y))L\(text(point.x)) \(text(y + 5))"
            : "M\(text(x)) \(text(y - 5))V\(text(y + 5))"
        writer.add("path", ["d": path, "stroke-width": "1.4"])
    }

    // MARK: Boxes

    private func draw(
        _ box: EntityBox, in frame: Frame, slots: [Int], _ writer: inout SVGWriter
    ) {
        let entity = box.entity
        let change = entity.change
        writer.open("g", ["class": "cairn-entity", "data-entity": entity.name])
        writer.rectangle(frame, fill: Ink.paper.css, stroke: .line, radius: 5)
        var head = frame
        head.height = box.headHeight
        let kind = entity.isAbstract ? "abstract entity" : "entity"
        writer.rectangle(
            head, fill: (change?.ink ?? .panel).css, stroke: .line, radius: 5,
            title: "\(kind) \(entity.name)" + (change.map { ", \($0)" } ?? ""))
        let room = frame.width - 2 * EntityBox.padding
        let noteWidth = entity.note.map { TextWidth.of($0, size: EntityBox.size) + 10 } ?? 0
        writer.write(
            TextWidth.cut(box.title, to: room - noteWidth, size: EntityBox.nameSize, bold: true),
            frame.x + EntityBox.padding, frame.y + 18, size: EntityBox.nameSize, bold: true,
            italic: entity.isAbstract)
        if let note = entity.note {
            writer.write(
                note, frame.right - EntityBox.padding, frame.y + 18, ink: .muted, anchor: "end")
        }
        if let parent = entity.parent {
            writer.write(
                TextWidth.cut("inherits from \(parent)", to: room, size: EntityBox.size),
                frame.x + EntityBox.padding, frame.y + 33, ink: .inheritance)
        }
        for (number, section) in box.sections.enumerated() {
            let top = frame.y + section.top
            if number > 0 {
                writer.add(
                    "line",
                    [
                        "x1": SVGWriter.number(frame.x), "x2": SVGWriter.number(frame.right),
                        "y1": SVGWriter.number(top - 3.5), "y2": SVGWriter.number(top - 3.5),
                        "stroke": Ink.line.css, "stroke-opacity": "0.5",
                    ])
            }
            let isSlots = section.top == box.slotTop && !box.relationships.isEmpty
            for (index, row) in section.rows.enumerated() {
                let place = isSlots ? slots[index] : index
                draw(
                    row, in: frame, y: top + Double(place) * EntityBox.rowHeight, &writer)
            }
        }
        writer.end("g")
    }

    private func draw(
        _ row: EntityBox.Row, in frame: Frame, y: Double, _ writer: inout SVGWriter
    ) {
        writer.open(
            "g", ["class": "cairn-row", "data-property": row.property], title: row.title)
        let line = Frame(
            x: frame.x + 1, y: y, width: frame.width - 2, height: EntityBox.rowHeight)
        writer.rectangle(line, fill: row.change?.ink.css ?? "transparent")
        let room = frame.width - 2 * EntityBox.padding
        let left = (row.change.map { "\($0.sign) " } ?? "") + row.left
        let leftWidth = TextWidth.of(left, size: EntityBox.size, bold: row.isBold)
        let rightWidth = TextWidth.of(row.right, size: EntityBox.size)
        // The name may have two thirds if both are too long.
        let rightRoom = row.right.isEmpty ? 0 : max(room - leftWidth - 10, room / 3)
        let right = TextWidth.cut(row.right, to: rightRoom, size: EntityBox.size)
        let used = row.right.isEmpty ? 0 : min(rightWidth, rightRoom) + 10
        writer.write(
            TextWidth.cut(left, to: room - used, size: EntityBox.size, bold: row.isBold),
            frame.x + EntityBox.padding, y + 12.5, size: EntityBox.size, ink: row.ink,
            bold: row.isBold, italic: row.isItalic)
        if !right.isEmpty {
            writer.write(
                right, frame.right - EntityBox.padding, y + 12.5, size: EntityBox.size,
                ink: .muted, anchor: "end")
        }
        writer.end("g")
    }
}
