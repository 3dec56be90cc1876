// A working copy of a part of a store: the objects that somebody looks at, and what was changed in them.
//
// The context makes one object for one id and holds only those strongly that are changed. It reads the
// newest state of the store whenever it reads, or the one that it is pinned to; what it has read of an object
// stays until the object is refreshed, and the save compares versions.
//
//   Source       which state is read
//   Parent       a context over another one
//   Faulting     rows and members when they are asked for
//   Relationships  both sides at once
//   Deleting     delete rules, when pending changes are processed
//   Fetching     what is stored, overlaid with what is changed
//   Saving       hooks, validation, the store, conflicts
//   Events       runs of edits, and who is told of them
//
// Threads: used by one at a time; the compiler sees to it, since contexts and objects are not Sendable.

public import CairnModel
public import CairnStore
import FoundationEssentials
import Synchronization

/// A working copy of a store's objects.
///
/// A context belongs to the isolation domain that created it: the main actor's ``PersistentContainer/viewContext``, a
/// ``BackgroundContext``, or the closure of a background task.
///
/// Objects retain their context, and the context retains changed objects. If you create a context yourself and abandon
/// it with changes, call ``rollback()`` or ``reset()``.
public final class ManagedObjectContext {
    /// A name for people, which is also written to the store's history.
    public var name: String?
    /// The author, for the store's history.
    public var transactionAuthor: String?
    /// How a save resolves conflicts.
    public var mergePolicy = MergePolicy.error
    /// What happens when a fault's row turns out to be gone. True: the object is deleted and all its values
    /// are nil. False: its values read as nil, and ``ManagedObject/fulfill()``, the next fetch and the next save
    /// throw `.objectNotFound`.
    public var shouldDeleteInaccessibleFaults = true
    /// Called when a property of an object whose row is gone is read or set: return true to delete the object and make
    /// all its values nil, or false to behave as if ``shouldDeleteInaccessibleFaults`` were false. Nil applies that
    /// property to all objects.
    ///
    /// It receives the object and the name of the property; nil if there is no particular property.
    ///
    /// ```swift
    /// context.shouldHandleInaccessibleFault = { object, property in
    ///     missing.append(object.objectID)
    ///     return true
    /// }
    /// ```
    ///
    /// Methods that can throw, such as ``ManagedObject/fulfill()``, do not call it.
    public var shouldHandleInaccessibleFault: ((ManagedObject, String?) -> Bool)?

    /// The undo history of the context; nil, the default, if there is none. A history belongs to one context.
    public var undoHistory: UndoHistory? {
        willSet { if newValue !== undoHistory { processPendingChanges() } }
        didSet {
            if oldValue === undoHistory { return }
            oldValue?.leave()
            recordsEdits = false
            if let undoHistory { record(in: undoHistory) }
        }
    }

    /// The context whose objects this one works on; nil if it works on the store itself.
    public let parent: ManagedObjectContext?
    /// What the parent shows, as a state of a store.
    let parentSource: (any ParentState)?
    /// The contexts that work on this one, as long as they live.
    var children: [ChildContext] = []

    /// Core Data's contexts keep rows apart from objects, and show them again for so many seconds. Here none are kept.
    @available(
        *, unavailable, message: "a refreshed object always reads the stored values: remove this"
    )
    public var stalenessInterval: Double { preconditionFailure("unavailable") }
    /// What says whether the rows that were read are what is stored.
    var knownRows: KnownRows
    /// Whether the context saves automatically when a run of edits ends: see ``autosaveError``.
    ///
    /// ```swift
    /// container.viewContext.autosaveEnabled = true
    /// ```
    ///
    /// A container's view context saves when the main actor is idle, a background context at the end of each
    /// ``BackgroundContext/perform(_:)`` that does not throw; their child contexts save to their parent. A context that
    /// was created manually, or for a task, does not save automatically.
    public var autosaveEnabled = false {
        didSet { if autosaveEnabled, hasChanges { eventBegan() } }
    }
    /// The error of the last automatic save; nil if it succeeded. The changes are kept, and saved with the next
    /// automatic save.
    public internal(set) var autosaveError: (any Error)?
    /// Whether the context retains all its objects, not only changed ones.
    ///
    /// Objects retain their context: one that was created manually stays alive with its objects until this is false
    /// again, or until a ``reset()``.
    public var retainsRegisteredObjects = false {
        didSet { retained = retainsRegisteredObjects ? Set(registry.objects) : nil }
    }
    /// Whether an object keeps the members of its one-to-many relationships alive that somebody has read, until it is a fault again:
    /// what a program has made of them stays, and they need not be read again. They do not keep the object. Objects that are
    /// members of one another, along one relationship or several, keep each other until they are refreshed or the context ends.
    package var keepsMembers = false
    /// The objects that are kept alive, whatever becomes of them; nil if they are not.
    @exclusivity(unchecked) var retained: Set<ManagedObject>?
    /// Whether the delete rules are applied at the end of each run of edits; otherwise only a save applies them.
    public var propagatesDeletesAtEndOfEvent = true
    /// Values of the program's own. Nothing here looks at them.
    public var userInfo: [String: Any] = [:]
    /// What stands for the context in a layer above, which keeps this one.
    package weak var facade: (any ContextFacade)?

    package let store: any PersistentStore
    /// What it does by itself.
    let operations: any ContextOperations
    /// The store, if it takes new objects as columns.
    let columnStore: (any ColumnStore)?
    /// The store, if it finds objects by their numbers and keys at once.
    let keyedStore: (any KeyedStore)?
    /// The store, if it is a coordinator of several.
    let coordinator: PersistentStoreCoordinator?
    /// The version of the coordinator whose stores the context knows.
    var knownStores: Int
    /// By identifier: since which version of the coordinator each of these has been there.
    var storesSince: [UUID: Int]
    /// The coordinator's stores, as whoever looks for folded objects asks them, and its version.
    var redirectingStores: (version: Int, stores: [any PersistentStore]) = (-1, [])
    package let schema: Schema
    let identity: StoreIdentity
    let registry: ObjectRegistry
    let classes: ObjectClasses
    /// What stands for the store in temporary ids: the same in a context and all that work on it.
    let identifier: UUID
    /// By entity, whether what is merged is to be looked at, as far as somebody had to know.
    var looksAtMerged: [Int: Bool] = [:]
    /// New, changed and deleted objects.
    @exclusivity(unchecked) var changed = ChangedObjects()
    /// Deleted objects whose delete rules have not been applied yet.
    var pendingDeletes: [ManagedObject] = []
    /// Objects that a policy of one's own has merged into others since the last save.
    var absorbedObjects: [ManagedObject] = []
    /// Objects that the next save relies on without changing them.
    var lockedObjects: LockedObjects = []
    /// References that were found elsewhere since the last save.
    var moves = ReferenceMoves()
    /// Objects that it deletes, and those that their ids are to lead to.
    var redirects: [(object: ManagedObject, other: ManagedObject)] = []
    /// What was read ahead of the objects that somebody will want; nil if nothing was.
    var prefetched: PrefetchedRows?
    /// The fetches whose objects are read in batches, the last one last.
    var batchedFetches: [any BatchedFetch] = []
    /// Where rows are put together that are few.
    let rowRoom: RowRoom
    /// Whether members that are linked come back to where they were stored.
    @exclusivity(unchecked) var restoresOrder = false
    /// What has changed since the last event.
    @exclusivity(unchecked) var event = PendingEvent()
    /// Whether edits are recorded, so that they can be taken back.
    @exclusivity(unchecked) var recordsEdits = false
    /// Whether anything is to be told, or processed, at the end of the run of edits.
    @exclusivity(unchecked) var hasEvent = false
    /// The event that is being told of.
    var told: PendingEvent?
    /// How many events are being told of: one in the other, if those who are told save.
    var tellings = 0
    /// Whether it is a part of a request: nobody outside knows its objects.
    var isUnseen = false
    /// Who in the module is told of what happens.
    var observers: [ContextObserver] = []
    var observedKinds: ContextEvent.Kinds = []
    /// Who listens to the changes of the context; nil if nobody does.
    var changeFeed: Feed<ContextChange>?
    /// Who listens to the saves of the context's container.
    let saveFeed: Feed<ContextSave>?
    /// Whether it belongs to the main actor, which ends runs of edits that nobody else does.
    @exclusivity(unchecked) var isViewContext = false
    /// What others have written and is not merged yet; nil if the context does not merge by itself.
    @exclusivity(unchecked) var inbox: ChangeInbox?
    /// Whether it is merging, and will tell of that when it is done.
    var isMergingChanges = false
    /// Whether it merges what its parent saves.
    var mergesFromParent = false
    /// Whether its parent has saved something while it could not merge.
    @exclusivity(unchecked) var hasMissedChanges = false
    /// Has the context merge what waits, by whom it belongs to; nil if nobody else can.
    var wake: (@Sendable () -> Void)?
    /// Whether a save is under way.
    var isSaving = false
    /// Whether reads of its objects have to look for somebody who tracks; see `isObservable`.
    var objectsAreObservable = false
    /// Whether the main actor has been asked to end the run of edits.
    var isRunToBeEnded = false
    /// Rises with everything that a save has to look at again.
    @exclusivity(unchecked) var revision = 0
    /// Rises with every save, and when another state is to be read: what fetches beside the context have read by then is out of
    /// date.
    var saves = 0
    /// The state that is read; nil for the newest one. Nobody asks for it but `source`.
    @exclusivity(unchecked) var generation: QueryGenerationToken? {
        didSet { readsNewest = generation == nil && parent == nil }
    }
    /// Whether the newest state of the store is read.
    @exclusivity(unchecked) private(set) var readsNewest: Bool
    /// Whether the newest state is read for the moment, whatever the generation.
    var readsNewestState = false
    /// Whether a transient property was set since all of them had their defaults: no store knows its value.
    var hasSetTransients = false
    /// Whether there may be faults whose entity is a guess, as their rows could not be read.
    @exclusivity(unchecked) var hasUnresolvedFaults = false
    /// Whether an object was gone that others lead to by their edits: should it come back, these are members again.
    var hasLostLinks = false
    /// Whether the row of an object was gone since the state that is read changed last.
    var hasGoneObjects = false
    /// A failure to read that a property could not throw.
    var readError: StoreError?
    /// Who is told of what the context does.
    let board: InstrumentBoard
    /// Looks for what could be read at once; nil as long as nobody wants to know.
    @exclusivity(unchecked) var advisor: FaultAdvisor?
    /// What the save that is under way writes; nil if nobody wants to know.
    var tally: SaveEvent?
    /// Its part in a migration; nil if it has none.
    var migrationPart: MigrationPart?
    /// Whether the model has relationships that live in memory only.
    private(set) lazy var hasTransientRelationships = schema.entities.contains {
        $0.relationships.contains { $0.storage == .transient }
    }
    /// The relationships without inverse.
    private(set) lazy var oneWays = findOneWays()
    /// Those that may lead to objects of an entity, by its index.
    var oneWaysTo: [Int: [OneWay]] = [:]
    /// By entity.
    @exclusivity(unchecked) private var scopes: [EntityScope?]
    /// What objects share whose ids are of none of the context's stores.
    var foreignScopes: [ForeignPlace: EntityScope] = [:]
    private let roots: [UInt32: Int]
    /// The entities of classes that were asked for.
    private var entitiesOfClasses: [ObjectIdentifier: SchemaEntity] = [:]
    /// The class that was asked for last, and its entity.
    @exclusivity(unchecked) private var lastClass: ManagedObject.Type?
    @exclusivity(unchecked) private var lastEntity: SchemaEntity?
    /// The entity whose name was asked for last.
    @exclusivity(unchecked) private var lastNamed: SchemaEntity?

    /// A context over a store, or over another one and what that shows.
    init(
        store: any PersistentStore, classes: ObjectClasses, board: InstrumentBoard,
        operations: any ContextOperations, saveFeed: Feed<ContextSave>? = nil,
        parent: ManagedObjectContext? = nil, showing parentSource: (any ParentState)? = nil
    ) {
        self.store = store
        self.operations = operations
        self.board = board
        self.saveFeed = saveFeed
        self.parent = parent
        self.parentSource = parentSource
        readsNewest = parent == nil
        identifier = parent?.identifier ?? UUID()
        // Who works on a context asks that, and nobody else.
        columnStore = parent == nil ? store as? any ColumnStore : nil
        keyedStore = parent == nil ? store as? any KeyedStore : nil
        coordinator = store as? PersistentStoreCoordinator
        // A child knows what its parent knows, and notices with it what has changed since.
        (knownStores, storesSince) =
            parent.map { ($0.knownStores, $0.storesSince) } ?? coordinator?.presentStores ?? (
                0, [:]
            )
        self.classes = classes
        schema = store.schema
        var identity = store.identity
        if parent != nil { identity.temporaryStore = identifier }
        self.identity = identity
        registry = ObjectRegistry(
            identity: identity, coordinator: coordinator, temporaryStore: identifier,
            board: board)
        scopes = Array(repeating: nil, count: store.schema.entities.count)
        knownRows = KnownRows(of: parent == nil ? store : nil)
        rowRoom = RowRoom(entities: store.schema.entities.count)
        var roots: [UInt32: Int] = [:]
        for entity in schema.entities where entity.parent == nil {
            roots[identity.hierarchies[entity.index]] = entity.index
        }
        self.roots = roots
    }

    // MARK: Sets

    /// New objects that are not deleted, in the order of their creation.
    public var insertedObjects: [ManagedObject] {
        changedInOrder.filter { $0.isInserted && !$0.isDeleted }
    }

    /// Stored objects that were changed and are not deleted, in the order of their first change.
    public var updatedObjects: [ManagedObject] {
        changedInOrder.filter { $0.isUpdated && !$0.isInserted && !$0.isDeleted }
    }

    /// Stored objects to delete, in the order of their first change.
    public var deletedObjects: [ManagedObject] {
        changedInOrder.filter { $0.isDeleted && !$0.isInserted }
    }

    /// All objects of the context that are still referenced.
    public var registeredObjects: Set<ManagedObject> { Set(registry.objects) }

    /// Whether there is anything to save: new, changed or deleted objects, even if a change restored the same value.
    public var hasChanges: Bool {
        changed.contains { !($0.isInserted && $0.isDeleted) }
    }

    var changedInOrder: [ManagedObject] {
        changed.inOrder
    }

    // MARK: Entities

    /// The entity of a name.
    ///
    /// The model must have it: a name that it does not have is a mistake of the program.
    public func entity(named name: String) -> SchemaEntity {
        guard let entity = schema.entity(named: name) else {
            preconditionFailure("the model has no entity named \(name)")
        }
        return entity
    }

    /// The entity of a name, or nil.
    func knownEntity(named name: String) -> SchemaEntity? {
        if let lastNamed, lastNamed.name == name { return lastNamed }
        let entity = schema.entity(named: name)
        if let entity { lastNamed = entity }
        return entity
    }

    /// The only entity whose objects are of a class.
    public func entity(for type: ManagedObject.Type) -> SchemaEntity {
        if type == lastClass, let lastEntity { return lastEntity }
        lastClass = type
        let entity = findEntity(for: type)
        lastEntity = entity
        return entity
    }

    private func findEntity(for type: ManagedObject.Type) -> SchemaEntity {
        if let known = entitiesOfClasses[ObjectIdentifier(type)] { return known }
        let entity = describedEntity(type) ?? onlyEntity(type)
        entitiesOfClasses[ObjectIdentifier(type)] = entity
        return entity
    }

    /// The entity that a typed class describes, if the container knows the class.
    private func describedEntity(_ type: ManagedObject.Type) -> SchemaEntity? {
        guard let typed = type._typedEntity, typed.type == type,
            let entity = schema.entity(named: typed.name),
            classes.type(for: entity, in: schema) == type
        else { return nil }
        return entity
    }

    private func onlyEntity(_ type: ManagedObject.Type) -> SchemaEntity {
        guard let name = classes.entityName(for: type) else {
            preconditionFailure("\(type) is not the class of exactly one entity of the model")
        }
        return entity(named: name)
    }

    /// The root entity of an id's hierarchy; nil if the id is of another store.
    func rootEntity(of id: ObjectID) -> SchemaEntity? {
        guard id.store == identity.identifier || id.store == identifier else {
            return id.isTemporary
                ? nil : coordinator?.place(of: id).map { schema.entities[$0.root] }
        }
        // A greater number would be one of another store, of a coordinator that this context knows nothing of.
        if !id.isTemporary, id.reference > StoreNumbers.mask { return nil }
        return roots[id.hierarchy].map { schema.entities[$0] }
    }

    /// The root entity of the hierarchy that has a number in the context's stores; another one if none has it.
    func rootEntity(ofHierarchy hierarchy: UInt32) -> SchemaEntity {
        if let index = roots[hierarchy] { return schema.entities[index] }
        guard let any = schema.entities.first else {
            preconditionFailure("a model without entities has no objects")
        }
        return any
    }

    /// What the objects of each entity share that was asked for.
    var knownScopes: [EntityScope] { scopes.compactMap(\.self) }

    /// What the objects of an entity share.
    func scope(at index: Int) -> EntityScope { scopes[index] ?? scope(of: schema.entities[index]) }

    /// What the objects of an entity share.
    func scope(of entity: SchemaEntity) -> EntityScope {
        if let known = scopes[entity.index] { return known }
        let made = EntityScope(entity, classes.type(for: entity, in: schema), registry, in: self)
        made.isObservable = objectsAreObservable
        scopes[entity.index] = made
        return made
    }

    /// The layout for a new object; the entity must be of the context's model.
    func layout(of entity: SchemaEntity) -> UnsafePointer<SlotLayout> {
        precondition(
            schema.entities.indices.contains(entity.index)
                && schema.entities[entity.index] === entity,
            "the object's entity \(entity.name) belongs to another model")
        return scope(of: entity).layout
    }

    // MARK: Inserting

    /// A new object of an entity.
    @discardableResult
    public func insert(_ entityName: String) -> ManagedObject {
        let entity = entity(named: entityName)
        return classes.type(for: entity, in: schema).init(entity: entity, insertInto: self)
    }

    /// Inserts an object that was created without a context. Values set on it are kept.
    public func insert(_ object: ManagedObject) {
        if object.managedObjectContext === self { return }
        precondition(
            object.managedObjectContext == nil && !object.hasRow && !object.isDeleted,
            "only an object that has never been in a context can be inserted")
        insert(object, layout(of: object.entity))
    }

    /// Makes an object that is in no context a new one of this context.
    func insert(_ object: ManagedObject, _ layout: UnsafePointer<SlotLayout>) {
        if object.reference == 0 || !object.hasTemporaryID {
            object.reference = Self.nextTemporaryReference()
        }
        object.join(self, layout)
        object.flags.formUnion([.inserted, .fulfilled, .temporary])
        objectDidChange(object, isReal: true)
        registry.registerLater(object)
        if layout.pointee.hasComputedDefaults
            || layout.pointee.type != ObjectIdentifier(type(of: object))
        {
            object.giveComputedDefaults()
        }
        object.awakeFromInsert()
    }

    /// Notes that an object was touched; `isReal` if something differs now.
    func objectDidChange(_ object: ManagedObject, isReal: Bool) {
        if !object.isInserted { object.isUpdated = true }
        let isNew = changed.insert(object)
        if isNew || isReal { revision += 1 }
        if isNew { eventBegan() } else { objectWillChange(object) }
    }

    /// Notes that an object which is among the changed ones has other values now.
    @inline(__always) func noteEdit() { revision &+= 1 }

    /// Nothing is changed any more. New objects that a hook has made meanwhile must be in the registry by then: it keeps
    /// nobody alive.
    func forgetChanges() {
        prefetched = nil
        registry.enterWaiting()
        hasLostLinks = false
        changed.removeAll()
    }

    /// Lets go of what it holds, so that nothing keeps it alive but whoever uses its objects.
    package func abandon() {
        for child in livingChildren { child.abandon() }
        registry.forgetWaiting()
        beginEvent()
        inbox = nil
        hasMissedChanges = false
        observers = []
        observedKinds = []
        undoHistory?.removeAllActions()
        changeFeed?.finish()
        changeFeed = nil
        changed.removeAll()
        pendingDeletes = []
        absorbedObjects = []
        lockedObjects = []
        batchedFetches = []
        retained = nil
        if keepsMembers { for object in registry.objects { object.letMembersGo() } }
        // Nobody would let go again what is read from now on.
        keepsMembers = false
    }

    /// Lets an object go that is no more: new ones that were deleted, deleted ones that were saved.
    func detach(_ object: ManagedObject) {
        object.willChangeAll()
        defer { object.didChangeAll() }
        registry.remove(object)
        changed.remove(object)
        if retained != nil { retained?.remove(object) }
        object.letMembersGo()
        object.keepScope()
        object.leaveContext()
        object.isInserted = false
        object.isUpdated = false
        revision += 1
    }

    /// An object is no more.
    func leave(_ object: ManagedObject, absorbedInto survivor: ObjectID?) {
        detach(object)
        object.isDeleted = true
        object.absorbedInto = survivor
    }

    // MARK: Temporary ids

    private static let references = Atomic<UInt64>(0)

    static func nextTemporaryReference() -> UInt64 {
        references.add(1, ordering: .relaxed).newValue
    }

    /// Gives new objects their permanent ids before they are saved. They stay inserted.
    ///
    /// Parent and child contexts of this one show the new ids too.
    ///
    /// - Throws: `StoreError` from the store; no id has changed then.
    public func obtainPermanentIDs(for objects: [ManagedObject]) throws(StoreError) {
        var seen: Set<ManagedObject> = []
        let waiting = objects.filter {
            $0.objectID.isTemporary && $0.managedObjectContext === self
                && !$0.flags.contains(.foreign) && seen.insert($0).inserted
        }
        guard !waiting.isEmpty else { return }
        let ids = try permanentIDs(for: waiting)
        var names: [ObjectID: ObjectID] = [:]
        for (object, id) in zip(waiting, ids) { names[object.objectID] = id }
        // Those who work on one another have the same objects.
        root.rename(names)
    }

    /// New objects get other ids here, and in the contexts that work on this one.
    private func rename(_ names: [ObjectID: ObjectID]) {
        for (old, id) in names {
            if let object = registry.object(for: old) { rename(object, id) }
        }
        for other in changed.inOrder {
            for column in other.columnsWithEdits {
                if let new = other.edit(column)?.reference.flatMap({ names[$0] }) {
                    other.setEdit(column, .objectID(new))
                }
            }
            guard let rarer = other.rarer else { continue }
            for index in rarer.toMany.keys { rarer.toMany[index]?.rename(names) }
            for (index, cut) in rarer.cutReferences.enumerated() {
                if let new = names[cut.referrer] { rarer.cutReferences[index].referrer = new }
            }
        }
        event.rename(names)
        told?.rename(names)
        renameTransients(names)
        tellChildren(of: names)
        if observedKinds.contains(.renames) { tell(.didRename) }
        tellChildrenOfRenames()
    }

    /// Gives an object another id in the table.
    func rename(_ object: ManagedObject, _ id: ObjectID) {
        registry.remove(object)
        object.reference = registry.number(of: id)
        object.hasTemporaryID = id.isTemporary
        registry.register(object)
    }

    /// Renames what transient relationships lead to.
    func renameTransients(_ names: [ObjectID: ObjectID]) {
        guard hasTransientRelationships, !names.isEmpty else { return }
        for object in registry.objects {
            for (index, target) in object.transientTargets {
                if let new = names[target] { object.transientTargets[index] = new }
            }
        }
    }
}

@available(
    *, unavailable,
    message: "a context stays where it was created: use a BackgroundContext to work elsewhere"
)
extension ManagedObjectContext: Sendable {}
