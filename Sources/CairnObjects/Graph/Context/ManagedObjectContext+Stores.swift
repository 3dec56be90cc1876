// What a context does only if there are several stores behind it.
//
//   Assigning   which store a new object will go to
//   Noticing    at each fetch, save and merge: objects of a store that was removed are gone, those of one that was replaced
//               are read anew
//
// Threads: the context's.

import CairnModel
public import CairnStore
import FoundationEssentials
import Synchronization

extension ManagedObjectContext {
    /// The coordinator of the context's stores; nil if it has one store alone, without a coordinator.
    public var persistentStoreCoordinator: PersistentStoreCoordinator? { coordinator }

    /// Assigns a new object to a store. By default, it is saved to the first writable store for its entity.
    ///
    /// ```swift
    /// let draft = context.insert("Note")
    /// try context.assign(draft, to: drafts)
    /// ```
    ///
    /// Related objects must be in the same store when it is saved: assign new ones as well.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if the object already has its permanent id, or the store does not belong
    ///   to the context or does not contain the entity; `.readOnly` if it cannot be written.
    public func assign(_ object: ManagedObject, to store: any PersistentStore) throws(StoreError) {
        let identifier = store.identity.identifier
        func refusal(_ message: String) -> StoreError {
            StoreError(
                .invalidRequest, message,
                context: .init(entity: object.entity.name, objectID: object.objectID))
        }
        guard object.managedObjectContext === self else {
            throw refusal("the object is not in the context")
        }
        guard object.hasTemporaryID else {
            if object.objectID.store == identifier { return }
            throw refusal("the object is stored in another store, and cannot move")
        }
        var above = object.isInserted ? nil : parent
        while let context = above {
            // It goes where the one goes that it shows.
            if let shown = context.registry.object(for: object.objectID), shown.isInserted {
                return try context.assign(shown, to: store)
            }
            above = context.parent
        }
        guard let coordinator else {
            if identifier == identity.identifier { return }
            throw refusal("the store does not belong to the context")
        }
        guard let store = coordinator.store(identifier) else {
            throw StoreError(notAttached: object.objectID, entity: object.entity)
        }
        guard store.entities[object.entity.index] else {
            throw refusal("the store's configuration does not include the entity")
        }
        if store.isReadOnly {
            throw StoreError(
                .readOnly, "the store is read-only",
                context: .init(entity: object.entity.name, objectID: object.objectID))
        }
        object.extras.assignedStore = identifier
    }

    /// The store of an object, or the one that it was assigned to; nil for an unassigned new object.
    public func persistentStore(of object: ManagedObject) -> (any PersistentStore)? {
        guard let coordinator else { return object.hasTemporaryID ? nil : store }
        if !object.hasTemporaryID { return coordinator.persistentStore(for: object.objectID) }
        return assignedStore(of: object).flatMap { coordinator.store($0)?.store }
    }

    /// The stores of new objects that were assigned to one.
    var assignedStores: [ObjectID: UUID] {
        var stores: [ObjectID: UUID] = [:]
        for object in changed.inOrder where object.hasTemporaryID {
            if let store = object.rarer?.assignedStore { stores[object.objectID] = store }
        }
        return stores
    }

    /// The store that a new object was assigned to, here or in the context that it is one of.
    private func assignedStore(of object: ManagedObject) -> UUID? {
        if let store = object.rarer?.assignedStore { return store }
        guard let parent, object.hasTemporaryID else { return nil }
        return parent.registry.object(for: object.objectID).flatMap(parent.assignedStore)
    }

    /// Whether an object is in one of some stores, or would be saved there.
    func isObject(_ object: ManagedObject, inOneOf stores: [UUID]) -> Bool {
        if !object.hasTemporaryID { return stores.contains(object.objectID.store) }
        if let assigned = assignedStore(of: object) { return stores.contains(assigned) }
        guard let coordinator else { return stores.contains(identity.identifier) }
        let entity = object.entity.index
        return coordinator.attached.first { $0.takes(entity) }
            .map { stores.contains($0.identifier) } ?? false
    }

    /// The stores that are not asked for objects of all entities; nil if each of them is.
    var dividedStores: [CoordinatedStore]? {
        guard let stores = coordinator?.attached,
            stores.contains(where: { $0.configuration != nil })
        else { return nil }
        return stores
    }

    /// Whether fetches find an object that is not changed: whether its store is asked for objects of its entity.
    ///
    /// - Parameter stores: the context's ``dividedStores``.
    func isFound(_ object: ManagedObject, in stores: [CoordinatedStore]?) -> Bool {
        guard let stores, !object.hasTemporaryID else { return true }
        let identifier = object.objectID.store
        return stores.first { $0.identifier == identifier }?.entities[object.entity.index] ?? true
    }

    /// The stores of a request by their identifiers.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if one is none of the context's.
    func identifiers(of affected: AffectedStores, _ entity: SchemaEntity) throws(StoreError)
        -> [UUID]
    {
        let identifiers = affected.stores.map(\.identity.identifier)
        for identifier in identifiers {
            let isOurs =
                coordinator.map { $0.store(identifier) != nil }
                ?? (identifier == identity.identifier)
            if !isOurs { throw StoreError(notAttached: nil, entity: entity) }
        }
        return identifiers
    }

    /// Permanent ids for new objects, of the stores that they will go to.
    func permanentIDs(for objects: [ManagedObject]) throws(StoreError) -> [ObjectID] {
        let entities = objects.map(\.entity.index)
        guard let coordinator else { return try store.obtainPermanentIDs(forEntities: entities) }
        return try coordinator.obtainPermanentIDs(
            forEntities: entities, in: objects.map(assignedStore))
    }

    // MARK: Noticing

    /// Objects of stores that were removed are gone, those of stores that were added again are there again, and those of stores
    /// in the place of others are read anew. A context that reads a pinned state has the stores of that state.
    @inline(__always) func noticeStores(_ coordinator: PersistentStoreCoordinator) {
        if knownStores == coordinator.version.load(ordering: .acquiring), root.generation == nil {
            return
        }
        noticeOtherStores(coordinator)
    }

    @inline(never)
    private func noticeOtherStores(_ coordinator: PersistentStoreCoordinator) {
        parent?.noticeStores(coordinator)
        let pinned = root.generation?.snapshot as? CoordinatedSnapshot
        if let pinned, pinned.version == knownStores { return }
        let (version, since) =
            pinned.map { ($0.version, $0.stores.since) } ?? coordinator.presentStores
        if version == knownStores { return }
        knownStores = version
        let before = storesSince
        storesSince = since
        prefetched = nil
        saves += 1
        var gone: [ManagedObject] = []
        for object in registry.objects where !object.hasTemporaryID {
            let identifier = object.objectID.store
            guard let since = storesSince[identifier] else {
                // New ones stay, and can be saved when the store is there again. What somebody else has deleted is a change
                // still, though it is gone.
                let isNew = object.isInserted && !object.isRecreated
                let isLeft = isNew || object.isGone && object.changedIndex < 0
                if !isLeft { gone.append(object) }
                continue
            }
            if object.isGone {
                if before[identifier] != since, object.changedIndex < 0 { object.revive() }
            } else if let known = before[identifier], known != since, !object.isInserted {
                refresh(object, mergeChanges: object.isUpdated || object.isDeleted)
                object.unloadMembers()
            }
        }
        vanish(gone)
    }
}
