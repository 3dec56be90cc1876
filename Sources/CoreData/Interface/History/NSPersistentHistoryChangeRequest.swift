// Asks for the history of stores, or deletes a part of it.
//
// Threads: that of whoever fills and executes it.

import CairnModel
import CairnObjects
import CairnStore
public import Foundation

/// Asks for the history of stores, or deletes a part of it.
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
/// let result = try context.execute(request) as? NSPersistentHistoryResult
/// for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] { … }
/// ```
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest, @unchecked Sendable {
    // It is filled and executed in one place.

    private let core: PersistentHistoryChangeRequest
    /// What is given.
    open var resultType: NSPersistentHistoryResultType
    /// The point that the request is about, if it was made with one.
    public let token: NSPersistentHistoryToken?
    /// A condition on transactions or changes; see ``NSPersistentHistoryTransaction/fetchRequest``.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    private init(_ core: PersistentHistoryChangeRequest, _ token: NSPersistentHistoryToken? = nil) {
        self.core = core
        self.token = token
        resultType = core.isDeletion ? .statusOnly : .transactionsAndChanges
    }

    /// What was written after a date.
    public class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.fetchHistory(after: date))
    }

    /// What was written after a point; nil: everything that is kept.
    public class func fetchHistory(after token: NSPersistentHistoryToken?)
        -> NSPersistentHistoryChangeRequest
    {
        NSPersistentHistoryChangeRequest(.fetchHistory(after: token?.core), token)
    }

    /// What was written after a transaction; nil: everything that is kept.
    public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?)
        -> NSPersistentHistoryChangeRequest
    {
        guard let transaction else {
            return NSPersistentHistoryChangeRequest(.fetchHistory(after: nil))
        }
        return NSPersistentHistoryChangeRequest(
            .fetchHistory(after: transaction.core), transaction.token)
    }

    /// What meets a condition; see ``NSPersistentHistoryTransaction/fetchRequest``.
    public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>)
        -> NSPersistentHistoryChangeRequest
    {
        let request = NSPersistentHistoryChangeRequest(.fetchHistory(after: nil))
        request.fetchRequest = fetchRequest
        return request
    }

    /// Deletes what was written before a date.
    public class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.deleteHistory(before: date))
    }

    /// Deletes what was written before a point, the transaction at the point excluded; nil: nothing.
    public class func deleteHistory(before token: NSPersistentHistoryToken?)
        -> NSPersistentHistoryChangeRequest
    {
        NSPersistentHistoryChangeRequest(
            token.map { .deleteHistory(before: $0.core) } ?? deletingNothing, token)
    }

    /// Deletes what was written before a transaction, that one excluded; nil: nothing.
    public class func deleteHistory(before transaction: NSPersistentHistoryTransaction?)
        -> NSPersistentHistoryChangeRequest
    {
        NSPersistentHistoryChangeRequest(
            transaction.map { .deleteHistory(before: $0.core) } ?? deletingNothing,
            transaction?.token)
    }

    private static var deletingNothing: PersistentHistoryChangeRequest {
        .deleteHistory(before: .distantPast)
    }

    /// Executes it in the stores of a context.
    ///
    /// - Throws: `StoreError` as Cairn's contexts.
    override func carryOut(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw StoreError(.invalidRequest, "the context has no coordinator")
        }
        var request = core
        request.resultType = resultType.core
        request.affectedStores = affectedStores?.map(\.core.identity.identifier)
        if let fetchRequest { request.fetchRequest = try condition(fetchRequest) }
        let result = try coordinator.core.execute(request)
        return NSPersistentHistoryResult(
            resultType, value(of: result, request, coordinator))
    }

    private func value(
        of result: PersistentHistoryResult, _ request: PersistentHistoryChangeRequest,
        _ coordinator: NSPersistentStoreCoordinator
    ) -> Any {
        switch resultType {
        case .statusOnly: return NSNumber(value: true)
        case .count: return NSNumber(value: result.count)
        case .objectIDs:
            return result.objectIDs.map { NSManagedObjectID($0, entity: nil, in: coordinator) }
        case .transactionsOnly, .transactionsAndChanges:
            return result.transactions.map { NSPersistentHistoryTransaction($0, in: coordinator) }
        case .changesOnly:
            let transactions = HistoryTransactions(request, in: coordinator)
            return result.changes.map {
                NSPersistentHistoryChange($0, of: .found(transactions), in: coordinator)
            }
        }
    }

    /// What a fetch request asks of transactions or changes.
    private func condition(_ request: NSFetchRequest<any NSFetchRequestResult>) throws
        -> PersistentHistoryFetchRequest
    {
        let subject: PersistentHistoryFetchRequest.Subject
        let name = request.entityName ?? request.entity?.name
        switch name {
        case NSPersistentHistoryTransaction.entityName: subject = .transactions
        case NSPersistentHistoryChange.entityName: subject = .changes
        default:
            throw StoreError(
                .invalidRequest,
                "a fetch request for the history is one of NSPersistentHistoryTransaction or NSPersistentHistoryChange, not of \(name ?? "no entity")"
            )
        }
        var condition = PersistentHistoryFetchRequest(subject)
        condition.predicate = try request.predicate?.node
        condition.sortDescriptors = try request.sortDescriptors?.map { try $0.sortKey } ?? []
        condition.fetchLimit = request.fetchLimit
        return condition
    }
}

/// What a request for the history gives.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether it was done: a truth value.
    case statusOnly = 0
    /// The ids of the objects that were changed: a `[NSManagedObjectID]`.
    case objectIDs = 1
    /// How many changes there are: a number.
    case count = 2
    /// A `[NSPersistentHistoryTransaction]` without their changes.
    case transactionsOnly = 3
    /// A `[NSPersistentHistoryChange]`.
    case changesOnly = 4
    /// A `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5

    fileprivate var core: PersistentHistoryResultType {
        switch self {
        case .statusOnly: .statusOnly
        case .objectIDs: .objectIDs
        case .count: .count
        case .transactionsOnly: .transactionsOnly
        case .changesOnly: .changesOnly
        case .transactionsAndChanges: .transactionsAndChanges
        }
    }
}

/// What a request for the history has given.
open class NSPersistentHistoryResult: NSPersistentStoreResult, @unchecked Sendable {
    // It never changes.

    /// What it is, as ``resultType`` says.
    public let result: Any?
    /// What was asked for.
    public let resultType: NSPersistentHistoryResultType

    init(_ type: NSPersistentHistoryResultType, _ result: Any) {
        resultType = type
        self.result = result
    }
}
