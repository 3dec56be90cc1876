// Stores as a whole, by the names that a coordinator has for it.

import CairnLog
import CairnMoving
public import CairnObjects
public import CairnStore
public import Foundation

extension PersistentStoreCoordinator {
    /// Deletes the store in a folder, whether it belongs to the coordinator or not: all its files, and the folder. Does
    /// nothing if there is no store.
    ///
    /// ```swift
    /// do {
    ///     try coordinator.addPersistentStore(.init(at: path))
    /// } catch where error.code == .cannotInferMapping {
    ///     // It is too old to migrate, and can be created again.
    ///     try coordinator.destroyPersistentStore(at: URL(fileURLWithPath: path))
    ///     try coordinator.addPersistentStore(.init(at: path))
    /// }
    /// ```
    ///
    /// - Parameter force: delete the store even if it is open; see ``LogStore/destroy(at:force:)``.
    /// - Throws: `StoreError` as ``PersistentContainer/destroyPersistentStore(at:force:)``: `.storeInUse` also if the
    ///   coordinator has the store, which must be removed from it first.
    public func destroyPersistentStore(at url: URL, force: Bool = false) throws(StoreError) {
        try LogStore.destroy(at: url.path, force: force)
    }

    /// Replaces a store by a copy of another one, for example of a backup, or of a store that is included in a program.
    ///
    /// - Parameter force: replace the store in the folder even if it is open; see ``LogStore/destroy(at:force:)``.
    /// - Throws: `StoreError` as ``LogStore/replace(at:withStoreAt:force:)``: `.storeInUse` also if the coordinator has the
    ///   store in the folder, which must be removed from it first.
    public func replacePersistentStore(
        at url: URL, withPersistentStoreFrom source: URL, force: Bool = false
    ) throws(StoreError) {
        try LogStore.replace(at: url.path, withStoreAt: source.path, force: force)
    }
}
