// What takes how much space, as areas: a rectangle for each group, and in it one for each of its parts.
//
//   1. Groups without bytes are left out. So many of the smallest groups as have no visible area together are one group.
//   2. The groups divide the picture, and the parts what a group's title leaves of it (Squares).
//   3. Names stand where there is room for them; what has no name says its own under the pointer.
//
// Threads: values.

import CairnInspection

/// A treemap of bytes.
package struct SpaceTreemap: Sendable {
    /// A part of a group.
    package struct Part: Sendable {
        /// What its bytes are.
        package enum Kind: Sendable {
            /// What is in use.
            case live
            /// What is dead.
            case dead
            /// Memory, not a part of any file.
            case memory
        }

        let name: String
        let bytes: UInt64
        let kind: Kind
        let property: String?
        let remark: String?

        /// - Parameters:
        ///   - property: which property of the group's entity it is, if it is one.
        ///   - remark: what else is said of it under the pointer.
        package init(
            _ name: String, bytes: UInt64, kind: Kind = .live, property: String? = nil,
            remark: String? = nil
        ) {
            self.name = name
            self.bytes = bytes
            self.kind = kind
            self.property = property
            self.remark = remark
        }
    }

    /// An entity, or something else that takes space.
    package struct Group: Sendable {
        let name: String
        let entity: String?
        let parts: [Part]

        /// - Parameter entity: which entity it is, if it is one.
        package init(_ name: String, entity: String? = nil, parts: [Part]) {
            self.name = name
            self.entity = entity
            self.parts = parts.filter { $0.bytes > 0 }
        }

        var bytes: UInt64 { parts.reduce(0) { $0 &+ $1.bytes } }
    }

    let groups: [Group]

    package init(_ groups: [Group]) {
        self.groups = groups.filter { $0.bytes > 0 }
    }

    /// Draws it.
    package func picture(width: Double = 960) -> Picture {
        let width = max(width, 240)
        let height = (width < 600 ? width * 1.1 : width * 0.56).rounded()
        let name = width < 600 ? "cairn-space-narrow" : "cairn-space"
        let hatching = Hatching(name, ink: .dead)
        var writer = SVGWriter()
        hatching.declare(in: &writer)
        let legend = Legend(entries(hatching), width: width)
        let area = Frame(x: 0, y: legend.height + 4, width: width, height: height)
        legend.draw(in: &writer, y: 0)
        if groups.isEmpty {
            writer.write("Nothing takes space yet.", 4, area.y + 20, size: 13, ink: .muted)
            return Picture(
                name, title: title, summary: "Nothing takes space yet.", width: width,
                height: area.y + 32, writer)
        }
        let shown = gathered(area: width * height)
        let frames = Squares.divide(area, among: shown.map { Double($0.group.bytes) })
        for (frame, group) in zip(frames, shown) {
            draw(group.group, hue: group.hue, in: frame, hatching, &writer)
        }
        return Picture(
            name, title: title, summary: summary, width: width, height: area.bottom, writer)
    }

    private var title: String { "Space by entity and property" }

    private var summary: String {
        let total = groups.reduce(UInt64(0)) { $0 &+ $1.bytes }
        let largest = groups.sorted { $0.bytes > $1.bytes }.prefix(8)
        let words = largest.map { "\($0.name): \(PlainText.bytes($0.bytes))" }
        let rest = groups.count > largest.count ? ", and \(groups.count - largest.count) more" : ""
        return "\(PlainText.bytes(total)) in all. \(words.joined(separator: ", "))\(rest)."
    }

    private func entries(_ hatching: Hatching) -> [Legend.Entry] {
        let kinds = Set(groups.flatMap { $0.parts.map(\.kind) })
        var entries = [Legend.Entry(fill: Ink.hue0.css, words: "in use, a colour for each entity")]
        if kinds.contains(.dead) {
            entries.append(.init(fill: hatching.fill, words: "dead: changed or deleted since"))
        }
        if kinds.contains(.memory) {
            entries.append(.init(fill: Ink.index.css, words: "in memory: no part of the files"))
        }
        return entries
    }

    // MARK: Groups

    /// So many units of area are seen.
    private static let leastArea = 24.0

    /// The groups with their colours, those that nobody would see as one.
    private func gathered(area: Double) -> [(group: Group, hue: Ink)] {
        let total = groups.reduce(0) { $0 + Double($1.bytes) }
        // What is no entity has none of their colours.
        var entities = 0
        let coloured = groups.map { group -> (group: Group, hue: Ink) in
            guard group.entity != nil else { return (group, .panel) }
            entities += 1
            return (group, Ink.hue(entities - 1))
        }
        func isSeen(_ group: Group) -> Bool {
            Double(group.bytes) / total * area >= Self.leastArea
        }
        let small = groups.filter { !isSeen($0) }
        guard small.count > 1 else { return coloured }
        let rest = Group(
            "\(small.count) smaller",
            parts: [
                Part(
                    "\(small.count) smaller", bytes: small.reduce(0) { $0 &+ $1.bytes },
                    remark: small.prefix(20).map(\.name).joined(separator: ", ")
                        + (small.count > 20 ? ", …" : ""))
            ])
        return coloured.filter { isSeen($0.group) } + [(rest, .panel)]
    }

    private func draw(
        _ group: Group, hue: Ink, in frame: Frame, _ hatching: Hatching, _ writer: inout SVGWriter
    ) {
        guard frame.width > 0, frame.height > 0 else { return }
        writer.open(
            "g",
            [
                "data-entity": group.entity,
                "class": group.entity == nil ? nil : "cairn-entity",
            ])
        let words = "\(group.name): \(PlainText.bytes(group.bytes))"
        writer.rectangle(frame, fill: hue.css, stroke: .paper, width: 2, title: words)
        var inner = frame.inset(2)
        let hasTitle = frame.width > 44 && frame.height > 40
        if hasTitle {
            let size = TextWidth.of(PlainText.bytes(group.bytes), size: 11)
            let name = TextWidth.cut(group.name, to: frame.width - 12, size: 12, bold: true)
            writer.write(name, frame.x + 6, frame.y + 15, size: 12, bold: true)
            if TextWidth.of(name, size: 12, bold: true) + size + 26 < frame.width {
                writer.write(
                    PlainText.bytes(group.bytes), frame.right - 6, frame.y + 15, anchor: "end")
            }
            inner.y += 18
            inner.height -= 18
        }
        let parts = Squares.divide(inner, among: group.parts.map { Double($0.bytes) })
        for (place, part) in zip(parts, group.parts) {
            draw(part, of: group, hue: hue, in: place, hatching, &writer)
        }
        writer.end("g")
    }

    private func draw(
        _ part: Part, of group: Group, hue: Ink, in frame: Frame, _ hatching: Hatching,
        _ writer: inout SVGWriter
    ) {
        // Whoever divides a small area finely gets nothing that can be seen.
        guard frame.width >= 0.8, frame.height >= 0.8 else { return }
        let fill =
            switch part.kind {
            case .live: hue.css
            case .dead: hatching.fill
            case .memory: Ink.index.css
            }
        let size = PlainText.bytes(part.bytes)
        let owner = group.name == part.name ? "" : "\(group.name), "
        let words = "\(owner)\(part.name): \(size)" + (part.remark.map { "\n\($0)" } ?? "")
        writer.open("g", ["data-property": part.property])
        writer.rectangle(
            frame.inset(0.5), fill: fill, stroke: .paper, dashed: part.kind == .memory,
            title: words)
        if frame.width > 34, frame.height > 16 {
            let name = TextWidth.cut(part.name, to: frame.width - 8, size: 10.5)
            if name == part.name || name.count > 3 {
                let y = frame.y + min(13, frame.height / 2 + 4)
                // Nobody reads a text on strokes.
                if part.kind == .dead {
                    let width = TextWidth.of(name, size: 10.5) + 6
                    writer.rectangle(
                        Frame(
                            x: frame.x + 2, y: y - 10, width: min(width, frame.width - 4),
                            height: 13), fill: Ink.panel.css, radius: 2)
                }
                writer.write(name, frame.x + 5, y, size: 10.5)
                if frame.height > 32, TextWidth.of(size, size: 9.5) + 8 < frame.width,
                    part.kind != .dead
                {
                    writer.write(size, frame.x + 5, y + 13, size: 9.5, ink: .text)
                }
            }
        }
        writer.end("g")
    }
}
