// Parts of a checkpoint are read when they are first touched; what is damaged by then is taken from the log.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Parts of a checkpoint that are read later")
struct CheckpointImageTests {
    /// A closed store that is opened from a checkpoint, and its content.
    ///
    /// - Parameter rolls: whether the log has gone on to another segment, as it does behind a migration, without a commit.
    static func closed(rolls: Bool = false) throws -> (disk: MemoryFileSystem, text: String) {
        let disk = MemoryFileSystem()
        let store = try CheckpointTests.open(disk, closing: 1)
        for step in SampleStore.steps { try step(store) }
        let text = try SampleStore.text(store)
        if rolls { try store.engine.rollSegment() }
        try store.close()
        return (disk, text)
    }

    /// Overwrites bytes of the checkpoint, wherever it is open.
    static func damage(_ disk: MemoryFileSystem, from start: UInt64) throws {
        let name = try #require(try disk.list("/store").first { $0.hasPrefix("checkpoint") })
        let file = try disk.open(FilePath("/store").appending(name), .readWrite)
        let size = try file.size()
        let noise = (0..<Int(size - start)).map { UInt8(truncatingIfNeeded: $0 &* 151 + 7) }
        try noise.withUnsafeBytes { try file.write($0, at: start) }
    }

    @Test("Opening reads none of them, a lookup few, an export all")
    func laziness() throws {
        let (disk, text) = try Self.closed()
        let store = try CheckpointTests.open(disk)
        let image = try #require(store.engine.image)
        #expect(image.progress.parts > 5)
        #expect(image.progress.loaded == 0)
        let found = try store.snapshot().count(
            SampleStore.fetch(store, .compare("code", .equal, .string("A55"))))
        #expect(found == 1)
        #expect(image.progress.loaded < image.progress.parts)
        #expect(try SampleStore.text(store) == text)
        #expect(try store.check().findings.isEmpty)
        #expect(image.progress.loaded >= 4)
        image.loadAll()
        #expect(image.progress.loaded == image.progress.parts)
        #expect(image.failure == nil)
        try store.close()
    }

    @Test(
        "Damage that came after opening changes no answer, and nothing that is written (CK1)",
        arguments: [false, true])
    func lateDamage(rolls: Bool) throws {
        let (disk, text) = try Self.closed(rolls: rolls)
        var store = try CheckpointTests.open(disk)
        #expect(store.recovery.checkpoint != nil)
        #expect(store.engine.image?.progress.loaded == 0)
        try Self.damage(disk, from: UInt64(CheckpointHeader.size))
        #expect(try SampleStore.text(store) == text)
        #expect(try store.check().findings.isEmpty)
        #expect(store.engine.image?.failure == nil)
        try SampleStore.manyRows(store)
        try SampleStore.deletedRows(store)
        let later = try SampleStore.text(store)
        #expect(try store.check().findings.isEmpty)
        try store.close()
        store = try CheckpointTests.open(disk)
        #expect(try SampleStore.text(store) == later)
        try store.close()
    }

    @Test(
        "It is made up for under writing, too, and before the log goes on to another segment",
        arguments: [false, true])
    func lateDamageUnderWriting(rolls: Bool) throws {
        for step in SampleStore.steps.indices.dropFirst() {
            let (disk, _) = try Self.closed(rolls: rolls)
            let expected: String
            do {
                let other = try CheckpointTests.open(try DiskImage(of: disk).disk())
                try SampleStore.steps[step](other)
                expected = try SampleStore.text(other)
                try other.close()
            }
            let store = try CheckpointTests.open(disk, segmentBytes: step % 2 == 0 ? 4096 : 1 << 30)
            try Self.damage(disk, from: UInt64(CheckpointHeader.size))
            try SampleStore.steps[step](store)
            #expect(try SampleStore.text(store) == expected, "step \(step)")
            #expect(try store.check().findings.isEmpty)
            _ = try store.compact()
            #expect(try SampleStore.text(store) == expected, "step \(step)")
            try store.close()
        }
    }

    @Test("What could not be read for a while gets into no checkpoint")
    func unreadable() throws {
        let (disk, _) = try Self.closed()
        // A log that goes on behind the checkpoint, so that there is a reason for another one.
        var store = try CheckpointTests.open(disk)
        try SampleStore.manyRows(store)
        let text = try SampleStore.text(store)
        try store.close()
        let faulty = FaultInjectingFileSystem(over: disk)
        store = try CheckpointTests.open(faulty, closing: 1)
        let progress = try #require(store.engine.image?.progress)
        #expect(progress.loaded < progress.parts)
        faulty.fail(.read, with: .ioError, repeats: true)
        #expect(throws: StoreError.self) { try SampleStore.text(store) }
        #expect(throws: StoreError.self) { try store.engine.takeCheckpoint() }
        faulty.clearFaults()
        try store.engine.takeCheckpoint()
        try store.close()
        store = try CheckpointTests.open(disk)
        #expect(try SampleStore.text(store) == text)
        try store.close()
    }

    @Test("Where the log cannot be read either, reading throws until it can")
    func noWayOut() throws {
        let (disk, text) = try Self.closed()
        let store = try CheckpointTests.open(disk)
        let sound = try DiskImage(of: disk)
        try Self.damage(disk, from: UInt64(CheckpointHeader.size))
        let file = try disk.open("/store/0000000001.segment", .readWrite)
        try [UInt8](repeating: 0x55, count: 64).withUnsafeBytes { try file.write($0, at: 4300) }
        func files() throws -> [String: [UInt8]] {
            // The mark says whose turn it is.
            try DiskImage(of: disk).files.filter { $0.key != SegmentName.lock }
        }
        let before = try files()
        #expect(throws: StoreError.self) { _ = try SampleStore.text(store) }
        #expect(throws: StoreError.self) { try SampleStore.manyRows(store) }
        #expect(try files() == before)
        // The disk comes to its senses: everything is there again.
        for (name, bytes) in sound.files where name != SegmentName.lock {
            let file = try disk.open(FilePath("/store").appending(name), .readWrite)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        }
        #expect(try SampleStore.text(store) == text)
        try SampleStore.manyRows(store)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    /// A store on a disk that fails, opened from a checkpoint of which nothing is loaded, and an airport that is there.
    static func opened() throws -> (disk: FaultInjectingFileSystem, store: LogStore, id: ObjectID) {
        let (base, _) = try closed()
        var store = try CheckpointTests.open(try DiskImage(of: base).disk())
        let fetch = try SampleStore.fetch(store, .compare("code", .equal, .string("A55")))
        let id = try #require(try store.snapshot().fetch(fetch).ids.first)
        try store.close()
        let disk = FaultInjectingFileSystem(over: base)
        store = try CheckpointTests.open(disk)
        #expect(store.engine.image?.progress.loaded == 0)
        return (disk, store, id)
    }

    @Test(
        "What was read while a part was missing counts for nothing, though the part is there again by the end"
    )
    func missingMeanwhile() throws {
        let (disk, store, id) = try Self.opened()
        let engine = store.engine
        let entity = try #require(store.schema.entity(named: "Airport")).index
        let number = try #require(UInt32(exactly: id.reference))
        /// Finds nothing, since nothing can be read; then somebody else's reading repairs it.
        func look(_ state: EngineState) {
            disk.fail(.read, with: .ioError, repeats: true)
            let tree = state.catalog.entities[entity].tree
            #expect(state.directories[tree][number].isEmpty)
            disk.clearFaults()
            engine.image?.retry()
            #expect(!state.directories[tree][number].isEmpty)
            #expect(engine.image?.failure == nil)
        }
        let state = engine.registry.published()
        let error = #expect(throws: StoreError.self) {
            try engine.reader.withWholeState { look(state) }
        }
        #expect(error?.code == .inputOutput)
        #expect(try store.snapshot().rows([id]).compactMap { $0 }.count == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test(
        "A commit that was made while a part was missing fails, though the part is there again by the end"
    )
    func missingMeanwhileUnderWriting() throws {
        let (disk, store, id) = try Self.opened()
        let entity = try #require(store.schema.entity(named: "Airport")).index
        let number = try #require(UInt32(exactly: id.reference))
        let text = try DiskImage(of: disk).content().text
        #expect(throws: StoreError.self) {
            _ = try store.engine.commit(author: nil, contextName: nil) {
                builder throws(StoreError) in
                disk.fail(.read, with: .ioError, repeats: true)
                let tree = builder.catalog.entities[entity].tree
                #expect(builder.state.directories[tree][number].isEmpty)
                disk.clearFaults()
                store.engine.image?.retry()
                builder.hasChanges = true
            }
        }
        #expect(try SampleStore.text(store) == text)
        try SampleStore.manyRows(store)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test(
        "Until a part is there again nobody is told so, however often it is tried; and that costs no memory"
    )
    func retrying() throws {
        let (disk, store, id) = try Self.opened()
        let engine = store.engine
        disk.fail(.read, with: .ioError, repeats: true)
        #expect(throws: StoreError.self) { _ = try store.snapshot().rows([id]) }
        let bytes = engine.pool.bytesInUse
        let count = try #require(engine.image?.failureCount)
        for _ in 0..<20 {
            #expect(throws: StoreError.self) { _ = try store.snapshot().rows([id]) }
        }
        #expect(engine.image?.failureCount == count + 20)
        #expect(engine.pool.bytesInUse == bytes)
        disk.clearFaults()
        #expect(try store.snapshot().rows([id]).compactMap { $0 }.count == 1)
        try store.close()
    }
}
