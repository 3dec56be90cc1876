// What a save asks of stores, with Core Data's names.

public import CairnObjects

/// The objects that a save is about. Contexts save by themselves: it cannot be executed.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// New objects.
    public let insertedObjects: Set<NSManagedObject>?
    /// Changed objects.
    public let updatedObjects: Set<NSManagedObject>?
    /// Objects to be deleted.
    public let deletedObjects: Set<NSManagedObject>?
    /// Objects that must not have been changed by others.
    public let lockedObjects: Set<NSManagedObject>?

    /// A request about some objects.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?,
        updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
    }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}
