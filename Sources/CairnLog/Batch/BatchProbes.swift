// Looks ahead at a few rows of a batch: hashes their keys and asks for the memory that carrying them out will touch.
//
// One row after the other would wait for its slot in the index, then for the directory, then for the stored row. Here
// each of these is asked for, for a whole group, before the first of them is used.
//
// What is found is a hint. Rows of the group that come first may change what is stored; so a stored row is taken from
// here only if its directory cell is still the same, and a key that nobody had is looked for again.
//
// Threads: used by the holder of the turn alone.

import CCairn
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
        let isBytes: Bool
    }

    /// The row that the identifying key of a row may belong to, and where it was.
    struct Candidate {
        var number: UInt32 = 0
        var cell = DirectoryCell.empty
        var view: BlockView?
    }

    /// So many rows are looked at together.
    static let group = 16

    let constraints: [Constraint]
    /// Whether a row may get a key that its identity says nothing of: from another constraint, or by a predicate that it comes to
    /// hold.
    let entersOtherKeys: Bool
    private let tree: Int
    /// Whether stored rows will be read.
    private let readsRows: Bool
    private let width: Int
    private var views: BlockViews
    /// By place in the group and constraint.
    private let hashes: UnsafeMutablePointer<UInt64>
    private let hasKey: UnsafeMutablePointer<Bool>
    /// By place in the group.
    private let candidates: UnsafeMutablePointer<Candidate>
    private var first = 0
    private var key = KeyBuffer()

    init(_ entity: Catalog.StoredEntity, _ catalog: Catalog, readsRows: Bool) {
        let constraints = entity.uniques.map { unique in
            let form = catalog.uniques[unique].form
            let column = form.columns[0]
            let kind = entity.columns[column].kind
            let isSingle =
                form.rule == nil && form.columns.count == 1 && (kind == .bytes || kind == .integer)
            return Constraint(
                index: unique, form: form, single: isSingle ? column : -1, isBytes: kind == .bytes)
        }
        // Of the local one: the optimiser (6.3.1) makes a trap of reading a property before all are set.
        entersOtherKeys = constraints.count > 1 || constraints.contains { $0.form.rule != nil }
        self.constraints = constraints
        tree = entity.tree
        self.readsRows = readsRows
        width = entity.columns.count
        views = BlockViews(columns: Array(entity.columns.indices))
        let room = max(1, constraints.count) * Self.group
        hashes = .allocate(capacity: room)
        hashes.initialize(repeating: 0, count: room)
        hasKey = .allocate(capacity: room)
        hasKey.initialize(repeating: false, count: room)
        candidates = .allocate(capacity: Self.group)
        candidates.initialize(repeating: Candidate(), count: Self.group)
    }

    deinit {
        hashes.deallocate()
        hasKey.deallocate()
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
        views.trim(to: builder.engine.cache.budget)
        let seed = builder.seed
        for row in start..<end {
            for constraint in 0..<count {
                let at = (row &- start) &* count &+ constraint
                let hash = hash(batch, row, constraint, seed)
                hasKey[at] = hash != nil
                guard let hash else { continue }
                hashes[at] = hash
                builder.state.uniques[constraints[constraint].index].prefetchPartition(hash: hash)
            }
        }
        for row in start..<end {
            for constraint in 0..<count {
                let at = (row &- start) &* count &+ constraint
                if hasKey[at] {
                    builder.state.uniques[constraints[constraint].index]
                        .prefetchHome(hash: hashes[at])
                }
            }
        }
        for row in start..<end {
            let place = row &- start
            candidates[place] = Candidate()
            guard let constraint = identity(row) else { continue }
            var cursor = builder.state.uniques[constraints[constraint].index]
                .firstCandidate(hash: hashes[place &* count &+ constraint])
            guard let number = cursor.next() else { continue }
            candidates[place].number = number
            builder.state.directories[tree].cells.table.prefetch(number)
        }
        for place in 0..<(end &- start) where candidates[place].number != 0 {
            let cell = builder.state.directories[tree][candidates[place].number]
            if cell.isEmpty || cell.handle == open { continue }
            let view = try view(cell.handle, &builder)
            candidates[place].cell = cell
            candidates[place].view = view
            if readsRows { view.prefetch(cell.slot, columns: width) }
        }
        guard readsRows else { return }
        for place in 0..<(end &- start) {
            if let view = candidates[place].view {
                view.prefetchBytes(candidates[place].cell.slot, columns: width)
            }
        }
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
        if column.pointee.isNil(row: row) { return nil }
        if constraints[constraint].isBytes {
            return KeyBuffer.hash(column.pointee.bytes(row: row), seed: seed)
        }
        return cairn_hash64_words(column.pointee.word(row), 0, 8, seed)
    }

    /// Lets go of all blocks.
    mutating func forget() { views.trim(to: -1) }

    // MARK: What was found, of rows of the group

    /// The hash of a key; nil if the row has none.
    @inline(__always)
    func hash(_ row: Int, _ constraint: Int) -> UInt64? {
        let at = (row &- first) &* constraints.count &+ constraint
        return hasKey[at] ? hashes[at] : nil
    }

    /// The first constraint under which the row has a key.
    @inline(__always)
    func identity(_ row: Int) -> Int? {
        for constraint in 0..<constraints.count
        where hasKey[(row &- first) &* constraints.count &+ constraint] {
            return constraint
        }
        return nil
    }

    /// The stored row that has the identifying key, if it is the first candidate and where it was; nil says nothing.
    @inline(__always)
    func stored(
        _ row: Int, of batch: ColumnBatch, identity: Int, _ builder: borrowing CommitBuilder
    ) -> Candidate? {
        let candidate = candidates[row &- first]
        let single = constraints[identity].single
        guard single >= 0, let view = candidate.view,
            builder.state.directories[tree][candidate.number] == candidate.cell
        else { return nil }
        let cells = view.cells + single
        let slot = candidate.cell.slot
        if cells.pointee.isNil(slot) { return nil }
        let column = batch.columns.baseAddress.unsafelyUnwrapped + single
        if constraints[identity].isBytes {
            if cells.pointee.isExternal(slot) { return nil }
            let (stored, given) = (cells.pointee.bytes(slot), column.pointee.bytes(row: row))
            guard stored.count == given.count, compareCells(stored, given) == 0 else { return nil }
        } else if UInt64(bitPattern: cells.pointee.integer(slot)) != column.pointee.word(row) {
            return nil
        }
        return candidate
    }
}
