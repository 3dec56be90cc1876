// What the stores of a coordinator say of themselves, beside their objects.
//
// Threads: any.

public import CairnModel
public import CairnStore
public import FoundationEssentials

extension PersistentStoreCoordinator {
    /// What a store says of itself: type, identifier, model, and the values that the program keeps with it.
    ///
    /// ```swift
    /// let token = try coordinator.metadata(for: diary)["syncToken"]
    /// ```
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if the store is none of the coordinator's, or keeps no metadata; `.unusable` if
    ///   it was closed.
    public func metadata(for store: any PersistentStore) throws(StoreError) -> StoreMetadata {
        try metadataStore(try attached(store).store).metadata()
    }

    /// Puts other values in the place of all that the program keeps with a store. The next save of a context, whichever
    /// stores it changes, writes them: together with the objects of this store or not at all. ``writeMetadata(for:)`` does at
    /// once.
    ///
    /// ```swift
    /// try coordinator.setMetadata(["syncToken": .string(token)], for: diary)
    /// try context.save()
    /// ```
    ///
    /// - Parameter identifier: what the store is to be called by when it is opened the next time: ids of objects bear it
    ///   then, and ids from before are foreign. Nil: as before.
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if the store is none of the coordinator's or keeps no metadata, if a
    ///   value is an object id, or all together do not fit in 16 MiB.
    public func setMetadata(
        _ values: [String: Value], identifier: UUID? = nil, for store: any PersistentStore
    ) throws(StoreError) {
        try writing(to: try attached(store)) { store throws(StoreError) in
            try metadataStore(store).setMetadata(values, identifier: identifier)
        }
    }

    /// Writes the metadata of a store that wait for a save, if there are any.
    ///
    /// - Throws: `StoreError` as a save; `.invalidRequest` if the store is none of the coordinator's or keeps no metadata.
    public func writeMetadata(for store: any PersistentStore) throws(StoreError) {
        try writing(to: try attached(store)) { store throws(StoreError) in
            try metadataStore(store).writeMetadata()
        }
    }

    private func attached(_ store: any PersistentStore) throws(StoreError) -> CoordinatedStore {
        guard let found = self.store(store.identity.identifier), found.store === store else {
            throw StoreError(notAttached: nil)
        }
        return found
    }

    private func metadataStore(_ store: any PersistentStore) throws(StoreError)
        -> any MetadataStore
    {
        guard let store = store as? any MetadataStore else {
            throw StoreError(.invalidRequest, "the store keeps no metadata")
        }
        return store
    }
}

extension CoordinatedStore {
    /// Whether it has metadata that wait for a save.
    var hasMetadataToWrite: Bool { (store as? any MetadataStore)?.hasMetadataToWrite ?? false }
}
