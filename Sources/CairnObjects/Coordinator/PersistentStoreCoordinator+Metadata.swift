// What the stores of a coordinator say of themselves, beside their objects.
//
// Threads: any.

public import CairnModel
public import CairnStore
public import FoundationEssentials

extension PersistentStoreCoordinator {
    /// A store's metadata: type, identifier, model, and the values that the program keeps in it.
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

    /// Replaces all values that the program keeps in a store's metadata. The next save of a context, whichever stores
    /// it changes, writes them, atomically with the objects of this store; ``writeMetadata(for:)`` writes them
    /// immediately.
    ///
    /// ```swift
    /// try coordinator.setMetadata(["syncToken": .string(token)], for: diary)
    /// try context.save()
    /// ```
    ///
    /// - Parameter identifier: the store's identifier from the next opening on: object ids then contain it, and earlier
    ///   ids belong to another store. Nil keeps the current one.
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
