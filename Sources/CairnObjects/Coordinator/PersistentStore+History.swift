// Whose history is meant: that of a store, or those of the stores of a coordinator.

import CairnModel
package import CairnStore
package import FoundationEssentials

extension PersistentStore {
    /// The stores with a history: the store itself, or those behind it. Of stores that can keep one some may keep none.
    var historyStores: [any HistoryStore] {
        if let coordinator = self as? PersistentStoreCoordinator {
            return coordinator.attached.compactMap { $0.store as? any HistoryStore }
        }
        return (self as? any HistoryStore).map { [$0] } ?? []
    }

    /// The point of the history behind commits, by the identifiers of their stores, of those that keep one.
    func historyToken(behind commits: [UUID: UInt64]) -> PersistentHistoryToken? {
        if commits.isEmpty { return nil }
        var token: PersistentHistoryToken?
        for store in historyStores where store.historyTracking != .off {
            guard let number = commits[store.identity.identifier] else { continue }
            // Who tells of a commit must not fail: a point that cannot be compared is one all the same.
            let one =
                (try? store.historyToken(behind: number))
                ?? PersistentHistoryToken(store: store.identity.identifier, number: number)
            token = token?.merging(one) ?? one
        }
        return token
    }

    /// Those that a request asks.
    ///
    /// - Throws: `StoreError` if none keeps a history.
    private func historyStores(for request: PersistentHistoryChangeRequest) throws(StoreError)
        -> [any HistoryStore]
    {
        let named = request.affectedStores
        let stores = historyStores.filter {
            named?.contains($0.identity.identifier) ?? true && $0.historyTracking != .off
        }
        if stores.isEmpty { throw StoreError.noHistory }
        return stores
    }

    /// Goes through what a request asks for, of all stores that keep a history.
    package func history(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryStream
    {
        var streams: [PersistentHistoryStream] = []
        for store in try historyStores(for: request) {
            // A transaction says where its own store is, and nothing of others.
            if case .fetch(.transaction(_, let named)) = request.operation,
                named != store.identity.identifier
            {
                continue
            }
            streams.append(try store.fetchHistory(request))
        }
        if streams.count == 1 { return streams[0] }
        if streams.isEmpty {
            throw StoreError(.invalidRequest, "the transaction belongs to another store")
        }
        return PersistentHistoryStream(streams, request)
    }

    /// Does what a request asks for, in all stores that keep a history.
    package func executeHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryResult
    {
        guard request.isDeletion else { return try history(request).result() }
        var result = PersistentHistoryResult(request.resultType)
        var stores = try historyStores(for: request)
        if case .delete(.transaction(_, let named)) = request.operation {
            stores.removeAll { $0.identity.identifier != named }
            if stores.isEmpty {
                throw StoreError(.invalidRequest, "the transaction belongs to another store")
            }
        }
        for store in stores {
            result.deletedTransactionCount += try writingHistory(of: store) {
                store throws(StoreError) in try store.deleteHistory(request)
            }
        }
        return result
    }

    /// Writes to one of the stores: behind a coordinator in the turn of whoever writes there, to the store that is there then.
    func writingHistory<R>(
        of store: any HistoryStore, _ body: (any HistoryStore) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        guard let coordinator = self as? PersistentStoreCoordinator,
            let attached = coordinator.store(store.identity.identifier)
        else { return try body(store) }
        return try coordinator.writing(to: attached) { current throws(StoreError) in
            guard let current = current as? any HistoryStore else { throw StoreError.noHistory }
            return try body(current)
        }
    }

    /// The point behind everything that is committed, of the stores that keep a history; nil if none does.
    package func historyToken(of identifiers: [UUID]?) throws(StoreError)
        -> PersistentHistoryToken?
    {
        var token: PersistentHistoryToken?
        for store in historyStores
        where identifiers?.contains(store.identity.identifier) ?? true {
            guard let one = try store.currentHistoryToken() else { continue }
            token = token.map { $0.merging(one) } ?? one
        }
        return token
    }
}
