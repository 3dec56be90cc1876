// The difference of two tables that share pages, beside that of two dictionaries.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Differences of tables")
struct TableDifferenceTests {
    @Test("Every cell that differs is told once, in order, at every height of both tables")
    func random() {
        Rounds.run("differences of tables", everyDay: 80, whole: 20_000) { random in
            let pool = PagePool()
            var kept: [Page] = []
            var model: [UInt32: UInt64] = [:]
            var array = RadixArray()
            // Sometimes one of the two is empty, or much lower than the other.
            for epoch in 1...UInt64.random(in: 1...4, using: &random) {
                let (before, oldModel) = (array, model)
                var pages = PageTransaction(epoch: epoch, pool: pool)
                let height = UInt32.random(in: 1...32, using: &random)
                for _ in 0..<Int.random(in: 0...120, using: &random) {
                    let index =
                        Bool.random(using: &random)
                        ? model.keys.randomElement(using: &random) ?? 0
                        : UInt32.random(in: 0...UInt32.max >> (32 - height), using: &random)
                    let value = UInt64.random(in: 0...2, using: &random)
                    array.set(index, value, in: &pages)
                    model[index] = value
                }
                kept += pages.commit()
                Self.compare(before, oldModel, array, model)
                // The other way round cells come and go.
                Self.compare(array, model, before, oldModel)
                Self.compare(RadixArray(), [:], array, model)
            }
            withExtendedLifetime(kept) {}
        }
    }

    private static func compare(
        _ old: RadixArray, _ oldModel: [UInt32: UInt64], _ new: RadixArray,
        _ newModel: [UInt32: UInt64]
    ) {
        let expected = Set(oldModel.keys).union(newModel.keys).sorted()
            .filter { oldModel[$0, default: 0] != newModel[$0, default: 0] }
            .map { [UInt64($0), oldModel[$0, default: 0], newModel[$0, default: 0]] }
        var told: [[UInt64]] = []
        PagedTable.eachDifference(old.table, new.table) { index, before, after in
            told.append([UInt64(index), before, after])
        }
        #expect(told == expected)
    }
}
