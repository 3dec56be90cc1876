// Stores that come and go, as an asynchronous sequence and as Foundation's notifications.
//
// Threads: any. Notifications are posted by the thread that adds, removes or replaces the store.

public import CairnStore
public import Foundation
import Synchronization

/// What has changed in the stores of a coordinator.
public struct StoresChange: Sendable, Numbered {
    /// The number of the change: one more than that of the last one. If numbers are missing, the listener was too slow for so
    /// many changes.
    public internal(set) var number = 0
    /// The store that is there now.
    public let added: [any PersistentStore]
    /// The store that is there no more. One that was replaced is here, and the one in its place among the others.
    public let removed: [any PersistentStore]

    init(added: [any PersistentStore], removed: [any PersistentStore]) {
        self.added = added
        self.removed = removed
    }

    /// The store before and the one in its place, if that has another identifier.
    fileprivate var withOtherIdentifier: [any PersistentStore] {
        guard let old = removed.first, let new = added.first,
            old.identity.identifier != new.identity.identifier
        else { return [] }
        return [old, new]
    }
}

extension PersistentStoreCoordinator {
    /// How the stores change from now on: one element for each that was added, removed or replaced, after it was.
    ///
    /// ```swift
    /// Task {
    ///     for await change in coordinator.storeChanges { list.show(coordinator.persistentStores) }
    /// }
    /// ```
    ///
    /// Each access gives a sequence of its own, for one task, beginning now. It ends when that task is cancelled or lets go of
    /// it, and with the coordinator. Up to 1,024 changes wait for a listener; then the oldest are dropped, as
    /// ``StoresChange/number`` tells.
    public var storeChanges: some AsyncSequence<StoresChange, Never> & Sendable {
        feed.stream()
    }

    /// Posted before a store is added, removed or replaced: a program can save its contexts. The notification's object is the
    /// coordinator; what it carries, ``NotificationKey`` says.
    ///
    /// It is posted synchronously, by the thread that changes the stores. As with the other names here, nothing is posted before
    /// the program has asked for the name.
    public static var storesWillChangeNotification: Notification.Name {
        StoreNotificationNames.willChange
    }

    /// Posted after a store was added, removed or replaced; see ``storeChanges``.
    public static var storesDidChangeNotification: Notification.Name {
        StoreNotificationNames.didChange
    }

    /// Posted before a store is removed or replaced, behind ``storesWillChangeNotification``.
    public static var willRemoveStoreNotification: Notification.Name {
        StoreNotificationNames.willRemove
    }

    /// What a notification of a coordinator carries. A key that has nothing to say is not there. In the dictionary of a
    /// notification the keys are these raw values.
    public enum NotificationKey: String, Sendable, CaseIterable {
        /// Stores that come, as an array.
        case addedPersistentStores = "added"
        /// Stores that go, as an array. One that is replaced is here, and the one in its place among those that come.
        case removedPersistentStores = "removed"
        /// The store before and the one in its place, as an array, if that has another identifier.
        case uuidChangedPersistentStores = "uuidChanged"
    }

    /// When stores change.
    enum Moment {
        case isComing
        case isThere
    }

    /// Tells those who want to know.
    func tell(_ change: StoresChange, _ moment: Moment) {
        if moment == .isThere, feed.isListenedTo { feed.send(change) }
        guard StoreNotificationNames.areAsked else { return }
        var info: [AnyHashable: Any] = [:]
        for (key, stores) in [
            (NotificationKey.addedPersistentStores, change.added),
            (.removedPersistentStores, change.removed),
            (.uuidChangedPersistentStores, change.withOtherIdentifier),
        ] where !stores.isEmpty {
            info[key.rawValue] = stores
        }
        func post(_ name: Notification.Name) {
            NotificationCenter.default.post(name: name, object: self, userInfo: info)
        }
        switch moment {
        case .isComing:
            post(StoreNotificationNames.willChange)
            if !change.removed.isEmpty { post(StoreNotificationNames.willRemove) }
        case .isThere: post(StoreNotificationNames.didChange)
        }
    }
}

extension Notification {
    /// The stores by a key, if it is a notification of a coordinator; none if it carries none by that key.
    public func persistentStores(_ key: PersistentStoreCoordinator.NotificationKey)
        -> [any PersistentStore]
    {
        userInfo?[key.rawValue] as? [any PersistentStore] ?? []
    }
}

/// The names of the notifications, and whether somebody has asked for one.
private enum StoreNotificationNames {
    private static let asked = Atomic<Bool>(false)

    static var areAsked: Bool { asked.load(ordering: .relaxed) }

    static var willChange: Notification.Name { name("StoresWillChange") }
    static var didChange: Notification.Name { name("StoresDidChange") }
    static var willRemove: Notification.Name { name("WillRemoveStore") }

    /// Not Core Data's own texts: where that exists too, its observers must not be given our objects.
    private static func name(_ event: String) -> Notification.Name {
        asked.store(true, ordering: .relaxed)
        return Notification.Name("CairnPersistentStoreCoordinator\(event)Notification")
    }
}
