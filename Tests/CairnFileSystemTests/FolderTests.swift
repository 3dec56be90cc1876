import CairnFileSystem
import CairnTestSupport
import SystemPackage
import Testing

@Suite("Files in folders")
struct FolderTests {
    @Test("modes of opening a file that is there and one that is not", arguments: Disk.allCases)
    func modes(_ disk: Disk) throws {
        try disk.use { files, folder in
            expectError(.open, .noSuchFileOrDirectory) { _ = try files.open(folder / "a", .read) }
            expectError(.open, .noSuchFileOrDirectory) {
                _ = try files.open(folder / "a", .readWrite)
            }
            try files.open(folder / "a", .createOrOpen).write([1], at: 0)
            expectError(.open, .fileExists) { _ = try files.open(folder / "a", .create) }
            #expect(try files.open(folder / "a", .createOrOpen).content() == [1])
            #expect(try files.open(folder / "a", .readWrite).content() == [1])
        }
    }

    @Test("an error names the call, the path and the reason", arguments: Disk.allCases)
    func errorText(_ disk: Disk) throws {
        try disk.use { files, folder in
            let error = #expect(throws: FileSystemError.self) {
                _ = try files.open(folder / "gone", .read)
            }
            let text = try #require(error.map { "\($0)" })
            #expect(text.hasPrefix("cannot open \(folder / "gone"): No such file"))
        }
    }

    @Test("a folder's names come sorted by their bytes", arguments: Disk.allCases)
    func list(_ disk: Disk) throws {
        try disk.use { files, folder in
            #expect(try files.list(folder) == [])
            // Canonically equal names are different names to a disk that keeps bytes.
            let names = ["b", "a", "10", "9", "B", "é", "e\u{301}", "日本", ".hidden"]
            for name in names { _ = try files.open(folder / name, .create) }
            try files.makeDirectory(folder / "c")
            let expected = [".hidden", "10", "9", "B", "a", "b", "c", "e\u{301}", "é", "日本"]
            let found = try files.list(folder)
            #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        }
    }

    @Test("what a disk has left is known of a real one, and of no folder that is not there")
    func available() throws {
        try Disk.posix.use { files, folder in
            let bytes = try #require(files.availableBytes(in: folder))
            #expect(bytes > 0)
            #expect(files.availableBytes(in: folder / "gone") == nil)
        }
        try Disk.memory.use { files, folder in
            #expect(files.availableBytes(in: folder) == nil)
        }
    }

    @Test("an unlinked file lives on in what has it open", arguments: Disk.allCases)
    func unlinkWhileOpen(_ disk: Disk) throws {
        try disk.use { files, folder in
            let old = try files.open(folder / "a", .create)
            try old.write([1, 2], at: 0)
            try files.unlink(folder / "a")
            #expect(try files.list(folder) == [])
            #expect(try files.exists(folder / "a") == false)
            try old.write([3], at: 2)
            #expect(try old.content() == [1, 2, 3])
            let new = try files.open(folder / "a", .create)
            #expect(try new.size() == 0)
            #expect(new.identity != old.identity)
        }
    }

    @Test(
        "a file's identity is the same by every path, and differs between files",
        arguments: Disk.allCases)
    func identity(_ disk: Disk) throws {
        try disk.use { files, folder in
            try files.makeDirectory(folder / "x")
            let file = try files.open(folder / "x" / "a", .create)
            #expect(try files.identity(of: folder / "x" / "a") == file.identity)
            #expect(try files.identity(of: folder / "x" / ".." / "x" / "." / "a") == file.identity)
            #expect(try files.open(folder / "x" / "a", .read).identity == file.identity)
            #expect(try files.open(folder / "b", .create).identity != file.identity)
            #expect(try files.identity(of: folder / "x") != files.identity(of: folder))
            #expect(try files.identity(of: folder / "x" / "..") == files.identity(of: folder))
            expectError(.identify, .noSuchFileOrDirectory) {
                _ = try files.identity(of: folder / "gone")
            }
        }
    }

    @Test("two disks in memory share no identity")
    func identityAcrossDisks() throws {
        let one = MemoryFileSystem()
        let two = MemoryFileSystem()
        #expect(try one.identity(of: "/") != two.identity(of: "/"))
        let onReal = try POSIXFileSystem().identity(of: "/")
        #expect(try one.identity(of: "/").device != onReal.device)
    }

    @Test("folders are made and removed one at a time, empty", arguments: Disk.allCases)
    func folders(_ disk: Disk) throws {
        try disk.use { files, folder in
            expectError(.makeDirectory, .noSuchFileOrDirectory) {
                try files.makeDirectory(folder / "a" / "b")
            }
            try files.makeDirectory(folder / "a")
            expectError(.makeDirectory, .fileExists) { try files.makeDirectory(folder / "a") }
            try files.makeDirectory(folder / "a" / "b")
            expectError(.removeDirectory, .directoryNotEmpty) {
                try files.removeDirectory(folder / "a")
            }
            try files.removeDirectory(folder / "a" / "b")
            try files.removeDirectory(folder / "a")
            expectError(.removeDirectory, .noSuchFileOrDirectory) {
                try files.removeDirectory(folder / "a")
            }
            #expect(try files.exists(folder))
            #expect(try files.exists(folder / "a") == false)
        }
    }

    @Test("a folder is not a file and a file is not a folder", arguments: Disk.allCases)
    func kinds(_ disk: Disk) throws {
        try disk.use { files, folder in
            try files.makeDirectory(folder / "d")
            _ = try files.open(folder / "f", .create)
            for mode in [OpenMode.read, .readWrite, .createOrOpen] {
                expectError(.open, .isDirectory) { _ = try files.open(folder / "d", mode) }
            }
            expectError(.open, .fileExists) { _ = try files.open(folder / "d", .create) }
            expectError(.open, .notDirectory) { _ = try files.open(folder / "f" / "x", .read) }
            expectError(.list, .notDirectory) { _ = try files.list(folder / "f") }
            expectError(.list, .noSuchFileOrDirectory) { _ = try files.list(folder / "gone") }
            expectError(.removeDirectory, .notDirectory) {
                try files.removeDirectory(folder / "f")
            }
            expectError(.makeDirectory, .fileExists) { try files.makeDirectory(folder / "f") }
            expectError(.syncDirectory, .notDirectory) { try files.syncDirectory(folder / "f") }
            expectError(.syncDirectory, .noSuchFileOrDirectory) {
                try files.syncDirectory(folder / "gone")
            }
            #expect(try files.exists(folder / "f" / "x") == false)
            try files.syncDirectory(folder / "d")
        }
    }

    @Test("unlinking a folder or nothing is an error", arguments: Disk.allCases)
    func unlinkErrors(_ disk: Disk) throws {
        try disk.use { files, folder in
            try files.makeDirectory(folder / "d")
            expectError(.unlink, .noSuchFileOrDirectory) { try files.unlink(folder / "gone") }
            #if os(Linux)
                expectError(.unlink, .isDirectory) { try files.unlink(folder / "d") }
            #endif
            #expect(try files.list(folder) == ["d"])
        }
    }

    @Test("names and paths that are too long, empty or odd", arguments: Disk.allCases)
    func oddNames(_ disk: Disk) throws {
        try disk.use { files, folder in
            let longest = String(repeating: "n", count: 255)
            _ = try files.open(folder / longest, .create)
            #expect(try files.exists(folder / longest))
            expectError(.open, .fileNameTooLong) {
                _ = try files.open(folder / (longest + "n"), .create)
            }
            var deep = folder
            for _ in 0..<20 { deep.append(longest) }
            expectError(.identify, .fileNameTooLong) { _ = try files.identity(of: deep) }
            expectError(.open, .noSuchFileOrDirectory) { _ = try files.open("", .read) }
            expectError(.makeDirectory, .noSuchFileOrDirectory) { try files.makeDirectory("") }
            expectError(.makeDirectory, .fileExists) { try files.makeDirectory(folder / "..") }
            expectError(.makeDirectory, .fileExists) { try files.makeDirectory("/") }
            // A folder that is not there cannot be walked through, even to come back.
            expectError(.open, .noSuchFileOrDirectory) {
                _ = try files.open(folder / "gone" / ".." / "a", .create)
            }
            expectError(.open, .isDirectory) { _ = try files.open("/", .read) }
        }
    }

    @Test("something that is neither file nor folder is refused")
    func devices() {
        expectError(.open, .invalidArgument) { _ = try POSIXFileSystem().open("/dev/null", .read) }
    }
}
