// How a store identifies its objects.

public import CairnModel
public import FoundationEssentials

/// A store's identifier, and the hierarchy number of each entity.
///
/// Hierarchy numbers do not change with the model; a schema's indexes do.
public struct StoreIdentity: Sendable {
    /// The store's identifier.
    public let identifier: UUID
    /// For each entity, by its index in the schema: the number of its hierarchy.
    public let hierarchies: [UInt32]
    /// What stands for the store in temporary ids, for those whose rows can lead to objects that no store knows yet.
    package var temporaryStore: UUID?

    /// Creates the identity of a store.
    public init(identifier: UUID, hierarchies: [UInt32]) {
        self.identifier = identifier
        self.hierarchies = hierarchies
        temporaryStore = nil
    }

    /// The id of the object with a number in the hierarchy of an entity.
    public func id(_ reference: UInt64, entity: Int) -> ObjectID {
        // No store has so many objects: behind a coordinator the upper half says which store it is.
        if reference >> 32 != 0, let store = StoreNumbers.identity(of: reference) {
            return ObjectID(
                store: store.identifier, hierarchy: store.hierarchies[entity],
                reference: reference & StoreNumbers.mask)
        }
        return ObjectID(store: identifier, hierarchy: hierarchies[entity], reference: reference)
    }

    /// The bit of a reference's word that says that the number is one of a temporary id. Rows of a store never have it, and no
    /// number of a store behind a coordinator is so great.
    package static let temporaryMark: UInt64 = 1 << 63

    /// The id that a reference's word stands for, which may be a temporary one.
    func target(_ word: UInt64, entity: Int) -> ObjectID {
        guard word & Self.temporaryMark != 0, let temporaryStore else {
            return id(word, entity: entity)
        }
        return ObjectID(
            temporary: word & ~Self.temporaryMark, hierarchy: hierarchies[entity],
            context: temporaryStore)
    }

    /// An entity of the hierarchy of a stored object, as an index of the schema; nil if the id is of another store.
    package func entity(of id: ObjectID) -> Int? {
        guard !id.isTemporary, id.store == identifier else { return nil }
        return hierarchies.firstIndex(of: id.hierarchy)
    }

    /// Refuses a request for some stores if this is none of them.
    ///
    /// - Parameter stores: the identifiers of the stores that the request names; nil = any.
    /// - Throws: `StoreError` with `.invalidRequest`.
    package func checkIsAsked(by stores: [UUID]?, entity: String? = nil) throws(StoreError) {
        guard let stores, !stores.contains(identifier) else { return }
        throw StoreError(
            .invalidRequest, "the request is for other stores",
            context: .init(entity: entity))
    }

    /// Whether an id is a permanent id of this store in the hierarchy of an entity.
    public func owns(_ id: ObjectID, entity: Int) -> Bool {
        !id.isTemporary && id.hierarchy == hierarchies[entity] && id.store == identifier
    }
}
