// Decodes the bytes of a slice into a column in memory.                                      Format 40 and 50
//
//   1. Verifies the slice's checksum. (F-410)
//   2. Decompresses LZ4 into separate memory, exactly as long as the table states. (F-411)
//   3. Decodes bitmaps, then the body by its encoding; it ends where the slice ends. (F-501, F-502, F-414)
//
// Without the checksum, any bytes must result in a column or an error: the fuzz tests check that.

extension DecodedColumn {
    /// Decodes a column of a block whose whole payload is available; without an entry all rows are nil. F-408
    package static func decode(
        _ property: UInt32, kind: ColumnKind, of head: BlockHead,
        in payload: UnsafeRawBufferPointer
    ) throws(FormatError) -> DecodedColumn {
        guard let entry = head.column(property) else {
            return allNil(kind: kind, rows: head.rows)
        }
        guard entry.kind == kind else {
            throw FormatError(
                .malformed, "F-415", "the column does not have the kind of its property",
                expected: UInt64(kind.rawValue), found: UInt64(entry.kind.rawValue))
        }
        guard payload.count >= entry.range.upperBound else {
            throw FormatError(
                .truncated, "F-405", "the payload does not hold the slice", at: payload.count,
                expected: UInt64(entry.range.upperBound), found: UInt64(payload.count))
        }
        return try decode(
            slice: UnsafeRawBufferPointer(rebasing: payload[entry.range]), entry, rows: head.rows)
    }

    /// Decodes the object numbers of a block whose whole payload is available.               F-407
    package static func decodeNumbers(of head: BlockHead, in payload: UnsafeRawBufferPointer)
        throws(FormatError) -> DecodedColumn
    {
        let column = try decode(HiddenProperty.number, kind: .integer, of: head, in: payload)
        try column.requireIntegers(in: 1...Int64(FormatLimits.maximumNumber), rule: "F-407")
        return column
    }

    /// Decodes the row versions of a block whose whole payload is available.                 F-407
    package static func decodeVersions(of head: BlockHead, in payload: UnsafeRawBufferPointer)
        throws(FormatError) -> DecodedColumn
    {
        let column = try decode(HiddenProperty.version, kind: .integer, of: head, in: payload)
        try column.requireIntegers(in: 1...Int64(FormatLimits.maximumVersion), rule: "F-407")
        return column
    }

    /// Decodes a column from the bytes of its slice.
    ///
    /// - Parameter rows: the number of rows in the block's head, from 1 to 1,024.
    package static func decode(slice: UnsafeRawBufferPointer, _ entry: ColumnEntry, rows: Int)
        throws(FormatError) -> DecodedColumn
    {
        try entry.verify(slice)
        return try decode(unverified: slice, entry, rows: rows)
    }

    /// Decodes a slice without its checksum, for bytes that are already verified.
    package static func decode(
        unverified slice: UnsafeRawBufferPointer, _ entry: ColumnEntry, rows: Int
    )
        throws(FormatError) -> DecodedColumn
    {
        precondition(rows >= 1 && rows <= FormatLimits.maximumRows, "a block has 1 to 1,024 rows")
        guard slice.count == entry.storedLength else {
            throw FormatError(
                .truncated, "F-405", "the slice is incomplete", at: entry.offset,
                expected: UInt64(entry.storedLength), found: UInt64(slice.count))
        }
        guard entry.flags.contains(.lz4) else { return try decode(raw: slice, entry, rows: rows) }
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: entry.rawLength, alignment: 16)
        defer { memory.deallocate() }
        try SliceCompressor.expand(slice, into: memory)
        return try decode(raw: UnsafeRawBufferPointer(memory), entry, rows: rows)
    }

    /// Returns a column for one that a block omits.                                           F-408
    package static func allNil(kind: ColumnKind, rows: Int) -> DecodedColumn {
        precondition(rows >= 1 && rows <= FormatLimits.maximumRows, "a block has 1 to 1,024 rows")
        let size = kind == .fixed16 ? 16 : kind == .bytes || kind == .integer ? 0 : 8
        var parts = DecodedParts(
            kind: kind, count: rows, hasNils: true, offsets: kind == .bytes ? rows + 1 : 0,
            valueBytes: rows * size)
        parts.nils?.initialize(repeating: 1, count: rows)
        parts.nilCount = rows
        if kind == .bytes { parts.offsets.initialize(repeating: 0, count: rows + 1) }
        parts.values.initializeMemory(as: UInt8.self, repeating: 0, count: rows * size)
        return DecodedColumn(parts)
    }

    private static func decode(raw: UnsafeRawBufferPointer, _ entry: ColumnEntry, rows: Int)
        throws(FormatError) -> DecodedColumn
    {
        var reader = ByteReader(raw)
        let nils = try reader.bitmap(.nils, of: entry, rows, "F-501")
        let externals = try reader.bitmap(.externals, of: entry, rows, "F-502")
        var body = SliceBody(
            kind: entry.kind, rows: rows, nils: nils, externals: externals, reader: reader)
        return switch entry.encoding {
        case .narrow: try body.narrow()
        case .sequence: try body.sequence()
        case .planes:
            try entry.kind == .double ? body.planes(of: UInt64.self) : body.planes(of: UInt32.self)
        case .scaled: try body.scaled()
        case .constant: try body.constant()
        case .lengths: try body.cells()
        case .dictionary: try body.dictionary()
        case .plain: try body.plain()
        case .packed, .packedDecimals, .packedBits, .texts, .symbols, .packedDictionary:
            try body.addressable(entry)
        }
    }
}

extension ByteReader {
    /// Reads one bit per row; the bits after the last row must be 0.
    mutating func bitmap(_ size: Int, _ rows: Int, _ rule: String)
        throws(FormatError) -> UnsafeRawBufferPointer
    {
        let bits = try take(size)
        guard bits[size - 1] >> UInt8((rows - 1) & 7) <= 1 else {
            throw FormatError(
                .malformed, rule, "a bitmap has bits after the last row", at: offset - 1)
        }
        return bits
    }
}
