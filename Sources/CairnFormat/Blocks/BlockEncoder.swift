// Encodes plain columns as the payload of a block frame.                                     Format 40 and 50
//
//   1. `stage` encodes the user's columns: it requires no object numbers, so it runs before the commit takes
//      the write lock. For each column it gathers the selected rows into scratch memory, omits a column
//      without any value, and uses the smallest encoding that is quick to find.
//   2. Each slice is compressed separately if that saves an eighth. (F-411, F-413)
//   3. `finish` adds the slices of numbers and versions, the head and its checksum.
//
// `encode` does all of this in one call.
//
// Invariants: scratch holds 1,024 rows; no call reads data of an earlier call.
// Threads: one owner; encoders of their own work in parallel.

/// The columns of a block that still lacks numbers and versions. They are in the writer passed to `stage`.
package struct StagedBlock: Sendable {
    package let rows: Int
    /// The size of all slices before LZ4, in bytes; compared with `FormatLimits.nominalRawBlock`.
    package let rawLength: Int
    let columnCount: Int
    let table: Int
    let slices: Int
    let end: Int
}

package struct BlockEncoder: ~Copyable, @unchecked Sendable {
    // This value owns the scratch memory exclusively, and cannot be copied.

    /// One slice before LZ4.
    var raw = ByteWriter(capacity: 64 << 10)
    let scratch = EncoderScratch()
    var staging = ByteWriter(capacity: 64 << 10)
    var hidden = ByteWriter(capacity: 4096)
    /// Whether columns may be packed.                                                                 F-570
    var isPacking = false
    /// The codes that `packBytes` computes, and the symbols of known properties.
    var symbolCodes = ByteWriter(capacity: 4096)
    var symbolEncoders: [UInt32: SymbolEncoder] = [:]
    static let mostSymbolEncoders = 64
    /// Longer strings are left to LZ4.
    static let mostSymbolBytes = 1 << 20

    package init() {}

    deinit {
        scratch.deallocate()
    }

    /// Encodes the columns of a block, and appends them to `staging`.
    ///
    /// - Parameters:
    ///   - columns: in ascending order of property ids; absent ones are nil in every row.
    ///   - rows: the number of rows of the block, from 1 to 1,024.
    ///   - selection: the rows of the columns to take, in this order; nil: the first ones.
    /// - Throws: `FormatError` with `.tooLarge` if the slices exceed 16 MiB. (F-406)
    package mutating func stage(
        columns: [PlainColumn], rows: Int, selection: UnsafePointer<UInt16>? = nil,
        into staging: inout ByteWriter
    ) throws(FormatError) -> StagedBlock {
        precondition(rows >= 1 && rows <= FormatLimits.maximumRows, "a block has 1 to 1,024 rows")
        let table = staging.count
        staging.appendZeros(columns.count * ColumnEntry.size)
        let slices = staging.count
        var rawLength = 0
        var columnCount = 0
        var previous: UInt32 = 0
        for (index, column) in columns.enumerated() {
            precondition(
                (index == 0 || previous < column.propertyID)
                    && column.propertyID < FormatLimits.firstHiddenProperty,
                "columns are in order and not hidden")
            previous = column.propertyID
            guard
                let entry = try encode(
                    column, rows: rows, selection: selection, rawBefore: rawLength, into: &staging)
            else { continue }
            if let base = staging.mutableBytes.baseAddress {
                entry.store(into: base + table + columnCount * ColumnEntry.size)
            }
            columnCount += 1
            rawLength += entry.rawLength
        }
        return StagedBlock(
            rows: rows, rawLength: rawLength, columnCount: columnCount, table: table,
            slices: slices,
            end: staging.count)
    }

    /// Appends the payload of a block frame; returns the size of all slices before LZ4, in bytes.
    ///
    /// - Parameters:
    ///   - staged: the result of `stage`, still unchanged in `staging`.
    ///   - numbers: the object number of each row.
    ///   - versions: the row version of each row.
    /// - Throws: `FormatError` with `.tooLarge` if slices or payload exceed 16 MiB. (F-303, F-406)
    @discardableResult
    package mutating func finish(
        _ staged: StagedBlock, in staging: borrowing ByteWriter, entity: UInt32,
        schemaVersion: UInt32, isMoved: Bool = false, numbers: UnsafePointer<UInt32>,
        versions: UnsafePointer<UInt32>, into writer: inout ByteWriter
    ) throws(FormatError) -> Int {
        precondition(entity != 0, "entities are numbered from 1")
        hidden.reset()
        let first = try encodeHidden(
            HiddenProperty.number, numbers, rows: staged.rows, rawBefore: staged.rawLength)
        let second = try encodeHidden(
            HiddenProperty.version, versions, rows: staged.rows,
            rawBefore: staged.rawLength + first.rawLength)
        let start = writer.count
        let length =
            BlockHead.size + (staged.columnCount + 2) * ColumnEntry.size
            + (staged.end - staged.slices) + hidden.count
        guard length <= FormatLimits.maximumPayload else {
            throw FormatError(
                .tooLarge, "F-303", "a block does not fit a frame",
                expected: UInt64(FormatLimits.maximumPayload), found: UInt64(length))
        }
        writer.ensure(length)
        writer.append(entity)
        writer.append(schemaVersion)
        writer.append(UInt16(staged.rows))
        writer.append(UInt16(staged.columnCount + 2))
        writer.append(isMoved ? BlockHead.movedFlag : 0)
        writer.append(UInt16(0))
        let rawLength = staged.rawLength + first.rawLength + second.rawLength
        writer.append(UInt32(rawLength))
        writer.append(UInt32(0))
        writer.append(
            UnsafeRawBufferPointer(
                rebasing: staging.bytes[
                    staged.table..<staged.table + staged.columnCount * ColumnEntry.size]))
        first.store(into: writer.reserve(ColumnEntry.size))
        second.store(into: writer.reserve(ColumnEntry.size))
        let checksum = BlockHead.checksum(UnsafeRawBufferPointer(rebasing: writer.bytes[start...]))
        writer.store(checksum, at: start + BlockHead.size - 4)
        writer.append(UnsafeRawBufferPointer(rebasing: staging.bytes[staged.slices..<staged.end]))
        writer.append(hidden.bytes)
        return rawLength
    }

    /// Appends the payload of a block frame in one step; see `stage` and `finish`.
    ///
    /// - Parameter isPacking: whether columns may be packed, which the segment must declare.
    @discardableResult
    package mutating func encode(
        entity: UInt32, schemaVersion: UInt32, isMoved: Bool = false, isPacking: Bool = false,
        columns: [PlainColumn], rows: Int, selection: UnsafePointer<UInt16>? = nil,
        numbers: UnsafePointer<UInt32>, versions: UnsafePointer<UInt32>,
        into writer: inout ByteWriter
    ) throws(FormatError) -> Int {
        self.isPacking = isPacking
        var own = ByteWriter(capacity: 0)
        swap(&own, &staging)
        defer { swap(&own, &staging) }
        own.reset()
        let staged = try stage(columns: columns, rows: rows, selection: selection, into: &own)
        return try finish(
            staged, in: own, entity: entity, schemaVersion: schemaVersion, isMoved: isMoved,
            numbers: numbers, versions: versions, into: &writer)
    }

    /// Encodes one column; returns nil if no row has a value.
    mutating func encode(
        _ column: PlainColumn, rows: Int, selection: UnsafePointer<UInt16>?, rawBefore: Int,
        into target: inout ByteWriter
    ) throws(FormatError) -> ColumnEntry? {
        let nilCount = scratch.gatherNils(column.nils, selection, rows)
        if nilCount == rows { return nil }
        let nils = nilCount > 0 ? UnsafePointer(scratch.nils) : nil
        raw.reset()
        var flags: ColumnFlags = []
        if let nils {
            flags.insert(.nils)
            raw.appendBitmap(nils, rows)
        }
        let packs = isPacking && rows >= FormatLimits.minimumRowsToCompress
        let encoding: ColumnEncoding
        var expandedBytes = 0
        switch column.kind {
        case .integer:
            let values = scratch.gather(
                column.values.assumingMemoryBound(to: Int64.self), nils, selection, rows)
            encoding =
                packs ? packIntegers(values, rows, nils) : encodeIntegers(values, rows, nils)
        case .double:
            let values = scratch.gather(
                column.values.assumingMemoryBound(to: UInt64.self), nils, selection, rows)
            encoding = packs ? packDoubles(values, rows, nils) : encodeDoubles(values, rows, nils)
        case .float:
            let values = scratch.gather(
                column.values.assumingMemoryBound(to: UInt32.self), nils, selection, rows)
            encoding = packs ? packFloats(values, rows, nils) : encodeFloats(values, rows, nils)
        case .fixed16:
            encoding = encodeFixed(column.values, rows, nils, selection)
        case .bytes:
            (encoding, expandedBytes) = try encodeBytes(
                column, rows, nils, selection, rawBefore, packs: packs, &flags)
        }
        return try SliceCompressor.append(
            raw.bytes, expandedBytes: expandedBytes, propertyID: column.propertyID,
            kind: column.kind, encoding: encoding, flags: flags, rows: rows, rawBefore: rawBefore,
            to: &target)
    }

    mutating func encodeHidden(
        _ property: UInt32, _ values: UnsafePointer<UInt32>, rows: Int, rawBefore: Int
    ) throws(FormatError) -> ColumnEntry {
        let wide = scratch.widen(values, rows)
        raw.reset()
        let encoding =
            isPacking && rows >= FormatLimits.minimumRowsToCompress
            ? packIntegers(wide, rows, nil) : encodeIntegers(wide, rows, nil)
        return try SliceCompressor.append(
            raw.bytes, propertyID: property, kind: .integer, encoding: encoding, flags: [],
            rows: rows, rawBefore: rawBefore, to: &hidden)
    }
}
