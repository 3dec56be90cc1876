// Which layer each box of a connected graph stands in. Layers are columns, from left to right.
//
//   1. From the box with the most neighbours outwards, each box is put where it costs least.
//   2. Then each is moved where it costs less, until none is.
//
// A line costs more the more layers it spans, and within a layer more than to the next one. A layer that is higher than it
// should be costs what sticks out of it: so the neighbours of a box that has many stand on both sides of it, and in several
// layers. No chance is involved: the same graph always gives the same layers.

/// Puts boxes into layers.
struct LayerAssignment {
    private struct Neighbour {
        let box: Int
        /// Whether the box should stand to the right of it: 1, to the left: -1, or 0.
        let side: Int
    }

    private let heights: [Double]
    private let mostHeight: Double
    private var neighbours: [[Neighbour]]
    private var layer: [Int?]
    private var filled: [Int: Double] = [:]

    /// The layer of each box, from 0; none is empty.
    ///
    /// - Parameters:
    ///   - heights: of the boxes, with the gap to the next one.
    ///   - lines: between boxes that differ.
    ///   - mostHeight: how high a layer should be at most.
    static func layers(
        heights: [Double], lines: [(from: Int, to: Int, leadsRight: Bool)], mostHeight: Double
    ) -> [Int] {
        var assignment = LayerAssignment(heights, lines, mostHeight)
        assignment.place()
        assignment.improve()
        return assignment.packed
    }

    private init(
        _ heights: [Double], _ lines: [(from: Int, to: Int, leadsRight: Bool)], _ mostHeight: Double
    ) {
        self.heights = heights
        self.mostHeight = mostHeight
        neighbours = [[Neighbour]](repeating: [], count: heights.count)
        layer = [Int?](repeating: nil, count: heights.count)
        for line in lines {
            neighbours[line.from].append(Neighbour(box: line.to, side: line.leadsRight ? -1 : 0))
            neighbours[line.to].append(Neighbour(box: line.from, side: line.leadsRight ? 1 : 0))
        }
    }

    private var packed: [Int] {
        let used = Set(layer.compactMap { $0 }).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: used.enumerated().map { ($1, $0) })
        return layer.map { $0.flatMap { numbers[$0] } ?? 0 }
    }

    // MARK: Costs

    private static func cost(_ distance: Int) -> Double {
        switch abs(distance) {
        case 0: 1.9
        case 1: 1
        case let far: Double(far) * 1.3
        }
    }

    /// So much of what sticks out of a layer a little costs as much as a line to the next one.
    private static let heightUnit = 80.0

    private func cost(of box: Int, in candidate: Int) -> Double {
        var cost = 0.0
        for neighbour in neighbours[box] {
            guard let other = layer[neighbour.box] else { continue }
            cost += Self.cost(candidate - other)
            if neighbour.side != 0, (candidate - other).signum() != neighbour.side { cost += 0.7 }
        }
        let height = filled[candidate, default: 0] + heights[box]
        let excess = min(heights[box], max(0, height - mostHeight))
        // The more sticks out already, the worse it is.
        return cost + excess / Self.heightUnit * (height / mostHeight)
    }

    /// The layer that costs least, of those near the box's neighbours; the one in the middle of equals.
    private func best(for box: Int) -> Int {
        let near = neighbours[box].compactMap { layer[$0.box] }
        guard let low = near.min(), let high = near.max() else { return 0 }
        let middle = Double(near.reduce(0, +)) / Double(near.count)
        var best = low
        var least = Double.infinity
        // Beyond the neighbours only one more layer can be better, but for the height of layers.
        for candidate in (low - 3)...(high + 3) {
            let cost = cost(of: box, in: candidate) + abs(Double(candidate) - middle) * 0.001
            if cost < least - 1e-9 { (best, least) = (candidate, cost) }
        }
        return best
    }

    // MARK: Steps

    private mutating func put(_ box: Int, in number: Int) {
        layer[box] = number
        filled[number, default: 0] += heights[box]
    }

    private mutating func take(_ box: Int) -> Int? {
        guard let number = layer[box] else { return nil }
        layer[box] = nil
        filled[number, default: 0] -= heights[box]
        return number
    }

    /// Boxes from the one with the most neighbours outwards.
    private var outwards: [Int] {
        let degrees = neighbours.map { Set($0.map(\.box)).count }
        guard
            let centre = heights.indices.max(by: {
                (degrees[$0], -$0) < (degrees[$1], -$1)
            })
        else { return [] }
        var seen = Set([centre])
        var order = [centre]
        var next = 0
        while next < order.count {
            let others = Set(neighbours[order[next]].map(\.box)).subtracting(seen)
                .sorted { (degrees[$1], $0) < (degrees[$0], $1) }
            order += others
            seen.formUnion(others)
            next += 1
        }
        return order
    }

    private mutating func place() {
        for box in outwards { put(box, in: best(for: box)) }
    }

    private mutating func improve() {
        let order = outwards
        for _ in 0..<40 {
            var hasMoved = false
            for box in order {
                guard let old = take(box) else { continue }
                let candidate = best(for: box)
                let gain = cost(of: box, in: old) - cost(of: box, in: candidate)
                put(box, in: gain > 1e-6 ? candidate : old)
                hasMoved = hasMoved || gain > 1e-6
            }
            if !hasMoved { break }
        }
    }
}
