// Fetching values and numbers: what is stored is asked for as a table.
//
//   1. Names become columns; names in what is grouped by that are those of expressions become these.
//   2. The store answers. Values are made into the types that were asked for.

public import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// The values of a request, in order. Only stored values count, not unsaved changes.
    ///
    /// Groups are in the order of their keys, unless ``FetchRequest/sortDescriptors`` say otherwise: these accept paths
    /// and names of ``FetchRequest/propertiesToFetch``. Limit and offset count rows.
    ///
    /// ```swift
    /// var request = FetchRequest<DictionaryResult>(entityName: "Product")
    /// request.propertiesToFetch = ["name", "shop.name"]
    /// for row in try context.fetch(request) { print(row["name"] as? String ?? "", row["shop.name"] ?? "nowhere") }
    /// ```
    ///
    /// - Throws: `StoreError`: `.invalidRequest` naming the key that does not fit, that has many values, or that is not
    ///   constant in a group; or an error of the store.
    /// - Complexity: that of the store's query.
    @_disfavoredOverload
    public func fetch(_ request: FetchRequest<DictionaryResult>) throws(StoreError)
        -> [DictionaryResult]
    {
        try throwReadError()
        processPendingChanges()
        return try rows(request.terms)
    }

    /// The rows of values that a request asks for.
    func rows(_ terms: FetchTerms) throws(StoreError) -> [DictionaryResult] {
        if board.wants(.fetches) {
            return try watched(.values, terms, count: \.count) { () throws(StoreError) in
                try foundRows(terms)
            }
        }
        return try foundRows(terms)
    }

    private func foundRows(_ terms: FetchTerms) throws(StoreError) -> [DictionaryResult] {
        let table = try table(terms)
        return try results(source().table(table.request), table)
    }

    /// A request for values as a store understands it, and the types of its columns.
    struct TableQuestion: Sendable {
        let request: StoreTableFetch
        let types: [AttributeType]
        let entity: SchemaEntity
    }

    func table(_ terms: FetchTerms) throws(StoreError) -> TableQuestion {
        let entity = try entity(of: terms)
        let properties = terms.rarer.properties(of: entity)
        var fetch = try question(terms, entity).fetch
        // The condition is in two values already, which changes nothing.
        fetch.nullSemantics = terms.nullSemantics
        var table = TableTerms(columns: properties.map { .init($0.name, $0.expression) })
        table.groupBy = terms.rarer.propertiesToGroupBy.map { key in
            if case .property(let name) = key,
                let named = properties.first(where: { $0.name == name })
            {
                return named.expression
            }
            return key.expression
        }
        table.having = terms.rarer.havingPredicate
        table.isDistinct = terms.rarer.returnsDistinctResults
        return TableQuestion(
            request: StoreTableFetch(fetch, table), types: properties.map(\.resultType),
            entity: entity)
    }

    func results(_ found: StoreTable, _ question: TableQuestion) throws(StoreError)
        -> [DictionaryResult]
    {
        let columns = DictionaryResult.Columns(found.columns)
        guard question.types.contains(where: { $0 != .undefined }) else {
            return found.rows.map { DictionaryResult(columns, $0) }
        }
        var results: [DictionaryResult] = []
        results.reserveCapacity(found.rows.count)
        for row in found.rows {
            results.append(
                DictionaryResult(
                    columns, try typed(row, question.types, columns, question.entity)))
        }
        return results
    }

    private func typed(
        _ row: [Value], _ types: [AttributeType], _ columns: DictionaryResult.Columns,
        _ entity: SchemaEntity
    ) throws(StoreError) -> [Value] {
        var row = row
        for (index, type) in types.enumerated() where type != .undefined {
            guard let value = row[index].result(as: type) else {
                throw StoreError(
                    .invalidRequest,
                    "the \(row[index].kindName) cannot be converted to \(type.rawValue)",
                    context: .init(
                        entity: entity.name, key: columns.names[index], value: row[index],
                        detail:
                            "the value \(row[index].predicateFormat) cannot be converted to \(type.rawValue)"
                    ))
            }
            row[index] = value
        }
        return row
    }

    /// How many objects match a request, as the only member of an array; see ``count(for:)``.
    ///
    /// - Throws: As ``count(for:)``.
    @_disfavoredOverload
    public func fetch(_ request: FetchRequest<Int>) throws(StoreError) -> [Int] {
        [try count(for: request)]
    }

    /// The ids of the objects that match a request; see ``fetchObjectIDs(_:)``.
    ///
    /// - Throws: As ``fetchObjectIDs(_:)``.
    @_disfavoredOverload
    public func fetch(_ request: FetchRequest<ObjectID>) throws(StoreError) -> [ObjectID] {
        try fetchObjectIDs(request)
    }
}

extension RarerFetchTerms {
    /// What the rows of a table say. The name of an expression that is grouped by means that expression.
    func properties(of entity: SchemaEntity) -> [PropertyToFetch] {
        if !propertiesToFetch.isEmpty {
            return propertiesToFetch.map { property in
                guard case .property(let name) = property else { return property }
                return propertiesToGroupBy.first { $0.name == name } ?? property
            }
        }
        if !propertiesToGroupBy.isEmpty { return propertiesToGroupBy }
        return entity.columns.filter { $0.relationship == nil }.map { .property($0.name) }
    }

    /// Refuses what only a table of values can give, and names that are none.
    func checkForObjects(_ entityName: String, in schema: Schema) throws(StoreError) {
        if !propertiesToFetch.isEmpty { try checkProperties(entityName, schema) }
        let wrong =
            !propertiesToGroupBy.isEmpty
            ? "propertiesToGroupBy"
            : havingPredicate != nil
                ? "havingPredicate" : returnsDistinctResults ? "returnsDistinctResults" : nil
        guard let wrong else { return }
        throw StoreError(
            .invalidRequest,
            "\(wrong) requires dictionary results: use a FetchRequest<DictionaryResult>",
            context: .init(entity: entityName))
    }

    private func checkProperties(_ entityName: String, _ schema: Schema) throws(StoreError) {
        for property in propertiesToFetch {
            guard case .property(let path) = property else {
                throw StoreError(
                    .invalidRequest,
                    "an expression requires dictionary results: use a FetchRequest<DictionaryResult>",
                    context: .init(entity: entityName, key: property.name))
            }
            guard let entity = schema.entity(named: entityName) else { return }
            if !Self.leadsSomewhere(path, entity, schema) {
                throw StoreError(
                    .invalidRequest, "the entity has no property of this name",
                    context: .init(entity: entityName, key: path))
            }
        }
    }

    /// Whether a key path ends at an attribute, a part of a composite one, a relationship or the object itself.
    private static func leadsSomewhere(
        _ path: String, _ entity: SchemaEntity, _ schema: Schema
    ) -> Bool {
        var (entity, rest) = (entity, path[...])
        while true {
            let first = String(rest.prefix { $0 != "." })
            if let index = entity.relationshipIndex(named: first) {
                if first.count == rest.count { return true }
                entity = schema.entities[entity.relationships[index].destination]
                rest = rest.dropFirst(first.count + 1)
            } else if entity.attributeIndex(named: first) != nil {
                return first.count == rest.count
                    || entity.columnIndex(named: String(rest)) != nil
            } else {
                return ["SELF", "self", "objectID"].contains(rest)
            }
        }
    }
}
