// LZ4 for one slice: the block format, without any frame.                Format 40, F-410 to F-413

internal import CLZ4

enum SliceCompressor {
    /// Shorter slices never shrink by an eighth.
    private static let minimumLength = 24

    /// Appends a slice, compressed if that saves at least an eighth, and describes it. Slices with
    /// individually readable cells are never compressed.
    ///
    /// - Parameter expandedBytes: the additional size of symbols once expanded, in bytes.
    static func append(
        _ raw: UnsafeRawBufferPointer, expandedBytes: Int = 0, propertyID: UInt32,
        kind: ColumnKind, encoding: ColumnEncoding, flags: ColumnFlags, rows: Int, rawBefore: Int,
        to target: inout ByteWriter
    ) throws(FormatError) -> ColumnEntry {
        let rawLength = raw.count + expandedBytes
        guard rawLength <= FormatLimits.maximumRawBlock - rawBefore else {
            throw tooLarge(rawBefore, UInt64(rawLength))
        }
        let start = target.count
        var flags = flags
        if !encoding.isAddressable, rows >= FormatLimits.minimumRowsToCompress,
            raw.count >= minimumLength,
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
            storedLength: target.count - start, rawLength: rawLength,
            checksum: Checksum.crc32c(UnsafeRawBufferPointer(rebasing: target.bytes[start...])))
    }

    /// Decompresses a slice; the result must fill `target` exactly.                    F-411
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

    /// Returns the size that a slice would have after compression, in bytes.
    static func size(_ raw: UnsafeRawBufferPointer, _ memory: inout ByteWriter) -> Int {
        guard let source = raw.baseAddress else { return 0 }
        memory.reset()
        let limit = raw.count - (raw.count + 7) / 8
        let stored = LZ4_compress_default(
            source.assumingMemoryBound(to: CChar.self),
            memory.reserve(limit).assumingMemoryBound(to: CChar.self), Int32(raw.count),
            Int32(limit))
        return stored > 0 ? Int(stored) : raw.count
    }

    static func tooLarge(_ before: Int, _ more: UInt64) -> FormatError {
        FormatError(
            .tooLarge, "F-406", "the slices of a block exceed 16 MiB",
            expected: UInt64(FormatLimits.maximumRawBlock), found: UInt64(before) &+ more)
    }
}
