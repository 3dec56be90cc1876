// The transactions of a request, one at a time.
//
// Of several stores the oldest by their times come first; those of one store stay in their order. Nothing is read ahead
// but the next transaction of each other store: what can be read is given before what cannot.
//
// Threads: one at a time.

import CairnModel
import FoundationEssentials

/// Iterates over the transactions of a request, oldest first, one at a time.
///
/// The state it reads stays readable until the end is reached, or until it would retain more disk space than snapshots
/// may: then ``next()`` throws `.snapshotExpired`; continue with a new fetch after the last token.
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
    private let filter: HistoryFilter?
    /// How many changes may be given still; nil: any number.
    private var changesLeft: Int?
    /// Whether another stream puts what it gives in order.
    private var isPart = false
    /// Up to where transactions were given, in all stores that are asked or that the request's token names.
    private var place: PersistentHistoryToken

    /// The stream's current position: after the last transaction that it returned, and after those that it has skipped
    /// since because they do not match.
    ///
    /// Continue from here when you read only part of the history, even if nothing matched: skipped transactions do not
    /// have to be examined or retained again.
    ///
    /// ```swift
    /// while let transaction = try history.next() { try index.apply(transaction) }
    /// token = history.token
    /// ```
    public var token: PersistentHistoryToken { place }

    /// - Parameters:
    ///   - date: only those after it.
    ///   - start: where the cursor begins.
    ///   - filter: the condition of the request.
    init(
        _ cursor: any PersistentHistoryCursor, _ request: PersistentHistoryChangeRequest,
        after date: Date?, from start: PersistentHistoryToken, _ filter: HistoryFilter?
    ) {
        self.request = request
        self.date = date
        self.filter = filter
        changesLeft = filter.flatMap { $0.isOfChanges && !$0.isSorted ? $0.limit : nil }
        sources = [Source(cursor: cursor)]
        isFiltered = false
        place = start
    }

    /// Those of several stores, of which each is what the request wants already.
    package init(_ streams: [PersistentHistoryStream], _ request: PersistentHistoryChangeRequest) {
        self.request = request
        date = nil
        filter = streams.first?.filter
        changesLeft = filter.flatMap { $0.isOfChanges && !$0.isSorted ? $0.limit : nil }
        for stream in streams { stream.isPart = true }
        sources = streams.map { Source(cursor: $0) }
        isFiltered = true
        place = streams.reduce(PersistentHistoryToken([:])) { $0.merging($1.place) }
    }

    /// The next transaction; nil at the end.
    ///
    /// - Throws: `StoreError` if it cannot be read: `.damaged`, and the next call returns the transaction after it;
    ///   `.snapshotExpired`; `.invalidRequest` if the request has a sort order, which requires all results.
    public func next() throws(StoreError) -> PersistentHistoryTransaction? {
        if filter?.isSorted == true, !isPart {
            throw StoreError(
                .invalidRequest,
                "a sorted history cannot be streamed: execute the request, or omit the sort order",
                context: .init(key: request.fetchRequest?.sortDescriptors.first?.key))
        }
        guard var transaction = try advance() else { return nil }
        // Who puts streams together counts the changes.
        if !isPart, request.resultType == .transactionsOnly { transaction.changes = nil }
        return transaction
    }

    /// Whether there are as many transactions, or changes, as are wanted.
    private var isEnough: Bool {
        if changesLeft == 0 { return true }
        if request.fetchLimit > 0, given >= request.fetchLimit { return true }
        guard let filter, !filter.isOfChanges, !filter.isSorted, let limit = filter.limit else {
            return false
        }
        return given >= limit
    }

    /// The next transaction, with its changes.
    ///
    /// - Parameter cuts: whether the last one has as many as are wanted; else all of its changes come, since its token is
    ///   behind them.
    private func advance(cuts: Bool = false) throws(StoreError) -> PersistentHistoryTransaction? {
        if isEnough { sources = [] }
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
        if let left = changesLeft, let changes = transaction.changes {
            if cuts, changes.count > left { transaction.changes = changes.first(left) }
            changesLeft = max(0, left - changes.count)
        }
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
            if isFiltered {
                sources[index].next = transaction
                return
            }
            if let wanted = wanted(of: transaction) {
                sources[index].next = wanted
                return
            }
            place = place.merging(transaction.token)
        }
        sources[index].isAtEnd = true
        // What it has passed over before another one's transaction is passed over only now.
        if let part = sources[index].cursor as? PersistentHistoryStream {
            place = place.merging(part.place)
        }
    }

    /// A transaction as far as the request wants it; nil if it wants nothing of it.
    private func wanted(of transaction: PersistentHistoryTransaction)
        -> PersistentHistoryTransaction?
    {
        guard let wanted = request.filtered(transaction) else { return nil }
        guard let filter else { return wanted }
        return filter.filtered(wanted)
    }

    /// All of it, in the form that the request wants.
    package func result() throws(StoreError) -> PersistentHistoryResult {
        var result = PersistentHistoryResult(request.resultType)
        // That it can be asked is all that is wanted.
        if request.resultType == .statusOnly { return result }
        var known: Set<ObjectID> = []
        guard let filter, filter.isSorted else {
            let cuts =
                request.resultType != .transactionsAndChanges
                && request.resultType != .transactionsOnly
            while let transaction = try advance(cuts: cuts) { result.add(transaction, &known) }
            return result
        }
        if filter.isOfChanges {
            var changes = SortedHistory<PersistentHistoryChange>(filter)
            while let transaction = try advance() {
                for change in transaction.changes ?? [] {
                    changes.add(change, filter.keys(of: transaction, change))
                }
            }
            for change in changes.elements() { result.add(change, &known) }
            return result
        }
        var transactions = SortedHistory<PersistentHistoryTransaction>(filter)
        while var transaction = try advance() {
            let keys = filter.keys(of: transaction, nil)
            if request.resultType == .transactionsOnly { transaction.changes = nil }
            transactions.add(transaction, keys)
        }
        for transaction in transactions.elements() { result.add(transaction, &known) }
        return result
    }
}

extension PersistentHistoryResult {
    fileprivate mutating func add(
        _ transaction: PersistentHistoryTransaction, _ known: inout Set<ObjectID>
    ) {
        switch resultType {
        case .statusOnly: return
        case .count: count += transaction.changes?.count ?? 0
        case .objectIDs, .changesOnly:
            for change in transaction.changes ?? [] { add(change, &known) }
        case .transactionsOnly:
            var alone = transaction
            alone.changes = nil
            transactions.append(alone)
        case .transactionsAndChanges: transactions.append(transaction)
        }
    }

    fileprivate mutating func add(_ change: PersistentHistoryChange, _ known: inout Set<ObjectID>) {
        switch resultType {
        case .objectIDs:
            if known.insert(change.changedObjectID).inserted {
                objectIDs.append(change.changedObjectID)
            }
        case .count: count += 1
        case .changesOnly: changes.append(change)
        case .statusOnly, .transactionsOnly, .transactionsAndChanges: return
        }
    }
}
