// Looks ahead at a few rows of a batch: hashes their keys and prefetches the memory that processing them will touch.
//
// One row after the other would wait for its slot in the index, then for the directory, then for the stored row. Here
// each of these is asked for, for a whole group, before the first of them is used.
//
// Most lists come in the order in which their objects were stored. So the object after that of the row before is looked at
// first: its number, its place and its key lie behind those that were read last, and neither a hash nor the index is needed.
// How far that holds is noticed as it goes along; what does not follow is looked for in the index.
//
// What is found is a hint. Rows of the group that come first may change what is stored; so a stored row is taken from
// here only if its directory cell is still the same, and a key that nobody had is looked for again.
//
// Threads: used by the holder of the turn alone.

import CairnFormat
import CairnStore

struct BatchProbes: ~Copyable {
    /// A uniqueness constraint of the batch's entity.
    struct Constraint {
        /// The index in the catalog.
        let index: Int
        let form: KeyForm
        /// The column, if it is one alone whose cells are compared as they are; else -1.
        let single: Int
    }

    /// The row that the identifying key of a row may belong to, and where it was.
    struct Candidate {
        var number: UInt32 = 0
        var cell = DirectoryCell.empty
        /// What shows the row, and as which one.
        var view: BlockView?
        var slot = 0
        /// Whether the row there has the key.
        var isSure = false
    }

    /// What is known of a key.
    private enum Key {
        /// The row has none.
        static let none: UInt8 = 0
        /// Its hash.
        static let hashed: UInt8 = 1
        /// That the candidate has it; the hash is not known.
        static let met: UInt8 = 2
    }

    /// So many rows are looked at together.
    static let group = 16

    let constraints: [Constraint]
    /// Whether a row may get a key that its identity says nothing of: from another constraint, by a predicate that it comes to
    /// hold, or as a sum.
    let entersOtherKeys: Bool
    private let tree: Int
    /// Whether stored rows will be read.
    private let readsRows: Bool
    private let width: Int
    private var views: BlockViews
    private var lone: LoneRows
    /// Whether rows may be read by themselves: what an order is made of is asked of the block.
    private let readsAlone: Bool
    /// By place in the group and constraint.
    private let hashes: UnsafeMutablePointer<UInt64>
    private let keys: UnsafeMutablePointer<UInt8>
    /// By place in the group.
    private let candidates: UnsafeMutablePointer<Candidate>
    private var first = 0
    private var key = KeyBuffer()
    private let entity: Int
    /// Whether rows may be looked for behind the one before. Where a row may get other keys than that by which it is found, two
    /// objects may have one for the time being, and which of them is meant the index says.
    let canFollow: Bool
    /// The number of the object that the next row is probably about; 0 if nobody knows.
    private var expected: UInt32 = 0
    /// So many rows in a row were not about what was expected.
    private var misses = 0
    /// The object that was found last.
    private var last: UInt32 = 0
    /// Where the object before the expected one lies.
    private var near = BlockHandle.none
    private var nearView: BlockView?

    /// Where the stored rows of the group are, if they lie one behind the other in one block and have its keys.
    private(set) var run: Run?

    /// Stored rows of one block with numbers that follow each other.
    struct Run {
        let number: UInt32
        let view: BlockView
        let slot: Int
        /// The column of the key, which needs no comparing any more.
        let key: Int
    }

    /// So many numbers are tried that have no row of the entity.
    private static let mostGaps = 16
    /// After so many rows that were not about what was expected nothing is expected any more.
    private static let mostMisses = 8

    /// - Parameters:
    ///   - follows: whether the stored row is asked for before any hash.
    ///   - changesKeys: whether a row may get another key than that by which its object is found.
    init(
        _ index: Int, _ catalog: Catalog, readsRows: Bool, follows: Bool = false,
        changesKeys: Bool = false
    ) {
        let entity = catalog.entities[index]
        let constraints = entity.uniques.map { unique in
            let form = catalog.uniques[unique].form
            return Constraint(
                index: unique, form: form, single: form.plainColumn(of: entity) ?? -1)
        }
        // Of the local one: the optimiser (6.3.1) makes a trap of reading a property before all are set.
        let entersOtherKeys =
            changesKeys || constraints.count > 1 || constraints.contains { $0.form.rule != nil }
        self.entersOtherKeys = entersOtherKeys
        canFollow =
            follows && readsRows && !entersOtherKeys && constraints.contains { $0.single >= 0 }
        self.entity = index
        self.constraints = constraints
        tree = entity.tree
        self.readsRows = readsRows
        width = entity.columns.count
        readsAlone = readsRows && entity.orders.isEmpty
        views = BlockViews(columns: Array(entity.columns.indices))
        lone = LoneRows(index, width: entity.columns.count)
        let room = max(1, constraints.count) * Self.group
        hashes = .allocate(capacity: room)
        hashes.initialize(repeating: 0, count: room)
        keys = .allocate(capacity: room)
        keys.initialize(repeating: Key.none, count: room)
        candidates = .allocate(capacity: Self.group)
        candidates.initialize(repeating: Candidate(), count: Self.group)
    }

    deinit {
        hashes.deallocate()
        keys.deallocate()
        candidates.deallocate()
    }

    // MARK: Looking

    /// Looks at rows of a batch. Those in the block that is open are not looked for: it has no bytes yet.
    mutating func look(
        _ batch: ColumnBatch, from start: Int, to end: Int, open: BlockHandle,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        first = start
        let count = constraints.count
        if count == 0 { return }
        if views.trim(to: builder.reader.cache.budget) { leaveRun() }
        lone.begin()
        run = nil
        if expected != 0, end &- start == Self.group, try followAll(batch, open, &builder) {
            return
        }
        let seed = builder.seed
        var isWhole = true
        for row in start..<end {
            let place = row &- start
            candidates[place] = Candidate()
            if expected != 0, try follow(batch, row, open, &builder) {
                keys[place] = Key.met
                continue
            }
            isWhole = false
            for constraint in 0..<count {
                let at = place &* count &+ constraint
                let hash = hash(batch, row, constraint, seed)
                keys[at] = hash == nil ? Key.none : Key.hashed
                guard let hash else { continue }
                hashes[at] = hash
                builder.state.uniques[constraints[constraint].index].prefetchPartition(hash: hash)
            }
        }
        if isWhole { return }
        for place in 0..<(end &- start) {
            for constraint in 0..<count where keys[place &* count &+ constraint] == Key.hashed {
                builder.state.uniques[constraints[constraint].index]
                    .prefetchHome(hash: hashes[place &* count &+ constraint])
            }
        }
        for row in start..<end {
            let place = row &- start
            if candidates[place].isSure {
                last = candidates[place].number
                continue
            }
            guard let constraint = identity(row) else { continue }
            var cursor = builder.state.uniques[constraints[constraint].index]
                .firstCandidate(hash: hashes[place &* count &+ constraint])
            guard let number = cursor.next() else { continue }
            candidates[place].number = number
            builder.state.directories[tree].cells.table.prefetch(number)
            if canFollow { expect(number) }
        }
        for place in 0..<(end &- start)
        where candidates[place].number != 0 && !candidates[place].isSure {
            let cell = builder.state.directories[tree][candidates[place].number]
            if cell.isEmpty || cell.handle == open { continue }
            candidates[place].cell = cell
            candidates[place].slot = cell.slot
            if let view = views[cell.handle] {
                candidates[place].view = view
                if readsRows { view.prefetch(cell.slot, columns: width) }
            } else {
                try meet(cell, place, &builder)
            }
        }
        guard readsRows else { return }
        for place in 0..<(end &- start) where !candidates[place].isSure {
            if let view = candidates[place].view {
                view.prefetchBytes(candidates[place].slot, columns: width)
            }
        }
        if readsAlone { try readAlone(end &- start, &builder) }
    }

    /// Notes what shows a row of a block that has no view yet: the block, or that the row is to be read by itself.
    @inline(never)
    private mutating func meet(
        _ cell: DirectoryCell, _ place: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        if readsAlone, Int(builder.state.blocks.entry(cell.handle).entity) == entity {
            let block = try builder.block(cell.handle)
            if block.readsNextAlone(),
                let slot = try lone.add(block, cell.slot, builder.catalog)
            {
                candidates[place].slot = slot
                return
            }
        }
        let view = try view(cell.handle, &builder)
        candidates[place].view = view
        if readsRows { view.prefetch(cell.slot, columns: width) }
    }

    /// Reads the rows that are read by themselves.
    @inline(__always)
    private mutating func readAlone(_ count: Int, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        if lone.isEmpty { return }
        try lone.read(builder)
        for place in 0..<count
        where candidates[place].view == nil && !candidates[place].cell.isEmpty {
            candidates[place].view = lone.view(candidates[place].slot)
        }
    }

    // MARK: Following

    /// Whether a row is about the object that is expected, or one of those behind it if rows before it were not: then that is
    /// its candidate.
    @inline(__always)
    private mutating func follow(
        _ batch: ColumnBatch, _ row: Int, _ open: BlockHandle, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Bool {
        let column = batch.columns.baseAddress.unsafelyUnwrapped + constraints[0].single
        if column.pointee.isNil(row: row) { return false }
        var number = expected
        var tries = 1 &+ min(misses, 3)
        var gaps = Self.mostGaps
        while tries > 0, gaps > 0 {
            let cell = builder.state.directories[tree][number]
            if !cell.isEmpty, cell.handle != open,
                let view = try viewInRun(cell.handle, &builder)
            {
                if hasKey(row, column, view, cell.slot, 0) {
                    candidates[row &- first] = Candidate(
                        number: number, cell: cell, view: view, slot: cell.slot, isSure: true)
                    last = number
                    expected = number &+ 1
                    misses = 0
                    return true
                }
                tries &-= 1
            } else {
                gaps &-= 1
            }
            number &+= 1
        }
        misses &+= 1
        if misses > Self.mostMisses { leaveRun() }
        return false
    }

    /// Whether a whole group is about the objects that are expected, as they lie in one block.
    private mutating func followAll(
        _ batch: ColumnBatch, _ open: BlockHandle, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Bool {
        let cell = builder.state.directories[tree][expected]
        if cell.isEmpty || cell.handle == open
            || cell.slot &+ Self.group > FormatLimits.maximumRows
        {
            return false
        }
        let place = cell.place
        for step in 0..<Self.group {
            let other = builder.state.directories[tree][expected &+ UInt32(step)]
            if other.place != place &+ UInt64(step) { return false }
            candidates[step].cell = other
        }
        guard let view = try viewInRun(cell.handle, &builder) else { return false }
        let single = constraints[0].single
        let column = batch.columns.baseAddress.unsafelyUnwrapped + single
        guard
            try column.pointee.differing(
                first, view.cells + single, view, cell.slot, keepsUntouched: false) == 0
        else { return false }
        // Cells that are both nil are equal, and no key.
        for row in first..<first &+ Self.group where column.pointee.isNil(row: row) {
            return false
        }
        for step in 0..<Self.group {
            candidates[step].number = expected &+ UInt32(step)
            candidates[step].view = view
            candidates[step].slot = candidates[step].cell.slot
            candidates[step].isSure = true
            keys[step] = Key.met
        }
        run = Run(number: expected, view: view, slot: cell.slot, key: single)
        expected = expected &+ UInt32(Self.group)
        last = expected &- 1
        misses = 0
        return true
    }

    // MARK: Rows that were compared

    /// Whether the objects of a run are still where they were compared. Then the next rows are expected behind them.
    @inline(__always)
    mutating func accepts(_ run: ComparedRows.Run, _ builder: borrowing CommitBuilder) -> Bool {
        let cell = builder.state.directories[tree][run.number]
        if cell.isEmpty || cell.slot != run.slot { return false }
        for step in 1..<max(1, run.count) {
            let other = builder.state.directories[tree][run.number &+ UInt32(step)]
            if other.place != cell.place &+ UInt64(step) { return false }
        }
        // A block that is open has no place.
        guard builder.state.blocks.entry(cell.handle).place == run.place else { return false }
        self.run = nil
        expected = run.number &+ UInt32(run.count)
        last = expected &- 1
        misses = 0
        return true
    }

    /// Makes objects of a run that was accepted the candidates of its rows, of those that differ.
    mutating func take(_ run: ComparedRows.Run, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        first = run.row
        if views.trim(to: builder.reader.cache.budget) {
            near = .none
            nearView = nil
        }
        let handle = builder.state.directories[tree][run.number].handle
        let view = try viewInRun(handle, &builder)
        var rest = run.differing
        while rest != 0 {
            let step = rest.trailingZeroBitCount
            let number = run.number &+ UInt32(step)
            let cell = builder.state.directories[tree][number]
            candidates[step] = Candidate(
                number: number, cell: cell, view: view, slot: cell.slot, isSure: true)
            keys[step] = Key.met
            rest &= rest &- 1
        }
    }

    /// The view of a block of the entity; nil if it is one of another.
    @inline(__always)
    private mutating func viewInRun(_ handle: BlockHandle, _ builder: inout CommitBuilder)
        throws(StoreError) -> BlockView?
    {
        if handle == near { return nearView }
        return try moveRun(to: handle, &builder)
    }

    @inline(never)
    private mutating func moveRun(to handle: BlockHandle, _ builder: inout CommitBuilder)
        throws(StoreError) -> BlockView?
    {
        guard Int(builder.state.blocks.entry(handle).entity) == entity else { return nil }
        let view = try view(handle, &builder)
        near = handle
        nearView = view
        return view
    }

    /// Notes the object of a row that was found by the index: if it lies near the one before, the next rows may follow it.
    @inline(__always)
    private mutating func expect(_ number: UInt32) {
        if number &- last &- 1 < 4, misses > 0 || number >= expected {
            expected = number &+ 1
            misses = 0
        }
        last = number
    }

    /// Nothing is expected any more, and no view is kept.
    private mutating func leaveRun() {
        expected = 0
        misses = 0
        near = .none
        nearView = nil
    }

    /// Whether a stored row has the key of a row of the batch, where that is one column alone.
    @inline(__always)
    private func hasKey(
        _ row: Int, _ column: UnsafeMutablePointer<ColumnBuffer>, _ view: BlockView, _ slot: Int,
        _ constraint: Int
    ) -> Bool {
        column.pointee.isKey(row, view.cells + constraints[constraint].single, slot)
    }

    /// The view of a block; good until the next look.
    @inline(__always)
    mutating func view(_ handle: BlockHandle, _ builder: inout CommitBuilder)
        throws(StoreError) -> BlockView
    {
        if let view = views[handle] { return view }
        return try add(handle, &builder)
    }

    @inline(never)
    private mutating func add(_ handle: BlockHandle, _ builder: inout CommitBuilder)
        throws(StoreError) -> BlockView
    {
        let entity = Int(builder.state.blocks.entry(handle).entity)
        return try views.add(
            handle, try builder.block(handle), builder.catalog.entities[entity], entity: entity)
    }

    @inline(__always)
    private mutating func hash(_ batch: ColumnBatch, _ row: Int, _ constraint: Int, _ seed: UInt64)
        -> UInt64?
    {
        let single = constraints[constraint].single
        if single < 0 {
            return key.load(batch, row: row, constraints[constraint].form)
                ? key.hash(seed: seed) : nil
        }
        let column = batch.columns.baseAddress.unsafelyUnwrapped + single
        return column.pointee.keyHash(row, seed: seed)
    }

    /// What shows a stored row that was found by its key, and as which one.
    mutating func view(
        of number: UInt32, _ cell: DirectoryCell, for row: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) -> (view: BlockView, slot: Int) {
        let candidate = candidates[row &- first]
        if candidate.number == number, candidate.cell == cell, let view = candidate.view {
            return (view, candidate.slot)
        }
        return (try view(cell.handle, &builder), cell.slot)
    }

    /// Lets go of all blocks.
    mutating func forget() {
        leaveRun()
        views.trim(to: -1)
        lone.begin()
    }

    // MARK: What was found, of rows of the group

    /// The hash of a key; nil if the row has none.
    @inline(__always)
    func hash(_ row: Int, _ constraint: Int) -> UInt64? {
        let at = (row &- first) &* constraints.count &+ constraint
        assert(keys[at] != Key.met, "the stored row is looked up before its hash is needed")
        return keys[at] == Key.none ? nil : hashes[at]
    }

    /// The first constraint under which the row has a key.
    @inline(__always)
    func identity(_ row: Int) -> Int? {
        for constraint in 0..<constraints.count
        where keys[(row &- first) &* constraints.count &+ constraint] != Key.none {
            return constraint
        }
        return nil
    }

    /// The stored row that has the identifying key, if it is the first candidate and where it was; nil says nothing.
    @inline(__always)
    mutating func stored(
        _ row: Int, of batch: ColumnBatch, identity: Int, _ builder: borrowing CommitBuilder
    ) -> Candidate? {
        let place = row &- first
        if candidates[place].isSure {
            if builder.state.directories[tree][candidates[place].number] == candidates[place].cell {
                return candidates[place]
            }
            // A row before has changed it, so the index is to be asked.
            if let hash = hash(batch, row, identity, builder.seed) {
                hashes[place &* constraints.count &+ identity] = hash
                keys[place &* constraints.count &+ identity] = Key.hashed
            }
            return nil
        }
        let candidate = candidates[place]
        let single = constraints[identity].single
        guard single >= 0, let view = candidate.view,
            builder.state.directories[tree][candidate.number] == candidate.cell
        else { return nil }
        let column = batch.columns.baseAddress.unsafelyUnwrapped + single
        return hasKey(row, column, view, candidate.slot, identity) ? candidate : nil
    }
}
