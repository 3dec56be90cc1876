// The bytes of a list, from a file or from memory.

package import SystemPackage

/// Provides bytes in order, to one reader.
package protocol ByteStream {
    /// Fills a prefix of the buffer and returns its length in bytes; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ListError) -> Int
}

/// The bytes of a file from its beginning, independent of other readers.
package struct FileByteStream: ByteStream {
    private let file: OpenFile
    private var offset: Int64 = 0

    /// Reads a file, and keeps it open.
    package init(_ file: OpenFile) {
        self.file = file
    }

    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ListError) -> Int
    {
        do {
            let count = try file.descriptor.read(fromAbsoluteOffset: offset, into: buffer)
            offset += Int64(count)
            return count
        } catch {
            throw ListError("it cannot be read: \(error)")
        }
    }
}

/// Bytes in memory.
package struct MemoryByteStream: ByteStream {
    private let bytes: [UInt8]
    private var offset = 0
    private let step: Int

    /// Returns at most `step` bytes per read.
    package init(_ bytes: [UInt8], step: Int = .max) {
        precondition(step > 0, "a stream reads at least one byte at a time")
        self.bytes = bytes
        self.step = step
    }

    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ListError) -> Int
    {
        let count = min(buffer.count, step, bytes.count - offset)
        buffer.copyBytes(from: bytes[offset..<offset + count])
        offset += count
        return count
    }
}

/// A file descriptor that is closed when the last reference goes away.
package final class OpenFile: Sendable {
    package let descriptor: FileDescriptor

    /// Takes ownership of a descriptor.
    package init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // Only read from: errors on close do not matter.
        try? descriptor.close()
    }
}
