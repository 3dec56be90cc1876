// Deletes many objects as one unit, without loading them.

public import CairnModel
public import FoundationEssentials

/// A batch delete: the objects that a fetch finds, or those of a list of ids.
///
/// The delete rules of the model are applied by the store: nullify clears what points at a deleted object,
/// cascade deletes on, deny refuses the whole request. What forbids it is found before anything is deleted, and all of
/// it is reported: with `.deleteDenied` each object that cannot be deleted with the relationship, and as the value the object that is
/// in it; with `.missingMandatory` each object that would be left with a mandatory relationship that is nil, with the relationship,
/// and as the value the object that cannot be deleted. If there are both, the error is `.multiple`. A hundred of each are listed.
public struct BatchDeleteRequest: Sendable {
    /// Which objects.
    public enum Target: Sendable {
        /// Those that a fetch finds; its sort order, limit and offset are respected.
        case fetch(StoreFetch)
        /// Those with these ids; ids that do not exist are passed over.
        case ids([ObjectID], entity: Int)
        /// Those with these ids, all of one hierarchy; ids that do not exist are passed over.
        case objectIDs([ObjectID])
        /// Those of an entity and its descendants that meet a condition; nil = all.
        case matching(PredicateNode?, entityName: String)
    }
    /// What the result should contain.
    public enum ResultType: Int, Sendable {
        /// Success alone.
        case statusOnly = 0
        /// The ids of the deleted objects.
        case objectIDs = 1
        /// How many objects were deleted.
        case count = 2
    }
    /// Which objects.
    public var target: Target
    /// What the condition of ``Target/matching(_:entityName:)`` says of nil.
    public var nullSemantics = NullSemantics.twoValued
    /// Whether of those that match objects of the entity's descendants are deleted as well. What a rule reaches always is.
    public var includesSubentities = true
    /// The order in which limit and offset of those that match count.
    public var sortDescriptors: [SortKey] = []
    /// The greatest number of those that match; 0 = all.
    public var fetchLimit = 0
    /// How many of those that match are left out first.
    public var fetchOffset = 0
    /// The stores from which objects are deleted, by their identifiers, if there are several behind a coordinator: of those that
    /// match, or that ids name, those in other stores stay. Nil = all that can be written. A store that is none of them refuses
    /// the request, as a coordinator does that lacks one of them.
    public var affectedStores: [UUID]?
    /// What the result should contain.
    public var resultType = ResultType.statusOnly
    /// Whether the result lists the ids.
    public var reportsIDs: Bool {
        get { resultType == .objectIDs }
        set { resultType = newValue ? .objectIDs : .statusOnly }
    }
    /// Who writes.
    public var author: String?
    /// The name of the context that asks.
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

    /// Deletes objects by their ids, which are of one hierarchy.
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
                    "the id does not belong to a store that the objects are deleted from",
                    context: .init(objectID: id))
            }
            guard root ?? own == own else {
                throw StoreError(
                    .invalidRequest,
                    "all ids of one request must be of objects of one entity hierarchy",
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

/// What a batch delete did.
public struct BatchDeleteResult: Sendable {
    /// How many objects the request named and deleted, without those that a cascade reached.
    public var deletedCount = 0
    /// How many more a cascade deleted.
    public var cascadedCount = 0
    /// The ids of all deleted objects, if they were asked for.
    public var objectIDs: [ObjectID] = []
    /// The number of the commit; nil if there was nothing to delete.
    public var commit: UInt64?

    /// An empty result.
    public init() {}
}
