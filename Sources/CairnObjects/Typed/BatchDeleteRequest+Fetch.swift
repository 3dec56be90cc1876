// Batch deletes of what a fetch request would find.

public import CairnStore

extension BatchDeleteRequest {
    /// Deletes the stored objects that a fetch request finds, unsaved changes left out of account. Its condition, order, limit,
    /// offset, and whether subentities and which stores are meant, count.
    ///
    /// ```swift
    /// var request = FetchRequest<Product>(predicate: try PredicateNode(format: "stock == 0"))
    /// request.fetchLimit = 1_000
    /// let result = try context.execute(BatchDeleteRequest(fetchRequest: request))
    /// ```
    public init<Result>(fetchRequest request: FetchRequest<Result>) {
        self.init(entityName: request.entityName, predicate: request.predicate)
        nullSemantics = request.nullSemantics
        includesSubentities = request.includesSubentities
        sortDescriptors = request.sortDescriptors
        fetchLimit = request.fetchLimit
        fetchOffset = request.fetchOffset
        affectedStores = request.affectedStores.map { $0.map(\.identity.identifier) }
    }
}
