// Whole rows of a store, as from `fetch` and `rows`, passed column by column: for stores without a faster way.
//
// Threads: owned by one reading.

import CairnModel
import FoundationEssentials

struct WholeRows: ~Copyable {
    private let gathered: GatheredRows
    private let columns: ColumnSet
    private let schema: Schema
    /// What the ids of the waiting rows have in common; nil if there are none.
    private var origin: RowOrigin?

    /// Rows of an entity and its descendants, of which some columns are read.
    init(_ entity: SchemaEntity, _ columns: ColumnSet, in schema: Schema) {
        gathered = GatheredRows(ColumnBatch(entity), columns: columns)
        self.columns = columns
        self.schema = schema
    }

    /// Takes a row over, of the entity that is read or a descendant: their columns are the first of the row's. Those before it
    /// are handed over if they are enough, or of another store; false if no more is wanted.
    mutating func take(
        _ row: Row, position: Int, _ body: (borrowing RowBatch) -> Bool
    ) -> Bool {
        if let origin, gathered.isFull || !origin.isOrigin(of: row.id),
            !gathered.hand(origin: origin, to: body)
        {
            return false
        }
        origin = RowOrigin(like: row.id)
        let (batch, entity) = (gathered.batch, schema.entities[row.entity])
        for column in columns {
            batch.columns[column].take(row.cells, column, of: entity, to: batch.rows)
        }
        gathered.add(number: row.id.reference, position: position)
        return true
    }

    /// Hands over what is left.
    func finish(_ body: (borrowing RowBatch) -> Bool) {
        if let origin { _ = gathered.hand(origin: origin, to: body) }
    }
}

extension ColumnBuffer {
    /// Takes a cell of a row over.
    fileprivate mutating func take(
        _ cells: RowCells, _ column: Int, of entity: SchemaEntity, to row: Int
    ) {
        if cells.isNull(column) { return setNil(row: row) }
        if case .reference = entity.columns[column].kind {
            let word = cells.word(column, columns: entity.columns.count)
            let isTemporary = word & StoreIdentity.temporaryMark != 0
            return setInteger(
                Int64(bitPattern: isTemporary ? word : word & StoreNumbers.mask), row: row)
        }
        // The hierarchies name references alone.
        let noStore = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        let nobody = StoreIdentity(identifier: noStore, hierarchies: [])
        guard store(cells.value(column, of: entity, in: nobody), row: row) else {
            preconditionFailure("the values of a row have their columns' types")
        }
    }
}
