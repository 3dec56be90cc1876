// Large values that come before the save that refers to them: they go to the store of their object.
//
// Threads: any.

package import CairnModel
package import CairnStore

extension PersistentStoreCoordinator: ValueStagingStore {
    /// Begins a value in the store of an object; nil if one is to be put together in memory.
    package func beginValue(column: Int, of id: ObjectID, entity: Int) throws(StoreError)
        -> (any ValueStaging)?
    {
        guard let store = store(id.store), store.store is any ValueStagingStore else { return nil }
        return try writing(to: store) { store throws(StoreError) in
            try (store as? any ValueStagingStore)?
                .beginValue(column: column, of: id, entity: entity)
        }
    }
}

extension CoordinatedSnapshot: ValueStreamingSnapshot {
    package func stream(forKey key: String, of id: ObjectID, chunkBytes: Int) throws(StoreError)
        -> ValueStream?
    {
        guard let part = part(of: id) else {
            throw StoreError(
                .objectNotFound, "no store of the coordinator has the object",
                context: .init(objectID: id))
        }
        return try part.snapshot.valueStream(forKey: key, of: id, chunkBytes: chunkBytes)
    }
}
