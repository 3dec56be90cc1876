// Stores that come and go, as an asynchronous sequence and as Foundation's notifications.
//
// Threads: any. Notifications are posted by the thread that adds, removes or replaces the store.

public import CairnStore
public import Foundation
import Synchronization

/// A change to the stores of a coordinator.
public struct StoresChange: Sendable, Numbered {
    /// The number of the change: one more than that of the last one. If numbers are missing, the listener was too slow for so
    /// many changes.
    public internal(set) var number = 0
    /// The new store.
    public let added: [any PersistentStore]
    /// The removed store. For a replaced store, the old one is here, and the new one among those added.
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
    /// Changes to the stores from now on: one element for each store that was added, removed or replaced, after the
    /// fact.
    ///
    /// ```swift
    /// Task {
    ///     for await change in coordinator.storeChanges { list.show(coordinator.persistentStores) }
    /// }
    /// ```
    ///
    /// Each access returns a new sequence, for one task, starting now. It ends when the task is cancelled or releases
    /// it, and with the coordinator. Up to 1,024 changes are buffered for a listener; then the oldest are dropped,
    /// which you can tell from ``StoresChange/number``.
    public var storeChanges: some AsyncSequence<StoresChange, Never> & Sendable {
        feed.stream()
    }

    /// Posted before a store is added, removed or replaced, so that a program can save its contexts. The notification's
    /// object is the coordinator; ``NotificationKey`` describes its contents.
    ///
    /// It is posted synchronously, on the thread that changes the stores. As with the other names here, nothing is
    /// posted before the program has accessed the name.
    public static var storesWillChangeNotification: Notification.Name {
        StoreNotificationNames.willChange
    }

    /// Posted after a store was added, removed or replaced; see ``storeChanges``.
    public static var storesDidChangeNotification: Notification.Name {
        StoreNotificationNames.didChange
    }

    /// Posted before a store is removed or replaced, after ``storesWillChangeNotification``.
    public static var willRemoveStoreNotification: Notification.Name {
        StoreNotificationNames.willRemove
    }

    /// Keys of a coordinator's notifications. Keys without a value are absent. In a notification's dictionary, the keys
    /// are these raw values.
    public enum NotificationKey: String, Sendable, CaseIterable {
        /// Stores that come, as an array.
        case addedPersistentStores = "added"
        /// Removed stores, as an array. It includes a replaced store, whose replacement is among the added ones.
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
    /// The stores under a key of a coordinator's notification; none if it does not contain the key.
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
