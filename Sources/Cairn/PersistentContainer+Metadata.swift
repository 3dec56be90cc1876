// What stores say of themselves, beside their objects.

import CairnLog
public import CairnModel
public import CairnObjects
public import CairnStore
public import FoundationEssentials

extension PersistentContainer {
    /// What the store says of itself: type, identifier, model, and the values that the program keeps with it.
    ///
    /// ```swift
    /// let token = try container.metadata()["syncToken"]
    /// ```
    ///
    /// Behind a coordinator each store has its own: ``CairnObjects/PersistentStoreCoordinator/metadata(for:)``.
    ///
    /// - Throws: `StoreError` if the store was closed, or is one that keeps no metadata.
    public func metadata() throws(StoreError) -> StoreMetadata { try metadataStore().metadata() }

    /// Puts other values in the place of all that the program keeps with the store. The next save of a context
    /// writes them, together with its objects or not at all; ``writeMetadata()`` does at once. To change some of them, read
    /// all and set all; lists and the like are kept as ``CairnModel/Value/binary(_:)``, in an encoding of the program's.
    ///
    /// ```swift
    /// try container.setMetadata(["syncToken": .string(token)])
    /// try context.save()
    /// ```
    ///
    /// - Parameter identifier: what the store is to be called by when it is opened the next time: ids of objects bear it
    ///   then, and ids from before are foreign. Nil: as before.
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if a value is an object id, or all together do not fit in 16 MiB.
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

    /// What a store in a folder says of itself, without a container over it.
    ///
    /// - Throws: `StoreError` as ``LogStore/metadata(forStoreAt:)``.
    public static func metadata(forPersistentStoreAt path: String) throws(StoreError)
        -> StoreMetadata
    {
        try LogStore.metadata(forStoreAt: path)
    }

    /// Puts other values in the place of all that programs keep with a store in a folder, at once.
    ///
    /// - Throws: `StoreError` as ``LogStore/setMetadata(_:identifier:forStoreAt:)``.
    public static func setMetadata(
        _ values: [String: Value], identifier: UUID? = nil, forPersistentStoreAt path: String
    ) throws(StoreError) {
        try LogStore.setMetadata(values, identifier: identifier, forStoreAt: path)
    }
}
