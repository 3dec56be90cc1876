// Which transactions or changes of the history are wanted, as a predicate.

public import CairnModel

/// A condition on transactions of the history, or on changes, for ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
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
/// A transaction has `author`, `contextName`, `bundleID`, `processID`, `storeID`, `timestamp`, `transactionNumber` and `token`,
/// which is the same number. A change has `changeID`, `changedEntity` (the entity's name, and `entityName` for it),
/// `changedObjectID`, `changeType` (0 for insertions, 1 for updates, 2 for deletions), `transactionNumber` and `transaction`, behind
/// which come the keys of that. Other keys are an error that names them.
public struct PersistentHistoryFetchRequest: Sendable, Hashable {
    /// What a condition is on.
    public enum Subject: Sendable, Hashable {
        /// Transactions: those that match come with all their changes.
        case transactions
        /// Changes: of a transaction come those that match, and none without any.
        case changes
    }

    /// What the condition is on.
    public let subject: Subject
    /// The condition; nil: all.
    public var predicate: PredicateNode?
    /// What ``predicate`` says of nil.
    public var nullSemantics = NullSemantics.twoValued
    /// The order of what is given; oldest first if there is none, and within what is equal.
    ///
    /// Changes can be sorted only where they are asked for alone, not in their transactions. What is sorted cannot be given one
    /// after the other: then `fetchHistory(_:)` fails, and all that matches is in memory, or as much as ``fetchLimit`` says.
    public var sortDescriptors: [SortKey] = []
    /// At most so many transactions, or changes; 0: all.
    ///
    /// Where changes come in their transactions, the last one has all of them that match, be it more: who goes on behind its token
    /// misses none.
    public var fetchLimit = 0

    /// Asks for transactions, or for changes.
    public init(_ subject: Subject, predicate: PredicateNode? = nil) {
        self.subject = subject
        self.predicate = predicate
    }
}

extension PersistentHistoryTransaction {
    /// A condition on transactions, which all of them meet.
    public static var fetchRequest: PersistentHistoryFetchRequest { .init(.transactions) }

    /// A condition on transactions.
    public static func fetchRequest(where predicate: PredicateNode) -> PersistentHistoryFetchRequest
    {
        .init(.transactions, predicate: predicate)
    }
}

extension PersistentHistoryChange {
    /// A condition on changes, which all of them meet.
    public static var fetchRequest: PersistentHistoryFetchRequest { .init(.changes) }

    /// A condition on changes.
    public static func fetchRequest(where predicate: PredicateNode) -> PersistentHistoryFetchRequest
    {
        .init(.changes, predicate: predicate)
    }
}

extension PersistentHistoryChangeRequest {
    /// All that is retained and meets a condition.
    ///
    /// What else the request can say counts beside it.
    public static func fetchHistory(withFetch request: PersistentHistoryFetchRequest)
        -> PersistentHistoryChangeRequest
    {
        var history = fetchHistory(after: nil)
        history.fetchRequest = request
        return history
    }
}
