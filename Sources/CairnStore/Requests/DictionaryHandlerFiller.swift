// Rows as dictionaries that a closure fills.
//
//   1. The closure is called for some rows ahead: keys are looked up once for all of them.
//   2. These are filled as a list of dictionaries is. What does not fit into the batch waits for the next one.
//
// Threads: one owner; the closure runs in the thread that carries the request out.

import CairnModel

/// Fills rows from dictionaries that a closure fills.
struct DictionaryHandlerFiller: RowFiller {
    private let handler: @Sendable (inout [String: Any]) throws -> Bool
    private let entity: SchemaEntity
    /// What was filled and is not in a batch yet.
    private var waiting: DictionaryFiller?
    private var isEnd = false
    /// The number of the next row that the closure is called for.
    private var next = 0

    /// So many rows are filled at once.
    private static let mostRows = 256

    init(
        handler: @escaping @Sendable (inout [String: Any]) throws -> Bool, entity: SchemaEntity
    ) {
        self.handler = handler
        self.entity = entity
    }

    mutating func fill(_ batch: ColumnBatch, firstRow: Int) throws(StoreError) -> Bool {
        while true {
            if waiting == nil {
                if isEnd { return true }
                waiting = try fillSome()
            }
            guard try waiting?.fill(batch, firstRow: firstRow) == true else { return false }
            waiting = nil
        }
    }

    private mutating func fillSome() throws(StoreError) -> DictionaryFiller {
        var rows: [[String: Any]] = []
        while rows.count < Self.mostRows, !isEnd {
            var row: [String: Any] = [:]
            do {
                isEnd = try handler(&row)
            } catch {
                throw StoreError(rowsFailed: error, entity: entity, row: next)
            }
            if isEnd { break }
            rows.append(row)
            next += 1
        }
        return DictionaryFiller(rows: DictionaryRows(rows), entity: entity)
    }
}
