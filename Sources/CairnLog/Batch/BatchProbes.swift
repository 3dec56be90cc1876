// Looks ahead at a few rows of a batch: hashes their keys and prefetches the memory that processing them will
// touch.
//
// Row by row, each would wait for its slot in the index, then for the directory, then for the stored row.
// Here, each of these is requested for a whole group before the first of them is used.
//
// Most lists come in the order in which their objects were stored. So the object after that of the previous
// row is tried first: its number, its place and its key follow those that were read last, and neither a hash
// nor the index is needed. How far that holds is measured along the way; rows that do not follow are looked
// up in the index.
//
// What is found is a hint. Earlier rows of the group may change stored rows. So a stored row is taken from
// here only if its directory cell is unchanged, and a key that no object had is looked up again.
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
        /// The column, if the key is a single column whose cells are compared as they are; else -1.
        let single: Int
    }

    /// The row that the identifying key of a row may belong to, and where it was.
    struct Candidate {
        var number: UInt32 = 0
        var cell = DirectoryCell.empty
        /// The view that shows the row, and the row's index in it.
        var view: BlockView?
        var slot = 0
        /// Whether the row there has the key.
        var isSure = false
    }

    /// What is known about a key.
    private enum Key {
        /// The row has no key.
        static let none: UInt8 = 0
        /// The hash is known.
        static let hashed: UInt8 = 1
        /// The candidate has the key; the hash is unknown.
        static let met: UInt8 = 2
    }

    /// The number of rows that are looked up together.
    static let group = 16

    let constraints: [Constraint]
    /// Whether a row may get a key that its identity does not determine: from another constraint, because a
    /// predicate comes to hold, or as a sum.
    let entersOtherKeys: Bool
    private let tree: Int
    /// Whether stored rows will be read.
    private let readsRows: Bool
    private let width: Int
    private var views: BlockViews
    private var lone: LoneRows
    /// Whether rows may be read individually: order keys are read from the whole block.
    private let readsAlone: Bool
    /// By place in the group and constraint.
    private let hashes: UnsafeMutablePointer<UInt64>
    private let keys: UnsafeMutablePointer<UInt8>
    /// By place in the group.
    private let candidates: UnsafeMutablePointer<Candidate>
    private var first = 0
    private var key = KeyBuffer()
    private let entity: Int
    /// Whether the row after the previous one may be tried first. If rows may get other keys than those by
    /// which they are found, two objects may temporarily have the same key, and only the index determines
    /// which one is meant.
    let canFollow: Bool
    /// The number of the object that the next row is probably about; 0 if unknown.
    private var expected: UInt32 = 0
    /// The number of consecutive rows that were not about the expected object.
    private var misses = 0
    /// The object that was found last.
    private var last: UInt32 = 0
    /// The block of the object before the expected one.
    private var near = BlockHandle.none
    private var nearView: BlockView?

    /// The stored rows of the group, if they are consecutive in one block and have its keys.
    private(set) var run: Run?

    /// Stored rows of one block with consecutive numbers.
    struct Run {
        let number: UInt32
        let view: BlockView
        let slot: Int
        /// The column of the key, which need not be compared again.
        let key: Int
    }

    /// How many numbers without a row of the entity may be skipped.
    private static let mostGaps = 16
    /// The number of consecutive misses after which no object is expected any longer.
    private static let mostMisses = 8

    /// - Parameters:
    ///   - follows: whether the next stored row is tried before any hash.
    ///   - changesKeys: whether a row may get another key than the one by which its object is found.
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
        // Reads the local variable: the optimiser (6.3.1) makes a trap of reading a property before all are
        // set.
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
        readsAlone = entity.orders.isEmpty
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

    /// Looks up rows of a batch. Skips stored rows in the open block, because it has no bytes yet.
    mutating func look(
        _ batch: ColumnBatch, from start: Int, to end: Int, open: BlockHandle,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        first = start
        let count = constraints.count
        if count == 0 { return }
        if views.trim(to: builder.reader.cache.readingBudget) { leaveRun() }
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
                .firstCandidate(hash: hashes[place &* count &+ constraint], forCommit: true)
            guard let number = cursor.next() else { continue }
            candidates[place].number = number
            builder.state.directories[tree].cells.table.prefetch(number)
            if canFollow { expect(number) }
        }
        // Otherwise keys are compared one by one.
        guard readsRows else { return }
        for place in 0..<(end &- start)
        where candidates[place].number != 0 && !candidates[place].isSure {
            let cell = builder.state.directories[tree][candidates[place].number]
            if cell.isEmpty || cell.handle == open { continue }
            candidates[place].cell = cell
            candidates[place].slot = cell.slot
            if let view = views[cell.handle] {
                candidates[place].view = view
                view.prefetch(cell.slot, columns: width)
            } else {
                try meet(cell, place, &builder)
            }
        }
        for place in 0..<(end &- start) where !candidates[place].isSure {
            if let view = candidates[place].view {
                view.prefetchBytes(candidates[place].slot, columns: width)
            }
        }
        if readsAlone { try readAlone(end &- start, &builder) }
    }

    /// Notes what shows a row of a block without a view: the block, or the row that is read individually.
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
        view.prefetch(cell.slot, columns: width)
    }

    /// Reads the rows that are read individually.
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

    /// Whether a row is about the expected object, or about one of the next ones if rows before it were not.
    /// If so, that object becomes its candidate.
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

    /// Whether a whole group is about the expected objects, which are consecutive in one block.
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
        // Cells that are both nil are equal, but are no key.
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

    /// Whether the objects of a run are still where they were compared. If so, the next rows are expected
    /// after them.
    @inline(__always)
    mutating func accepts(_ run: ComparedRows.Run, _ builder: borrowing CommitBuilder) -> Bool {
        let cell = builder.state.directories[tree][run.number]
        if cell.isEmpty || cell.slot != run.slot { return false }
        for step in 1..<max(1, run.count) {
            let other = builder.state.directories[tree][run.number &+ UInt32(step)]
            if other.place != cell.place &+ UInt64(step) { return false }
        }
        // An open block has no place.
        guard builder.state.blocks.entry(cell.handle).place == run.place else { return false }
        self.run = nil
        expected = run.number &+ UInt32(run.count)
        last = expected &- 1
        misses = 0
        return true
    }

    /// Makes the objects of an accepted run the candidates of its rows, for the rows that differ.
    mutating func take(_ run: ComparedRows.Run, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        first = run.row
        if views.trim(to: builder.reader.cache.readingBudget) {
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

    /// The view of a block of the entity; nil if the block is of another entity.
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

    /// Notes the object of a row that the index found: if it is near the previous one, the next rows may
    /// follow it.
    @inline(__always)
    private mutating func expect(_ number: UInt32) {
        if number &- last &- 1 < 4, misses > 0 || number >= expected {
            expected = number &+ 1
            misses = 0
        }
        last = number
    }

    /// Stops expecting objects, and drops the view.
    private mutating func leaveRun() {
        expected = 0
        misses = 0
        near = .none
        nearView = nil
    }

    /// Whether a stored row has the key of a row of the batch, if the key is a single column.
    @inline(__always)
    private func hasKey(
        _ row: Int, _ column: UnsafeMutablePointer<ColumnBuffer>, _ view: BlockView, _ slot: Int,
        _ constraint: Int
    ) -> Bool {
        column.pointee.isKey(row, view.cells + constraints[constraint].single, slot)
    }

    /// The view of a block; valid until the next look.
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

    /// The view of a stored row that was found by its key, and the row's index in it.
    mutating func view(
        of number: UInt32, _ cell: DirectoryCell, for row: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) -> (view: BlockView, slot: Int) {
        let candidate = candidates[row &- first]
        if candidate.number == number, candidate.cell == cell, let view = candidate.view {
            return (view, candidate.slot)
        }
        return (try view(cell.handle, &builder), cell.slot)
    }

    /// Releases all blocks.
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

    /// The stored row with the identifying key, if it is the first candidate and still where it was; nil
    /// means unknown.
    @inline(__always)
    mutating func stored(
        _ row: Int, of batch: ColumnBatch, identity: Int, _ builder: borrowing CommitBuilder
    ) -> Candidate? {
        let place = row &- first
        if candidates[place].isSure {
            if builder.state.directories[tree][candidates[place].number] == candidates[place].cell {
                return candidates[place]
            }
            // An earlier row has changed it, so the index must be used.
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
