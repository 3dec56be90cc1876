// A store with contexts, and short forms for what tests do with them.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends

/// A new store of a model.
struct Stack: Sendable {
    let store: any PersistentStore
    let container: PersistentContainer

    /// - Parameter isCoordinated: whether the store is the only one of a coordinator, which contexts work on.
    init(
        _ model: ManagedObjectModel, _ backend: Backend, isCoordinated: Bool = false,
        classes: ObjectClasses = ObjectClasses()
    ) throws {
        let store = try backend.makeStore(Schema(model))
        try self.init(store: store, isCoordinated: isCoordinated, classes: classes)
    }

    init(
        store: any PersistentStore, isCoordinated: Bool, classes: ObjectClasses = ObjectClasses()
    ) throws {
        guard isCoordinated else {
            self.init(store: store, classes: classes)
            return
        }
        let coordinator = PersistentStoreCoordinator(store.schema)
        try coordinator.add(store)
        self.init(store: coordinator, classes: classes)
    }

    init(store: any PersistentStore, classes: ObjectClasses = ObjectClasses()) {
        self.store = store
        container = PersistentContainer(store: store, classes: classes)
    }

    /// A new context.
    func context(_ policy: MergePolicy = .error) -> ManagedObjectContext {
        let context = ManagedObjectContext(store: store, classes: container.classes)
        context.mergePolicy = policy
        return context
    }

    /// Saves objects in a context of their own and gives their ids.
    @discardableResult
    func store(_ body: (ManagedObjectContext) throws -> [ManagedObject]) throws -> [ObjectID] {
        let context = context()
        let objects = try body(context)
        try context.save()
        return objects.map(\.objectID)
    }

    /// A store of the shop's model with a shop and two of its products, and their ids in this order.
    static func shop(_ backend: Backend, classes: ObjectClasses = ObjectClasses()) throws -> (
        Stack, [ObjectID]
    ) {
        let stack = try Stack(Models.shop, backend, classes: classes)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            return [shop]
                + ["a", "b"].map { context.make("Product", ["serialCode": $0, "shop": shop]) }
        }
        return (stack, ids)
    }

    /// Stores products of the shop's model, which are called "0", "1" and so on.
    func products(_ count: Int) throws -> [ObjectID] {
        try store { context in (0..<count).map { context.make("Product", ["name": "\($0)"]) } }
    }
}

extension ManagedObjectContext {
    /// A new object with values.
    @discardableResult
    func make(_ entity: String, _ values: [String: Any?] = [:]) -> ManagedObject {
        let object = insert(entity)
        for (key, value) in values { object[key] = value }
        return object
    }

    /// All objects of an entity.
    func all(_ entity: String, sortedBy key: String? = nil) throws -> [ManagedObject] {
        var request = FetchRequest(entityName: entity)
        if let key { request.sortDescriptors = [SortKey(key)] }
        return try fetch(request)
    }

    /// The objects of an entity with a value.
    func find(_ entity: String, _ key: String, _ value: Value) throws -> [ManagedObject] {
        try fetch(FetchRequest(entityName: entity, predicate: .compare(key, .equal, value)))
    }

    func count(_ entity: String) throws -> Int { try count(for: FetchRequest(entityName: entity)) }
}

extension ManagedObject {
    func string(_ key: String) -> String? { self[key] as? String }
    func int(_ key: String) -> Int? { self[key] as? Int }
    func object(_ key: String) -> ManagedObject? { self[key] as? ManagedObject }
    func members(_ key: String) -> Set<ManagedObject> { self[key] as? Set<ManagedObject> ?? [] }

    func add(_ member: ManagedObject, to key: String) {
        self[key] = members(key).union([member])
    }

    func remove(_ member: ManagedObject, from key: String) {
        self[key] = members(key).subtracting([member])
    }
}

/// The store error that a closure throws, or nil.
func storeError(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch {
        return error as? StoreError
    }
}

extension StoreError {
    /// The constraint conflicts.
    var violations: [ConstraintViolation] {
        conflicts.compactMap { if case .constraint(let violation) = $0 { violation } else { nil } }
    }

    /// The version conflicts.
    var versions: [VersionConflict] {
        conflicts.compactMap { if case .version(let conflict) = $0 { conflict } else { nil } }
    }
}
