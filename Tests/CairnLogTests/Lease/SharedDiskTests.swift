// Stores on a disk that two machines have. Both are played in this process: their locks hold, unlike those of two machines on
// a disk where they do not, so what is refused here is refused by the record alone.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Stores on disks of several machines")
struct SharedDiskTests {
    private static let north = Host(high: 1, low: 2, name: "north")
    private static let south = Host(high: 1, low: 3, name: "south")

    /// A disk as a machine has it.
    private static func mounted(_ base: MemoryFileSystem, on host: Host)
        -> FaultInjectingFileSystem
    {
        let disk = FaultInjectingFileSystem(over: base)
        disk.say(sharedDisk: "nfs", of: host)
        return disk
    }

    private static func options(
        _ disk: any FileSystem, _ process: Int, isReadOnly: Bool = false, allows: Bool = true
    ) -> LogStoreOptions {
        var options = SampleStore.options(on: disk)
        options.process = process
        options.timeout = 0
        options.isReadOnly = isReadOnly
        options.followsWriter = false
        options.allowsSharedDisk = allows
        return options
    }

    private static func open(
        _ disk: any FileSystem, _ process: Int, isReadOnly: Bool = false, allows: Bool = true
    ) throws -> LogStore {
        try LogStore.open(
            at: "/store", schema: isReadOnly ? nil : StoreOperation.schema,
            options: options(disk, process, isReadOnly: isReadOnly, allows: allows))
    }

    private static func giveBack(_ store: LogStore) {
        let engine = store.engine
        engine.withTurnAnyway { turn in
            if engine.lease.isHeld { engine.giveLeaseBack(&turn) }
        }
    }

    private static func count(_ store: LogStore) throws -> Int {
        try store.snapshot().count(StoreFetch(entity: StoreOperation.item))
    }

    /// The bytes of the lock file.
    private static func lock(_ base: MemoryFileSystem) throws -> [UInt8] {
        try DiskImage(of: base).files[SegmentName.lock] ?? []
    }

    /// What a person does when a machine does not run any more.
    private static func cut(_ base: MemoryFileSystem) throws {
        try base.open("/store/lock", .readWrite).truncate(to: 64)
    }

    private static func expectRefusal(
        _ error: StoreError?, naming host: Host, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(error?.code == .storeInUse, sourceLocation: location)
        #expect(
            error?.message.contains("the machine \(host.name) has the store open for writing")
                == true,
            sourceLocation: location)
        #expect(error?.message.contains("truncate -s 64") == true, sourceLocation: location)
        #expect(error?.context.path == "/store/lock", sourceLocation: location)
    }

    // MARK: The option

    @Test("Without the option nothing is opened there, and nothing is made")
    func withoutOption() throws {
        let base = MemoryFileSystem()
        let disk = Self.mounted(base, on: Self.north)
        func refused(isReadOnly: Bool) {
            let error = storeError {
                try Self.open(disk, 1, isReadOnly: isReadOnly, allows: false).close()
            }
            #expect(error?.code == .openFailed)
            #expect(error?.message.contains("(nfs)") == true)
            #expect(error?.message.contains("allowsSharedDisk") == true)
            #expect(error?.context.path == "/store")
        }
        refused(isReadOnly: false)
        #expect(try !base.exists("/store"))
        let store = try Self.open(disk, 1)
        // Neither does somebody get in who shares what is open.
        refused(isReadOnly: false)
        try StoreOperation.insert(store, ["a": 1])
        try store.close()
        let before = try DiskImage(of: base)
        refused(isReadOnly: false)
        refused(isReadOnly: true)
        #expect(try DiskImage(of: base) == before)
    }

    @Test("On a disk of this machine's own the option writes, reads and opens nothing")
    func ownDisk() throws {
        func history(allows: Bool) throws -> [FaultInjectingFileSystem.Call] {
            let base = MemoryFileSystem()
            let disk = FaultInjectingFileSystem(over: base)
            for _ in 0..<2 {
                let store = try Self.open(disk, 1, allows: allows)
                try StoreOperation.insert(store, ["a": 1])
                Self.giveBack(store)
                try StoreOperation.insert(store, ["b": 1])
                #expect(try Self.lock(base).count == MarkRecord.size)
                try store.close()
            }
            return disk.history.filter { $0.path == "/store/lock" }
        }
        #expect(try history(allows: true) == history(allows: false))
    }

    @Test("A disk whose machine is not known is refused with a word")
    func unknownHost() throws {
        /// Such a disk where the system tells no identifier.
        final class Nameless: FileSystem {
            let base = MemoryFileSystem()
            func sharedDisk(of path: FilePath) -> String? { "nfs" }
            func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
                try base.open(path, mode)
            }
            func syncDirectory(_ path: FilePath) throws(FileSystemError) {}
            func list(_ path: FilePath) throws(FileSystemError) -> [String] { try base.list(path) }
            func unlink(_ path: FilePath) throws(FileSystemError) { try base.unlink(path) }
            func makeDirectory(_ path: FilePath) throws(FileSystemError) {
                try base.makeDirectory(path)
            }
            func removeDirectory(_ path: FilePath) throws(FileSystemError) {
                try base.removeDirectory(path)
            }
            func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
                try base.identity(of: path)
            }
        }
        let error = storeError { try Self.open(Nameless(), 1).close() }
        #expect(error?.code == .openFailed)
        #expect(error?.message.contains("this machine has no identifier") == true)
    }

    // MARK: Machines

    @Test(
        "F-227, F-228: another machine is refused while one has the store open, to write and to read"
    )
    func secondMachine() throws {
        let base = MemoryFileSystem()
        let disks = [Self.mounted(base, on: Self.north), Self.mounted(base, on: Self.south)]
        let store = try Self.open(disks[0], 1)
        try StoreOperation.insert(store, ["a": 1])
        Self.giveBack(store)
        #expect(try Self.lock(base).count == HostRecord.offset + HostRecord.size)
        #expect(try LogStore.status(at: "/store", options: Self.options(base, 0)).host == "north")
        let before = try DiskImage(of: base)
        for isReadOnly in [false, true] {
            Self.expectRefusal(
                storeError { try Self.open(disks[1], 2, isReadOnly: isReadOnly).close() },
                naming: Self.north)
        }
        // What reads for a moment is refused as well.
        Self.expectRefusal(
            storeError { _ = try LogStore.metadata(forStoreAt: "/store", on: disks[1]) },
            naming: Self.north)
        #expect(try DiskImage(of: base) == before)
        try StoreOperation.insert(store, ["b": 1])
        try store.close()
        #expect(try Self.lock(base).count == MarkRecord.size, "the record goes at closing")
        #expect(try LogStore.status(at: "/store", options: Self.options(base, 0)).host == nil)
        let next = try Self.open(disks[1], 2)
        #expect(try Self.count(next) == 2 && next.recovery.wasClosed)
        try next.close()
    }

    @Test("A store that another machine has open is not removed, unless it must")
    func removal() throws {
        let base = MemoryFileSystem()
        let disks = [Self.mounted(base, on: Self.north), Self.mounted(base, on: Self.south)]
        // It is killed, and its locks end: the record stays.
        let store = try Self.open(disks[0], 1)
        disks[0].crash()
        try? store.close()
        let before = try DiskImage(of: base)
        Self.expectRefusal(
            storeError { try LogStore.destroy(at: "/store", on: disks[1]) }, naming: Self.north)
        #expect(try DiskImage(of: base) == before)
        try LogStore.destroy(at: "/store", on: disks[1], force: true)
        #expect(try !base.exists("/store"))
    }

    @Test("Processes and containers of one machine share it; the last one takes the record away")
    func oneMachine() throws {
        let base = MemoryFileSystem()
        // A container is called otherwise, and has the kernel that the others have.
        let container = Host(high: Self.north.high, low: Self.north.low, name: "c0ffee")
        let stores = [
            try Self.open(Self.mounted(base, on: Self.north), 1),
            try Self.open(Self.mounted(base, on: container), 2),
        ]
        let reader = try Self.open(Self.mounted(base, on: container), 3, isReadOnly: true)
        for turn in 0..<6 {
            let store = stores[turn % 2]
            try StoreOperation.insert(store, ["a\(turn)": turn])
            Self.giveBack(store)
            #expect(try Self.count(store) == turn + 1)
            _ = try reader.refresh()
            #expect(try Self.count(reader) == turn + 1)
        }
        try stores[0].close()
        #expect(try Self.lock(base).count == HostRecord.offset + HostRecord.size)
        try stores[1].close()
        #expect(try Self.lock(base).count == MarkRecord.size)
        try reader.close()
    }

    @Test(
        "A machine that was stopped leaves its record; the same one goes on, and so does another once it is cut off"
    )
    func stopped() throws {
        let base = MemoryFileSystem()
        let north = Self.mounted(base, on: Self.north)
        let first = try Self.open(north, 1)
        try StoreOperation.insert(first, ["a": 1])
        north.crash()
        try? first.close()
        // A process that was killed leaves the store to others of its machine.
        let again = Self.mounted(base, on: Self.north)
        let second = try Self.open(again, 1)
        try StoreOperation.insert(second, ["b": 1])
        again.crash()
        try? second.close()
        // A machine that was started anew is not the one that it was.
        for host in [Self.south, Host(high: 7, low: 7, name: "north")] {
            Self.expectRefusal(
                storeError { try Self.open(Self.mounted(base, on: host), 2).close() },
                naming: Self.north)
        }
        try Self.cut(base)
        let third = try Self.open(Self.mounted(base, on: Self.south), 2)
        #expect(try Self.count(third) == 2)
        #expect(try third.check().findings.isEmpty)
        try third.close()
    }

    @Test("Who finds another machine's record with the lease writes nothing more")
    func lateFinding() throws {
        let base = MemoryFileSystem()
        let disks = [Self.mounted(base, on: Self.north), Self.mounted(base, on: Self.south)]
        let store = try Self.open(disks[0], 1)
        let reader = try Self.open(disks[0], 3, isReadOnly: true)
        try StoreOperation.insert(store, ["a": 1])
        Self.giveBack(store)
        #expect(try reader.refresh())
        // Somebody takes a machine that runs for one that does not.
        try Self.cut(base)
        let other = try Self.open(disks[1], 2)
        try StoreOperation.insert(other, ["b": 1])
        Self.giveBack(other)
        let before = try DiskImage(of: base)
        Self.expectRefusal(
            storeError { try StoreOperation.insert(store, ["c": 1]) }, naming: Self.south)
        let error = storeError { try StoreOperation.insert(store, ["c": 1]) }
        #expect(error?.code == .unusable)
        #expect(error?.message.contains("the machine south has") == true)
        #expect(storeErrorCode { _ = try store.compact() } != nil)
        // What it has can be read; what the other one writes is not followed.
        #expect(try Self.count(store) == 1)
        Self.expectRefusal(storeError { _ = try reader.refresh() }, naming: Self.south)
        #expect(try Self.count(reader) == 1)
        try reader.close()
        try? store.close()
        #expect(try DiskImage(of: base) == before)
        try StoreOperation.insert(other, ["d": 1])
        #expect(try Self.count(other) == 3)
        try other.close()
    }

    @Test("A record that is gone is written again with the lease")
    func lostRecord() throws {
        let base = MemoryFileSystem()
        let disks = [Self.mounted(base, on: Self.north), Self.mounted(base, on: Self.south)]
        let store = try Self.open(disks[0], 1)
        Self.giveBack(store)
        try Self.cut(base)
        try StoreOperation.insert(store, ["a": 1])
        Self.expectRefusal(storeError { try Self.open(disks[1], 2).close() }, naming: Self.north)
        try store.close()
        #expect(try Self.lock(base).count == MarkRecord.size)
    }

    @Test("A record that is damaged, or of a version to come, is taken for another machine's")
    func damagedRecord() throws {
        let base = MemoryFileSystem()
        let disk = Self.mounted(base, on: Self.north)
        let store = try Self.open(disk, 1)
        try StoreOperation.insert(store, ["a": 1])
        disk.crash()
        try? store.close()
        let whole = try Self.lock(base)
        let file = try base.open("/store/lock", .readWrite)
        for (offset, isSealed) in [(64, false), (100, false), (191, false), (72, true)] {
            var bytes = whole
            bytes[offset] ^= 2
            if isSealed {
                let checksum = bytes[64..<188].withUnsafeBytes { Checksum.crc32c($0) }
                withUnsafeBytes(of: checksum.littleEndian) {
                    bytes.replaceSubrange(188..<192, with: $0)
                }
            }
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            let error = storeError { try Self.open(Self.mounted(base, on: Self.north), 1).close() }
            #expect(error?.code == .storeInUse)
            #expect(error?.message.contains("another machine may have") == true)
            #expect(error?.message.contains("F-227") == true)
            #expect(try Self.lock(base) == bytes)
        }
        // Zeros are no record.
        let zeros = [UInt8](repeating: 0, count: 128)
        try zeros.withUnsafeBytes { try file.write($0, at: 64) }
        try Self.open(Self.mounted(base, on: Self.south), 1).close()
    }

    @Test("A name is shown without what would change what is around it")
    func names() throws {
        let base = MemoryFileSystem()
        let host = Host(high: 9, low: 9, name: "no\u{1b}[2Jrth\u{202e}\n")
        let store = try Self.open(Self.mounted(base, on: host), 1)
        let error = storeError { try Self.open(Self.mounted(base, on: Self.south), 2).close() }
        #expect(error?.message.contains("the machine no?[2Jrth?? has") == true)
        try store.close()
    }

    // MARK: Disks that fail

    @Test(
        "A record that cannot be written leaves the file as it was",
        arguments: [(Errno.noSpace, 0), (.noSpace, 40), (.ioError, 127)])
    func failedWrite(code: Errno, bytes: Int) throws {
        let base = MemoryFileSystem()
        try Self.open(Self.mounted(base, on: Self.north), 1).close()
        let before = try DiskImage(of: base)
        let disk = Self.mounted(base, on: Self.north)
        disk.fail(.write, of: "lock", with: code, afterWriting: bytes)
        let error = storeError { try Self.open(disk, 1).close() }
        #expect(error?.code == (code == .noSpace ? .noSpace : .inputOutput))
        #expect(try DiskImage(of: base) == before)
        // The same disk has room again.
        try Self.open(disk, 1).close()
        #expect(try DiskImage(of: base) == before)
    }

    @Test("An opening that is refused later takes the record away again")
    func refusedLater() throws {
        let base = MemoryFileSystem()
        let disk = Self.mounted(base, on: Self.north)
        try Self.open(disk, 1).close()
        let before = try DiskImage(of: base)
        let error = storeError {
            _ = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: Self.options(disk, 1))
        }
        #expect(error?.code == .incompatibleModel)
        #expect(try DiskImage(of: base) == before)
    }

    @Test("A backup may go to such a disk, unless another machine has the folder open")
    func backup() throws {
        let base = MemoryFileSystem()
        let disk = Self.mounted(base, on: Self.north)
        let store = try Self.open(disk, 1)
        try StoreOperation.insert(store, ["a": 1])
        _ = try store.backup(to: "/copy", on: disk)
        let other = Self.mounted(base, on: Self.south)
        let copy = try LogStore.open(at: "/copy", options: Self.options(other, 2))
        #expect(storeErrorCode { _ = try store.backup(to: "/copy", on: disk) } == .storeInUse)
        try copy.close()
        _ = try store.backup(to: "/copy", on: disk)
        try store.close()
    }
}
