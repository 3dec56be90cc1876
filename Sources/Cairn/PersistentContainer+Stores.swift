// Stores as a whole, for programs that begin afresh.

import CairnLog
import CairnMoving
public import CairnObjects
public import CairnStore

extension PersistentContainer {
    /// Deletes the store in a folder: all its files, and the folder. Does nothing if there is no store.
    ///
    /// ```swift
    /// try PersistentContainer.destroyPersistentStore(at: "shop.cairn")
    /// let container = try PersistentContainer(at: "shop.cairn", for: Product.self)
    /// ```
    ///
    /// - Parameter force: delete the store even if it is open; see ``LogStore/destroy(at:force:)``.
    /// - Throws: `StoreError`: `.storeInUse` if a container of this process, or another process, has the store open;
    ///   `.invalidRequest` if the folder contains no store, or additional files.
    public static func destroyPersistentStore(at path: String, force: Bool = false)
        throws(StoreError)
    {
        try LogStore.destroy(at: path, force: force)
    }

    /// Replaces a store by a copy of another one, for example of a backup, or of a store that is included in a program.
    ///
    /// - Parameter force: replace the store in the folder even if it is open; see ``LogStore/destroy(at:force:)``.
    /// - Throws: `StoreError`: as ``LogStore/replace(at:withStoreAt:force:)``.
    public static func replacePersistentStore(
        at path: String, withStoreAt source: String, force: Bool = false
    ) throws(StoreError) {
        try LogStore.replace(at: path, withStoreAt: source, force: force)
    }
}
