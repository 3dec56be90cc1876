// The head of a patch, and of its own columns.                                              Format 45
//
//   1. A patch is a block that borrows its rows' numbers, and all columns that it does not contain itself,
//      from another block. Its base is a place, and is never a patch. (F-454)
//   2. The patch states how many bytes it borrows, so that no reader has to read the base to know what is
//      live in its segment. (F-455)

/// The head of a patch.
package struct PatchHead: Sendable {
    /// The size of the part before the head of its own columns, in bytes.
    package static let size = 24
    static let referencesFlag: UInt32 = 1

    /// The base block of the patch.
    package let base: Place
    /// The stored bytes of the slices that it borrows from the base.
    package let borrowedBytes: Int
    /// Whether some borrowed cells are references to large values.
    package let borrowsReferences: Bool
    /// The patch's own columns: row versions last, and no numbers. Ranges refer to the patch's payload.
    package let own: BlockHead

    /// Returns the size up to the end of the column table, from the first 48 bytes of a payload. Checks
    /// nothing yet.
    package static func headLength(of prefix: UnsafeRawBufferPointer) throws(FormatError) -> Int {
        guard prefix.count >= size else { throw ByteReader(prefix).truncated(size) }
        return try size
            + BlockHead.headLength(of: UnsafeRawBufferPointer(rebasing: prefix[size...]))
    }

    /// Decodes the head of a whole payload.
    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        try self.init(decoding: payload, payloadLength: payload.count)
    }

    /// Decodes the head from a prefix of a payload that contains at least head and table.
    package init(decoding prefix: UnsafeRawBufferPointer, payloadLength: Int) throws(FormatError) {
        guard prefix.count >= Self.size else { throw ByteReader(prefix).truncated(Self.size) }
        var reader = ByteReader(prefix)
        base = try reader.place()
        borrowedBytes = Int(try reader.integer(UInt32.self))
        let flags = try reader.integer(UInt32.self)
        let reserved = try reader.integer(UInt32.self)
        let stated = try reader.integer(UInt32.self)
        let computed = Checksum.crc32c(
            UnsafeRawBufferPointer(rebasing: prefix[..<(Self.size - 4)]))
        guard stated == computed else {
            throw FormatError(
                .badChecksum, "F-451", "the head of the patch is damaged", at: Self.size - 4,
                expected: UInt64(stated), found: UInt64(computed))
        }
        guard flags & ~Self.referencesFlag == 0, reserved == 0, !base.isNone else {
            throw FormatError(
                .malformed, "F-452", "the head of the patch is impossible", at: 12,
                found: UInt64(flags))
        }
        borrowsReferences = flags & Self.referencesFlag != 0
        own = try BlockHead(decoding: prefix, at: Self.size, payloadLength: payloadLength)
    }

    /// Whether some cells of its rows are references to large values.
    package var hasReferences: Bool { borrowsReferences || own.hasReferences }

    /// Returns the head of the patched block.
    ///
    /// - Throws: `FormatError` if the base is not the block that the patch names.
    package func joined(to base: BlockHead) throws(FormatError) -> BlockHead {
        guard base.entity == own.entity, base.rows == own.rows,
            base.schemaVersion == own.schemaVersion
        else {
            throw FormatError(
                .malformed, "F-454", "the patch belongs to another block than the one it names",
                expected: UInt64(own.rows), found: UInt64(base.rows))
        }
        let joined = BlockHead(joining: own, to: base)
        let borrowed = joined.columns.filter(\.isBorrowed)
        let bytes = borrowed.reduce(0) { $0 + $1.storedLength }
        guard bytes == borrowedBytes,
            borrowed.contains(where: { $0.flags.contains(.externals) }) == borrowsReferences
        else {
            throw FormatError(
                .malformed, "F-455", "the patch borrows other columns than it says", at: 8,
                expected: UInt64(borrowedBytes), found: UInt64(bytes))
        }
        return joined
    }

    /// Appends the part before the head of a patch's own columns.
    static func encode(
        base: Place, borrowedBytes: Int, borrowsReferences: Bool, to writer: inout ByteWriter
    ) {
        let start = writer.count
        writer.append(base)
        writer.append(UInt32(borrowedBytes))
        writer.append(borrowsReferences ? referencesFlag : UInt32(0))
        writer.append(UInt32(0))
        writer.append(Checksum.crc32c(UnsafeRawBufferPointer(rebasing: writer.bytes[start...])))
    }
}
