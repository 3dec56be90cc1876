// Targets of relationships that a batch creates because the keys in its rows do not exist.
//
//   1. If no row can be the target, because it belongs to another hierarchy, and no row is skipped, a target
//      is created before the rows that refer to it are applied. Otherwise it is created after all rows,
//      because it may be one of them.
//   2. Targets are collected, once per key, and are checked and written like rows. They have the values that
//      the row provides, and otherwise the defaults of new objects.
//   3. If an existing object has another key of a target, the batch fails.
//
// Threads: within the turn, in one thread.

import CairnFormat
import CairnModel
import CairnStore

/// The targets to create.
struct MadeTargets {
    /// A target: the known values, by column of its entity, and the first row that names it.
    struct Target {
        let values: [Value]
        let row: Int
    }

    private struct Name: Hashable {
        let entity: Int
        let columns: [Int]
        let key: [Value]
    }

    private var known: Set<Name> = []
    private(set) var byEntity: [Int: [Target]] = [:]
    var isEmpty: Bool { byEntity.isEmpty }

    /// Adds a target that does not exist, unless one with the same key has been added already.
    ///
    /// - Throws: `StoreError` if the entity is abstract, or if a required relationship would be nil.
    mutating func add(_ wanted: RowLinkPlan.Wanted, _ plan: RowLinkPlan, row: Int)
        throws(StoreError)
    {
        guard case .key(let constraint, let values) = wanted else { return }
        let entity = plan.destination
        let name = Name(
            entity: entity.index, columns: constraint.columns,
            // Positive and negative zero are the same key.
            key: constraint.columns.map { values[$0].asGroupKey })
        guard known.insert(name).inserted else { return }
        if entity.isAbstract {
            throw plan.unmade(
                wanted, row: row, "\(entity.name) is abstract and has no objects of its own")
        }
        for (index, column) in entity.columns.enumerated()
        where column.relationship != nil && !column.isOptional && values[index].isNull {
            throw plan.unmade(
                wanted, row: row, "a new \(entity.name) must have a target for \(column.name)")
        }
        byEntity[entity.index, default: []].append(Target(values: values, row: row))
    }
}

extension BatchInserter {
    /// Whether targets of a relationship can be created before the rows that refer to them.
    func makesEarly(_ plan: RowLinkPlan, _ catalog: Catalog) -> Bool {
        request.createsTargets && updates && request.missingKey != .skip
            && catalog.entities[plan.destination.index].tree != entity.tree
    }

    /// Creates targets, and enters them into the indexes.
    mutating func make(_ targets: MadeTargets, _ builder: inout CommitBuilder) throws(StoreError) {
        for (destination, wanted) in targets.byEntity.inKeyOrder() {
            var start = 0
            while start < wanted.count {
                let batch = builder.reader.batches.takeWhole(destination, builder.catalog)
                var end = start
                repeat {
                    for (column, value) in wanted[end].values.enumerated() where !value.isNull {
                        guard batch.columns[column].store(value, row: batch.rows) else {
                            preconditionFailure("a value of a key is of its column's type")
                        }
                    }
                    batch.rows += 1
                    end += 1
                } while end < wanted.count && batch.rows < builder.tools.sizes.rowsPerBlock
                    && batch.byteCount < builder.tools.sizes.bytesPerBlock
                try make(Array(wanted[start..<end]), batch, destination, &builder)
                builder.reader.batches.give(batch)
                start = end
            }
        }
    }

    private mutating func make(
        _ wanted: [MadeTargets.Target], _ batch: ColumnBatch, _ destination: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        do throws(StoreError) {
            try batch.seal(firstRow: 0, validates: request.validates)
        } catch {
            throw error.placing { wanted[$0].row }
        }
        let stored = builder.catalog.entities[destination]
        let derived = DerivedColumns(destination, builder.catalog.schema)
        var rows = RowList()
        for row in wanted.indices {
            rows.add(row, number: try builder.issueNumber(tree: stored.tree), version: 1)
            try derived.compute(row, of: batch, isNew: true, at: moment)
        }
        let handle = builder.openBlock(entity: destination)
        try builder.closeBlock(
            handle, entity: destination, batch: batch, rows: rows)
        for (row, number) in rows.numbers.enumerated() {
            for unique in stored.uniques {
                let form = builder.catalog.uniques[unique].form
                guard room.key.load(batch, row: row, form) else { continue }
                if let other = try builder.find(unique: unique, key: room.key, except: number) {
                    throw taken(unique, other, destination, wanted[row].row, builder.catalog)
                }
                builder.insertKey(
                    room.key.hash(seed: builder.seed), number: number, unique: unique)
            }
            builder.moveReferences(
                entity: destination, number: number, from: nil, to: wanted[row].values)
            try derivations?.stale.noteRow(entity: destination, number: number, &builder)
            if stored.tree == entity.tree, missing != nil { touched.insert(number) }
        }
        builder.insertedCount += rows.count
        result.createdTargetCount += rows.count
    }

    private func taken(
        _ unique: Int, _ other: UInt32, _ destination: Int, _ row: Int, _ catalog: Catalog
    ) -> StoreError {
        StoreError(
            .constraintConflict,
            "the target of the relationship cannot be inserted: another object has one of its keys",
            context: .init(
                entity: catalog.entities[destination].name,
                key: catalog.uniques[unique].names.joined(separator: ", "), row: row,
                objectID: identity.id(UInt64(other), entity: destination)))
    }

    // MARK: When all rows are there

    /// Creates the targets that rows wait for and that still do not exist.
    mutating func makeOpenTargets(_ links: BatchLinks, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        guard request.createsTargets else { return }
        var targets = MadeTargets()
        for cell in links.open.keys.sorted() where !links.late.contains(cell.column) {
            guard let plan = links.plans[cell.column], let open = links.open[cell] else { continue }
            try want(open.wanted, plan, open.row, &targets, &builder)
        }
        try make(targets, &builder)
    }

    /// Creates the members that lists name, and the targets whose inverse must be updated.
    mutating func makeLateTargets(_ links: BatchLinks, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        guard request.createsTargets else { return }
        var targets = MadeTargets()
        for late in links.lateTargets {
            guard let plan = links.plans[late.column] else { continue }
            try want(late.open.wanted, plan, late.open.row, &targets, &builder)
        }
        let description = builder.catalog.description(of: entityIndex)
        var plans: [Int: RowLinkPlan] = [:]
        for list in links.lists {
            var plan =
                plans[list.relationship]
                ?? RowLinkPlan(
                    relationship: list.relationship, of: description, in: builder.catalog.schema,
                    allowsMore: true)
            for target in list.targets.targets {
                let wanted = try plan.wanted(target, row: list.row)
                try want(wanted, plan, list.row, &targets, &builder)
            }
            plans[list.relationship] = plan
        }
        try make(targets, &builder)
    }

    /// Adds a target to those to be created, if it does not exist.
    mutating func want(
        _ wanted: RowLinkPlan.Wanted?, _ plan: RowLinkPlan, _ row: Int,
        _ targets: inout MadeTargets, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard let wanted, case .key(let constraint, let values) = wanted,
            try find(wanted, plan, row, &builder) == nil
        else { return }
        for (column, name) in zip(constraint.columns, constraint.names) {
            guard case .objectID(let id) = values[column] else { continue }
            if let reason = reasonAgainst(id, plan.destination, column, builder) {
                throw plan.unmade(wanted, row: row, "\(name) \(reason)")
            }
        }
        try targets.add(wanted, plan, row: row)
    }

    /// Returns why a target whose key refers to an object cannot be created; nil if it can.
    private func reasonAgainst(
        _ id: ObjectID, _ entity: SchemaEntity, _ column: Int, _ builder: borrowing CommitBuilder
    ) -> String? {
        let catalog = builder.catalog
        guard let index = entity.columns[column].relationship else { return nil }
        let relationship = entity.relationships[index]
        guard
            identity.owns(id, entity: relationship.destination),
            let number = UInt32(exactly: id.reference),
            let found = builder.entity(
                tree: catalog.entities[relationship.destination].tree, number: number),
            catalog.family(of: relationship.destination).contains(found)
        else { return "refers to no existing object" }
        // The object would have to give up its current partner.
        return catalog.schema.isOneToOne(relationship) ? "is a one-to-one relationship" : nil
    }
}

extension StoreError {
    /// Returns the error with mapped row numbers, in its details too.
    fileprivate func placing(_ place: (Int) -> Int) -> StoreError {
        var error = self
        error.context.row = context.row.map(place)
        error.details = details.map { $0.placing(place) }
        return error
    }
}
