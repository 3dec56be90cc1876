// Gathers rows from different blocks, and passes them to the caller.
//
// Rows come in groups. First the memory of all their cells is prefetched, then that of their bytes, and only
// then is any of them read: a group waits for memory once, and not once for each cell of each row.
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
    private var gathered: GatheredRows
    private var views: PointViews
    /// The number of columns in a view.
    let width: Int
    /// The number of columns that are passed to the caller; those after them are only compared.
    private let handed: Int
    /// The gathered rows, by column of the entity.
    private var columns: UnsafeMutablePointer<ColumnBuffer>
    /// The column of the entity at each place of a view.
    private let order: UnsafeMutablePointer<Int>

    /// The number of gatherers that read for the same request at the same time.
    var sharers = 1

    /// The number of rows that are read together.
    static let group = 16

    /// - Parameters:
    ///   - columns: the columns that are passed to the caller.
    ///   - others: further columns to read.
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
        self.columns = Self.columns(of: batch)
        order = .allocate(capacity: views.columns.count)
        order.initialize(from: views.columns, count: views.columns.count)
    }

    deinit { order.deallocate() }

    private static func columns(of batch: ColumnBatch) -> UnsafeMutablePointer<ColumnBuffer> {
        guard let columns = batch.columns.baseAddress else {
            preconditionFailure("a batch has memory for its columns")
        }
        return columns
    }

    /// Exchanges the gathered rows for others of the same columns, to which the next rows are added.
    mutating func exchange(_ other: inout GatheredRows) {
        swap(&gathered, &other)
        columns = Self.columns(of: gathered.batch)
    }

    /// Returns the memory for reuse; nothing more is read.
    func finish() { reader.batches.give(gathered.batch) }

    /// Returns the index of a column in a view.
    func index(of column: Int) -> Int? { views.columns.firstIndex(of: column) }

    /// Returns the view of a block; valid until `begin`.
    @inline(__always)
    mutating func view(_ handle: BlockHandle) throws(StoreError) -> PointView {
        if let view = views[handle] { return view }
        return try views.add(handle, reader, pinned)
    }

    /// Returns the view of a block, if there is one.
    @inline(__always)
    func known(_ handle: BlockHandle) -> PointView? { views[handle] }

    /// Returns a view of a block that is not kept here: the caller keeps it.
    func passingView(_ block: CachedBlock, entity: Int) throws(StoreError) -> PointView {
        try views.make(block, pinned.state.catalog.entities[entity], entity: entity)
    }

    /// Begins a group: views of the previous one are no longer used.
    mutating func begin() { views.trim(to: reader.cache.readingBudget / sharers) }

    /// Prefetches the memory of a row's cells.
    @inline(__always)
    func prefetch(_ target: Target) {
        target.view.prefetch(target.slot, columns: width)
    }

    /// Prefetches the memory of its bytes.
    @inline(__always)
    func prefetchBytes(_ target: Target) {
        target.view.prefetchBytes(target.slot, columns: width)
    }

    /// Prefetches the memory of its bytes in dictionaries.
    @inline(__always)
    func prefetchEntries(_ target: Target) {
        target.view.prefetchEntries(target.slot, columns: width)
    }

    /// Whether the gathered rows are to be passed before there are more.
    var isFull: Bool { gathered.isFull }

    /// Reads a row, and passes the gathered rows once there are enough of them; false if no more are wanted.
    @inline(__always)
    func read(_ target: Target, _ body: (borrowing RowBatch) -> Bool) throws(StoreError) -> Bool {
        try add(target)
        return isFull ? flush(body) : true
    }

    /// Reads a row, and adds it to the gathered rows, which are not full.
    @inline(__always)
    func add(_ target: Target) throws(StoreError) {
        let row = gathered.batch.rows
        let cells = target.view.cells
        let slot = target.slot
        for index in 0..<handed {
            try (columns + order[index]).pointee.copyCell(
                from: cells + index, target.view, slot, to: row)
        }
        gathered.add(number: UInt64(target.number), position: target.position)
    }

    /// Passes the gathered rows; false if no more are wanted.
    func flush(_ body: (borrowing RowBatch) -> Bool) -> Bool {
        gathered.hand(origin: origin, to: body)
    }
}
