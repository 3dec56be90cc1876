// Writes rows of a batch as a block frame, and their large values as frames before it.
//
//   1. Cells over the limit get value frames; the block has references to them instead.
//   2. The columns are encoded directly from the batch: nothing is copied before. A single row is encoded
//      cell by cell, because the work for many rows would cost ten times as much as the row itself.
//
// Threads: one owner at a time.

import CairnFormat
import CairnStore

/// A written block.
struct WrittenBlock {
    let place: Place
    /// The size of its frame, in bytes.
    let length: Int
    /// Its size before LZ4, in bytes.
    let rawLength: Int
    /// Whether some of its values have frames of their own.
    let hasReferences: Bool
}

/// Encodes blocks, reusing its memory.
struct RowBlockEncoder: ~Copyable {
    private var encoder = BlockEncoder()
    private var cell = ByteWriter(capacity: 64)
    private var flags = Flags()
    private var columns: [PlainColumn] = []
    private var cells = UnsafeMutableBufferPointer<RowCell>.allocate(capacity: 0)

    init() {}

    deinit { cells.deallocate() }

    /// Writes a block. Moved rows were in other blocks before.
    mutating func write(
        _ batch: ColumnBatch, entity: Catalog.StoredEntity, treeID: UInt32, schemaVersion: UInt32,
        rows: RowList, isMoved: Bool, sizes: StoreSizes, to log: inout LogWriter
    ) throws(StoreError) -> WrittenBlock {
        for index in batch.columns.indices where batch.columns[index].kind.isBytes {
            try writeLargeValues(
                &batch.columns[index], property: entity.allColumns[index].propertyID,
                treeID: treeID, rows, limit: sizes.largeValueBytes, to: &log)
        }
        if rows.count == 1 {
            return try writeRow(
                Int(rows.selection[0]), of: batch, entity: entity, schemaVersion: schemaVersion,
                number: rows.numbers[0], version: rows.versions[0], isMoved: isMoved, to: &log)
        }
        flags.gather(batch, rows.selection)
        columns.removeAll(keepingCapacity: true)
        for (index, column) in batch.columns.enumerated() {
            columns.append(
                .plain(
                    ColumnKind(column.kind), entity.allColumns[index].propertyID,
                    values: UnsafeRawPointer(column.values),
                    lengths: UnsafePointer(column.lengths), data: UnsafePointer(column.data),
                    nils: flags.nils(index), externals: flags.externals(index)))
        }
        if !entity.isInOrder { columns.sort { $0.propertyID < $1.propertyID } }
        var rawLength = 0
        let isPacking = log.segment.header.flags.allowsPackedColumns
        let place = try log.append(.block) { writer throws(StoreError) in
            do throws(FormatError) {
                rawLength = try rows.selection.withUnsafeBufferPointer {
                    selection throws(FormatError) in
                    try encoder.encode(
                        entity: entity.id, schemaVersion: schemaVersion, isMoved: isMoved,
                        isPacking: isPacking, columns: columns, rows: selection.count,
                        selection: selection.baseAddress, numbers: rows.numbers,
                        versions: rows.versions, into: &writer)
                }
            } catch {
                throw Self.tooLarge(error)
            }
        }
        return WrittenBlock(
            place: place, length: Int(log.end.offset) - place.byteOffset, rawLength: rawLength,
            hasReferences: flags.hasAnyExternals)
    }

    private mutating func writeRow(
        _ row: Int, of batch: ColumnBatch, entity: Catalog.StoredEntity, schemaVersion: UInt32,
        number: UInt32, version: UInt32, isMoved: Bool, to log: inout LogWriter
    ) throws(StoreError) -> WrittenBlock {
        if cells.count < batch.columns.count {
            cells.deallocate()
            cells = .allocate(capacity: batch.columns.count)
        }
        var count = 0
        var hasReferences = false
        for index in batch.columns.indices {
            let column = batch.columns.baseAddress.unsafelyUnwrapped + index
            if column.pointee.isNil(row: row) { continue }
            let kind = column.pointee.kind
            let property = entity.allColumns[index].propertyID
            guard kind.isBytes else {
                cells.initializeElement(
                    at: count,
                    to: RowCell(
                        ColumnKind(kind), property,
                        value: column.pointee.values + row * kind.width))
                count += 1
                continue
            }
            let isExternal = column.pointee.states[row] == ColumnBuffer.State.external
            if isExternal { hasReferences = true }
            let start = column.pointee.values.load(fromByteOffset: row &* 4, as: UInt32.self)
            cells.initializeElement(
                at: count,
                to: RowCell(
                    .bytes, property, value: column.pointee.data + Int(start),
                    count: Int(column.pointee.lengths[row]), isExternal: isExternal))
            count += 1
        }
        if !entity.isInOrder { cells[..<count].sort { $0.propertyID < $1.propertyID } }
        let given = UnsafeBufferPointer(rebasing: cells[..<count])
        var rawLength = 0
        let place = try log.append(.block) { writer throws(StoreError) in
            do throws(FormatError) {
                rawLength = try BlockEncoder.encodeRow(
                    entity: entity.id, schemaVersion: schemaVersion, isMoved: isMoved,
                    cells: given, number: number, version: version, into: &writer)
            } catch {
                throw Self.tooLarge(error)
            }
        }
        return WrittenBlock(
            place: place, length: Int(log.end.offset) - place.byteOffset, rawLength: rawLength,
            hasReferences: hasReferences)
    }

    /// Makes the payload of a block with the rows of another one: other versions, other values in some
    /// columns, and everything else copied as it is encoded. The values are those of the first rows of a
    /// batch, each set or nil, and none is large.
    ///
    /// - Returns: what was made: a patch, if not too much changes.
    mutating func rewrite(
        _ block: CachedBlock, _ replaced: [Int], of batch: ColumnBatch,
        entity: Catalog.StoredEntity, schemaVersion: UInt32, isPacking: Bool,
        versions: UnsafePointer<UInt32>, into writer: inout ByteWriter
    ) throws(StoreError) -> RewrittenPayload {
        flags.gather(batch, replaced, rows: block.rows)
        columns.removeAll(keepingCapacity: true)
        for (place, index) in replaced.enumerated() {
            let column = batch.columns[index]
            columns.append(
                .plain(
                    ColumnKind(column.kind), entity.allColumns[index].propertyID,
                    values: UnsafeRawPointer(column.values),
                    lengths: UnsafePointer(column.lengths), data: UnsafePointer(column.data),
                    nils: flags.nils(place)))
        }
        if !entity.isInOrder { columns.sort { $0.propertyID < $1.propertyID } }
        do throws(FormatError) {
            return try encoder.rewrite(
                block.stored, columns: columns, schemaVersion: schemaVersion,
                isPacking: isPacking, versions: versions, into: &writer)
        } catch {
            if error.code == .badChecksum { throw StoreError(error, at: block.place) }
            throw Self.tooLarge(error)
        }
    }

    private static func tooLarge(_ error: FormatError) -> StoreError {
        StoreError(.invalidRequest, "a block of rows cannot be written: \(error.what)")
    }

    private mutating func writeLargeValues(
        _ column: inout ColumnBuffer, property: UInt32, treeID: UInt32, _ rows: RowList,
        limit: Int, to log: inout LogWriter
    ) throws(StoreError) {
        for (slot, row) in rows.selection.enumerated() {
            let row = Int(row)
            guard Int(column.lengths[row]) > limit, column.hasValue(row),
                column.states[row] != ColumnBuffer.State.external
            else { continue }
            let value = column.bytes(row: row)
            var first = Place.none
            var offset = 0
            var sequence: UInt32 = 0
            while offset < value.count {
                let end = min(value.count, offset + ValuePayload.maximumPiece)
                let head = ValuePayload(
                    tree: treeID, number: rows.numbers[slot], property: property,
                    sequence: sequence, totalLength: UInt64(value.count),
                    pieceOffset: UInt64(offset))
                let place = try log.append(.value) { writer throws(StoreError) in
                    head.encode(
                        piece: UnsafeRawBufferPointer(rebasing: value[offset..<end]), to: &writer)
                }
                if sequence == 0 { first = place }
                sequence += 1
                offset = end
            }
            cell.reset()
            ValueReference(
                place: first, length: UInt64(value.count), checksum: Checksum.crc32c(value)
            ).encode(to: &cell)
            column.setBytes(cell.bytes, row: row)
            column.states[row] = ColumnBuffer.State.external
        }
    }

    /// Which cells are nil or references, one byte each.
    private struct Flags: ~Copyable {
        private var memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 0)
        private var capacity = 0
        private var rows = 0
        private var hasNils: [Bool] = []
        private var hasExternals: [Bool] = []

        deinit { memory.deallocate() }

        /// Examines the selected rows; the flags of others are undefined.
        mutating func gather(_ batch: ColumnBatch, _ selection: [UInt16]) {
            rows = batch.rows
            let needed = rows * batch.columns.count * 2
            if needed > capacity {
                memory.deallocate()
                capacity = max(needed, capacity * 2)
                memory = .allocate(capacity: capacity)
            }
            hasNils.removeAll(keepingCapacity: true)
            hasExternals.removeAll(keepingCapacity: true)
            for (index, column) in batch.columns.enumerated() {
                let nils = memory + index * rows * 2
                let externals = nils + rows
                var nilBits: UInt8 = 0
                var externalBits: UInt8 = 0
                // An untouched cell is nil without a default: then states 0 and 2 are nil, else only 2.
                let untouched: UInt8 = column.hasDefault ? 0 : 1
                for row in selection {
                    let row = Int(row)
                    let state = column.states[row]
                    let isNil: UInt8 =
                        state == ColumnBuffer.State.null
                        ? 1 : state == ColumnBuffer.State.untouched ? untouched : 0
                    let isExternal: UInt8 = state == ColumnBuffer.State.external ? 1 : 0
                    nils[row] = isNil
                    externals[row] = isExternal
                    nilBits |= isNil
                    externalBits |= isExternal
                }
                hasNils.append(nilBits != 0)
                hasExternals.append(externalBits != 0)
            }
        }

        /// Examines the first rows of some columns, in which no cell is untouched or a reference.
        mutating func gather(_ batch: ColumnBatch, _ columns: [Int], rows: Int) {
            self.rows = rows
            let needed = rows * columns.count * 2
            if needed > capacity {
                memory.deallocate()
                capacity = max(needed, capacity * 2)
                memory = .allocate(capacity: capacity)
            }
            hasNils.removeAll(keepingCapacity: true)
            hasExternals.removeAll(keepingCapacity: true)
            for (place, index) in columns.enumerated() {
                let states = batch.columns[index].states
                let nils = memory + place * rows * 2
                let null = ColumnBuffer.State.null
                var bits: UInt8 = 0
                for row in 0..<rows {
                    let isNil: UInt8 = states[row] == null ? 1 : 0
                    nils[row] = isNil
                    bits |= isNil
                }
                hasNils.append(bits != 0)
                hasExternals.append(false)
            }
        }

        var hasAnyExternals: Bool { hasExternals.contains(true) }

        func nils(_ column: Int) -> UnsafePointer<UInt8>? {
            hasNils[column] ? UnsafePointer(memory + column * rows * 2) : nil
        }

        func externals(_ column: Int) -> UnsafePointer<UInt8>? {
            hasExternals[column] ? UnsafePointer(memory + column * rows * 2 + rows) : nil
        }
    }
}

extension ColumnKind {
    /// How the values of a column are stored.
    @inline(__always)
    fileprivate init(_ kind: ColumnBuffer.Kind) {
        switch kind {
        case .integer: self = .integer
        case .double: self = .double
        case .float: self = .float
        case .bytes: self = .bytes
        case .fixed16: self = .fixed16
        }
    }
}
