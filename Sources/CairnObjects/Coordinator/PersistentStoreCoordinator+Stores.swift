// Stores that come and go.
//
//   1. What cannot be done is refused before anybody is told.
//   2. Those who want to know are told that the stores are about to change: contexts can be saved still.
//   3. The store is observed, if anybody observes the coordinator, and then attached: what is seen of it is told of.
//   4. Those who want to know are told that the stores have changed. Contexts notice by themselves, when they next fetch or
//      save; see ManagedObjectContext+Stores.
//
// Threads: any.

import CairnModel
public import CairnStore
import FoundationEssentials
import Synchronization

extension PersistentStoreCoordinator {
    /// The stores, in the order in which they were added.
    public var persistentStores: [any PersistentStore] { attached.map(\.store) }

    /// Adds a store. Contexts see its objects from now on.
    ///
    /// - Parameter configuration: the configuration of the model whose entities the store is for; nil: all entities.
    /// - Throws: `StoreError`: `.incompatibleModel` if the store has another model, `.invalidRequest` if the model has no such
    ///   configuration, or there is a store with the same identifier already, as a copy of its files has it.
    public func add(_ store: any PersistentStore, configuration: String? = nil) throws(StoreError) {
        try check(store)
        let entities = try entities(ofConfiguration: configuration)
        let identifier = store.identity.identifier
        if self.store(identifier) != nil { throw StoreError(twice: store) }
        tell(StoresChange(added: [store], removed: []), .isComing)
        let isAdded = attach(store) { state, number in
            if state.attached.contains(where: { $0.identifier == identifier }) { return false }
            state.attached.append(
                CoordinatedStore(
                    store, number: number, configuration: configuration, entities: entities,
                    since: state.version + 1, gate: StoreGate()))
            return true
        }
        guard isAdded else { throw StoreError(twice: store) }
        tell(StoresChange(added: [store], removed: []), .isThere)
    }

    /// Removes a store. For the contexts, its objects are then deleted: a context notices when it next fetches or
    /// saves, and drops their changes. Unsaved new objects remain.
    ///
    /// States that a query generation has pinned stay readable.
    ///
    /// - Parameter closes: whether to close the store.
    /// - Throws: `StoreError`: `.invalidRequest` if it does not belong to the coordinator; the errors of closing it.
    public func remove(_ store: any PersistentStore, closes: Bool = true) throws(StoreError) {
        guard attached.contains(where: { $0.store === store }) else {
            throw StoreError(notAttached: nil)
        }
        let change = StoresChange(added: [], removed: [store])
        tell(change, .isComing)
        guard detach(store) else { throw StoreError(notAttached: nil) }
        tell(change, .isThere)
        if closes { try store.close() }
    }

    /// Takes a store out, and what is observed of it; whether it was there.
    private func detach(_ store: any PersistentStore) -> Bool {
        // What ends with an observation must not end under the lock.
        var ended: ChangeObservation?
        let isDetached = observations.withLock { observations in
            let removed = state.withLock { state -> CoordinatedStore? in
                guard let place = state.attached.firstIndex(where: { $0.store === store })
                else { return nil }
                state.version += 1
                version.store(state.version, ordering: .releasing)
                return state.attached.remove(at: place)
            }
            if let removed { ended = observations?.removeValue(forKey: removed.identifier) }
            return removed != nil
        }
        withExtendedLifetime(ended) {}
        return isDetached
    }

    /// Replaces a store by another one, for the same configuration: usually the same store opened at another location,
    /// or a copy. If the identifiers are equal, objects are the same ones, and contexts read them again, keeping edits.
    /// Otherwise the old store's objects are gone, as if it had been removed.
    ///
    /// - Parameter closes: whether the store before is closed.
    /// - Throws: `StoreError`: `.invalidRequest` if the store is none of the coordinator's, or another one has the identifier of
    ///   the new one; `.incompatibleModel` if the new one has another model; what closing the store before throws.
    public func replace(
        _ store: any PersistentStore, with new: any PersistentStore, closes: Bool = true
    ) throws(StoreError) {
        try check(new)
        guard let old = attached.first(where: { $0.store === store }) else {
            throw StoreError(notAttached: nil)
        }
        if old.store === new { return }
        try check(new, inPlaceOf: old)
        let change = StoresChange(added: [new], removed: [old.store])
        tell(change, .isComing)
        try put(new, inPlaceOf: old)
        tell(change, .isThere)
        if closes { try old.store.close() }
    }

    /// Puts a store that is made of another in its place, while nobody writes to that one. The store before is not closed.
    ///
    /// - Throws: `StoreError`: what making it throws; as ``replace(_:with:closes:)``.
    package func replace(
        _ store: any PersistentStore,
        byMaking make: () throws(StoreError) -> any PersistentStore
    ) throws(StoreError) {
        guard let old = self.store(store.identity.identifier), old.store === store else {
            throw StoreError(notAttached: nil)
        }
        tell(StoresChange(added: [], removed: [store]), .isComing)
        let new = try old.gate.shut { () throws(StoreError) -> any PersistentStore in
            let new = try make()
            try check(new)
            try check(new, inPlaceOf: old)
            try put(new, inPlaceOf: old)
            return new
        }
        tell(StoresChange(added: [new], removed: [store]), .isThere)
    }

    private func check(_ new: any PersistentStore, inPlaceOf old: CoordinatedStore)
        throws(StoreError)
    {
        let identifier = new.identity.identifier
        if identifier != old.identifier, store(identifier) != nil { throw StoreError(twice: new) }
    }

    private func put(_ new: any PersistentStore, inPlaceOf old: CoordinatedStore)
        throws(StoreError)
    {
        let (before, after) = (old.identifier, new.identity.identifier)
        let isReplaced = attach(new) { state, number in
            guard let place = state.attached.firstIndex(where: { $0.store === old.store }),
                after == before || !state.attached.contains(where: { $0.identifier == after })
            else { return false }
            state.attached[place] = CoordinatedStore(
                new, number: number, configuration: old.configuration, entities: old.entities,
                since: state.version + 1, gate: old.gate)
            return true
        }
        guard isReplaced else { throw StoreError(notAttached: nil) }
        if after != before { endObservation(of: before) }
    }

    private func check(_ store: any PersistentStore) throws(StoreError) {
        guard !(store is PersistentStoreCoordinator) else {
            throw StoreError(.invalidRequest, "a coordinator cannot be added to another one")
        }
        guard store.schema.entities.count == schema.entities.count,
            zip(store.schema.entities, schema.entities).allSatisfy({ $0.layout == $1.layout })
        else {
            throw StoreError(
                .incompatibleModel, "the store's model differs from the coordinator's")
        }
    }

    /// By entity: whether it is in a configuration.
    private func entities(ofConfiguration name: String?) throws(StoreError) -> [Bool] {
        guard let name else { return schema.entities.map { _ in true } }
        guard let members = schema.model.configurations[name] else {
            let names = schema.model.configurations.keys.sorted()
            let known = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw StoreError(
                .invalidRequest, "the model has no configuration of this name. It has: \(known)",
                context: .init(key: name))
        }
        return schema.entities.map { members.contains($0.name) }
    }

    /// Gives a store a number, and has a closure enter it; whether it did. It is observed by then, if anything is.
    private func attach(_ store: any PersistentStore, _ enter: (inout State, UInt32) -> Bool)
        -> Bool
    {
        // What ends with an observation must not end under the lock.
        var ended: ChangeObservation?
        let isEntered = observations.withLock { observations in
            let observation = observations.map { _ in observe(store) }
            let identity = store.identity
            let isEntered = state.withLock { state in
                let known = state.known[identity.identifier]
                let number =
                    known?.hierarchies == identity.hierarchies ? known?.number : nil
                let given = number ?? StoreNumbers.enter(identity)
                guard enter(&state, given) else { return false }
                var roots: [UInt32: Int] = [:]
                for entity in schema.entities where entity.parent == nil {
                    roots[identity.hierarchies[entity.index]] = entity.index
                }
                state.known[identity.identifier] = KnownStore(
                    number: given, hierarchies: identity.hierarchies, roots: roots)
                state.version += 1
                version.store(state.version, ordering: .releasing)
                return true
            }
            ended = observation
            if isEntered, let observation {
                ended = observations?.updateValue(observation, forKey: identity.identifier)
            }
            return isEntered
        }
        withExtendedLifetime(ended) {}
        return isEntered
    }
}

extension StoreError {
    /// A store that the coordinator does not have, or no more.
    init(notAttached id: ObjectID?, entity: SchemaEntity? = nil) {
        self.init(
            .invalidRequest, "the store does not belong to the coordinator",
            context: .init(entity: entity?.name, objectID: id))
    }

    /// A store whose identifier another one has.
    fileprivate init(twice store: any PersistentStore) {
        self.init(
            .invalidRequest,
            "the coordinator already has a store with this identifier: the same store, or a copy of it"
        )
        affectedStores = [store.identity.identifier]
    }
}
