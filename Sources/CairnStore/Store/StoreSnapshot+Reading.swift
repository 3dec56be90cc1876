// Reading rows by typed columns: what people call, and how a store answers that has no faster way.

package import CairnModel
import FoundationEssentials

extension StoreSnapshot {
    /// Calls a closure with each object that is asked for, as a row whose columns are read by their types.
    ///
    /// No value, dictionary or object is made for a row but what the closure takes out of it.
    ///
    /// - Throws: what the closure throws, which ends the reading; `StoreError` as `fetch` does, and
    ///   `.incompatibleModel` if the entity is not as in the store.
    /// - Complexity: O(rows looked at); those that match a uniqueness constraint are found at once.
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

    /// Looks objects up by a unique attribute, and calls a closure with each that there is, in the order of the keys.
    /// `position` of its row is the index of the key.
    ///
    /// A key that nobody has is passed over; one that is given twice is answered twice; nil finds nothing.
    ///
    /// - Throws: what the closure throws, which ends the reading; `StoreError` with `.invalidRequest` if the column
    ///   alone is no uniqueness constraint, or `.incompatibleModel` if the entity is not as in the store.
    /// - Complexity: O(1) a key.
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

    /// The same for keys of any number of columns: `keys` is called until it returns true, and sets the key's columns
    /// each time, as the closure of a batch insert does.
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

    /// Fetches the rows and hands them over.
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
        let gathered = GatheredRows(ColumnBatch(request.entity), columns: request.columns)
        var origin: RowOrigin?
        for (position, row) in try self.fetch(fetch).rows.enumerated() {
            if let known = origin, gathered.isFull || !known.isOrigin(of: row.id),
                !gathered.hand(origin: known, to: body)
            {
                return
            }
            origin = RowOrigin(like: row.id)
            gathered.take(row, schema.entities[row.entity], request.columns, position: position)
        }
        if let origin { _ = gathered.hand(origin: origin, to: body) }
    }

    /// Fetches the rows key by key and hands them over.
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
        let gathered = GatheredRows(ColumnBatch(request.entity), columns: request.columns)
        let batch = ColumnBatch(request.entity)
        var origin: RowOrigin?
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
                if let known = origin, gathered.isFull || !known.isOrigin(of: row.id),
                    !gathered.hand(origin: known, to: body)
                {
                    return
                }
                origin = RowOrigin(like: row.id)
                gathered.take(
                    row, schema.entities[row.entity], request.columns, position: position)
            }
        }
        if let origin { _ = gathered.hand(origin: origin, to: body) }
    }
}

extension GatheredRows {
    /// Takes a row over, of the entity that is read or a descendant: their columns are the first of the row's.
    func take(
        _ row: Row, _ entity: SchemaEntity, _ columns: ColumnSet, position: Int
    ) {
        for column in columns {
            batch.columns[column].take(row.cells, column, of: entity, to: batch.rows)
        }
        add(number: row.id.reference, position: position)
    }
}

extension ColumnBuffer {
    /// Takes a cell of a row over.
    fileprivate mutating func take(
        _ cells: RowCells, _ column: Int, of entity: SchemaEntity, to row: Int
    ) {
        if cells.isNull(column) { return setNil(row: row) }
        if case .reference = entity.columns[column].kind {
            let word = cells.word(column, columns: entity.columns.count)
            let isTemporary = word & StoreIdentity.temporaryMark != 0
            return setInteger(
                Int64(bitPattern: isTemporary ? word : word & StoreNumbers.mask), row: row)
        }
        // The hierarchies name references alone.
        let noStore = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        let nobody = StoreIdentity(identifier: noStore, hierarchies: [])
        guard store(cells.value(column, of: entity, in: nobody), row: row) else {
            preconditionFailure("a row has values of its columns' types")
        }
    }
}
