// Stores as a whole, by the names that a coordinator has for it.

import CairnLog
import CairnMoving
public import CairnObjects
public import CairnStore
public import Foundation

extension PersistentStoreCoordinator {
    /// Removes the store in a folder, whether it is one of the coordinator's or not: every file of it, and the folder. Where there
    /// is none nothing is done.
    ///
    /// ```swift
    /// do {
    ///     try coordinator.addPersistentStore(.init(at: path))
    /// } catch where error.code == .cannotInferMapping {
    ///     // It is too old to be migrated, and can be made again.
    ///     try coordinator.destroyPersistentStore(at: URL(fileURLWithPath: path))
    ///     try coordinator.addPersistentStore(.init(at: path))
    /// }
    /// ```
    ///
    /// - Parameter force: also if it is open; see ``CairnLog/LogStore/destroy(at:force:)``.
    /// - Throws: `StoreError` as ``PersistentContainer/destroyPersistentStore(at:force:)``: `.storeInUse` also if the coordinator has
    ///   it, which has to remove it first.
    public func destroyPersistentStore(at url: URL, force: Bool = false) throws(StoreError) {
        try LogStore.destroy(at: url.path, force: force)
    }

    /// Puts a copy of a store in the place of another, for example of a backup, or of one that a program ships with.
    ///
    /// - Parameter force: also if the store in the folder is open; see ``CairnLog/LogStore/destroy(at:force:)``.
    /// - Throws: `StoreError` as ``CairnLog/LogStore/replace(at:withStoreAt:force:)``: `.storeInUse` also if the coordinator has the
    ///   store in the folder, which has to remove it first.
    public func replacePersistentStore(
        at url: URL, withPersistentStoreFrom source: URL, force: Bool = false
    ) throws(StoreError) {
        try LogStore.replace(at: url.path, withStoreAt: source.path, force: force)
    }
}
