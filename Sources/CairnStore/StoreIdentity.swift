// How a store names its objects.

public import CairnModel
public import FoundationEssentials

/// A store's identifier, and the number of the hierarchy of each entity.
///
/// Hierarchy numbers stay when the model changes; indexes of a schema do not.
public struct StoreIdentity: Sendable {
    /// The store's identifier.
    public let identifier: UUID
    /// By entity index of the schema: the number of the hierarchy that the entity belongs to.
    public let hierarchies: [UInt32]

    /// Names a store.
    public init(identifier: UUID, hierarchies: [UInt32]) {
        self.identifier = identifier
        self.hierarchies = hierarchies
    }

    /// The id of the object with that number in the hierarchy of an entity.
    public func id(_ reference: UInt64, entity: Int) -> ObjectID {
        ObjectID(store: identifier, hierarchy: hierarchies[entity], reference: reference)
    }

    /// Whether the id is a permanent one of this store, in the hierarchy of an entity.
    public func owns(_ id: ObjectID, entity: Int) -> Bool {
        !id.isTemporary && id.hierarchy == hierarchies[entity] && id.store == identifier
    }
}
