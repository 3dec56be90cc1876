// The cache of blocks counts what it is asked for.

import CairnLog
import CairnModel
import CairnStore
import Testing

@Suite("Use of the cache of blocks")
struct BlockCacheUseTests {
    /// A store of one hundred notes in blocks of ten, and the ids of the first note of each block.
    private func notes(cacheBytes: Int?) throws -> (LogStore, [ObjectID]) {
        let model = ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: [AttributeDescription("text", .string)])
        ])
        var options = LogStoreOptions()
        options.cacheBytes = cacheBytes
        options.sizes.rowsPerBlock = 10
        let store = try LogStore.inMemory(schema: Schema(model), options: options)
        var request = BatchInsertRequest(
            entityName: "Note", objects: (0..<100).map { ["text": "note \($0)"] })
        request.resultType = .objectIDs
        let ids = try store.execute(request).objectIDs
        return (store, stride(from: 0, to: 100, by: 10).map { ids[$0] })
    }

    @Test("A block is read once, and is a hit from then on")
    func hits() throws {
        let (store, ids) = try notes(cacheBytes: nil)
        let before = store.blockCache
        for round in 0..<3 {
            for id in ids {
                #expect(try store.snapshot().rows([id])[0] != nil)
            }
            let use = store.blockCache
            #expect(use.misses - before.misses == 10)
            #expect(use.hits - before.hits == round * 10)
            #expect(use.blocks == 10 && use.bytes > 0)
        }
    }

    @Test("Without room every block is read again")
    func misses() throws {
        let (store, ids) = try notes(cacheBytes: 0)
        let before = store.blockCache
        for _ in 0..<3 {
            for id in ids { _ = try store.snapshot().rows([id]) }
        }
        #expect(store.blockCache.misses - before.misses == 30)
        #expect(store.blockCache.hits == before.hits && store.blockCache.blocks == 1)
    }
}
