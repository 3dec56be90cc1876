// The transactions that a request asks for, one after the other.
//
// Of several stores the oldest by their times come first; those of one store stay in their order.
//
// Threads: one at a time.

import CairnModel
package import FoundationEssentials

/// Goes through the transactions of a request, oldest first, a transaction at a time.
public final class PersistentHistoryStream: PersistentHistoryCursor {
    private let request: PersistentHistoryChangeRequest
    private let date: Date?
    /// Those of each store, with the next one.
    private var sources:
        [(cursor: any PersistentHistoryCursor, next: PersistentHistoryTransaction?)]
    private var hasBegun = false
    private var given = 0
    private let isFiltered: Bool

    /// - Parameter date: only those after it.
    package init(
        _ cursors: [any PersistentHistoryCursor], _ request: PersistentHistoryChangeRequest,
        after date: Date?
    ) {
        self.request = request
        self.date = date
        sources = cursors.map { ($0, nil) }
        isFiltered = false
    }

    /// Those of several stores, of which each is what the request wants already.
    package init(_ streams: [PersistentHistoryStream], _ request: PersistentHistoryChangeRequest) {
        self.request = request
        date = nil
        sources = streams.map { ($0, nil) }
        isFiltered = true
    }

    /// The next transaction; nil behind the last one.
    ///
    /// - Throws: `StoreError` if it cannot be read.
    public func next() throws(StoreError) -> PersistentHistoryTransaction? {
        if request.fetchLimit > 0, given >= request.fetchLimit { return nil }
        if !hasBegun {
            hasBegun = true
            for index in sources.indices { try advance(index) }
        }
        var oldest: Int?
        for index in sources.indices {
            guard let next = sources[index].next else { continue }
            if let known = oldest.flatMap({ sources[$0].next }), known.timestamp <= next.timestamp {
                continue
            }
            oldest = index
        }
        guard let oldest, var transaction = sources[oldest].next else { return nil }
        try advance(oldest)
        given += 1
        if request.resultType == .transactionsOnly { transaction.changes = nil }
        return transaction
    }

    private func advance(_ index: Int) throws(StoreError) {
        sources[index].next = nil
        while let transaction = try sources[index].cursor.next() {
            if let date, transaction.timestamp <= date { continue }
            guard let wanted = isFiltered ? transaction : request.filtered(transaction) else {
                continue
            }
            sources[index].next = wanted
            return
        }
    }

    /// All of it, in the form that the request wants.
    package func result() throws(StoreError) -> PersistentHistoryResult {
        var result = PersistentHistoryResult(request.resultType)
        var known: Set<ObjectID> = []
        while let transaction = try next() {
            switch request.resultType {
            case .statusOnly: continue
            case .objectIDs:
                for change in transaction.changes.map({ Array($0) }) ?? [] {
                    let id = change.changedObjectID
                    if known.insert(id).inserted { result.objectIDs.append(id) }
                }
            case .count: result.count += transaction.changes?.count ?? 0
            case .changesOnly: result.changes += transaction.changes.map { Array($0) } ?? []
            case .transactionsOnly, .transactionsAndChanges:
                result.transactions.append(transaction)
            }
        }
        return result
    }
}
