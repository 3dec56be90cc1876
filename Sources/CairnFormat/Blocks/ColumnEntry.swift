// One entry of a block's column table.                                              Format 40, F-404 to F-413

/// The description of one column in a block's head.
package struct ColumnEntry: Sendable, Hashable {
    static let size = 20

    package let propertyID: UInt32
    package let kind: ColumnKind
    package let encoding: ColumnEncoding
    package let flags: ColumnFlags
    /// The offset of the slice in the block's payload.
    package let offset: Int
    /// The size of the slice in the payload, in bytes.
    package let storedLength: Int
    /// The size of the slice before LZ4, in bytes.
    package let rawLength: Int
    /// The checksum of the slice in the payload.
    package let checksum: UInt32
    /// Whether the slice is in the payload of a patch's base block.                                 Format 45
    package private(set) var isBorrowed = false

    /// The same entry, marked as borrowed from a patch's base block.
    var borrowed: ColumnEntry {
        var entry = self
        entry.isBorrowed = true
        return entry
    }

    /// The byte range of the slice in the payload.
    package var range: Range<Int> { offset..<offset + storedLength }

    /// - Throws: `FormatError` if the bytes are not those of the slice.                               F-410
    func verify(_ slice: UnsafeRawBufferPointer) throws(FormatError) {
        let computed = Checksum.crc32c(slice)
        guard computed == checksum else {
            throw FormatError(
                .badChecksum, "F-410", "a slice is damaged", at: offset,
                expected: UInt64(checksum), found: UInt64(computed))
        }
    }

    func store(into target: UnsafeMutableRawPointer) {
        target.storeBytes(of: propertyID.littleEndian, as: UInt32.self)
        target.storeBytes(of: kind.rawValue, toByteOffset: 4, as: UInt8.self)
        target.storeBytes(of: encoding.rawValue, toByteOffset: 5, as: UInt8.self)
        target.storeBytes(of: flags.rawValue, toByteOffset: 6, as: UInt8.self)
        target.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
        target.storeBytes(
            of: UInt32(storedLength).littleEndian, toByteOffset: 8, as: UInt32.self)
        target.storeBytes(of: UInt32(rawLength).littleEndian, toByteOffset: 12, as: UInt32.self)
        target.storeBytes(of: checksum.littleEndian, toByteOffset: 16, as: UInt32.self)
    }
}

extension ByteReader {
    /// Reads the next entry of a column table; its slice begins at `sliceOffset` in the payload.
    mutating func columnEntry(sliceAt sliceOffset: Int) throws(FormatError) -> ColumnEntry {
        let start = offset
        let propertyID = try integer(UInt32.self)
        let rawKind = try integer(UInt8.self)
        let rawEncoding = try integer(UInt8.self)
        let flags = ColumnFlags(rawValue: try integer())
        try zeros(1)
        let storedLength = Int(try integer(UInt32.self))
        let rawLength = Int(try integer(UInt32.self))
        let checksum = try integer(UInt32.self)
        guard let kind = ColumnKind(rawValue: rawKind),
            let encoding = ColumnEncoding(rawValue: rawEncoding), encoding.fits(kind),
            flags.isSubset(of: .known),
            !flags.contains(.externals) || encoding == .lengths || encoding == .texts,
            !flags.contains(.lz4) || !encoding.isAddressable
        else {
            throw FormatError(
                .malformed, "F-409", "kind, encoding and flags of a column do not fit together",
                at: start + 4,
                found: UInt64(rawKind) << 16 | UInt64(rawEncoding) << 8 | UInt64(flags.rawValue))
        }
        guard rawLength <= FormatLimits.maximumRawBlock else {
            throw FormatError(
                .tooLarge, "F-406", "a slice is too large", at: start + 12,
                expected: UInt64(FormatLimits.maximumRawBlock), found: UInt64(rawLength))
        }
        let isCompressed = flags.contains(.lz4) || encoding == .symbols
        guard isCompressed ? storedLength < rawLength : storedLength == rawLength else {
            throw FormatError(
                .malformed, "F-412", "the lengths of a slice contradict its flags", at: start + 8,
                expected: UInt64(rawLength), found: UInt64(storedLength))
        }
        return ColumnEntry(
            propertyID: propertyID, kind: kind, encoding: encoding, flags: flags,
            offset: sliceOffset, storedLength: storedLength, rawLength: rawLength,
            checksum: checksum)
    }
}
