import CairnFileSystem
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@Suite("Locks of bytes, by open file")
struct LockTests {
    @Test(
        "an exclusive lock keeps every other open file out, in the same process too",
        arguments: Disk.allCases)
    func exclusive(_ disk: Disk) throws {
        try disk.use { files, folder in
            let first = try files.open(folder / "lock", .createOrOpen)
            let second = try files.open(folder / "lock", .createOrOpen)
            #expect(try first.lock(byte: 0, exclusive: true))
            #expect(try first.lock(byte: 0, exclusive: true), "one's own lock is not in the way")
            #expect(try second.lock(byte: 0, exclusive: true) == false)
            #expect(try second.lock(byte: 0, exclusive: false) == false)
            #expect(try second.lock(byte: 1, exclusive: true), "another byte is free")
            try first.unlock(byte: 0)
            #expect(try second.lock(byte: 0, exclusive: true))
        }
    }

    @Test("shared locks go together and keep an exclusive one out", arguments: Disk.allCases)
    func shared(_ disk: Disk) throws {
        try disk.use { files, folder in
            let first = try files.open(folder / "lock", .createOrOpen)
            let second = try files.open(folder / "lock", .read)
            let third = try files.open(folder / "lock", .readWrite)
            #expect(try first.lock(byte: 1, exclusive: false))
            #expect(try second.lock(byte: 1, exclusive: false))
            #expect(try third.lock(byte: 1, exclusive: true) == false)
            try first.unlock(byte: 1)
            #expect(try third.lock(byte: 1, exclusive: true) == false)
            try second.unlock(byte: 1)
            #expect(try third.lock(byte: 1, exclusive: true))
        }
    }

    @Test("a lock changes its kind where nobody is in the way", arguments: Disk.allCases)
    func changingKind(_ disk: Disk) throws {
        try disk.use { files, folder in
            let first = try files.open(folder / "lock", .createOrOpen)
            let second = try files.open(folder / "lock", .readWrite)
            #expect(try first.lock(byte: 0, exclusive: false))
            #expect(try first.lock(byte: 0, exclusive: true))
            #expect(try second.lock(byte: 0, exclusive: false) == false)
            #expect(try first.lock(byte: 0, exclusive: false))
            #expect(try second.lock(byte: 0, exclusive: false))
            #expect(try first.lock(byte: 0, exclusive: true) == false, "now both share it")
            #expect(try second.lock(byte: 0, exclusive: true) == false)
            try first.unlock(byte: 0)
            #expect(try second.lock(byte: 0, exclusive: true), "a failed change kept the old lock")
        }
    }

    @Test("closing drops one's own locks only, and so does letting go", arguments: Disk.allCases)
    func closing(_ disk: Disk) throws {
        try disk.use { files, folder in
            let first = try files.open(folder / "lock", .createOrOpen)
            let second = try files.open(folder / "lock", .readWrite)
            #expect(try first.lock(byte: 0, exclusive: true))
            // Classic record locks would vanish here: any close in the process drops those.
            try files.open(folder / "lock", .readWrite).close()
            #expect(try second.lock(byte: 0, exclusive: true) == false)
            try first.close()
            #expect(try second.lock(byte: 0, exclusive: true))

            var third: (any File)? = try files.open(folder / "lock", .readWrite)
            #expect(try third?.lock(byte: 9, exclusive: true) == true)
            #expect(try second.lock(byte: 9, exclusive: true) == false)
            third = nil
            #expect(try second.lock(byte: 9, exclusive: true))
        }
    }

    @Test("a file opened to read takes shared locks and no exclusive one", arguments: Disk.allCases)
    func readOnly(_ disk: Disk) throws {
        try disk.use { files, folder in
            _ = try files.open(folder / "lock", .create)
            let file = try files.open(folder / "lock", .read)
            #expect(try file.lock(byte: 0, exclusive: false))
            expectError(.lock, .badFileDescriptor) { _ = try file.lock(byte: 0, exclusive: true) }
        }
    }

    @Test(
        "unlocking what is not locked is nothing; bytes that cannot be are errors",
        arguments: Disk.allCases)
    func borders(_ disk: Disk) throws {
        try disk.use { files, folder in
            let file = try files.open(folder / "lock", .create)
            try file.unlock(byte: 5)
            #expect(try file.lock(byte: UInt64(Int64.max) - 1, exclusive: true))
            expectError(.lock, .overflow) {
                _ = try file.lock(byte: UInt64(Int64.max), exclusive: true)
            }
            expectError(.unlock, .overflow) { try file.unlock(byte: .max) }
            expectError(.lockHolder, .overflow) { _ = try file.lockHolder(byte: .max) }
            #expect(try file.size() == 0)
        }
    }

    #if os(Linux)
        @Test("the holder of a lock is told", arguments: Disk.allCases)
        func holder(_ disk: Disk) throws {
            try disk.use { files, folder in
                let first = try files.open(folder / "lock", .createOrOpen)
                let second = try files.open(folder / "lock", .read)
                #expect(try second.lockHolder(byte: 0) == nil)
                #expect(try first.lock(byte: 0, exclusive: true))
                #expect(try first.lockHolder(byte: 0) == nil, "oneself does not count")
                #expect(try second.lockHolder(byte: 1) == nil)
                let here = ProcessInfo.processInfo.processIdentifier
                #expect(try second.lockHolder(byte: 0) == here)
            }
        }

        @Test(
            "a lock of another process is seen, its holder is told, and it goes when that is killed"
        )
        func otherProcess() throws {
            try withTemporaryDirectory { directory in
                let other = try LockingProcess(directory.path("lock"), byte: 3)
                defer { other.kill() }
                let file = try POSIXFileSystem().open(directory.filePath("lock"), .readWrite)
                #expect(try file.lock(byte: 3, exclusive: true) == false)
                #expect(try file.lock(byte: 2, exclusive: true))
                #expect(try file.lockHolder(byte: 3) == other.id)
                #expect(try file.lockHolder(byte: 2) == nil)
                other.kill()
                #expect(try file.lock(byte: 3, exclusive: true))
            }
        }

        @Test("who has locked a file is told, also once it is deleted, and no namesake")
        func users() throws {
            try withTemporaryDirectory { directory in
                let disk = POSIXFileSystem()
                let other = try LockingProcess(directory.path("lock"), byte: 3)
                defer { other.kill() }
                try disk.makeDirectory(directory.filePath("beside"))
                let beside = try disk.open(directory.filePath("beside/lock"), .createOrOpen)
                #expect(try beside.lock(byte: 3, exclusive: true))
                let file = try disk.open(directory.filePath("lock"), .readWrite)
                #expect(try file.lock(byte: 1, exclusive: false))
                let here = ProcessInfo.processInfo.processIdentifier
                for _ in 0..<2 {
                    let users = disk.users(of: file)
                    #expect(users.map(\.process) == [other.id, here])
                    #expect(users.map(\.locked) == [[3...3], [1...1]])
                    #expect(users.allSatisfy { $0.mayWrite && $0.started != nil })
                    #expect(users.first?.program.hasPrefix("python") == true)
                    #expect(try file.lockHolder(byte: 3) == other.id)
                    if users.count == 2 { try? disk.unlink(directory.filePath("lock")) }
                }
            }
        }
    #endif
}

/// A process of its own that locks one byte of a file and then waits.
private final class LockingProcess {
    private let process = Process()
    private let input = Pipe()

    /// Returns when the lock is held.
    init(_ path: String, byte: Int) throws {
        let script = """
            import fcntl, os, struct, sys
            file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, int(sys.argv[2]), 1, 0)
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
            print("locked", flush=True)
            sys.stdin.read()
            """
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path, "\(byte)"]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = inTime(for: "the other process to lock") {
            output.fileHandleForReading.availableData
        }
        try #require(String(decoding: line, as: UTF8.self).hasPrefix("locked"))
    }

    var id: Int32 { process.processIdentifier }

    func kill() {
        guard process.isRunning else { return }
        _ = Foundation.kill(id, SIGKILL)
        inTime(for: "the killed process to end") { process.waitUntilExit() }
    }
}
