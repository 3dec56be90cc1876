// Contexts that read a store as it was.
//
// A past state is a snapshot like any other, and what contexts do with one is said in ManagedObjectContext+Source.swift: a save
// is checked against what is stored by now, and moves the context on to the newest state.

public import CairnStore
public import FoundationEssentials

extension PersistentStore {
    /// The state after a commit, for contexts to read: for example the commit number of a history transaction. See
    /// ``ManagedObjectContext/setQueryGeneration(from:)``.
    ///
    /// ```swift
    /// try context.setQueryGeneration(from: try store.queryGeneration(at: transaction.transactionNumber - 1))
    /// ```
    ///
    /// - Throws: `StoreError`: `.pastStateUnavailable`, with the earliest available commit; `.invalidRequest` if the
    ///   store keeps no past states, or if a coordinator has several stores, each of which numbers its own commits.
    public func queryGeneration(at number: UInt64) throws(StoreError) -> QueryGenerationToken {
        QueryGenerationToken(
            try pastSnapshot { store throws(StoreError) in
                guard let store else { throw Self.severalStores }
                return try store.snapshot(at: number)
            })
    }

    /// The state at a position in the history, for each store that the token covers; the newest state for others.
    ///
    /// - Throws: As ``queryGeneration(at:)-(UInt64)``; `.invalidRequest` if the token covers none of the stores.
    public func queryGeneration(at token: PersistentHistoryToken) throws(StoreError)
        -> QueryGenerationToken
    {
        let numbers = token.numbers
        guard pastStores.contains(where: { numbers[$0.identity.identifier] != nil }) else {
            throw StoreError(.invalidRequest, "the token belongs to the history of another store")
        }
        let snapshot: any StoreSnapshot
        if let coordinator = self as? PersistentStoreCoordinator {
            snapshot = try coordinator.snapshot { store throws(StoreError) in
                guard let number = numbers[store.identity.identifier] else {
                    return try store.snapshot()
                }
                return try Self.past(store).snapshot(at: number)
            }
        } else {
            snapshot = try Self.past(self).snapshot(at: numbers[identity.identifier] ?? 0)
        }
        return QueryGenerationToken(snapshot)
    }

    /// The state at a date, by the clocks of the committing processes.
    ///
    /// - Throws: As ``queryGeneration(at:)-(UInt64)``.
    public func queryGeneration(at date: Date) throws(StoreError) -> QueryGenerationToken {
        let snapshot: any StoreSnapshot
        if let coordinator = self as? PersistentStoreCoordinator {
            snapshot = try coordinator.snapshot { store throws(StoreError) in
                let past = try Self.past(store)
                return try past.snapshot(at: try past.transactionNumber(at: date))
            }
        } else {
            let past = try Self.past(self)
            snapshot = try past.snapshot(at: try past.transactionNumber(at: date))
        }
        return QueryGenerationToken(snapshot)
    }

    /// The stores that can keep past states: the store itself, or those behind it.
    private var pastStores: [any PersistentStore] {
        (self as? PersistentStoreCoordinator)?.attached.map(\.store) ?? [self]
    }

    /// A snapshot of the only store there is; the closure is given nil if there are several.
    private func pastSnapshot(
        _ body: ((any PastStore)?) throws(StoreError) -> any StoreSnapshot
    ) throws(StoreError) -> any StoreSnapshot {
        guard let coordinator = self as? PersistentStoreCoordinator else {
            return try body(try Self.past(self))
        }
        let isAlone = coordinator.attached.count == 1
        return try coordinator.snapshot { store throws(StoreError) in
            try body(isAlone ? try Self.past(store) : nil)
        }
    }

    private static func past(_ store: any PersistentStore) throws(StoreError) -> any PastStore {
        if let past = store as? any PastStore { return past }
        throw StoreError.noPastStates
    }

    private static var severalStores: StoreError {
        StoreError(
            .invalidRequest,
            "each store of the coordinator numbers its own commits: specify the state by a history token or a date"
        )
    }
}

extension PersistentContainer {
    /// The state of its store after a commit; see ``PersistentStore/queryGeneration(at:)-(UInt64)``.
    ///
    /// - Throws: `StoreError`, as there.
    public func queryGeneration(at number: UInt64) throws(StoreError) -> QueryGenerationToken {
        try store.queryGeneration(at: number)
    }

    /// The state of its stores at a position in the history; see
    /// ``PersistentStore/queryGeneration(at:)-(PersistentHistoryToken)``.
    ///
    /// - Throws: `StoreError`, as there.
    public func queryGeneration(at token: PersistentHistoryToken) throws(StoreError)
        -> QueryGenerationToken
    {
        try store.queryGeneration(at: token)
    }

    /// The state of its stores of a moment.
    ///
    /// - Throws: `StoreError`, as there.
    public func queryGeneration(at date: Date) throws(StoreError) -> QueryGenerationToken {
        try store.queryGeneration(at: date)
    }
}
