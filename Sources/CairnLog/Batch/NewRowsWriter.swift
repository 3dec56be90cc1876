// Writes new objects without conflicts, one column batch after another.
//
//   1. Every object gets its number, in the order of creation.
//   2. For each batch: no required cell may be nil, and every reference must refer to a stored row, or to one
//      of the new ones, of an entity that the relationship allows.
//   3. For each row: no other new row of this save may have one of its keys. Its keys enter the indexes. If a
//      stored object has the key and the policy merges, that object takes the row's values, or the row is
//      dropped.
//   4. The rows to be written become a block.
//
// Everything else is left to the planner of saves: then this throws, and the commit is discarded. This
// includes one-to-one relationships, because both sides have to agree.
//
// Invariants: as those of `BatchInserter`.
// Threads: within the turn, in one thread.

import CairnFormat
import CairnModel
import CairnStore

/// Writes new objects as columns.
struct NewRowsWriter: ~Copyable {
    private let catalog: Catalog
    private var numbers: [UInt32] = []
    /// By tree: the first new number, and the entities of the new numbers.
    private var born: [(first: UInt32, entities: [UInt16])] = []
    /// By place: the version of the stored object that a new one was merged into, or 0.
    private var mergedVersions: [UInt32] = []
    /// Stored objects that replaced a new one.
    private var merged = NumberSet()
    private let merging: NewRowMerging
    private var key = KeyBuffer()
    private var other = KeyBuffer()
    // The block that is being filled.
    private var handle = BlockHandle.none
    private var rows = RowList()

    /// Reports to the caller that something prevents writing the objects.
    final class Contest {
        var isThere = false
    }
    private let contest: Contest

    init(catalog: Catalog, merging: NewRowMerging, _ contest: Contest) {
        self.catalog = catalog
        self.merging = merging
        self.contest = contest
    }

    /// Writes all objects and returns their numbers. If something prevents that, no numbers are used up.
    mutating func write(_ source: inout some NewRowSource, _ builder: inout CommitBuilder)
        throws(StoreError) -> NewNumbers
    {
        let before = builder.state.nextNumbers
        do {
            return try writeAll(&source, &builder)
        } catch {
            if contest.isThere { builder.state.nextNumbers = before }
            throw error
        }
    }

    private mutating func writeAll(
        _ source: inout some NewRowSource, _ builder: inout CommitBuilder
    ) throws(StoreError) -> NewNumbers {
        let groups = source.groups
        try number(groups, &builder)
        let all = NewNumbers(numbers)
        let merges = merging != .none && groups.allSatisfy { canMerge($0.entity) }
        for (index, group) in groups.enumerated() {
            var probes = BatchProbes(
                group.entity, catalog, readsRows: merging == .givesValues)
            if !merges {
                for unique in catalog.entities[group.entity].uniques
                where catalog.uniques[unique].form.isWhole {
                    builder.reserveKeys(group.positions.count, unique: unique)
                }
            }
            let batch = builder.reader.batches.take(catalog.description(of: group.entity))
            var start = 0
            while start < group.positions.count {
                guard source.fill(batch, group: index, from: start, all) else {
                    throw contested()
                }
                try check(batch, group.entity, &builder)
                try insert(batch, group, from: start, merges: merges, &probes, &builder)
                start += batch.rows
                batch.reset()
            }
            builder.reader.batches.give(batch)
        }
        return NewNumbers(numbers, versions: mergedVersions)
    }

    /// Whether a new object can be merged into a stored one without a plan: it has one key and no references.
    private func canMerge(_ entity: Int) -> Bool {
        catalog.entities[entity].uniques.count == 1 && catalog.entities[entity].references.isEmpty
            && catalog.uniques[catalog.entities[entity].uniques[0]].isPlain
    }

    private mutating func number(_ groups: [NewObjects], _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        let count = groups.reduce(0) { $0 + $1.positions.count }
        var entities = [UInt16](repeating: 0, count: count)
        for group in groups {
            for position in group.positions { entities[Int(position)] = UInt16(group.entity) }
        }
        born = catalog.trees.indices.map { (builder.state.nextNumbers[$0], []) }
        numbers.reserveCapacity(count)
        for entity in entities {
            let tree = catalog.entities[Int(entity)].tree
            numbers.append(try builder.issueNumber(tree: tree))
            born[tree].entities.append(entity)
        }
    }

    private func contested() -> StoreError {
        contest.isThere = true
        return StoreError(.constraintConflict, "the new objects conflict with what is stored")
    }

    // MARK: Checks

    /// Whether the inverse of a relationship is to-one too.
    private func hasPartner(_ relationship: SchemaRelationship) -> Bool {
        guard let inverse = relationship.inverse,
            case .column = catalog.schema.entities[relationship.destination].relationships[inverse]
                .storage
        else { return false }
        return true
    }

    private func check(_ batch: ColumnBatch, _ entity: Int, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        let description = catalog.schema.entities[entity]
        let stored = catalog.entities[entity]
        for (index, column) in description.columns.enumerated() {
            let cells = batch.columns[index]
            if cells.oversizedRow >= 0 { throw contested() }
            if !column.isOptional, !column.isDerived {
                for row in 0..<batch.rows where cells.isNil(row: row) { throw contested() }
            }
            guard let tree = stored.columns[index].target, let relationship = column.relationship
            else { continue }
            let family = catalog.schema.entities[
                description.relationships[relationship].destination
            ].family
            let isWhole =
                family.count == catalog.schema.entities[catalog.trees[tree].root].family.count
            let isPartner = hasPartner(description.relationships[relationship])
            for row in 0..<batch.rows where !cells.isNil(row: row) {
                if isPartner { throw contested() }
                let target = UInt32(
                    truncatingIfNeeded: cells.values.load(fromByteOffset: row * 8, as: UInt64.self))
                if let known = builder.entity(tree: tree, number: target) {
                    guard isWhole || family.contains(known) else { throw contested() }
                } else if !isNew(target, tree, family) {
                    throw contested()
                }
            }
        }
    }

    /// Whether a number is that of a new object which a relationship to these entities may refer to.
    private func isNew(_ number: UInt32, _ tree: Int, _ family: [Int]) -> Bool {
        guard number >= born[tree].first else { return false }
        let index = Int(number - born[tree].first)
        return index < born[tree].entities.count
            && family.contains(Int(born[tree].entities[index]))
    }

    // MARK: Rows

    private mutating func insert(
        _ batch: ColumnBatch, _ group: NewObjects, from start: Int, merges: Bool,
        _ probes: inout BatchProbes, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var row = 0
        while row < batch.rows {
            let end = batch.endOfBlock(from: row, sizes: builder.tools.sizes)
            while row < end {
                let last = min(row + BatchProbes.group, end)
                try probes.look(batch, from: row, to: last, open: handle, &builder)
                for row in row..<last {
                    let position = Int(group.positions[start + row])
                    try insert(
                        row, of: batch, group.entity, position: position, merges: merges, &probes,
                        &builder)
                }
                row = last
            }
            try close(batch, group.entity, &builder)
        }
    }

    /// Inserts one row, or merges it into the stored one that has its key.
    private mutating func insert(
        _ row: Int, of batch: ColumnBatch, _ entity: Int, position: Int, merges: Bool,
        _ probes: inout BatchProbes, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        for constraint in probes.constraints.indices {
            guard let hash = probes.hash(row, constraint) else { continue }
            let unique = probes.constraints[constraint].index
            guard let known = try find(row, hash, unique, of: batch, entity, &builder) else {
                builder.insertKey(hash, number: numbers[position], unique: unique)
                continue
            }
            guard merges else { throw contested() }
            return try merge(
                row, into: known, of: batch, entity, position: position, &probes, &builder)
        }
        stage(row, numbers[position], version: 1, entity, &builder)
        builder.insertedCount += 1
    }

    /// The object that has a row's key.
    private mutating func find(
        _ row: Int, _ hash: UInt64, _ unique: Int, of batch: ColumnBatch, _ entity: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> UInt32? {
        let candidates = builder.state.uniques[unique].firstCandidate(hash: hash, forCommit: true)
        guard !candidates.isEmpty, key.load(batch, row: row, catalog.uniques[unique].form)
        else { return nil }
        return try candidates.first { number throws(StoreError) in
            try loadKey(of: number, unique, batch, entity, &builder) && other.equals(key)
        }
    }

    /// Merges a new object's values into the stored object, or leaves that unchanged.
    private mutating func merge(
        _ row: Int, into number: UInt32, of batch: ColumnBatch, _ entity: Int, position: Int,
        _ probes: inout BatchProbes, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let tree = catalog.entities[entity].tree
        let cell = builder.state.directories[tree][number]
        // Of two new objects with one key the first survives: the planner handles that, and objects of other
        // entities.
        guard number < born[tree].first, !merged.contains(number), !cell.isEmpty,
            Int(builder.state.blocks.entry(cell.handle).entity) == entity
        else { throw contested() }
        merged.insert(number)
        if mergedVersions.isEmpty { mergedVersions = Array(repeating: 0, count: numbers.count) }
        numbers[position] = number
        mergedVersions[position] = cell.version
        guard merging == .givesValues else { return }
        let (view, slot) = try probes.view(of: number, cell, for: row, &builder)
        if try batch.isEqual(row, view, slot) { return }
        builder.kill(cell.handle, slot: cell.slot)
        let version = DirectoryCell.next(cell.version)
        stage(row, number, version: version, entity, &builder)
        mergedVersions[position] = version
        builder.updatedCount += 1
    }

    private mutating func stage(
        _ row: Int, _ number: UInt32, version: UInt32, _ entity: Int,
        _ builder: inout CommitBuilder
    ) {
        if rows.isEmpty { handle = builder.openBlock(entity: entity) }
        builder.state.directories[catalog.entities[entity].tree].set(
            number, DirectoryCell(handle: handle, slot: rows.count, version: version),
            in: &builder.pages)
        rows.add(row, number: number, version: version)
    }

    /// Writes the staged rows as a block.
    private mutating func close(
        _ batch: ColumnBatch, _ entity: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        if rows.isEmpty { return }
        addReferences(of: batch, entity, &builder)
        try builder.closeBlock(handle, entity: entity, batch: batch, rows: rows)
        rows.clear()
        handle = .none
    }

    /// Loads the key of an object, which may be a row of the open block.
    private mutating func loadKey(
        of number: UInt32, _ unique: Int, _ batch: ColumnBatch, _ entity: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> Bool {
        let cell = builder.state.directories[catalog.entities[entity].tree][number]
        if !rows.isEmpty, cell.handle == handle, !cell.isEmpty {
            return other.load(
                batch, row: Int(rows.selection[cell.slot]), catalog.uniques[unique].form)
        }
        return try builder.loadKey(of: number, unique: unique, into: &other)
    }

    private func addReferences(
        of batch: ColumnBatch, _ entity: Int, _ builder: inout CommitBuilder
    ) {
        for reference in catalog.entities[entity].references {
            let column = batch.columns[catalog.references[reference].column]
            for (slot, row) in rows.selection.enumerated() where column.hasValue(Int(row)) {
                let target = column.values.load(fromByteOffset: Int(row) * 8, as: UInt64.self)
                builder.state.inverses[reference].insert(
                    source: rows.numbers[slot], target: UInt32(truncatingIfNeeded: target),
                    in: &builder.pages)
            }
        }
    }
}
