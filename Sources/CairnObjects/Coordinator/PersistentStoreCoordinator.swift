// Several stores as one.
//
// A coordinator is a store itself: contexts and containers work on it as on any other. What it is asked it asks its stores,
// and puts the answers together; what it is to write it divides among them.
//
//   CoordinatedStore      a store with what the coordinator knows of it
//   CoordinatedSnapshot   what is read
//   Keyed                 what is asked of one store without a state of all
//   SaveDivision          one request becomes one for each store
//   Stores                adding, removing and replacing stores, and who is told of it
//   Saving, Batches       writing, store by store
//   Changes               what is committed to any of the stores
//   StoreGate             nobody writes to a store that is moved
//   Metadata, Staging     what stores say of themselves, and large values that come before their save
//   ManagedObjectContext+Stores   what contexts do only here: assigning, noticing that stores are gone
//
// Every store holds the whole model; its configuration says of which entities it takes new objects, and is asked. Rows that
// come from here have the number of their store in their references (see `StoreNumbers`); ids name the store itself.
//
// Invariants: no two attached stores have one identifier; a store keeps its number for as long as the coordinator lives.
// Threads: any.

public import CairnModel
public import CairnStore
public import FoundationEssentials
import Synchronization

/// Several stores that contexts work on as if they were one.
///
/// ```swift
/// let coordinator = try PersistentStoreCoordinator(model)
/// try coordinator.add(library, configuration: "Library")
/// try coordinator.add(notes, configuration: "Notes")
/// let container = PersistentContainer(store: coordinator)
/// ```
///
/// A store is added for the entities of one of the model's configurations, or for all. New objects go to the first
/// writable store that accepts their entity, unless ``ManagedObjectContext/assign(_:to:)`` chooses another one. Fetches
/// query all stores of an entity and combine the results into one order; ``FetchRequest/affectedStores`` restricts
/// them.
///
/// Relationships cannot cross stores: a save with a relationship into another store fails with `.foreignObject`.
///
/// A save writes store by store, in the order in which they were added; each save is atomic per store, but not across
/// stores. Everything that can be checked in advance is checked before anything is written: relationships into another
/// store, objects that no store accepts or whose store is read-only, and, under the error policy and custom policies,
/// objects that were changed elsewhere. If a later store fails anyway, because a key is not unique or its disk is full,
/// the context has saved the objects of the earlier stores and keeps the other changes, and the save throws
/// `.incompleteSave`, whose `affectedStores` were not written. Likewise, reads see one state of each store, taken one
/// after the other.
public final class PersistentStoreCoordinator: PersistentStore {
    /// The model of all stores.
    public let schema: Schema
    /// How the coordinator names objects that no store has yet. The ids of all others name their stores.
    public let identity: StoreIdentity
    /// By entity: the columns that are references.
    let references: [[Int]]
    /// Rises with every store that is added, removed or replaced.
    let version = Atomic<Int>(0)
    let state = Mutex(State())
    /// Who is told of what is committed to any of the stores.
    let board = ChangeBoard()
    /// By identifier of the store: what is observed for them; nil if nobody wants to know. Locked before all else.
    let observations = Mutex<[UUID: ChangeObservation]?>(nil)
    /// Who listens to stores that come and go.
    let feed = Feed<StoresChange>()

    struct State {
        /// In the order in which they were added.
        var attached: [CoordinatedStore] = []
        /// All that were ever attached, by identifier.
        var known: [UUID: KnownStore] = [:]
        /// Rises with every store that is added, removed or replaced.
        var version = 0
    }

    /// What stays of a store when it is removed: ids of its objects may still be about.
    struct KnownStore {
        let number: UInt32
        let hierarchies: [UInt32]
        /// The root entities by the store's numbers of their hierarchies.
        let roots: [UInt32: Int]
    }

    /// A coordinator without stores.
    public init(_ schema: Schema) {
        self.schema = schema
        identity = StoreIdentity(
            identifier: UUID(), hierarchies: schema.entities.map { UInt32($0.root + 1) })
        references = schema.entities.map { entity in
            entity.columns.indices.filter {
                if case .reference = entity.columns[$0].kind { true } else { false }
            }
        }
    }

    /// A coordinator without stores.
    ///
    /// - Throws: `ModelError` if the model is invalid.
    public convenience init(_ model: ManagedObjectModel) throws(ModelError) {
        self.init(try Schema(model))
    }

    /// Whether there are stores and none of them can be written.
    public var isReadOnly: Bool {
        let stores = attached
        return !stores.isEmpty && stores.allSatisfy(\.isReadOnly)
    }

    var attached: [CoordinatedStore] { state.withLock { $0.attached } }

    /// Which stores there are, and since which version.
    var presentStores: (version: Int, since: [UUID: Int]) {
        state.withLock { ($0.version, $0.attached.since) }
    }

    /// Closes all stores.
    ///
    /// - Throws: The first `StoreError` of closing one of them; all are closed anyway.
    public func close() throws(StoreError) {
        var failure: StoreError?
        for store in attached {
            do throws(StoreError) {
                try store.store.close()
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    // MARK: Objects

    /// The store that contains an object; nil if it does not belong to the coordinator, or the id is temporary.
    public func persistentStore(for id: ObjectID) -> (any PersistentStore)? {
        id.isTemporary ? nil : store(id.store)?.store
    }

    /// The configuration that a store was added for; nil if it was added for all entities, or does not belong to the
    /// coordinator.
    public func configuration(of store: any PersistentStore) -> String? {
        self.store(store.identity.identifier)?.configuration
    }

    /// The id for a URI; nil if it is invalid, or does not belong to one of the coordinator's stores.
    ///
    /// For an object imported from Core Data, its URI there (`x-coredata://UUID/Person/p7`) works, too. The object does
    /// not have to exist: ``ManagedObjectContext/existingObject(with:)`` checks.
    public func managedObjectID(forURIRepresentation url: URL) -> ObjectID? {
        guard let id = ObjectID(uriRepresentation: url) ?? importedID(url), !id.isTemporary,
            store(id.store) != nil, place(of: id) != nil
        else { return nil }
        return id
    }

    /// The id of the object that has a URI of Core Data. A store that was closed has none.
    private func importedID(_ url: URL) -> ObjectID? {
        for attached in attached {
            if let store = attached.store as? any MetadataStore,
                let id = try? store.objectID(forCoreDataURI: url)
            {
                return id
            }
        }
        return nil
    }

    /// Whether ids of deleted objects can be redirected to others.
    public var hasRedirects: Bool { attached.contains { $0.store.hasRedirects } }

    /// An attached store.
    func store(_ identifier: UUID) -> CoordinatedStore? {
        state.withLock { $0.attached.first { $0.identifier == identifier } }
    }

    /// What a permanent id is in a context: the number of the object with that of its store, and the root entity of its
    /// hierarchy. Nil if the store was never attached.
    func place(of id: ObjectID) -> (number: UInt64, root: Int)? {
        guard id.reference <= StoreNumbers.mask, let store = state.withLock({ $0.known[id.store] }),
            let root = store.roots[id.hierarchy]
        else { return nil }
        return (UInt64(store.number) << 32 | id.reference, root)
    }

    /// The root entity of an id's hierarchy; nil if the store was never attached, or the id is temporary.
    package func rootEntity(of id: ObjectID) -> SchemaEntity? {
        id.isTemporary ? nil : place(of: id).map { schema.entities[$0.root] }
    }

    /// A snapshot of the newest published state of each store.
    ///
    /// - Throws: `StoreError` if one of the stores was closed.
    public func snapshot() throws(StoreError) -> any StoreSnapshot {
        try snapshot { store throws(StoreError) in try store.snapshot() }
    }

    /// One state of each store: those that a closure gives.
    func snapshot(
        _ body: (any PersistentStore) throws(StoreError) -> any StoreSnapshot
    ) throws(StoreError) -> any StoreSnapshot {
        while true {
            let (version, stores) = state.withLock { ($0.version, $0.attached) }
            do throws(StoreError) {
                var parts: [CoordinatedSnapshot.Part] = []
                for store in stores {
                    parts.append(.init(store: store, snapshot: try body(store.store)))
                }
                return CoordinatedSnapshot(self, parts, version: version)
            } catch {
                // A store that was removed meanwhile may be closed by now: then those are asked that are there now.
                if state.withLock({ $0.version }) == version { throw error }
            }
        }
    }
}

/// A store with what the coordinator knows of it.
struct CoordinatedStore: Sendable {
    let store: any PersistentStore
    /// The store, if it finds objects by their numbers and keys at once.
    let keyedStore: (any KeyedStore)?
    let identity: StoreIdentity
    /// What stands for it in references.
    let number: UInt32
    let configuration: String?
    /// By entity: whether it is for objects of it.
    let entities: [Bool]
    /// The version of the coordinator since which it is there.
    let since: Int
    /// Whoever writes passes it; the store in the place of this one has the same.
    let gate: StoreGate

    init(
        _ store: any PersistentStore, number: UInt32, configuration: String?, entities: [Bool],
        since: Int, gate: StoreGate
    ) {
        self.store = store
        keyedStore = store as? any KeyedStore
        identity = store.identity
        self.number = number
        self.configuration = configuration
        self.entities = entities
        self.since = since
        self.gate = gate
    }

    var identifier: UUID { identity.identifier }
    var isReadOnly: Bool { store.isReadOnly }
}

extension [CoordinatedStore] {
    /// By identifier: since which version of the coordinator each of them has been there.
    var since: [UUID: Int] {
        Dictionary(uniqueKeysWithValues: map { ($0.identifier, $0.since) })
    }
}
