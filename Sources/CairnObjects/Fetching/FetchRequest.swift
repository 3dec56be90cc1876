// What a context is asked for.

public import CairnModel

/// A request for the objects of an entity.
///
/// ```swift
/// var request = FetchRequest(entityName: "Product")
/// request.predicate = .compare("price", .less, .double(10))
/// request.sortDescriptors = [SortKey("name")]
/// let cheap = try context.fetch(request)
/// ```
public struct FetchRequest: Sendable, Hashable {
    /// The entity's name.
    public var entityName: String
    /// Which objects; nil = all.
    public var predicate: PredicateNode?
    /// The order. Objects that are equal in it come by id, new ones last.
    public var sortDescriptors: [SortKey] = []
    /// The greatest number of results; 0 = all. Unsaved changes are taken into account first.
    public var fetchLimit = 0
    /// How many results are left out first. Unsaved changes are taken into account first.
    public var fetchOffset = 0
    /// Whether objects of the entity's descendants are included.
    public var includesSubentities = true
    /// Whether unsaved changes of the context are seen. Objects show their unsaved values in any case.
    public var includesPendingChanges = true
    /// Whether objects are faults until they are touched. Their values were read all the same.
    public var returnsObjectsAsFaults = true

    /// Asks for the objects of an entity.
    public init(entityName: String, predicate: PredicateNode? = nil) {
        self.entityName = entityName
        self.predicate = predicate
    }
}
