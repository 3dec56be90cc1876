// What is asked of the history, and what is answered.

public import CairnModel
public import FoundationEssentials

/// What a request for the history gives.
public enum PersistentHistoryResultType: Int, Sendable, Hashable, CaseIterable {
    /// Whether it was done.
    case statusOnly = 0
    /// The ids of the objects that were changed, each once.
    case objectIDs = 1
    /// How many changes there are.
    case count = 2
    /// Transactions without their changes.
    case transactionsOnly = 3
    /// Changes, one after the other.
    case changesOnly = 4
    /// Transactions with their changes.
    case transactionsAndChanges = 5
}

/// A point of the history, as a request names it.
public enum PersistentHistoryPoint: Sendable, Hashable {
    /// Before everything that is retained.
    case beginning
    /// That of a token.
    case token(PersistentHistoryToken)
    /// A moment.
    case date(Date)
    /// A transaction of a store.
    case transaction(UInt64, store: UUID)
}

/// Asks for the history of a store, or deletes a part of it.
///
/// ```swift
/// var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
/// request.excludedAuthors = ["view"]
/// for transaction in try container.execute(request).transactions {
///     for change in transaction.changes ?? [] where change.changeType == .delete { … }
/// }
/// ```
public struct PersistentHistoryChangeRequest: Sendable {
    /// What is to be done.
    public enum Operation: Sendable, Hashable {
        /// Fetch what was written after a point, the transaction at the point excluded.
        case fetch(after: PersistentHistoryPoint)
        /// Delete what was written before a point, the transaction at the point excluded.
        case delete(before: PersistentHistoryPoint)
        /// Delete what every registered consumer has seen.
        case deleteSeen
    }

    /// What is to be done.
    public let operation: Operation
    /// What the request gives.
    public var resultType = PersistentHistoryResultType.transactionsAndChanges
    /// Only transactions of these authors; nil: of all.
    public var authors: Set<String>?
    /// No transactions of these authors: mostly one's own.
    public var excludedAuthors: Set<String> = []
    /// Only transactions of contexts with these names; nil: of all.
    public var contextNames: Set<String>?
    /// Only changes of objects of this entity, its descendants not among them; nil: of all.
    public var entityName: String?
    /// Only changes of these objects; nil: of all.
    public var changedObjectIDs: Set<ObjectID>?
    /// Only changes of these types; nil: of all.
    public var changeTypes: Set<PersistentHistoryChangeType>?
    /// Only updates that changed one of these properties; nil: all changes.
    public var updatedProperties: Set<String>?
    /// At most so many transactions; 0: all.
    public var fetchLimit = 0
    /// Only transactions, or changes, that meet a condition; nil: all.
    public var fetchRequest: PersistentHistoryFetchRequest?
    /// Of the stores of a coordinator only these, by their identifiers; nil: all that keep a history.
    public var affectedStores: [UUID]?

    private init(_ operation: Operation) { self.operation = operation }

    /// What was written after a point that a token names; nil: all that is retained.
    ///
    /// Of a store that the token does not name, as it was added later, everything is fetched.
    public static func fetchHistory(after token: PersistentHistoryToken?)
        -> PersistentHistoryChangeRequest
    {
        PersistentHistoryChangeRequest(.fetch(after: token.map { .token($0) } ?? .beginning))
    }

    /// What was written after a moment.
    public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
        PersistentHistoryChangeRequest(.fetch(after: .date(date)))
    }

    /// What was written after a transaction.
    public static func fetchHistory(after transaction: PersistentHistoryTransaction)
        -> PersistentHistoryChangeRequest
    {
        PersistentHistoryChangeRequest(
            .fetch(after: .transaction(transaction.transactionNumber, store: transaction.storeID)))
    }

    /// Deletes what was written before the transaction that a token names, that one excluded.
    ///
    /// What a registered consumer has not seen is kept: see ``HistoryStore/registerHistoryConsumer(_:)``.
    public static func deleteHistory(before token: PersistentHistoryToken)
        -> PersistentHistoryChangeRequest
    {
        deletion(.delete(before: .token(token)))
    }

    /// Deletes what was written before a moment: the newest transaction whose time is before it, and all before that one,
    /// whatever the clocks of those who wrote them said.
    public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
        deletion(.delete(before: .date(date)))
    }

    /// Deletes what was written before a transaction.
    public static func deleteHistory(before transaction: PersistentHistoryTransaction)
        -> PersistentHistoryChangeRequest
    {
        deletion(
            .delete(before: .transaction(transaction.transactionNumber, store: transaction.storeID))
        )
    }

    /// Deletes what every registered consumer has seen; nothing if none is registered.
    public static func deleteSeenHistory() -> PersistentHistoryChangeRequest {
        deletion(.deleteSeen)
    }

    private static func deletion(_ operation: Operation) -> PersistentHistoryChangeRequest {
        var request = PersistentHistoryChangeRequest(operation)
        request.resultType = .statusOnly
        return request
    }

    /// Whether a part of the history is deleted.
    public var isDeletion: Bool {
        if case .fetch = operation { false } else { true }
    }
}

/// What a request for the history gave.
public struct PersistentHistoryResult: Sendable {
    /// What was asked for.
    public let resultType: PersistentHistoryResultType
    /// Transactions, oldest first, if they were asked for.
    public package(set) var transactions: [PersistentHistoryTransaction] = []
    /// Changes, if they were asked for alone.
    public package(set) var changes: [PersistentHistoryChange] = []
    /// The ids of the objects that were changed, if they were asked for, each once.
    public package(set) var objectIDs: [ObjectID] = []
    /// How many changes there are, if that was asked for.
    public package(set) var count = 0
    /// How many transactions a deletion has deleted.
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
