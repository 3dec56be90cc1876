// What stores say of themselves, and what programs keep in them.
//
// Threads: any.

import CairnLog
import CairnModel
import CairnStore
public import Foundation

extension NSPersistentStoreCoordinator {
    /// What a store says of itself, with what the program keeps in it.
    public func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

    /// Puts other values in the place of all that the program keeps in a store. The next save of a context writes them,
    /// whether or not it changes objects.
    ///
    /// A value that is no property list ends the program with a sentence.
    public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        store.metadata = metadata
    }

    /// What a store that need not be open says of itself.
    ///
    /// - Throws: An error if there is no store.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadata(at: storeURL, type: storeType.rawValue)
    }

    /// What a store that need not be open says of itself.
    ///
    /// - Throws: An error if there is no store.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadata(at: url, type: storeType)
    }

    /// Puts other values in the place of all that the program keeps in a store, at once.
    ///
    /// - Throws: An error if there is no store, or it cannot be written.
    public class func setMetadata(
        _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType,
        at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, at: storeURL, type: storeType.rawValue)
    }

    /// Puts other values in the place of all that the program keeps in a store, at once.
    ///
    /// - Throws: An error if there is no store, or it cannot be written.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, at: url, type: storeType)
    }

    /// The model that a store was made with, or migrated to.
    ///
    /// - Throws: An error if there is no store.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        try withCoreDataErrors {
            NSManagedObjectModel(try storeMetadata(at: url, type: NSSQLiteStoreType).model)
        }
    }

    /// The kinds of stores that there are. Stores of a program's own are written as stores of Cairn.
    public class var registeredStoreTypes: [String: NSValue] {
        let types = [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType, NSInMemoryStoreType]
        return Dictionary(uniqueKeysWithValues: types.map { ($0, NSNumber(value: true)) })
    }

    static func metadata(at url: URL, type: String) throws -> [String: Any] {
        try withCoreDataErrors {
            try storeMetadata(at: url, type: type).coreDataMetadata(type: type)
        }
    }

    static func storeMetadata(at url: URL, type: String) throws -> StoreMetadata {
        try LogStore.metadata(forStoreAt: try path(of: url, type))
    }

    static func setMetadata(_ metadata: [String: Any]?, at url: URL, type: String) throws {
        try withCoreDataErrors {
            let path = try path(of: url, type)
            let (values, identifier) = try LogStore.metadata(forStoreAt: path).values(of: metadata)
            try LogStore.setMetadata(values, identifier: identifier, forStoreAt: path)
        }
    }

    private static func path(of url: URL, _ type: String) throws -> String {
        let path = try StorePlace(type: type, url: url).path(toDo: "asked without a coordinator")
        try StorePlace.refuseFile(at: path)
        return path
    }
}
