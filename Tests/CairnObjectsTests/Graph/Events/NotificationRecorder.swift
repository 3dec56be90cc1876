// Keeps what one context posts.

import CairnObjects
import Foundation
import Synchronization

/// Observes one context, and counts what its notifications carry.
final class NotificationRecorder: Sendable {
    /// A notification as numbers. What is not there is 0.
    struct Entry: Hashable, Sendable {
        enum Kind: Sendable { case willSave, didSave, didSaveIDs, didChange }

        var kind: Kind
        var inserted = 0
        var updated = 0
        var deleted = 0
        var refreshed = 0
        var invalidatedAll = 0
        /// Further keys.
        var others = 0
    }

    private let kept = Mutex<[Entry]>([])
    private nonisolated(unsafe) var tokens: [any NSObjectProtocol] = []
    // Written in init and read in deinit.

    /// - Parameter then: called with each notification, where it is posted.
    init(
        _ context: ManagedObjectContext,
        then: @escaping @Sendable (Entry.Kind, Notification) -> Void = { _, _ in }
    ) {
        let names: [(Entry.Kind, Notification.Name)] = [
            (.willSave, ManagedObjectContext.willSaveObjectsNotification),
            (.didSave, ManagedObjectContext.didSaveObjectsNotification),
            (.didSaveIDs, ManagedObjectContext.didSaveObjectIDsNotification),
            (.didChange, ManagedObjectContext.didChangeObjectsNotification),
        ]
        for (kind, name) in names {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    [weak self] notification in
                    self?.receive(kind, notification)
                    then(kind, notification)
                })
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    private func receive(_ kind: Entry.Kind, _ notification: Notification) {
        let info = notification.userInfo ?? [:]
        var entry = Entry(kind: kind)
        if kind == .didSaveIDs {
            entry.inserted = notification.objectIDs(.insertedObjectIDs).count
            entry.updated = notification.objectIDs(.updatedObjectIDs).count
            entry.deleted = notification.objectIDs(.deletedObjectIDs).count
        } else {
            entry.inserted = notification.objects(.insertedObjects).count
            entry.updated = notification.objects(.updatedObjects).count
            entry.deleted = notification.objects(.deletedObjects).count
            entry.refreshed = notification.objects(.refreshedObjects).count
            entry.invalidatedAll = notification.objectIDs(.invalidatedAllObjects).count
        }
        let counted = [
            entry.inserted, entry.updated, entry.deleted, entry.refreshed, entry.invalidatedAll,
        ]
        // An empty set has no key.
        entry.others = info.count - counted.count { $0 > 0 }
        kept.withLock { $0.append(entry) }
    }

    /// What came since the last call.
    func take() -> [Entry] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
    }
}
