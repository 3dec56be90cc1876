// A list as a thing that can be read several times: a file, or what standard input gave.
//
// The form must be found before the first record is read, and a model is made from all records before any
// is stored, so every list is read from its beginning more than once. What cannot be read twice (standard
// input, a pipe) is first copied into a file without a name.
//
// Threads: any.

import FoundationEssentials
package import SystemPackage

/// A list that can be read from its beginning again and again.
package final class ListSource: Sendable {
    private enum Content: Sendable {
        case file(OpenFile)
        case bytes([UInt8])
    }

    /// What errors call it.
    package let name: String
    /// The end of the file's name behind its last point, in small letters; empty if there is none.
    package let ending: String
    /// How many bytes it has.
    package let byteCount: Int
    private let content: Content

    /// A file. Pipes and the like are read to their end first.
    package init(path: String) throws(ListError) {
        name = path
        let file = FilePath(path).lastComponent
        ending = (file?.extension ?? "").lowercased()
        do {
            let open = OpenFile(try FileDescriptor.open(FilePath(path), .readOnly))
            content = .file(try Self.makeReadable(open.descriptor) ?? open)
            byteCount = try Self.size(content)
        } catch let error as Errno {
            throw ListError(
                error == .isDirectory
                    ? "it is a folder, not a file" : "it cannot be read: \(error)",
                source: path)
        } catch {
            throw ListError("it cannot be read: \(error)", source: path)
        }
    }

    /// Standard input, read to its end, or another descriptor that stays open.
    package init(standardInput descriptor: FileDescriptor = .standardInput) throws(ListError) {
        name = "standard input"
        ending = ""
        do {
            content = .file(try Self.copy(descriptor))
            byteCount = try Self.size(content)
        } catch {
            throw ListError("it cannot be read: \(error)", source: name)
        }
    }

    /// Bytes in memory.
    package init(_ bytes: [UInt8], name: String, ending: String = "") {
        self.name = name
        self.ending = ending
        byteCount = bytes.count
        content = .bytes(bytes)
    }

    /// Reads from the beginning.
    package func open() -> any ByteStream {
        switch content {
        case .file(let file): FileByteStream(file)
        case .bytes(let bytes): MemoryByteStream(bytes)
        }
    }

    // MARK: Files

    /// A copy of what a descriptor gives, if it cannot be read twice.
    private static func makeReadable(_ descriptor: FileDescriptor) throws -> OpenFile? {
        do {
            try descriptor.seek(offset: 0, from: .current)
            var byte: UInt8 = 0
            // A folder can be opened, but not read.
            _ = try withUnsafeMutableBytes(of: &byte) {
                try descriptor.read(fromAbsoluteOffset: 0, into: $0)
            }
            return nil
        } catch Errno.illegalSeek {
            return try copy(descriptor)
        }
    }

    private static func copy(_ descriptor: FileDescriptor) throws -> OpenFile {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        let path = FilePath(folder).appending("cairn-list-\(UUID().uuidString)")
        let file = OpenFile(
            try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate],
                permissions: [.ownerRead, .ownerWrite]))
        // Without a name it is gone when it is closed, whatever ends the process.
        try FileManager.default.removeItem(atPath: path.string)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try descriptor.read(into: buffer)
            guard count > 0 else { return file }
            try file.descriptor.writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private static func size(_ content: Content) throws -> Int {
        switch content {
        case .file(let file): Int(try file.descriptor.seek(offset: 0, from: .end))
        case .bytes(let bytes): bytes.count
        }
    }
}
