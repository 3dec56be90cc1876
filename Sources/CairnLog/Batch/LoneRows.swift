// Stored rows that are read individually, for a batch that touches few rows in each of very many blocks:
// decoding a block for one of its thousand rows would cost more than everything else that is done for the
// row.
//
// The rows of a group are read cell by cell into a batch of their own. A view of such a row looks like a
// block with the rows of the group.
//
// Once reading rows of a block has cost as much as decoding it, the block is decoded
// (`CachedBlock.readsNextAlone`).
//
// Invariants: a view is valid until `begin`.
// Threads: used by the holder of the turn alone.

import CairnFormat
import CairnStore

struct LoneRows: ~Copyable {
    /// The number of rows that are read together.
    private static let most = BatchProbes.group

    private let entity: Int
    private let width: Int
    /// The heads of the views of these rows.
    private let heads: UnsafeMutableRawPointer
    private let cells: UnsafeMutablePointer<CellColumn>
    private var rows: [(view: PointView, slot: Int)] = []
    private var batch: ColumnBatch?
    /// The pool that the batch belongs to.
    private var batches: ColumnBatchPool?

    init(_ entity: Int, width: Int) {
        self.entity = entity
        self.width = width
        heads = .allocate(
            byteCount: Self.most * MemoryLayout<ViewHead>.stride,
            alignment: MemoryLayout<ViewHead>.alignment)
        cells = .allocate(capacity: max(1, width))
        cells.initialize(repeating: .absent, count: max(1, width))
    }

    deinit {
        for row in rows { row.view.endHead() }
        if let batch { batches?.give(batch) }
        heads.deallocate()
        cells.deallocate()
    }

    /// Releases the rows.
    @inline(__always)
    mutating func begin() {
        if rows.isEmpty { return }
        for row in rows { row.view.endHead() }
        rows.removeAll(keepingCapacity: true)
        batch?.reset()
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Prefetches a row that is to be read.
    ///
    /// - Returns: The slot that it will have; nil if it has a value with frames of its own, which a batch
    ///   would read as a whole.
    mutating func add(_ block: CachedBlock, _ slot: Int, _ catalog: Catalog) throws(StoreError)
        -> Int?
    {
        let readers = try block.allReaders(
            catalog.entities[entity].columns, version: catalog.version)
        for column in 0..<width where readers[column].isExternal(slot) { return nil }
        let head = heads + rows.count * MemoryLayout<ViewHead>.stride
        head.initializeMemory(as: ViewHead.self, to: ViewHead(block: block, entity: entity))
        let view = PointView(memory: head, cells: readers)
        view.prefetch(slot, columns: width)
        rows.append((view, slot))
        return rows.count - 1
    }

    /// Reads the rows that were added.
    mutating func read(_ builder: borrowing CommitBuilder) throws(StoreError) {
        for row in rows { row.view.prefetchBytes(row.slot, columns: width) }
        batches = builder.reader.batches
        let batch = batch ?? builder.reader.batches.takeWhole(entity, builder.catalog)
        self.batch = batch
        for (index, row) in rows.enumerated() {
            for column in 0..<width {
                try batch.columns[column].copyCell(
                    from: row.view.cells + column, row.view, row.slot, to: index)
            }
            batch.rows = index + 1
        }
        for column in 0..<width { cells[column] = CellColumn(batch.columns[column]) }
    }

    /// The view of a row that was read, as a row of a block.
    @inline(__always)
    func view(_ index: Int) -> BlockView {
        BlockView(memory: rows[index].view.memory, cells: UnsafePointer(cells))
    }
}
