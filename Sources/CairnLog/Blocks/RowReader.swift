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

    /// The raw cells of a row.
    func cells(_ block: CachedBlock, _ row: Int, _ builder: inout RowCellsBuilder)
        throws(StoreError) -> RowCells
    {
        for (index, column) in catalog.entities[entity].columns.enumerated() {
            guard let cells = try block.column(column), !cells.isNil(at: row) else { continue }
            switch column.kind {
            case .integer: builder.set(index, word: UInt64(bitPattern: cells.integer(at: row)))
            case .double: builder.set(index, word: cells.double(at: row).bitPattern)
            case .float: builder.set(index, word: UInt64(cells.float(at: row).bitPattern))
            case .fixed16: builder.set(index, bytes: cells.fixed16(at: row))
            case .bytes:
                if cells.isExternal(at: row) {
                    let value = try block.large(cells.bytes(at: row))
                    value.withUnsafeBytes { builder.set(index, bytes: $0) }
                } else {
                    builder.set(index, bytes: cells.bytes(at: row))
                }
            }
        }
        return builder.finish()
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
