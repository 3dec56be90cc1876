// The effects of a batch update on the objects of one entity, and the memory for it.
//
// Invariants: `values` has the new values of the examined rows, from row 0 on; constants are in all of its
// rows from the beginning. `gathered` has whole rows that wait for their block, or what `spread` puts there.
// Threads: one owner.

import CairnFormat
import CairnModel
import CairnStore

/// An entity of the family that a batch update affects.
final class UpdateTarget {
    /// A uniqueness constraint whose keys may change.
    struct Constraint {
        /// The index in the catalog.
        let index: Int
        let form: KeyForm
    }

    /// A reference that is set.
    struct Reference {
        /// The index in the catalog.
        let index: Int
        /// Its place among the updated columns.
        let place: Int
        /// The number of the new target; nil for none.
        let target: UInt32?
    }

    let entity: Int
    let stored: Catalog.StoredEntity
    /// The updated columns, ascending.
    let columns: [Int]
    let isUpdated: [Bool]
    let constraints: [Constraint]
    /// The other columns that their keys are made of.
    let keyColumns: [Int]
    let references: [Reference]
    /// Whether a fetch index has one of the columns in its keys.
    let movesInIndexes: Bool
    /// The derived columns.
    let derived: DerivedColumns
    /// Whether there are any.
    let derives: Bool
    /// Whether other attributes may derive from updated columns.
    let isWatched: Bool
    /// The columns of keys and the sources of derived attributes: the value is needed, wherever it is stored.
    let wholeColumns: ColumnSet
    /// By updated column: its kernel, if whole columns can be calculated.
    let kernels: [UpdateKernel?]
    let values: ColumnBatch
    var gathered: BlockFiller
    /// The updated columns, then those of keys.
    let views: BlockViews
    /// All columns.
    let wholeViews: BlockViews

    init(_ plan: BatchUpdatePlan, entity: Int, catalog: Catalog, batches: ColumnBatchPool) {
        let stored = catalog.entities[entity]
        let columns = plan.assignments.map(\.column)
        self.entity = entity
        self.stored = stored
        self.columns = columns
        isUpdated = stored.columns.indices.map(columns.contains)
        let constraints = stored.uniques.map {
            Constraint(index: $0, form: catalog.uniques[$0].form)
        }.filter { $0.form.watched.contains(where: columns.contains) }
        self.constraints = constraints
        var keyColumns: [Int] = []
        for column in constraints.flatMap(\.form.watched)
        where !columns.contains(column) && !keyColumns.contains(column) {
            keyColumns.append(column)
        }
        self.keyColumns = keyColumns
        references = stored.references.compactMap { index in
            guard let place = columns.firstIndex(of: catalog.references[index].column),
                case .constant(let value) = plan.assignments[place].content
            else { return nil }
            return Reference(
                index: index, place: place, target: CommitBuilder.number(of: value))
        }
        movesInIndexes = catalog.fetchIndexesOfEntity[entity].contains {
            catalog.fetchIndexes[$0].parts.contains { columns.contains($0.column) }
        }
        let derived = DerivedColumns(entity, catalog.schema)
        self.derived = derived
        derives = !catalog.schema.derivations.entities[entity].isEmpty
        isWatched = catalog.schema.derivations.watches[entity].contains { watch in
            if let column = watch.column, columns.contains(column) { return true }
            if case .members(let column) = watch.way { return columns.contains(column) }
            return false
        }
        wholeColumns = ColumnSet(constraints.flatMap(\.form.watched) + derived.sources)
        let description = catalog.description(of: entity)
        kernels = plan.assignments.map { assignment in
            guard case .expression(let evaluator) = assignment.content, assignment.isFree else {
                return nil
            }
            return UpdateKernel(
                evaluator.expression, for: description.columns[assignment.column], of: description)
        }
        values = batches.take(description)
        gathered = BlockFiller(entity, catalog, batches)
        views = BlockViews(columns: columns + keyColumns)
        wholeViews = BlockViews(columns: Array(stored.columns.indices))
        for assignment in plan.assignments {
            if case .constant(let value) = assignment.content { fill(value, assignment.column) }
        }
    }

    /// Fills a column of `values` with one value, whose bytes all cells share.
    private func fill(_ value: Value, _ column: Int) {
        guard values.columns[column].store(value, row: 0) else {
            preconditionFailure("a plan has values of the columns' types")
        }
        for row in 1..<ColumnBatch.capacity {
            values.columns[column].copyCell(from: 0, to: row)
        }
    }

    /// Clears the cells of a column of `values` for the next rows.
    func clear(_ column: Int, rows: Int) {
        values.columns[column].reset(rows: rows, capacity: ColumnBatch.capacity)
    }

    /// Whether the new values of the first rows need no frames of their own, and no more room than a block
    /// has.
    func areSmall(_ rows: Int, _ sizes: StoreSizes) -> Bool {
        var bytes = 0
        for column in columns where values.columns[column].kind.isBytes {
            for row in 0..<rows where !values.columns[column].isNil(row: row) {
                let length = Int(values.columns[column].lengths[row])
                if length > sizes.largeValueBytes { return false }
                bytes += length
            }
        }
        return bytes <= sizes.bytesPerBlock / 2
    }

    /// Returns the memory to the pool.
    func end(_ batches: ColumnBatchPool) {
        // Constants and spread values are in rows that do not count: the next user of the memory must find
        // none of them.
        values.rows = ColumnBatch.capacity
        gathered.batch.rows = ColumnBatch.capacity
        batches.give(values)
        batches.give(gathered.batch)
    }
}
