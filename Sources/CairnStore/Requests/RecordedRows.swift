// The rows of a batch, kept so that they can be given again: for a store that may have to carry the request out a second time.
//
// The rows are as they were filled, before anything is checked: they are checked each time.
//
// Threads: written by whoever makes it, read by any.

package import CairnModel

/// Rows that were given once.
package final class RecordedRows: @unchecked Sendable {
    // Nothing of it changes once it is made.
    fileprivate let batches: [ColumnBatch]
    /// What giving the rows ended with.
    fileprivate let failure: StoreError?
    /// Whether they could be given again by themselves, which says how a store treats several rows about one object.
    package let canRepeat: Bool

    /// Takes all rows of a request.
    ///
    /// - Throws: `StoreError` if the request is none for the entity. What goes wrong with a row is thrown when it is given.
    init(_ request: BatchInsertRequest, for entity: SchemaEntity) throws(StoreError) {
        canRepeat = request.canRepeat
        var filler = try request.makeFiller(for: entity)
        var batches: [ColumnBatch] = []
        var failure: StoreError?
        var firstRow = 0
        do throws(StoreError) {
            while true {
                let batch = ColumnBatch(entity)
                batches.append(batch)
                if try filler.fill(batch, firstRow: firstRow) { break }
                firstRow += batch.rows
            }
        } catch {
            failure = error
        }
        self.batches = batches
        self.failure = failure
    }

    /// How many rows there are.
    package var count: Int { batches.reduce(0) { $0 + $1.rows } }

    /// Gives the rows from the first one on.
    var filler: some RowFiller { RecordedFiller(rows: self) }
}

extension BatchInsertRequest {
    /// The same request with rows that can be given as often as anybody likes.
    package func recorded(for entity: SchemaEntity) throws(StoreError) -> BatchInsertRequest {
        var request = self
        request.source = .recorded(try RecordedRows(self, for: entity))
        return request
    }
}

/// Gives recorded rows.
private struct RecordedFiller: RowFiller {
    let rows: RecordedRows
    private var batch = 0
    private var row = 0

    init(rows: RecordedRows) { self.rows = rows }

    mutating func fill(_ target: ColumnBatch, firstRow: Int) throws(StoreError) -> Bool {
        while batch < rows.batches.count {
            let source = rows.batches[batch]
            while row < source.rows {
                if target.rows == ColumnBatch.capacity || target.isLarge { return false }
                target.append(row, of: source)
                row += 1
            }
            batch += 1
            row = 0
        }
        if let failure = rows.failure { throw failure }
        return true
    }
}

extension ColumnBatch {
    /// Appends a row as another batch of the same entity has it.
    fileprivate func append(_ row: Int, of source: ColumnBatch) {
        // The store may have room for the places of the row behind its columns.
        for index in source.columns.indices {
            columns[index].take(source.columns[index], row, to: rows)
        }
        for list in source.lists.pointee.lists(of: row) {
            lists.pointee.append(list.targets, relationship: list.relationship, row: rows)
        }
        rows += 1
    }
}

extension ColumnBuffer {
    /// Sets a cell to what a cell of another buffer of the same kind is set to.
    fileprivate mutating func take(_ source: ColumnBuffer, _ from: Int, to row: Int) {
        let state = source.states[from]
        switch state {
        case State.untouched: return
        case State.null where source.noNumberRow == from: setNoNumber(row: row)
        case State.null: setNil(row: row)
        case State.linked: setLink(source.link(row: from), row: row)
        default:
            guard kind != .bytes else { return setBytes(source.bytes(row: from), row: row) }
            let width = kind.width
            (values + row * width).copyMemory(from: source.values + from * width, byteCount: width)
            states[row] = state
        }
    }
}
