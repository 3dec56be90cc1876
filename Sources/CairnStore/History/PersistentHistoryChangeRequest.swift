// Requests for the history, and their results.

public import CairnModel
public import FoundationEssentials

/// The result type of a history request.
public enum PersistentHistoryResultType: Int, Sendable, Hashable, CaseIterable {
    /// Only whether it succeeded.
    case statusOnly = 0
    /// The distinct ids of the changed objects.
    case objectIDs = 1
    /// The number of changes.
    case count = 2
    /// Transactions without their changes.
    case transactionsOnly = 3
    /// Changes, as one list.
    case changesOnly = 4
    /// Transactions with their changes.
    case transactionsAndChanges = 5
}

/// A point in the history.
public enum PersistentHistoryPoint: Sendable, Hashable {
    /// Before everything that is retained.
    case beginning
    /// The position of a token.
    case token(PersistentHistoryToken)
    /// A date.
    case date(Date)
    /// A transaction of a store.
    case transaction(UInt64, store: UUID)
}

/// Fetches the history of a store, or deletes a part of it.
///
/// ```swift
/// var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
/// request.excludedAuthors = ["view"]
/// for transaction in try container.execute(request).transactions {
///     for change in transaction.changes ?? [] where change.changeType == .delete { … }
/// }
/// ```
public struct PersistentHistoryChangeRequest: Sendable {
    /// The operation of a request.
    public enum Operation: Sendable, Hashable {
        /// Fetch the transactions after a point, without a transaction at the point itself.
        case fetch(after: PersistentHistoryPoint)
        /// Delete the transactions before a point, without a transaction at the point itself.
        case delete(before: PersistentHistoryPoint)
        /// Delete the transactions that every registered consumer has seen.
        case deleteSeen
    }

    /// The operation.
    public let operation: Operation
    /// The result type.
    public var resultType = PersistentHistoryResultType.transactionsAndChanges
    /// Only transactions of these authors; nil: of all.
    public var authors: Set<String>?
    /// Excludes transactions of these authors, usually the program's own.
    public var excludedAuthors: Set<String> = []
    /// Only transactions of contexts with these names; nil: of all.
    public var contextNames: Set<String>?
    /// Only changes of objects of exactly this entity, without its descendants; nil: of all.
    public var entityName: String?
    /// Only changes of these objects; nil: of all.
    public var changedObjectIDs: Set<ObjectID>?
    /// Only changes of these types; nil: of all.
    public var changeTypes: Set<PersistentHistoryChangeType>?
    /// Only updates that changed one of these properties; nil: all changes.
    public var updatedProperties: Set<String>?
    /// The maximum number of transactions; 0 for all.
    public var fetchLimit = 0
    /// Only transactions, or changes, that meet a condition; nil: all.
    public var fetchRequest: PersistentHistoryFetchRequest?
    /// Only these stores of a coordinator, by their identifiers; nil: all that keep a history.
    public var affectedStores: [UUID]?

    private init(_ operation: Operation) { self.operation = operation }

    /// Changes after a token; nil for everything retained.
    ///
    /// For a store that the token does not cover, because it was added later, the whole history is fetched.
    public static func fetchHistory(after token: PersistentHistoryToken?)
        -> PersistentHistoryChangeRequest
    {
        PersistentHistoryChangeRequest(.fetch(after: token.map { .token($0) } ?? .beginning))
    }

    /// Changes after a date.
    public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
        PersistentHistoryChangeRequest(.fetch(after: .date(date)))
    }

    /// Changes after a transaction.
    public static func fetchHistory(after transaction: PersistentHistoryTransaction)
        -> PersistentHistoryChangeRequest
    {
        PersistentHistoryChangeRequest(
            .fetch(after: .transaction(transaction.transactionNumber, store: transaction.storeID)))
    }

    /// Deletes changes before a token's transaction, excluding that one.
    ///
    /// Changes that a registered consumer has not seen are kept: see ``HistoryStore/registerHistoryConsumer(_:)``.
    public static func deleteHistory(before token: PersistentHistoryToken)
        -> PersistentHistoryChangeRequest
    {
        deletion(.delete(before: .token(token)))
    }

    /// Deletes changes before a date: the newest transaction with an earlier timestamp, and all transactions before that
    /// one, whatever their timestamps.
    public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
        deletion(.delete(before: .date(date)))
    }

    /// Deletes changes before a transaction.
    public static func deleteHistory(before transaction: PersistentHistoryTransaction)
        -> PersistentHistoryChangeRequest
    {
        deletion(
            .delete(before: .transaction(transaction.transactionNumber, store: transaction.storeID))
        )
    }

    /// Deletes changes that all registered consumers have seen; nothing if there are none.
    public static func deleteSeenHistory() -> PersistentHistoryChangeRequest {
        deletion(.deleteSeen)
    }

    private static func deletion(_ operation: Operation) -> PersistentHistoryChangeRequest {
        var request = PersistentHistoryChangeRequest(operation)
        request.resultType = .statusOnly
        return request
    }

    /// Whether the request deletes a part of the history.
    public var isDeletion: Bool {
        if case .fetch = operation { false } else { true }
    }
}

/// The result of a history request.
public struct PersistentHistoryResult: Sendable {
    /// The requested type.
    public let resultType: PersistentHistoryResultType
    /// Transactions, oldest first, if requested.
    public package(set) var transactions: [PersistentHistoryTransaction] = []
    /// Changes, if they were requested without transactions.
    public package(set) var changes: [PersistentHistoryChange] = []
    /// The distinct ids of the changed objects, if requested.
    public package(set) var objectIDs: [ObjectID] = []
    /// The number of changes, if requested.
    public package(set) var count = 0
    /// The number of transactions that a deletion has deleted.
    public package(set) var deletedTransactionCount = 0

    package init(_ resultType: PersistentHistoryResultType) { self.resultType = resultType }
}

extension PersistentHistoryChangeRequest {
    /// A transaction as far as it is wanted; nil if nothing of it is.
    package func filtered(_ transaction: PersistentHistoryTransaction)
        -> PersistentHistoryTransaction?
    {
        if let authors {
            guard let author = transaction.author, authors.contains(author) else { return nil }
        }
        if let author = transaction.author, excludedAuthors.contains(author) { return nil }
        if let contextNames {
            guard let name = transaction.contextName, contextNames.contains(name) else {
                return nil
            }
        }
        guard hasChangeFilter else { return transaction }
        guard let changes = transaction.changes else { return nil }
        let identity = changes.names
        guard let wanted = changes.filtered(groups: { filtered($0, identity) }) else { return nil }
        var narrowed = transaction
        narrowed.changes = wanted
        return narrowed
    }

    private var hasChangeFilter: Bool {
        entityName != nil || changedObjectIDs != nil || changeTypes != nil
            || updatedProperties != nil
    }

    private func filtered(_ group: PersistentHistoryChanges.Group, _ identity: StoreIdentity)
        -> PersistentHistoryChanges.Group?
    {
        if let entityName, group.entityName != entityName { return nil }
        if let changeTypes, !changeTypes.contains(group.type) { return nil }
        if let updatedProperties {
            guard group.type == .update,
                !updatedProperties.isDisjoint(with: group.updatedProperties)
            else { return nil }
        }
        guard let changedObjectIDs else { return group }
        var wanted = group
        let numbers = ObjectNumbers(
            changedObjectIDs.lazy.filter {
                identity.owns($0, entity: group.entity) && group.numbers.contains($0.reference)
            }.map(\.reference))
        if numbers.isEmpty { return nil }
        wanted.numbers = numbers
        guard !group.names.isEmpty else { return wanted }
        let each = group.names.count
        wanted.values = []
        for (place, number) in group.numbers.enumerated() where numbers.contains(number) {
            wanted.values += group.values[place * each..<(place + 1) * each]
        }
        return wanted
    }
}
