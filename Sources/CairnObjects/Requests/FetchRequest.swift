// What a context is asked for.

public import CairnModel

/// A request for the objects of an entity, their ids, some of their values, or their number.
///
/// ```swift
/// let cheap = try context.fetch(
///     FetchRequest<Product>(predicate: .compare("price", .less, .double(10))))
///
/// var request = FetchRequest(entityName: "Product")    // objects by key
/// request.sortDescriptors = [SortKey("name")]
/// let all = try context.fetch(request)
/// ```
///
/// `Result` determines the kind of results: a class of objects, `ObjectID`, ``DictionaryResult`` or `Int`; see
/// ``FetchRequestResult``.
/// The entity's name is looked up when the request is executed.
public struct FetchRequest<Result: FetchRequestResult>: Sendable, Hashable {
    /// What is asked for, whatever the class of the results.
    var terms: FetchTerms

    /// The entity's name.
    public var entityName: String {
        get { terms.entityName }
        set { terms.entityName = newValue }
    }
    /// Which objects; nil = all.
    public var predicate: PredicateNode? {
        get { terms.predicate }
        set { terms.predicate = newValue }
    }
    /// How ``predicate``, ``havingPredicate`` and the conditions in expressions of ``propertiesToFetch`` treat nil: like
    /// Swift, or like SQL.
    ///
    /// ```swift
    /// var request = FetchRequest<Product>(predicate: .compare("note", .notEqual, .string("sold")))
    /// let all = try context.fetch(request)      // including those without a note
    /// request.nullSemantics = .sql
    /// let noted = try context.fetch(request)    // those with another note
    /// ```
    ///
    /// Batch deletes with the request use it too.
    public var nullSemantics: NullSemantics {
        get { terms.nullSemantics }
        set { terms.rarer.nullSemantics = newValue }
    }
    /// The order. Objects that are equal in it come by id, new ones last.
    public var sortDescriptors: [SortKey] {
        get { terms.sortDescriptors }
        set { terms.sortDescriptors = newValue }
    }
    /// The maximum number of results; 0 = all. Unsaved changes are taken into account first.
    public var fetchLimit: Int {
        get { terms.fetchLimit }
        set { terms.fetchLimit = newValue }
    }
    /// How many results to skip first. Unsaved changes are taken into account first.
    public var fetchOffset: Int {
        get { terms.fetchOffset }
        set { terms.fetchOffset = newValue }
    }
    /// Whether objects of the entity's descendants are included.
    public var includesSubentities: Bool {
        get { terms.includesSubentities }
        set { terms.includesSubentities = newValue }
    }
    /// Whether unsaved changes of the context are seen. Objects show their unsaved values in any case.
    public var includesPendingChanges: Bool {
        get { terms.includesPendingChanges }
        set { terms.includesPendingChanges = newValue }
    }
    /// Whether objects are faults until they are touched. Their values were read all the same.
    public var returnsObjectsAsFaults: Bool {
        get { terms.returnsObjectsAsFaults }
        set { terms.returnsObjectsAsFaults = newValue }
    }

    /// Requests the objects of an entity. If the results are objects, they must have the class `Result`.
    public init(entityName: String, predicate: PredicateNode? = nil) {
        terms = FetchTerms(entityName: entityName, predicate: predicate)
    }
}
