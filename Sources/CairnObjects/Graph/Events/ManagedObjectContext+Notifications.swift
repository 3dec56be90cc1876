// What happens in contexts, as Foundation's notifications: posted at once, by whoever works in the context.
//
// A notification center does not tell whether anybody observes. But who observes has taken the name from here: until
// then nothing is put together, and nothing posted.
//
// Threads: the context's; names can be taken by any.

public import CairnModel
import CairnStore
public import Foundation
import Synchronization

extension ManagedObjectContext {
    /// Posted by a save that has something to do, before it starts. Objects can still be changed.
    ///
    /// The notification's object is the context; it is posted synchronously, where the context works. As with the other
    /// names here, nothing is posted before the program has accessed the name: an observer of all notifications has to
    /// access it first.
    public static var willSaveObjectsNotification: Notification.Name { ContextNotice.willSave.name }

    /// Posted after a save, with the objects that it inserted, updated and deleted.
    ///
    /// ```swift
    /// let token = NotificationCenter.default.addObserver(
    ///     forName: ManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
    /// ) { notification in
    ///     print(notification.objects(.insertedObjects).count, "new objects")
    /// }
    /// ```
    ///
    /// If the context has a query generation, ``NotificationKey/queryGeneration`` contains the one after the save.
    public static var didSaveObjectsNotification: Notification.Name { ContextNotice.didSave.name }

    /// Posted after a save with the ids of the objects that it inserted, updated and deleted: permanent ones, and those of
    /// objects that the context does not have among them.
    public static var didSaveObjectIDsNotification: Notification.Name {
        ContextNotice.didSaveIDs.name
    }

    /// Posted once per run of edits, with the objects that were inserted, updated, deleted and refreshed since the last
    /// one; after a ``reset()``, with the ids of all objects that existed.
    ///
    /// See ``changes`` for when a run ends. While the notification is posted,
    /// ``ManagedObject/changedValuesForCurrentEvent()`` returns the objects' previous values.
    public static var didChangeObjectsNotification: Notification.Name {
        ContextNotice.didChange.name
    }

    /// Posted after remote changes were merged into the context, with the ids of the objects that were inserted,
    /// updated and deleted, and of those of the context that were refreshed; see
    /// ``mergeChanges(fromContextDidSave:)-(Notification)``.
    public static var didMergeChangesObjectIDsNotification: Notification.Name {
        ContextNotice.didMerge.name
    }

    /// Keys of a context's notifications. Keys without a value are absent.
    ///
    /// `Notification.objects(_:)` and `Notification.objectIDs(_:)` read them. In a notification's dictionary, the keys
    /// are these raw values.
    public enum NotificationKey: String, Sendable, CaseIterable {
        /// New objects, as a set.
        case insertedObjects = "inserted"
        /// Changed objects, as a set.
        case updatedObjects = "updated"
        /// Deleted objects, as a set.
        case deletedObjects = "deleted"
        /// Objects that were brought up to date, as a set.
        case refreshedObjects = "refreshed"
        /// The ids of all objects that a context had which has forgotten them, as an array.
        case invalidatedAllObjects = "invalidatedAll"
        /// The ids of new objects, as a set.
        case insertedObjectIDs = "inserted_objectIDs"
        /// The ids of changed objects, as a set.
        case updatedObjectIDs = "updated_objectIDs"
        /// The ids of deleted objects, as a set.
        case deletedObjectIDs = "deleted_objectIDs"
        /// The ids of objects that were brought up to date, as a set.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// The state after a save, as a ``QueryGenerationToken``.
        case queryGeneration = "newQueryGeneration"
        /// The position in the history after a save, as a `PersistentHistoryToken`, if its store keeps one. It only covers
        /// the stores that were written: merge it into your own token.
        case historyToken = "historyToken"
    }
}

extension Notification {
    /// The context that posted it; nil if no context did.
    public var managedObjectContext: ManagedObjectContext? { object as? ManagedObjectContext }

    /// The objects under a key; none if the notification does not contain the key.
    public func objects(_ key: ManagedObjectContext.NotificationKey) -> Set<ManagedObject> {
        userInfo?[key.rawValue] as? Set<ManagedObject> ?? []
    }

    /// The ids under a key; none if the notification does not contain the key.
    public func objectIDs(_ key: ManagedObjectContext.NotificationKey) -> Set<ObjectID> {
        switch userInfo?[key.rawValue] {
        case let ids as Set<ObjectID>: ids
        case let ids as [ObjectID]: Set(ids)
        default: []
        }
    }
}

/// A kind of notification; the raw value is a bit of its own.
package enum ContextNotice: UInt32, Sendable {
    case didChange = 1
    case willSave = 2
    case didSave = 4
    case didMerge = 8
    /// There are two of saves.
    case didSaveIDs = 0x8000_0000

    /// The name, for what nobody has to observe.
    ///
    /// Not Core Data's own texts: where that exists too, its observers must not be given our objects.
    var unaskedName: Notification.Name {
        let event =
            switch self {
            case .didChange: "DidChangeObjects"
            case .willSave: "WillSaveObjects"
            case .didSave: "DidSaveObjects"
            case .didMerge: "DidMergeChangesObjectIDs"
            case .didSaveIDs: "DidSaveObjectIDs"
            }
        return Notification.Name("CairnManagedObjectContext\(event)Notification")
    }

    /// The name; from now on such notifications are posted.
    var name: Notification.Name {
        ask()
        return unaskedName
    }

    // MARK: Asking

    private static let asked = Atomic<UInt32>(0)

    /// From now on such notifications are posted.
    package func ask() { Self.asked.bitwiseOr(rawValue, ordering: .relaxed) }

    /// Whether somebody has asked for it.
    var isAsked: Bool { Self.asked.load(ordering: .relaxed) & rawValue != 0 }

    /// Whether somebody has asked for notifications of some kinds of events.
    static func areAsked(_ kinds: ContextEvent.Kinds) -> Bool {
        let bits =
            kinds.contains(.saves) ? kinds.rawValue | Self.didSaveIDs.rawValue : kinds.rawValue
        return asked.load(ordering: .relaxed) & bits != 0
    }
}

/// What stands for a context in a layer above: it posts in its own words what happens in the one that works for it.
package protocol ContextFacade: AnyObject {
    /// Whether the caller is where the context's work is done, which nobody checks.
    var isWhereItWorks: Bool { get }

    /// Posts a notification.
    ///
    /// - Parameter info: its dictionary, by ``ManagedObjectContext/NotificationKey``.
    func post(_ notice: ContextNotice, _ info: [AnyHashable: Any])
}

extension ManagedObjectContext {
    /// Posts what happened.
    func post(_ event: ContextEvent) {
        switch event {
        case .willSave: post(.willSave, [:])
        case .didChange(let changes):
            var info = Self.info([
                (.insertedObjects, changes.inserted), (.updatedObjects, changes.updated),
                (.deletedObjects, changes.deleted), (.refreshedObjects, changes.refreshed),
            ])
            if !changes.invalidatedAll.isEmpty {
                info[NotificationKey.invalidatedAllObjects.rawValue] = changes.invalidatedAll
            }
            post(.didChange, info)
        case .didSave(let saved):
            if ContextNotice.didSave.isAsked { postObjects(saved) }
            if ContextNotice.didSaveIDs.isAsked { postIDs(saved) }
        case .didMerge(let merged):
            if merged.isEmpty { return }
            let ids = Self.info([
                (.insertedObjectIDs, merged.inserted), (.updatedObjectIDs, merged.updated),
                (.deletedObjectIDs, merged.deleted), (.refreshedObjectIDs, merged.refreshed),
            ])
            post(.didMerge, ids)
        case .didRename: return
        }
    }

    /// Posts that there was nothing to save.
    func postEmptySave() {
        if ContextNotice.areAsked(.saves) { post(.didSave(SavedObjects())) }
    }

    private func postObjects(_ saved: SavedObjects) {
        var info = Self.info([
            (.insertedObjects, saved.inserted), (.updatedObjects, saved.updated),
            (.deletedObjects, saved.deleted),
        ])
        if let generation {
            // One that has not read anything yet is not pinned by its save.
            info[NotificationKey.queryGeneration.rawValue] =
                generation.snapshot != nil
                ? generation : (try? store.snapshot()).map { QueryGenerationToken($0) }
        }
        add(saved, to: &info)
        post(.didSave, info)
    }

    private func postIDs(_ saved: SavedObjects) {
        var ids = Self.info([
            (.insertedObjectIDs, saved.insertedIDs), (.updatedObjectIDs, saved.updatedIDs),
            (.deletedObjectIDs, saved.deletedIDs),
        ])
        add(saved, to: &ids)
        post(.didSaveIDs, ids)
    }

    /// Adds the point of the history.
    private func add(_ saved: SavedObjects, to info: inout [AnyHashable: Any]) {
        guard let token = store.historyToken(behind: saved.commits(in: self)) else { return }
        info[NotificationKey.historyToken.rawValue] = token
    }

    private static func info(_ sets: [(NotificationKey, Set<ObjectID>)]) -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        for (key, ids) in sets where !ids.isEmpty { info[key.rawValue] = ids }
        return info
    }

    private static func info(_ lists: [(NotificationKey, [ManagedObject])]) -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        for (key, objects) in lists where !objects.isEmpty { info[key.rawValue] = Set(objects) }
        return info
    }

    private func post(_ notice: ContextNotice, _ info: [AnyHashable: Any]) {
        if let facade { return facade.post(notice, info) }
        NotificationCenter.default.post(name: notice.unaskedName, object: self, userInfo: info)
    }
}
