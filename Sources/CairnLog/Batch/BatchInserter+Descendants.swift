// Rows of a batch whose inherited key matches an object of another entity of the hierarchy: the object gets
// the row's values if its entity has all of these properties. See `ConflictRules+Entities`.

import CairnModel
import CairnStore

extension BatchInserter {
    /// Updates an object of another entity of the hierarchy with a row.
    mutating func updateOther(
        _ stored: Int, _ number: UInt32, _ constraint: Int, _ row: Int, of batch: ColumnBatch,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let schema = builder.catalog.schema
        let shared = ConflictRules.sharedColumns(
            schema.entities[entityIndex], schema.entities[stored], in: schema)
        if let property = named(row, of: batch, besides: shared, schema.entities[stored], schema) {
            if listsRefusal() {
                refuseLoss(
                    of: property, row, room.probes.constraints[constraint].index, number, stored,
                    &builder)
            }
            return skipRow()
        }
        // The object has none of the columns that only the row's entity has, so a nil in them changes
        // nothing.
        for column in entity.columns.indices.dropFirst(shared.count) { links?.drop(row, column) }
        if let restating, restating.leftOut.contains(number) { return leaveOut() }
        guard let old = try builder.storedRow(entity: stored, number: number) else { return }
        if room.merges {
            // The merge rules of the object's own entity apply.
            try merge(
                row, of: batch, number, with: .values(old.values, shared: shared.count),
                room.merged(of: stored))
        }
        var values = old.values
        for column in shared {
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
        // Key lookups include the rows of this batch, whose block must be written for that.
        try close(&builder)
        if links != nil { try noteSource(number, &builder) }
        if builder.isYoung(old.handle) { restating?.rewritten.insert(number) }
        if let restating, changesKeys(of: stored, from: old.values, to: values, builder.catalog) {
            restating.rekeyed.insert(number)
        }
        let taken = try builder.taken(entity: stored, number: number, old: old, values: values)
        let new = builder.replace(entity: stored, number: number, old: old, values: values)
        try builder.write([new], entity: stored)
        for suspect in taken {
            suspects.append((firstRow + row, suspect.unique, number, suspect.hash))
        }
        result.updatedCount += 1
        note(.updated, number)
    }

    /// Whether new values may change a key of an object.
    private func changesKeys(
        of stored: Int, from old: [Value], to new: [Value], _ catalog: Catalog
    ) -> Bool {
        catalog.entities[stored].uniques.contains { unique in
            catalog.uniques[unique].form.watched.contains { old[$0] != new[$0] }
        }
    }

    /// A property that a row sets and that an object of another entity cannot have; nil if there is none.
    private func named(
        _ row: Int, of batch: ColumnBatch, besides shared: Range<Int>, _ other: SchemaEntity,
        _ schema: Schema
    ) -> String? {
        if other.isKind(of: batch.entity) { return nil }
        for column in batch.entity.columns.indices.dropFirst(shared.count) {
            let isNamed =
                batch.columns[column].states[row] != ColumnBuffer.State.untouched
                && !batch.columns[column].isNil(row: row)
            let awaits = links?.wait(row, column)?.open.wanted != nil
            if isNamed || awaits { return batch.entity.columns[column].name }
        }
        for list in batch.lists.pointee.lists(of: row) where !list.targets.targets.isEmpty {
            let relationship = batch.entity.relationships[list.relationship]
            if other.isKind(of: schema.entities[relationship.declaringEntity]) { continue }
            return relationship.description.name
        }
        return nil
    }

    /// Adds the error for a row that sets a property which the object with its key cannot have.
    private mutating func refuseLoss(
        of property: String, _ row: Int, _ unique: Int, _ number: UInt32, _ stored: Int,
        _ builder: inout CommitBuilder
    ) {
        let definition = builder.catalog.uniques[unique]
        let values = try? builder.storedRow(entity: stored, number: number)?.values
        let schema = builder.catalog.schema
        refused.append(
            UnlikeObjects(
                given: .init(nil, schema.entities[entityIndex]),
                kept: .init(identity.id(UInt64(number), entity: stored), schema.entities[stored]),
                constraint: definition.names,
                values: values.map { values in definition.columns.map { values[$0] } } ?? []
            ).error(
                .property(property), advice: .otherKeyOfRow, row: firstRow + row))
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
