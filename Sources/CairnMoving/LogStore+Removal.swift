// Removes stores, and replaces them by others.

import CairnFileSystem
public import CairnLog
public import CairnStore
import SystemPackage

extension LogStore {
    /// Removes the store in a folder, with all its files and the folder itself. Does nothing if the folder does not exist.
    /// An empty folder, which an interrupted removal may have left, is removed too.
    ///
    /// If it is interrupted, the store is either unchanged, or cannot be opened; call this again to finish. A folder that
    /// cannot be removed (a mounted disk, or a folder whose parent belongs to another user) is only emptied.
    ///
    /// - Parameter force: remove the store even if it is open. Stores in this process are closed: existing snapshots stay
    ///   readable, and all other calls throw. Other processes do not notice: they may write into a store that is created
    ///   here later. Use it only if no other process can be affected.
    /// - Throws: `StoreError`: `.storeInUse` if the store is open, in this process or another; `.invalidRequest` if the
    ///   folder contains something that is not a store, or additional files; `.inputOutput`.
    public static func destroy(at path: String, force: Bool = false) throws(StoreError) {
        try destroy(at: path, on: POSIXFileSystem(), force: force)
    }

    /// The same on any disk.
    static func destroy(at path: String, on fileSystem: any FileSystem, force: Bool = false)
        throws(StoreError)
    {
        try StoreRemoval(folder: FilePath(path), fileSystem: fileSystem, force: force).remove()
    }

    /// Replaces a store by a copy of another one: afterwards the folder has the contents of `source`, with the same
    /// identifier. Others can write to `source` meanwhile. The folder is created if it does not exist.
    ///
    /// First the source is read and verified. The old store is removed before copying begins: if that is interrupted, for
    /// example because the disk is full, the folder cannot be opened until this is called again. `source` is only read.
    ///
    /// - Parameter force: replace the store in the folder even if it is open; see ``destroy(at:force:)``.
    /// - Throws: `StoreError`: `.storeInUse` if the store in the folder is open; `.invalidRequest` if the folder contains
    ///   something other than a store, or is `source`; the errors of opening and reading `source`, such as `.damaged` with
    ///   the location, in which case the folder has not changed; `.noSpace`, `.inputOutput`.
    /// - Complexity: O(size of the store); it is read twice.
    public static func replace(
        at path: String, withStoreAt source: String, force: Bool = false
    ) throws(StoreError) {
        try replace(at: path, withStoreAt: source, on: POSIXFileSystem(), force: force)
    }

    /// The same on any disk.
    static func replace(
        at path: String, withStoreAt source: String, on fileSystem: any FileSystem,
        force: Bool = false
    ) throws(StoreError) {
        let store = try openToCopy(at: source, on: fileSystem)
        defer { try? store.close() }
        // As for a backup: what can be read is copied, also if the disk fails.
        try? store.engine.synchronize()
        let snapshot = LogSnapshot(engine: store.engine, name: "replacing")
        let pin = try snapshot.readable()
        defer { withExtendedLifetime((snapshot, pin)) {} }
        try StoreRemoval(folder: FilePath(path), fileSystem: fileSystem, force: force)
            .replace(with: store.engine, pin.state)
    }
}
