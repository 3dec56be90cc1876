// How far down the items of layers stand, so that lines are short and level.
//
//   1. From layer to layer and back, each item wishes to stand where its lines are level: at the mean of what they lead to.
//   2. The wishes of a layer are fulfilled as far as its order and the gaps allow, with the least sum of squares: with what
//      stands above it taken off, the places must not decrease, and neighbours that would are put together (pool adjacent
//      violators).
//
// Invariants: within a layer each item ends above the next one by the gap or more.

/// Finds heights for the items of layers.
struct LayerHeights {
    /// A line between two items, and how far below the upper side of each it ends.
    struct Link {
        let one: Int
        let oneOffset: Double
        let other: Int
        let otherOffset: Double
        /// How much it wants to be level.
        let weight: Double
    }

    private let layers: [[Int]]
    private let heights: [Double]
    /// By item, how large the gap below it is if another one is next.
    private let gap: (Int, Int) -> Double
    /// The upper side of each item.
    private(set) var tops: [Double]

    /// - Parameters:
    ///   - layers: the items of each layer, from above.
    ///   - heights: of the items.
    ///   - gap: what has to lie between two items.
    init(_ layers: [[Int]], heights: [Double], gap: @escaping (Int, Int) -> Double) {
        self.layers = layers
        self.heights = heights
        self.gap = gap
        tops = [Double](repeating: 0, count: heights.count)
        for layer in layers {
            let offsets = Self.offsets(layer, heights, gap)
            let height = (offsets.last ?? 0) + (layer.last.map { heights[$0] } ?? 0)
            // All layers have their middles at one height to begin with.
            for (item, offset) in zip(layer, offsets) { tops[item] = offset - height / 2 }
        }
    }

    /// Begins with heights that were found before.
    mutating func begin(with tops: [Double]) { self.tops = tops }

    private static func offsets(
        _ layer: [Int], _ heights: [Double], _ gap: (Int, Int) -> Double
    ) -> [Double] {
        var offsets: [Double] = []
        var y = 0.0
        for (index, item) in layer.enumerated() {
            if index > 0 { y += gap(layer[index - 1], item) }
            offsets.append(y)
            y += heights[item]
        }
        return offsets
    }

    /// Moves items so that lines are more level.
    mutating func level(_ links: [Link], rounds: Int) {
        var ofItem = [[(other: Int, shift: Double, weight: Double)]](
            repeating: [], count: heights.count)
        for link in links {
            let shift = link.otherOffset - link.oneOffset
            ofItem[link.one].append((link.other, shift, link.weight))
            ofItem[link.other].append((link.one, -shift, link.weight))
        }
        for round in 0..<rounds {
            let numbers = round % 2 == 0 ? Array(layers.indices) : layers.indices.reversed()
            for number in numbers { level(layers[number], ofItem) }
        }
    }

    private mutating func level(
        _ layer: [Int], _ links: [[(other: Int, shift: Double, weight: Double)]]
    ) {
        let offsets = Self.offsets(layer, heights, gap)
        // Runs of items that stand as close as may be.
        var pools: [(sum: Double, weight: Double, count: Int)] = []
        for (item, offset) in zip(layer, offsets) {
            var sum = (tops[item] - offset) * 0.05
            var weight = 0.05
            for link in links[item] {
                sum += (tops[link.other] + link.shift - offset) * link.weight
                weight += link.weight
            }
            pools.append((sum, weight, 1))
            while pools.count > 1 {
                let last = pools[pools.count - 1]
                let above = pools[pools.count - 2]
                guard above.sum / above.weight > last.sum / last.weight else { break }
                pools.removeLast()
                pools[pools.count - 1] = (
                    above.sum + last.sum, above.weight + last.weight, above.count + last.count
                )
            }
        }
        var index = 0
        for pool in pools {
            for _ in 0..<pool.count {
                tops[layer[index]] = pool.sum / pool.weight + offsets[index]
                index += 1
            }
        }
    }
}
