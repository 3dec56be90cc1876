// What is given up when memory or space runs short: the oldest snapshots, and blocks that were read.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Budgets of space and memory")
struct SnapshotLimitTests {
    @Test(
        "The oldest snapshot is given up above the limit: it throws, and others give what they gave (ST4)"
    )
    func expiry() throws {
        let disk = MemoryFileSystem()
        var options = CompactionTests.options(on: disk)
        options.snapshotLimit = 0
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        try CompactionTests.fill(store, rounds: 2)
        let fetch = try CompactionTests.all(store)
        let old = try store.snapshot(named: "old")
        let ids = try old.fetch(fetch).ids
        #expect(!ids.isEmpty)
        try CompactionTests.update(store, 0..<180, 77)
        _ = try store.compact()
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try old.fetch(fetch) }
            #expect(error?.code == .snapshotExpired)
        }
        let rows = #expect(throws: StoreError.self) { try old.rows(ids) }
        #expect(rows?.code == .snapshotExpired)
        let new = try store.snapshot()
        #expect(try new.fetch(fetch).ids.count == ids.count)
        #expect(try store.statistics().segments.count == DiskImage(of: disk).segments.count)
        try store.close()
    }

    @Test(
        "Blocks that were read stay within their budget, and what is read does not depend on it (BU1)"
    )
    func cache() throws {
        let history = try SampleStore.history(steps: 7, segmentBytes: 6000)
        for budget in [0, 2000, 20_000, 1 << 20] {
            var options = SampleStore.options(on: try history.closed.disk())
            options.cacheBytes = budget
            let store = try LogStore.open(at: "/store", options: options)
            #expect(try SampleStore.text(store) == history.contents.last)
            let fetch = StoreFetch(entity: try CompactionTests.all(store).entity)
            _ = try store.snapshot().rows(try store.snapshot().fetch(fetch).ids)
            let cache = store.engine.reader.cache
            // The block that was read last stays, however large it is.
            #expect(cache.bytes <= max(budget, 1) || cache.count == 1)
            #expect(cache.count > 0)
            try store.close()
        }
    }

    @Test("A batch's closure that writes to the store is told so and waits for nobody (CM3)")
    func reentry() throws {
        let store = try LogStore.inMemory(schema: try SampleStore.schema())
        try SampleStore.firstObjects(store)
        let entity = try #require(store.schema.entity(named: "Airport"))
        var request = BatchInsertRequest(entity: entity) { _ in
            try SampleStore.manyRows(store)
            return true
        }
        request.mergePolicy = .mergeByPropertyObjectTrump
        // Outside the turn it may.
        _ = try store.execute(request)
        let inside = #expect(throws: StoreError.self) {
            _ = try store.engine.commit(author: nil, contextName: nil) {
                _ throws(StoreError) in try store.execute(request)
            }
        }
        #expect(inside?.code == .invalidRequest)
        try SampleStore.changedRows(store)
        try store.close()
    }
}
