// A list that can be read several times: a file, or a copy of standard input.
//
// The form must be detected before the first record is read, and a model is inferred from all records before
// any is stored, so every list is read from its beginning more than once. A source that cannot be read twice
// (standard input, a pipe) is first copied to a file without a name. A list in another encoding is read as
// UTF-8.
//
// Threads: any.

import FoundationEssentials
package import SystemPackage

/// A list that can be read from its beginning repeatedly.
package final class ListSource: Sendable {
    private enum Content: Sendable {
        case file(OpenFile)
        case bytes([UInt8])
    }

    /// The list's name in errors.
    package let name: String
    /// The file name extension, in lower case; empty if there is none.
    package let ending: String
    /// The size of the list in bytes.
    package let byteCount: Int
    /// The character encoding, including the byte order.
    package let encoding: ListEncoding
    /// The user's options for its syntax.
    package let options: ListOptions
    private let content: Content

    /// Opens a file. Reads pipes and the like to their end first.
    ///
    /// - Parameter options: the syntax of the list.
    package init(path: String, options: ListOptions = ListOptions()) throws(ListError) {
        self.options = options
        name = path
        let file = FilePath(path).lastComponent
        ending = (file?.extension ?? "").lowercased()
        do {
            let open = OpenFile(try FileDescriptor.open(FilePath(path), .readOnly))
            content = .file(try Self.makeReadable(open.descriptor) ?? open)
            byteCount = try Self.size(content)
            self.encoding = try Self.encoding(options.encoding, content)
        } catch let error as Errno {
            throw ListError(
                error == .isDirectory
                    ? "it is a folder, not a file" : "it cannot be read: \(error)",
                source: path)
        } catch let error as ListError {
            throw error.naming(path)
        } catch {
            throw ListError("it cannot be read: \(error)", source: path)
        }
    }

    /// Reads standard input to its end, or another descriptor, which stays open.
    package init(
        standardInput descriptor: FileDescriptor = .standardInput,
        options: ListOptions = ListOptions()
    ) throws(ListError) {
        self.options = options
        name = "standard input"
        ending = ""
        do {
            content = .file(try Self.copy(descriptor))
            byteCount = try Self.size(content)
            self.encoding = try Self.encoding(options.encoding, content)
        } catch let error as ListError {
            throw error.naming(name)
        } catch {
            throw ListError("it cannot be read: \(error)", source: name)
        }
    }

    /// Creates a list from bytes in memory.
    package init(
        _ bytes: [UInt8], name: String, ending: String = "", options: ListOptions = ListOptions()
    ) {
        self.options = options
        self.name = name
        self.ending = ending
        byteCount = bytes.count
        content = .bytes(bytes)
        self.encoding = ListEncoding(asked: options.encoding, start: bytes)
    }

    /// The delimiter of its cells, if it is CSV.
    package var delimiter: UInt8 {
        options.delimiter ?? (["tsv", "tab"].contains(ending) ? 0x09 : UInt8(ascii: ","))
    }

    /// Returns a stream from the beginning, as UTF-8.
    package func open() -> any ByteStream {
        let stream = Self.stream(content)
        return encoding == .utf8 ? stream : DecodingByteStream(stream, encoding: encoding)
    }

    /// Returns at most `count` of the first bytes, as they are in the file.
    func start(_ count: Int) throws(ListError) -> [UInt8] { try Self.start(content, count) }

    // MARK: Content

    private static func stream(_ content: Content) -> any ByteStream {
        switch content {
        case .file(let file): FileByteStream(file)
        case .bytes(let bytes): MemoryByteStream(bytes)
        }
    }

    private static func encoding(_ asked: ListEncoding?, _ content: Content) throws(ListError)
        -> ListEncoding
    {
        ListEncoding(asked: asked, start: try start(content, 2))
    }

    private static func start(_ content: Content, _ count: Int) throws(ListError) -> [UInt8] {
        var stream = stream(content)
        var start: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        // A stream may return fewer bytes than exist.
        while start.count < count {
            let more = try stream.read(into: buffer)
            guard more > 0 else { break }
            start.append(contentsOf: buffer[..<min(more, count - start.count)])
        }
        return start
    }

    // MARK: Files

    /// Returns a copy of a descriptor's content, if it cannot be read twice.
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
        // A file without a name disappears when it is closed, however the process ends.
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
