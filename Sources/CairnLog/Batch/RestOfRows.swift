// The rows of a batch insert that exceed the staging memory: filled while the batch holds the write lock.
//
// With a line, a few batches are in progress: the next one is filled while helpers compare those before.
// Without one there is a single batch, which is filled and applied in turn.
//
// An error that the user's code throws comes after errors in the rows before it.
//
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

/// Fills and processes the remaining rows.
struct RestOfRows {
    private var filler: any RowFiller
    private let entity: SchemaEntity
    private let orders: Int
    private let batches: ColumnBatchPool
    private let setOnly: Bool
    private let validates: Bool
    private let line: ListLine?
    /// Batches that can be filled, whatever is in them.
    private var free: [ColumnBatch]
    private var waiting: [ListLine.Item] = []
    private var firstRow: Int
    private var isEnd = false

    /// The maximum number of batches in progress with a line.
    private static let depth = 6

    /// - Parameters:
    ///   - free: unused batches of the entity, at least one.
    ///   - orders: the number of order keys that they have room for.
    init(
        _ filler: any RowFiller, _ request: BatchInsertRequest, _ line: ListLine?,
        _ batches: ColumnBatchPool, free: [ColumnBatch], orders: Int, firstRow: Int
    ) {
        self.filler = filler
        self.batches = batches
        self.orders = orders
        entity = free[0].entity
        setOnly = request.setOnly
        validates = request.validatesValues
        self.line = line
        self.free = free
        self.firstRow = firstRow
    }

    mutating func insert(into inserter: inout BatchInserter, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        guard let line else {
            let batch = free[0]
            while !isEnd {
                let first = firstRow
                try fill(batch)
                try inserter.insert(batch, firstRow: first, &builder)
            }
            return
        }
        var failure: StoreError?
        while true {
            if !isEnd, failure == nil, waiting.count < Self.depth {
                let batch = free.popLast() ?? batches.take(entity, orders: orders)
                let first = firstRow
                do throws(StoreError) {
                    try fill(batch)
                    waiting.append(line.add(batch, firstRow: first))
                } catch {
                    failure = error
                }
            } else if waiting.isEmpty {
                break
            } else {
                let item = waiting.removeFirst()
                let compared = line.take(item)
                try inserter.insert(
                    item.batch, firstRow: item.firstRow, compared: compared, &builder)
                free.append(item.batch)
            }
        }
        if let failure { throw failure }
    }

    private mutating func fill(_ batch: ColumnBatch) throws(StoreError) {
        batch.reset()
        isEnd = try filler.fill(batch, firstRow: firstRow)
        try batch.seal(firstRow: firstRow, setOnly: setOnly, validates: validates)
        firstRow += batch.rows
    }
}
