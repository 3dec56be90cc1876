import CairnFileSystem
import CairnTestSupport
import SystemPackage
import Testing

@Suite("Files in memory")
struct FileMappingTests {
    /// Whether the system can populate mapped files, and report what cannot be read: Linux since 5.14.
    private static let isSupported =
        (try? withTemporaryDirectory { folder -> Bool in
            let file = try POSIXFileSystem().open(folder.filePath / "a", .create)
            try file.write([1], at: 0)
            return file.map(at: 0, count: 1)?.bytes(0..<1) != nil
        }) ?? false

    @Test(
        "mapped bytes are those of the file, and see what is written later",
        .enabled(if: isSupported))
    func bytes() throws {
        try withTemporaryDirectory { folder in
            let file = try POSIXFileSystem().open(folder.filePath / "a", .create)
            try file.write([UInt8](0..<200), at: 0)
            let mapping = try #require(file.map(at: 0, count: 1 << 20))
            #expect(mapping.bytes(3..<8).map(Array.init) == [3, 4, 5, 6, 7])
            try file.write([9, 9], at: 4)
            try file.write([UInt8](repeating: 7, count: 10_000), at: 200)
            #expect(mapping.bytes(3..<8).map(Array.init) == [3, 9, 9, 6, 7])
            #expect(mapping.bytes(10_199..<10_200).map(Array.init) == [7])
            // It does not depend on the descriptor, nor on the name.
            try POSIXFileSystem().unlink(folder.filePath / "a")
            try file.close()
            #expect(mapping.bytes(0..<3).map(Array.init) == [0, 1, 2])
        }
    }

    @Test(
        "what lies past the end of a file is reported, and ends nothing",
        .enabled(if: isSupported))
    func pastTheEnd() throws {
        try withTemporaryDirectory { folder in
            let file = try POSIXFileSystem().open(folder.filePath / "a", .create)
            try file.write([UInt8](repeating: 5, count: 100_000), at: 0)
            let mapping = try #require(file.map(at: 0, count: 1 << 20))
            #expect(mapping.bytes(0..<100_000)?.allSatisfy { $0 == 5 } == true)
            #expect(mapping.bytes(200_000..<200_010) == nil)
            #expect(mapping.bytes(90_000..<200_000) == nil)
            #expect(mapping.bytes(0..<1 << 20 + 1) == nil)
            #expect(mapping.bytes(8..<8) == nil)
            try file.truncate(to: 10)
            #expect(mapping.bytes(50_000..<50_001) == nil)
            #expect(mapping.bytes(9..<10).map(Array.init) == [5])
        }
    }

    @Test("a mapping that is no mapping: an offset within a page, a closed file, a disk in memory")
    func none() throws {
        try withTemporaryDirectory { folder in
            let file = try POSIXFileSystem().open(folder.filePath / "a", .create)
            try file.write([1], at: 0)
            #expect(file.map(at: 7, count: 10) == nil)
            #expect(file.map(at: .max, count: 10) == nil)
            try file.close()
            #expect(file.map(at: 0, count: 10) == nil)
        }
        let disk = MemoryFileSystem()
        #expect(try disk.open("/a", .create).map(at: 0, count: 10) == nil)
    }
}
