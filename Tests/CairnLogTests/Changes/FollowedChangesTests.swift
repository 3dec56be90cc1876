// What is told of commits that another process made, and what telling keeps of the engine.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnLog

@Suite("Change sets of the engine")
struct FollowedChangesTests {
    private final class Recorder: Sendable {
        private let kept = Mutex<[ChangeSet]>([])
        private let observation = Mutex<ChangeObservation?>(nil)

        init(_ store: LogStore) {
            let observation = store.observeChanges { [weak self] set in
                self?.kept.withLock { $0.append(set) }
            }
            self.observation.withLock { $0 = observation }
        }

        func take() -> [ChangeSet] {
            kept.withLock { kept in
                defer { kept = [] }
                return kept
            }
        }
    }

    /// By tree: the versions of the objects that people see.
    private static func versions(_ store: LogStore) -> [Int: [UInt32: UInt32]] {
        let pinned = store.engine.registry.pin()
        let state = pinned.state
        var versions: [Int: [UInt32: UInt32]] = [:]
        for tree in state.catalog.trees.indices
        where !state.catalog.entities[state.catalog.trees[tree].root].isHidden {
            versions[tree] = [:]
            var number = state.directories[tree].next(from: 0)
            while let one = number {
                versions[tree]?[one] = state.directories[tree][one].version
                number = state.directories[tree].next(from: one + 1)
            }
        }
        withExtendedLifetime(pinned) {}
        return versions
    }

    /// What a set makes of earlier versions; the new ones are those of the present state.
    private static func apply(
        _ set: ChangeSet, to versions: inout [Int: [UInt32: UInt32]], _ store: LogStore
    ) throws {
        let now = Self.versions(store)
        for changes in try set.entities() {
            let tree = store.engine.registry.read { $0.catalog.entities[changes.entity].tree }
            for number in changes.inserted {
                #expect(versions[tree]?[UInt32(number)] == nil)
                versions[tree]?[UInt32(number)] = now[tree]?[UInt32(number)]
            }
            for number in changes.updated {
                #expect(versions[tree]?[UInt32(number)] != nil)
                versions[tree]?[UInt32(number)] = now[tree]?[UInt32(number)]
            }
            for number in changes.deleted {
                #expect(versions[tree]?.removeValue(forKey: UInt32(number)) != nil)
            }
        }
    }

    @Test("A reader is told what it reads of another process, also after the writer's compaction")
    func followed() throws {
        let disk = MemoryFileSystem()
        var options = CompactionTests.options(on: disk)
        options.sizes.segmentBytes = 8 << 10
        let writer = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        let reader = try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
        let recorder = Recorder(reader)
        var mirror = Self.versions(reader)
        var commit = try reader.snapshot().commit
        for (number, step) in SampleStore.steps.enumerated() {
            try step(writer)
            // Some refreshes read several commits, some what is left of a compacted log.
            if number % 3 == 1 { continue }
            if number % 4 == 0 { _ = try writer.compact() }
            #expect(try reader.refresh())
            let sets = recorder.take()
            #expect(sets.count == 1)
            let set = try #require(sets.first)
            #expect(set.isFromAnotherProcess)
            #expect(set.commits == commit + 1...(try reader.snapshot().commit))
            commit = set.commit
            try Self.apply(set, to: &mirror, reader)
            #expect(mirror == Self.versions(reader), "step \(number)")
        }
        #expect(try !reader.refresh() || !recorder.take().isEmpty)
        try reader.close()
        try writer.close()
    }

    @Test("The author of the only commit that a reader reads is told")
    func author() throws {
        let disk = MemoryFileSystem()
        let shop = CompactionTests.options(on: disk)
        let writer = try LogStore.open(
            at: "/store", schema: try Schema(CommittersTests.model), options: shop)
        let reader = try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
        let recorder = Recorder(reader)
        func put(_ key: String, by author: String?) throws {
            var request = BatchInsertRequest(entityName: "Item", objects: [["key": key]])
            request.author = author
            _ = try writer.execute(request)
        }
        try put("a", by: "one")
        try reader.refresh()
        try put("b", by: "one")
        try put("c", by: "other")
        try reader.refresh()
        let sets = recorder.take()
        #expect(sets.map(\.author) == ["one", nil])
        #expect(try sets.map { try $0.insertedObjectIDs().count } == [1, 2])
        try reader.close()
        try writer.close()
    }

    @Test(
        "A set keeps two states until it has told what changed; without observers nothing is kept")
    func pins() throws {
        let store = try LogStore.inMemory(schema: try Schema(CommittersTests.model))
        func put(_ key: String) throws {
            _ = try store.execute(BatchInsertRequest(entityName: "Item", objects: [["key": key]]))
        }
        try put("a")
        #expect(store.engine.registry.count == 1)
        var recorder: Recorder? = Recorder(store)
        try put("b")
        try put("c")
        #expect(store.engine.registry.count == 3)
        let sets = try #require(recorder?.take())
        for set in sets { _ = try set.entities() }
        #expect(store.engine.registry.count == 1)
        #expect(try sets.map { try $0.insertedObjectIDs().count } == [1, 1])
        try put("d")
        #expect(store.engine.registry.count == 2)
        recorder = nil
        #expect(store.engine.registry.count == 1)
        try put("e")
        #expect(store.engine.registry.count == 1)
        #expect(store.engine.registry._checkInvariants().isEmpty)
        try store.close()
    }

    @Test("Ids that are handed out and compaction are no changes; a commit that fails is not told")
    func silent() throws {
        let disk = MemoryFileSystem()
        var options = CompactionTests.options(on: disk)
        options.sizes.segmentBytes = 8 << 10
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        let recorder = Recorder(store)
        for step in SampleStore.steps { try step(store) }
        #expect(!recorder.take().isEmpty)
        _ = try store.obtainPermanentIDs(forEntities: [0, 0, 0])
        _ = try store.compact()
        #expect(recorder.take().isEmpty)
        #expect(throws: StoreError.self) {
            try store.execute(BatchInsertRequest(entityName: "None", objects: [["a": 1]]))
        }
        #expect(recorder.take().isEmpty)
        try store.close()
    }
}
