// Derived attributes in batches.
//
//   1. While the batch writes rows, it computes the attributes of each row that derive from the row itself.
//   2. It notes rows from which others are computed, and rows with derived attributes in which it must clear
//      a reference: those are written at the end.
//   3. `settle` computes what was noted from the rows as they are then, and writes the rows that differ. A
//      row that the batch has already written is rewritten with the version it has.
//
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore
import FoundationEssentials

/// The derived attributes that a batch has to recompute. Created only if the model has any: for a commit of
/// one row, creating and freeing its parts would take longer than writing the row.
final class BatchDerivations {
    var stale = StaleDerivations()
    /// Updated rows of the batch's entity that others may be computed from.
    var changed: [UInt32] = []
    /// Rows with references to be cleared.
    private var cleared: [(entity: Int, number: UInt32, columns: [Int])] = []

    /// Defers clearing references to the end.
    func clear(_ columns: [Int], entity: Int, number: UInt32) {
        cleared.append((entity, number, columns))
    }

    /// Computes and writes what was noted, and what derives from the changed rows of a tree.
    func settle(_ tree: Int, _ identity: StoreIdentity, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        for number in changed {
            guard let concrete = builder.entity(tree: tree, number: number) else { continue }
            try stale.noteRow(entity: concrete, number: number, &builder)
        }
        try settle(identity, &builder)
    }

    /// Computes and writes what was noted.
    func settle(_ identity: StoreIdentity, _ builder: inout CommitBuilder) throws(StoreError) {
        if cleared.isEmpty && stale.attributes.isEmpty { return }
        var planner = SavePlanner(SaveRequest(), catalog: builder.catalog, identity: identity)
        for row in cleared {
            guard
                let index = try planner.meet(
                    entity: row.entity, number: row.number, &builder)
            else { continue }
            for column in row.columns { planner.rows[index].values[column] = .null }
        }
        try planner.derive(stale, isTold: false, &builder)
        try SaveWriter.writeSilently(planner, &builder)
    }
}

/// How the derived attributes of one entity are computed in the rows of a batch.
struct DerivedColumns {
    private let derivations: [Derivation]

    /// The derived attributes of an entity of the schema.
    init(_ entity: Int, _ schema: Schema) {
        derivations = schema.derivations.entities[entity]
    }

    /// The columns from which attributes of the same row derive, one for each of these.
    var sources: [Int] {
        derivations.compactMap { derivation in
            if case .path(let steps, let column, _) = derivation.source, steps.isEmpty {
                column
            } else {
                nil
            }
        }
    }

    /// Whether a column is derived.
    func contains(_ column: Int) -> Bool { derivations.contains { $0.column == column } }

    /// Computes the derived cells of a row of a batch. In a row that is already stored, those that do not
    /// derive from the row itself stay as they are.
    func compute(_ row: Int, of batch: ColumnBatch, isNew: Bool, at moment: Date)
        throws(StoreError)
    {
        for derivation in derivations where isNew || derivation.isLocal {
            let value = try value(derivation, moment) { batch.value($0, row: row) }
            guard batch.columns[derivation.column].store(value, row: row) else {
                throw StoreError(derivation)
            }
        }
    }

    /// Computes what derives from a stored row itself.
    func compute(_ values: inout [Value], at moment: Date) throws(StoreError) {
        for derivation in derivations where derivation.isLocal {
            values[derivation.column] = try value(derivation, moment) { values[$0] }
        }
    }

    /// Returns the value for a row without references in either direction.
    private func value(
        _ derivation: Derivation, _ moment: Date, _ cell: (Int) -> Value
    ) throws(StoreError) -> Value {
        let value: Value
        switch derivation.source {
        case .now: value = derivation.value(at: moment)
        case .path(let steps, let column, _):
            value = steps.isEmpty ? derivation.value(of: cell(column)) : .null
        case .members: value = derivation.valueOfNothing
        }
        if let fitted = derivation.fitted(value) { return fitted }
        throw StoreError(derivation)
    }

    /// Returns the derived attributes of a stored row of a batch that were never computed, except those that
    /// derive from the row itself.
    func missing(_ isNil: (Int) -> Bool) -> ColumnSet {
        var missing = ColumnSet()
        for derivation in derivations where !derivation.isLocal && isNil(derivation.column) {
            missing.insert(derivation.number)
        }
        return missing
    }
}
