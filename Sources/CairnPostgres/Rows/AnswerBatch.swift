// Rows of results for typed readers: column by column, some hundreds at a time.
//
//   batch.take(result, row, position)    a row; false once no more is wanted
//   batch.finish()                       what is left
//
// The answer has the number of the object first, and then the columns that are read, in the order of their indexes.
//
// Threads: owned by one reading.

import CairnModel
import CairnStore

struct AnswerBatch: ~Copyable {
    private let gathered: GatheredRows
    private let columns: [(index: Int, form: CellForm)]
    private let origin: RowOrigin
    /// The index of the number in the result.
    private let first: Int

    /// Rows of an entity and its descendants, of which some columns are read.
    init(
        _ entity: SchemaEntity, _ columns: ColumnSet, _ identity: StoreIdentity, first: Int
    ) {
        gathered = GatheredRows(ColumnBatch(entity), columns: columns)
        self.columns = columns.map { ($0, CellForm(entity.columns[$0])) }
        origin = RowOrigin(identity, entity: entity.index)
        self.first = first
    }

    /// What is selected, of a table under a name.
    static func list(
        _ name: String, _ entity: SchemaEntity, _ columns: ColumnSet, _ layout: TableLayout
    ) -> String {
        ([TableLayout.Fixed.id] + columns.map { layout.column($0, of: entity.index).name })
            .map { "\(name).\($0.quoted)" }.joined(separator: ", ")
    }

    /// Takes a row over; those before it are handed over if they are enough. False if no more is wanted.
    mutating func take(
        _ result: PostgresResult, _ row: Int, position: Int, _ body: (borrowing RowBatch) -> Bool
    ) throws(SQLFailure) -> Bool {
        if gathered.isFull, !gathered.hand(origin: origin, to: body) { return false }
        let number = try result.int64(row, first)
        let batch = gathered.batch
        let target = batch.rows
        for (offset, column) in columns.enumerated() {
            try column.form.carry(
                result, row, first + 1 + offset, to: &batch.columns[column.index], target)
        }
        gathered.add(number: UInt64(bitPattern: number), position: position)
        return true
    }

    /// Hands over what is left.
    func finish(_ body: (borrowing RowBatch) -> Bool) {
        _ = gathered.hand(origin: origin, to: body)
    }
}
