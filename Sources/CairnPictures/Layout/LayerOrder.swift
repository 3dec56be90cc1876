// The order within layers, so that few lines cross.
//
//   Sugiyama, Tagawa, Toda (1981): from layer to layer and back, each is sorted by the middle of its items' neighbours; then
//   neighbouring items change places as long as that saves a crossing. The best order that was seen is taken.
//
// An item is a box, or the place where a line passes through a layer.

/// Sorts the items of layers.
struct LayerOrder {
    /// By layer: the items, from above.
    private(set) var layers: [[Int]]
    /// By item: what it is linked with in the layer before, in its own, and in the layer behind.
    private let before: [[Int]]
    private let beside: [[Int]]
    private let behind: [[Int]]
    private var position: [Int]
    /// By item: how many items its layer has.
    private var sizes: [Int]

    /// - Parameters:
    ///   - layers: the items of each layer, in the order to begin with.
    ///   - links: between items of neighbouring layers, from left to right.
    ///   - ties: between items of one layer.
    init(
        _ layers: [[Int]], count: Int, links: [(left: Int, right: Int)],
        ties: [(one: Int, other: Int)]
    ) {
        self.layers = layers
        var before = [[Int]](repeating: [], count: count)
        var beside = before
        var behind = before
        for link in links {
            behind[link.left].append(link.right)
            before[link.right].append(link.left)
        }
        for tie in ties {
            beside[tie.one].append(tie.other)
            beside[tie.other].append(tie.one)
        }
        (self.before, self.beside, self.behind) = (before, beside, behind)
        position = [Int](repeating: 0, count: count)
        sizes = position
        for layer in layers {
            for item in layer { sizes[item] = layer.count }
        }
        for layer in layers.indices { number(layer) }
    }

    private mutating func number(_ layer: Int) {
        for (index, item) in layers[layer].enumerated() { position[item] = index }
    }

    /// Finds an order with few crossings.
    mutating func sort() {
        var best = layers
        var least = cost
        for round in 0..<24 {
            let isForward = round % 2 == 0
            let numbers = isForward ? Array(layers.indices) : layers.indices.reversed()
            for number in numbers { sort(number, by: isForward ? before : behind) }
            for _ in 0..<4 where !exchange() { break }
            let cost = cost
            if cost < least {
                (best, least) = (layers, cost)
                if cost == 0 { break }
            }
        }
        layers = best
        for layer in layers.indices { number(layer) }
    }

    private mutating func sort(_ layer: Int, by neighbours: [[Int]]) {
        let keys = layers[layer].enumerated().map { index, item -> (Double, Int) in
            var sum = 0.0
            var weight = 0.0
            for other in neighbours[item] {
                sum += relative(other)
                weight += 1
            }
            for other in beside[item] {
                sum += relative(other) * 0.5
                weight += 0.5
            }
            let own = (Double(index) + 0.5) / Double(layers[layer].count)
            return (weight > 0 ? sum / weight : own, index)
        }
        let old = layers[layer]
        layers[layer] = old.indices.sorted { keys[$0] < keys[$1] }.map { old[$0] }
        number(layer)
    }

    /// Where an item stands, from 0 to 1: layers have different numbers of items.
    private func relative(_ item: Int) -> Double {
        (Double(position[item]) + 0.5) / Double(sizes[item])
    }

    // MARK: Crossings

    /// Crossings, and a little for what lies between items of a layer that belong together.
    var cost: Double {
        var cost = 0.0
        for layer in layers {
            var links: [(Int, Int)] = []
            for (index, item) in layer.enumerated() {
                links += behind[item].map { (index, position[$0]) }
                cost += beside[item].reduce(0) { $0 + Double(abs(index - position[$1]) - 1) * 0.15 }
            }
            for (index, one) in links.enumerated() {
                for other in links[(index + 1)...]
                where (one.0 - other.0).signum() * (one.1 - other.1).signum() < 0 {
                    cost += 1
                }
            }
        }
        return cost
    }

    /// Lets neighbours change places where that saves crossings; says whether any did.
    private mutating func exchange() -> Bool {
        var hasChanged = false
        for layer in layers.indices where layers[layer].count > 1 {
            for index in 0..<layers[layer].count - 1 {
                let upper = layers[layer][index]
                let lower = layers[layer][index + 1]
                guard crossings(lower, upper) < crossings(upper, lower) else { continue }
                layers[layer].swapAt(index, index + 1)
                position[upper] = index + 1
                position[lower] = index
                hasChanged = true
            }
        }
        return hasChanged
    }

    /// How many lines of two items cross if one stands above the other.
    private func crossings(_ upper: Int, _ lower: Int) -> Int {
        var count = 0
        for neighbours in [before, behind] {
            for one in neighbours[upper] {
                for other in neighbours[lower] where position[other] < position[one] { count += 1 }
            }
        }
        return count
    }
}
