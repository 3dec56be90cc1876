// A working copy of a part of a store: the objects that somebody looks at, and what was changed in them.
//
// The context makes one object for one id and holds only those strongly that are changed. It reads the
// newest state of the store whenever it reads, or the one that it is pinned to; what it has read of an object
// stays until the object is refreshed, and the save compares versions.
//
//   Source       which state is read
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

/// A working copy of objects of a store.
///
/// A context belongs to whoever made it: the main actor's ``PersistentContainer/viewContext``, a
/// ``BackgroundContext``, or the closure of a background task.
///
/// Objects keep their context alive, and the context keeps those alive that are changed. One that was made
/// by hand, and is given up with changes, has to be told by ``rollback()`` or ``reset()``.
public final class ManagedObjectContext {
    /// A name for people, which is also written to the store's history.
    public var name: String?
    /// Who writes, for the store's history.
    public var transactionAuthor: String?
    /// What a save does about conflicts.
    public var mergePolicy = MergePolicy.error
    /// What happens when a fault's row turns out to be gone. True: the object is deleted and all its values
    /// are nil. False: its values read as nil, and ``ManagedObject/fulfill()``, the next fetch and the next save
    /// throw `.objectNotFound`.
    public var shouldDeleteInaccessibleFaults = true

    let store: any PersistentStore
    /// The store, if it takes new objects as columns.
    let columnStore: (any ColumnStore)?
    /// The store, if it finds objects by their keys at once.
    let keyedStore: (any KeyedStore)?
    let schema: Schema
    let identity: StoreIdentity
    let registry: ObjectRegistry
    let classes: ObjectClasses
    let identifier = UUID()
    /// New, changed and deleted objects.
    @exclusivity(unchecked) var changed = ChangedObjects()
    /// Deleted objects whose delete rules have not been applied yet.
    var pendingDeletes: [ManagedObject] = []
    /// Objects that a policy of one's own has merged into others since the last save.
    var absorbedObjects: [ManagedObject] = []
    /// References that were found elsewhere since the last save.
    var moves = ReferenceMoves()
    /// What was read ahead of the objects that somebody will want; nil if nothing was.
    var prefetched: PrefetchedRows?
    /// Where rows are put together that are few.
    let rowRoom: RowRoom
    /// Whether members that are linked come back to where they were stored.
    @exclusivity(unchecked) var restoresOrder = false
    /// What has changed since the last event.
    @exclusivity(unchecked) var event = PendingEvent()
    /// Whether anything is to be told, or processed, at the end of the run of edits.
    @exclusivity(unchecked) var hasEvent = false
    /// The event that is being told of.
    var told: PendingEvent?
    /// How many events are being told of: one in the other, if those who are told save.
    var tellings = 0
    /// Who in the module is told of what happens.
    var observers: [ContextObserver] = []
    var observedKinds: ContextEvent.Kinds = []
    /// Who listens to the changes of the context; nil if nobody does.
    var changeFeed: Feed<ContextChange>?
    /// Who listens to the saves of the context's container.
    let saveFeed: Feed<ContextSave>?
    /// Whether it belongs to the main actor, which ends runs of edits that nobody else does.
    @exclusivity(unchecked) var isViewContext = false
    /// Whether the main actor has been asked to end the run of edits.
    var isRunToBeEnded = false
    /// Rises with everything that a save has to look at again.
    @exclusivity(unchecked) var revision = 0
    /// Rises with every save, and when another state is to be read: what fetches beside the context have read by then is out of
    /// date.
    var saves = 0
    /// The state that is read; nil for the newest one. Nobody asks for it but `source`.
    @exclusivity(unchecked) var generation: QueryGenerationToken?
    /// A failure to read that a property could not throw.
    var readError: StoreError?
    /// Who is told of what the context does.
    let board: InstrumentBoard
    /// Looks for what could be read at once; nil as long as nobody wants to know.
    @exclusivity(unchecked) var advisor: FaultAdvisor?
    /// What the save that is under way writes; nil if nobody wants to know.
    var tally: SaveEvent?
    /// By entity.
    @exclusivity(unchecked) private var scopes: [EntityScope?]
    private let roots: [UInt32: Int]
    /// The entities of classes that were asked for.
    private var entitiesOfClasses: [ObjectIdentifier: SchemaEntity] = [:]
    /// The class that was asked for last, and its entity.
    @exclusivity(unchecked) private var lastClass: ManagedObject.Type?
    @exclusivity(unchecked) private var lastEntity: SchemaEntity?
    /// The entity whose name was asked for last.
    @exclusivity(unchecked) private var lastNamed: SchemaEntity?

    /// A context over a store. Its objects are of the given classes.
    ///
    /// - Parameter instruments: who is told of what it does; nil: the trace that the environment variable `CAIRN_DEBUG` asks
    ///   for. Contexts of a container have those of the container.
    public convenience init(
        store: any PersistentStore, classes: ObjectClasses = ObjectClasses(),
        instruments: [any Instrument]? = nil
    ) {
        self.init(
            store: store, classes: classes,
            board: InstrumentBoard(instruments ?? TraceInstrument.ofEnvironment))
    }

    init(
        store: any PersistentStore, classes: ObjectClasses, board: InstrumentBoard,
        saveFeed: Feed<ContextSave>? = nil
    ) {
        self.store = store
        self.board = board
        self.saveFeed = saveFeed
        columnStore = store as? any ColumnStore
        keyedStore = store as? any KeyedStore
        self.classes = classes
        schema = store.schema
        identity = store.identity
        registry = ObjectRegistry(
            identity: store.identity, temporaryStore: identifier, board: board)
        scopes = Array(repeating: nil, count: store.schema.entities.count)
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

    /// Stored objects that are to be deleted, in the order of their first change.
    public var deletedObjects: [ManagedObject] {
        changedInOrder.filter { $0.isDeleted && !$0.isInserted }
    }

    /// All objects of the context that somebody holds.
    public var registeredObjects: Set<ManagedObject> { Set(registry.objects) }

    /// Whether there is anything to save: new, changed or deleted objects, be it that a change changed
    /// nothing.
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
        guard id.store == identity.identifier || id.store == identifier else { return nil }
        return roots[id.hierarchy].map { schema.entities[$0] }
    }

    /// What the objects of an entity share.
    func scope(at index: Int) -> EntityScope { scopes[index] ?? scope(of: schema.entities[index]) }

    /// What the objects of an entity share.
    func scope(of entity: SchemaEntity) -> EntityScope {
        if let known = scopes[entity.index] { return known }
        let made = EntityScope(entity, classes.type(for: entity, in: schema), registry)
        scopes[entity.index] = made
        return made
    }

    /// The layout for a new object; the entity must be of the context's model.
    func layout(of entity: SchemaEntity) -> UnsafePointer<SlotLayout> {
        precondition(
            schema.entities.indices.contains(entity.index)
                && schema.entities[entity.index] === entity,
            "the object's entity \(entity.name) is of another model")
        return scope(of: entity).layout
    }

    // MARK: Inserting

    /// A new object of an entity.
    @discardableResult
    public func insert(_ entityName: String) -> ManagedObject {
        let entity = entity(named: entityName)
        return classes.type(for: entity, in: schema).init(entity: entity, insertInto: self)
    }

    /// Makes an object that was made without a context a new one of this context. What was set on it stays.
    public func insert(_ object: ManagedObject) {
        if object.managedObjectContext === self { return }
        precondition(
            object.managedObjectContext == nil && !object.hasRow && !object.isDeleted,
            "only an object that was never in a context can be inserted")
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
        changed.removeAll()
    }

    /// Lets go of what it holds, so that nothing keeps it alive but whoever uses its objects.
    func abandon() {
        registry.forgetWaiting()
        beginEvent()
        observers = []
        observedKinds = []
        changeFeed?.finish()
        changeFeed = nil
        changed.removeAll()
        pendingDeletes = []
        absorbedObjects = []
    }

    /// Lets an object go that is no more: new ones that were deleted, deleted ones that were saved.
    func detach(_ object: ManagedObject) {
        registry.remove(object)
        changed.remove(object)
        object.keepScope()
        object.managedObjectContext = nil
        object.isInserted = false
        object.isUpdated = false
        revision += 1
    }

    // MARK: Temporary ids

    private static let references = Atomic<UInt64>(0)

    static func nextTemporaryReference() -> UInt64 {
        references.add(1, ordering: .relaxed).newValue
    }

    /// Gives new objects their permanent ids before they are saved. They stay inserted.
    ///
    /// - Throws: `StoreError` from the store; no id has changed then.
    public func obtainPermanentIDs(for objects: [ManagedObject]) throws(StoreError) {
        var seen: Set<ManagedObject> = []
        let waiting = objects.filter {
            $0.objectID.isTemporary && $0.managedObjectContext === self && seen.insert($0).inserted
        }
        guard !waiting.isEmpty else { return }
        let ids = try store.obtainPermanentIDs(forEntities: waiting.map(\.entity.index))
        var names: [ObjectID: ObjectID] = [:]
        for (object, id) in zip(waiting, ids) {
            names[object.objectID] = id
            rename(object, id)
        }
        for other in changed.inOrder {
            for column in other.columnsWithEdits {
                if let new = other.edit(column)?.reference.flatMap({ names[$0] }) {
                    other.setEdit(column, .objectID(new))
                }
            }
            guard let rarer = other.rarer else { continue }
            for index in rarer.toMany.keys { rarer.toMany[index]?.rename(names) }
        }
        event.rename(names)
        told?.rename(names)
        renameTransients(names)
    }

    /// Gives an object another id in the table.
    func rename(_ object: ManagedObject, _ id: ObjectID) {
        registry.remove(object)
        object.reference = id.reference
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

    var hasTransientRelationships: Bool {
        schema.entities.contains { $0.relationships.contains { $0.storage == .transient } }
    }
}

@available(
    *, unavailable,
    message: "a context belongs to whoever made it: use a BackgroundContext to work elsewhere"
)
extension ManagedObjectContext: Sendable {}
