// Numbers of which few are frequent: the generator of YCSB (Gray and others, 1994), with its constant 0.99.

import Foundation

/// Zipfian numbers in 0..<count; 0 is the most frequent.
struct Zipfian {
    private let count: Double
    private let theta = 0.99
    private let alpha: Double
    private let zeta: Double
    private let eta: Double

    init(_ count: Int) {
        self.count = Double(count)
        var sum = 0.0
        for index in 1...count { sum += 1 / pow(Double(index), theta) }
        zeta = sum
        alpha = 1 / (1 - theta)
        eta = (1 - pow(2 / self.count, 1 - theta)) / (1 - (1 + pow(0.5, theta)) / sum)
    }

    func next(_ random: inout SplitMix64) -> Int {
        let unit = random.unit()
        let place = unit * zeta
        if place < 1 { return 0 }
        if place < 1 + pow(0.5, theta) { return 1 }
        return min(Int(count) - 1, Int(count * pow(eta * unit - eta + 1, alpha)))
    }

    /// The same with the frequent ones spread over the whole range, as YCSB does.
    func scattered(_ random: inout SplitMix64) -> Int {
        var hash = SplitMix64(state: UInt64(next(&random)))
        return Int(hash.next() % UInt64(count))
    }
}
