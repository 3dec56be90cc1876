// Reads whole rows of a block: as raw cells for an object, or as values for a decision.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// Reads rows of blocks of one entity.
struct RowReader {
    let catalog: Catalog
    let identity: StoreIdentity
    let entity: Int

    /// Prefetches a row, all of it at once.
    static func prefetch(
        _ columns: [Catalog.StoredColumn], _ catalog: Catalog, _ block: CachedBlock, _ row: Int
    ) throws(StoreError) {
        let cells = try block.allReaders(columns, version: catalog.version)
        for index in 0..<columns.count { cells[index].prefetch(row) }
        for index in 0..<columns.count { cells[index].prefetchBytes(row) }
        for index in 0..<columns.count { cells[index].prefetchEntry(row) }
    }

    /// The raw cells of a row.
    func cells(_ block: CachedBlock, _ row: Int, _ builder: inout RowCellsBuilder)
        throws(StoreError) -> RowCells
    {
        try Self.cells(catalog.entities[entity].columns, catalog, block, row, &builder)
    }

    /// The same for a caller that has the columns.
    static func cells(
        _ columns: [Catalog.StoredColumn], _ catalog: Catalog, _ block: CachedBlock, _ row: Int,
        _ builder: inout RowCellsBuilder
    ) throws(StoreError) -> RowCells {
        let cells = try block.allReaders(columns, version: catalog.version)
        for index in 0..<columns.count { try put(index, cells + index, block, row, &builder) }
        return builder.finish()
    }

    @inline(__always)
    private static func put(
        _ index: Int, _ column: UnsafePointer<CellReader>, _ block: CachedBlock, _ row: Int,
        _ builder: inout RowCellsBuilder
    ) throws(StoreError) {
        let cells = column.pointee
        if cells.isNil(row) { return }
        switch cells.kind {
        case .integer: builder.set(index, word: UInt64(bitPattern: cells.integer(row)))
        case .double: builder.set(index, word: cells.double(row).bitPattern)
        case .float: builder.set(index, word: UInt64(cells.float(row).bitPattern))
        case .fixed16: builder.set(index, bytes: cells.fixed16(row))
        case .bytes:
            if cells.isExternal(row) {
                let value = try block.largeBytes(cells, row)
                return value.withUnsafeBytes { builder.set(index, bytes: $0) }
            }
            guard let stored = cells.bytes(row) else { throw block.badCell(cells, row) }
            guard case .symbols = cells.form else { return builder.set(index, bytes: stored) }
            var isGood = true
            builder.set(index, upTo: CellReader.mostBytes(stored) + 8) { target in
                guard let count = cells.expand(stored, into: target) else {
                    isGood = false
                    return 0
                }
                return count
            }
            guard isGood else { throw block.badCell(cells, row) }
        }
    }

    /// The order keys of a row; empty if its entity has none.
    func orderKeys(_ block: CachedBlock, _ row: Int) throws(StoreError) -> [Int64?] {
        let orders = catalog.entities[entity].orders
        if orders.isEmpty { return [] }
        var keys: [Int64?] = []
        let columns = catalog.entities[entity].columns.count
        for (index, order) in orders.enumerated() {
            let cells = try block.reader(order.column, at: columns + index)
            keys.append(cells.isNil(row) ? nil : cells.integer(row))
        }
        return keys
    }

    /// The values of a row, by column.
    func values(_ block: CachedBlock, _ row: Int) throws(StoreError) -> [Value] {
        let stored = catalog.entities[entity]
        var builder = RowCellsBuilder(columns: stored.columns.count)
        let cells = try cells(block, row, &builder)
        let entity = catalog.description(of: self.entity)
        return entity.columns.indices.map { cells.value($0, of: entity, in: identity) }
    }
}
