// "Save as".

public import CairnLog
public import CairnModel
import CairnMoving
public import CairnObjects
public import CairnStore
public import FoundationEssentials

extension PersistentContainer {
    /// Copies the current state of the store into a new folder, as a separate store with another identifier, and opens
    /// a container for it. Unsaved changes in this container's contexts are not included.
    ///
    /// ```swift
    /// let shop = try draft.copyPersistentStore(to: "shop.cairn")
    /// let product = shop.objectID(movedFrom: old.objectID)
    /// ```
    ///
    /// This container is not affected, and you can continue to use it. To switch to the copy, release this container,
    /// and if you no longer need the old store, delete it with ``destroyPersistentStore(at:force:)``.
    ///
    /// To switch a coordinator's store to a new location, use
    /// ``PersistentStoreCoordinator/migratePersistentStore(_:to:identifier:options:)``.
    ///
    /// - Throws: `StoreError`: as ``LogStore/copy(to:identifier:)``; `.invalidRequest` if the store is of another kind.
    /// - Complexity: O(size of the store).
    public func copyPersistentStore(
        to path: String, identifier: UUID = UUID(), options: LogStoreOptions = LogStoreOptions()
    ) throws(StoreError) -> PersistentContainer {
        guard let store = store as? LogStore else {
            throw StoreError(
                .invalidRequest,
                persistentStoreCoordinator == nil
                    ? "only a LogStore can be copied to a folder"
                    : "there are several stores: use the coordinator's method, which takes the store"
            )
        }
        try store.copy(to: path, identifier: identifier)
        return PersistentContainer(
            store: try LogStore.open(at: path, schema: schema, options: options),
            classes: classes)
    }

    /// The id that an object has in this container's store, which is a copy of the one that the id is of; nil if the id is
    /// temporary.
    public func objectID(movedFrom id: ObjectID) -> ObjectID? { store.identity.id(movedFrom: id) }
}
