// Contexts that read a store as it was.
//
// A past state is a snapshot like any other, and what contexts do with one is said in ManagedObjectContext+Source.swift: a save
// is checked against what is stored by now, and moves the context on to the newest state.

public import CairnStore
public import FoundationEssentials

extension PersistentStore {
    /// The state after a commit, as contexts read it: number a transaction of the history has, for example. See
    /// ``ManagedObjectContext/setQueryGeneration(from:)``.
    ///
    /// ```swift
    /// try context.setQueryGeneration(from: try store.queryGeneration(at: transaction.transactionNumber - 1))
    /// ```
    ///
    /// - Throws: `StoreError`: `.pastStateUnavailable`, with the first commit whose state is kept; `.invalidRequest` if the store
    ///   keeps no past states, or there are several behind a coordinator, each of which numbers its own commits.
    public func queryGeneration(at number: UInt64) throws(StoreError) -> QueryGenerationToken {
        QueryGenerationToken(
            try pastSnapshot { store throws(StoreError) in
                guard let store else { throw Self.severalStores }
                return try store.snapshot(at: number)
            })
    }

    /// The state behind a point of the history, of each store that the token knows; of others the newest one.
    ///
    /// - Throws: As ``queryGeneration(at:)-(UInt64)``; `.invalidRequest` if the token knows none of the stores.
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

    /// The state of a moment, by the clock of those who committed.
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
            "each store of the coordinator numbers its own commits: name the state by a history token or by a date"
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

    /// The state of its stores behind a point of the history; see
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
