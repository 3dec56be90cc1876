// Lock files that are none, or that cannot be had: what is said, and that nothing changes.

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

@Suite("Bad lock files")
struct LockFileTests {
    /// A store that was closed.
    private static func closed() throws -> DiskImage { try SampleStore.history(steps: 2).closed }

    private static func options(_ disk: any FileSystem, isReadOnly: Bool = false)
        -> LogStoreOptions
    {
        var options = SampleStore.options(on: disk)
        options.isReadOnly = isReadOnly
        return options
    }

    private static func open(_ disk: any FileSystem, at path: String = "/store") throws -> LogStore
    {
        try LogStore.open(at: path, schema: try SampleStore.schema(), options: options(disk))
    }

    /// A record of a version to come, whole.
    private static func later() throws -> [UInt8] {
        var bytes = try #require(try closed().files["lock"])
        bytes[8] = 2
        let checksum = bytes[..<60].withUnsafeBytes { Checksum.crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(60..<64, with: $0) }
        return bytes
    }

    // MARK: Other formats

    private static let foreign: [String] = [
        "4711\n", "{\"name\": \"somebody\", \"lockfileVersion\": 3, \"requires\": true}\n",
        String(repeating: "a text of another program\n", count: 40),
    ]

    @Test(
        "F-226: a lock file of another program is named, and nothing is changed", arguments: foreign
    )
    func others(text: String) throws {
        var image = try Self.closed()
        image.files["lock"] = Array(text.utf8)
        var alone = DiskImage()
        alone.files["lock"] = Array(text.utf8)
        for image in [image, alone] {
            for isReadOnly in [false, true] {
                let disk = try image.disk()
                let error = storeError {
                    try LogStore.open(
                        at: "/store", schema: isReadOnly ? nil : try SampleStore.schema(),
                        options: Self.options(disk, isReadOnly: isReadOnly)
                    ).close()
                }
                #expect(error?.code == .openFailed)
                #expect(error?.message == "the file lock of the folder is not a store's (F-226)")
                #expect(error?.context.path == "/store/lock")
                #expect(try DiskImage(of: disk) == image)
            }
        }
        // Who only looks says what is there.
        let disk = try image.disk()
        let status = try LogStore.status(at: "/store", options: Self.options(disk))
        #expect(status.mark == nil && status.commit == 3)
        #expect(
            try LogStore.check(at: "/store", depth: .frames, options: Self.options(disk))
                .findings.isEmpty)
    }

    @Test("F-226: other bytes are a damaged record beside segments, and another program's alone")
    func garbage() throws {
        let closed = try Self.closed()
        let text = try closed.content().text
        for bytes in [[UInt8](repeating: 0xff, count: 64), Array("\u{7f}ELF\u{2}\u{1}\u{1}".utf8)] {
            var image = closed
            image.files["lock"] = bytes
            let store = try Self.open(try image.disk())
            #expect(try SampleStore.text(store) == text)
            try store.close()
            var alone = DiskImage()
            alone.files["lock"] = bytes
            let disk = try alone.disk()
            #expect(storeErrorCode { try Self.open(disk).close() } == .openFailed)
            #expect(try DiskImage(of: disk) == alone)
        }
    }

    @Test("F-226: a lock file of a version to come is named with it, and nothing is changed")
    func laterVersion() throws {
        var image = try Self.closed()
        image.files["lock"] = try Self.later()
        let disk = try image.disk()
        for isReadOnly in [false, true] {
            let error = storeError {
                try LogStore.open(
                    at: "/store", options: Self.options(disk, isReadOnly: isReadOnly)
                ).close()
            }
            #expect(error?.code == .openFailed)
            #expect(error?.message.contains("has format 2, which this version does not") == true)
            #expect(try DiskImage(of: disk) == image)
        }
    }

    @Test("What is left of a record is none, and the store is read without it")
    func remains() throws {
        let closed = try Self.closed()
        let whole = try #require(closed.files["lock"])
        let text = try closed.content().text
        var roles = whole
        // A role to come.
        roles[52] = 9
        let checksum = roles[..<60].withUnsafeBytes { Checksum.crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) { roles.replaceSubrange(60..<64, with: $0) }
        let zeros = [UInt8](repeating: 0, count: 64)
        let remains: [[UInt8]] = [
            [], Array(whole[..<1]), Array(whole[..<9]), Array(whole[..<63]), zeros,
            Array(zeros[..<32] + whole[32...]), Array(whole[..<8] + zeros[8...]), roles,
            whole + whole,
        ]
        for bytes in remains {
            var image = closed
            image.files["lock"] = bytes
            let disk = try image.disk()
            let store = try Self.open(disk)
            #expect(try SampleStore.text(store) == text)
            try store.close()
            #expect(try DiskImage(of: disk).files["lock"]?.prefix(8) == whole.prefix(8))
        }
    }

    @Test("A backup is not written over another program's lock file")
    func backup() throws {
        let disk = try Self.closed().disk()
        let store = try Self.open(disk)
        var alone = DiskImage()
        alone.files["lock"] = Array("another program's".utf8)
        try alone.write(to: disk, "/copy")
        #expect(storeErrorCode { _ = try store.backup(to: "/copy", on: disk) } == .openFailed)
        #expect(try DiskImage(of: disk, "/copy") == alone)
        try store.close()
    }

    // MARK: Unreadable

    @Test(
        "A lock file that may not be opened or read is named with the reason",
        arguments: [
            FileSystemError.Operation.open, .read, .identify,
        ])
    func denied(operation: FileSystemError.Operation) throws {
        let image = try Self.closed()
        let base = try image.disk()
        let disk = FaultInjectingFileSystem(over: base)
        for isReadOnly in [false, true] {
            disk.fail(operation, of: "lock", with: .permissionDenied)
            let error = storeError {
                try LogStore.open(
                    at: "/store", options: Self.options(disk, isReadOnly: isReadOnly)
                ).close()
            }
            #expect(error?.code == .inputOutput)
            #expect(error?.message.contains("/store/lock") == true)
            #expect(error?.message.contains("check who owns it and its permissions") == true)
            #expect(try DiskImage(of: base) == image)
            disk.clearFaults()
            try LogStore.open(at: "/store", options: Self.options(disk, isReadOnly: true)).close()
        }
    }

    @Test("A folder in its place is named")
    func folder() throws {
        var image = try Self.closed()
        image.files["lock"] = nil
        let disk = try image.disk()
        try disk.makeDirectory("/store/lock")
        let before = try DiskImage(of: disk)
        for isReadOnly in [false, true] {
            let error = storeError {
                try LogStore.open(
                    at: "/store", options: Self.options(disk, isReadOnly: isReadOnly)
                ).close()
            }
            #expect(error?.code == .inputOutput)
            #expect(error?.message.hasPrefix("cannot open /store/lock: Is a directory") == true)
            #expect(try DiskImage(of: disk) == before)
        }
    }

    @Test("A link that leads in a circle is named, and so is a device")
    func links() throws {
        try withTemporaryDirectory { directory in
            let path = directory.path("test.cairn")
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
            for (target, word) in [
                ("lock", "symbolic links"), ("/dev/null", "Invalid argument"),
            ] {
                let lock = path + "/lock"
                try FileManager.default.createSymbolicLink(
                    atPath: lock, withDestinationPath: target)
                let error = storeError { try Self.open(POSIXFileSystem(), at: path).close() }
                #expect(error?.code == .inputOutput)
                #expect(error?.message.contains(lock) == true)
                #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: path) == ["lock"])
                try FileManager.default.removeItem(atPath: lock)
            }
            try Self.open(POSIXFileSystem(), at: path).close()
        }
    }

    // MARK: Full disks

    @Test("A lock file for which there is no room leaves no folder")
    func noRoomForFile() throws {
        let base = MemoryFileSystem()
        let disk = FaultInjectingFileSystem(over: base)
        disk.fail(.open, of: "lock", with: .noSpace)
        let error = storeError { try Self.open(disk).close() }
        #expect(error?.code == .noSpace)
        #expect(error?.message.contains("cannot open /store/lock") == true)
        #expect(try !base.exists("/store"))
        // A folder that was there stays.
        try base.makeDirectory("/store")
        disk.fail(.open, of: "lock", with: .diskQuotaExceeded)
        #expect(storeErrorCode { try Self.open(disk).close() } == .noSpace)
        #expect(try base.list("/store").isEmpty)
        try Self.open(disk).close()
    }

    @Test(
        "A mark for which there is no room is named, and the store opens when there is some",
        arguments: [0, 1, 63])
    func noRoomForMark(bytes: Int) throws {
        var image = try Self.closed()
        let text = try image.content().text
        image.files["lock"] = []
        let base = try image.disk()
        let disk = FaultInjectingFileSystem(over: base)
        disk.fail(.write, of: "lock", with: .noSpace, afterWriting: bytes)
        let error = storeError { try Self.open(disk).close() }
        #expect(error?.code == .noSpace)
        #expect(error?.message.hasPrefix("cannot write /store/lock") == true)
        var after = try DiskImage(of: base)
        #expect(after.files["lock"]?.count == bytes)
        after.files["lock"] = []
        #expect(after == image, "the log is as it was")
        let store = try Self.open(disk)
        #expect(try SampleStore.text(store) == text)
        try store.close()
    }

    @Test("A full disk at any write of an opening loses nothing, whatever is left of the lock file")
    func noRoomAnywhere() throws {
        var image = try Self.closed()
        let text = try image.content().text
        image.files["lock"] = []
        for number in 1...64 {
            let base = try image.disk()
            let disk = FaultInjectingFileSystem(over: base)
            disk.fail(.write, number: number, with: .noSpace, afterWriting: number % 3)
            let code = storeErrorCode { try Self.open(disk).close() }
            #expect(code == nil || code == .noSpace)
            #expect(try DiskImage(of: base).content().text == text)
            try Self.open(base).close()
            if code == nil, disk.count(.write) < number { break }
        }
    }
}
