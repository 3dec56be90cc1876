// "Save as".

public import CairnLog
public import CairnModel
import CairnMoving
public import CairnObjects
public import CairnStore
public import FoundationEssentials

extension PersistentContainer {
    /// Writes the store as it is now into a new folder, as a store of its own with another identifier, and opens a container
    /// over it. What contexts of this container have not saved is not in it.
    ///
    /// ```swift
    /// let shop = try draft.copyPersistentStore(to: "shop.cairn")
    /// let product = shop.objectID(movedFrom: old.objectID)
    /// ```
    ///
    /// This container stays as it is, with its store and its contexts: work on it goes on. To leave the old
    /// store, let go of this container, and remove the folder with ``destroyPersistentStore(at:force:)`` if it is
    /// not wanted any more.
    ///
    /// A coordinator goes on with the store in its new place:
    /// ``CairnObjects/PersistentStoreCoordinator/migratePersistentStore(_:to:identifier:options:)``.
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
