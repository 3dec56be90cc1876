// Compares the rows of a list with the stored ones, on any thread, before they are applied.
//
// A list that covers most of what is stored has mostly come from it, in its order. So the objects of a batch are looked for
// where the ones before were: behind them, some rows at a time, and compared column by column. Where the line is lost the index
// is asked; if that does not help a few times either, the rest of the batch is left alone.
//
// What is not found here is found when the rows are carried out, and what is wrong with a block is told then.
//
// Invariants: no row is in a run unless it has the key of its object.
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
    /// By column: whether an update leaves alone what the row does not name.
    let keepsColumn: [Bool]
    let catalog: Catalog

    /// Nil if rows of the entity are not to be compared: because they are left out if their objects are stored, because
    /// they may be merged or get another key than that by which they are found, or as that is made of several columns.
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

/// Compares one batch after the other.
struct ListComparer: ~Copyable {
    private let comparison: ListComparison
    private let reader: StoreReader
    private let pinned: PinnedState<EngineState>
    private let state: EngineState
    private var views: BlockViews
    /// The number of the object that the next row is probably about; 0 if nobody knows.
    private var expected: UInt32 = 0
    /// Where the one before lies.
    private var near = BlockHandle.none
    private var nearView: BlockView?
    /// So many rows in a row were nowhere.
    private var misses = 0
    /// The first row of the next batch.
    private var nextRow = 0
    /// So many batches in a row were about objects that lie elsewhere.
    private var poor = 0
    /// How many batches there were.
    private var turn = 0

    /// Rows by which it is known whether those of a batch lie together: of a quarter of them runs have to be known.
    private static let sample = 128
    /// Rows that make a run worth telling.
    private static let fewRows = 6
    /// After so many batches that gave nothing only some are looked at.
    private static let mostPoor = 3

    /// After so many rows that were nowhere the index is asked for the next one, and after twice as many nothing more is
    /// looked for.
    private static let mostMisses = 8
    /// So many numbers are passed over where an object is looked for behind the one before.
    private static let mostGaps = 16

    init(_ comparison: ListComparison, _ reader: StoreReader) {
        self.comparison = comparison
        self.reader = reader
        pinned = reader.registry.pin()
        state = pinned.state
        views = BlockViews(columns: Array(0..<comparison.columns))
    }

    /// Compares the rows of a sealed batch, as far as that is worth something.
    ///
    /// - Parameter firstRow: the number of its first row in the request.
    mutating func compare(_ batch: ColumnBatch, firstRow: Int, into found: ComparedRows) {
        if firstRow != nextRow { expected = 0 }
        nextRow = firstRow + batch.rows
        guard state.catalog.describesSame(as: comparison.catalog),
            batch.lists.pointee.all.isEmpty,
            // What leads somewhere is known when it is carried out.
            !comparison.references.contains(where: { batch.columns[$0].mayBeLinked })
        else { return }
        turn &+= 1
        if poor >= Self.mostPoor, turn & 7 != 0 { return }
        // It goes along the blocks, and needs those no more that it has left behind.
        if views.trim(to: reader.cache.budget / 16) { loseView() }
        // Where the batches before were nowhere, the first rows of this one get a try.
        misses = min(misses, Self.mostMisses)
        // What cannot be read is found out again, by who can say so.
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
                // A few rows are looked for together with others when they are carried out.
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
                // The row is looked at again, as the first of a run.
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

    /// The rows from one on that are about the objects from the expected one on; nil if not even that one is.
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
        // Where there are rows enough on both sides a whole group is compared at once.
        let isWhole = most == group
        var other: UInt32 = 0
        if isWhole {
            other = try batch.columns[key].differing(
                row, view.cells + key, view, cell.slot, keepsUntouched: false)
            // Cells that are both nil are equal, and no key.
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

    /// The object of a row by the index.
    private mutating func find(_ batch: ColumnBatch, _ row: Int) throws(StoreError) -> UInt32? {
        let column = batch.columns[comparison.key]
        guard let hash = column.keyHash(row, seed: state.hashSeed) else { return nil }
        return try state.uniques[comparison.unique].firstCandidate(hash: hash).first {
            number throws(StoreError) in
            let cell = state.directories[comparison.tree][number]
            guard !cell.isEmpty, let view = try view(cell.handle) else { return false }
            return column.isKey(row, view.cells + comparison.key, cell.slot)
        }
    }

    /// The view of a block of the entity; nil if it is one of another.
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
