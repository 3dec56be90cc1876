public import CairnModel

extension ManagedObject: FetchRequestResult {}

extension FetchRequest {
    /// Asks about the objects of a class: for their ids, values of them, or their number.
    ///
    /// ```swift
    /// let ids = try context.fetch(FetchRequest<ObjectID>(for: Product.self, sortBy: [SortKey("name")]))
    /// ```
    public init<Entity: PersistentEntity>(
        for type: Entity.Type, predicate: PredicateNode? = nil, sortBy keys: [SortKey] = []
    ) {
        terms = FetchTerms(entityName: Entity.entityName, predicate: predicate)
        terms.sortDescriptors = keys
    }
}

extension FetchRequest where Result == ManagedObject {
    /// Asks for the objects of an entity.
    public init(entityName: String, predicate: PredicateNode? = nil) {
        terms = FetchTerms(entityName: entityName, predicate: predicate)
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
        terms = FetchTerms(entityName: Result.entityName, predicate: predicate)
        terms.sortDescriptors = keys
    }
}
