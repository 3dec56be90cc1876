// Provides the rows of a batch one after the other, whatever their original form.

package import CairnModel

/// Fills rows into batches.
///
/// One call fills as many rows as fit into a batch, so that the loop over the rows is inside the concrete type.
package protocol RowFiller {
    /// Fills rows into a batch until it is full or there are none left; true if there are none left.
    ///
    /// `firstRow` is the number in the request of the batch's first row, for errors.
    ///
    /// - Throws: `StoreError` naming row and key. What the user's code throws becomes the cause of
    ///   `.rowsFailed`, unless it is a `StoreError` already.
    mutating func fill(_ batch: ColumnBatch, firstRow: Int) throws(StoreError) -> Bool
}

extension BatchInsertRequest {
    /// The rows of the request, to be filled into batches of the entity.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if the entity is abstract, or
    ///   `.incompatibleModel` if the closure was written for an entity with other columns.
    package func makeFiller(for entity: SchemaEntity) throws(StoreError) -> any RowFiller {
        guard !entity.isAbstract else {
            throw StoreError(
                .invalidRequest, "an abstract entity has no objects of its own",
                context: .init(entity: entity.name))
        }
        switch source {
        case .writer(let body, let layout):
            guard layout == entity.layout else {
                throw StoreError(
                    .incompatibleModel,
                    "the rows are for an entity whose columns differ from the store's",
                    context: .init(entity: entity.name))
            }
            return WriterFiller(body: body)
        case .resolved(let makeRows, _): return WriterFiller(body: try makeRows(entity))
        case .objects(let makeRows):
            return WriterFiller(body: try makeRows(entity, objectClass))
        case .dictionaries(let rows): return DictionaryFiller(rows: rows, entity: entity)
        case .dictionaryHandler(let handler):
            return DictionaryHandlerFiller(handler: handler, entity: entity)
        case .encodable(let rows): return rows.makeFiller(entity)
        case .recorded(let rows): return rows.filler
        }
    }
}

/// Rows by a closure.
private struct WriterFiller: RowFiller {
    let body: @Sendable (borrowing RowWriter) throws -> Bool

    func fill(_ batch: ColumnBatch, firstRow: Int) throws(StoreError) -> Bool {
        let isEnd = try fillRows(batch, firstRow: firstRow)
        if let (row, error) = batch.lists.pointee.refusal {
            throw StoreError(rowsFailed: error, entity: batch.entity, row: firstRow + row)
        }
        return isEnd
    }

    private func fillRows(_ batch: ColumnBatch, firstRow: Int) throws(StoreError) -> Bool {
        guard let columns = batch.columns.baseAddress else { return true }
        let layout = batch.layout
        let lists = batch.lists
        // A local number: a stored property of a class is checked for exclusive access at each use.
        var row = batch.rows
        defer { batch.rows = row }
        while row < ColumnBatch.capacity, !batch.isLarge {
            let isEnd: Bool
            do {
                isEnd = try body(
                    RowWriter(columns: columns, lists: lists, row: row, layout: layout))
            } catch {
                batch.forget(row: row)
                throw StoreError(rowsFailed: error, entity: batch.entity, row: firstRow + row)
            }
            if isEnd {
                batch.forget(row: row)
                return true
            }
            row += 1
        }
        return false
    }
}

extension StoreError {
    /// Wraps an error thrown by the user's code. An error of this library only gets the row's index.
    init(rowsFailed error: any Error, entity: SchemaEntity, row: Int) {
        if var known = error as? StoreError {
            if known.context.entity == nil { known.context.entity = entity.name }
            if known.context.row == nil { known.context.row = row }
            self = known
        } else {
            self.init(
                .rowsFailed, "the row could not be encoded",
                context: .init(
                    entity: entity.name, row: row,
                    detail: "the row could not be encoded: \(error)"), cause: error)
        }
    }
}
