// Gathers rows from wherever they are, and passes them.
//
// Rows come in groups. First the memory of all their cells is asked for, then that of their bytes, and only then is any
// of them read: so a group waits for the memory once and not once for each cell of each row.
//
// Threads: owned by one reading.

import CairnFormat
import CairnStore

struct RowGatherer: ~Copyable {
    /// A row to read.
    struct Target {
        var number: UInt32
        var slot: Int
        var view: PointView
        var position: Int
    }

    let reader: StoreReader
    let pinned: PinnedState<EngineState>
    let origin: RowOrigin
    private let gathered: GatheredRows
    private var views: PointViews
    /// How many columns a view has.
    let width: Int
    /// How many of them are handed over; those behind them are only looked at.
    private let handed: Int
    /// What is gathered, by column of the entity.
    private let columns: UnsafeMutablePointer<ColumnBuffer>
    /// The column of the entity that is at each place of a view.
    private let order: UnsafeMutablePointer<Int>

    /// So many rows are read together.
    static let group = 16

    /// - Parameters:
    ///   - columns: the columns that are handed over.
    ///   - others: what else is looked at.
    init(
        _ reader: StoreReader, _ pinned: PinnedState<EngineState>, entity: Int, columns: ColumnSet,
        others: ColumnSet = []
    ) {
        self.reader = reader
        self.pinned = pinned
        origin = RowOrigin(reader.identity, entity: entity)
        let wanted = Array(columns)
        handed = wanted.count
        let viewed = wanted + others.subtracting(columns)
        width = viewed.count
        let isWhole = wanted.elementsEqual(pinned.state.catalog.entities[entity].columns.indices)
        views = PointViews(
            columns: viewed, version: isWhole ? pinned.state.catalog.version : nil)
        let batch = reader.batches.take(pinned.state.catalog.description(of: entity))
        gathered = GatheredRows(batch, columns: columns)
        guard let base = batch.columns.baseAddress else {
            preconditionFailure("a batch has memory for its columns")
        }
        self.columns = base
        order = .allocate(capacity: views.columns.count)
        order.initialize(from: views.columns, count: views.columns.count)
    }

    deinit { order.deallocate() }

    /// Nothing more is read: the memory is for the next one.
    func finish() { reader.batches.give(gathered.batch) }

    /// Where in a view a column is.
    func index(of column: Int) -> Int? { views.columns.firstIndex(of: column) }

    /// The view of a block; good until `begin`.
    @inline(__always)
    mutating func view(_ handle: BlockHandle) throws(StoreError) -> PointView {
        if let view = views[handle] { return view }
        return try views.add(handle, reader, pinned)
    }

    /// The view of a block, if it is here.
    @inline(__always)
    func known(_ handle: BlockHandle) -> PointView? { views[handle] }

    /// A view of a block that is not kept here: whoever asks keeps it.
    func passingView(_ block: CachedBlock, entity: Int) throws(StoreError) -> PointView {
        try views.make(block, pinned.state.catalog.entities[entity], entity: entity)
    }

    /// Begins a group: views of the one before are not used any more.
    mutating func begin() { views.trim(to: reader.cache.budget) }

    /// Asks for the memory of a row's cells.
    @inline(__always)
    func prefetch(_ target: Target) {
        target.view.prefetch(target.slot, columns: width)
    }

    /// Asks for the memory of its bytes.
    @inline(__always)
    func prefetchBytes(_ target: Target) {
        target.view.prefetchBytes(target.slot, columns: width)
    }

    /// Asks for the memory of its bytes that lie in dictionaries.
    @inline(__always)
    func prefetchEntries(_ target: Target) {
        target.view.prefetchEntries(target.slot, columns: width)
    }

    /// Reads a row, and hands rows over when there are enough of them; false if no more are wanted.
    @inline(__always)
    func read(_ target: Target, _ body: (borrowing RowBatch) -> Bool) throws(StoreError) -> Bool {
        let row = gathered.batch.rows
        let cells = target.view.cells
        let slot = target.slot
        for index in 0..<handed {
            try (columns + order[index]).pointee.copyCell(
                from: cells + index, target.view, slot, to: row)
        }
        gathered.add(number: UInt64(target.number), position: target.position)
        return gathered.isFull ? gathered.hand(origin: origin, to: body) : true
    }

    /// Hands over what is gathered; false if no more is wanted.
    func flush(_ body: (borrowing RowBatch) -> Bool) -> Bool {
        gathered.hand(origin: origin, to: body)
    }
}
