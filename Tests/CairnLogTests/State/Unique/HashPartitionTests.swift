// A table of the unique index, made of the entries that a checkpoint has of it.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("A table of the unique index")
struct HashPartitionTests {
    /// The order in which entries come.
    enum Order: CaseIterable {
        /// That of their slots, as in a checkpoint.
        case slots
        /// Any, as where a checkpoint lies.
        case any
        case homes
    }

    @Test("Entries in any order make a table in which each is found", arguments: Order.allCases)
    func entries(order: Order) throws {
        var random = RandomSource()
        let pool = PagePool()
        for round in 0..<60 {
            var pages = PageTransaction(epoch: 1, pool: pool)
            let capacity = 64 * Int.random(in: 1...40, using: &random)
            let count = Int.random(in: 0...capacity - 1, using: &random)
            // All over, or at the end of the table, so that they go round to its beginning; some of them twice.
            let lowest: UInt32 = round % 3 == 0 ? 0xF800_0000 : 0
            let first = HashPartition.make(capacity: capacity, in: &pages)
            var entries: [UInt64] = []
            for number in 1...UInt64(max(1, count)) where count > 0 {
                let half =
                    number > 9 && Int.random(in: 1...9, using: &random) == 1
                    ? UInt32(truncatingIfNeeded: entries[Int.random(in: 0...8, using: &random)])
                    : UInt32(truncatingIfNeeded: random.next()) | lowest
                entries.append(number << 32 | UInt64(half))
                first.insert(entries.last!, bits: 0, in: &pages)
            }
            switch order {
            case .slots: entries = (0..<capacity).map { first[$0] }.filter { $0 != 0 }
            case .any: entries.shuffle(using: &random)
            case .homes: entries.sort { $0 & 0xFFFF_FFFF < $1 & 0xFFFF_FFFF }
            }
            let table = try #require(
                entries.withUnsafeBytes {
                    HashPartition.make(
                        entries: $0, capacity: capacity, number: 0, bits: 0, in: &pages)
                })
            #expect(table.problems(partition: 0, bits: 0) == [], "round \(round)")
            #expect(table.count == count)
            #expect(entries.allSatisfy { table.slot(of: $0, bits: 0) != nil }, "round \(round)")
            if order == .slots {
                #expect((0..<capacity).allSatisfy { (table[$0] == 0) == (first[$0] == 0) })
            }
            pages.abandon()
        }
    }
}
