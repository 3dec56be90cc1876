// Deletes many objects as one unit, without loading them.

public import CairnModel

/// A batch delete: the objects that a fetch finds, or those of a list of ids.
///
/// The delete rules of the model are applied by the store: nullify clears what points at a deleted object,
/// cascade deletes on, deny refuses the whole request. What stands against it is found before anything is deleted, and all of
/// it is told: each object that cannot be deleted with the relationship, and as the value the object that is in it.
public struct BatchDeleteRequest: Sendable {
    /// Which objects.
    public enum Target: Sendable {
        /// Those that a fetch finds; its sort order, limit and offset are respected.
        case fetch(StoreFetch)
        /// Those with these ids; ids that do not exist are passed over.
        case ids([ObjectID], entity: Int)
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

    /// Deletes objects.
    public init(_ target: Target) {
        self.target = target
    }

    /// Deletes objects of an entity and its descendants.
    public init(entityName: String, predicate: PredicateNode? = nil) {
        self.init(.matching(predicate, entityName: entityName))
    }

    /// The same request with a fetch in place of a condition: what every store begins with.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if the request cannot be carried out in a schema.
    package func resolved(in schema: Schema) throws(StoreError) -> BatchDeleteRequest {
        if let refusal { throw refusal }
        guard case .matching(let predicate, let name) = target else { return self }
        guard let entity = schema.entity(named: name) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: name))
        }
        var fetch = StoreFetch(entity: entity.index)
        do throws(PredicateFormatError) {
            fetch.predicate = try predicate?.boundForStore(
                to: entity, in: schema, nullSemantics: .twoValued)
        } catch {
            throw StoreError(error, entity: entity)
        }
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
