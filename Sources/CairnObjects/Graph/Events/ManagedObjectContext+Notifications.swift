// What happens in contexts, as Foundation's notifications: posted at once, by whoever works in the context.
//
// A notification center does not tell whether anybody observes. But who observes has taken the name from here: until
// then nothing is put together, and nothing posted.
//
// Threads: the context's; names can be taken by any.

public import CairnModel
public import Foundation
import Synchronization

extension ManagedObjectContext {
    /// Posted by a save that has something to do, before it does any of it. Objects can be changed still.
    ///
    /// The notification's object is the context; it is posted synchronously, where the context works. As with the other names
    /// here, nothing is posted before the program has asked for the name: who observes all notifications without one has to
    /// ask for it first.
    public static var willSaveObjectsNotification: Notification.Name { NotificationNames.willSave }

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
    /// If the context has a query generation, the one behind the save is there by
    /// ``NotificationKey/queryGeneration``.
    public static var didSaveObjectsNotification: Notification.Name { NotificationNames.didSave }

    /// Posted after a save with the ids of the objects that it inserted, updated and deleted: permanent ones, and those of
    /// objects that the context does not have among them.
    public static var didSaveObjectIDsNotification: Notification.Name {
        NotificationNames.didSaveIDs
    }

    /// Posted once for a run of edits, with the objects that were inserted, updated, deleted and refreshed since the last one;
    /// after a ``reset()`` with the ids of all objects that there were.
    ///
    /// When a run ends, ``changes`` says. While the notification is posted, ``ManagedObject/changedValuesForCurrentEvent()``
    /// tells what the objects were before.
    public static var didChangeObjectsNotification: Notification.Name {
        NotificationNames.didChange
    }

    /// Posted after what others have written was merged into the context, with the ids of the objects that they inserted,
    /// updated and deleted, and of those of the context that were refreshed; see ``mergeChanges(fromContextDidSave:)-(Notification)``.
    public static var didMergeChangesObjectIDsNotification: Notification.Name {
        NotificationNames.didMerge
    }

    /// What a notification of a context carries. A key that has nothing to say is not there.
    ///
    /// `Notification.objects(_:)` and `Notification.objectIDs(_:)` look for it. In the dictionary of a notification the keys are
    /// these raw values.
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
        /// The state behind a save, as a ``QueryGenerationToken``.
        case queryGeneration = "newQueryGeneration"
        /// The point of the history behind a save, as a `PersistentHistoryToken`, if its store keeps one. It names the stores
        /// alone that were written: merge it into the token that one has.
        case historyToken = "historyToken"
    }
}

extension Notification {
    /// The context that posted it; nil if no context did.
    public var managedObjectContext: ManagedObjectContext? { object as? ManagedObjectContext }

    /// The objects by a key; none if it carries none by that key.
    public func objects(_ key: ManagedObjectContext.NotificationKey) -> Set<ManagedObject> {
        userInfo?[key.rawValue] as? Set<ManagedObject> ?? []
    }

    /// The ids by a key; none if it carries none by that key.
    public func objectIDs(_ key: ManagedObjectContext.NotificationKey) -> Set<ObjectID> {
        switch userInfo?[key.rawValue] {
        case let ids as Set<ObjectID>: ids
        case let ids as [ObjectID]: Set(ids)
        default: []
        }
    }
}

/// The names of notifications, and which of them somebody has asked for.
enum NotificationNames {
    private static let asked = Atomic<UInt32>(0)

    static var willSave: Notification.Name { name("WillSaveObjects", .beginnings) }
    static var didSave: Notification.Name { name("DidSaveObjects", .saves) }
    /// The name of saves that carries ids, for what nobody has to observe.
    static let didSaveIDsUnasked = Notification.Name(
        "CairnManagedObjectContextDidSaveObjectIDsNotification")
    static var didSaveIDs: Notification.Name {
        name("DidSaveObjectIDs", .saves, bit: savedIDs)
    }
    static var didChange: Notification.Name { name("DidChangeObjects", .changes) }
    static var didMerge: Notification.Name { name("DidMergeChangesObjectIDs", .merges) }

    /// A bit beside those of the kinds: there are two names of saves.
    private static let savedIDs: UInt32 = 1 << 31

    /// Not Core Data's own texts: where that exists too, its observers must not be given our objects.
    private static func name(_ event: String, _ kind: ContextEvent.Kinds, bit: UInt32? = nil)
        -> Notification.Name
    {
        asked.bitwiseOr(bit ?? kind.rawValue, ordering: .relaxed)
        return Notification.Name("CairnManagedObjectContext\(event)Notification")
    }

    /// Whether somebody has asked for a name of one of some kinds of events.
    static func areAsked(_ kinds: ContextEvent.Kinds) -> Bool {
        let bits = kinds.contains(.saves) ? kinds.rawValue | savedIDs : kinds.rawValue
        return asked.load(ordering: .relaxed) & bits != 0
    }

    /// Whether somebody has asked for the name of saves that carries objects.
    static var isDidSaveAsked: Bool {
        asked.load(ordering: .relaxed) & ContextEvent.Kinds.saves.rawValue != 0
    }

    /// Whether somebody has asked for the name of saves that carries ids.
    static var isDidSaveIDsAsked: Bool { asked.load(ordering: .relaxed) & savedIDs != 0 }
}

extension ManagedObjectContext {
    /// Posts what happened.
    func post(_ event: ContextEvent) {
        switch event {
        case .willSave: post(NotificationNames.willSave, [:])
        case .didChange(let changes):
            var info = Self.info([
                (.insertedObjects, changes.inserted), (.updatedObjects, changes.updated),
                (.deletedObjects, changes.deleted), (.refreshedObjects, changes.refreshed),
            ])
            if !changes.invalidatedAll.isEmpty {
                info[NotificationKey.invalidatedAllObjects.rawValue] = changes.invalidatedAll
            }
            post(NotificationNames.didChange, info)
        case .didSave(let saved):
            if NotificationNames.isDidSaveAsked { postObjects(saved) }
            if NotificationNames.isDidSaveIDsAsked { postIDs(saved) }
        case .didMerge(let merged):
            if merged.isEmpty { return }
            let ids = Self.info([
                (.insertedObjectIDs, merged.inserted), (.updatedObjectIDs, merged.updated),
                (.deletedObjectIDs, merged.deleted), (.refreshedObjectIDs, merged.refreshed),
            ])
            post(NotificationNames.didMerge, ids)
        case .didRename: return
        }
    }

    private func postObjects(_ saved: SavedObjects) {
        var info = Self.info([
            (.insertedObjects, saved.inserted), (.updatedObjects, saved.updated),
            (.deletedObjects, saved.deleted),
        ])
        // One that has not read anything yet stands for no state.
        if let generation, generation.snapshot != nil {
            info[NotificationKey.queryGeneration.rawValue] = generation
        }
        add(saved, to: &info)
        post(NotificationNames.didSave, info)
    }

    private func postIDs(_ saved: SavedObjects) {
        var ids = Self.info([
            (.insertedObjectIDs, saved.insertedIDs), (.updatedObjectIDs, saved.updatedIDs),
            (.deletedObjectIDs, saved.deletedIDs),
        ])
        add(saved, to: &ids)
        post(NotificationNames.didSaveIDs, ids)
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

    private func post(_ name: Notification.Name, _ info: [AnyHashable: Any]) {
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }
}
