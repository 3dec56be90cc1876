// What happens in contexts, as notifications with Core Data's names and keys.
//
// As below, nothing is put together before somebody has taken a name from here; see `ContextNotice`.
//
// Threads: the context's queue; names can be taken by any.

import CairnModel
package import CairnObjects
import CairnStore
public import Foundation

extension Notification.Name {
    /// Posted by a save before it starts, also if there is nothing to save.
    public static var NSManagedObjectContextWillSave: Notification.Name { asked(.willSave) }
    /// Posted after a save, with the objects that it inserted, updated and deleted.
    public static var NSManagedObjectContextDidSave: Notification.Name { asked(.didSave) }
    /// Posted once per run of edits, with the objects that were inserted, updated, deleted and refreshed.
    public static var NSManagedObjectContextObjectsDidChange: Notification.Name {
        asked(.didChange)
    }
    /// Posted after a save, with the ids of the objects that it inserted, updated and deleted.
    public static var NSManagedObjectContextDidSaveObjectIDs: Notification.Name {
        asked(.didSaveIDs)
    }
    /// Posted after others' changes were merged, with the ids of the objects that this was about.
    public static var NSManagedObjectContextDidMergeChangesObjectIDs: Notification.Name {
        asked(.didMerge)
    }

    private static func asked(_ notice: ContextNotice) -> Notification.Name {
        notice.ask()
        return notice.coreDataName
    }
}

extension ContextNotice {
    /// Core Data's text.
    fileprivate var coreDataName: Notification.Name {
        let text =
            switch self {
            case .willSave: "NSManagingContextWillSaveChangesNotification"
            case .didSave: "NSManagingContextDidSaveChangesNotification"
            case .didChange: "NSObjectsChangedInManagingContextNotification"
            case .didSaveIDs: "NSManagedObjectContextDidSaveObjectIDsNotification"
            case .didMerge: "NSManagedObjectContextDidMergeChangesObjectIDsNotification"
            }
        return Notification.Name(text)
    }
}

extension NSManagedObjectContext {
    /// `NSManagedObjectContextWillSave`.
    public class var willSaveObjectsNotification: Notification.Name {
        .NSManagedObjectContextWillSave
    }
    /// `NSManagedObjectContextDidSave`.
    public class var didSaveObjectsNotification: Notification.Name {
        .NSManagedObjectContextDidSave
    }
    /// `NSManagedObjectContextObjectsDidChange`.
    public class var didChangeObjectsNotification: Notification.Name {
        .NSManagedObjectContextObjectsDidChange
    }
    /// `NSManagedObjectContextDidSaveObjectIDs`.
    public class var didSaveObjectIDsNotification: Notification.Name {
        .NSManagedObjectContextDidSaveObjectIDs
    }
    /// `NSManagedObjectContextDidMergeChangesObjectIDs`.
    public class var didMergeChangesObjectIDsNotification: Notification.Name {
        .NSManagedObjectContextDidMergeChangesObjectIDs
    }

    /// The keys of the dictionaries of notifications, by their raw values. Keys without a value are absent.
    public enum NotificationKey: String, Sendable {
        /// The context. Notifications have it as their object.
        case sourceContext = "managedObjectContext"
        /// The state behind a save.
        case queryGeneration = "newQueryGeneration"
        /// The ids of all objects that a context had which was reset, as an array.
        case invalidatedAllObjects = "invalidatedAll"
        /// New objects, as a set.
        case insertedObjects = "inserted"
        /// Changed objects, as a set.
        case updatedObjects = "updated"
        /// Deleted objects, as a set.
        case deletedObjects = "deleted"
        /// Objects that were brought up to date, as a set.
        case refreshedObjects = "refreshed"
        /// Objects that have become of no use. Nothing here says so but for all of them.
        case invalidatedObjects = "invalidated"
        /// The ids of new objects, as a set.
        case insertedObjectIDs = "inserted_objectIDs"
        /// The ids of changed objects, as a set.
        case updatedObjectIDs = "updated_objectIDs"
        /// The ids of deleted objects, as a set.
        case deletedObjectIDs = "deleted_objectIDs"
        /// The ids of objects that were brought up to date, as a set.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// The ids of objects that have become of no use. Nothing here says so but for all of them.
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }
}

/// ``NSManagedObjectContext/NotificationKey/insertedObjects``.
public let NSInsertedObjectsKey = NSManagedObjectContext.NotificationKey.insertedObjects.rawValue
/// ``NSManagedObjectContext/NotificationKey/updatedObjects``.
public let NSUpdatedObjectsKey = NSManagedObjectContext.NotificationKey.updatedObjects.rawValue
/// ``NSManagedObjectContext/NotificationKey/deletedObjects``.
public let NSDeletedObjectsKey = NSManagedObjectContext.NotificationKey.deletedObjects.rawValue
/// ``NSManagedObjectContext/NotificationKey/refreshedObjects``.
public let NSRefreshedObjectsKey = NSManagedObjectContext.NotificationKey.refreshedObjects.rawValue
/// ``NSManagedObjectContext/NotificationKey/invalidatedObjects``.
public let NSInvalidatedObjectsKey =
    NSManagedObjectContext.NotificationKey.invalidatedObjects.rawValue
/// ``NSManagedObjectContext/NotificationKey/invalidatedAllObjects``.
public let NSInvalidatedAllObjectsKey =
    NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue
/// ``NSManagedObjectContext/NotificationKey/insertedObjectIDs``.
public let NSInsertedObjectIDsKey = NSManagedObjectContext.NotificationKey.insertedObjectIDs
    .rawValue
/// ``NSManagedObjectContext/NotificationKey/updatedObjectIDs``.
public let NSUpdatedObjectIDsKey = NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
/// ``NSManagedObjectContext/NotificationKey/deletedObjectIDs``.
public let NSDeletedObjectIDsKey = NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue
/// ``NSManagedObjectContext/NotificationKey/refreshedObjectIDs``.
public let NSRefreshedObjectIDsKey =
    NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue
/// ``NSManagedObjectContext/NotificationKey/invalidatedObjectIDs``.
public let NSInvalidatedObjectIDsKey =
    NSManagedObjectContext.NotificationKey.invalidatedObjectIDs.rawValue
/// ``NSManagedObjectContext/NotificationKey/queryGeneration``.
public let NSManagedObjectContextQueryGenerationKey =
    NSManagedObjectContext.NotificationKey.queryGeneration.rawValue

extension NSManagedObjectContext: ContextFacade {
    package var isWhereItWorks: Bool { queue.isCurrent }

    package func post(_ notice: ContextNotice, _ info: [AnyHashable: Any]) {
        var info = info.compactMapValues(facadeValue)
        // A save has it by a key that Core Data's headers do not name, and its users know.
        if let token = info.removeValue(forKey: NSPersistentHistoryTokenKey) {
            info["newChangeToken"] = token
        }
        NotificationCenter.default.post(name: notice.coreDataName, object: self, userInfo: info)
    }

    /// What stands in a notification of the context behind, with Core Data's types.
    private func facadeValue(_ value: Any) -> Any? {
        switch value {
        case let objects as Set<ManagedObject>: Set(objects.map(Self.object))
        case let ids as Set<ObjectID>: Set(ids.map(facadeID))
        case let ids as [ObjectID]: ids.map(facadeID)
        case let token as QueryGenerationToken: NSQueryGenerationToken(token)
        case let token as PersistentHistoryToken: NSPersistentHistoryToken(token)
        default: nil
        }
    }
}
