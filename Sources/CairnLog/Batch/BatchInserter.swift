// Inserts and updates rows of a batch, column batch after column batch.
//
// For each row, in order:
//   1. Its identity: the first uniqueness constraint under which it has a key: no part is nil, or nil is a
//      value, and the constraint's predicate holds for the row as the batch provides it. Does a row with this
//      key exist? Earlier rows of the batch count, because they are in the indexes already.
//   2. No: it gets a new number, unless another constraint ties it to a stored object.
//      Yes: by policy, the row is skipped, or compared with what is stored and, if it differs, rewritten
//      under the same number. Under the declared policy, the model's rules first merge the two.
//   3. A key under which another object is stored is noted. Whether it is a conflict is known at the end,
//      when all rows and deletions have been processed.
// At the end, objects that no row identified are deleted if the request says so, then the noted keys are
// checked again, and attributes that derive from the rows are recomputed.
//
// Rows get their block and slot before the block's bytes exist; until then the cells point into the batch. If
// few rows of a batch are written and more batches follow, the rows are gathered, and the block stays open
// for those of the next ones.
//
// Invariants: `room.rows` lists the rows that live in the open block, by slot: the first `gatheredRows` of
// them are rows of `gathered`, the others of the batch; nothing is written for a row that changes nothing
// (BL4).
// Threads: within the turn, in one thread.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// Executes a batch insert.
struct BatchInserter: ~Copyable {
    let request: Choices
    /// What is done about objects that no row identifies; nil for nothing.
    let missing: MissingPlan?
    /// Finds the objects that can be missing; nil if all can.
    let scope: MissingScope?
    let entityIndex: Int
    let entity: Catalog.StoredEntity
    let identity: StoreIdentity
    let updates: Bool
    var room: BatchRoom
    var result = BatchInsertResult()

    // The block that is being filled.
    var handle = BlockHandle.none
    private(set) var batch: ColumnBatch?
    private(set) var firstRow = 0
    /// Rows of earlier batches that live in the open block, by slot.
    var gathered: ColumnBatch?
    var gatheredRows = 0
    var touched = NumberSet()
    /// The first rows without a key, if every row must have one.
    var keylessRows: [Int] = []
    /// Whether a skipped row has the key of an object of the entity or its descendants.
    private(set) var namesStored = false
    var listed = NumberSet()
    /// Keys that another object had when the row was applied: row, constraint, the row's object, hash.
    var suspects: [(row: Int, unique: Int, number: UInt32, hash: UInt64)] = []
    var refused: [StoreError] = []
    var refusedCount = 0
    /// Whether the entity has derived attributes.
    let derives: Bool
    /// Whether entities whose objects the rows may be about have derived attributes, or others derive from
    /// them.
    let isConcerned: Bool
    /// The time for derived attributes; any if there are none.
    let moment: Date
    /// Pending work for derived attributes; nil if there are none.
    let derivations: BatchDerivations?
    /// New objects that lack the target of a required relationship when their row is applied.
    var lacking: [(row: Int, column: Int, number: UInt32)] = []
    /// Pending work for relationships; nil if no row has named a target.
    var links: BatchLinks?
    /// The object of the last row; 0 if that was left out.
    var lastNumber: UInt32 = 0
    /// The row of the request whose object was touched last.
    var touchedRow = -1
    /// Whether the objects that rows identify are recorded.
    let tracks: Bool
    /// Finds objects that several rows restate; nil if that is not checked, because the rows cannot be read
    /// again.
    let restating: RestatingRows?

    /// The options of the request. A copy of the request itself would retain everything it refers to.
    struct Choices {
        let setOnly: Bool
        let allowsEmpty: Bool
        let failsOnConflict: Bool
        let reportsOutcomes: Bool
        let listsIDs: Bool
        let ignoresMissingTargets: Bool
        let validates: Bool
        let missingKey: MissingKeyRule
        let reportsRepeats: Bool
        let createsTargets: Bool
    }

    /// A batch for an entity of the catalog. Reads the time only if the schema has derived attributes.
    init(
        _ request: BatchInsertRequest, _ missing: MissingPlan?, policy: MergePolicyKind,
        entity: Int, restating: RestatingRows?, memory: CommitMemory,
        now: @autoclosure () -> Double,
        _ builder: borrowing CommitBuilder
    ) {
        let catalog = builder.catalog
        self.missing = missing
        scope = missing?.scope.map { MissingScope(fetch: $0, before: builder.state) }
        self.request = Choices(
            setOnly: request.setOnly, allowsEmpty: request.allowsEmpty,
            failsOnConflict: request.failsOnConflict, reportsOutcomes: request.reportsOutcomes,
            listsIDs: request.resultType == .objectIDs,
            ignoresMissingTargets: request.ignoresMissingTargets,
            validates: request.validatesValues, missingKey: request.missingKey,
            reportsRepeats: request.reportsRepeats, createsTargets: request.createsTargets)
        let earlier = builder.tools.partial?.earlier
        tracks = missing != nil || request.reportsRepeats || earlier?.tracks == true
        if let earlier { touched = earlier.touched }
        self.restating = restating
        self.entityIndex = entity
        self.entity = catalog.entities[entity]
        identity = builder.reader.identity
        let updates = ConflictRules.batchRowMeetsRow(policy) == .update
        self.updates = updates
        let merges = policy == .declared
        let schema = catalog.schema
        if schema.derivations.isEmpty {
            derives = false
            isConcerned = false
            moment = Date(timeIntervalSinceReferenceDate: 0)
            derivations = nil
        } else {
            derives = !schema.derivations.entities[entity].isEmpty
            // By an inherited key, a row may be about an object of any entity that has the key.
            let owners = catalog.entities[entity].uniques.map { catalog.uniques[$0].entity }
            isConcerned = ([entity] + owners).contains { owner in
                catalog.family(of: owner).contains { schema.derivations.concerns[$0] }
            }
            moment = Date(timeIntervalSinceReferenceDate: now())
            derivations = BatchDerivations()
        }
        let setOnly = request.setOnly
        if let known = BatchMemory.of(memory).take(),
            known.fits(
                catalog, entity: entity, setOnly: setOnly, updates: updates, merges: merges)
        {
            room = known
        } else {
            room = BatchRoom(
                catalog, entity: entity, setOnly: setOnly, updates: updates, merges: merges)
        }
    }

    /// Ends the batch and returns its result. The memory is kept for the next batch.
    consuming func end(_ memory: CommitMemory) -> BatchInsertResult {
        let result = result
        var room = room
        room.probes.forget()
        BatchMemory.of(memory).keep(room)
        return result
    }

    /// Announces how many rows are to come. If the rows before were new, most of these will be too, and the
    /// indexes are resized only once.
    mutating func expect(_ rows: Int, _ builder: inout CommitBuilder) {
        let before =
            result.insertedCount + result.updatedCount + result.unchangedCount
            + result.skippedCount
        guard rows > before, result.insertedCount >= before / 8 * 7 else { return }
        for unique in entity.uniques where builder.catalog.uniques[unique].form.isWhole {
            builder.reserveKeys(rows, unique: unique)
        }
    }

    /// Inserts the rows of a sealed column batch; `firstRow` is the number of its first row.
    ///
    /// - Parameters:
    ///   - compared: what is known about them.
    ///   - isLast: whether it is known that no rows come after them.
    mutating func insert(
        _ batch: ColumnBatch, firstRow: Int, compared: ComparedRows? = nil, isLast: Bool = false,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        self.firstRow = firstRow
        if !entity.references.isEmpty || !batch.lists.pointee.all.isEmpty {
            // Targets are looked up among stored rows.
            try close(&builder)
            try resolveLinks(batch, firstRow: firstRow, &builder)
        }
        var compared = isUsable(compared, builder) ? compared.map(ComparedCursor.init) : nil
        // Rows that set all values of their objects need not be compared with these again.
        let needsStored =
            !room.kept.isEmpty || isConcerned || links != nil || restating?.leavesOut == true
        var row = 0
        while row < batch.rows {
            // The byte budget limits the rows of a block. Derived strings are not in the batch yet.
            let end = batch.endOfBlock(
                from: row, sizes: builder.tools.sizes, copied: room.derivedFrom)
            self.batch = batch
            while row < end {
                var last = min(row + BatchProbes.group, end)
                if let run = compared?.run(from: row) {
                    if run.row > row {
                        last = min(last, run.row)
                    } else if run.count <= end - row, links?.isIdle ?? true,
                        room.probes.accepts(run, builder)
                    {
                        if run.differing != 0, needsStored {
                            try room.probes.take(run, &builder)
                        }
                        try insert(
                            differing: run.differing, of: run.count, number: run.number, row,
                            of: batch, isWhole: !needsStored, &builder)
                        row += run.count
                        continue
                    }
                }
                try room.probes.look(batch, from: row, to: last, open: handle, &builder)
                if let run = room.probes.run, links?.isIdle ?? true, !request.reportsOutcomes,
                    !room.mergesEqual
                {
                    try insert(run, row, of: batch, &builder)
                    row = last
                    continue
                }
                while row < last {
                    let unchanged = result.unchangedCount
                    try insert(row, of: batch, &builder)
                    if let links, lastNumber != 0 {
                        links.settle(
                            row, lastNumber, requestRow: firstRow + row,
                            isUnchanged: result.unchangedCount > unchanged)
                    }
                    row += 1
                }
            }
            if isLast || !gather(batch, builder) { try close(&builder) }
        }
        self.batch = nil
    }

    /// Inserts rows for consecutive objects: compares columns to separate unchanged rows from the others.
    private mutating func insert(
        _ run: BatchProbes.Run, _ row: Int, of batch: ColumnBatch, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var differing: UInt32 = 0
        for column in 0..<entity.columns.count where column != run.key {
            differing |= try batch.columns[column].differing(
                row, run.view.cells + column, run.view, run.slot,
                keepsUntouched: room.keepsColumn[column])
        }
        try insert(
            differing: differing, of: BatchProbes.group, number: run.number, row, of: batch,
            &builder)
    }

    /// Whether the comparison of rows covers all that this batch needs to know.
    private func isUsable(_ compared: ComparedRows?, _ builder: borrowing CommitBuilder) -> Bool {
        guard let compared, room.probes.canFollow, !request.reportsOutcomes, !room.merges else {
            return false
        }
        return compared.isKnown(builder.catalog)
    }

    /// Inserts rows about objects with consecutive numbers; it is known which ones differ.
    @inline(__always)
    private mutating func insert(
        differing: UInt32, of count: Int, number: UInt32, _ row: Int, of batch: ColumnBatch,
        isWhole: Bool = false, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var differing = differing
        if tracks {
            let bits = UInt64((UInt32(1) &<< UInt32(count) &- 1) & ~differing)
            if request.reportsRepeats {
                noteRepeats(touched.contained(from: number) & bits, from: row)
            }
            touched.insert(bits, from: number)
        }
        result.unchangedCount += count - differing.nonzeroBitCount
        while differing != 0 {
            let step = differing.trailingZeroBitCount
            if isWhole {
                let number = number &+ UInt32(step)
                touch(number, row + step)
                let cell = builder.state.directories[entity.tree][number]
                try write(number, cell, row + step, &builder)
            } else {
                try insert(row + step, of: batch, &builder)
            }
            differing &= differing &- 1
        }
    }

    // MARK: One row

    private mutating func insert(_ row: Int, of batch: ColumnBatch, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        let identity = room.probes.identity(row)
        if let identity {
            if updates,
                let stored = room.probes.stored(row, of: batch, identity: identity, builder),
                let view = stored.view, view.entity == entityIndex
            {
                return try update(
                    stored.number, stored.cell, view, stored.slot, identity, row, of: batch,
                    &builder)
            }
            if let number = try find(identity, row, of: batch, &builder) {
                return try meet(number, identity, row, of: batch, &builder)
            }
        }
        if identity == nil, !room.probes.constraints.isEmpty, leavesOut(keyless: row) { return }
        if identity != nil, room.probes.constraints.count > 1, !updates {
            // Skipping policies leave a row out whichever constraint ties it to a stored object.
            for constraint in room.probes.constraints.indices {
                guard let number = try find(constraint, row, of: batch, &builder) else { continue }
                return try skip(
                    row, of: batch, number, room.probes.constraints[constraint].index, &builder)
            }
        }
        if request.setOnly, let missing = batch.missingColumn(row: row) {
            throw batch.missingError(column: missing, row: row, firstRow: firstRow)
        }
        let number = try builder.issueNumber(tree: entity.tree)
        touch(number, row)
        for constraint in 0..<room.probes.constraints.count {
            try enter(row, of: batch, number, constraint, &builder)
        }
        for column in room.mandatoryReferences where batch.columns[column].isNil(row: row) {
            lacking.append((firstRow + row, column, number))
        }
        if derives { try compute(row, of: batch, number, isNew: true) }
        // Attributes of its targets may derive from the new row.
        if links != nil, isConcerned {
            noteTargets(number, entity: entityIndex, builder.catalog)
        }
        try stage(row, number, version: 1, &builder)
        addReferences(row, number, of: batch, &builder)
        builder.insertedCount += 1
        result.insertedCount += 1
        note(.inserted, number)
    }

    /// Enters a key of a row into its index, and notes it if another object has it.
    @inline(__always)
    private mutating func enter(
        _ row: Int, of batch: ColumnBatch, _ number: UInt32, _ constraint: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard let hash = room.probes.hash(row, constraint) else { return }
        let unique = room.probes.constraints[constraint].index
        if room.probes.constraints.count > 1, try find(constraint, row, of: batch, &builder) != nil
        {
            suspects.append((firstRow + row, unique, number, hash))
        }
        builder.insertKey(hash, number: number, unique: unique)
    }

    /// The object that has a key of a row.
    @inline(__always)
    private mutating func find(
        _ constraint: Int, _ row: Int, of batch: ColumnBatch, _ builder: inout CommitBuilder
    ) throws(StoreError) -> UInt32? {
        guard let hash = room.probes.hash(row, constraint) else { return nil }
        let index = room.probes.constraints[constraint].index
        if let partial = builder.tools.partial,
            room.key.load(batch, row: row, room.probes.constraints[constraint].form)
        {
            partial.ask(unique: index, room.key.bytes)
        }
        let candidates = builder.state.uniques[index].firstCandidate(hash: hash, forCommit: true)
        if candidates.isEmpty { return nil }
        return try find(constraint, row, of: batch, among: candidates, &builder)
    }

    /// Searches the candidates of an index.
    @inline(never)
    private mutating func find(
        _ constraint: Int, _ row: Int, of batch: ColumnBatch,
        among candidates: UniqueIndex.Cursor, _ builder: inout CommitBuilder
    ) throws(StoreError) -> UInt32? {
        guard room.key.load(batch, row: row, room.probes.constraints[constraint].form)
        else {
            return nil
        }
        return try holder(
            room.probes.constraints[constraint].index, among: candidates, &builder)
    }

    /// The object that has the loaded key, which may be a row of the open block.
    ///
    /// - Parameter number: an object to exclude; 0 excludes none.
    mutating func holder(
        _ unique: Int, among candidates: UniqueIndex.Cursor, except number: UInt32 = 0,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> UInt32? {
        try candidates.first { candidate throws(StoreError) in
            guard candidate != number, try loadKey(of: candidate, unique, &builder)
            else { return false }
            return room.other.equals(room.key)
        }
    }

    /// Loads the key of an object, which may be a row of the open block.
    mutating func loadKey(of number: UInt32, _ unique: Int, _ builder: inout CommitBuilder)
        throws(StoreError) -> Bool
    {
        let cell = builder.state.directories[entity.tree][number]
        if cell.handle == handle, !cell.isEmpty,
            let batch = cell.slot < gatheredRows ? gathered : batch
        {
            return room.other.load(
                batch, row: Int(room.rows.selection[cell.slot]),
                builder.catalog.uniques[unique].form)
        }
        return try builder.loadKey(of: number, unique: unique, into: &room.other)
    }

    mutating func skip(
        _ row: Int, of batch: ColumnBatch, _ number: UInt32, _ unique: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        touch(number, row)
        if tracks, !namesStored,
            let stored = builder.entity(tree: entity.tree, number: number)
        {
            namesStored = builder.catalog.family(of: entityIndex).contains(stored)
        }
        if request.failsOnConflict, listsRefusal() {
            // An object that is new in this batch is not stored yet: the key is read from the row.
            let key = builder.catalog.uniques[unique].text { batch.value($0, row: row) }
            refuse(
                row: firstRow + row, unique, number, key,
                "an object with this key already exists", &builder)
        }
        skipRow()
    }

    private func addReferences(
        _ row: Int, _ number: UInt32, of batch: ColumnBatch, _ builder: inout CommitBuilder
    ) {
        for reference in entity.references {
            let column = batch.columns[builder.catalog.references[reference].column]
            guard column.hasValue(row) else { continue }
            let target = column.values.load(fromByteOffset: row * 8, as: UInt64.self)
            builder.state.inverses[reference].insert(
                source: number, target: UInt32(truncatingIfNeeded: target), in: &builder.pages)
        }
    }
}
