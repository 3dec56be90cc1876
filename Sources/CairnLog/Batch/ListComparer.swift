// Compares the rows of a list with the stored ones, on any thread, before they are applied.
//
// A list that covers most of what is stored has usually come from it, in its order. So the objects of a batch
// are looked for after the previous ones, some rows at a time, and compared column by column. If a row does
// not follow, the index is used; if that fails a few times too, the rest of the batch is left alone.
//
// Objects that are not found here are found when the rows are applied, and errors in a block are reported
// then.
//
// Invariants: a row is in a run only if it has the key of its object.
// Threads: one owner; batches are read alone.

import CairnFormat
import CairnStore

/// The properties of an entity and of a request that a comparison needs.
struct ListComparison {
    let entity: Int
    let tree: Int
    /// The constraint by which rows find their objects, and the column of its key.
    let unique: Int
    let key: Int
    let columns: Int
    let references: [Int]
    /// By column: whether an update leaves the column alone if the row does not name it.
    let keepsColumn: [Bool]
    let catalog: Catalog

    /// Nil if rows of the entity are not to be compared: because rows whose objects exist are skipped,
    /// because they may be merged or get another key than the one by which they are found, or because that
    /// key has several columns.
    init?(_ entity: Int, _ catalog: Catalog, policy: MergePolicyKind, setOnly: Bool) {
        let stored = catalog.entities[entity]
        guard policy != .declared, ConflictRules.batchRowMeetsRow(policy) == .update,
            stored.uniques.count == 1, let unique = stored.uniques.first
        else { return nil }
        guard let key = catalog.uniques[unique].form.plainColumn(of: stored) else { return nil }
        self.entity = entity
        self.catalog = catalog
        self.unique = unique
        tree = stored.tree
        self.key = key
        columns = stored.columns.count
        references = stored.references.map { catalog.references[$0].column }
        let derived = DerivedColumns(entity, catalog.schema)
        keepsColumn = stored.columns.indices.map {
            setOnly || stored.columns[$0].target != nil || derived.contains($0)
        }
    }
}

/// Compares batches one after another.
struct ListComparer: ~Copyable {
    private let comparison: ListComparison
    private let reader: StoreReader
    private let pinned: PinnedState<EngineState>
    private let state: EngineState
    private var views: BlockViews
    /// The number of the object that the next row is probably about; 0 if unknown.
    private var expected: UInt32 = 0
    /// The block of the previous object.
    private var near = BlockHandle.none
    private var nearView: BlockView?
    /// The number of consecutive rows that were not found.
    private var misses = 0
    /// The first row of the next batch.
    private var nextRow = 0
    /// The number of consecutive batches whose objects are elsewhere.
    private var poor = 0
    /// The number of batches so far.
    private var turn = 0

    /// The number of rows after which a batch is left alone if fewer than a quarter of them are in runs.
    private static let sample = 128
    /// The minimum number of rows in a run that is noted.
    private static let fewRows = 6
    /// The number of consecutive poor batches after which only some batches are examined.
    private static let mostPoor = 3

    /// The number of consecutive misses after which the index is used for the next row; after twice as many
    /// the search ends.
    private static let mostMisses = 8
    /// How many numbers may be skipped in the search for the next object.
    private static let mostGaps = 16

    init(_ comparison: ListComparison, _ reader: StoreReader) {
        self.comparison = comparison
        self.reader = reader
        pinned = reader.registry.pin()
        state = pinned.state
        views = BlockViews(columns: Array(0..<comparison.columns))
    }

    /// Compares the rows of a sealed batch, as far as that is worthwhile.
    ///
    /// - Parameter firstRow: the number of its first row in the request.
    mutating func compare(_ batch: ColumnBatch, firstRow: Int, into found: ComparedRows) {
        if firstRow != nextRow { expected = 0 }
        nextRow = firstRow + batch.rows
        guard state.catalog.describesSame(as: comparison.catalog),
            batch.lists.pointee.all.isEmpty,
            // Targets are known only when the rows are applied.
            !comparison.references.contains(where: { batch.columns[$0].mayBeLinked })
        else { return }
        turn &+= 1
        if poor >= Self.mostPoor, turn & 7 != 0 { return }
        // The comparison moves along the blocks, and no longer needs those that it has passed.
        if views.trim(to: reader.cache.readingBudget / 16) { loseView() }
        // If the previous batches were not found, the first rows of this one are tried.
        misses = min(misses, Self.mostMisses)
        // A read error occurs again when the rows are applied, where it can be reported.
        try? compare(batch, found)
    }

    private mutating func compare(_ batch: ColumnBatch, _ found: ComparedRows) throws(StoreError) {
        var row = 0
        var covered = 0
        while row < batch.rows {
            if row >= Self.sample, covered * 4 < row {
                poor += 1
                return loseLine()
            }
            if expected == 0 { expected = try find(batch, row) ?? 0 }
            if expected != 0, let run = try run(batch, row) {
                // A few rows are looked up together with others when they are applied.
                if run.count >= Self.fewRows {
                    found.note(run, state.catalog)
                    covered += run.count
                }
                expected = expected &+ UInt32(run.count)
                misses = 0
                row += run.count
                continue
            }
            if expected != 0, let number = try next(batch, row, tries: 1 + min(misses, 3)),
                number != expected
            {
                // The row is examined again, as the first of a run.
                expected = number
                continue
            }
            misses += 1
            if misses >= Self.mostMisses { loseLine() }
            if misses >= Self.mostMisses * 2 {
                poor += 1
                return
            }
            row += 1
        }
        poor = 0
    }

    /// The rows from one on that are about the expected object and the next ones; nil if not even the first
    /// is.
    private mutating func run(_ batch: ColumnBatch, _ row: Int) throws(StoreError)
        -> ComparedRows.Run?
    {
        let group = BatchProbes.group
        let cell = state.directories[comparison.tree][expected]
        guard !cell.isEmpty, let view = try view(cell.handle) else { return nil }
        let block = view.block
        let most = min(group, batch.rows - row, block.rows - cell.slot)
        var count = 1
        while count < most,
            state.directories[comparison.tree][expected &+ UInt32(count)].place
                == cell.place &+ UInt64(count)
        {
            count += 1
        }
        let key = comparison.key
        // If there are enough rows on both sides, a whole group is compared at once.
        let isWhole = most == group
        var other: UInt32 = 0
        if isWhole {
            other = try batch.columns[key].differing(
                row, view.cells + key, view, cell.slot, keepsUntouched: false)
            // Cells that are both nil are equal, but are no key.
            for place in 0..<count where batch.columns[key].isNil(row: row &+ place) {
                other |= 1 &<< UInt32(place)
            }
        } else {
            for place in 0..<count
            where batch.columns[key].isNil(row: row &+ place)
                || !batch.columns[key].isKey(row &+ place, view.cells + key, cell.slot &+ place)
            {
                other |= 1 &<< UInt32(place)
            }
        }
        if other != 0 { count = min(count, other.trailingZeroBitCount) }
        if count == 0 { return nil }
        var differing: UInt32 = 0
        for column in 0..<comparison.columns where column != key {
            let cells = view.cells + column
            let keeps = comparison.keepsColumn[column]
            if isWhole {
                differing |= try batch.columns[column].differing(
                    row, cells, view, cell.slot, keepsUntouched: keeps)
                continue
            }
            for place in 0..<count {
                if keeps,
                    batch.columns[column].states[row &+ place] == ColumnBuffer.State.untouched
                {
                    continue
                }
                if try !batch.columns[column].isEqual(row &+ place, cells, view, cell.slot &+ place)
                {
                    differing |= 1 &<< UInt32(place)
                }
            }
        }
        return ComparedRows.Run(
            row: row, count: count, number: expected, slot: cell.slot, place: block.place,
            differing: differing & (UInt32(1) &<< UInt32(count) &- 1))
    }

    // MARK: The line

    /// The object of a row, if it is the expected one or one of the next.
    private mutating func next(_ batch: ColumnBatch, _ row: Int, tries: Int) throws(StoreError)
        -> UInt32?
    {
        if batch.columns[comparison.key].isNil(row: row) { return nil }
        var (tries, gaps) = (tries, Self.mostGaps)
        var number = expected
        while tries > 0, gaps > 0 {
            let cell = state.directories[comparison.tree][number]
            if !cell.isEmpty, let view = try view(cell.handle) {
                if batch.columns[comparison.key].isKey(
                    row, view.cells + comparison.key, cell.slot)
                {
                    return number
                }
                tries -= 1
            } else {
                gaps -= 1
            }
            number &+= 1
        }
        return nil
    }

    private mutating func loseLine() { expected = 0 }

    private mutating func loseView() {
        near = .none
        nearView = nil
    }

    /// Looks up the object of a row in the index.
    private mutating func find(_ batch: ColumnBatch, _ row: Int) throws(StoreError) -> UInt32? {
        let column = batch.columns[comparison.key]
        guard let hash = column.keyHash(row, seed: state.hashSeed) else { return nil }
        return try state.uniques[comparison.unique].firstCandidate(hash: hash, forCommit: true)
            .first {
                number throws(StoreError) in
                let cell = state.directories[comparison.tree][number]
                guard !cell.isEmpty, let view = try view(cell.handle) else { return false }
                return column.isKey(row, view.cells + comparison.key, cell.slot)
            }
    }

    /// The view of a block of the entity; nil if the block is of another entity.
    @inline(__always)
    private mutating func view(_ handle: BlockHandle) throws(StoreError) -> BlockView? {
        if handle == near { return nearView }
        let entry = state.blocks.entry(handle)
        guard Int(entry.entity) == comparison.entity else { return nil }
        let view: BlockView
        if let known = views[handle] {
            view = known
        } else {
            view = try views.add(
                handle, try reader.block(entry, in: pinned),
                state.catalog.entities[comparison.entity], entity: comparison.entity)
        }
        near = handle
        nearView = view
        return view
    }
}
