// Stores as a whole, for programs that begin afresh.

import CairnLog
import CairnMoving
public import CairnObjects
public import CairnStore

extension PersistentContainer {
    /// Removes the store in a folder: every file of it, and the folder. Where there is none nothing is done.
    ///
    /// ```swift
    /// try PersistentContainer.destroyPersistentStore(at: "shop.cairn")
    /// let container = try PersistentContainer(at: "shop.cairn", for: Product.self)
    /// ```
    ///
    /// - Parameter force: also if it is open; see ``LogStore/destroy(at:force:)``.
    /// - Throws: `StoreError`: `.storeInUse` if a container of this process, or another process, has the store open;
    ///   `.invalidRequest` if the folder holds no store, or other files besides.
    public static func destroyPersistentStore(at path: String, force: Bool = false)
        throws(StoreError)
    {
        try LogStore.destroy(at: path, force: force)
    }

    /// Puts a copy of a store in the place of another, for example of a backup, or of one that a program ships with.
    ///
    /// - Parameter force: also if the store in the folder is open; see ``LogStore/destroy(at:force:)``.
    /// - Throws: `StoreError`: as ``LogStore/replace(at:withStoreAt:force:)``.
    public static func replacePersistentStore(
        at path: String, withStoreAt source: String, force: Bool = false
    ) throws(StoreError) {
        try LogStore.replace(at: path, withStoreAt: source, force: force)
    }
}
