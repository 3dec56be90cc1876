// A list for a screen: the objects of a fetch, in sections, by places, kept up to date.
//
// What keeps it is a `ResultsFollower`; the controller gives it a face, and tells its delegate.
//
// Threads: the context's.

public import CairnModel
public import CairnStore
public import Foundation

/// The objects of a fetch request in sections, for a list on a screen, which follows what happens in its context.
///
/// ```swift
/// let controller = FetchedResultsController(
///     fetchRequest: FetchRequest<Product>(sortBy: [SortKey(\Product.category), SortKey(\Product.name)]),
///     managedObjectContext: container.viewContext, sectionNameKeyPath: \.category)
/// controller.delegate = self
/// try controller.performFetch()
/// let first = controller.object(at: IndexPath(item: 0, section: 0))
/// ```
///
/// With a ``delegate`` it follows: after each run of edits, save or merge in the context the list is what a fetch would give,
/// and the delegate is called with what that changes. So it shows unsaved changes, unless the request says not to; and what others
/// write, be it batch requests or other processes, if the context merges it: see
/// ``ManagedObjectContext/automaticallyMergesChangesFromParent``. It follows objects that the predicate, the order and the
/// sections lead to as well: a list sorted by `shop.name` is sorted again when a shop gets another name, once that is stored, as
/// a fetch then has it. An update of an object itself is told also if it is about nothing that the list depends on; an update of
/// a related one only if it changes the list.
///
/// The work for a change depends on what has changed, and on the logarithm of the list. So it is for lists whose predicate
/// asks for the many objects of a relationship, as `ANY products.price > 5` does of shops: those are judged that led to a changed
/// or deleted product, or do now. Lists are fetched again if they have a limit or an offset and the change may reach what they
/// show; if very much has changed; and, of those that depend on the many objects of a one-to-many relationship, if one of these
/// is changed or deleted and it is not known to whom it led: because the parent of a child context did it, because somebody
/// else has written it before and the context has not merged that, or because the context began to merge, or read another query
/// generation, after it had read something.
///
/// The controller holds its objects, as faults that have their rows. With a ``FetchRequest/fetchBatchSize`` it holds their ids and
/// what they are sorted by, and reads so many rows at once when one of them is asked for.
///
/// Sections are runs of objects with one name, so the request has to sort by what they are named after first, or by something
/// that keeps them together: ``performFetch()`` throws if they are not. Sections of a transient or a computed property are named by
/// the objects, which are all read for it.
///
/// With a ``cacheName`` the list is remembered: a controller that fetches the same of the same state finds it there, and neither
/// looks for objects nor sorts them, nor asks them for the names of their sections.
///
/// After ``ManagedObjectContext/reset()`` there is no list, and no delegate is called: fetch again.
open class FetchedResultsController<Result: ManagedObject> {
    /// What is listed. Another request is used from the next ``performFetch()`` on.
    public final var fetchRequest: FetchRequest<Result>
    /// Whose objects are listed.
    public final let managedObjectContext: ManagedObjectContext
    /// What sections are named after; nil: there are none, or they are named by a computed property or a closure.
    public final let sectionNameKeyPath: String?
    /// The name under which lists that ``performFetch()`` gets are remembered, for all controllers of the process; nil: they are
    /// not.
    ///
    /// ```swift
    /// let controller = FetchedResultsController(
    ///     fetchRequest: FetchRequest<Product>(sortBy: [SortKey(\Product.name)]),
    ///     managedObjectContext: container.viewContext, sectionNameKeyPath: \.initial, cacheName: "products by letter")
    /// try controller.performFetch()          // a second time, and nothing has been written: no product is looked at
    /// ```
    ///
    /// What is remembered is the ids in their order, what they are sorted by, and the sections. It is used only for the same
    /// request, the same property for the sections, the same store or coordinator, and the very state that it is of: a commit by
    /// anybody, and the list is fetched again, and remembered instead. A request that differs is no mistake: it is fetched, and has
    /// the name from then on. So a cache need not be deleted because something changes. Each screen should have a name of its own.
    ///
    /// A list that is found reads the rows of its objects, all with few questions; with a ``FetchRequest/fetchBatchSize`` it reads
    /// nothing. It follows changes as any other. Not remembered, and not looked for, are lists
    ///
    /// - if the context has unsaved changes of objects that the request is about, or works on another context;
    /// - whose predicate names objects, or asks for the moment or for chance: `now()`, `random()`;
    /// - with sections of a transient or a computed property, if the context has any unsaved change, or has objects that may be
    ///   older than what is stored: others have committed something since and it does not merge that by itself, or it has
    ///   carried out a batch request and has not refreshed its objects.
    ///
    /// A transient or computed property is taken for one that is made of what is stored: if it depends on a setting or
    /// the day as well, delete the cache when that changes, or have none.
    ///
    /// 64 names are remembered, and 1,048,576 objects in all their lists, with about 100 bytes for each: beyond that the list goes
    /// that was not used for longest. Lists of stores that are gone go with the next one that comes.
    ///
    /// There are no files of it, as Core Data has: reading those costs about what the fetch does, since a store keeps the values
    /// that objects are sorted and grouped by side by side. The first fetch of a process is a fetch.
    public final let cacheName: String?
    /// Whether it was told that the list is about to change.
    private final var isChanging = false
    private final let sectionName: ((Result) -> String)?
    /// What ``sectionName`` is made of.
    private final let sectionPath: AnyKeyPath?

    /// The delegate for changes. The list follows only if there is one; set it before ``performFetch()``, else the list is fetched
    /// again at the next change.
    public final weak var delegate: (any FetchedResultsControllerDelegate<Result>)? {
        didSet { if delegate != nil { follow(hasMissed: true) } }
    }

    /// The delegate for changes on the main actor, in place of the ``delegate``; see ``MainFetchedResultsControllerDelegate``.
    ///
    /// - Precondition: the controller's context is used on the main actor.
    public final var mainDelegate: (any MainFetchedResultsControllerDelegate<Result>)? {
        get { bridge?.delegate }
        set {
            bridge = newValue.map { MainDelegate($0) }
            delegate = bridge
        }
    }

    /// What tells the delegate on the main actor. It is kept here: nobody else does.
    private final var bridge: MainDelegate<Result>?

    private final var isListenedTo: Bool {
        guard let delegate else { return false }
        return delegate !== bridge || bridge?.delegate != nil
    }

    private final var follower: ResultsFollower?
    private final var knownObjects: [Result]?
    private final var knownSections: [FetchedResultsSectionInfo<Result>]?
    /// The batches that were read last, so that their objects are kept.
    private final var batches: [[ManagedObject]] = []

    /// A controller without a list: see ``performFetch()``.
    ///
    /// - Parameters:
    ///   - sectionNameKeyPath: a key path of the entity to one value, through to-one relationships if need be, be it of a
    ///     transient attribute; nil: no sections. ``performFetch()`` throws if there is no such value: a letter of an attribute
    ///     (`"title.firstLetter"`) is none, and is said by a closure.
    ///   - name: see ``cacheName``.
    public init(
        fetchRequest: FetchRequest<Result>, managedObjectContext context: ManagedObjectContext,
        sectionNameKeyPath: String? = nil, cacheName name: String? = nil
    ) {
        self.fetchRequest = fetchRequest
        managedObjectContext = context
        self.sectionNameKeyPath = sectionNameKeyPath
        cacheName = name
        sectionName = nil
        sectionPath = nil
    }

    /// A controller without a list, whose sections are named by a closure: by what a key path cannot say, and of objects whose
    /// class is not known.
    ///
    /// ```swift
    /// FetchedResultsController(
    ///     fetchRequest: request, managedObjectContext: context,
    ///     sectionName: { String(($0["title"] as? String ?? "").prefix(1)) })
    /// ```
    ///
    /// The request has to sort by something that keeps objects of one name together. An object is asked again when it changes; what
    /// the closure reads of other objects is not followed. The list is not remembered: nobody could tell that two closures are
    /// the same.
    public init(
        fetchRequest: FetchRequest<Result>, managedObjectContext context: ManagedObjectContext,
        sectionName: @escaping (Result) -> String
    ) {
        self.fetchRequest = fetchRequest
        managedObjectContext = context
        sectionNameKeyPath = nil
        cacheName = nil
        self.sectionName = sectionName
        sectionPath = nil
    }

    /// A controller without a list, whose sections are named after a property of the class: one of the entity, or a computed
    /// one. Values that are no texts are named as they are printed.
    ///
    /// ```swift
    /// extension Product { var initial: String { String(name.prefix(1)) } }
    /// FetchedResultsController(
    ///     fetchRequest: FetchRequest<Product>(sortBy: [SortKey(\Product.name)]),
    ///     managedObjectContext: context, sectionNameKeyPath: \.initial)
    /// ```
    public init<Name>(
        fetchRequest: FetchRequest<Result>, managedObjectContext context: ManagedObjectContext,
        sectionNameKeyPath path: KeyPath<Result, Name>, cacheName name: String? = nil
    ) where Result: PersistentEntity {
        self.fetchRequest = fetchRequest
        managedObjectContext = context
        cacheName = name
        let key = TypedEntity.of(Result.self).key(of: path)
        sectionNameKeyPath = key
        sectionName = key == nil ? { SectionName.of($0[keyPath: path]) } : nil
        sectionPath = key == nil ? path : nil
    }

    /// Fetches the list. No delegate is called for what that changes.
    ///
    /// - Throws: `StoreError` as ``ManagedObjectContext/fetch(_:)`` does; `.invalidRequest` if the objects of a section do not
    ///   stand together, or there is no such key.
    open func performFetch() throws(StoreError) {
        forget()
        let follower = ResultsFollower(
            fetchRequest.terms, sectionKey: sectionNameKeyPath,
            sectionName: sectionName.map(SectionName.untyped),
            holdsObjects: fetchRequest.fetchBatchSize <= 0)
        self.follower?.unload()
        self.follower = nil
        try follower.load(
            managedObjectContext,
            cache: cacheName.map { .init(name: $0, sectionPath: sectionPath) })
        self.follower = follower
        follow(hasMissed: false)
    }

    /// Forgets the list that is remembered under a name; nil: all lists, whatever their objects are. See ``cacheName``.
    public static func deleteCache(withName name: String?) { SectionCache.shared.remove(name) }

    // MARK: Following

    private func follow(hasMissed: Bool) {
        guard delegate != nil, let follower, !follower.isObserving else { return }
        if hasMissed { follower.noteMissed() }
        follower.listener = ResultsFollower.Listener(
            willChange: { [weak self] in
                guard let self else { return }
                isChanging = true
                delegate?.controllerWillChangeContent(self)
            },
            didChange: { [weak self] in self?.tell($0, $1) },
            didReset: { [weak self] _ in self?.forget() },
            didFail: { [weak self] error in
                guard let self else { return }
                isChanging = false
                if self.follower?.list == nil { forget() }
                delegate?.controller(self, didFailToFollow: error)
            },
            isListening: { [weak self] in self?.isListenedTo == true })
        follower.observe(managedObjectContext, isOwn: false)
    }

    private func forget() {
        knownObjects = nil
        knownSections = nil
        batches = []
    }

    private func tell(_ change: ListChange, _ list: FetchedList) {
        knownObjects = nil
        knownSections = nil
        guard let delegate else { return }
        tell(change, list, delegate)
    }

    private func tell(
        _ change: ListChange, _ list: FetchedList,
        _ delegate: any FetchedResultsControllerDelegate<Result>
    ) {
        let snapshot = FetchedResultsSnapshot(list, reconfigured: change.reconfigured)
        for section in change.deletedSections {
            delegate.controller(
                self, didChange: FetchedResultsSectionInfo(section.name, 0..<0, snapshot, self),
                atSectionIndex: section.index, for: .delete)
        }
        for section in change.insertedSections {
            let start = list.start(ofSection: section.index)
            let range = start..<start + list.sectionSize(section.index)
            delegate.controller(
                self, didChange: FetchedResultsSectionInfo(section.name, range, snapshot, self),
                atSectionIndex: section.index, for: .insert)
        }
        func tell(_ entries: [ListChange.Entry], _ type: FetchedResultsChangeType) {
            for entry in entries {
                delegate.controller(
                    self, didChange: entry.object.map(result) ?? object(entry.id, in: list),
                    at: entry.old.map(IndexPath.init), for: type,
                    newIndexPath: entry.new.map(IndexPath.init))
            }
        }
        tell(change.deletes, .delete)
        tell(change.inserts, .insert)
        tell(change.moves, .move)
        tell(change.updates, .update)
        delegate.controller(self, didChangeContentWith: snapshot)
        if !list.isSectioned {
            delegate.controller(self, didChangeContentWith: change.difference)
        }
        // New objects that have got their ids where they are look as they did.
        guard isChanging else { return }
        isChanging = false
        delegate.controllerDidChangeContent(self)
    }

    // MARK: Objects

    /// The list; nil before ``performFetch()``, and after the context was reset.
    private var list: FetchedList? { follower?.list }

    /// All objects in order; nil before ``performFetch()``.
    ///
    /// - Complexity: O(n) after a change, else O(1). With a ``FetchRequest/fetchBatchSize`` they are faults that have not been read.
    public final var fetchedObjects: [Result]? {
        guard let list else { return nil }
        if let knownObjects { return knownObjects }
        var objects: [Result] = []
        objects.reserveCapacity(list.count)
        list.forEach { id, object in objects.append(object.map(result) ?? self.object(id)) }
        if follower?.holdsObjects == true { knownObjects = objects }
        return objects
    }

    /// How many objects there are; 0 before ``performFetch()``.
    public final var numberOfObjects: Int { list?.count ?? 0 }

    /// The object of a place.
    ///
    /// There must be such a place: to ask for another one, or before ``performFetch()``, is a mistake of the program.
    ///
    /// - Complexity: O(log n), and one reading of the store if its batch has not been read.
    public final func object(at indexPath: IndexPath) -> Result {
        guard let list else {
            preconditionFailure(
                "the controller has no objects: performFetch() was not called, or the context was reset"
            )
        }
        precondition(
            indexPath.count == 2 && (0..<list.visibleSections).contains(indexPath[0]),
            "there is no section for \(indexPath): the list has \(list.visibleSections)")
        let size = list.sectionSize(indexPath[0])
        precondition(
            (0..<size).contains(indexPath[1]),
            "there is no object at \(indexPath): section \(indexPath[0]) has \(size)")
        let index = list.start(ofSection: indexPath[0]) + indexPath[1]
        let (_, object) = list.entry(at: index)
        return object.map(result) ?? read(index, in: list)
    }

    /// Where an object is; nil if it is not in the list.
    ///
    /// - Complexity: O(√n).
    public final func indexPath(forObject object: Result) -> IndexPath? {
        guard let list, let id = list.id(of: object) else { return nil }
        return list.position(of: id).map(IndexPath.init)
    }

    /// Where the object of an id is; nil if it is not in the list.
    public final func indexPath(forObjectID id: ObjectID) -> IndexPath? {
        list?.position(of: id).map(IndexPath.init)
    }

    private func result(_ object: ManagedObject) -> Result {
        guard let result = object as? Result else {
            preconditionFailure(
                "objects of \(fetchRequest.entityName) are requested as \(Result.self), but are of the class \(type(of: object))"
            )
        }
        return result
    }

    /// The object of an id that is, or was, in the list.
    private func object(_ id: ObjectID, in list: FetchedList? = nil) -> Result {
        if let object = list?.object(of: id) ?? managedObjectContext.registry.object(for: id) {
            return result(object)
        }
        return result(managedObjectContext.object(with: id, under: entity))
    }

    private var entity: SchemaEntity {
        managedObjectContext.entity(named: fetchRequest.entityName)
    }

    final func objects(of ids: [ObjectID]) -> [Result] {
        if let list, follower?.holdsObjects == true { return ids.map { object($0, in: list) } }
        return managedObjectContext.objects(reading: ids, under: entity, wakes: false).map(result)
    }

    /// Reads the batch of a place.
    private func read(_ index: Int, in list: FetchedList) -> Result {
        let size = max(1, fetchRequest.fetchBatchSize)
        let start = index - index % size
        let ids = (start..<min(start + size, list.count)).map { list.entry(at: $0).id }
        let known = managedObjectContext.registry.object(for: ids[index - start])
        if let known, !known.isFault || known.hasCells { return result(known) }
        let objects = managedObjectContext.objects(
            reading: ids, under: entity, wakes: !fetchRequest.returnsObjectsAsFaults)
        batches.append(objects)
        if batches.count > 2 { batches.removeFirst() }
        return result(objects[index - start])
    }

    // MARK: Sections

    /// The sections in order; nil before ``performFetch()``. A list without sections has one, whose name is empty.
    ///
    /// - Complexity: O(sections + √n) after a change, else O(1).
    public final var sections: [FetchedResultsSectionInfo<Result>]? {
        guard let list else { return nil }
        if let knownSections { return knownSections }
        let snapshot = FetchedResultsSnapshot(list)
        let sections = snapshot.sections.map {
            FetchedResultsSectionInfo($0.name, $0.range, snapshot, self)
        }
        knownSections = sections
        return sections
    }

    /// What the list is now, by ids; nil before ``performFetch()``.
    public final var snapshot: FetchedResultsSnapshot? { list.map { FetchedResultsSnapshot($0) } }

    /// The titles of the sections for an index beside the list, each once, in order.
    public final var sectionIndexTitles: [String] {
        var seen: Set<String> = []
        return (snapshot?.sectionIdentifiers ?? []).compactMap {
            sectionIndexTitle(forSectionName: $0).flatMap { seen.insert($0).inserted ? $0 : nil }
        }
    }

    /// The title of a section: what the delegate says, or its first letter as a capital one. Subclasses can say something
    /// else. Nil for a section without a name.
    open func sectionIndexTitle(forSectionName name: String) -> String? {
        if let title = delegate?.controller(self, sectionIndexTitleForSectionName: name) {
            return title
        }
        return name.first.map { String($0).uppercased() }
    }

    /// The section to show for a title of the index: the first that has it.
    ///
    /// The title must be one of ``sectionIndexTitles``, and the place its own: other ones are a mistake of the program.
    public final func section(forSectionIndexTitle title: String, at index: Int) -> Int {
        let titles = sectionIndexTitles
        precondition(
            titles.indices.contains(index) && titles[index] == title,
            "the index has no title \(title) at \(index)")
        let names = snapshot?.sectionIdentifiers ?? []
        return names.firstIndex { sectionIndexTitle(forSectionName: $0) == title } ?? 0
    }
}

@available(
    *, unavailable,
    message:
        "a controller belongs to its context: pass its snapshot, or follow the results as a sequence"
)
extension FetchedResultsController: Sendable {}
