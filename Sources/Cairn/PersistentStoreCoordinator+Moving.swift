// "Save as", behind a coordinator.

public import CairnLog
import CairnMoving
public import CairnObjects
public import CairnStore
public import Foundation

extension PersistentStoreCoordinator {
    /// Writes a store as it is now into a new folder, and goes on with it there, in the place of the store before. A store in
    /// memory comes onto the disk this way.
    ///
    /// ```swift
    /// let shop = try coordinator.migratePersistentStore(draft, to: URL(fileURLWithPath: "shop.cairn"))
    /// ```
    ///
    /// What contexts have saved is in the new store, what they have not stays changed in them, and their next save goes there:
    /// ids, objects and edits stay what they are. Who saves to the store meanwhile waits. Its metadata come along, also those
    /// that wait for a save.
    ///
    /// The store before is closed, and no longer of use. Its folder stays, as a copy with the same identifier: remove it with
    /// ``PersistentContainer/destroyPersistentStore(at:force:)``, or keep it apart from the new one, as two stores with one
    /// identifier are not to be in one coordinator.
    ///
    /// With another identifier the new store is one of its own: objects of the store before are gone for the contexts, with
    /// what is not saved of them, as when it is removed. ``CairnStore/StoreIdentity/id(movedFrom:)`` of the new one's identity tells
    /// where they are.
    ///
    /// Not from within a closure that observes the coordinator's changes: it would wait for itself.
    ///
    /// - Parameters:
    ///   - url: a folder that does not exist, or is empty.
    ///   - identifier: what the new store is called by; nil: as the store before.
    ///   - options: how the new store is opened; nil: to be written, with the durability of the store before.
    /// - Returns: The store that is there now.
    /// - Throws: `StoreError`: `.invalidRequest` if the store is none of the coordinator's, or not one on the log, or if there is
    ///   something in the folder; as ``LogStore/copy(to:identifier:)``, and what opening the store throws. The coordinator has the
    ///   store that it had then. A copy that broke off stays in the folder, which does not open:
    ///   ``PersistentContainer/destroyPersistentStore(at:force:)`` removes it.
    /// - Complexity: O(size of the store).
    @discardableResult
    public func migratePersistentStore(
        _ store: any PersistentStore, to url: URL, identifier: UUID? = nil,
        options: LogStoreOptions? = nil
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
        guard let made else { preconditionFailure("a store that was replaced has a successor") }
        // All that was in it is in the new one: nothing depends on how closing it ends.
        old.keepStagedValues()
        try? old.close()
        return made
    }
}
