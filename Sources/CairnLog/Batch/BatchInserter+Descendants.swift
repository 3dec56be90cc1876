// Rows of a batch that are about an object of a descendant of its entity, by a key that both have.

import CairnModel
import CairnStore

extension BatchInserter {
    /// A row whose object is of another entity of the hierarchy.
    mutating func updateOther(
        _ stored: Int, _ number: UInt32, _ constraint: Int, _ row: Int, of batch: ColumnBatch,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard builder.catalog.family(of: entityIndex).contains(stored) else {
            refuse(
                row: firstRow + row, room.probes.constraints[constraint].index, number,
                "the key belongs to an object of the entity \(builder.catalog.entities[stored].name)",
                &builder)
            result.skippedCount += 1
            note(.skipped, nil)
            return
        }
        guard let old = try builder.storedRow(entity: stored, number: number) else { return }
        if room.merges {
            // What becomes of an object the rules of its own entity say.
            try merge(
                row, of: batch, number, with: .values(old.values),
                room.merged(of: stored))
        }
        var values = old.values
        for column in entity.columns.indices {
            let isUntouched = batch.columns[column].states[row] == ColumnBuffer.State.untouched
            if isUntouched && keeps(column) || room.derived.contains(column) { continue }
            values[column] = value(column, row, of: batch)
        }
        if values == old.values {
            result.unchangedCount += 1
            note(.unchanged, nil)
            return
        }
        if isConcerned {
            let columns = DerivedColumns(stored, builder.catalog.schema)
            try columns.compute(&values, at: moment)
            note(number, columns.missing { values[$0].isNull })
        }
        // Keys are looked up among the rows of the batch too, which must have their bytes for that.
        try close(&builder)
        if links != nil { try noteSource(number, &builder) }
        let taken = try builder.taken(entity: stored, number: number, old: old, values: values)
        let new = builder.replace(entity: stored, number: number, old: old, values: values)
        try builder.write([new], entity: stored)
        for suspect in taken {
            suspects.append((firstRow + row, suspect.unique, number, suspect.hash))
        }
        result.updatedCount += 1
        note(.updated, number)
    }

    /// The value of a cell of an attribute or a relationship.
    func value(_ column: Int, _ row: Int, of batch: ColumnBatch) -> Value {
        guard case .reference(let root) = batch.entity.columns[column].kind else {
            return batch.value(column, row: row)
        }
        guard let target = batch.columns[column].target(row) else { return .null }
        return .objectID(identity.id(UInt64(target), entity: root))
    }
}
