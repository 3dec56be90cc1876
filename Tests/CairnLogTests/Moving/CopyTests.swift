// Stores that are saved under another name.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Stores that are saved as others")
struct CopyTests {
    private static let identifier = UUID()

    /// A store with rows in several segments, large values and metadata.
    private static func source(_ disk: any FileSystem = MemoryFileSystem()) throws -> LogStore {
        let store = try BackupTests.writer(disk, at: "/source")
        try SampleStore.firstObjects(store)
        try store.setMetadata(["token": .string("abc")])
        try store.writeMetadata()
        for round in 0..<2 { try CompactionTests.update(store, 0..<60, round) }
        try SampleStore.largeValue(store)
        return store
    }

    private static func open(_ disk: any FileSystem, isReadOnly: Bool = false) throws -> LogStore {
        var options = FollowingStores.reading(disk)
        options.isReadOnly = isReadOnly
        options.createsIfMissing = false
        return try LogStore.open(at: "/store", options: options)
    }

    @Test("The copy has the same objects, numbers, versions and metadata under a name of its own")
    func copied() throws {
        let disk = MemoryFileSystem()
        let store = try Self.source(disk)
        let text = try SampleStore.text(store)
        let snapshot = try store.snapshot()
        try store.copy(to: "/store", on: disk, identifier: Self.identifier)
        // It is not touched, and goes on.
        try CompactionTests.update(store, 0..<10, 9)
        #expect(try store.metadata().identifier == store.identity.identifier)
        let copy = try Self.open(disk)
        #expect(try SampleStore.text(copy) == text)
        #expect(copy.identity.identifier == Self.identifier)
        let metadata = try copy.metadata()
        #expect(
            metadata.identifier == Self.identifier && metadata.values == ["token": .string("abc")])
        let ids = try snapshot.fetch(StoreFetch(entity: 0)).ids
        let moved = ids.compactMap { copy.identity.id(movedFrom: $0) }
        #expect(moved.count == ids.count && !ids.isEmpty)
        let rows = try zip(snapshot.rows(ids), copy.snapshot().rows(moved))
        for (old, new) in rows { #expect(old?.version == new?.version && new != nil) }
        #expect(try copy.snapshot().rows(ids).allSatisfy { $0 == nil })
        let temporary = ObjectID(temporary: 1, hierarchy: 1, context: UUID())
        #expect(copy.identity.id(movedFrom: temporary) == nil)
        // Both are stores like any other.
        try CompactionTests.update(copy, 0..<10, 8)
        _ = try copy.compact()
        #expect(try copy.check().findings.isEmpty)
        try copy.close()
        try store.close()
        let audit = try LogStore.check(at: "/store", options: FollowingStores.reading(disk))
        #expect(audit.findings.isEmpty, "\(audit.findings)")
    }

    @Test("A store in memory comes onto the disk")
    func fromMemory() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store")
        let store = try LogStore.inMemory(schema: SampleStore.schema())
        try SampleStore.firstObjects(store)
        try store.copy(to: path)
        let text = try SampleStore.text(store)
        try store.close()
        let copy = try LogStore.open(at: path)
        #expect(try SampleStore.text(copy) == text)
        #expect(copy.recovery.wasClosed)
        try copy.close()
    }

    @Test("Folders with something in them, and the store's own, are refused and not touched")
    func refused() throws {
        let disk = MemoryFileSystem()
        let store = try Self.source(disk)
        let other = try BackupTests.writer(disk, at: "/store")
        try CompactionTests.update(other, 0..<5, 1)
        let text = try SampleStore.text(other)
        for path in ["/store", "/source", "/source/inside"] {
            #expect(storeError { try store.copy(to: path, on: disk) }?.code == .invalidRequest)
        }
        try other.close()
        #expect(try BackupTests.text(disk) == text)
        #expect(try disk.list("/source").allSatisfy { $0 != "inside" })
        try store.close()
        #expect(storeError { try store.copy(to: "/next", on: disk) }?.code == .unusable)
        #expect(try !disk.exists("/next"))
    }

    @Test("What is damaged is not copied, and nothing is made")
    func damaged() throws {
        let disk = MemoryFileSystem()
        let store = try Self.source(disk)
        let file = try disk.open("/source/0000000001.segment", .readWrite)
        try file.write([0xFF].span.bytes, at: 4500)
        #expect(storeError { try store.copy(to: "/store", on: disk) }?.code == .damaged)
        #expect(try !disk.exists("/store"))
        try store.close()
    }

    /// A copy that broke off is not there, or it is all there under its own identifier; what is not there can be removed
    /// and made again.
    private static func look(
        _ disk: any FileSystem, _ store: LogStore, isDone: Bool, _ what: String
    ) throws {
        let text = try SampleStore.text(store)
        var isThere = false
        for isReadOnly in [true, false] {
            do {
                let copy = try open(disk, isReadOnly: isReadOnly)
                defer { try? copy.close() }
                isThere = true
                #expect(try SampleStore.text(copy) == text, "\(what)")
                #expect(copy.identity.identifier == identifier, "\(what)")
                #expect(try copy.metadata()["token"] == .string("abc"), "\(what)")
                #expect(try copy.check().findings.isEmpty, "\(what)")
            } catch let error as StoreError {
                #expect(!isDone && !isThere && error.code == .openFailed, "\(what): \(error)")
            }
        }
        if isThere { return }
        try LogStore.destroy(at: "/store", on: disk)
        try store.copy(to: "/store", on: disk, identifier: identifier)
        let copy = try open(disk)
        #expect(try SampleStore.text(copy) == text, "\(what)")
        try copy.close()
    }

    @Test("The process ends at any call: there is no copy, or all of it")
    func processEnds() throws {
        let store = try Self.source()
        var number = 1
        while true {
            let disk = MemoryFileSystem()
            let faulty = FaultInjectingFileSystem(over: disk)
            faulty.crash(atMutation: number, afterWriting: number % 3 * 50)
            let isDone =
                (try? store.copy(to: "/store", on: faulty, identifier: Self.identifier)) != nil
            let left = try DiskImage(of: disk)
            try Self.look(try left.disk(), store, isDone: isDone, "call \(number)")
            if isDone, faulty.count(.write) < number { break }
            number += 1
        }
        #expect(number > 10)
        try store.close()
    }

    @Test("The power fails at any call: there is no copy, or all of it")
    func powerFails() throws {
        var random = RandomSource()
        let store = try Self.source()
        let disk = PowerLossDisk()
        try store.copy(to: "/store", on: disk, identifier: Self.identifier)
        try Interruption.ofPower(disk, oneIn: 2, images: (1, 200), using: &random) {
            image, isDone, what in
            try Self.look(
                try image?.disk() ?? MemoryFileSystem(), store, isDone: isDone, what)
        }
        try store.close()
    }

    @Test("A call fails: the error is told, and there is no copy; the store goes on")
    func callFails() throws {
        let store = try Self.source()
        for operation in [
            FileSystemError.Operation.open, .write, .synchronize, .syncDirectory, .makeDirectory,
        ] {
            var number = 1
            while true {
                let disk = MemoryFileSystem()
                let faulty = FaultInjectingFileSystem(over: disk)
                faulty.fail(operation, number: number, with: .noSpace)
                let isDone =
                    (try? store.copy(to: "/store", on: faulty, identifier: Self.identifier)) != nil
                let isOver = faulty.count(operation) < number
                try Self.look(
                    try DiskImage(of: disk).disk(), store, isDone: isDone,
                    "\(operation) \(number)")
                if isOver { break }
                number += 1
            }
        }
        try CompactionTests.update(store, 0..<5, 3)
        try store.close()
    }
}
