// What several threads of a writer say to be durable: the mark never says less than it said before.
//
// A thread that has synced what was there may be late with its mark: others have synced more by then. Here its last step is
// done by hand, since no call to the disk lies between its sync and its mark.

import CairnFileSystem
import CairnStore
import Testing

@testable import CairnLog

@Suite("The order of the marks")
struct MarkOrderTests {
    @Test("A sync that ends late does not hide from new readers what others were shown (FR3)")
    func lateSync() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk, 0)
        try StoreOperation.insert(store, ["a": 1])
        let synced = store.engine.registry.published()
        try StoreOperation.insert(store, ["b": 2])
        try store.synchronize()
        let last = store.lastCommit
        #expect(try Self.commitOfReader(disk) == last)
        Self.mark(store, synced)
        #expect(try Self.commitOfReader(disk) == last)
        try store.close()
    }

    @Test("Nor does one that ends when the turn has been with others, and has come back")
    func lateSyncBesideOthers() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk, 0)
        let other = try Self.open(disk, 1, .full)
        try StoreOperation.insert(store, ["a": 1])
        let synced = store.engine.registry.published()
        Self.giveBack(store)
        // This one is durable when it returns, and is there for everybody.
        try StoreOperation.insert(other, ["b": 2])
        let last = other.lastCommit
        Self.giveBack(other)
        try StoreOperation.insert(store, ["c": 3])
        #expect(try Self.commitOfReader(disk) == last)
        Self.mark(store, synced)
        #expect(try Self.commitOfReader(disk) == last)
        try store.close()
        try other.close()
    }

    private static func open(
        _ disk: any FileSystem, _ process: Int,
        _ durability: LogStoreOptions.Durability = .relaxed
    ) throws -> LogStore {
        var options = SampleStore.options(on: disk, durability: durability)
        options.process = process
        options.timeout = 0
        return try LogStore.open(at: "/store", schema: StoreOperation.schema, options: options)
    }

    /// What `Engine.synchronize` does when the log is synced up to a state.
    private static func mark(_ store: LogStore, _ state: EngineState) {
        let engine = store.engine
        engine.lease.whileHeld { engine.disk.mark(state.end, commit: state.commit) }
    }

    private static func giveBack(_ store: LogStore) {
        let engine = store.engine
        engine.withTurnAnyway { turn in
            if engine.lease.isHeld { engine.giveLeaseBack(&turn) }
        }
    }

    /// The commit that somebody sees who opens the store now.
    private static func commitOfReader(_ disk: MemoryFileSystem) throws -> UInt64 {
        var options = FollowingStores.reading(disk)
        options.process = 2
        let reader = try LogStore.open(at: "/store", options: options)
        defer { try? reader.close() }
        return try reader.snapshot().commit
    }
}
