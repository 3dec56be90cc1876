// Removals that the disk, or somebody else's files, stand in the way of.

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

@Suite("Removing stores where that fails")
struct RemovalFailureTests {
    /// A store with some content, closed.
    private static func sample(_ disk: any FileSystem, at folder: String, rounds: Int = 1) throws
        -> String
    {
        let store = try BackupTests.writer(disk, at: folder)
        for round in 0..<rounds { try CompactionTests.update(store, 0..<30, round) }
        let text = try SampleStore.text(store)
        try store.close()
        return text
    }

    @Test(
        "A store of which no file can be removed is whole afterwards", arguments: [false, true])
    func noPermission(isReplaced: Bool) throws {
        let disk = MemoryFileSystem()
        let text = try Self.sample(disk, at: "/store")
        _ = try Self.sample(disk, at: "/source", rounds: 3)
        let before = try DiskImage(of: disk)
        let faulty = FaultInjectingFileSystem(over: disk)
        faulty.fail(.unlink, with: .permissionDenied, repeats: true)
        let error = storeError {
            if isReplaced {
                try LogStore.replace(at: "/store", withStoreAt: "/source", on: faulty)
            } else {
                try LogStore.destroy(at: "/store", on: faulty)
            }
        }
        #expect(error?.code == .inputOutput)
        #expect(try DiskImage(of: disk) == before)
        #expect(try BackupTests.text(disk) == text)
    }

    @Test(
        "A folder that may not be written keeps its store",
        .enabled(if: getuid() != 0, "root may write everywhere"), arguments: [false, true])
    func readOnlyFolder(isReplaced: Bool) throws {
        let directory = try TemporaryDirectory()
        let (path, source) = (directory.path("store"), directory.path("source"))
        for path in [path, source] {
            let store = try LogStore.open(at: path, schema: try SampleStore.schema())
            try SampleStore.firstObjects(store)
            try store.close()
        }
        chmod(path, 0o555)
        defer { chmod(path, 0o755) }
        #expect(
            storeError {
                if isReplaced {
                    try LogStore.replace(at: path, withStoreAt: source)
                } else {
                    try LogStore.destroy(at: path)
                }
            } != nil)
        let store = try LogStore.open(at: path)
        #expect(try store.snapshot().count(StoreFetch(entity: 0)) > 0)
        try store.close()
    }

    @Test("What fails once a file is gone leaves a store that does not open, and is finished later")
    func failsLater() throws {
        let disk = MemoryFileSystem()
        let store = try BackupTests.writer(disk, at: "/store")
        try CompactionTests.fill(store, rounds: 2)
        try store.close()
        let faulty = FaultInjectingFileSystem(over: disk)
        try #require(try disk.list("/store").count > 2, "two files besides the lock")
        faulty.fail(.unlink, number: 2, with: .ioError)
        #expect(storeError { try LogStore.destroy(at: "/store", on: faulty) }?.code == .inputOutput)
        #expect(
            storeError {
                _ = try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
            }?.code == .openFailed)
        try LogStore.destroy(at: "/store", on: disk)
        #expect(try !disk.exists("/store"))
    }

    @Test(
        "A folder with nothing but somebody else's file named lock is not touched",
        arguments: ["4711\n", "x", String(repeating: "a lock ", count: 40)])
    func foreignLock(text: String) throws {
        let disk = MemoryFileSystem()
        _ = try Self.sample(disk, at: "/source")
        try disk.makeDirectory("/store")
        var text = text
        try text.withUTF8 {
            try disk.open("/store/lock", .create).write(UnsafeRawBufferPointer($0), at: 0)
        }
        let before = try DiskImage(of: disk)
        for force in [false, true] {
            #expect(
                storeError { try LogStore.destroy(at: "/store", on: disk, force: force) }?.code
                    == .invalidRequest)
            #expect(
                storeError {
                    try LogStore.replace(
                        at: "/store", withStoreAt: "/source", on: disk, force: force)
                }?.code == .invalidRequest)
        }
        #expect(try DiskImage(of: disk) == before)
    }

    @Test("A lock file that a store left empty, or of zeros, is a store's", arguments: [0, 64])
    func emptyLock(size: Int) throws {
        let disk = MemoryFileSystem()
        try disk.makeDirectory("/store")
        let zeros = [UInt8](repeating: 0, count: size)
        let lock = try disk.open("/store/lock", .create)
        try zeros.withUnsafeBytes { try lock.write($0, at: 0) }
        try LogStore.destroy(at: "/store", on: disk)
        #expect(try !disk.exists("/store"))
    }

    @Test("By force a store is not closed for a source that turns out to be damaged")
    func damagedSource() throws {
        let disk = MemoryFileSystem()
        _ = try Self.sample(disk, at: "/store")
        var options = CompactionTests.options(on: disk)
        options.sizes.segmentBytes = 16 << 10
        // It opens by its checkpoint, and is read when it is copied.
        options.sizes.closingCheckpointBytes = 0
        let source = try LogStore.open(
            at: "/source", schema: try SampleStore.schema(), options: options)
        try CompactionTests.fill(source, rounds: 2)
        try source.close()
        let name = try #require(try DiskImage(of: disk, "/source").segments.first)
        let segment = try disk.open(FilePath("/source/\(name)"), .readWrite)
        let bytes = RawBytes(count: 1)
        #expect(try segment.read(into: bytes.mutable, at: 9_000) == 1)
        bytes.mutable[0] ^= 0x10
        try segment.write(UnsafeRawBufferPointer(bytes.mutable), at: 9_000)
        let open = try BackupTests.writer(disk, at: "/store")
        #expect(
            storeError {
                try LogStore.replace(
                    at: "/store", withStoreAt: "/source", on: disk, force: true)
            }?.code == .damaged)
        try CompactionTests.update(open, 0..<30, 2)
        let text = try SampleStore.text(open)
        try open.close()
        #expect(try BackupTests.text(disk) == text)
    }

    @Test("The folder that a process works in is emptied, and stays")
    func workingFolder() throws {
        let disk = MemoryFileSystem()
        _ = try Self.sample(disk, at: "/store")
        let faulty = FaultInjectingFileSystem(over: disk)
        // As the system answers where the path is a point.
        for _ in 0..<2 {
            faulty.fail(.removeDirectory, with: .invalidArgument)
            try LogStore.destroy(at: "/store", on: faulty)
            #expect(try disk.list("/store").isEmpty)
        }
    }

    @Test("An empty folder is removed, as the end of a removal that broke off")
    func emptyFolder() throws {
        let disk = MemoryFileSystem()
        try disk.makeDirectory("/store")
        try LogStore.destroy(at: "/store", on: disk)
        #expect(try !disk.exists("/store"))
    }
}
