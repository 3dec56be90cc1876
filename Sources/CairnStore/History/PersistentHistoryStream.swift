// The transactions that a request asks for, one after the other.
//
// Of several stores the oldest by their times come first; those of one store stay in their order. Nothing is read ahead
// but the next transaction of each other store: what can be read is given before what cannot.
//
// Threads: one at a time.

import CairnModel
package import FoundationEssentials

/// Goes through the transactions of a request, oldest first, a transaction at a time.
///
/// The state that it reads is kept readable until its end is reached, or until it would keep more of the disk's space than
/// snapshots may: then ``next()`` throws `.snapshotExpired`, and whoever wants to go on fetches behind the last token.
public final class PersistentHistoryStream: PersistentHistoryCursor {
    /// The transactions of one store.
    private struct Source {
        let cursor: any PersistentHistoryCursor
        /// The next one, if it was read.
        var next: PersistentHistoryTransaction?
        var isAtEnd = false
    }

    private let request: PersistentHistoryChangeRequest
    private let date: Date?
    private var sources: [Source]
    private var given = 0
    private let isFiltered: Bool
    /// Up to where transactions were given, in all stores that are asked or that the request's token names.
    private var place: PersistentHistoryToken

    /// - Parameters:
    ///   - date: only those after it.
    ///   - start: where the cursor begins.
    package init(
        _ cursor: any PersistentHistoryCursor, _ request: PersistentHistoryChangeRequest,
        after date: Date?, from start: PersistentHistoryToken
    ) {
        self.request = request
        self.date = date
        sources = [Source(cursor: cursor)]
        isFiltered = false
        place = start
    }

    /// Those of several stores, of which each is what the request wants already.
    package init(_ streams: [PersistentHistoryStream], _ request: PersistentHistoryChangeRequest) {
        self.request = request
        date = nil
        sources = streams.map { Source(cursor: $0) }
        isFiltered = true
        place = streams.reduce(PersistentHistoryToken([:])) { $0.merging($1.place) }
    }

    /// The next transaction; nil behind the last one.
    ///
    /// - Throws: `StoreError` if it cannot be read: `.damaged`, and whoever asks once more gets the one behind it;
    ///   `.snapshotExpired`.
    public func next() throws(StoreError) -> PersistentHistoryTransaction? {
        if request.fetchLimit > 0, given >= request.fetchLimit { sources = [] }
        var oldest: Int?
        for index in sources.indices {
            try fill(index)
            guard let next = sources[index].next else { continue }
            if let known = oldest.flatMap({ sources[$0].next }), known.timestamp <= next.timestamp {
                continue
            }
            oldest = index
        }
        guard let oldest, var transaction = sources[oldest].next else {
            // Whatever is kept for them is let go.
            sources = []
            return nil
        }
        sources[oldest].next = nil
        given += 1
        place = place.merging(transaction.token)
        transaction.token = place
        if request.resultType == .transactionsOnly { transaction.changes = nil }
        return transaction
    }

    /// Reads the next transaction of a source that is wanted, unless it is there.
    private func fill(_ index: Int) throws(StoreError) {
        if sources[index].next != nil || sources[index].isAtEnd { return }
        while let transaction = try sources[index].cursor.next() {
            if let date, transaction.timestamp <= date {
                place = place.merging(transaction.token)
                continue
            }
            guard let wanted = isFiltered ? transaction : request.filtered(transaction) else {
                continue
            }
            sources[index].next = wanted
            return
        }
        sources[index].isAtEnd = true
    }

    /// All of it, in the form that the request wants.
    package func result() throws(StoreError) -> PersistentHistoryResult {
        var result = PersistentHistoryResult(request.resultType)
        // That it can be asked is all that is wanted.
        if request.resultType == .statusOnly { return result }
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
