// Single cells of a block, read from its stored bytes.
//
// A column whose cells can be read individually (Format 50.13) is never decoded for that: only its checksum
// is verified, once. For any other column, the decoded column is read in the same way.

package import CairnFormat
package import CairnStore
import Synchronization

extension CachedBlock {
    /// Reads single cells of a column; valid as long as the block is retained.
    ///
    /// - Parameter place: the column's position among those of its entity, which is usually its position in
    ///   the block.
    @inline(__always)
    package func reader(_ column: Catalog.StoredColumn, at place: Int) throws(StoreError)
        -> CellReader
    {
        guard let index = index(of: column.propertyID, near: place) else {
            return try missingReader(column)
        }
        let entry = head.columns[index]
        if entry.kind == column.kind.stored,
            column.past == nil || isAsStored(entry, column)
        {
            return try reader(index)
        }
        return try madeReader(column)
    }

    /// The same for all columns of the block's entity, in its order.
    ///
    /// - Parameter version: the version of the catalog that has these columns.
    @inline(__always)
    func allReaders(_ columns: [Catalog.StoredColumn], version: UInt32) throws(StoreError)
        -> UnsafePointer<CellReader>
    {
        if let list = readerLists[version] { return list }
        return try gatherReaders(columns, version)
    }

    @inline(never)
    private func gatherReaders(_ columns: [Catalog.StoredColumn], _ version: UInt32)
        throws(StoreError) -> UnsafePointer<CellReader>
    {
        try readerLists.add(version, count: columns.count) { index throws(StoreError) in
            try reader(columns[index], at: index)
        }
    }

    /// Whether a nil in the block's column is read as nil.
    @inline(never)
    private func isAsStored(_ entry: ColumnEntry, _ column: Catalog.StoredColumn) -> Bool {
        !entry.flags.contains(.nils)
            || column.past?.value(forNilIn: head.schemaVersion).isNull ?? true
    }

    @inline(never)
    private func missingReader(_ column: Catalog.StoredColumn) throws(StoreError) -> CellReader {
        if column.past != nil, let cells = try self.column(column) { return CellReader(cells) }
        return CellReader(allNil: column.kind.stored)
    }

    @inline(never)
    private func madeReader(_ column: Catalog.StoredColumn) throws(StoreError) -> CellReader {
        guard let cells = try self.column(column) else {
            return CellReader(allNil: column.kind.stored)
        }
        return CellReader(cells)
    }

    /// A reader of the object numbers.
    func numberReader() throws(StoreError) -> CellReader {
        CellReader(try numbers())
    }

    /// Whether this many rows of it are read individually: for a few rows that costs less than decoding the
    /// columns, unless these are decoded already.
    func readsAlone(_ rows: Int) -> Bool {
        !hasDecoded && head.isPacked && rows * Self.fewRows < self.rows
    }

    /// Whether the next rows are read individually, if rows are requested one after another and their number
    /// is unknown: until as much was read as decoding the columns costs.
    func readsNextAlone(_ rows: Int = 1) -> Bool {
        readsAlone(rowsReadAlone.wrappingAdd(rows, ordering: .relaxed).newValue)
    }

    private static let fewRows = 16

    // MARK: Cells

    /// The stored bytes of a cell.
    @inline(__always)
    func stored(_ cells: UnsafePointer<CellReader>, _ row: Int) throws(StoreError)
        -> UnsafeRawBufferPointer
    {
        do throws(FormatError) {
            return try cells.pointee.stored(row)
        } catch {
            throw StoreError(error, at: place)
        }
    }

    /// Whether a cell that is not nil has these bytes, wherever they are stored.
    @inline(__always)
    func hasBytes(_ cells: CellReader, _ row: Int, _ bytes: UnsafeRawBufferPointer)
        throws(StoreError) -> Bool
    {
        if cells.isExternal(row) {
            let value = try largeBytes(cells, row)
            return value.count == bytes.count
                && value.withUnsafeBytes { compareCells($0, bytes) == 0 }
        }
        guard let has = cells.hasBytes(row, bytes) else { throw badCell(cells, row) }
        return has
    }

    /// The error for a cell that cannot be read.
    @inline(never)
    func badCell(_ cells: CellReader, _ row: Int) -> StoreError {
        StoreError(cells.badCell(row), at: place)
    }

    @inline(never)
    func badCell(_ cells: UnsafePointer<CellReader>, _ row: Int) -> StoreError {
        badCell(cells.pointee, row)
    }

    /// Reads a value that has frames of its own.
    @inline(never)
    func largeBytes(_ cells: CellReader, _ row: Int) throws(StoreError) -> [UInt8] {
        try withUnsafePointer(to: cells) { cells throws(StoreError) in
            try large(stored(cells, row))
        }
    }

    /// The string of a cell that is not nil.
    @inline(never)
    func text(_ cells: CellReader, _ row: Int) throws(StoreError) -> String {
        if cells.isExternal(row) {
            return String(decoding: try largeBytes(cells, row), as: UTF8.self)
        }
        guard let stored = cells.bytes(row) else { throw badCell(cells, row) }
        guard case .symbols = cells.form else { return String(decoding: stored, as: UTF8.self) }
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: CellReader.mostBytes(stored) + 8, alignment: 8)
        defer { room.deallocate() }
        guard let target = room.baseAddress, let count = cells.expand(stored, into: target) else {
            throw badCell(cells, row)
        }
        return String(decoding: UnsafeRawBufferPointer(rebasing: room[..<count]), as: UTF8.self)
    }
}
