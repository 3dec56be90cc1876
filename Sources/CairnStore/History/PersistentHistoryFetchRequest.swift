// A predicate for transactions or changes of the history.

public import CairnModel

/// A condition on transactions or changes of the history, for ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
///
/// ```swift
/// let mine = try PersistentHistoryTransaction.fetchRequest(
///     where: "author == 'sync' AND timestamp > %@", yesterday)
/// for transaction in try context.execute(.fetchHistory(withFetch: mine)).transactions { … }
///
/// var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
/// request.fetchRequest = try PersistentHistoryChange.fetchRequest(
///     where: "changedEntity IN {'Person', 'Pet'} AND transaction.author != 'view'")
/// request.resultType = .changesOnly
/// ```
///
/// A transaction has the keys `author`, `contextName`, `bundleID`, `processID`, `storeID`, `timestamp`, `transactionNumber`
/// and `token`, which is the same number. A change has the keys `changeID`, `changedEntity` (the entity's name, also
/// `entityName`), `changedObjectID`, `changeType` (0 for insertions, 1 for updates, 2 for deletions), `transactionNumber`,
/// and `transaction`, followed by one of the transaction's keys. For any other key the error names it.
public struct PersistentHistoryFetchRequest: Sendable, Hashable {
    /// What a condition applies to.
    public enum Subject: Sendable, Hashable {
        /// Transactions. Those that match are returned with all their changes.
        case transactions
        /// Changes. Transactions are returned with their matching changes, or not at all if there are none.
        case changes
    }

    /// What the condition applies to.
    public let subject: Subject
    /// The condition; nil: all.
    public var predicate: PredicateNode?
    /// The null semantics of ``predicate``.
    public var nullSemantics = NullSemantics.twoValued
    /// The sort order; oldest first if empty, and among equal elements.
    ///
    /// Changes can only be sorted on their own, not within transactions. Sorted results cannot be streamed:
    /// `fetchHistory(_:)` fails then, and all matches are in memory, up to ``fetchLimit``.
    public var sortDescriptors: [SortKey] = []
    /// The maximum number of transactions or changes; 0 for all.
    ///
    /// If changes are returned within transactions, the last one contains all its matching changes, even beyond the
    /// limit, so continuing after its token misses none.
    public var fetchLimit = 0

    /// A request for transactions, or for changes.
    public init(_ subject: Subject, predicate: PredicateNode? = nil) {
        self.subject = subject
        self.predicate = predicate
    }
}

extension PersistentHistoryTransaction {
    /// A request for all transactions.
    public static var fetchRequest: PersistentHistoryFetchRequest { .init(.transactions) }

    /// A condition on transactions.
    public static func fetchRequest(where predicate: PredicateNode) -> PersistentHistoryFetchRequest
    {
        .init(.transactions, predicate: predicate)
    }
}

extension PersistentHistoryChange {
    /// A request for all changes.
    public static var fetchRequest: PersistentHistoryFetchRequest { .init(.changes) }

    /// A condition on changes.
    public static func fetchRequest(where predicate: PredicateNode) -> PersistentHistoryFetchRequest
    {
        .init(.changes, predicate: predicate)
    }
}

extension PersistentHistoryChangeRequest {
    /// Everything retained that matches a condition.
    ///
    /// The request's other criteria also apply.
    public static func fetchHistory(withFetch request: PersistentHistoryFetchRequest)
        -> PersistentHistoryChangeRequest
    {
        var history = fetchHistory(after: nil)
        history.fetchRequest = request
        return history
    }
}
