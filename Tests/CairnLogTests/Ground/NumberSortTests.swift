// Sorting by numbers against sorting by comparing.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Sorting by numbers")
struct NumberSortTests {
    private struct Pair: Equatable {
        let number: UInt32
        let place: Int
    }

    @Test("It sorts as comparing does, and leaves what is equal in its order")
    func random() {
        var random = RandomSource()
        for round in 0..<300 {
            let count = [0, 1, 2, 63, 64, 65, 500][round % 7]
            let greatest: UInt32 = [1, 40, 2047, 2048, 1 << 22, .max][round % 6]
            var pairs = (0..<count).map {
                Pair(number: UInt32.random(in: 0...greatest, using: &random), place: $0)
            }
            if random.oneIn(4) { pairs.sort { $0.number < $1.number } }
            if random.oneIn(8) { pairs.reverse() }
            let before = pairs.enumerated().map { ($0.offset, $0.element) }
            let expected = before.sorted {
                ($0.1.number, $0.0) < ($1.1.number, $1.0)
            }.map(\.1)
            NumberSort.sort(&pairs) { $0.number }
            #expect(pairs == expected, "seed \(random.seed), round \(round)")
        }
    }
}
