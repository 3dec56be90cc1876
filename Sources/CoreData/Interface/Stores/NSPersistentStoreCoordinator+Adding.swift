// Stores come and go.
//
//   0. The classes of the program are compared with the model; see `ManagedPropertyCheck`.
//   1. The store behind is opened, in memory or in its folder; see +Opening in Migration for one of another version.
//   2. It is added to the coordinator behind: contexts see its objects.
//   3. Those who want to know are told that the stores have changed.
//
// Threads: any.

import CairnLog
import CairnObjects
import CairnStore
public import Foundation
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Opens a store and adds it.
    ///
    /// - Parameters:
    ///   - type: the kind: all but `.inMemory` are stores of Cairn at the URL.
    ///   - configuration: the configuration of the model whose entities the store is for; nil: all entities.
    ///   - options: how it is opened; without ``NSMigratePersistentStoresAutomaticallyOption`` it is not migrated.
    /// - Throws: An error if it cannot be opened.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    func add(
        _ type: String, _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        let place = try StorePlace(type: type, url: url)
        let configuration =
            configuration == NSPersistentStore.defaultConfiguration ? nil : configuration
        let opened = try open(place, StoreOptions(options))
        let store = NSPersistentStore(
            opened, type: type, configuration: configuration, url: url, options: options,
            closes: !place.isShared, in: self)
        do {
            try core.add(opened, configuration: configuration)
        } catch {
            // Nothing was written to it.
            if store.closes { try? opened.close() }
            throw error
        }
        stores.withLock { $0.append(store) }
        postRemoteChanges(of: store)
        store.didAdd(to: self)
        tell(.NSPersistentStoreCoordinatorStoresDidChange, added: [store])
        return store
    }

    func takeOut(_ store: NSPersistentStore) throws {
        guard persistentStores.contains(where: { $0 === store }) else {
            throw StoreError(.invalidRequest, "the store does not belong to the coordinator")
        }
        tellOfRemoval(of: store)
        store.willRemove(from: self)
        store.keep(nil)
        forget(store)
        try core.remove(store.core, closes: store.closes)
        tell(.NSPersistentStoreCoordinatorStoresDidChange, removed: [store])
    }

    /// It is one of the coordinator's no more.
    func forget(_ store: NSPersistentStore) {
        stores.withLock { $0.removeAll { $0 === store } }
        store.persistentStoreCoordinator = nil
    }

    /// Tells those who want to know that a store will be one of the coordinator's no more.
    func tellOfRemoval(of store: NSPersistentStore) {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
    }

    /// Tells those who want to know.
    func tell(
        _ name: Notification.Name, added: [NSPersistentStore] = [],
        removed: [NSPersistentStore] = [], renamed: [NSPersistentStore] = []
    ) {
        var info: [AnyHashable: Any] = [:]
        for (key, stores) in [
            (NSAddedPersistentStoresKey, added), (NSRemovedPersistentStoresKey, removed),
            (NSUUIDChangedPersistentStoresKey, renamed),
        ] where !stores.isEmpty {
            info[key] = stores
        }
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }

    /// Has everybody told of what is written to a store, if its options say so.
    func postRemoteChanges(of store: NSPersistentStore) {
        guard StoreOptions(store.options).postsRemoteChanges else { return }
        store.keep(
            store.core.observeChanges { [weak self, weak store] changes in
                guard let self, let store else { return }
                var info: [AnyHashable: Any] = [
                    NSStoreUUIDKey: changes.identity.identifier.uuidString
                ]
                info[NSPersistentStoreURLKey] = store.url
                info[NSPersistentHistoryTokenKey] = store.historyToken(behind: changes.commit)
                NotificationCenter.default.post(
                    name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
            })
    }
}

extension StorePlace {
    /// Whether other coordinators may have the store too, by its name.
    var isShared: Bool {
        if case .memory(name: .some) = self { true } else { false }
    }
}

extension Notification.Name {
    /// Never posted: Core Data does so only where iCloud changes the stores.
    public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Posted after a store was added, removed or replaced. The object is the coordinator.
    public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
        "_NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// Posted before a store is removed. The object is the store.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
        "_NSPersistentStoreCoordinatorWillRemoveStoreNotification")
    /// Posted for everything that is written to a store, whoever writes it, if the store was added with
    /// ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``. The object is the coordinator.
    public static let NSPersistentStoreRemoteChange = Notification.Name(
        "NSPersistentStoreRemoteChangeNotification")
}
