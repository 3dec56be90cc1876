// What a context is asked for.

public import CairnModel

/// A request for the objects of an entity.
///
/// ```swift
/// let cheap = try context.fetch(
///     FetchRequest<Product>(predicate: .compare("price", .less, .double(10))))
///
/// var request = FetchRequest(entityName: "Product")    // objects by key
/// request.sortDescriptors = [SortKey("name")]
/// let all = try context.fetch(request)
/// ```
public struct FetchRequest<Result: ManagedObject>: Sendable, Hashable {
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

    /// Asks for the objects of an entity, which must be of the class `Result`.
    public init(entityName: String, predicate: PredicateNode? = nil) {
        self.entityName = entityName
        self.predicate = predicate
    }

    /// The same request for objects of another class.
    func typed<Other: ManagedObject>(as type: Other.Type) -> FetchRequest<Other> {
        if let same = self as? FetchRequest<Other> { return same }
        var other = FetchRequest<Other>(entityName: entityName, predicate: predicate)
        other.sortDescriptors = sortDescriptors
        other.fetchLimit = fetchLimit
        other.fetchOffset = fetchOffset
        other.includesSubentities = includesSubentities
        other.includesPendingChanges = includesPendingChanges
        other.returnsObjectsAsFaults = returnsObjectsAsFaults
        return other
    }
}

extension FetchRequest where Result == ManagedObject {
    /// Asks for the objects of an entity.
    public init(entityName: String, predicate: PredicateNode? = nil) {
        self.entityName = entityName
        self.predicate = predicate
    }
}

extension FetchRequest where Result: PersistentEntity {
    /// Asks for the objects of a class.
    ///
    /// ```swift
    /// let request = FetchRequest<Product>(
    ///     predicate: .compare("price", .less, .double(10)), sortBy: [SortKey("name")])
    /// ```
    public init(predicate: PredicateNode? = nil, sortBy keys: [SortKey] = []) {
        entityName = Result.entityName
        self.predicate = predicate
        sortDescriptors = keys
    }
}
