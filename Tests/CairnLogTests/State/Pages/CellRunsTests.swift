// The compact leaves of a directory beside plain cells.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Runs of a directory's cells")
struct CellRunsTests {
    @Test("Each cell of a compact leaf is the one that was added, and so is each of the whole leaf")
    func cells() {
        var random = RandomSource()
        let pool = PagePool()
        for round in 0..<300 {
            var pages = PageTransaction(epoch: 2, pool: pool)
            let runs = CellRuns.make(in: &pages)
            var starts: Set<Int> = [0]
            for _ in 1..<Int.random(in: 1...CellRuns.most, using: &random) {
                starts.insert(Int.random(in: 1..<512, using: &random))
            }
            var expected: [UInt64] = []
            for start in starts.sorted() {
                let first: UInt64
                if Int.random(in: 0..<4, using: &random) == 0 {
                    first = 0
                } else {
                    // Also near the end of a block, where the handle goes up.
                    first =
                        DirectoryCell(
                            handle: BlockHandle(raw: .random(in: 1...1 << 20, using: &random)),
                            slot: .random(in: 0..<1024, using: &random),
                            version: .random(in: 1...DirectoryCell.maximumVersion, using: &random)
                        ).bits
                }
                let end = starts.filter { $0 > start }.min() ?? 512
                #expect(runs.add(first, at: start))
                for index in 0..<end - start {
                    expected.append(first == 0 ? 0 : first + UInt64(index) * DirectoryCell.nextSlot)
                }
            }
            let compact = CellRuns(runs.compact)
            #expect((0..<512).map { compact[$0] } == expected, "round \(round)")
            let leaf = compact.makeLeaf(in: &pages)
            #expect(
                (0..<512).map { leaf.data.load(fromByteOffset: $0 * 8, as: UInt64.self) }
                    == expected, "round \(round)")
            pages.abandon()
        }
    }

    @Test("A leaf with too many runs has no compact form")
    func tooMany() {
        let pool = PagePool()
        var pages = PageTransaction(epoch: 1, pool: pool)
        let runs = CellRuns.make(in: &pages)
        for run in 0..<CellRuns.most { #expect(runs.add(UInt64(run + 1) << 32 | 1, at: run * 2)) }
        #expect(!runs.add(1 << 40, at: 100))
        #expect(runs.count == CellRuns.most)
        pages.abandon()
    }
}
