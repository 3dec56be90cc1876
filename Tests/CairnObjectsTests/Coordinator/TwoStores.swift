// Two or more stores behind one coordinator, for tests.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends

/// A coordinator with new stores.
struct TwoStores: Sendable {
    let coordinator: PersistentStoreCoordinator
    let stores: [any PersistentStore]
    let container: PersistentContainer

    /// Stores with these configurations; nil: all entities.
    init(
        _ model: ManagedObjectModel, _ backend: Backend, _ configurations: [String?]
    ) throws {
        let coordinator = try PersistentStoreCoordinator(model)
        var stores: [any PersistentStore] = []
        for configuration in configurations {
            let store = try backend.makeStore(coordinator.schema)
            try coordinator.add(store, configuration: configuration)
            stores.append(store)
        }
        self.coordinator = coordinator
        self.stores = stores
        container = PersistentContainer(store: coordinator)
    }

    /// Two stores for shops.
    init(_ backend: Backend) throws { try self.init(Models.shop, backend, [nil, nil]) }

    var first: any PersistentStore { stores[0] }
    var second: any PersistentStore { stores[1] }

    /// A new context over all stores.
    func context(_ policy: MergePolicy = .error) -> ManagedObjectContext {
        let context = ManagedObjectContext(store: coordinator)
        context.mergePolicy = policy
        return context
    }

    /// A context over one store alone, without the coordinator.
    func alone(_ index: Int) -> ManagedObjectContext { ManagedObjectContext(store: stores[index]) }

    /// How many objects of an entity each store has.
    func counts(_ entity: String) throws -> [Int] {
        try stores.indices.map { try alone($0).count(entity) }
    }
}

extension ManagedObjectContext {
    /// A new object that is assigned to a store.
    @discardableResult
    func make(_ entity: String, in store: any PersistentStore, _ values: [String: Any?] = [:])
        throws -> ManagedObject
    {
        let object = make(entity, values)
        try assign(object, to: store)
        return object
    }
}

extension Models {
    /// The model of shops with two configurations that share no entity.
    static let divided: ManagedObjectModel = {
        var model = shop
        model.configurations = ["Goods": ["Shop", "Product", "Tag"], "Kitchen": ["Recipe"]]
        return model
    }()
}

/// A store that says that it cannot be written.
final class SealedStore: PersistentStore {
    private let base: any PersistentStore

    init(_ base: any PersistentStore) { self.base = base }

    var identity: StoreIdentity { base.identity }
    var schema: Schema { base.schema }
    var isReadOnly: Bool { true }

    func snapshot() throws(StoreError) -> any StoreSnapshot { try base.snapshot() }
    func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome { throw refusal }
    func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        throw refusal
    }
    func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        throw refusal
    }
    func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        throw refusal
    }
    func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
        throw refusal
    }
    func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation {
        base.observeChanges(receive)
    }
    func close() throws(StoreError) { try base.close() }

    private var refusal: StoreError { StoreError(.readOnly, "the store is sealed") }
}
