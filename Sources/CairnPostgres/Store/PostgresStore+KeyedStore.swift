// The most common queries, each in one round trip and without a transaction: a fault, an object by its key, members with
// their rows.

package import CairnModel
package import CairnStore

extension PostgresStore: KeyedStore {
    private var newest: PostgresSnapshot { PostgresSnapshot(core, NewestQuestions(core)) }

    /// The current row of an object.
    package func row(_ reference: UInt64, entity: Int) throws(StoreError) -> StreamedRow? {
        try checkOpen()
        return try newest.rows([identity.id(reference, entity: entity)])[0].map(StreamedRow.init)
    }

    /// The row that has a key now.
    package func find(
        _ comparison: PredicateNode.Comparison, entity: Int, includesSubentities: Bool
    ) throws(StoreError) -> FoundRow? {
        try checkOpen()
        guard let key = comparison.uniqueKey(of: schema.entities[entity]) else { return nil }
        var fetch = StoreFetch(entity: entity, predicate: .comparison(key))
        fetch.includesSubentities = includesSubentities
        fetch.includesRows = true
        let rows = try newest.fetch(fetch).rows
        return rows.first.map { .row(StreamedRow($0)) } ?? .nothing
    }

    /// The rows of the members of a relationship now.
    package func related(
        _ relationship: Int, entity: Int, owner: UInt64, most: Int, _ room: RowRoom,
        _ body: (StreamedRows) -> Void
    ) throws(StoreError) -> Bool {
        try checkOpen()
        guard let number = UInt32(exactly: owner),
            let rows = try newest.memberRows(
                relationship, entity: entity, owner: number, most: most)
        else { return false }
        for row in rows {
            let place = room.take(
                entity: row.entity, columns: schema.entities[row.entity].columns.count)
            defer { room.give(place) }
            place.take(row.id.reference, row.version, row.cells)
            body(place)
        }
        return true
    }
}

extension StreamedRow {
    fileprivate init(_ row: Row) {
        self.init(
            entity: row.entity, reference: row.id.reference, version: row.version, cells: row.cells)
    }
}

extension PredicateNode.Comparison {
    /// The comparison, if it asks for the one object that has a text or an integer in a property that is unique by itself. The
    /// server answers that alone.
    fileprivate func uniqueKey(of entity: SchemaEntity) -> Self? {
        guard `operator` == .equal, modifier == .direct, options.isEmpty,
            case .keyPath(let name) = left, case .constant(let value) = right,
            let constraint = entity.plainConstraints.first(where: { $0.names == [name] })
        else { return nil }
        switch (entity.columns[constraint.columns[0]].kind, value) {
        case (.attribute(.string), .string), (.attribute(.integer16), .integer),
            (.attribute(.integer32), .integer), (.attribute(.integer64), .integer):
            return self
        default: return nil
        }
    }
}
