// Foundation's notifications of contexts and containers as typed messages: the same posts, with what they carry as values.
//
// They carry ids, and so can go to any task. Who wants the objects takes the notification, which is posted where the context
// works.
//
// Threads: any.

public import CairnModel
public import Foundation

@available(macOS 26, iOS 26, *)
extension ManagedObjectContext {
    /// What a save of a context has written; see ``didSaveObjectIDsNotification``.
    ///
    /// ```swift
    /// let token = NotificationCenter.default.addObserver(
    ///     of: context, for: ManagedObjectContext.DidSaveMessage.self
    /// ) { message in
    ///     print(message.insertedObjectIDs.count, "new objects")
    /// }
    /// ```
    public struct DidSaveMessage: NotificationCenter.AsyncMessage {
        /// Who posts it.
        public typealias Subject = ManagedObjectContext

        /// The name of the notification that is the same.
        public static var name: Notification.Name { didSaveObjectIDsNotification }

        /// The ids of new objects.
        public let insertedObjectIDs: Set<ObjectID>
        /// The ids of changed objects.
        public let updatedObjectIDs: Set<ObjectID>
        /// The ids of objects that are no more.
        public let deletedObjectIDs: Set<ObjectID>

        /// What a notification says.
        public static func makeMessage(_ notification: Notification) -> DidSaveMessage? {
            DidSaveMessage(
                insertedObjectIDs: notification.objectIDs(.insertedObjectIDs),
                updatedObjectIDs: notification.objectIDs(.updatedObjectIDs),
                deletedObjectIDs: notification.objectIDs(.deletedObjectIDs))
        }

        /// The notification that says the same.
        public static func makeNotification(_ message: DidSaveMessage) -> Notification {
            Notification(
                name: name,
                userInfo: ManagedObjectContext.info([
                    (.insertedObjectIDs, message.insertedObjectIDs),
                    (.updatedObjectIDs, message.updatedObjectIDs),
                    (.deletedObjectIDs, message.deletedObjectIDs),
                ]))
        }
    }

    /// What others have written that was merged into a context; see ``didMergeChangesObjectIDsNotification``.
    public struct DidMergeChangesMessage: NotificationCenter.AsyncMessage {
        /// Who posts it.
        public typealias Subject = ManagedObjectContext

        /// The name of the notification that is the same.
        public static var name: Notification.Name { didMergeChangesObjectIDsNotification }

        /// The ids of objects that others have inserted.
        public let insertedObjectIDs: Set<ObjectID>
        /// The ids of objects that others have changed.
        public let updatedObjectIDs: Set<ObjectID>
        /// The ids of objects that others have deleted.
        public let deletedObjectIDs: Set<ObjectID>
        /// The ids of objects of the context that show something else than before.
        public let refreshedObjectIDs: Set<ObjectID>

        /// What a notification says.
        public static func makeMessage(_ notification: Notification) -> DidMergeChangesMessage? {
            DidMergeChangesMessage(
                insertedObjectIDs: notification.objectIDs(.insertedObjectIDs),
                updatedObjectIDs: notification.objectIDs(.updatedObjectIDs),
                deletedObjectIDs: notification.objectIDs(.deletedObjectIDs),
                refreshedObjectIDs: notification.objectIDs(.refreshedObjectIDs))
        }

        /// The notification that says the same.
        public static func makeNotification(_ message: DidMergeChangesMessage) -> Notification {
            Notification(
                name: name,
                userInfo: ManagedObjectContext.info([
                    (.insertedObjectIDs, message.insertedObjectIDs),
                    (.updatedObjectIDs, message.updatedObjectIDs),
                    (.deletedObjectIDs, message.deletedObjectIDs),
                    (.refreshedObjectIDs, message.refreshedObjectIDs),
                ]))
        }
    }
}

@available(macOS 26, iOS 26, *)
extension PersistentContainer {
    /// What a commit wrote to the store of a container; see ``storeRemoteChangeNotification``.
    public struct StoreRemoteChangeMessage: NotificationCenter.AsyncMessage {
        /// Who posts it.
        public typealias Subject = PersistentContainer

        /// The name of the notification that is the same.
        public static var name: Notification.Name { storeRemoteChangeNotification }

        /// What was written.
        public let change: RemoteChange

        /// What a notification says; nil if it says nothing of a commit.
        public static func makeMessage(_ notification: Notification) -> StoreRemoteChangeMessage? {
            notification.remoteChange.map { StoreRemoteChangeMessage(change: $0) }
        }

        /// The notification that says the same.
        public static func makeNotification(_ message: StoreRemoteChangeMessage) -> Notification {
            Notification(
                name: name,
                userInfo: [
                    NotificationKey.storeUUID.rawValue: message.change.storeIdentifier,
                    NotificationKey.remoteChange.rawValue: message.change,
                ])
        }
    }
}
