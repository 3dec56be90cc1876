// Random numbers that can be had again: the seed is printed, and taken from the environment if it is there.

import Foundation

/// A random sequence with a seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Seeds for a test: the one of CAIRN_SEED, or some new ones.
    static func seeds(_ count: Int) -> [UInt64] {
        if let text = ProcessInfo.processInfo.environment["CAIRN_SEED"], let seed = UInt64(text) {
            return [seed]
        }
        return (0..<count).map { _ in UInt64.random(in: 1...999_999_999) }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<T>(_ items: [T]) -> T? { items.randomElement(using: &self) }
}
