// Backups of stores that are written to: what they hold, what is copied, what is refused.

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

@Suite("Backups")
struct BackupTests {
    static func writer(
        _ disk: any FileSystem, at folder: String = "/source", segmentBytes: UInt64 = 16 << 10,
        durability: LogStoreOptions.Durability = .full
    ) throws -> LogStore {
        var options = CompactionTests.options(on: disk)
        options.sizes.segmentBytes = segmentBytes
        options.durability = durability
        return try LogStore.open(at: folder, schema: try SampleStore.schema(), options: options)
    }

    /// What a backup holds; everything in it fits together.
    static func text(_ disk: any FileSystem, _ folder: String = "/store") throws -> String {
        let store = try LogStore.open(at: folder, options: FollowingStores.reading(disk))
        defer { try? store.close() }
        #expect(try store.check().findings.isEmpty)
        return try SampleStore.text(store)
    }

    @Test(
        "A backup beside a writer holds one state, and later ones only what is new",
        arguments: [1 << 30, 6 << 10] as [UInt64])
    func steps(segmentBytes: UInt64) throws {
        let disk = MemoryFileSystem()
        let store = try Self.writer(disk, segmentBytes: segmentBytes)
        var last: BackupResult?
        for (number, step) in SampleStore.steps.enumerated() {
            try step(store)
            let result = try store.backup(to: "/store", on: disk)
            #expect(result.isIncremental == (number > 0))
            #expect(result.commit == (try store.snapshot().commit))
            #expect(try Self.text(disk) == (try SampleStore.text(store)))
            if let last {
                #expect(result.copiedBytes == result.bytes - last.bytes, "step \(number)")
            } else {
                #expect(result.copiedBytes == result.bytes)
            }
            last = result
        }
        let again = try store.backup(to: "/store", on: disk)
        #expect(again.copiedBytes == 0)
        // Each byte is the store's, and nothing else is there.
        try store.synchronize()
        let (source, copy) = (
            try DiskImage(of: disk, "/source"), try DiskImage(of: disk, "/store")
        )
        #expect(copy.files.keys.sorted() == source.segments + ["lock"])
        for name in copy.segments {
            let bytes = try #require(copy.files[name])
            #expect(source.files[name]?.prefix(bytes.count) == bytes[...])
        }
        try store.close()
        // What a close frame follows is gone on from, too.
        let reopened = try Self.writer(disk, segmentBytes: segmentBytes)
        #expect(try reopened.backup(to: "/store", on: disk).isIncremental)
        try SampleStore.secondRows(reopened)
        #expect(try reopened.backup(to: "/store", on: disk).isIncremental)
        #expect(try Self.text(disk) == (try SampleStore.text(reopened)))
        try reopened.close()
    }

    @Test("A backup goes on from one that was made before compaction, and drops what it dropped")
    func compacted() throws {
        let disk = MemoryFileSystem()
        let store = try Self.writer(disk)
        try CompactionTests.fill(store)
        _ = try store.backup(to: "/store", on: disk)
        var before = try DiskImage(of: disk, "/store")
        for round in 0..<3 {
            try CompactionTests.update(store, 0..<120, 20 + round)
            let compacted = try store.compact()
            #expect(compacted.retiredSegments > 0)
            try CompactionTests.update(store, 0..<9, 30 + round)
            let result = try store.backup(to: "/store", on: disk)
            #expect(result.isIncremental)
            #expect(try Self.text(disk) == (try SampleStore.text(store)))
            let after = try DiskImage(of: disk, "/store")
            #expect(
                after.segments
                    == store.engine.registry.published().segments.all
                    .map { SegmentName.name(of: $0.number) }.sorted())
            #expect(after.files.keys.count { $0.hasPrefix("checkpoint") } == 1)
            #expect(after.segments != before.segments)
            before = after
        }
        try store.close()
        let backup = try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
        #expect(backup.recovery.checkpoint != nil, "the checkpoint came along")
        try backup.close()
    }

    @Test("A snapshot is copied, whatever is committed and compacted meanwhile")
    func beside() throws {
        let disk = MemoryFileSystem()
        let gated = FaultInjectingFileSystem(over: disk)
        let store = try Self.writer(disk)
        try CompactionTests.fill(store, rounds: 1)
        let text = try SampleStore.text(store)
        // The backup waits at its third write while others go on.
        let gate = gated.hold(.write, number: 3)
        let threads = TestThreads()
        threads.start {
            do {
                _ = try store.backup(to: "/store", on: gated)
            } catch {
                Issue.record(error)
            }
        }
        gate.waitUntilReached()
        try CompactionTests.update(store, 0..<100, 77)
        _ = try store.compact()
        #expect(throws: StoreError.self) { try Self.text(disk) }
        gate.open()
        threads.join()
        #expect(try Self.text(disk) == text)
        #expect(try store.backup(to: "/store", on: disk).isIncremental)
        #expect(try Self.text(disk) == (try SampleStore.text(store)))
        try store.close()
    }

    @Test("A reading process backs up what is durable; a reader of the backup follows it")
    func readers() throws {
        let disk = MemoryFileSystem()
        let store = try Self.writer(disk, durability: .relaxed)
        try SampleStore.firstObjects(store)
        try store.synchronize()
        let durable = try SampleStore.text(store)
        try SampleStore.manyRows(store)
        let reader = try LogStore.open(at: "/source", options: FollowingStores.reading(disk))
        _ = try reader.backup(to: "/store", on: disk)
        #expect(try Self.text(disk) == durable)
        let follower = try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
        #expect(try SampleStore.text(follower) == durable)
        for round in 0..<3 {
            try CompactionTests.update(store, 0..<100, round)
            if round == 1 { _ = try store.compact() }
            _ = try store.backup(to: "/store", on: disk)
            #expect(try follower.refresh())
            #expect(try SampleStore.text(follower) == (try SampleStore.text(store)))
            #expect(try follower.check().findings.isEmpty)
        }
        try follower.close()
        try reader.close()
        try store.close()
    }

    @Test("A store in memory is backed up onto the disk")
    func fromMemory() throws {
        try withTemporaryDirectory { directory in
            let store = try LogStore.inMemory(schema: try SampleStore.schema())
            for step in SampleStore.steps { try step(store) }
            let path = directory.path("copy")
            #expect(try !store.backup(to: path).isIncremental)
            #expect(try Self.text(POSIXFileSystem(), path) == (try SampleStore.text(store)))
            try SampleStore.secondRows(store)
            #expect(try store.backup(to: path).isIncremental)
            #expect(try Self.text(POSIXFileSystem(), path) == (try SampleStore.text(store)))
            try store.close()
        }
    }

    // MARK: Going different ways

    @Test("Whoever writes to a backup makes a store of its own of it: nothing is copied any more")
    func diverged() throws {
        for commits in [false, true] {
            for durability in [LogStoreOptions.Durability.full, .relaxed] {
                let disk = MemoryFileSystem()
                let store = try Self.writer(disk, segmentBytes: 1 << 30)
                try SampleStore.firstObjects(store)
                _ = try store.backup(to: "/store", on: disk)
                let copy = try Self.writer(disk, at: "/store", durability: durability)
                #expect(try SampleStore.text(copy) == (try SampleStore.text(store)))
                if commits { try SampleStore.manyRows(copy) }
                let text = try SampleStore.text(copy)
                // Nobody copies into what somebody has open for writing.
                let busy = storeError { _ = try store.backup(to: "/store", on: disk) }
                #expect(busy?.code == .storeInUse)
                FollowingStores.abandon(copy)
                try SampleStore.manyRows(store)
                guard commits else {
                    #expect(try store.backup(to: "/store", on: disk).isIncremental)
                    #expect(try Self.text(disk) == (try SampleStore.text(store)))
                    try store.close()
                    continue
                }
                let error = storeError { _ = try store.backup(to: "/store", on: disk) }
                #expect(error?.code == .invalidRequest)
                #expect(error?.context.segment != nil)
                #expect(error?.context.path == "/store")
                #expect(try Self.text(disk) == text, "it holds what it held")
                try store.close()
            }
        }
    }

    @Test("A backup that is newer than the store is not gone back from")
    func newer() throws {
        let disk = MemoryFileSystem()
        let store = try Self.writer(disk)
        try SampleStore.firstObjects(store)
        _ = try store.backup(to: "/old", on: disk)
        try SampleStore.manyRows(store)
        _ = try store.backup(to: "/store", on: disk)
        let text = try SampleStore.text(store)
        try store.close()
        let old = try Self.writer(disk, at: "/old")
        let error = storeError { _ = try old.backup(to: "/store", on: disk) }
        #expect(error?.code == .invalidRequest)
        // And when it has come as far, on another way.
        for round in 0..<9 { try CompactionTests.update(old, 0..<70, round) }
        let diverged = storeError { _ = try old.backup(to: "/store", on: disk) }
        #expect(diverged?.code == .invalidRequest)
        #expect(diverged?.context.offset != nil)
        #expect(try Self.text(disk) == text)
        try old.close()
    }

    // MARK: What is no place for a backup

    @Test(
        "The store itself, its own folder, another store, and folders with something else are refused"
    )
    func refused() throws {
        let disk = MemoryFileSystem()
        let store = try Self.writer(disk)
        try SampleStore.firstObjects(store)
        let text = try SampleStore.text(store)
        var options = CompactionTests.options(on: disk)
        options.storeIdentifier = UUID()
        let other = try LogStore.open(
            at: "/other", schema: try SampleStore.schema(), options: options)
        try SampleStore.firstObjects(other)
        _ = try other.backup(to: "/othercopy", on: disk)
        try other.close()
        try disk.makeDirectory("/full")
        let file = try disk.open("/full/letter.txt", .create)
        try file.write(RawBytes(count: 5).bytes, at: 0)
        for (folder, what) in [
            ("/source", "itself"), ("/source/backup", "own folder"), ("/other", "another store"),
            ("/othercopy", "another store"), ("/full", "not empty"),
        ] {
            let before = try DiskImage(of: disk, FilePath(folder)).files.filter { $0.key != "lock" }
            let error = storeError { _ = try store.backup(to: folder, on: disk) }
            #expect(error?.code == .invalidRequest, "\(folder)")
            #expect(error?.message.contains(what) == true, "\(error?.message ?? "")")
            #expect(error?.context.path == folder)
            let after = try DiskImage(of: disk, FilePath(folder)).files.filter { $0.key != "lock" }
            #expect(before == after)
        }
        #expect(throws: StoreError.self) { try store.backup(to: "/no/such/place", on: disk) }
        #expect(throws: StoreError.self) { try store.backup(to: "/full/letter.txt", on: disk) }
        #expect(try SampleStore.text(store) == text)
        try disk.makeDirectory("/empty")
        #expect(try !store.backup(to: "/empty", on: disk).isIncremental)
        try store.close()
    }

    @Test("What is damaged is not copied, and the backup that was there stays")
    func damaged() throws {
        let disk = MemoryFileSystem()
        let store = try Self.writer(disk, segmentBytes: 1 << 30)
        try SampleStore.firstObjects(store)
        _ = try store.backup(to: "/store", on: disk)
        let text = try Self.text(disk)
        try SampleStore.manyRows(store)
        let place = store.engine.registry.published().commitOffset - 40
        let file = try disk.open("/source/0000000001.segment", .readWrite)
        let byte = RawBytes(count: 1)
        #expect(try file.read(into: byte.mutable, at: place) == 1)
        byte.mutable[0] ^= 4
        try file.write(byte.bytes, at: place)
        for folder in ["/store", "/new"] {
            let error = storeError { _ = try store.backup(to: folder, on: disk) }
            #expect(error?.code == .damaged)
            #expect(error?.context.segment == 1)
            #expect(error?.context.path?.hasPrefix("/source") == true)
        }
        #expect(try Self.text(disk) == text)
        let unfinished = storeError { _ = try Self.text(disk, "/new") }
        #expect(unfinished?.code == .openFailed)
        #expect(unfinished?.message.contains("unfinished copy") == true)
        #expect(storeError { _ = try Self.writer(disk, at: "/new") }?.code == .openFailed)
        // Mended, both go on.
        byte.mutable[0] ^= 4
        try file.write(byte.bytes, at: place)
        for folder in ["/store", "/new"] {
            #expect(try store.backup(to: folder, on: disk).isIncremental == (folder == "/store"))
            #expect(try Self.text(disk, folder) == (try SampleStore.text(store)))
        }
        try store.close()
    }

    @Test("A segment of a backup that somebody removed or cut is copied once more")
    func incomplete() throws {
        let disk = MemoryFileSystem()
        let store = try Self.writer(disk, segmentBytes: 6 << 10)
        try CompactionTests.fill(store, rounds: 1)
        _ = try store.backup(to: "/store", on: disk)
        let names = try DiskImage(of: disk, "/store").segments
        try disk.unlink(FilePath("/store").appending(names[1]))
        try disk.open(FilePath("/store").appending(names[2]), .readWrite).truncate(to: 5000)
        let result = try store.backup(to: "/store", on: disk)
        #expect(result.copiedBytes > 0)
        #expect(try Self.text(disk) == (try SampleStore.text(store)))
        try store.close()
    }
}
