// What one save or batch has done to one object.
//
// Threads: any.

import CairnModel
import CairnObjects
package import CairnStore
public import Foundation
import Synchronization

/// What a save or batch has done to one object.
open class NSPersistentHistoryChange: NSObject, NSCopying, NSFetchRequestResult,
    @unchecked Sendable
{
    // It never changes.

    /// Whose change it is.
    enum Origin {
        case known(NSPersistentHistoryTransaction)
        case found(HistoryTransactions)
    }

    /// The change that this one stands for.
    package let core: PersistentHistoryChange
    private let origin: Origin
    private let coordinator: NSPersistentStoreCoordinator

    init(
        _ core: PersistentHistoryChange, of origin: Origin,
        in coordinator: NSPersistentStoreCoordinator
    ) {
        self.core = core
        self.origin = origin
        self.coordinator = coordinator
    }

    /// Its place among the changes of its transaction.
    open var changeID: Int64 { core.changeID }

    /// The object.
    open var changedObjectID: NSManagedObjectID { coordinator.historyID(core) }

    /// Whether the object was made, changed or deleted.
    open var changeType: NSPersistentHistoryChangeType {
        switch core.changeType {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        }
    }

    /// Of a deletion: the values that the model wants to be kept, by name.
    open var tombstone: [AnyHashable: Any]? {
        core.tombstone.map { values in
            var tombstone: [AnyHashable: Any] = [:]
            for (name, value) in values { tombstone[name] = value.any }
            return tombstone
        }
    }

    /// The transaction that it is a part of.
    open var transaction: NSPersistentHistoryTransaction? {
        switch origin {
        case .known(let transaction): transaction
        case .found(let transactions): transactions.transaction(of: core)
        }
    }

    /// Of an update: the properties that were changed.
    open var updatedProperties: Set<NSPropertyDescription>? {
        core.updatedProperties.map { names in
            let entity = coordinator.resolution.schema.entity(named: core.entityName)
            let properties = entity.map {
                NSEntityDescription.standing(for: $0).propertiesByName
            }
            return Set(names.compactMap { properties?[$0] })
        }
    }

    /// The change, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// What was done to which object.
    open override var description: String { "\(core.changeType) of \(core.changedObjectID)" }
}

/// What was done to an object.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// It was made.
    case insert = 0
    /// It was changed.
    case update = 1
    /// It was deleted.
    case delete = 2
}

/// The transactions of changes that were asked for without them: read when somebody wants one.
final class HistoryTransactions: @unchecked Sendable {
    // What is read is behind a lock.

    private let coordinator: NSPersistentStoreCoordinator
    private let request: PersistentHistoryChangeRequest
    private let read = Mutex<[Key: PersistentHistoryTransaction]?>(nil)

    private struct Key: Hashable {
        let store: UUID
        let number: UInt64
    }

    /// - Parameter request: what was asked for.
    init(_ request: PersistentHistoryChangeRequest, in coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        var request = request
        request.resultType = .transactionsOnly
        request.fetchRequest = nil
        self.request = request
    }

    func transaction(of change: PersistentHistoryChange) -> NSPersistentHistoryTransaction? {
        let transaction = read.withLock { read -> PersistentHistoryTransaction? in
            let known =
                read
                ?? Dictionary(
                    ((try? coordinator.core.execute(request).transactions) ?? []).map {
                        (Key(store: $0.storeID, number: $0.transactionNumber), $0)
                    }, uniquingKeysWith: { first, _ in first })
            read = known
            return known[
                Key(store: change.changedObjectID.store, number: change.transactionNumber)]
        }
        return transaction.map { NSPersistentHistoryTransaction($0, in: coordinator) }
    }
}
