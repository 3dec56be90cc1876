// A block as it is stored, with other values in some of its columns.                       Format 40
//
//   1. Slices of columns that stay are copied as they lie in the payload, compressed and with their checksums, which are not
//      asked: damage in one stays what it was, and is found when the column is read.
//   2. Columns that are replaced, and the row versions, are encoded as in any block.
//   3. Head and table are made anew.
//
// Threads: as the encoder.

extension BlockEncoder {
    /// Appends the payload of a block that has the rows of another one, in their order; gives the bytes of all slices before
    /// LZ4.
    /// - Parameters:
    ///   - head: the other one's head.
    ///   - payload: its whole payload.
    ///   - columns: what is replaced, or comes in addition: in rising order of property ids, a value for each row.
    ///   - schemaVersion: the other one's, unless no property has changed since.
    ///   - versions: the row version of each row.
    /// - Throws: `FormatError` with `.tooLarge` if slices or payload exceed 16 MiB.  (F-303, F-406)
    package mutating func rewrite(
        _ head: BlockHead, _ payload: UnsafeRawBufferPointer, columns: [PlainColumn],
        schemaVersion: UInt32, versions: UnsafePointer<UInt32>, into writer: inout ByteWriter
    ) throws(FormatError) -> (rawLength: Int, hasReferences: Bool) {
        var own = ByteWriter(capacity: 0)
        swap(&own, &staging)
        defer { swap(&own, &staging) }
        own.reset()
        /// The table, and where each slice is: in the payload, or among the new ones.
        var slices: [(entry: ColumnEntry, isNew: Bool, range: Range<Int>)] = []
        slices.reserveCapacity(head.columns.count + columns.count)
        var rawLength = 0
        var next = 0
        for entry in head.columns.dropLast() {
            while next < columns.count, columns[next].propertyID <= entry.propertyID {
                precondition(
                    next == 0 || columns[next - 1].propertyID < columns[next].propertyID,
                    "columns are in order")
                let start = own.count
                if let new = try encode(
                    columns[next], rows: head.rows, selection: nil, rawBefore: rawLength, into: &own
                ) {
                    slices.append((new, true, start..<own.count))
                    rawLength += new.rawLength
                }
                next += 1
            }
            if next > 0, columns[next - 1].propertyID == entry.propertyID { continue }
            slices.append((entry, false, entry.range))
            rawLength += entry.rawLength
        }
        precondition(next == columns.count, "hidden columns come last")
        hidden.reset()
        let version = try encodeHidden(
            HiddenProperty.version, versions, rows: head.rows, rawBefore: rawLength)
        rawLength += version.rawLength
        guard rawLength <= FormatLimits.maximumRawBlock else {
            throw SliceCompressor.tooLarge(rawLength, 0)
        }
        let start = writer.count
        let length =
            BlockHead.size + (slices.count + 1) * ColumnEntry.size
            + slices.reduce(0) { $0 + $1.range.count } + hidden.count
        guard length <= FormatLimits.maximumPayload else {
            throw FormatError(
                .tooLarge, "F-303", "a block does not fit a frame",
                expected: UInt64(FormatLimits.maximumPayload), found: UInt64(length))
        }
        writer.ensure(length)
        writer.append(head.entity)
        writer.append(schemaVersion)
        writer.append(UInt16(head.rows))
        writer.append(UInt16(slices.count + 1))
        writer.append(UInt16(0))
        writer.append(UInt16(0))
        writer.append(UInt32(rawLength))
        writer.append(UInt32(0))
        for slice in slices { slice.entry.store(into: writer.reserve(ColumnEntry.size)) }
        version.store(into: writer.reserve(ColumnEntry.size))
        let checksum = BlockHead.checksum(UnsafeRawBufferPointer(rebasing: writer.bytes[start...]))
        writer.store(checksum, at: start + BlockHead.size - 4)
        for slice in slices {
            writer.append(
                UnsafeRawBufferPointer(rebasing: (slice.isNew ? own.bytes : payload)[slice.range]))
        }
        writer.append(hidden.bytes)
        return (rawLength, slices.contains { $0.entry.flags.contains(.externals) })
    }
}
