// A block in memory: its bytes as they are stored, and the columns that were asked for.
//
// A column is decoded when it is first asked for, once, and kept as long as the block is.
// Threads: any; the decoded columns are behind a lock.

import CairnFormat
import CairnStore
import Synchronization

/// A block of rows that can be read.
final class CachedBlock: Sendable {
    let place: Place
    let head: BlockHead
    let rows: Int
    private let payload: RawBytes
    private let decoded: Mutex<[DecodedColumn?]>
    private let largeValues: LargeValueReader

    /// Reads the head of a block's payload.
    ///
    /// - Throws: `StoreError` with `.damaged` and the place.
    init(payload: RawBytes, place: Place, largeValues: LargeValueReader) throws(StoreError) {
        do {
            head = try BlockHead(decoding: payload.bytes)
        } catch {
            throw StoreError(error, at: place)
        }
        self.payload = payload
        self.place = place
        self.largeValues = largeValues
        rows = head.rows
        decoded = Mutex(Array(repeating: nil, count: head.columns.count))
    }

    /// What the block takes in memory once its columns are decoded, about.
    var cost: Int { payload.count + head.rawLength + 256 }

    /// The cells of a column; nil if the block does not have it, so that every row is nil.
    func column(_ column: Catalog.StoredColumn) throws(StoreError) -> DecodedColumn? {
        guard let cells = try self.column(propertyID: column.propertyID) else { return nil }
        guard cells.kind.rawValue == column.kind.rawValue + 1 else {
            throw .damaged(
                "a column has not the kind of its property (F-415)", segment: place.segment,
                offset: UInt64(place.byteOffset))
        }
        return cells
    }

    /// The cells of a column by its property id.
    func column(propertyID: UInt32) throws(StoreError) -> DecodedColumn? {
        guard let index = head.columns.firstIndex(where: { $0.propertyID == propertyID }) else {
            return nil
        }
        if let known = decoded.withLock({ $0[index] }) { return known }
        let column: DecodedColumn
        do {
            let entry = head.columns[index]
            column = try DecodedColumn.decode(
                slice: UnsafeRawBufferPointer(rebasing: payload.bytes[entry.range]), entry,
                rows: rows)
        } catch {
            throw StoreError(error, at: place)
        }
        decoded.withLock { $0[index] = column }
        return column
    }

    /// The object numbers of the rows.
    func numbers() throws(StoreError) -> DecodedColumn { try hidden(HiddenProperty.number) }

    /// The row versions.
    func versions() throws(StoreError) -> DecodedColumn { try hidden(HiddenProperty.version) }

    private func hidden(_ property: UInt32) throws(StoreError) -> DecodedColumn {
        guard let column = try column(propertyID: property), column.kind == .integer,
            column.nils == nil
        else {
            throw .damaged(
                "a block lacks its hidden columns", segment: place.segment,
                offset: UInt64(place.byteOffset))
        }
        return column
    }

    /// A value that has frames of its own, by the reference in its cell.
    func large(
        _ reference: UnsafeRawBufferPointer, owner: LargeValueReader.Owner? = nil
    ) throws(StoreError) -> [UInt8] {
        try largeValues.read(reference, from: place, owner: owner)
    }

    /// The bytes of a cell, wherever they are.
    func withBytes<R>(
        _ cells: DecodedColumn, _ row: Int, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(StoreError) -> R {
        if cells.isExternal(at: row) {
            let bytes = try large(cells.cell(row))
            return bytes.withUnsafeBytes { body($0) }
        }
        return body(cells.cell(row))
    }
}

extension DecodedColumn {
    /// An object number or row version. Numbers out of range were refused when the block was registered.
    @inline(__always) func number(_ row: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: integer(at: row))
    }

    /// The bytes of a cell of text, bytes or a UUID.
    @inline(__always) func cell(_ row: Int) -> UnsafeRawBufferPointer {
        kind == .fixed16 ? fixed16(at: row) : bytes(at: row)
    }
}

extension StoreError {
    /// Bytes that break the format, at the place of their frame.
    init(_ error: FormatError, at place: Place) {
        self = .damaged(
            "\(error.what) (\(error.rule))", segment: place.segment,
            offset: UInt64(place.byteOffset))
    }
}
