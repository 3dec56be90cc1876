// What a store says of itself, through everything that may happen to it.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Metadata of a store")
struct MetadataTests {
    /// One value of each kind.
    static let values: [String: Value] = [
        "token": .string("b7/c1 – \"ü\""), "count": .integer(.min), "share": .double(0.1),
        "none": .double(-.infinity), "factor": .float(.leastNonzeroMagnitude),
        "done": .boolean(true),
        "at": .date(Date(timeIntervalSinceReferenceDate: 0.1)),
        "key": .uuid(SampleStore.identifier),
        "home": .uri(URL(string: "https://example.com/a?b=c")!),
        "price": .decimal(Decimal(12) / 10),
        "bytes": .binary(Data([0, 255, 128])),
    ]

    private static func open(_ disk: any FileSystem, isReadOnly: Bool = false) throws -> LogStore {
        var options = CompactionTests.options(on: disk)
        options.isReadOnly = isReadOnly
        options.followsWriter = false
        return try LogStore.open(
            at: "/store", schema: isReadOnly ? nil : try SampleStore.schema(), options: options)
    }

    /// What is on a disk for who opens it next; everything in it must fit together.
    private static func values(on disk: any FileSystem) throws -> [String: Value] {
        let store = try open(disk, isReadOnly: true)
        defer { try? store.close() }
        #expect(try store.check().findings.isEmpty)
        var options = FollowingStores.reading(disk)
        options.isReadOnly = true
        let audit = try LogStore.check(at: "/store", depth: .all, options: options)
        #expect(audit.findings.isEmpty, "\(audit.findings)")
        return try store.metadata().values
    }

    // MARK: Setting

    @Test("Type, identifier and model are always there; values are written by the next save")
    func nextSave() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        let metadata = try store.metadata()
        #expect(metadata.type == StoreMetadata.logStoreType)
        #expect(metadata.identifier == store.identity.identifier && metadata.values.isEmpty)
        #expect(
            metadata.model.entityVersionHashesByName
                == SampleStore.model.entityVersionHashesByName)
        try store.setMetadata(Self.values.merging(["gone": .null]) { first, _ in first })
        #expect(try store.metadata().values == Self.values)
        // A batch is no save.
        try SampleStore.manyRows(store)
        let before = try DiskImage(of: disk)
        #expect(try LogStore.metadata(forStoreAt: "/store", on: before.disk()).values.isEmpty)
        try SampleStore.firstObjects(store)
        let after = try DiskImage(of: disk).disk()
        #expect(try LogStore.metadata(forStoreAt: "/store", on: after).values == Self.values)
        // There is nothing left to be written.
        let commit = try store.snapshot().commit
        try store.writeMetadata()
        try store.setMetadata(Self.values)
        try store.writeMetadata()
        #expect(try store.snapshot().commit == commit)
        try store.setMetadata([:])
        try store.writeMetadata()
        #expect(try store.snapshot().commit == commit + 1)
        try store.close()
        #expect(try Self.values(on: disk).isEmpty)
    }

    @Test("Saves that bring some along forget no plans of fetches")
    func plans() throws {
        let store = try Self.open(MemoryFileSystem())
        let before = store.engine.registry.read { $0.catalog }
        try store.setMetadata(["token": .integer(7)])
        try SampleStore.firstObjects(store)
        let after = store.engine.registry.read { $0.catalog }
        #expect(after.metadata?.values == ["token": .integer(7)] && before.metadata == nil)
        #expect(after.plans === before.plans && after.describesSame(as: before))
        try store.close()
    }

    @Test("A save that fails leaves them waiting, and writes none; a save of nothing writes them")
    func failedSave() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try SampleStore.firstObjects(store)
        try store.setMetadata(["a": .integer(1)])
        // The same objects again: their codes are taken.
        #expect(storeError { try SampleStore.firstObjects(store) }?.code == .constraintConflict)
        #expect(
            try LogStore.metadata(forStoreAt: "/store", on: DiskImage(of: disk).disk()).values
                .isEmpty)
        #expect(try store.metadata()["a"] == .integer(1))
        _ = try store.save(SaveRequest())
        try store.close()
        #expect(try Self.values(on: disk) == ["a": .integer(1)])
    }

    @Test("What cannot be kept is refused, and what was set before stays")
    func refused() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try store.setMetadata(["a": .integer(1)])
        let id = store.identity.id(1, entity: 0)
        #expect(
            storeError { try store.setMetadata(["id": .objectID(id)]) }?.code == .invalidRequest)
        let large = Data(count: 13 << 20)
        #expect(
            storeError { try store.setMetadata(["large": .binary(large)]) }?.code == .invalidRequest
        )
        #expect(try store.metadata().values == ["a": .integer(1)])
        try store.writeMetadata()
        try store.close()
        #expect(storeError { _ = try store.metadata() }?.code == .unusable)
        #expect(storeError { try store.writeMetadata() }?.code == .unusable)
        let reader = try Self.open(disk, isReadOnly: true)
        #expect(storeError { try reader.setMetadata([:]) }?.code == .readOnly)
        #expect(try reader.metadata()["a"] == .integer(1))
        try reader.close()
    }

    @Test("They are set for a store that is not open, or through the one that is; locks count")
    func perFile() throws {
        let disk = MemoryFileSystem()
        try Self.open(disk).close()
        try LogStore.setMetadata(["a": .integer(1)], forStoreAt: "/store", on: disk)
        #expect(try LogStore.metadata(forStoreAt: "/store", on: disk)["a"] == .integer(1))
        let store = try Self.open(disk)
        let reader = try Self.open(disk, isReadOnly: true)
        try LogStore.setMetadata(["a": .integer(2)], forStoreAt: "/store", on: disk)
        #expect(try store.metadata()["a"] == .integer(2))
        // A reader follows.
        #expect(try reader.metadata()["a"] == .integer(1))
        #expect(try reader.refresh())
        #expect(try reader.metadata()["a"] == .integer(2))
        try reader.close()
        try store.close()
        let lock = try disk.open("/store/lock", .readWrite)
        #expect(try lock.lock(byte: 0, exclusive: true))
        #expect(
            storeError { try LogStore.setMetadata([:], forStoreAt: "/store", on: disk) }?.code
                == .storeInUse)
        #expect(try LogStore.metadata(forStoreAt: "/store", on: disk)["a"] == .integer(2))
        #expect(
            storeError { _ = try LogStore.metadata(forStoreAt: "/other", on: disk) }?.code
                == .openFailed)
        #expect(
            storeError { try LogStore.setMetadata([:], forStoreAt: "/other", on: disk) }?.code
                == .openFailed)
        #expect(try !disk.exists("/other"))
    }

    @Test("Another identifier counts when the store is opened the next time; ids bear it then")
    func identifier() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        let own = store.identity.identifier
        let other = UUID()
        try store.setMetadata(["a": .integer(1)], identifier: other)
        try SampleStore.firstObjects(store)
        #expect(store.identity.identifier == own)
        #expect(try store.metadata().identifier == other)
        try store.close()
        let again = try Self.open(disk)
        #expect(again.identity.identifier == other)
        let ids = try again.snapshot().fetch(StoreFetch(entity: 0)).ids
        #expect(!ids.isEmpty && ids.allSatisfy { $0.store == other })
        #expect(try again.snapshot().rows([ids[0]])[0] != nil)
        // Values alone leave it, and the store's own id takes it back.
        try again.setMetadata([:])
        #expect(try again.metadata().identifier == other)
        try again.setMetadata([:], identifier: own)
        try again.writeMetadata()
        try again.close()
        let last = try Self.open(disk)
        #expect(last.identity.identifier == own)
        try last.close()
    }

    // MARK: Everything else

    @Test("They outlive compaction, also of the segment that compaction wrote them into")
    func compaction() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try store.setMetadata(Self.values, identifier: UUID())
        try SampleStore.firstObjects(store)
        let place = try #require(store.engine.registry.read { $0.catalog.metadata?.place })
        for round in 1...3 {
            for _ in 0..<3 {
                for part in 0..<3 {
                    try CompactionTests.update(store, part * 60..<(part + 1) * 60, round)
                }
            }
            _ = try store.compact()
            #expect(try store.metadata().values == Self.values)
            let image = try DiskImage(of: disk).disk()
            #expect(try Self.values(on: image) == Self.values, "round \(round)")
        }
        let moved = try #require(store.engine.registry.read { $0.catalog.metadata })
        #expect(moved.place.segment != place.segment && moved.revision == 1)
        #expect(store.engine.registry.read { $0.segments[place.segment] == nil })
        try store.setMetadata(["a": .integer(1)])
        try store.writeMetadata()
        _ = try store.compact()
        try store.close()
        #expect(try Self.values(on: disk) == ["a": .integer(1)])
    }

    @Test("A checkpoint has their place; with a wrong one in it it is passed over")
    func checkpoint() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try store.setMetadata(Self.values)
        try SampleStore.firstObjects(store)
        try store.engine.takeCheckpoint()
        try SampleStore.manyRows(store)
        try store.close()
        let again = try Self.open(disk)
        #expect(again.recovery.checkpoint != nil)
        #expect(try again.metadata().values == Self.values)
        try again.close()
        #expect(try Self.values(on: disk) == Self.values)
        for indexed in [false, true] {
            var contents = CheckpointContents()
            if indexed {
                contents.fetchIndexes = [
                    .init(
                        entity: 1, columns: [], ordered: .init(),
                        postings: .init(bits: 0, partitions: []), lists: .init())
                ]
            }
            contents.metadata = Place(segment: 7, offset8: 900)
            var writer = ByteWriter(capacity: 100)
            contents.encode(to: &writer)
            #expect(try CheckpointContents(decoding: writer.bytes, fileLength: 0) == contents)
        }
    }

    @Test("A backup and a salvaged store have them", arguments: [true, false])
    func copies(keepsIdentifier: Bool) throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        let identifier = UUID()
        try store.setMetadata(Self.values, identifier: identifier)
        try SampleStore.firstObjects(store)
        _ = try store.backup(to: "/copy", on: disk)
        try store.close()
        let copy = try LogStore.metadata(forStoreAt: "/copy", on: disk)
        #expect(copy.values == Self.values && copy.identifier == identifier)
        var options = SalvageOptions()
        options.store = CompactionTests.options(on: disk)
        options.store.storeIdentifier = nil
        options.keepsIdentifier = keepsIdentifier
        _ = try LogStore.salvage(at: "/store", to: "/salvaged", options: options)
        let salvaged = try LogStore.metadata(forStoreAt: "/salvaged", on: disk)
        #expect(salvaged.values == Self.values)
        #expect((salvaged.identifier == identifier) == keepsIdentifier)
        #expect(salvaged.identifier != store.identity.identifier)
    }

    @Test("F-755: only from the first metadata on a segment says that there may be some")
    func flags() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try CompactionTests.fill(store)
        #expect(
            store.engine.registry.read {
                $0.segments.all.allSatisfy { $0.header.flags == .packedColumns }
            })
        try store.setMetadata(["a": .integer(1)])
        try store.writeMetadata()
        let place = try #require(store.engine.registry.read { $0.catalog.metadata?.place })
        for round in 10..<14 { try CompactionTests.update(store, 0..<90, round) }
        _ = try store.compact()
        store.engine.registry.read { state in
            for segment in state.segments.all {
                #expect(segment.header.flags.allowsMetadata == (segment.number >= place.segment))
            }
        }
        // A bit that nobody knows yet: the store is read, and not written to.                    F-207
        try store.engine.withTurn { turn throws(StoreError) in
            try store.engine.beginSegment(&turn, adding: FeatureFlags(readOnlyCompatible: 1 << 40))
        }
        try CompactionTests.update(store, 0..<3, 1)
        try store.close()
        #expect(try LogStore.metadata(forStoreAt: "/store", on: disk)["a"] == .integer(1))
        let refused = storeError {
            try LogStore.setMetadata([:], forStoreAt: "/store", on: disk)
        }
        #expect(refused?.code == .openFailed)
    }
}
