// A fetch request with Core Data's names.
//
// The parameter says what the results are, and is unconstrained: on Linux `any NSFetchRequestResult` does not conform to the
// protocol, and old code has requests of it everywhere.
//
// Threads: one at a time.

public import Foundation

/// What is to be fetched: objects of an entity, their ids, values of them, or their number.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// What it says, whatever the results are.
    var settings = FetchSettings()

    /// A request without an entity.
    public override init() {}

    /// A request for the objects of an entity.
    public convenience init(entityName: String) {
        self.init()
        settings.entityName = entityName
    }

    /// A request for the objects of a class, whose entity is looked up by whoever carries it out.
    convenience init(entity type: NSManagedObject.Type) {
        self.init()
        settings.objectClass = type
    }

    convenience init(_ settings: FetchSettings, _ stores: [NSPersistentStore]?) {
        self.init()
        self.settings = settings
        affectedStores = stores
    }

    open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    open override func copy(with zone: NSZone? = nil) -> Any {
        NSFetchRequest<ResultType>(settings, affectedStores)
    }

    // MARK: What is fetched

    /// The entity.
    open var entity: NSEntityDescription? {
        get { settings.entity ?? settings.objectClass?.entity() }
        set { settings.entity = newValue }
    }

    /// The entity's name.
    open var entityName: String? {
        settings.entity?.name ?? settings.entityName ?? settings.objectClass?.entity().name
    }

    /// Which objects; nil means all.
    open var predicate: NSPredicate? {
        get { settings.predicate }
        set { settings.predicate = newValue }
    }

    /// The order. Objects that are equal in it come by id.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { settings.sortDescriptors }
        set { settings.sortDescriptors = newValue }
    }

    /// The greatest number of results; 0 means all.
    open var fetchLimit: Int {
        get { settings.fetchLimit }
        set { settings.fetchLimit = newValue }
    }

    /// How many results are left out first.
    open var fetchOffset: Int {
        get { settings.fetchOffset }
        set { settings.fetchOffset = newValue }
    }

    /// Whether objects of the entity's descendants are included.
    open var includesSubentities: Bool {
        get { settings.includesSubentities }
        set { settings.includesSubentities = newValue }
    }

    /// Whether unsaved changes of the context are seen.
    open var includesPendingChanges: Bool {
        get { settings.includesPendingChanges }
        set { settings.includesPendingChanges = newValue }
    }

    // MARK: How it is read

    /// What the results are.
    open var resultType: NSFetchRequestResultType {
        get { settings.resultType }
        set { settings.resultType = newValue }
    }

    /// Whether objects are faults until they are touched. Their values were read all the same.
    open var returnsObjectsAsFaults: Bool {
        get { settings.returnsObjectsAsFaults }
        set { settings.returnsObjectsAsFaults = newValue }
    }

    /// Whether rows are read. False: only the ids are, and each object reads its row when it is touched.
    open var includesPropertyValues: Bool {
        get { settings.includesPropertyValues }
        set { settings.includesPropertyValues = newValue }
    }

    /// Whether objects that the context has already get what is stored now, under their unsaved changes.
    open var shouldRefreshRefetchedObjects: Bool {
        get { settings.shouldRefreshRefetchedObjects }
        set { settings.shouldRefreshRefetchedObjects = newValue }
    }

    /// How many rows are read at once; 0 means all.
    open var fetchBatchSize: Int {
        get { settings.fetchBatchSize }
        set { settings.fetchBatchSize = newValue }
    }

    /// The relationships whose objects are read together with the results.
    open var relationshipKeyPathsForPrefetching: [String]? {
        get { settings.relationshipKeyPathsForPrefetching }
        set { settings.relationshipKeyPathsForPrefetching = newValue }
    }

    // MARK: Dictionaries

    /// The values of a dictionary result: names, key paths across to-one relationships, property descriptions, and
    /// `NSExpressionDescription`s. Nil means all attributes.
    open var propertiesToFetch: [Any]? {
        get { settings.propertiesToFetch }
        set { settings.propertiesToFetch = newValue }
    }

    /// What is equal in the objects that one dictionary is about.
    open var propertiesToGroupBy: [Any]? {
        get { settings.propertiesToGroupBy }
        set { settings.propertiesToGroupBy = newValue }
    }

    /// Which groups are wanted.
    open var havingPredicate: NSPredicate? {
        get { settings.havingPredicate }
        set { settings.havingPredicate = newValue }
    }

    /// Whether of dictionaries that are equal only the first is given.
    open var returnsDistinctResults: Bool {
        get { settings.returnsDistinctResults }
        set { settings.returnsDistinctResults = newValue }
    }

    // MARK: Carrying it out

    /// The results, from the context in whose `perform` or `performAndWait` it is called.
    ///
    /// - Throws: As `fetch(_:)` of a context.
    open func execute() throws -> [ResultType] {
        guard let context = NSManagedObjectContext.current else {
            fatalError("a fetch request can be executed only where a context performs something")
        }
        return try context.fetch(self)
    }
}

/// What the results of a fetch request are.
public struct NSFetchRequestResultType: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt

    /// The options of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Objects.
    public static let managedObjectResultType = NSFetchRequestResultType([])
    /// Ids of objects.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries of values.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// How many there are, as the only result.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}
