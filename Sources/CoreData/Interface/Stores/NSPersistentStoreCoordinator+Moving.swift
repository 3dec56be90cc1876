// Stores as a whole: where they are, and what is done with one without its objects.
//
// Threads: any.

import Cairn
import CairnLog
import CairnMoving
import CairnObjects
import CairnStore
public import Foundation
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Where a store is.
    public func url(for store: NSPersistentStore) -> URL {
        store.url ?? URL(fileURLWithPath: "/dev/null")
    }

    /// The store at a URL; nil if the coordinator has none there.
    public func persistentStore(for URL: URL) -> NSPersistentStore? {
        if let store = persistentStores.first(where: { $0.url == URL }) { return store }
        return core.persistentStore(for: URL).flatMap(persistentStore(over:))
    }

    /// Replaces a store by the one at another URL, usually a copy of it, which has to be there.
    ///
    /// - Returns: whether that was done. If not, the coordinator has the store that it had.
    public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        if case .memory? = try? StorePlace(type: store.type, url: store.url) { return false }
        let old = store.core
        do {
            store.replace(by: try core.setURL(url, for: old), at: url)
        } catch {
            // The store before may not have been closed properly, when the new one was in its place already.
            guard !core.persistentStores.contains(where: { $0 === old }),
                let new = core.persistentStore(for: url)
            else { return false }
            store.replace(by: new, at: url)
        }
        postRemoteChanges(of: store)
        return true
    }

    /// Copies a store to a URL and goes on with the copy. The store before is none of the coordinator's any more, and stays
    /// where it is.
    ///
    /// - Parameters:
    ///   - options: how the copy is opened.
    ///   - storeType: the kind of the copy, which is on disk.
    /// - Throws: An error if there is something at the URL, or the copy cannot be made; the coordinator has the store that it had.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(
            store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Copies a store to a URL and goes on with the copy; see ``migratePersistentStore(_:to:options:type:)``.
    ///
    /// - Throws: An error if there is something at the URL, or the copy cannot be made; the coordinator has the store that it had.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil,
        withType storeType: String
    ) throws -> NSPersistentStore {
        try withCoreDataErrors {
            let path = try StorePlace(type: storeType, url: URL).path(toDo: "written to")
            try StorePlace.refuseFile(at: path)
            tellOfRemoval(of: store)
            let made = try core.migratePersistentStore(
                store.core, to: Foundation.URL(fileURLWithPath: path, isDirectory: true),
                identifier: nil, options: options.map { StoreOptions($0).logOptions },
                closes: store.closes)
            let moved = NSPersistentStore(
                made, type: storeType,
                configuration: core.configuration(of: made), url: URL,
                options: options ?? store.options, closes: true, in: self)
            store.keep(nil)
            stores.withLock { stores in
                if let place = stores.firstIndex(where: { $0 === store }) { stores[place] = moved }
            }
            forget(store)
            postRemoteChanges(of: moved)
            tell(
                .NSPersistentStoreCoordinatorStoresDidChange, added: [moved], removed: [store],
                renamed: [store, moved])
            return moved
        }
    }

    /// Removes all that a store has. An empty folder stays at the URL, as Core Data leaves an empty database. If the coordinator
    /// has the store, it is removed first.
    ///
    /// - Throws: An error if the store is open elsewhere, unless ``NSPersistentStoreForceDestroyOption`` is set.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// Removes all that a store has; see ``destroyPersistentStore(at:type:options:)``.
    ///
    /// - Throws: An error if the store is open elsewhere, unless ``NSPersistentStoreForceDestroyOption`` is set.
    public func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try withCoreDataErrors {
            let place = try StorePlace(type: storeType, url: url)
            // What cannot be done is refused before the store is taken out.
            let path =
                storeType == NSInMemoryStoreType ? nil : try place.path(toDo: "destroyed")
            if let path { try StorePlace.refuseFile(at: path) }
            if let store = persistentStore(for: url) { try takeOut(store) }
            guard let path else { return }
            if FileManager.default.fileExists(atPath: path) {
                try LogStore.destroy(at: path, force: StoreOptions(options).isForced)
            }
            // Also where there was none Core Data leaves an empty database, which programs delete then.
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
            guard FileManager.default.fileExists(atPath: parent.path) else { return }
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
        }
    }

    /// Puts a copy of a store in the place of another, or where there is none. If the coordinator has the store that is
    /// replaced, it is removed first.
    ///
    /// - Throws: An error if the store that is replaced is open elsewhere, unless ``NSPersistentStoreForceDestroyOption`` is set.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions,
            withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
            ofType: storeType.rawValue)
    }

    /// Puts a copy of a store in the place of another; see
    /// ``replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)``.
    ///
    /// - Throws: An error if the store that is replaced is open elsewhere, unless ``NSPersistentStoreForceDestroyOption`` is set.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        ofType storeType: String
    ) throws {
        try withCoreDataErrors {
            let destination = try StorePlace(type: storeType, url: destinationURL)
                .path(toDo: "replaced")
            let source = try StorePlace(type: storeType, url: sourceURL)
                .path(toDo: "copied to a folder")
            try StorePlace.refuseFile(at: destination)
            try StorePlace.refuseFile(at: source)
            // What cannot be done is refused before the store is taken out.
            _ = try LogStore.metadata(forStoreAt: source)
            if let store = persistentStore(for: destinationURL) {
                guard source != destination else { return }
                try takeOut(store)
            }
            try LogStore.replace(
                at: destination, withStoreAt: source,
                force: StoreOptions(destinationOptions).isForced)
        }
    }

    /// Nothing is deferred: a migration that can be inferred takes no time.
    public func finishDeferredLightweightMigration() throws {}

    /// Nothing is deferred: a migration that can be inferred takes no time.
    public func finishDeferredLightweightMigrationTask() throws {}
}
