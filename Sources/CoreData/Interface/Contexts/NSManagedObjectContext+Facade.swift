// What contexts behind speak of, with Core Data's types.
//
// Threads: the context's queue.

import CairnModel
import CairnObjects

extension NSManagedObjectContext {
    /// An id of one of its objects.
    func facadeID(_ id: ObjectID) -> NSManagedObjectID {
        NSManagedObjectID(
            id, entity: made?.registeredObject(for: id)?.entity, in: persistentStoreCoordinator)
    }

    /// The object of an id, read only if somebody looks at it; nil for one of no store.
    func facadeObject(_ id: ObjectID) -> NSManagedObject? {
        if let known = core.registeredObject(for: id) { return Self.object(known) }
        if id.isTemporary || persistentStoreCoordinator?.rootEntity(of: id) == nil { return nil }
        return Self.object(core.object(with: id))
    }

    /// Values of a row, with ids of this module.
    func facadeValues(_ values: [String: Any]) -> [String: Any] {
        values.mapValues { ($0 as? ObjectID).map(facadeID) ?? $0 }
    }
}
