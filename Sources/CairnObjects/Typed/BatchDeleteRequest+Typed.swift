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
    /// Deletes the objects of a class that match a predicate; all of them without one.
    ///
    /// A part of the predicate that no store can answer is an error when the request is carried out.
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
