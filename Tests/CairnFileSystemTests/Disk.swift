import CairnFileSystem
import CairnTestSupport
import SystemPackage
import Testing

/// The kinds of disk that must behave the same.
enum Disk: String, CaseIterable, CustomTestStringConvertible {
    case posix
    case memory

    var testDescription: String { rawValue }

    /// Runs `body` with a disk and an empty folder on it.
    func use(_ body: (any FileSystem, FilePath) throws -> Void) throws {
        switch self {
        case .posix:
            try withTemporaryDirectory { try body(POSIXFileSystem(), $0.filePath) }
        case .memory:
            let disk = MemoryFileSystem()
            try disk.makeDirectory("/tests")
            try body(disk, "/tests")
        }
    }
}

extension FilePath {
    static func / (folder: FilePath, name: String) -> FilePath { folder.appending(name) }
}

extension File {
    func write(_ bytes: [UInt8], at offset: UInt64) throws(FileSystemError) {
        try write(bytes.span.bytes, at: offset)
    }

    /// What a read of `count` bytes gives; the rest of the buffer must stay as it was.
    func read(_ count: Int, at offset: UInt64) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0xee, count: count)
        let got = try buffer.withUnsafeMutableBytes { try read(into: $0, at: offset) }
        #expect(buffer[got...].allSatisfy { $0 == 0xee }, "a read wrote past what it told")
        return Array(buffer.prefix(got))
    }

    func content() throws -> [UInt8] {
        try read(Int(size()), at: 0)
    }
}

/// Expects `body` to throw an error of the file system of this operation and number.
func expectError(
    _ operation: FileSystemError.Operation, _ code: Errno,
    _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) {
    let error = #expect(throws: FileSystemError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.operation == operation, sourceLocation: sourceLocation)
    #expect(error?.code == code, sourceLocation: sourceLocation)
}
