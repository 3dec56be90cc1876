// The objects of a context.
//
// Threads: the context's queue.

import CairnModel
public import CairnObjects
import CairnStore
import Foundation

extension NSManagedObjectContext {
    /// New objects.
    public var insertedObjects: Set<NSManagedObject> { objects(core.insertedObjects) }

    /// Changed objects.
    public var updatedObjects: Set<NSManagedObject> { objects(core.updatedObjects) }

    /// Objects that the next save deletes.
    public var deletedObjects: Set<NSManagedObject> { objects(core.deletedObjects) }

    /// All objects that are in use.
    public var registeredObjects: Set<NSManagedObject> { objects(core.registeredObjects) }

    private func objects(_ objects: some Sequence<ManagedObject>) -> Set<NSManagedObject> {
        Set(objects.lazy.map(Self.object))
    }

    /// An object of a context behind, which makes none but these.
    static func object(_ object: ManagedObject) -> NSManagedObject {
        guard let object = object as? NSManagedObject else {
            preconditionFailure("\(type(of: object)) is no class of an NSManagedObject")
        }
        return object
    }

    /// Inserts an object that was made without a context.
    public func insert(_ object: NSManagedObject) { core.insert(object) }

    /// Marks an object to be deleted by the next save.
    public func delete(_ object: NSManagedObject) { core.delete(object) }

    /// Has an object read again what is stored.
    ///
    /// - Parameter flag: whether its changes stay.
    public func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        core.refresh(object, mergeChanges: flag)
    }

    /// Has all objects read again what is stored, and keep their changes.
    public func refreshAllObjects() { core.refreshAllObjects() }

    /// Has the next save fail if somebody else has changed the object meanwhile.
    public func detectConflicts(for object: NSManagedObject) { core.detectConflicts(for: object) }

    /// The object of an id, if the context has it.
    public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        core.registeredObject(for: objectID.core).map(Self.object)
    }

    /// The object of an id, be it a fault of one that there is not.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        Self.object(core.object(with: objectID.core))
    }

    /// The object of an id.
    ///
    /// - Throws: An error if there is none, or it cannot be read.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try withCoreDataErrors(in: self) {
            Self.object(try core.existingObject(with: objectID.core))
        }
    }

    /// Gives new objects their permanent ids.
    ///
    /// - Throws: An error of the store; no id has changed then.
    public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        try withCoreDataErrors(in: self) { try core.obtainPermanentIDs(for: objects) }
    }

    /// Decides which store a new object goes to.
    public func assign(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject else {
            preconditionFailure("only a managed object can be assigned to a store")
        }
        do {
            try core.assign(object, to: store.core)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    // MARK: Changes

    /// Takes the last step back.
    public func undo() { settings.undoManager?.undo() }

    /// Does again what was taken back last.
    public func redo() { settings.undoManager?.redo() }
}
