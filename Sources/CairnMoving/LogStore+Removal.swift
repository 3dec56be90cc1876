// Removing stores, and putting another one in their place.

import CairnFileSystem
public import CairnLog
public import CairnStore
import SystemPackage

extension LogStore {
    /// Removes the store in a folder: every file of it, and the folder. Where there is no folder nothing is done, and an
    /// empty one, which is what a removal that broke off may have left, is removed as well.
    ///
    /// If it breaks off, the store is as it was, or does not open and is finished by calling this again. A folder that
    /// cannot be removed (a mounted disk, or in one that others own) stays, empty.
    ///
    /// - Parameter force: also if it is open. Stores of this process are closed: snapshots that are held stay
    ///   readable, and what they are asked otherwise throws. Another process is not told: it may write into a store that is made here
    ///   afterwards. To be used when no other process can be meant.
    /// - Throws: `StoreError`: `.storeInUse` if the store is open, in this process or another;
    ///   `.invalidRequest` if the folder holds something and no store, or other files besides; `.inputOutput`.
    public static func destroy(at path: String, force: Bool = false) throws(StoreError) {
        try destroy(at: path, on: POSIXFileSystem(), force: force)
    }

    /// The same on any disk.
    static func destroy(at path: String, on fileSystem: any FileSystem, force: Bool = false)
        throws(StoreError)
    {
        try StoreRemoval(folder: FilePath(path), fileSystem: fileSystem, force: force).remove()
    }

    /// Puts a copy of a store in the place of another: afterwards the folder holds what `source` holds, under the same
    /// identifier. Others may write to `source` meanwhile. A folder that is missing is made.
    ///
    /// The source is read and found whole first. What was there is gone when the copying begins: if that breaks off, for
    /// example because the disk is full, the folder does not open until this is called again. `source` is only read.
    ///
    /// - Parameter force: also if the store in the folder is open; see ``destroy(at:force:)``.
    /// - Throws: `StoreError`: `.storeInUse` if the store in the folder is open; `.invalidRequest` if the folder
    ///   holds something else than a store, or is `source`; what opening and reading `source` throws, `.damaged` with the place among
    ///   it, and then the folder is as it was; `.noSpace`, `.inputOutput`.
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
