// "Save as": a store under another name, in another location.

import CairnFileSystem
public import CairnLog
import CairnModel
public import CairnStore
public import FoundationEssentials
import Synchronization
import SystemPackage

extension LogStore {
    /// Copies the current state of the store into a new folder, as a separate store with the same objects, numbers, row
    /// versions and metadata, and another identifier. This store is only read; others can write to it meanwhile. Use it to
    /// save a store in memory to disk.
    ///
    /// ```swift
    /// try draft.copy(to: "shop.cairn")
    /// let shop = try LogStore.open(at: "shop.cairn")
    /// let moved = shop.identity.id(movedFrom: old)
    /// ```
    ///
    /// If the copy is interrupted, the folder cannot be opened; remove it with ``destroy(at:force:)``. Pending metadata are
    /// not copied, and neither are unsaved changes of contexts.
    ///
    /// - Parameter identifier: the identifier of the new store, which the ids of its objects contain.
    /// - Throws: `StoreError`: `.invalidRequest` if the folder is not empty, or is in this store's folder; `.damaged` with
    ///   the location, before anything is created; `.noSpace`, `.inputOutput`.
    /// - Complexity: O(size of the store); it is read three times.
    public func copy(to path: String, identifier: UUID = UUID()) throws(StoreError) {
        try copy(to: path, on: POSIXFileSystem(), identifier: identifier)
    }

    /// The same under another identifier or under the store's own: for those who go on with the copy alone.
    package func copy(to path: String, keeping identifier: UUID?) throws(StoreError) {
        try copy(to: path, on: POSIXFileSystem(), identifier: identifier)
    }

    /// Lets metadata that wait for a save wait in a copy of the store.
    ///
    /// - Parameter keepsIdentifier: whether what the store is to be called by is passed on, too.
    package func passMetadata(to copy: LogStore, keepsIdentifier: Bool) throws(StoreError) {
        guard !copy.isReadOnly, let waiting = engine.tools.metadata.waiting else {
            return
        }
        try copy.engine.setMetadata(
            waiting.values,
            identifier: keepsIdentifier ? waiting.identifier ?? engine.storeID.uuid : nil)
    }

    /// Says that values which wait for a save may be saved to a copy of the store, when this one is closed.
    package func keepStagedValues() { engine.tools.staging.isKept.store(true, ordering: .relaxed) }

    /// The same on any disk.
    ///
    /// - Parameter identifier: nil: the store's own.
    func copy(to path: String, on fileSystem: any FileSystem, identifier: UUID? = UUID())
        throws(StoreError)
    {
        try checkOpen()
        // As for a backup: what can be read is copied, also if the disk fails.
        try? engine.synchronize()
        let snapshot = LogSnapshot(engine: engine, name: "copying")
        let pin = try snapshot.readable()
        defer { withExtendedLifetime((snapshot, pin)) {} }
        try StoreCopy(
            engine: engine, state: pin.state, folder: FilePath(path), fileSystem: fileSystem,
            identifier: identifier
        ).run()
    }
}
