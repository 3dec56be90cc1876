// A part of a checkpoint that is read and verified separately.                       Format 85

internal import CLZ4

/// The location of a part of a checkpoint, and its checksum.
package struct CheckpointUnit: Sendable, Hashable {
    static let size = 24

    /// The offset of its bytes in the file.
    package let offset: UInt64
    /// The number of stored bytes; less than `rawLength` if they are compressed.
    package let storedLength: UInt32
    /// The number of bytes after decompression.
    package let rawLength: UInt32
    /// The checksum of the stored bytes.
    package let checksum: UInt32

    /// The maximum size of a part in bytes, so that a damaged number causes no large allocation.
    package static let maximumLength = 16 << 20

    /// Appends a part to a buffer that will be at `start` in the file.
    package static func append(
        _ raw: UnsafeRawBufferPointer, to writer: inout ByteWriter, startingAt start: UInt64
    ) -> CheckpointUnit {
        precondition(raw.count <= maximumLength, "parts do not exceed the maximum length")
        let from = writer.count
        let limit = raw.count - (raw.count + 7) / 8
        if let source = raw.baseAddress, limit > 0 {
            let stored = LZ4_compress_default(
                source.assumingMemoryBound(to: CChar.self),
                writer.reserve(limit).assumingMemoryBound(to: CChar.self), Int32(raw.count),
                Int32(limit))
            writer.cut(to: from + Int(stored))
        }
        if writer.count == from { writer.append(raw) }
        let bytes = UnsafeRawBufferPointer(rebasing: writer.bytes[from...])
        return CheckpointUnit(
            offset: start + UInt64(from), storedLength: UInt32(bytes.count),
            rawLength: UInt32(raw.count), checksum: Checksum.crc32c(bytes))
    }

    /// Whether the stored bytes are compressed.
    package var isCompressed: Bool { storedLength != rawLength }

    /// Verifies the stored bytes.
    package func verify(_ stored: UnsafeRawBufferPointer) throws(FormatError) {
        guard stored.count == Int(storedLength), Checksum.crc32c(stored) == checksum else {
            throw FormatError(.badChecksum, "F-855", "a part of a checkpoint is damaged")
        }
    }

    /// Verifies and decompresses the stored bytes.
    package func expand(
        _ stored: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) throws(FormatError) {
        try verify(stored)
        precondition(target.count == Int(rawLength), "the buffer fits the expanded bytes")
        if !isCompressed { return target.copyMemory(from: stored) }
        guard let source = stored.baseAddress, let sink = target.baseAddress,
            LZ4_decompress_safe(
                source.assumingMemoryBound(to: CChar.self),
                sink.assumingMemoryBound(to: CChar.self), Int32(stored.count), Int32(target.count))
                == Int32(target.count)
        else {
            throw FormatError(.malformed, "F-855", "a part of a checkpoint does not decompress")
        }
    }

    package func encode(to writer: inout ByteWriter) {
        writer.append(offset)
        writer.append(storedLength)
        writer.append(rawLength)
        writer.append(checksum)
        writer.append(UInt32(0))
    }

    init(decoding reader: inout ByteReader, fileLength: UInt64) throws(FormatError) {
        offset = try reader.integer()
        storedLength = try reader.integer()
        rawLength = try reader.integer()
        checksum = try reader.integer()
        try reader.zeros(4)
        let (end, isTooLarge) = offset.addingReportingOverflow(UInt64(storedLength))
        guard !isTooLarge, end <= fileLength, storedLength <= rawLength,
            rawLength <= Self.maximumLength
        else {
            throw FormatError(.malformed, "F-854", "a part of a checkpoint lies outside of it")
        }
    }

    private init(offset: UInt64, storedLength: UInt32, rawLength: UInt32, checksum: UInt32) {
        self.offset = offset
        self.storedLength = storedLength
        self.rawLength = rawLength
        self.checksum = checksum
    }
}
