// Reads rows with typed columns: the methods for programs, and the implementation for stores without a faster way.

package import CairnModel

extension StoreSnapshot {
    /// Calls a closure with each requested object, as a row whose columns have Swift types.
    ///
    /// No values, dictionaries or objects are created for a row, except the values that the closure reads.
    ///
    /// - Throws: what the closure throws, which ends the iteration; `StoreError` as `fetch`, and `.incompatibleModel` if
    ///   the entity differs from the store's.
    /// - Complexity: O(rows examined); rows that match a uniqueness constraint are found directly.
    @inlinable public func read(
        _ request: StoreRead, _ body: (borrowing RowView) throws -> Void
    ) throws {
        var failure: (any Error)?
        try readBatches(request) { batch in
            do {
                try batch.forEachRow(body)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Looks up objects by a unique attribute, and calls a closure with each object that exists, in the order of the keys.
    /// The row's `position` is the index of the key.
    ///
    /// Keys that do not exist are skipped; if a key occurs twice, so does its object; nil finds nothing.
    ///
    /// - Throws: what the closure throws, which ends the iteration; `StoreError` with `.invalidRequest` if the column is
    ///   not a uniqueness constraint on its own, or `.incompatibleModel` if the entity differs from the store's.
    /// - Complexity: O(1) per key.
    @inlinable public func lookUp<Key: AttributeValue>(
        _ request: StoreLookup, _ column: Column<Key>, _ keys: [Key],
        _ body: (borrowing RowView) throws -> Void
    ) throws {
        var next = 0
        try lookUp(
            request,
            keys: { row in
                guard next < keys.count else { return true }
                row.set(column, keys[next])
                next += 1
                return false
            }, body)
    }

    /// Looks up objects by keys of any number of columns: `keys` is called until it returns true, and sets the key's
    /// columns each time, like the closure of a batch insert.
    @inlinable public func lookUp(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowView) throws -> Void
    ) throws {
        var failure: (any Error)?
        try lookUpBatches(request, keys: keys) { batch in
            do {
                try batch.forEachRow(body)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }
}

// MARK: Without a faster way

extension StoreSnapshot {
    /// Throws if an entity is not as in the store, or has not all of the columns.
    package func check(_ entity: SchemaEntity, _ columns: ColumnSet) throws(StoreError) {
        guard entity.index < schema.entities.count,
            schema.entities[entity.index].layout == entity.layout
        else {
            throw StoreError(
                .incompatibleModel,
                "the entity differs from the store's, or has other columns there",
                context: .init(entity: entity.name))
        }
        for column in columns where column >= entity.columns.count {
            throw StoreError(
                .invalidRequest, "the entity has no column \(column)",
                context: .init(entity: entity.name))
        }
    }

    /// Fetches the rows and passes them.
    public func readBatches(_ request: StoreRead, _ body: (borrowing RowBatch) -> Bool)
        throws(StoreError)
    {
        try readBatchesGenerally(request, body)
    }

    /// The same for a store that has a faster way for some questions.
    package func readBatchesGenerally(
        _ request: StoreRead, _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try check(request.entity, request.columns)
        var fetch = request.fetch
        fetch.entity = request.entity.index
        fetch.includesRows = true
        var rows = WholeRows(request.entity, request.columns, in: schema)
        for (position, row) in try self.fetch(fetch).rows.enumerated() {
            if !rows.take(row, position: position, body) { return }
        }
        rows.finish(body)
    }

    /// Fetches the rows key by key and passes them.
    public func lookUpBatches(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try lookUpBatchesGenerally(request, keys: keys, body)
    }

    /// The same for a store that has a faster way for some questions.
    package func lookUpBatchesGenerally(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try check(request.entity, request.columns)
        guard let constraint = request.constraint else { throw request.noConstraint }
        var rows = WholeRows(request.entity, request.columns, in: schema)
        let batch = ColumnBatch(request.entity)
        var position = 0
        while !batch.fillKeys(upTo: 1, keys) {
            let values = constraint.columns.map { batch.value($0, row: 0) }
            batch.reset()
            defer { position += 1 }
            if values.contains(.null) { continue }
            var fetch = StoreFetch(
                entity: request.entity.index,
                predicate: .and(
                    zip(constraint.names, values).map { .compare($0, .equal, $1) }))
            fetch.includesRows = true
            for row in try self.fetch(fetch).rows {
                if !rows.take(row, position: position, body) { return }
            }
        }
        rows.finish(body)
    }
}
