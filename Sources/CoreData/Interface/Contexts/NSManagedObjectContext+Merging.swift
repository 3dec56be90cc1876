// Bringing contexts up to what others have saved.
//
// A merge is done on the queue of the context that it changes, whoever asks for it.

import CairnModel
import CairnObjects
public import Foundation

extension NSManagedObjectContext {
    /// Merges what another context has saved, from its `NSManagedObjectContextDidSave` or `…DidSaveObjectIDs`.
    ///
    /// It runs on the context's queue: at once if the caller is there already, else the caller waits.
    public func mergeChanges(fromContextDidSave notification: Notification) {
        if let sender = notification.object as? NSManagedObjectContext, sender === self { return }
        merge(Self.changes(in: notification.userInfo ?? [:]))
    }

    /// Merges what was written elsewhere into contexts, each on its queue: changes of a batch request, of another process, or of the
    /// history.
    ///
    /// - Parameter changeNotificationData: arrays or sets of objects, ids or URIs of ids, by the keys of notifications.
    public class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
        into contexts: [NSManagedObjectContext]
    ) {
        let changes = changes(in: changeNotificationData)
        for context in contexts { context.merge(changes) }
    }

    private func merge(_ changes: [AnyHashable: Any]) {
        performAndWait {
            guard made != nil || persistentStoreCoordinator != nil else { return }
            ManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [core])
        }
    }

    /// The same for the context behind.
    private static func changes(in info: [AnyHashable: Any]) -> [AnyHashable: Any] {
        var changes: [AnyHashable: Any] = [:]
        for (key, value) in info {
            let key = (key.base as? NotificationKey).map { AnyHashable($0.rawValue) } ?? key
            changes[key] = members(value).compactMap { member -> Any? in
                switch member {
                case let id as NSManagedObjectID: id.core
                case let object as NSManagedObject: object as ManagedObject
                case let url as NSURL: url as URL
                case is URL, is String: member
                default: nil
                }
            }
        }
        return changes
    }

    private static func members(_ value: Any) -> [Any] {
        switch value {
        case let objects as Set<NSManagedObject>: Array(objects)
        case let ids as Set<NSManagedObjectID>: Array(ids)
        case let list as [Any]: list
        case let list as NSArray: Array(list)
        case let set as NSSet: set.allObjects
        case let set as Set<AnyHashable>: set.map(\.base)
        default: []
        }
    }
}
