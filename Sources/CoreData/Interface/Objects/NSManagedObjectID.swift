// The identity of an object.
//
// Threads: any.

package import CairnModel
public import Foundation

/// The identity of a managed object: equal for one object in all contexts, and safe to pass between them.
public final class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, Sendable {
    /// The id that this one stands for.
    package let core: ObjectID
    /// The entity; of an id without its object, the root of its hierarchy.
    private let schemaEntity: SchemaEntity?
    /// The coordinator that it was made in; nil outside any.
    private nonisolated(unsafe) weak var coordinator: NSPersistentStoreCoordinator?
    // Set once, by the initializer; a weak reference can be read by any thread.

    package init(
        _ core: ObjectID, entity: SchemaEntity?, in coordinator: NSPersistentStoreCoordinator?
    ) {
        self.core = core
        schemaEntity = entity
        self.coordinator = coordinator
    }

    /// The entity of the object.
    public var entity: NSEntityDescription {
        guard let schemaEntity = schemaEntity ?? coordinator?.rootEntity(of: core) else {
            preconditionFailure("the id \(core) is of no store of the coordinator")
        }
        return NSEntityDescription.standing(for: schemaEntity)
    }

    /// The store that the object is in; nil if the id is temporary, or the store was removed.
    public var persistentStore: NSPersistentStore? { coordinator?.persistentStore(of: core) }

    /// Whether the object has not been saved, nor been given a permanent id.
    public var isTemporaryID: Bool { core.isTemporary }

    /// The id as a URI, from which ``NSPersistentStoreCoordinator/managedObjectID(forURIRepresentation:)`` makes it again.
    public func uriRepresentation() -> URL { core.uriRepresentation }

    public override func isEqual(_ other: Any?) -> Bool {
        (other as? NSManagedObjectID)?.core == core
    }

    public override var hash: Int { core.hashValue }

    public override var description: String { "\(uriRepresentation())" }

    /// The id itself, which does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }
}
