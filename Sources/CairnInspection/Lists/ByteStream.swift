// Where the bytes of a list come from.

package import SystemPackage

/// Gives bytes one after the other, to one reader.
package protocol ByteStream {
    /// Fills a part of the buffer and gives its length; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ListError) -> Int
}

/// The bytes of a file from its beginning, wherever others read in it.
package struct FileByteStream: ByteStream {
    private let file: OpenFile
    private var offset: Int64 = 0

    /// Reads a file that stays open as long as this exists.
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

    /// Gives at most `step` bytes at a time.
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

/// A file descriptor that is closed when nobody needs it any more.
package final class OpenFile: Sendable {
    package let descriptor: FileDescriptor

    /// Takes a descriptor over.
    package init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // Only read from: closing has nothing to report.
        try? descriptor.close()
    }
}
