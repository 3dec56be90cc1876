// What a patch says of itself, and the head of what it brings.                               Format 45
//
//   1. A patch is a block that has its rows' numbers, and all columns that it does not bring, from another block. That is
//      named by place, and is no patch itself.                                            (F-454)
//   2. How much it borrows is said, so that nobody has to read the other block to know what is alive in its segment.
//                                                                                         (F-455)

/// The head of a patch.
package struct PatchHead: Sendable {
    /// The bytes before the head of what it brings.
    package static let size = 24
    static let referencesFlag: UInt32 = 1

    /// The block that it is of.
    package let base: Place
    /// The stored bytes of the slices that it has from there.
    package let borrowedBytes: Int
    /// Whether some cells in these are references to large values.
    package let borrowsReferences: Bool
    /// What it brings: row versions last, and no numbers. Ranges are those of the patch's payload.
    package let own: BlockHead

    /// The bytes up to the end of the column table, from the first 48 bytes of a payload. Nothing is checked yet.
    package static func headLength(of prefix: UnsafeRawBufferPointer) throws(FormatError) -> Int {
        guard prefix.count >= size else { throw ByteReader(prefix).truncated(size) }
        return try size
            + BlockHead.headLength(of: UnsafeRawBufferPointer(rebasing: prefix[size...]))
    }

    /// The head of a whole payload.
    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        try self.init(decoding: payload, payloadLength: payload.count)
    }

    /// The head of a payload of which at least head and table are there.
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

    /// The head of the block as it has become.
    ///
    /// - Throws: `FormatError` if that is another block than the patch says.
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

    /// Appends the first bytes of a patch.
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
