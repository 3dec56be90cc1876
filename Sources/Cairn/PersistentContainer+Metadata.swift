// What stores say of themselves, beside their objects.

import CairnLog
public import CairnModel
public import CairnObjects
public import CairnStore
public import FoundationEssentials

extension PersistentContainer {
    /// The store's metadata: type, identifier, model, and the values that the program keeps in it.
    ///
    /// ```swift
    /// let token = try container.metadata()["syncToken"]
    /// ```
    ///
    /// With a coordinator, each store has its own: ``PersistentStoreCoordinator/metadata(for:)``.
    ///
    /// - Throws: `StoreError` if the store was closed, or is one that keeps no metadata.
    public func metadata() throws(StoreError) -> StoreMetadata { try metadataStore().metadata() }

    /// Replaces all of the program's values in the store's metadata. They are written atomically with the next save of a
    /// context; ``writeMetadata()`` writes them immediately. To change some of them, read all and set all; store lists and
    /// the like as ``Value/binary(_:)``, in an encoding of your own.
    ///
    /// ```swift
    /// try container.setMetadata(["syncToken": .string(token)])
    /// try context.save()
    /// ```
    ///
    /// - Parameter identifier: the store's identifier from the next opening on: object ids then contain it, and earlier
    ///   ids belong to another store. Nil keeps the current one.
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if a value is an object id, or if the values exceed 16 MiB.
    public func setMetadata(_ values: [String: Value], identifier: UUID? = nil) throws(StoreError) {
        try metadataStore().setMetadata(values, identifier: identifier)
    }

    /// Writes metadata that wait for a save, if there are any.
    ///
    /// - Throws: `StoreError` as a save.
    public func writeMetadata() throws(StoreError) { try metadataStore().writeMetadata() }

    private func metadataStore() throws(StoreError) -> any MetadataStore {
        guard let store = store as? any MetadataStore else {
            throw StoreError(
                .invalidRequest,
                persistentStoreCoordinator == nil
                    ? "the store keeps no metadata"
                    : "each store of a coordinator has metadata of its own: ask the coordinator for those of one store"
            )
        }
        return store
    }

    /// The metadata of a store in a folder, without opening a container.
    ///
    /// - Throws: `StoreError` as ``LogStore/metadata(forStoreAt:)``.
    public static func metadata(forPersistentStoreAt path: String) throws(StoreError)
        -> StoreMetadata
    {
        try LogStore.metadata(forStoreAt: path)
    }

    /// Immediately replaces all of the programs' values in the metadata of a store in a folder.
    ///
    /// - Throws: `StoreError` as ``LogStore/setMetadata(_:identifier:forStoreAt:)``.
    public static func setMetadata(
        _ values: [String: Value], identifier: UUID? = nil, forPersistentStoreAt path: String
    ) throws(StoreError) {
        try LogStore.setMetadata(values, identifier: identifier, forStoreAt: path)
    }
}
