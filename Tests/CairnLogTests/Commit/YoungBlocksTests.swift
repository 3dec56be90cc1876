// Blocks that a commit reads back before they are published.

import CairnFileSystem
import CairnModel
import CairnStore
import Testing

@testable import CairnLog

@Suite("Blocks of a commit that it reads back")
struct YoungBlocksTests {
    @Test(
        "They take half of what the cache may, and at most 64 MiB, or one of them is there",
        arguments: [(0, 100), (100_000, 100), (64 << 20, 100), (1 << 30, 16_000)])
    func bytes(budget: Int, blocks: Int) throws {
        let most = min(budget / 2, CommitBuilder.mostYoungBytes)
        var options = SampleStore.options(on: MemoryFileSystem())
        options.cacheBytes = budget
        let store = try LogStore.open(
            at: "/store", schema: Schema(CommittersTests.model), options: options)
        let error = #expect(throws: StoreError.self) {
            _ = try store.engine.commit(author: nil, contextName: nil) {
                builder throws(StoreError) in
                var sum = 0
                for _ in 0..<blocks {
                    let number = try builder.issueNumber(tree: 0)
                    let row = PendingRows.Row(
                        number: number, version: 1,
                        values: [.string(String(repeating: "x", count: 2_000)), .integer(0)],
                        kept: nil)
                    try builder.write([row], entity: 0)
                    let handle = builder.state.directories[0][number].handle
                    let cost = try builder.block(handle).decodedCost
                    let young = builder.youngBytes
                    sum += cost
                    #expect(young <= max(most, cost))
                    #expect(young >= min(sum, max(most - cost, cost)))
                }
                if blocks > 100 { #expect(sum > most) }
                throw StoreError(.invalidRequest, "that is enough")
            }
        }
        #expect(error?.message == "that is enough")
        try store.close()
    }
}
