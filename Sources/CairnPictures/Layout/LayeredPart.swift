// One connected part of a graph, in layers.
//
//   1. Boxes get layers (LayerAssignment). A line that spans several passes the layers in between in lanes of its own.
//   2. Layers are sorted (LayerOrder), and so are the slots of each box, by what their lines lead to.
//   3. Items get heights (LayerHeights), and layers their places: as wide as their widest box, with more room in between the
//      more lines there are.
//   4. Lines curve in the room between layers, and are level where they pass one: so none runs through a box.
//
// Invariants: boxes do not overlap. The same graph always gives the same picture.

/// Places a connected part of a graph.
struct LayeredPart {
    private static let boxGap = 26.0
    private static let laneGap = 9.0

    private let graph: BoxGraph
    /// The lines that lead from one box to another, and those that do not.
    private let lines: [Int]
    private let layer: [Int]
    /// By item: the height of a box, 0 for a lane. Items below the number of boxes are these.
    private var heights: [Double]
    private var itemLayer: [Int]
    /// By line: its items from the left to the right; empty if it stays in its layer.
    private var chains: [[Int]]
    /// By box: which place each slot has.
    private var places: [[Int]]

    /// Places a graph that is one part.
    ///
    /// - Parameter mostHeight: how high it should be at most.
    static func place(_ graph: BoxGraph, mostHeight: Double) -> BoxPlacement {
        let part = LayeredPart(graph, mostHeight: mostHeight)
        let order = part.sorted()
        let placement = part.placement(order)
        // Upside down it is as good, but whoever looks begins at the upper left.
        let other = part.placement(order.map { $0.reversed() })
        return other.emptiness < placement.emptiness ? other : placement
    }

    /// Places everything by the order of its layers.
    private func placement(_ order: [[Int]]) -> BoxPlacement {
        var part = self
        var tops = part.level(order, nil)
        // Slots are sorted by where lines lead, and that is known better each time.
        for _ in 0..<2 {
            part.sortSlots(tops)
            tops = part.level(order, tops)
        }
        return part.placement(order, tops)
    }

    private init(_ graph: BoxGraph, mostHeight: Double) {
        self.graph = graph
        lines = graph.lines.indices.filter { graph.lines[$0].from.box != graph.lines[$0].to.box }
        layer = LayerAssignment.layers(
            heights: graph.boxes.map { $0.height + Self.boxGap },
            lines: lines.map {
                let line = graph.lines[$0]
                return (line.from.box, line.to.box, line.leadsRight)
            }, mostHeight: mostHeight)
        heights = graph.boxes.map(\.height)
        itemLayer = layer
        places = graph.boxes.map { Array(0..<$0.slots) }
        chains = [[Int]](repeating: [], count: graph.lines.count)
        for index in lines {
            let (left, right) = Self.ends(graph.lines[index], layer)
            guard layer[left.box] < layer[right.box] else { continue }
            var chain = [left.box]
            for number in (layer[left.box] + 1)..<layer[right.box] {
                chain.append(heights.count)
                heights.append(0)
                itemLayer.append(number)
            }
            chains[index] = chain + [right.box]
        }
    }

    /// The ends of a line, the left one first.
    private static func ends(_ line: BoxGraph.Line, _ layer: [Int]) -> (BoxGraph.End, BoxGraph.End)
    {
        layer[line.from.box] <= layer[line.to.box] ? (line.from, line.to) : (line.to, line.from)
    }

    // MARK: Order

    private func sorted() -> [[Int]] {
        var links: [(left: Int, right: Int)] = []
        var ties: [(one: Int, other: Int)] = []
        for index in lines {
            if chains[index].isEmpty {
                ties.append((graph.lines[index].from.box, graph.lines[index].to.box))
            }
            links += zip(chains[index], chains[index].dropFirst()).map { ($0, $1) }
        }
        let count = (layer.max() ?? 0) + 1
        var order = LayerOrder(
            start(links, ties, layers: count), count: heights.count, links: links, ties: ties)
        order.sort()
        return order.layers
    }

    /// An order to begin with: items as a walk along the links meets them, deepest first.
    private func start(
        _ links: [(left: Int, right: Int)], _ ties: [(one: Int, other: Int)], layers count: Int
    ) -> [[Int]] {
        var neighbours = [[Int]](repeating: [], count: heights.count)
        for (one, other) in links.map({ ($0.left, $0.right) }) + ties.map({ ($0.one, $0.other) }) {
            neighbours[one].append(other)
            neighbours[other].append(one)
        }
        var layers = [[Int]](repeating: [], count: count)
        var isSeen = [Bool](repeating: false, count: heights.count)
        for first in heights.indices where !isSeen[first] {
            var stack = [first]
            while let item = stack.popLast() {
                if isSeen[item] { continue }
                isSeen[item] = true
                layers[itemLayer[item]].append(item)
                stack += neighbours[item].reversed()
            }
        }
        return layers
    }

    private mutating func sortSlots(_ tops: [Double]) {
        var keys = places.map { [Double?](repeating: nil, count: $0.count) }
        for line in graph.lines {
            for (end, other) in [(line.from, line.to), (line.to, line.from)] {
                if let slot = end.slot { keys[end.box][slot] = centre(of: other, tops) }
            }
        }
        for box in places.indices {
            // Rows without a line stay behind the others, in their order.
            let order = keys[box].indices.sorted {
                (keys[box][$0] ?? .infinity, $0) < (keys[box][$1] ?? .infinity, $1)
            }
            for (place, slot) in order.enumerated() { places[box][slot] = place }
        }
    }

    // MARK: Heights

    /// How far below the upper side of its box a line ends.
    private func offset(of end: BoxGraph.End) -> Double {
        let box = graph.boxes[end.box]
        guard let slot = end.slot else { return box.head }
        return box.slotTop + (Double(places[end.box][slot]) + 0.5) * box.slotHeight
    }

    private func centre(of end: BoxGraph.End, _ tops: [Double]) -> Double {
        tops[end.box] + offset(of: end)
    }

    private func level(_ order: [[Int]], _ tops: [Double]?) -> [Double] {
        var links: [LayerHeights.Link] = []
        for index in lines {
            let line = graph.lines[index]
            let (left, right) = Self.ends(line, layer)
            let chain = chains[index]
            if chain.isEmpty {
                links.append(
                    .init(
                        one: left.box, oneOffset: offset(of: left), other: right.box,
                        otherOffset: offset(of: right), weight: 0.3))
                continue
            }
            for (position, pair) in zip(chain, chain.dropFirst()).enumerated() {
                let isFirst = position == 0
                let isLast = position == chain.count - 2
                links.append(
                    .init(
                        one: pair.0, oneOffset: isFirst ? offset(of: left) : 0, other: pair.1,
                        otherOffset: isLast ? offset(of: right) : 0,
                        weight: isFirst && isLast ? 1 : isFirst || isLast ? 2 : 4))
            }
        }
        let boxes = graph.boxes.count
        var heights = LayerHeights(order, heights: heights) { one, other in
            switch (one < boxes, other < boxes) {
            case (true, true): Self.boxGap
            case (false, false): Self.laneGap
            default: Self.boxGap / 2
            }
        }
        if let tops { heights.begin(with: tops) }
        heights.level(links, rounds: 20)
        return heights.tops
    }

    // MARK: Places

    private func placement(_ order: [[Int]], _ tops: [Double]) -> BoxPlacement {
        let columns = columns(order)
        let highest = tops.min() ?? 0
        let frames = graph.boxes.indices.map { box in
            Frame(
                x: columns[layer[box]].x, y: tops[box] - highest,
                width: columns[layer[box]].width, height: graph.boxes[box].height)
        }
        let routes = graph.lines.indices.map { index in
            route(index, frames, columns, tops.map { $0 - highest })
        }
        let right = columns.last.map { $0.x + $0.width + ($0.hasArcs ? Self.arcRoom : 0) } ?? 0
        return BoxPlacement(
            frames: frames, slots: places, routes: routes, width: right,
            height: zip(tops, heights).map { $0 - highest + $1 }.max() ?? 0)
    }

    private static let arcRoom = 46.0

    private typealias Column = (x: Double, width: Double, hasArcs: Bool)

    private func columns(_ order: [[Int]]) -> [Column] {
        var lanes = [Int](repeating: 0, count: order.count)
        var hasArcs = [Bool](repeating: false, count: order.count)
        for index in graph.lines.indices {
            let chain = chains[index]
            if chain.isEmpty { hasArcs[layer[graph.lines[index].from.box]] = true }
            for item in chain.dropLast() { lanes[itemLayer[item]] += 1 }
        }
        var x = 0.0
        return order.indices.map { number in
            let width =
                order[number].filter { $0 < graph.boxes.count }
                .map { graph.boxes[$0].width }.max() ?? 0
            let column = (x, width, hasArcs[number])
            x += width + 58 + min(150, Double(lanes[number]) * 5) + (hasArcs[number] ? 14 : 0)
            return column
        }
    }

    private func route(
        _ index: Int, _ frames: [Frame], _ columns: [Column], _ tops: [Double]
    ) -> Route {
        let line = graph.lines[index]
        func point(_ end: BoxGraph.End, right: Bool) -> Point {
            let frame = frames[end.box]
            return Point(x: right ? frame.right : frame.x, y: frame.y + offset(of: end))
        }
        guard !chains[index].isEmpty else {
            let start = point(line.from, right: true)
            let end = point(line.to, right: true)
            let reach = min(Self.arcRoom, 26 + abs(start.y - end.y) * 0.06)
            return Route(
                start: start, startSide: 1, legs: [.arc(end, reach: reach)], end: end, endSide: 1)
        }
        let isForward = layer[line.from.box] < layer[line.to.box]
        let start = point(line.from, right: isForward)
        let end = point(line.to, right: !isForward)
        var legs: [Route.Leg] = []
        let lanes = chains[index].dropFirst().dropLast()
        for lane in isForward ? Array(lanes) : lanes.reversed() {
            let column = columns[itemLayer[lane]]
            let sides = [column.x, column.x + column.width]
            legs.append(.curve(Point(x: isForward ? sides[0] : sides[1], y: tops[lane])))
            legs.append(.straight(Point(x: isForward ? sides[1] : sides[0], y: tops[lane])))
        }
        legs.append(.curve(end))
        let side = isForward ? 1.0 : -1
        return Route(start: start, startSide: side, legs: legs, end: end, endSide: -side)
    }
}

extension BoxPlacement {
    /// How far from the upper left corner the nearest box is.
    fileprivate var emptiness: Double { frames.map { $0.x + $0.y }.min() ?? 0 }
}
