// What Core Data has given up, for code that still says it.

public import Foundation

extension NSPersistentStoreCoordinator {
    /// What a store that need not be open says of itself.
    ///
    /// - Throws: An error if there is no store.
    @available(*, deprecated, message: "use metadataForPersistentStore(type:at:options:)")
    public class func metadataForPersistentStore(with url: URL) throws -> [AnyHashable: Any] {
        try metadata(at: url, type: NSSQLiteStoreType)
    }

    /// What a store that need not be open says of itself.
    ///
    /// - Throws: An error if there is no store.
    @available(*, deprecated, message: "use metadataForPersistentStore(type:at:options:)")
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws
        -> [String: Any]
    {
        try metadata(at: url, type: storeType ?? NSSQLiteStoreType)
    }

    /// Puts other values in the place of all that the program keeps in a store, at once.
    ///
    /// - Throws: An error if there is no store, or it cannot be written.
    @available(*, deprecated, message: "use setMetadata(_:type:at:options:)")
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
    ) throws {
        try setMetadata(metadata, at: url, type: storeType ?? NSSQLiteStoreType)
    }

    /// Not here: a store of one's own is a `PersistentStore` of Cairn's module `CairnStore`, given to `core`.
    @available(*, unavailable, message: "a store of one's own is a PersistentStore of CairnStore")
    public class func registerStoreClass(
        _ storeClass: AnyClass?, forStoreType storeType: String
    ) {}

    /// Not here: a store of one's own is a `PersistentStore` of Cairn's module `CairnStore`.
    @available(*, unavailable, message: "a store of one's own is a PersistentStore of CairnStore")
    public class func registerStoreClass(
        _ storeClass: AnyClass?, type: NSPersistentStore.StoreType
    ) {}
}
