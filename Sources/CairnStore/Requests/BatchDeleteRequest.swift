// Deletes many objects atomically, without loading them.

public import CairnModel
public import FoundationEssentials

/// A batch delete of the objects that a fetch matches, or of a list of ids.
///
/// The store applies the model's delete rules: nullify clears references to a deleted object, cascade deletes its
/// targets, deny rejects the whole request. Violations are detected before anything is deleted, and all are reported:
/// with `.deleteDenied`, each object that cannot be deleted, with the relationship, and as the value the object in it;
/// with `.missingMandatory`, each object whose required relationship would become nil, with the relationship, and as
/// the value the object that cannot be deleted. If there are both, the error is `.multiple`. At most a hundred of each
/// are listed.
public struct BatchDeleteRequest: Sendable {
    /// Which objects to delete.
    public enum Target: Sendable {
        /// Those that a fetch returns. Its sort order, limit and offset apply.
        case fetch(StoreFetch)
        /// Those with these ids. Ids that do not exist are ignored.
        case ids([ObjectID], entity: Int)
        /// Those with these ids, all of one hierarchy. Ids that do not exist are ignored.
        case objectIDs([ObjectID])
        /// Those of an entity and its descendants that match a condition; nil = all.
        case matching(PredicateNode?, entityName: String)
    }
    /// What the result should contain.
    public enum ResultType: Int, Sendable {
        /// Only success.
        case statusOnly = 0
        /// The ids of the deleted objects.
        case objectIDs = 1
        /// How many objects were deleted.
        case count = 2
    }
    /// Which objects to delete.
    public var target: Target
    /// The null semantics of the condition of ``Target/matching(_:entityName:)``.
    public var nullSemantics = NullSemantics.twoValued
    /// Whether objects of the entity's descendants can match too. Delete rules reach them in any case.
    public var includesSubentities = true
    /// The sort order to which limit and offset apply.
    public var sortDescriptors: [SortKey] = []
    /// The maximum number of objects that match; 0 = all.
    public var fetchLimit = 0
    /// How many objects that match to skip first.
    public var fetchOffset = 0
    /// The stores of a coordinator from which to delete objects, by their identifiers. Objects in other stores are not
    /// deleted, even if they match or their ids are listed. Nil = all writable stores. A store that is not listed rejects
    /// the request, and so does a coordinator that lacks one of the listed stores.
    public var affectedStores: [UUID]?
    /// What the result should contain.
    public var resultType = ResultType.statusOnly
    /// Whether the result contains the ids.
    public var reportsIDs: Bool {
        get { resultType == .objectIDs }
        set { resultType = newValue ? .objectIDs : .statusOnly }
    }
    /// The author.
    public var author: String?
    /// The name of the context that executes the request.
    public var contextName: String?

    /// Why the request cannot be carried out, if that was known when it was made.
    package var refusal: StoreError?

    /// The stores that the request names, itself or by its fetch; nil = any.
    package var namedStores: [UUID]? {
        guard case .fetch(let fetch) = target, let asked = fetch.affectedStores else {
            return affectedStores
        }
        return affectedStores.map { $0.filter(asked.contains) } ?? asked
    }

    /// Refuses the request for a store that it does not name.
    package func checkAsks(_ store: StoreIdentity) throws(StoreError) {
        let entity: String? = if case .matching(_, let name) = target { name } else { nil }
        try store.checkIsAsked(by: namedStores, entity: entity)
    }

    /// Deletes objects.
    public init(_ target: Target) {
        self.target = target
    }

    /// Deletes objects of an entity and its descendants.
    public init(entityName: String, predicate: PredicateNode? = nil) {
        self.init(.matching(predicate, entityName: entityName))
    }

    /// Deletes objects by their ids, which belong to one hierarchy.
    public init(objectIDs: [ObjectID]) { self.init(.objectIDs(objectIDs)) }

    /// The same request with a fetch in place of a condition, and an entity beside ids: what every store begins with.
    ///
    /// - Parameter entity: the index of an entity of an id's hierarchy, in whichever store that is; nil if there is none.
    /// - Throws: `StoreError` with `.invalidRequest` if the request cannot be carried out in a schema.
    package func resolved(in schema: Schema, entity: (ObjectID) -> Int?) throws(StoreError)
        -> BatchDeleteRequest
    {
        if let refusal { throw refusal }
        switch target {
        case .fetch, .ids: return self
        case .objectIDs(let ids):
            var request = self
            request.target = .ids(ids, entity: try root(of: ids, in: schema, entity) ?? 0)
            return request
        case .matching(let predicate, let name): return try resolved(predicate, name, in: schema)
        }
    }

    /// The root of the hierarchy that all ids are of; nil if there are none.
    private func root(
        of ids: [ObjectID], in schema: Schema, _ entity: (ObjectID) -> Int?
    ) throws(StoreError) -> Int? {
        var root: Int?
        for id in ids {
            guard !id.isTemporary, let own = entity(id).map({ schema.entities[$0].root }) else {
                throw StoreError(
                    .foreignObject,
                    "the id does not belong to a store of the request",
                    context: .init(objectID: id))
            }
            guard root ?? own == own else {
                throw StoreError(
                    .invalidRequest,
                    "all ids of a request must belong to the same entity hierarchy",
                    context: .init(entity: schema.entities[own].name, objectID: id))
            }
            root = own
        }
        return root
    }

    private func resolved(_ predicate: PredicateNode?, _ name: String, in schema: Schema)
        throws(StoreError) -> BatchDeleteRequest
    {
        guard let entity = schema.entity(named: name) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: name))
        }
        var fetch = StoreFetch(entity: entity.index)
        do throws(PredicateFormatError) {
            fetch.predicate = try predicate?.boundForStore(
                to: entity, in: schema, nullSemantics: nullSemantics)
        } catch {
            throw StoreError(error, entity: entity)
        }
        fetch.includesSubentities = includesSubentities
        fetch.sort = sortDescriptors
        fetch.limit = fetchLimit > 0 ? fetchLimit : nil
        fetch.offset = max(0, fetchOffset)
        fetch.affectedStores = affectedStores
        var request = self
        request.target = .fetch(fetch)
        return request
    }
}

/// The result of a batch delete.
public struct BatchDeleteResult: Sendable {
    /// The number of matching objects that were deleted, without those that a cascade deleted.
    public var deletedCount = 0
    /// The number of additional objects that a cascade deleted.
    public var cascadedCount = 0
    /// The ids of all deleted objects, if requested.
    public var objectIDs: [ObjectID] = []
    /// The number of the commit; nil if there was nothing to delete.
    public var commit: UInt64?

    /// An empty result.
    public init() {}
}
