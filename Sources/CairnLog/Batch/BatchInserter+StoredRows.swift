// Rows of a batch whose objects already exist: stored before it, or inserted by earlier rows.

import CairnModel
import CairnStore

extension BatchInserter {
    mutating func meet(
        _ number: UInt32, _ constraint: Int, _ row: Int, of batch: ColumnBatch,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard updates else {
            return try skip(
                row, of: batch, number, room.probes.constraints[constraint].index, &builder)
        }
        let cell = builder.state.directories[entity.tree][number]
        if cell.handle == handle, !cell.isEmpty {
            touch(number, row)
            if cell.slot >= gatheredRows, links == nil || !isConcerned {
                return try updateStaged(cell, number, row, of: batch, &builder)
            }
            // Finding the attributes that derive from the row reads its block, which must be written for
            // that. So must a block that has rows of other batches.
            try close(&builder)
        }
        let stored = Int(builder.state.blocks.entry(cell.handle).entity)
        guard stored == entityIndex else {
            touch(number, row)
            return try updateOther(stored, number, constraint, row, of: batch, &builder)
        }
        let (view, slot) = try room.probes.view(of: number, cell, for: row, &builder)
        try update(number, cell, view, slot, constraint, row, of: batch, &builder)
    }

    /// Updates a stored object with a row that has the same key of the identifying constraint.
    ///
    /// - Parameter slot: the row's index in the view.
    @inline(__always)
    mutating func update(
        _ number: UInt32, _ cell: DirectoryCell, _ view: BlockView, _ slot: Int, _ identity: Int,
        _ row: Int, of batch: ColumnBatch, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        touch(number, row)
        if let restating, restating.leavesOut, restating.leftOut.contains(number) {
            return leaveOut()
        }
        if !room.merged.isEmpty {
            try merge(row, of: batch, number, with: .stored(view, slot: slot), room.merged)
        }
        if !room.kept.isEmpty { try complete(row, of: batch, from: view, slot) }
        if try batch.isEqual(row, view, slot) {
            result.unchangedCount += 1
            note(.unchanged, nil)
            return
        }
        if room.probes.entersOtherKeys {
            try changeKeys(number, cell.slot, view.block, identity, row, of: batch, &builder)
        }
        if links != nil {
            try moveReferences(number, row, of: batch, &builder) { column in
                let cells = view.cells[column]
                return cells.isNil(slot)
                    ? nil : UInt32(truncatingIfNeeded: cells.integer(slot))
            }
        }
        if isConcerned { try compute(row, of: batch, number, isNew: false) }
        try write(number, cell, row, &builder)
    }

    /// Writes a row in place of a stored one. The caller updates keys, references and derived attributes.
    @inline(__always)
    mutating func write(
        _ number: UInt32, _ cell: DirectoryCell, _ row: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        // A commit creates one version, however often it writes the row.
        let isYoung = builder.isYoung(cell.handle)
        builder.kill(cell.handle, slot: cell.slot)
        try stage(
            row, number, version: isYoung ? cell.version : DirectoryCell.next(cell.version),
            &builder)
        if isYoung { restating?.rewritten.insert(number) } else { builder.updatedCount += 1 }
        result.updatedCount += 1
        note(.updated, number)
    }

    /// Replaces an object's keys in the indexes that change. The key by which it was found is the same,
    /// unless its constraint has a predicate, because the values that the row leaves alone were unknown then,
    /// or the key is a sum.
    @inline(never)
    private mutating func changeKeys(
        _ number: UInt32, _ slot: Int, _ block: CachedBlock, _ identity: Int, _ row: Int,
        of batch: ColumnBatch, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        for constraint in room.probes.constraints.indices {
            let form = room.probes.constraints[constraint].form
            if constraint == identity, form.rule == nil, !room.mergesKeys { continue }
            let unique = room.probes.constraints[constraint].index
            let had = try room.other.load(block, row: slot, entity: entity, form)
            let has = room.key.load(batch, row: row, form)
            try exchangeKeys(had: had, has: has, row, number, unique, &builder)
        }
    }

    /// Replaces an object's old key, loaded in `room.other`, by the new one in an index, unless they are
    /// equal.
    @inline(__always)
    private mutating func exchangeKeys(
        had: Bool, has: Bool, _ row: Int, _ number: UInt32, _ unique: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        if had && has && room.key.equals(room.other) { return }
        if had || has { restating?.rekeyed.insert(number) }
        if had {
            builder.removeKey(room.other.hash(seed: builder.seed), number: number, unique: unique)
        }
        if has { try enterLoaded(row, number, unique, &builder) }
    }

    /// Enters the loaded key into an index. The lookup before did not know the values that the row leaves
    /// alone.
    private mutating func enterLoaded(
        _ row: Int, _ number: UInt32, _ unique: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let hash = room.key.hash(seed: builder.seed)
        builder.tools.partial?.ask(unique: unique, room.key.bytes)
        if room.probes.entersOtherKeys,
            try holder(
                unique,
                among: builder.state.uniques[unique].firstCandidate(hash: hash, forCommit: true),
                &builder) != nil
        {
            suspects.append((firstRow + row, unique, number, hash))
        }
        builder.insertKey(hash, number: number, unique: unique)
    }

    /// Updates an object that an earlier row of the open block inserted or updated.
    private mutating func updateStaged(
        _ cell: DirectoryCell, _ number: UInt32, _ row: Int, of batch: ColumnBatch,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let before = Int(room.rows.selection[cell.slot])
        if !room.merged.isEmpty {
            try merge(row, of: batch, number, with: .staged(before), room.merged)
        }
        for (index, _) in entity.columns.enumerated()
        where batch.columns[index].states[row] == ColumnBuffer.State.untouched && keeps(index) {
            batch.columns[index].copyCell(from: before, to: row)
        }
        batch.copyOrder(from: before, to: row)
        if !batch.columns.contains(where: { !$0.isEqual(row, before) }) {
            result.unchangedCount += 1
            note(.unchanged, nil)
            return
        }
        for unique in entity.uniques {
            let form = builder.catalog.uniques[unique].form
            let had = room.other.load(batch, row: before, form)
            let has = room.key.load(batch, row: row, form)
            try exchangeKeys(had: had, has: has, row, number, unique, &builder)
        }
        if links != nil {
            try moveReferences(number, row, of: batch, &builder) {
                batch.columns[$0].target(before)
            }
        }
        if isConcerned { try compute(row, of: batch, number, isNew: false) }
        // The number keeps its slot and its version: from outside, the row is written once.
        room.rows.selection[cell.slot] = UInt16(row)
        restating?.rewritten.insert(number)
        result.updatedCount += 1
        note(.updated, number)
    }

    /// Whether an update leaves a column alone if the row does not name it.
    func keeps(_ column: Int) -> Bool {
        request.setOnly || entity.columns[column].target != nil
            || derives && room.derived.contains(column)
    }

    // MARK: Derived attributes

    /// Computes the attributes that derive from a row alone, and notes the others.
    @inline(never)
    mutating func compute(
        _ row: Int, of batch: ColumnBatch, _ number: UInt32, isNew: Bool
    ) throws(StoreError) {
        try room.derived.compute(row, of: batch, isNew: isNew, at: moment)
        if isNew { return }
        let missing = room.derived.missing { batch.columns[$0].isNil(row: row) }
        note(number, missing)
    }

    /// Notes a row from which other objects' attributes may derive, and its own derived attributes that were
    /// never computed.
    mutating func note(_ number: UInt32, _ missing: ColumnSet) {
        guard let derivations else { return }
        derivations.changed.append(number)
        for derivation in missing {
            derivations.stale.insert(derivation, tree: entity.tree, number)
        }
    }

    /// Fills the cells that the row leaves alone with the stored values.
    private func complete(
        _ row: Int, of batch: ColumnBatch, from view: BlockView, _ slot: Int
    ) throws(StoreError) {
        for index in room.kept
        where batch.columns[index].states[row] == ColumnBuffer.State.untouched {
            // A key is made of the value itself, wherever it is stored.
            try batch.columns[index].copyCell(
                from: view.cells[index], view, slot, to: row,
                isWhole: room.wholeColumns.contains(index))
        }
        if !entity.orders.isEmpty { try batch.copyOrder(of: entity, view.block, slot, to: row) }
    }
}
