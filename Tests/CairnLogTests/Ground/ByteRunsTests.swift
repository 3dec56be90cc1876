// The order of runs of bytes against that of arrays.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Runs of bytes")
struct ByteRunsTests {
    /// Runs with long common beginnings, zeros at the end, and doubles.
    private func made(_ count: Int, _ random: inout RandomSource) -> [[UInt8]] {
        let beginnings = (0..<3).map { _ in random.bytes(Int(random.next() % 20)) }
        return (0..<count).map { _ in
            var run = random.oneIn(2) ? beginnings[Int(random.next() % 3)] : []
            run += random.bytes(Int(random.next() % 4)).map { $0 % 3 }
            if random.oneIn(3) { run += [UInt8](repeating: 0, count: Int(random.next() % 20)) }
            return run
        }
    }

    @Test("They are sorted by their bytes, and equal ones have one rank")
    func order() throws {
        var random = RandomSource()
        for count in [0, 1, 2, 8, 9, 100, 5000] {
            let all = made(count, &random)
            let runs = ByteRuns()
            for run in all { run.withUnsafeBytes { runs.append($0) } }
            #expect(all.indices.allSatisfy { Array(runs[$0]) == all[$0] })

            var positions = (0..<UInt32(count)).map { $0 }
            runs.sort(&positions)
            #expect(Set(positions).count == count)
            let sorted = all.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(positions.map { all[Int($0)] } == sorted)

            let ranks = runs.ranks()
            let known = Dictionary(
                uniqueKeysWithValues: Set(all).sorted { $0.lexicographicallyPrecedes($1) }
                    .enumerated().map { ($1, UInt32($0)) })
            #expect(ranks == all.map { known[$0] })
        }
    }
}
