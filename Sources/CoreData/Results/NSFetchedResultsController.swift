// A list for a screen, with Core Data's names: the objects of a fetch in sections, by places, kept up to date.
//
// Threads: the context's queue.

import CairnObjects
public import Foundation

/// The objects of a fetch request in sections, for a list on a screen, updated as its context changes.
///
/// With a ``delegate`` the list follows its context; without one it stays as it was fetched.
open class NSFetchedResultsController<ResultType>: ControllerOfResults {
    /// The request. What is changed in it takes effect with the next ``performFetch()``.
    public let fetchRequest: NSFetchRequest<ResultType>

    /// A controller without a list: see ``performFetch()``.
    ///
    /// - Parameters:
    ///   - sectionNameKeyPath: a key path of the entity to a single value; nil for no sections.
    ///   - name: the name under which the list is kept in memory for other controllers; nil for not keeping it.
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName name: String?
    ) {
        self.fetchRequest = fetchRequest
        super.init(
            ResultsState(
                fetchRequest, context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name))
        state.owner = self
    }

    /// One for the list that another one has made.
    init(_ state: ResultsState, _ request: NSFetchRequest<ResultType>) {
        fetchRequest = request
        super.init(state)
    }

    final override var erased: NSFetchedResultsController<any NSFetchRequestResult> {
        self as? NSFetchedResultsController<any NSFetchRequestResult> ?? super.erased
    }

    /// Whose objects are listed.
    open var managedObjectContext: NSManagedObjectContext { state.context }

    /// The key path of section names.
    open var sectionNameKeyPath: String? { state.sectionNameKeyPath }

    /// The name under which the list is kept.
    open var cacheName: String? { state.cacheName }

    /// Who is told of changes.
    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { state.delegate }
        set { state.delegate = newValue }
    }

    /// Fetches the list. The delegate is not told.
    ///
    /// - Throws: An error of the fetch, or if the objects of a section do not stand together in the request's order.
    open func performFetch() throws {
        try withCoreDataErrors(in: state.context) { try state.performFetch() }
    }

    /// Forgets the list that is kept under a name; nil: all lists.
    open class func deleteCache(withName name: String?) {
        FetchedResultsController<ManagedObject>.deleteCache(withName: name)
    }

    // MARK: Objects

    private var core: FetchedResultsController<ManagedObject> {
        guard let core = state.core else {
            preconditionFailure("the controller has no objects: performFetch() was not called")
        }
        return core
    }

    /// All objects in order; nil before ``performFetch()``.
    open var fetchedObjects: [ResultType]? {
        state.core?.fetchedObjects.map { $0.map(Self.result) }
    }

    /// The object of a place. To ask for a place that there is not is a mistake of the program.
    open func object(at indexPath: IndexPath) -> ResultType {
        Self.result(core.object(at: indexPath))
    }

    /// Where an object is; nil if it is not in the list.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        (object as? ManagedObject).flatMap { state.core?.indexPath(forObject: $0) }
    }

    private static func result(_ object: ManagedObject) -> ResultType {
        guard let result = object as? ResultType else {
            preconditionFailure(
                "the objects of the list are of the class \(type(of: object)), which is no \(ResultType.self)"
            )
        }
        return result
    }

    // MARK: Sections

    /// The sections in order; nil before ``performFetch()``. A list without sections has one, whose name is empty.
    open var sections: [any NSFetchedResultsSectionInfo]? {
        state.core?.sections?.map(SectionOfResults.init)
    }

    /// The titles of the sections, each once, in order.
    open var sectionIndexTitles: [String] { state.core?.sectionIndexTitles ?? [] }

    /// The section to show for a title of the index.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        core.section(forSectionIndexTitle: title, at: sectionIndex)
    }
}
