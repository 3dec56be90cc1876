// LZ4 for one slice: the block format, without any frame.                Format 40, F-410 to F-413

internal import CLZ4

enum SliceCompressor {
    /// Below this no slice shrinks by an eighth.
    private static let minimumLength = 24

    /// Appends a slice, compressed where that saves at least an eighth, and describes it.
    static func append(
        _ raw: UnsafeRawBufferPointer, propertyID: UInt32, kind: ColumnKind,
        encoding: ColumnEncoding, flags: ColumnFlags, rows: Int, rawBefore: Int,
        to target: inout ByteWriter
    ) throws(FormatError) -> ColumnEntry {
        guard raw.count <= FormatLimits.maximumRawBlock - rawBefore else {
            throw tooLarge(rawBefore, UInt64(raw.count))
        }
        let start = target.count
        var flags = flags
        if rows >= FormatLimits.minimumRowsToCompress, raw.count >= minimumLength,
            let source = raw.baseAddress
        {
            let limit = raw.count - (raw.count + 7) / 8
            let stored = LZ4_compress_default(
                source.assumingMemoryBound(to: CChar.self),
                target.reserve(limit).assumingMemoryBound(to: CChar.self), Int32(raw.count),
                Int32(limit))
            target.cut(to: start + Int(stored))
            if stored > 0 { flags.insert(.lz4) }
        }
        if !flags.contains(.lz4) { target.append(raw) }
        return ColumnEntry(
            propertyID: propertyID, kind: kind, encoding: encoding, flags: flags, offset: 0,
            storedLength: target.count - start, rawLength: raw.count,
            checksum: Checksum.crc32c(UnsafeRawBufferPointer(rebasing: target.bytes[start...])))
    }

    /// Undoes the compression of a slice into exactly as many bytes as it says.        F-411
    static func expand(_ slice: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer)
        throws(FormatError)
    {
        guard let source = slice.baseAddress, let sink = target.baseAddress else {
            throw FormatError(.malformed, "F-411", "a compressed slice is empty")
        }
        let length = LZ4_decompress_safe(
            source.assumingMemoryBound(to: CChar.self), sink.assumingMemoryBound(to: CChar.self),
            Int32(clamping: slice.count), Int32(clamping: target.count))
        guard Int(length) == target.count else {
            throw FormatError(
                .malformed, "F-411", "a slice does not decompress to its length",
                expected: UInt64(target.count), found: UInt64(max(length, 0)))
        }
    }

    static func tooLarge(_ before: Int, _ more: UInt64) -> FormatError {
        FormatError(
            .tooLarge, "F-406", "the slices of a block exceed 16 MiB",
            expected: UInt64(FormatLimits.maximumRawBlock), found: UInt64(before) &+ more)
    }
}
