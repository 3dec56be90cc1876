// Removing stores, and putting another one in their place.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Removing stores")
struct RemovalTests {
    /// A store at "/store" with some content, closed.
    private static func sample(
        _ disk: any FileSystem, at folder: String = "/store", rounds: Int = 1
    )
        throws -> String
    {
        let store = try BackupTests.writer(disk, at: folder)
        for round in 0..<rounds { try CompactionTests.update(store, 0..<30, round) }
        try SampleStore.largeValue(store)
        let text = try SampleStore.text(store)
        try store.close()
        return text
    }

    // MARK: Removing

    @Test("A store is removed with every file and its folder; another is made in its place")
    func removed() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store")
        let first = try LogStore.open(at: path, schema: SampleStore.schema())
        try SampleStore.firstObjects(first)
        let identifier = first.identity.identifier
        try first.close()
        try LogStore.destroy(at: path)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        // Where there is none nothing is done.
        try LogStore.destroy(at: path)
        let second = try LogStore.open(at: path, schema: SampleStore.schema())
        #expect(second.identity.identifier != identifier)
        #expect(try second.snapshot().count(StoreFetch(entity: 0)) == 0)
        try second.close()
    }

    @Test("What is no store, or holds other files besides, is not touched")
    func refused() throws {
        let disk = MemoryFileSystem()
        let text = try Self.sample(disk)
        let note = try disk.open("/store/note.txt", .create)
        try note.write([1, 2, 3].span.bytes, at: 0)
        let before = try DiskImage(of: disk)
        let refused = storeError { try LogStore.destroy(at: "/store", on: disk) }
        #expect(refused?.code == .invalidRequest)
        #expect("\(refused!)".contains("note.txt"))
        #expect(try DiskImage(of: disk) == before)
        try disk.unlink("/store/note.txt")
        #expect(try BackupTests.text(disk) == text)

        try disk.makeDirectory("/papers")
        _ = try disk.open("/papers/letter", .create)
        #expect(
            storeError { try LogStore.destroy(at: "/papers", on: disk) }?.code == .invalidRequest)
        #expect(try disk.list("/papers") == ["letter"])
        #expect(
            storeError { try LogStore.replace(at: "/papers", withStoreAt: "/store", on: disk) }?
                .code == .invalidRequest)
        #expect(try disk.list("/papers") == ["letter"])
    }

    @Test(
        "A store that is open is not removed; by force it is closed, and what was read stays readable"
    )
    func open() throws {
        let disk = MemoryFileSystem()
        let store = try BackupTests.writer(disk, at: "/store")
        try CompactionTests.update(store, 0..<30, 1)
        #expect(
            storeError { try LogStore.destroy(at: "/store", on: disk) }?.code == .storeInUse)
        try CompactionTests.update(store, 0..<30, 2)
        let reader = try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
        let text = try SampleStore.text(reader)
        let snapshot = try #require(try reader.snapshot() as? LogSnapshot)
        try store.close()
        #expect(
            storeError { try LogStore.destroy(at: "/store", on: disk) }?.code == .storeInUse)

        let writer = try BackupTests.writer(disk, at: "/store")
        try LogStore.destroy(at: "/store", on: disk, force: true)
        #expect(try !disk.exists("/store"))
        #expect(
            storeError { try CompactionTests.update(writer, 0..<3, 3) }?.code == .unusable)
        #expect(try FollowingStores.text(snapshot, of: reader) == text)
        #expect(storeError { _ = try reader.snapshot() }?.code == .unusable)
        // A store that is made here now is another one, whatever they do.
        let next = try BackupTests.writer(disk, at: "/store")
        try CompactionTests.update(next, 0..<5, 4)
        let content = try SampleStore.text(next)
        try writer.close()
        try reader.close()
        #expect(try SampleStore.text(next) == content)
        try next.close()
        #expect(try BackupTests.text(disk) == content)
    }

    @Test("A lock that another process has keeps a store from being removed", arguments: [0, 1])
    func locked(byte: UInt64) throws {
        let disk = MemoryFileSystem()
        let text = try Self.sample(disk)
        _ = try Self.sample(disk, at: "/other", rounds: 3)
        let lock = try disk.open("/store/lock", .readWrite)
        #expect(try lock.lock(byte: byte, exclusive: byte == 0))
        #expect(
            storeError { try LogStore.destroy(at: "/store", on: disk) }?.code == .storeInUse)
        #expect(
            storeError { try LogStore.replace(at: "/store", withStoreAt: "/other", on: disk) }?
                .code == .storeInUse)
        // Nothing is locked any more by the attempt.
        try lock.unlock(byte: byte)
        #expect(try BackupTests.text(disk) == text)
        #expect(try lock.lock(byte: byte, exclusive: byte == 0))
        try LogStore.destroy(at: "/store", on: disk, force: true)
        #expect(try !disk.exists("/store"))
    }

    @Test("Who waited for the lock of a store that was removed opens what is there now")
    func waited() throws {
        let disk = MemoryFileSystem()
        _ = try Self.sample(disk)
        var options = CompactionTests.options(on: disk)
        options.createsIfMissing = true
        let opener = StoreOpener(folder: "/store", options: options)
        let stale = try #require(try opener.openLockFile())
        try LogStore.destroy(at: "/store", on: disk)
        #expect(try opener.open(lock: stale, schema: try SampleStore.schema()) == nil)
        let next = try BackupTests.writer(disk, at: "/store")
        try CompactionTests.update(next, 0..<5, 4)
        #expect(try opener.open(lock: stale, schema: try SampleStore.schema()) == nil)
        #expect(try stale.lock(byte: 0, exclusive: true), "the stale lock was released")
        try next.close()
    }

    // MARK: Replacing

    @Test("A store is replaced by another while that is written to; the copy goes its own way")
    func replaced() throws {
        let disk = MemoryFileSystem()
        _ = try Self.sample(disk, rounds: 3)
        let source = try BackupTests.writer(disk, at: "/source", durability: .relaxed)
        try CompactionTests.fill(source, rounds: 1)
        let text = try SampleStore.text(source)
        try LogStore.replace(at: "/store", withStoreAt: "/source", on: disk)
        #expect(try BackupTests.text(disk) == text)
        #expect(try disk.list("/store").filter { $0.hasPrefix("checkpoint") }.count <= 1)

        // Into a folder that is not there, and once more over itself.
        try LogStore.replace(at: "/third", withStoreAt: "/store", on: disk)
        #expect(try BackupTests.text(disk, "/third") == text)
        try CompactionTests.update(source, 0..<30, 9)
        let copy = try BackupTests.writer(disk, at: "/store")
        #expect(copy.identity.identifier == source.identity.identifier)
        #expect(try SampleStore.text(copy) == text)
        try CompactionTests.update(copy, 0..<30, 10)
        try copy.close()
        #expect(
            storeError { try LogStore.replace(at: "/source", withStoreAt: "/store", on: disk) }?
                .code == .storeInUse)
        #expect(
            storeError { try LogStore.replace(at: "/source", withStoreAt: "/source", on: disk) }?
                .code == .invalidRequest)
        #expect(
            storeError {
                try LogStore.replace(at: "/source/inner", withStoreAt: "/source", on: disk)
            }?.code == .invalidRequest)
        try source.close()
    }

    @Test(
        "A source that opens by its checkpoint and is damaged further back leaves the store as it was"
    )
    func damagedSource() throws {
        let disk = MemoryFileSystem()
        let text = try Self.sample(disk)
        var options = CompactionTests.options(on: disk)
        options.sizes.segmentBytes = 16 << 10
        options.sizes.closingCheckpointBytes = 0
        let source = try LogStore.open(
            at: "/source", schema: try SampleStore.schema(), options: options)
        try CompactionTests.fill(source, rounds: 2)
        try source.close()
        #expect(try disk.list("/source").contains { $0.hasPrefix("checkpoint") })
        let name = try #require(try DiskImage(of: disk, "/source").segments.first)
        let segment = try disk.open(FilePath("/source/\(name)"), .readWrite)
        let bytes = RawBytes(count: 1)
        #expect(try segment.read(into: bytes.mutable, at: 9_000) == 1)
        bytes.mutable[0] ^= 0x10
        try segment.write(UnsafeRawBufferPointer(bytes.mutable), at: 9_000)
        let reader = try LogStore.open(at: "/source", options: FollowingStores.reading(disk))
        try reader.close()
        #expect(
            storeError { try LogStore.replace(at: "/new", withStoreAt: "/source", on: disk) }?
                .code == .damaged)
        #expect(try !disk.exists("/new"))
        #expect(
            storeError { try LogStore.replace(at: "/store", withStoreAt: "/source", on: disk) }?
                .code == .damaged)
        #expect(try BackupTests.text(disk) == text)
    }

    @Test("A folder that cannot be removed stays empty; a link to a store is emptied and left")
    func link() throws {
        let directory = try TemporaryDirectory()
        let (path, link) = (directory.path("store"), directory.path("link"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try LogStore.open(at: path, schema: SampleStore.schema()).close()
        try LogStore.destroy(at: link)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        try LogStore.destroy(at: link)
        let source = directory.path("source")
        try LogStore.open(at: source, schema: SampleStore.schema()).close()
        try LogStore.replace(at: link, withStoreAt: source)
        let store = try LogStore.open(at: link, schema: SampleStore.schema())
        #expect(try store.snapshot().count(StoreFetch(entity: 0)) == 0)
        try store.close()
        try LogStore.destroy(at: link)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }

    @Test("A store that somebody makes in the folder while the source is read stays")
    func madeMeanwhile() throws {
        let base = MemoryFileSystem()
        _ = try Self.sample(base, at: "/source")
        let image = try DiskImage(of: base, "/source")
        // Which call is the first after the folder was found to be empty?
        let trial = MemoryFileSystem()
        try image.write(to: trial, "/source")
        try trial.makeDirectory("/store")
        let recorder = FaultInjectingFileSystem(over: trial)
        try LogStore.replace(at: "/store", withStoreAt: "/source", on: recorder)
        let calls = recorder.history
        let found = try #require(
            calls.firstIndex { $0.operation == .list && $0.path == "/store" })
        let next = calls[found + 1].operation

        try base.makeDirectory("/store")
        let disk = FaultInjectingFileSystem(over: base)
        let gate = disk.hold(next, number: calls[...(found + 1)].count { $0.operation == next })
        let threads = TestThreads()
        let codes = Mutex<[StoreError.Code]>([])
        threads.start {
            do throws(StoreError) {
                try LogStore.replace(at: "/store", withStoreAt: "/source", on: disk)
            } catch {
                codes.withLock { $0.append(error.code) }
            }
        }
        gate.waitUntilReached()
        let text = try Self.sample(base, rounds: 2)
        gate.open()
        threads.join()
        #expect(codes.withLock { $0 } == [.storeInUse])
        #expect(try BackupTests.text(base) == text)
    }

    @Test("A source that does not open leaves the store as it was")
    func brokenSource() throws {
        let disk = MemoryFileSystem()
        let text = try Self.sample(disk)
        _ = try Self.sample(disk, at: "/source")
        let segment = try #require(try DiskImage(of: disk, "/source").segments.first)
        try disk.unlink(FilePath("/source/\(segment)"))
        #expect(
            storeError { try LogStore.replace(at: "/store", withStoreAt: "/source", on: disk) }?
                .code == .damaged)
        #expect(
            storeError { try LogStore.replace(at: "/store", withStoreAt: "/nowhere", on: disk) }?
                .code == .openFailed)
        #expect(try BackupTests.text(disk) == text)
    }

    // MARK: Interruptions

    /// Looks at what an interrupted removal left: the store as it was, or what does not open; doing it again helps.
    private static func look(_ image: DiskImage, _ text: String, replaced: String?, _ what: String)
        throws
    {
        for isReadOnly in [true, false] {
            let disk = try image.disk()
            var options = FollowingStores.reading(disk)
            options.isReadOnly = isReadOnly
            options.createsIfMissing = false
            do {
                let store = try LogStore.open(at: "/store", options: options)
                let found = try SampleStore.text(store)
                #expect(found == text || found == replaced, "\(what)")
                try store.close()
            } catch let error as StoreError {
                #expect(error.code == .openFailed, "\(what): \(error)")
            }
        }
        let disk = try image.disk()
        if let replaced {
            _ = try sample(disk, at: "/source", rounds: 3)
            try LogStore.replace(at: "/store", withStoreAt: "/source", on: disk)
            #expect(try BackupTests.text(disk) == replaced, "\(what)")
        } else {
            try LogStore.destroy(at: "/store", on: disk)
            #expect(try !disk.exists("/store"), "\(what)")
            // And with a new store in its place.
            let next = try image.disk()
            var options = CompactionTests.options(on: next)
            options.createsIfMissing = true
            do {
                let store = try LogStore.open(
                    at: "/store", schema: try SampleStore.schema(), options: options)
                let found = try SampleStore.text(store)
                let isNew = try store.snapshot().count(StoreFetch(entity: 0)) == 0
                #expect(found == text || isNew, "\(what)")
                try store.close()
            } catch let error as StoreError {
                // None can be made while the lock file says that this is not done.
                #expect(error.code == .openFailed, "\(what): \(error)")
                let mark = try image.files["lock"]?.withUnsafeBytes {
                    try MarkRecord(decoding: $0)
                }
                #expect(mark?.role == .unfinishedCopy && mark?.lsn == 0, "\(what)")
            }
        }
    }

    @Test(
        "The process ends at any call: the store is there as it was, or does not open and is finished by doing it again",
        arguments: [false, true], [false, true])
    func processEnds(isReplaced: Bool, isForced: Bool) throws {
        let base = MemoryFileSystem()
        let text = try Self.sample(base)
        let image = try DiskImage(of: base)
        let other = isReplaced ? try Self.sample(base, at: "/source", rounds: 3) : nil
        let source = isReplaced ? try DiskImage(of: base, "/source") : nil
        var random = RandomSource()
        let calls = try Interruption.ofProcess(oneIn: 2, using: &random) { number, what in
            let disk = try image.disk()
            try source?.write(to: disk, "/source")
            let faulty = FaultInjectingFileSystem(over: disk)
            faulty.crash(atMutation: number, afterWriting: number % 3 * 30)
            // With force it is done though another process writes to the store.
            let foreign = isForced ? try disk.open("/store/lock", .readWrite) : nil
            for byte in [0, 1] as [UInt64] { _ = try foreign?.lock(byte: byte, exclusive: true) }
            let isDone: Bool
            do {
                if isReplaced {
                    try LogStore.replace(
                        at: "/store", withStoreAt: "/source", on: faulty, force: isForced)
                } else {
                    try LogStore.destroy(at: "/store", on: faulty, force: isForced)
                }
                isDone = true
            } catch {
                isDone = false
            }
            for byte in [0, 1] as [UInt64] { try foreign?.unlock(byte: byte) }
            let left = try DiskImage(of: disk)
            if isDone, isReplaced {
                #expect(try BackupTests.text(disk) == other)
            } else if isDone {
                #expect(try !disk.exists("/store"))
            }
            try Self.look(left, text, replaced: other, what)
            return isDone
        }
        #expect(calls > 5)
    }

    @Test(
        "The power fails at any call: the store is there as it was or as its replacement, or does not open",
        arguments: [false, true])
    func powerFails(isReplaced: Bool) throws {
        var random = RandomSource()
        let disk = PowerLossDisk()
        let text = try Self.sample(disk)
        let other = isReplaced ? try Self.sample(disk, at: "/source", rounds: 3) : nil
        let first = disk.changeCount
        if isReplaced {
            try LogStore.replace(at: "/store", withStoreAt: "/source", on: disk)
        } else {
            try LogStore.destroy(at: "/store", on: disk)
        }
        var found: Set<String?> = []
        try Interruption.ofPower(
            disk, after: first, oneIn: 1, images: (1, 400), using: &random
        ) { image, _, what in
            guard let image else { return }
            try Self.look(image, text, replaced: other, what)
            found.insert(try? image.content().text)
        }
        #expect(found.contains(text) && found.contains(nil) && found.contains(other))
    }
}
