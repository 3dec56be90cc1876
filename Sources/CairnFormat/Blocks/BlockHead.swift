// The head and the column table of a block.                                         Format 40
//
//   1. The head's own checksum covers head and table, so that one column can be read without the whole
//      payload. (F-401)
//   2. Entries are sorted by property id; their slices follow each other to the end. (F-404, F-405)
//
// A patch (Format 45) has such a head for its own columns; joined with the head of its base block, it is the
// head of the patched block.
//
// Invariants: `columns` is sorted by property id; the last two are object number and row version, except in a
// patch's own head, which has only row version; every range is inside the payload.

/// The head of a block.
package struct BlockHead: Sendable {
    /// The size of the part before the column table, in bytes.
    package static let size = 24
    static let movedFlag: UInt16 = 1

    package let entity: UInt32
    package let schemaVersion: UInt32
    /// From 1 to 1,024.
    package let rows: Int
    /// Whether the rows were moved from elsewhere without changes.                                  BL3
    package let isMoved: Bool
    /// The size of all slices before LZ4, in bytes.
    package let rawLength: Int
    /// The column table, hidden columns last.
    package let columns: [ColumnEntry]
    /// The size of head and table, in bytes.
    package let headLength: Int

    /// Returns the size of head and table in bytes, from the first 24 bytes of a payload: how much to read
    /// before decoding. Checks nothing yet.
    package static func headLength(of prefix: UnsafeRawBufferPointer) throws(FormatError) -> Int {
        guard prefix.count >= size else {
            throw ByteReader(prefix).truncated(size)
        }
        let columns = UInt16(
            littleEndian: prefix.loadUnaligned(fromByteOffset: 10, as: UInt16.self))
        return size + Int(columns) * ColumnEntry.size
    }

    /// Joins a patch's own columns and rows with the head of its base block. All other columns are borrowed.
    init(joining patch: BlockHead, to base: BlockHead) {
        entity = patch.entity
        schemaVersion = patch.schemaVersion
        rows = patch.rows
        isMoved = false
        headLength = patch.headLength
        var columns: [ColumnEntry] = []
        columns.reserveCapacity(base.columns.count + patch.columns.count)
        var next = 0
        for entry in base.columns {
            while next < patch.columns.count, patch.columns[next].propertyID < entry.propertyID {
                columns.append(patch.columns[next])
                next += 1
            }
            if next < patch.columns.count, patch.columns[next].propertyID == entry.propertyID {
                columns.append(patch.columns[next])
                next += 1
            } else {
                columns.append(entry.borrowed)
            }
        }
        self.columns = columns
        isPacked = columns.contains { $0.encoding.isAddressable }
        rawLength = columns.reduce(0) { $0 + $1.rawLength }
    }

    /// Decodes the head of a whole payload.
    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        try self.init(decoding: payload, payloadLength: payload.count)
    }

    /// Decodes the head from a prefix of a payload that contains at least head and table.
    package init(decoding prefix: UnsafeRawBufferPointer, payloadLength: Int) throws(FormatError) {
        try self.init(decoding: prefix, at: 0, payloadLength: payloadLength)
    }

    /// Decodes the head of a patch's own columns, after the patch's fields.
    init(decoding prefix: UnsafeRawBufferPointer, at start: Int, payloadLength: Int)
        throws(FormatError)
    {
        let prefix = UnsafeRawBufferPointer(rebasing: prefix[min(start, prefix.count)...])
        headLength = try Self.headLength(of: prefix)
        var reader = ByteReader(prefix)
        entity = try reader.integer()
        schemaVersion = try reader.integer()
        rows = Int(try reader.integer(UInt16.self))
        let columnCount = Int(try reader.integer(UInt16.self))
        let flags = try reader.integer(UInt16.self)
        let reserved = try reader.integer(UInt16.self)
        rawLength = Int(try reader.integer(UInt32.self))
        let stated = try reader.integer(UInt32.self)
        guard prefix.count >= headLength else { throw reader.truncated(headLength - Self.size) }
        let computed = Self.checksum(
            UnsafeRawBufferPointer(rebasing: prefix[..<headLength]))
        guard stated == computed else {
            throw FormatError(
                .badChecksum, "F-401", "the head of the block is damaged", at: 20,
                expected: UInt64(stated), found: UInt64(computed))
        }
        guard rows >= 1, rows <= FormatLimits.maximumRows else {
            throw FormatError(
                .malformed, "F-402", "the block does not have 1 to 1,024 rows", at: 8,
                expected: UInt64(FormatLimits.maximumRows), found: UInt64(rows))
        }
        guard flags & ~Self.movedFlag == 0, reserved == 0, entity != 0 else {
            throw FormatError(
                .malformed, "F-403", "the head of the block is impossible", at: 12,
                found: UInt64(flags))
        }
        isMoved = flags & Self.movedFlag != 0
        columns = try reader.columnTable(
            count: columnCount, rows: rows, headLength: start + headLength, rawLength: rawLength,
            payloadLength: payloadLength)
        isPacked = columns.contains { $0.encoding.isAddressable }
        let hasVersions = columns.last?.isHidden(HiddenProperty.version) ?? false
        let last = columns.count - 2
        if start == 0 {
            guard hasVersions, last >= 0, columns[last].isHidden(HiddenProperty.number) else {
                throw FormatError(
                    .malformed, "F-407",
                    "the block does not end with object numbers and row versions",
                    at: reader.offset)
            }
        } else {
            guard hasVersions, !isMoved, last < 0 || !columns[last].isNumber else {
                throw FormatError(
                    .malformed, "F-453",
                    "the patch does not end with row versions, or has object numbers",
                    at: reader.offset)
            }
        }
    }

    /// Returns the entry of a property; nil if all rows of the block are nil there.                F-408
    package func column(_ propertyID: UInt32) -> ColumnEntry? {
        var low = 0
        var high = columns.count
        while low < high {
            let middle = (low + high) / 2
            if columns[middle].propertyID < propertyID { low = middle + 1 } else { high = middle }
        }
        guard low < columns.count, columns[low].propertyID == propertyID else { return nil }
        return columns[low]
    }

    /// Whether some cells are references to large values.
    package var hasReferences: Bool { columns.contains { $0.flags.contains(.externals) } }

    /// Whether some columns have individually readable cells.                                     F-570
    package let isPacked: Bool

    /// The entry of the object numbers.
    package var numbers: ColumnEntry { columns[columns.count - 2] }

    /// The entry of the row versions.
    package var versions: ColumnEntry { columns[columns.count - 1] }

    /// Returns the checksum of head and table, without the checksum field.
    static func checksum(_ head: UnsafeRawBufferPointer) -> UInt32 {
        let first = Checksum.crc32c(UnsafeRawBufferPointer(rebasing: head[..<(size - 4)]))
        return Checksum.crc32c(UnsafeRawBufferPointer(rebasing: head[size...]), continuing: first)
    }
}

extension ByteReader {
    fileprivate mutating func columnTable(
        count: Int, rows: Int, headLength: Int, rawLength: Int, payloadLength: Int
    ) throws(FormatError) -> [ColumnEntry] {
        var columns: [ColumnEntry] = []
        columns.reserveCapacity(count)
        var end = headLength
        var raw = 0
        for _ in 0..<count {
            let entry = try columnEntry(sliceAt: end)
            guard columns.last.map({ $0.propertyID < entry.propertyID }) ?? true else {
                throw FormatError(
                    .malformed, "F-404", "the columns of the block are not in order", at: offset,
                    found: UInt64(entry.propertyID))
            }
            guard
                rows >= FormatLimits.minimumRowsToCompress
                    || !(entry.flags.contains(.lz4) || entry.encoding.isAddressable)
            else {
                throw FormatError(
                    .malformed, "F-413", "a small block is compressed or packed", at: offset)
            }
            columns.append(entry)
            // Both terms are below 2^32 and there are at most 65,535 of them.
            end += entry.storedLength
            raw += entry.rawLength
        }
        guard end == payloadLength else {
            throw FormatError(
                .malformed, "F-405", "the slices do not end with the payload", at: headLength,
                expected: UInt64(clamping: payloadLength), found: UInt64(end))
        }
        guard raw == rawLength, raw <= FormatLimits.maximumRawBlock else {
            throw FormatError(
                .tooLarge, "F-406", "the slices are larger than the block says or may be", at: 16,
                expected: UInt64(rawLength), found: UInt64(raw))
        }
        return columns
    }
}

extension ColumnEntry {
    fileprivate func isHidden(_ property: UInt32) -> Bool {
        propertyID == property && kind == .integer && !flags.contains(.nils)
    }

    fileprivate var isNumber: Bool { propertyID == HiddenProperty.number }
}
