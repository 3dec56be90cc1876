// "Save as", behind a coordinator.

public import CairnLog
import CairnMoving
public import CairnObjects
public import CairnStore
public import Foundation

extension PersistentStoreCoordinator {
    /// Copies the current state of a store into a new folder, and replaces the store by that copy. This also saves an
    /// in-memory store to disk.
    ///
    /// ```swift
    /// let shop = try coordinator.migratePersistentStore(draft, to: URL(fileURLWithPath: "shop.cairn"))
    /// ```
    ///
    /// The new store contains everything that contexts have saved. Unsaved changes remain in the contexts, and their
    /// next save goes to the new store: ids, objects and edits are preserved. Saves to the store wait until the copy is
    /// complete. The metadata is copied, too, including values waiting for a save.
    ///
    /// The old store is closed and can no longer be used. Its folder remains as a copy with the same identifier: delete
    /// it with ``PersistentContainer/destroyPersistentStore(at:force:)``, or do not add it to the same coordinator,
    /// which cannot have two stores with one identifier.
    ///
    /// With another identifier, the new store is unrelated: for the contexts, objects of the old store are gone, along
    /// with their unsaved changes, as if it had been removed. ``StoreIdentity/id(movedFrom:)`` of the new
    /// store's identity maps their ids.
    ///
    /// Do not call this from a closure that observes the coordinator's changes: it would wait for itself.
    ///
    /// - Parameters:
    ///   - url: a folder that does not exist, or is empty.
    ///   - identifier: the new store's identifier; nil keeps the old one's.
    ///   - options: how to open the new store; nil means for writing, with the old store's durability.
    /// - Returns: The new store.
    /// - Throws: `StoreError`: `.invalidRequest` if the store does not belong to the coordinator, or is not a log
    ///   store, or if the folder is not empty; errors of ``LogStore/copy(to:identifier:)`` and of opening the store.
    ///   The coordinator then keeps its old store. An interrupted copy remains in the folder and does not open:
    ///   ``PersistentContainer/destroyPersistentStore(at:force:)`` deletes it.
    /// - Complexity: O(size of the store).
    @discardableResult
    public func migratePersistentStore(
        _ store: any PersistentStore, to url: URL, identifier: UUID? = nil,
        options: LogStoreOptions? = nil
    ) throws(StoreError) -> LogStore {
        try migratePersistentStore(
            store, to: url, identifier: identifier, options: options, closes: true)
    }

    /// The same.
    ///
    /// - Parameter closes: whether the store before is closed: false if others have it too.
    package func migratePersistentStore(
        _ store: any PersistentStore, to url: URL, identifier: UUID?, options: LogStoreOptions?,
        closes: Bool
    ) throws(StoreError) -> LogStore {
        guard let old = store as? LogStore, persistentStores.contains(where: { $0 === old }) else {
            throw StoreError(
                .invalidRequest,
                "the store does not belong to the coordinator, or is not a LogStore")
        }
        // Before anybody is told that stores are about to change.
        let names = try? FileManager.default.contentsOfDirectory(atPath: url.path)
        if names?.isEmpty == false {
            throw StoreError(
                .invalidRequest, "the folder is not empty", context: .init(path: url.path))
        }
        var choices = options ?? LogStoreOptions()
        choices.createsIfMissing = false
        if options == nil { choices.durability = old.path == nil ? .full : old.durability }
        var made: LogStore?
        do throws(StoreError) {
            try replace(old) { () throws(StoreError) in
                try old.copy(to: url.path, keeping: identifier)
                do throws(StoreError) {
                    let new = try LogStore.open(at: url.path, schema: schema, options: choices)
                    made = new
                    try old.passMetadata(to: new, keepsIdentifier: identifier == nil)
                    return new
                } catch {
                    // Without a store that is closed below.
                    if made == nil { try? LogStore.destroy(at: url.path) }
                    throw error
                }
            }
        } catch {
            // Nothing was written to it, and nobody knows of it.
            if let made {
                try? made.close()
                try? LogStore.destroy(at: url.path)
            }
            throw error
        }
        guard let made else { preconditionFailure("a replaced store has a successor") }
        // All that was in it is in the new one: nothing depends on how closing it ends.
        if closes {
            old.keepStagedValues()
            try? old.close()
        }
        return made
    }
}
