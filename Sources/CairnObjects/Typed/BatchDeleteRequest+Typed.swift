// Batch deletes for typed classes.

public import CairnModel
public import CairnStore
public import FoundationEssentials

/// A batch delete of a class's objects.
///
/// ```swift
/// let result = try context.execute(BatchDeleteRequest(Product.self, where: #Predicate { $0.stock == 0 }))
/// ```
extension BatchDeleteRequest {
    /// Deletes the objects of a class that match a predicate; nil: all of them.
    ///
    /// If a part of the predicate is not supported by stores, executing the request fails.
    public init<T: PersistentEntity>(_ type: T.Type, where predicate: Predicate<T>? = nil) {
        self.init(entityName: T.entityName)
        guard let predicate else { return }
        do throws(StoreError) {
            target = .matching(try PredicateLowering.tree(predicate), entityName: T.entityName)
        } catch {
            refusal = error
        }
    }

    /// Deletes the objects of a class that meet a condition.
    public init<T: PersistentEntity>(_ type: T.Type, predicate: PredicateNode) {
        self.init(entityName: T.entityName, predicate: predicate)
    }
}
