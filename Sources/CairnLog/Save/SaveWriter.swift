// Writes what a save planner has decided, and reports the outcome for each object.
//
//   1. Deleted rows are removed from directory and indexes.
//   2. Changed keys leave the indexes, then new keys enter: a swap needs nothing more.
//   3. Rows are written, by entity, in the order of the request.
//   4. Pairs.
//   5. Redirects.
//
// Threads: within the turn, in one thread.

import CairnModel
package import CairnStore

package struct SaveWriter {
    let plan: SavePlanner
    let catalog: Catalog
    /// The number of the commit.
    private let number: UInt64
    /// Whether the commit may have written rows before: these already have their new versions.
    private let mayRewrite: Bool
    private var pending = PendingRows()
    /// Rows that the commit had written before, by their positions in the plan.
    private var rewritten: Set<Int> = []
    private var result = SaveResult()

    private init(_ plan: SavePlanner, _ builder: borrowing CommitBuilder, mayRewrite: Bool) {
        self.plan = plan
        catalog = plan.catalog
        number = builder.tools.partial?.commit ?? builder.number
        self.mayRewrite = mayRewrite
    }

    /// Writes everything.
    package static func write(_ plan: SavePlanner, _ builder: inout CommitBuilder)
        throws(StoreError)
        -> SaveResult
    {
        // Recomputed rows are already written, and may be in a list whose order changes.
        var writer = SaveWriter(plan, builder, mayRewrite: plan.recomputed != nil)
        try writer.run(&builder)
        writer.report()
        return writer.result
    }

    /// Writes everything for a caller that does not need the outcome for each object, and may have written
    /// some objects in the same commit.
    static func writeSilently(_ plan: SavePlanner, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        var writer = SaveWriter(plan, builder, mayRewrite: true)
        try writer.run(&builder)
    }

    private mutating func run(_ builder: inout CommitBuilder) throws(StoreError) {
        for row in plan.rows where row.fate != .live && row.stored != nil {
            try builder.delete(tree: catalog.entities[row.entity].tree, number: row.number)
        }
        for (entity, number) in plan.pairRemovals {
            try builder.delete(tree: catalog.entities[entity].tree, number: number)
            builder.deletedCount -= 1
        }
        let writes = plan.rows.indices.filter { index in
            let row = plan.rows[index]
            return row.fate == .live && row.isWritten
        }
        for index in writes { removeKeys(plan.rows[index], &builder) }
        for index in writes { try add(index, &builder) }
        for (entity, rows) in pending.byEntity.inKeyOrder() {
            try builder.write(rows, entity: entity)
        }
        try builder.moveInLists(plan.pairKeys)
        try builder.addPairs(plan.pairAdditions, keys: plan.newPairKeys)
        try builder.redirect(plan.redirections)
    }

    private func removeKeys(_ row: WorkingRow, _ builder: inout CommitBuilder) {
        guard let stored = row.stored else { return }
        var key = KeyBuffer()
        for unique in catalog.entities[row.entity].uniques {
            let form = catalog.uniques[unique].form
            guard form.watched.contains(where: { row.values[$0] != stored.values[$0] }),
                key.load(stored.values, form, number: { $0.number })
            else { continue }
            builder.removeKey(key.hash(seed: builder.seed), number: row.number, unique: unique)
        }
    }

    private mutating func add(_ index: Int, _ builder: inout CommitBuilder) throws(StoreError) {
        let row = plan.rows[index]
        var key = KeyBuffer()
        for unique in catalog.entities[row.entity].uniques {
            let form = catalog.uniques[unique].form
            if let stored = row.stored,
                !form.watched.contains(where: { row.values[$0] != stored.values[$0] })
            {
                continue
            }
            if key.load(row.values, form, number: { $0.number }) {
                builder.insertKey(key.hash(seed: builder.seed), number: row.number, unique: unique)
            }
        }
        builder.moveReferences(
            entity: row.entity, number: row.number, from: row.stored?.values, to: row.values)
        var kept: (handle: BlockHandle, slot: Int, columns: ColumnSet)?
        var isYoung = false
        if let stored = row.stored {
            if mayRewrite, builder.isYoung(stored.handle) {
                isYoung = true
                rewritten.insert(index)
            }
            builder.kill(stored.handle, slot: stored.slot)
            if !isYoung { builder.updatedCount += 1 }
            kept = builder.kept(entity: row.entity, stored, row.values)
        } else {
            builder.insertedCount += 1
        }
        let version = version(index, isYoung: isYoung)
        pending.byEntity[row.entity, default: []].append(
            PendingRows.Row(
                number: row.number, version: version, values: row.values, keys: row.keys, kept: kept
            ))
    }

    /// Returns the version with which a row is written. A recreated row gets a version that no reader has
    /// seen: a commit increases a row's version by at most one, so none was greater than the number of the
    /// previous commit.
    private func version(_ index: Int, isYoung: Bool) -> UInt32 {
        let row = plan.rows[index]
        if let stored = row.stored {
            return isYoung ? stored.version : DirectoryCell.next(stored.version)
        }
        let request = plan.request
        let known =
            switch row.kind {
            case .inserted: request.inserted[index].version
            case .updated: request.updated[index - request.inserted.count].base.version
            default: UInt32(0)
            }
        if known == 0 { return 1 }
        return max(
            DirectoryCell.next(known),
            UInt32(truncatingIfNeeded: number) & DirectoryCell.maximumVersion)
    }

    // MARK: Telling

    private mutating func report() {
        // A caller that saved a value piece by piece does not need it returned as a whole.
        var withheld: [ObjectID] = []
        for (index, row) in plan.rows.enumerated() {
            switch row.fate {
            case .live:
                let id = plan.permanentID(of: index)
                if row.kind == .inserted && row.id.isTemporary { result.permanentIDs[row.id] = id }
                if row.isReverted { result.reverted.append(row.id) }
                if row.isUndeleted { result.undeleted.append(row.id) }
                if plan.request.hasStagedValues,
                    row.values.contains(where: { StagedValue.find($0) != nil })
                {
                    withheld.append(id)
                } else if row.kind != .met || row.isWritten {
                    result.rows[id] = stored(index, id)
                }
            case .deleted:
                if row.kind == .updated && row.stored == nil { result.reverted.append(row.id) }
            case .absorbed:
                if let survivor = plan.survivor(of: row.id) {
                    result.absorbed[row.id] = plan.permanentID(of: survivor)
                }
            }
        }
        if let recomputed = plan.recomputed {
            // Rows whose positions in lists changed as well have been reported.
            for row in recomputed.rows where result.rows[row.id] == nil {
                result.rows[row.id] = row
            }
            result.recomputed = recomputed.ids
        }
        result.recomputed += withheld
        for index in plan.displaced {
            let id = plan.rows[index].id
            result.displaced.append(id)
            result.successors[id] = plan.standing(index).map(plan.permanentID)
        }
        result.reordered = plan.reordered
    }

    /// Returns the row as it is stored now.
    private func stored(_ index: Int, _ id: ObjectID) -> Row {
        let row = plan.rows[index]
        var cells = RowCellsBuilder(columns: row.values.count)
        for (column, value) in row.values.enumerated() { cells.set(column, value: value) }
        return Row(
            id: id, entity: row.entity,
            version: row.isWritten
                ? version(index, isYoung: rewritten.contains(index)) : row.stored?.version ?? 1,
            cells: cells.finish())
    }
}
