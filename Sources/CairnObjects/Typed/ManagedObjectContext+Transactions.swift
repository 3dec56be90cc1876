// Changes as one unit, and deletions by a condition.

public import CairnModel
public import CairnStore
public import FoundationEssentials

extension ManagedObjectContext {
    /// Runs a closure and saves its changes: all of them, or none.
    ///
    /// ```swift
    /// try context.transaction {
    ///     source.balance -= 10
    ///     target.balance += 10
    /// }
    /// ```
    ///
    /// If the closure or the save throws, the context is rolled back. Earlier changes would be saved or lost along with it,
    /// so the context must not have any. A save within the closure is final; what follows it is a separate unit.
    ///
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws, and as ``save()``; `StoreError` with `.invalidRequest` if the context has unsaved
    ///   changes at the start.
    @discardableResult
    public func transaction<Result>(_ block: () throws -> Result) throws -> Result {
        guard !hasChanges else {
            throw StoreError(
                .invalidRequest,
                "the context has unsaved changes, which would be part of the transaction: save them, or roll back"
            )
        }
        do {
            let result = try block()
            try save()
            return result
        } catch {
            rollback()
            throw error
        }
    }

    // MARK: Deleting

    /// Deletes the objects of a class that match a predicate; all of them without one.
    ///
    /// ```swift
    /// try context.delete(model: Product.self, where: #Predicate { $0.price == 0 })
    /// try context.save()
    /// ```
    ///
    /// They are deleted like any other object: unsaved changes count, hooks are called, delete rules apply, the next save
    /// writes it, a rollback takes it back. Each becomes an object of the context for that; for very many, a
    /// ``BatchDeleteRequest`` works in the store alone.
    ///
    /// - Parameters:
    ///   - type: the class.
    ///   - predicate: which objects; nil for all.
    ///   - includeSubclasses: whether objects of subclasses are deleted as well.
    /// - Throws: As ``fetch(_:)->[Result]``; nothing is deleted then.
    public func delete<Model: PersistentEntity>(
        model type: Model.Type, where predicate: Predicate<Model>? = nil,
        includeSubclasses: Bool = true
    ) throws {
        let condition = try predicate.map { try PredicateLowering.tree($0) }
        try deleteAll(type, condition, includeSubclasses)
    }

    /// Deletes the objects of a class that match a predicate, as ``delete(model:where:includeSubclasses:)`` does.
    public func delete<Model: PersistentEntity>(
        model type: Model.Type, where predicate: PredicateNode, includeSubclasses: Bool = true
    ) throws(StoreError) {
        try deleteAll(type, predicate, includeSubclasses)
    }

    private func deleteAll<Model: ManagedObject>(
        _ type: Model.Type, _ predicate: PredicateNode?, _ includeSubclasses: Bool
    ) throws(StoreError) {
        // The class that is given may be a subclass of the one that is known here.
        var request = FetchRequest<Model>(
            entityName: entity(for: type).name, predicate: predicate)
        request.includesSubentities = includeSubclasses
        for object in try fetch(request) { delete(object) }
    }
}
