// What is committed to any of the stores, as the contract of a store has it told.
//
// The stores are observed only while somebody observes the coordinator. What they tell goes through one board, so that
// everybody is told one thing at a time. A change set stays what it is: it names its store, and its numbers are that store's.
//
// Threads: any.

public import CairnStore
import FoundationEssentials
import Synchronization

extension PersistentStoreCoordinator {
    /// Calls a closure for every commit to any of the stores, as a store does. `ChangeSet.identity` identifies the
    /// store. Commits to one store are reported in order.
    public func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void)
        -> ChangeObservation
    {
        let observation = board.observe(receive)
        observations.withLock { observations in
            if observations != nil { return }
            var all: [UUID: ChangeObservation] = [:]
            for store in attached { all[store.identifier] = observe(store.store) }
            observations = all
        }
        return observation
    }

    func observe(_ store: any PersistentStore) -> ChangeObservation {
        store.observeChanges { [weak self] in self?.forward($0) }
    }

    private func forward(_ set: ChangeSet) {
        guard board.isObserved else { return endObservations() }
        board.post(set)
        board.deliver()
    }

    /// Observes the stores no more, unless somebody has come to observe.
    private func endObservations() {
        // What ends with an observation must not end under the lock.
        let ended = observations.withLock { observations -> [UUID: ChangeObservation]? in
            if board.isObserved { return nil }
            defer { observations = nil }
            return observations
        }
        withExtendedLifetime(ended) {}
    }

    /// What has changed in a store, by the numbers that its objects have in contexts.
    func moved(_ changes: [EntityChanges], from store: UUID) -> [EntityChanges] {
        guard let number = state.withLock({ $0.known[store]?.number }) else { return [] }
        return changes.map { $0.moved(to: number) }
    }

    /// The same of what differs in its rows.
    func moved(_ rows: RowChanges, from store: UUID) -> RowChanges? {
        state.withLock { $0.known[store]?.number }.map { rows.moved(to: $0) }
    }

    func endObservation(of store: UUID) {
        let ended = observations.withLock { $0?.removeValue(forKey: store) }
        withExtendedLifetime(ended) {}
    }
}

extension EntityChanges {
    /// The same with the number of a store in the numbers of the objects; see `StoreNumbers`.
    fileprivate func moved(to store: UInt32) -> EntityChanges {
        var moved = EntityChanges(entity: entity)
        moved.inserted = inserted.moved(to: store)
        moved.updated = updated.moved(to: store)
        moved.deleted = deleted.moved(to: store)
        return moved
    }
}
