// What a context is asked for.

public import CairnModel

/// A request for the objects of an entity, for their ids, for values of them, or for their number.
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
/// `Result` says what is wanted: a class of objects, `ObjectID`, ``DictionaryResult`` or `Int`; see ``FetchRequestResult``.
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
    /// What ``predicate`` and ``havingPredicate`` say of nil, and the conditions in expressions of
    /// ``propertiesToFetch``: what Swift says, or what SQL says.
    ///
    /// ```swift
    /// var request = FetchRequest<Product>(predicate: .compare("note", .notEqual, .string("sold")))
    /// let all = try context.fetch(request)      // those without a note, too
    /// request.nullSemantics = .sql
    /// let noted = try context.fetch(request)    // those with a note that is another one
    /// ```
    ///
    /// A batch delete by a request follows it.
    public var nullSemantics: NullSemantics {
        get { terms.nullSemantics }
        set { terms.rarer.nullSemantics = newValue }
    }
    /// The order. Objects that are equal in it come by id, new ones last.
    public var sortDescriptors: [SortKey] {
        get { terms.sortDescriptors }
        set { terms.sortDescriptors = newValue }
    }
    /// The greatest number of results; 0 = all. Unsaved changes are taken into account first.
    public var fetchLimit: Int {
        get { terms.fetchLimit }
        set { terms.fetchLimit = newValue }
    }
    /// How many results are left out first. Unsaved changes are taken into account first.
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

    /// Asks about the objects of an entity. If objects are wanted, they must be of the class `Result`.
    public init(entityName: String, predicate: PredicateNode? = nil) {
        terms = FetchTerms(entityName: entityName, predicate: predicate)
    }
}
