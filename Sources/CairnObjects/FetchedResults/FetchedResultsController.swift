// A list for a screen: the objects of a fetch, in sections, by places, kept up to date.
//
// What keeps it is a `ResultsFollower`; the controller gives it a face, and tells its delegate.
//
// Threads: the context's.

public import CairnModel
public import CairnStore
public import Foundation

/// The objects of a fetch request in sections, for a list on a screen, updated as its context changes.
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
/// With a ``delegate``, the controller updates its list: after each run of edits, save or merge in the context, the
/// list equals the result of a new fetch, and the delegate receives the differences. It therefore shows unsaved
/// changes, unless the request excludes them, and changes by others, including batch requests and other processes, if
/// the context merges them: see ``ManagedObjectContext/automaticallyMergesChangesFromParent``. It also tracks objects
/// reached by the predicate, the sort order and the sections: a list sorted by `shop.name` is sorted again when a shop
/// is renamed, once that is stored, as a fetch would do. An update of an object in the list is always reported; an
/// update of a related object only if it changes the list.
///
/// The cost of an update depends on the size of the change, and on the logarithm of the list. This includes predicates
/// over to-many relationships, such as `ANY products.price > 5` for shops: only those that referred to a changed or
/// deleted product, or do now, are evaluated. The list is fetched again if it has a limit or an offset and the change
/// may affect what it shows; if very much has changed; and, if it depends on the many objects of a one-to-many
/// relationship, when one of these is changed or deleted and its former owner is unknown: because the parent of a child
/// context made the change, because someone else wrote it earlier and the context did not merge that, or because the
/// context started merging, or switched to another query generation, after it had read something.
///
/// The controller retains its objects, as faults with cached rows. With a ``FetchRequest/fetchBatchSize``, it retains
/// ids and sort values, and reads that many rows at once when one of them is accessed.
///
/// Sections are runs of objects with the same name, so the request must sort by the section key first, or by something
/// that keeps them together: otherwise ``performFetch()`` throws. For sections by a transient or computed property, all
/// objects are read to compute their names.
///
/// With a ``cacheName``, the list is cached: a controller that fetches the same list in the same state of the store
/// uses the cache, and does not fetch, sort or compute section names.
///
/// After ``ManagedObjectContext/reset()``, there is no list, and the delegate is not called: fetch again.
open class FetchedResultsController<Result: ManagedObject> {
    /// The fetch request. A new one takes effect with the next ``performFetch()``.
    public final var fetchRequest: FetchRequest<Result>
    /// Whose objects are listed.
    public final let managedObjectContext: ManagedObjectContext
    /// The key path of section names; nil if there are no sections, or if a computed property or a closure names them.
    public final let sectionNameKeyPath: String?
    /// The name under which ``performFetch()`` caches lists, for all controllers in the process; nil for no caching.
    ///
    /// ```swift
    /// let controller = FetchedResultsController(
    ///     fetchRequest: FetchRequest<Product>(sortBy: [SortKey(\Product.name)]),
    ///     managedObjectContext: container.viewContext, sectionNameKeyPath: \.initial, cacheName: "products by letter")
    /// try controller.performFetch()          // the second time, if nothing has been written, it reads no products
    /// ```
    ///
    /// The cache contains the ids in order, the sort values, and the sections. It is used only for the same request,
    /// the same section property, the same store or coordinator, and exactly the same state: after any commit, the list
    /// is fetched and cached again. Reusing a name for a different request is not an error: that list is fetched, and
    /// takes over the name. You therefore never have to delete a cache because something changed. Give each screen its
    /// own name.
    ///
    /// A cached list reads the rows of its objects with few queries; with a ``FetchRequest/fetchBatchSize``, it reads
    /// nothing. It tracks changes like any other. The cache is not used
    ///
    /// - if the context has unsaved changes to objects that the request covers, or is a child context;
    /// - if the predicate refers to objects, or depends on time or chance: `now()`, `random()`;
    /// - for sections by a transient or computed property, if the context has any unsaved change, or may have outdated
    ///   objects: others have committed since and it does not merge automatically, or it has executed a batch request
    ///   and has not refreshed its objects.
    ///
    /// A transient or computed property is assumed to depend on stored values only: if it also depends on a setting or
    /// the date, delete the cache when that changes, or do not use one.
    ///
    /// The cache holds 64 names, and 1,048,576 objects in all their lists, at about 100 bytes each: beyond that, the
    /// least recently used list is evicted. Lists of closed stores are evicted with the next new one.
    ///
    /// Unlike Core Data, there are no cache files: reading them would cost about as much as the fetch, since a store
    /// keeps sort and group values together. The first list in a process is always fetched.
    public final let cacheName: String?
    /// Whether it was told that the list is about to change.
    private final var isChanging = false
    private final let sectionName: ((Result) -> String)?
    /// What ``sectionName`` is made of.
    private final let sectionPath: AnyKeyPath?

    /// The delegate for changes. The list is only updated if there is one. Set it before ``performFetch()``; otherwise the
    /// list is fetched again at the next change.
    public final weak var delegate: (any FetchedResultsControllerDelegate<Result>)? {
        didSet { if delegate != nil { follow(hasMissed: true) } }
    }

    /// The delegate for changes on the main actor, instead of the ``delegate``; see
    /// ``MainFetchedResultsControllerDelegate``.
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

    /// Creates a controller without a list: see ``performFetch()``.
    ///
    /// - Parameters:
    ///   - sectionNameKeyPath: a key path of the entity to a single value, possibly through to-one relationships, or to
    ///     a transient attribute; nil for no sections. ``performFetch()`` throws if there is no such value: for a
    ///     letter of an attribute (`"title.firstLetter"`), use a closure.
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

    /// Creates a controller without a list, whose sections are named by a closure: for names that no key path gives, and
    /// for objects without a class of their own.
    ///
    /// ```swift
    /// FetchedResultsController(
    ///     fetchRequest: request, managedObjectContext: context,
    ///     sectionName: { String(($0["title"] as? String ?? "").prefix(1)) })
    /// ```
    ///
    /// The request must sort by something that keeps objects with the same name together. The closure is called again
    /// when an object changes; changes to other objects that it reads are not tracked. The list is not cached, since
    /// closures cannot be compared.
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

    /// Creates a controller without a list, whose sections are named after a property of the class: one of the entity, or a
    /// computed one. Values that are not strings are named by their descriptions.
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

    /// Fetches the list. The delegate is not called.
    ///
    /// - Throws: `StoreError` as ``ManagedObjectContext/fetch(_:)->[Result]``; `.invalidRequest` if the objects of a section are
    ///   not adjacent, or there is no such key.
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

    /// Deletes the list that is cached under a name; nil: all lists, of any objects. See ``cacheName``.
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
    /// - Complexity: O(n) after a change, otherwise O(1). With a ``FetchRequest/fetchBatchSize`` they are faults that have
    ///   not been read.
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

    /// The index path of an object; nil if it is not in the list.
    ///
    /// - Complexity: O(√n).
    public final func indexPath(forObject object: Result) -> IndexPath? {
        guard let list, let id = list.id(of: object) else { return nil }
        return list.position(of: id).map(IndexPath.init)
    }

    /// The index path of the object with an id; nil if it is not in the list.
    public final func indexPath(forObjectID id: ObjectID) -> IndexPath? {
        list?.position(of: id).map(IndexPath.init)
    }

    private func result(_ object: ManagedObject) -> Result {
        guard let result = object as? Result else {
            preconditionFailure(
                "objects of \(fetchRequest.entityName) were requested as \(Result.self), but have the class \(type(of: object))"
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
    /// - Complexity: O(sections + √n) after a change, otherwise O(1).
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

    /// The current list, by ids; nil before ``performFetch()``.
    public final var snapshot: FetchedResultsSnapshot? { list.map { FetchedResultsSnapshot($0) } }

    /// The section index titles, each once, in order.
    public final var sectionIndexTitles: [String] {
        var seen: Set<String> = []
        return (snapshot?.sectionIdentifiers ?? []).compactMap {
            sectionIndexTitle(forSectionName: $0).flatMap { seen.insert($0).inserted ? $0 : nil }
        }
    }

    /// The index title of a section: from the delegate, or its capitalized first letter. Subclasses can override it.
    /// Nil for a section without a name.
    open func sectionIndexTitle(forSectionName name: String) -> String? {
        if let title = delegate?.controller(self, sectionIndexTitleForSectionName: name) {
            return title
        }
        return name.first.map { String($0).uppercased() }
    }

    /// The section to show for a title of the index: the first section with that title.
    ///
    /// The title must be one of ``sectionIndexTitles``, at its own index: anything else is a programming error.
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
