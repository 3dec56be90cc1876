// Seeds for random tests, and choices from random numbers.

import CairnTestSupport
import Foundation

extension RandomSource {
    /// Seeds for a test: the one of CAIRN_SEED, or some new ones.
    static func seeds(_ count: Int) -> [UInt64] {
        if let text = ProcessInfo.processInfo.environment["CAIRN_SEED"], let seed = UInt64(text) {
            return [seed]
        }
        return (0..<count).map { _ in UInt64.random(in: 1...999_999_999) }
    }

    /// Seeds for a test, of which every day there are some and in a whole campaign many.
    static func seeds(_ everyDay: Int, whole: Int) -> [UInt64] {
        seeds(Campaign.count(everyDay, whole: whole))
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<T>(_ items: [T]) -> T? { items.randomElement(using: &self) }
}
