import CairnFileSystem
import CairnTestSupport
import SystemPackage
import Testing

@Suite("Reading and writing a file")
struct FileContentTests {
    @Test("what was written is read, at any offset", arguments: Disk.allCases)
    func roundTrip(_ disk: Disk) throws {
        try disk.use { files, folder in
            let file = try files.open(folder / "a", .create)
            try file.write([1, 2, 3, 4, 5], at: 0)
            try file.write([9, 9], at: 1)
            #expect(try file.content() == [1, 9, 9, 4, 5])
            #expect(try file.read(2, at: 3) == [4, 5])
            #expect(try file.size() == 5)
        }
    }

    @Test("reading past the end gives less or nothing, never an error", arguments: Disk.allCases)
    func pastTheEnd(_ disk: Disk) throws {
        try disk.use { files, folder in
            let file = try files.open(folder / "a", .create)
            #expect(try file.read(10, at: 0) == [])
            try file.write([1, 2, 3], at: 0)
            #expect(try file.read(10, at: 1) == [2, 3])
            #expect(try file.read(10, at: 3) == [])
            #expect(try file.read(10, at: 1000) == [])
            #expect(try file.read(10, at: UInt64(Int64.max)) == [])
            #expect(try file.read(10, at: .max) == [])
            #expect(try file.read(0, at: 0) == [])
        }
    }

    @Test("a gap that a write leaves reads as zeros", arguments: Disk.allCases)
    func gaps(_ disk: Disk) throws {
        try disk.use { files, folder in
            let file = try files.open(folder / "a", .create)
            let far: UInt64 = 5_000_000_001
            try file.write([7], at: far)
            #expect(try file.size() == far + 1)
            #expect(try file.read(100_000, at: 3) == [UInt8](repeating: 0, count: 100_000))
            #expect(try file.read(5, at: far - 2) == [0, 0, 7])
        }
    }

    @Test("truncating cuts, and growing again shows zeros", arguments: Disk.allCases)
    func truncate(_ disk: Disk) throws {
        try disk.use { files, folder in
            let file = try files.open(folder / "a", .create)
            // Around the borders of pages too, in memory 16 KiB.
            for cut in [0, 1, 16_383, 16_384, 16_385, 40_000] {
                try file.truncate(to: 0)
                try file.write([UInt8](repeating: 5, count: 50_000), at: 0)
                try file.truncate(to: UInt64(cut))
                #expect(try file.size() == UInt64(cut))
                try file.truncate(to: 50_000)
                let expected =
                    [UInt8](repeating: 5, count: cut) + [UInt8](repeating: 0, count: 50_000 - cut)
                #expect(try file.content() == expected, "cut at \(cut)")
            }
        }
    }

    @Test("writing nothing changes nothing, wherever it is", arguments: Disk.allCases)
    func writingNothing(_ disk: Disk) throws {
        try disk.use { files, folder in
            let file = try files.open(folder / "a", .create)
            try file.write([], at: 500)
            try file.write([], at: .max)
            try file.write(UnsafeRawBufferPointer(start: nil, count: 0), at: 0)
            #expect(try file.size() == 0)
        }
    }

    @Test("offsets that no file can have are errors", arguments: Disk.allCases)
    func impossibleOffsets(_ disk: Disk) throws {
        try disk.use { files, folder in
            let file = try files.open(folder / "a", .create)
            let largest = UInt64(Int64.max)
            expectError(.write, .fileTooLarge) { try file.write([1, 2], at: .max) }
            expectError(.write, .fileTooLarge) { try file.write([1, 2], at: largest + 1) }
            expectError(.write, .fileTooLarge) { try file.write([1, 2], at: largest - 1) }
            expectError(.truncate, .fileTooLarge) { try file.truncate(to: largest + 1) }
            expectError(.truncate, .fileTooLarge) { try file.truncate(to: .max) }
            #expect(try file.size() == 0)
        }
    }

    @Test("two opens see each other's writes at once", arguments: Disk.allCases)
    func twoOpens(_ disk: Disk) throws {
        try disk.use { files, folder in
            let writer = try files.open(folder / "a", .create)
            let reader = try files.open(folder / "a", .read)
            try writer.write([1, 2, 3], at: 0)
            try writer.synchronizeData()
            #expect(try reader.content() == [1, 2, 3])
            #expect(reader.identity == writer.identity)
            try writer.truncate(to: 1)
            #expect(try reader.content() == [1])
        }
    }

    @Test("a file opened to read cannot be changed", arguments: Disk.allCases)
    func readOnly(_ disk: Disk) throws {
        try disk.use { files, folder in
            try files.open(folder / "a", .create).write([1], at: 0)
            let file = try files.open(folder / "a", .read)
            expectError(.write, .badFileDescriptor) { try file.write([2], at: 0) }
            expectError(.truncate, .invalidArgument) { try file.truncate(to: 0) }
            try file.synchronizeData()
            #expect(try file.content() == [1])
        }
    }

    @Test("closing is once, and everything after it is an error", arguments: Disk.allCases)
    func close(_ disk: Disk) throws {
        try disk.use { files, folder in
            let file = try files.open(folder / "a", .create)
            try file.write([1], at: 0)
            try file.close()
            expectError(.close, .badFileDescriptor) { try file.close() }
            expectError(.read, .badFileDescriptor) { _ = try file.read(1, at: 0) }
            expectError(.write, .badFileDescriptor) { try file.write([1], at: 0) }
            expectError(.synchronize, .badFileDescriptor) { try file.synchronizeData() }
            expectError(.truncate, .badFileDescriptor) { try file.truncate(to: 0) }
            expectError(.size, .badFileDescriptor) { _ = try file.size() }
            expectError(.lock, .badFileDescriptor) { _ = try file.lock(byte: 0, exclusive: true) }
            expectError(.unlock, .badFileDescriptor) { try file.unlock(byte: 0) }
            expectError(.lockHolder, .badFileDescriptor) { _ = try file.lockHolder(byte: 0) }
            #expect(try files.open(folder / "a", .read).content() == [1])
        }
    }

    @Test("several threads write and read one file", arguments: Disk.allCases)
    func threads(_ disk: Disk) async throws {
        // Each task has its own range; the file system must not mix them.
        let directory = try TemporaryDirectory()
        let files: any FileSystem = disk == .posix ? POSIXFileSystem() : MemoryFileSystem()
        let path: FilePath = disk == .posix ? directory.filePath("a") : "/a"
        let file = try files.open(path, .create)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let bytes = [UInt8](repeating: UInt8(task + 1), count: 10_000)
                    for round in 0..<20 {
                        let place = UInt64(round * 80_000 + task * 10_000)
                        try file.write(bytes, at: place)
                        #expect(try file.read(10_000, at: place) == bytes)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try file.size() == 1_600_000)
        try file.close()
    }
}
