// A stored block with new values in some of its columns: as a patch, or as a whole.             Format 40, 45
//
//   1. Replaced columns and the row versions are encoded as in any block. A column that the block has and
//      that is now nil in every row is explicit in a patch, because the patch would borrow it otherwise.
//      (F-456)
//   2. A new patch also contains those columns of an earlier patch that are not replaced: there is no patch
//      of a patch.
//   3. If all that is at most half of the block, and the schema version is the same, it is written as a
//      patch. Otherwise all other slices are copied as well, which frees the block that they were borrowed
//      from.
//   4. Slices are copied as they are in the payload, compressed and with their checksums, which are verified:
//      damage must not get a new frame around it.
//   5. Head and table are rebuilt.
//
// Threads: as the encoder.

/// A stored block that can be rewritten.
package struct StoredBlock {
    /// The stored head; for a patch, joined with the head of its base block.
    package let head: BlockHead
    /// The whole payload.
    package let payload: UnsafeRawBufferPointer
    /// For a patch, the whole payload of its base block; otherwise nil.
    package let basePayload: UnsafeRawBufferPointer?
    /// The base block of a patch of this block.
    package let base: Place

    package init(
        head: BlockHead, payload: UnsafeRawBufferPointer, basePayload: UnsafeRawBufferPointer?,
        base: Place
    ) {
        self.head = head
        self.payload = payload
        self.basePayload = basePayload
        self.base = base
    }
}

/// The result of rewriting a block.
package struct RewrittenPayload {
    /// The size of all slices of its rows before LZ4, in bytes.
    package let rawLength: Int
    /// Whether some cells of its rows are references to large values.
    package let hasReferences: Bool
    /// For a patch, the stored bytes of the slices that it borrows; otherwise nil.
    package let borrowedBytes: Int?

    /// The kind of the frame.
    package var kind: FrameKind { borrowedBytes == nil ? .block : .patch }
}

extension BlockEncoder {
    private enum Source { case new, own, base }

    private struct Slice {
        let entry: ColumnEntry
        let source: Source
        let range: Range<Int>
        /// Whether no row has a value; a patch must contain the column then.
        var isEmpty = false
    }

    /// Appends the payload of a block, or of a patch, with the rows of a block, in their order.
    ///
    /// - Parameters:
    ///   - block: the block.
    ///   - columns: the columns that are replaced or added: in ascending order of property ids, a value for
    ///     each row.
    ///   - schemaVersion: the block's, unless no property has changed since. A patch has the block's.
    ///   - isPacking: whether columns may be packed, which the segment must declare.
    ///   - versions: the row version of each row.
    /// - Throws: `FormatError` with `.tooLarge` if slices or payload exceed 16 MiB (F-303, F-406), or with
    ///   `.badChecksum` if a copied slice is damaged.
    package mutating func rewrite(
        _ block: StoredBlock, columns: [PlainColumn], schemaVersion: UInt32,
        isPacking: Bool = false, versions: UnsafePointer<UInt32>, into writer: inout ByteWriter
    ) throws(FormatError) -> RewrittenPayload {
        let head = block.head
        self.isPacking = isPacking
        var own = ByteWriter(capacity: 0)
        swap(&own, &staging)
        defer { swap(&own, &staging) }
        own.reset()
        var slices: [Slice] = []
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
                    slices.append(Slice(entry: new, source: .new, range: start..<own.count))
                    rawLength += new.rawLength
                } else if columns[next].propertyID == entry.propertyID {
                    let empty = try encodeEmpty(
                        columns[next], rows: head.rows, rawBefore: rawLength, into: &own)
                    slices.append(
                        Slice(entry: empty, source: .new, range: start..<own.count, isEmpty: true))
                    rawLength += empty.rawLength
                }
                next += 1
            }
            if next > 0, columns[next - 1].propertyID == entry.propertyID { continue }
            let source: Source = entry.isBorrowed || block.basePayload == nil ? .base : .own
            slices.append(Slice(entry: entry, source: source, range: entry.range))
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
        var (brought, borrowed) = (hidden.count, 0)
        for slice in slices {
            if slice.source == .base {
                borrowed += slice.range.count
            } else {
                brought += slice.range.count
            }
        }
        let isPatch = brought <= borrowed && schemaVersion == head.schemaVersion
        if isPatch {
            PatchHead.encode(
                base: block.base, borrowedBytes: borrowed,
                borrowsReferences: slices.contains {
                    $0.source == .base && $0.entry.flags.contains(.externals)
                }, to: &writer)
        }
        let hasReferences = slices.contains { $0.entry.flags.contains(.externals) }
        slices.removeAll { isPatch ? $0.source == .base : $0.isEmpty }
        if !isPatch {
            rawLength = slices.reduce(version.rawLength) { $0 + $1.entry.rawLength }
        }
        try append(
            slices, version, of: head, schemaVersion: schemaVersion,
            behind: isPatch ? PatchHead.size : 0, new: own.bytes, own: block.payload,
            base: block.basePayload ?? block.payload, to: &writer)
        return RewrittenPayload(
            rawLength: rawLength, hasReferences: hasReferences,
            borrowedBytes: isPatch ? borrowed : nil)
    }

    /// Appends head, table and slices.
    private func append(
        _ slices: [Slice], _ version: ColumnEntry, of head: BlockHead, schemaVersion: UInt32,
        behind prefix: Int, new: UnsafeRawBufferPointer, own: UnsafeRawBufferPointer,
        base: UnsafeRawBufferPointer, to writer: inout ByteWriter
    ) throws(FormatError) {
        let start = writer.count
        let length =
            BlockHead.size + (slices.count + 1) * ColumnEntry.size
            + slices.reduce(0) { $0 + $1.range.count } + hidden.count
        guard prefix + length <= FormatLimits.maximumPayload else {
            throw FormatError(
                .tooLarge, "F-303", "a block does not fit a frame",
                expected: UInt64(FormatLimits.maximumPayload), found: UInt64(prefix + length))
        }
        writer.ensure(length)
        writer.append(head.entity)
        writer.append(schemaVersion)
        writer.append(UInt16(head.rows))
        writer.append(UInt16(slices.count + 1))
        writer.append(UInt16(0))
        writer.append(UInt16(0))
        writer.append(UInt32(slices.reduce(version.rawLength) { $0 + $1.entry.rawLength }))
        writer.append(UInt32(0))
        for slice in slices { slice.entry.store(into: writer.reserve(ColumnEntry.size)) }
        version.store(into: writer.reserve(ColumnEntry.size))
        let checksum = BlockHead.checksum(UnsafeRawBufferPointer(rebasing: writer.bytes[start...]))
        writer.store(checksum, at: start + BlockHead.size - 4)
        for slice in slices {
            let bytes =
                switch slice.source {
                case .new: new
                case .own: own
                case .base: base
                }
            if slice.source != .new {
                try slice.entry.verify(UnsafeRawBufferPointer(rebasing: bytes[slice.range]))
            }
            writer.append(UnsafeRawBufferPointer(rebasing: bytes[slice.range]))
        }
        writer.append(hidden.bytes)
    }

    /// Encodes a column in which no row has a value.
    private mutating func encodeEmpty(
        _ column: PlainColumn, rows: Int, rawBefore: Int, into target: inout ByteWriter
    ) throws(FormatError) -> ColumnEntry {
        raw.reset()
        scratch.nils.update(repeating: 1, count: rows)
        raw.appendBitmap(UnsafePointer(scratch.nils), rows)
        let encoding: ColumnEncoding
        switch column.kind {
        case .integer:
            encoding = .narrow
            raw.appendZeros(NarrowIntegers.headSize)
        case .double:
            encoding = .scaled
            raw.appendZeros(1 + NarrowIntegers.headSize)
        case .float:
            encoding = .planes
            raw.appendZeros(4 * rows)
        case .bytes:
            encoding = .lengths
            raw.appendZeros(5)
        case .fixed16:
            encoding = .plain
            raw.appendZeros(16 * rows)
        }
        return try SliceCompressor.append(
            raw.bytes, propertyID: column.propertyID, kind: column.kind, encoding: encoding,
            flags: .nils, rows: rows, rawBefore: rawBefore, to: &target)
    }
}
