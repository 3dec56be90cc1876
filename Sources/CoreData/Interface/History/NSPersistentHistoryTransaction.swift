// What one save or batch has changed.
//
// Threads: any.

import CairnModel
import CairnObjects
package import CairnStore
public import Foundation

/// A save or batch in the history: who it was, when, and what it changed.
open class NSPersistentHistoryTransaction: NSObject, NSCopying, NSFetchRequestResult,
    @unchecked Sendable
{
    // It never changes.

    /// The transaction that this one stands for.
    package let core: PersistentHistoryTransaction
    private let coordinator: NSPersistentStoreCoordinator

    init(_ core: PersistentHistoryTransaction, in coordinator: NSPersistentStoreCoordinator) {
        self.core = core
        self.coordinator = coordinator
    }

    /// When it was written.
    open var timestamp: Date { core.timestamp }

    /// What it changed, object by object; nil if only transactions were asked for. They are made anew each time.
    open var changes: [NSPersistentHistoryChange]? {
        core.changes.map { changes in
            changes.map { NSPersistentHistoryChange($0, of: .known(self), in: coordinator) }
        }
    }

    /// Its number in its store.
    open var transactionNumber: Int64 { Int64(clamping: core.transactionNumber) }

    /// The identifier of its store.
    open var storeID: String { core.storeID.uuidString }

    /// The name of the program that wrote: there are no bundles here.
    open var bundleID: String { core.bundleID ?? "" }

    /// The number of the process that wrote.
    open var processID: String { "\(core.processID)" }

    /// The name of the context that wrote, if it has one.
    open var contextName: String? { core.contextName }

    /// The author, if the context had one.
    open var author: String? { core.author }

    /// The point behind it.
    open var token: NSPersistentHistoryToken { NSPersistentHistoryToken(core.token) }

    /// What it changed, as a notification that a context can merge. It is never posted.
    open func objectIDNotification() -> Notification {
        var info: [AnyHashable: Any] = [NSPersistentHistoryTokenKey: token]
        for (key, type) in [
            (NSInsertedObjectIDsKey, PersistentHistoryChangeType.insert),
            (NSUpdatedObjectIDsKey, .update), (NSDeletedObjectIDsKey, .delete),
        ] {
            let ids = (core.changes ?? []).lazy.filter { $0.changeType == type }
                .map { self.coordinator.historyID($0) }
            let set = Set(ids)
            if !set.isEmpty { info[key] = set }
        }
        return Notification(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: info)
    }

    /// The transaction, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are one transaction of one store.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSPersistentHistoryTransaction else { return false }
        return core.storeID == other.core.storeID
            && core.transactionNumber == other.core.transactionNumber
    }

    /// Equal for one transaction.
    open override var hash: Int { core.transactionNumber.hashValue }

    /// Its number, author and time.
    open override var description: String {
        "transaction \(transactionNumber) of \(storeID), \(timestamp), author \(author ?? "nil")"
    }
}

extension NSPersistentStoreCoordinator {
    /// The id of the object that a change is about.
    func historyID(_ change: PersistentHistoryChange) -> NSManagedObjectID {
        NSManagedObjectID(
            change.changedObjectID, entity: resolution.schema.entity(named: change.entityName),
            in: self)
    }
}
