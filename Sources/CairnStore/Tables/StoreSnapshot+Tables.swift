// Executes a table request in stores without a faster way.

package import CairnModel

extension StoreSnapshot {
    /// A table of values of the objects that match: each object is read, and each column is evaluated on it.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` with the key or the part of an expression that does not fit, or an error
    ///   in reading.
    /// - Complexity: O(objects that match), and O(n log n) in the rows of the table if they are sorted or grouped.
    public func table(_ request: StoreTableFetch) throws(StoreError) -> StoreTable {
        try tableOfObjects(request)
    }

    /// The same, for those who sometimes have a faster way.
    package func tableOfObjects(_ request: StoreTableFetch) throws(StoreError) -> StoreTable {
        let plan = try TablePlan(request, in: schema)
        var fetch = request.fetch
        fetch.sort = []
        fetch.offset = 0
        fetch.limit = nil
        fetch.includesRows = true
        let found = try self.fetch(fetch)
        let objects = SnapshotObjects(self)
        objects.load(found.rows, along: plan.objectPaths)
        let rows: [[Value]]
        do throws(PredicateFormatError) {
            rows = try plan.rows(
                of: found.rows.map { objects.object(of: $0) }, offset: request.fetch.offset,
                limit: request.fetch.limit)
        } catch {
            throw StoreError(error, entity: plan.entity)
        }
        try objects.rethrow()
        return StoreTable(columns: plan.names, rows: rows, plan: found.plan)
    }
}

extension TablePlan {
    /// The plan of a request, checked against the schema of a store.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the key or the part that does not fit.
    package init(_ request: StoreTableFetch, in schema: Schema) throws(StoreError) {
        guard schema.entities.indices.contains(request.fetch.entity) else {
            throw StoreError(
                .invalidRequest, "the model has no entity with the index \(request.fetch.entity)")
        }
        let entity = schema.entities[request.fetch.entity]
        do throws(PredicateFormatError) {
            try self.init(
                request.terms, sort: request.fetch.sort, of: entity, in: schema,
                nullSemantics: request.fetch.nullSemantics)
        } catch {
            throw StoreError(error, entity: entity)
        }
    }
}
