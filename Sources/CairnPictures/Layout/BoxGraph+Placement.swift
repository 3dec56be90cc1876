// The parts of a graph, each placed by itself and all on one sheet.

extension BoxGraph {
    private static let partGap = 44.0

    /// Places boxes and lines: the largest parts first, then boxes without lines in their order.
    ///
    /// - Parameters:
    ///   - shape: how many times as wide as high it should be, about.
    ///   - leastWidth: how much room there is in width at any rate.
    func placed(shape: Double, leastWidth: Double) -> BoxPlacement {
        let parts = parts.map { members in
            (members: members, placement: part(members, shape: shape))
        }
        func size(_ part: Int) -> Double {
            parts[part].placement.width * parts[part].placement.height
        }
        let connected = parts.indices.filter { parts[$0].placement.routes.isEmpty == false }
            .sorted { (size($1), $0) < (size($0), $1) }
        let order = connected + parts.indices.filter { parts[$0].placement.routes.isEmpty }
        let area = order.reduce(0) { total, part in
            let placement = parts[part].placement
            return total + (placement.width + Self.partGap) * (placement.height + Self.partGap)
        }
        let widest = parts.map(\.placement.width).max() ?? 0
        let width = max(widest, leastWidth, (area * shape).squareRoot())
        let places = BoxPacking.places(
            of: order.map { (parts[$0].placement.width, parts[$0].placement.height) },
            width: width, gap: Self.partGap)
        var result = BoxPlacement(
            frames: boxes.map { Frame(x: 0, y: 0, width: $0.width, height: $0.height) },
            slots: boxes.map { Array(0..<$0.slots) },
            routes: [Route?](repeating: nil, count: lines.count), width: 0, height: 0)
        for (part, place) in zip(order, places) {
            take(parts[part].members, parts[part].placement, to: place, &result)
        }
        return result
    }

    /// One part by itself.
    private func part(_ members: [Int], shape: Double) -> BoxPlacement {
        let numbers = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1, $0) })
        func end(_ end: End) -> End { End(box: numbers[end.box] ?? 0, slot: end.slot) }
        let graph = BoxGraph(
            boxes: members.map { boxes[$0] },
            lines: lines.filter { numbers[$0.from.box] != nil }.map {
                Line(from: end($0.from), to: end($0.to), leadsRight: $0.leadsRight)
            })
        let area = graph.boxes.reduce(0) { $0 + ($1.width + 90) * ($1.height + 30) }
        return LayeredPart.place(graph, mostHeight: (area / shape).squareRoot())
    }

    private func take(
        _ members: [Int], _ placement: BoxPlacement, to place: Point, _ result: inout BoxPlacement
    ) {
        for (box, frame) in zip(members, placement.frames) {
            result.frames[box].x = frame.x + place.x
            result.frames[box].y = frame.y + place.y
            result.frames[box].width = frame.width
        }
        for (box, slots) in zip(members, placement.slots) { result.slots[box] = slots }
        let isMember = Set(members)
        let own = lines.indices.filter { isMember.contains(lines[$0].from.box) }
        for (line, route) in zip(own, placement.routes) {
            result.routes[line] = route?.moved(place.x, place.y)
        }
        result.width = max(result.width, place.x + placement.width)
        result.height = max(result.height, place.y + placement.height)
    }
}
