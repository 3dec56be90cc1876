// A query on a snapshot.

public import CairnModel
public import FoundationEssentials

/// Which objects to fetch, in which order, and whether with their values. The result contains all of them at once: use a
/// ``StoreRead`` for very many rows.
public struct StoreFetch: Sendable {
    /// The entity, as an index of the schema.
    public var entity: Int
    /// Whether the entity's descendants are included.
    public var includesSubentities = true
    /// The condition; its keys and values must fit the entity.
    public var predicate: PredicateNode?
    /// How the condition treats nil. In a table this also applies to the condition on groups and to conditions in
    /// expressions.
    ///
    /// ```swift
    /// var fetch = StoreFetch(entity: 0, predicate: .compare("price", .notEqual, .double(5)))
    /// fetch.nullSemantics = .sql    // without the objects whose price is nil
    /// ```
    ///
    /// A custom store implements it by binding the condition with it: `bound(to:in:nullSemantics:)`.
    public var nullSemantics = NullSemantics.twoValued
    /// The sort order. Objects that are equal in it are sorted by id.
    public var sort: [SortKey] = []
    /// The maximum number of results; nil = all.
    public var limit: Int?
    /// How many results to skip first.
    public var offset = 0
    /// The stores of a coordinator to fetch from, by their identifiers; nil = all.
    public var affectedStores: [UUID]?
    /// Whether to include the rows with their values.
    public var includesRows = false
    /// Called between blocks while the store reads, on every thread that reads: when it returns true, the store throws
    /// `StoreError` with `.cancelled`. Nil: the fetch cannot be cancelled.
    public var isCancelled: (@Sendable () -> Bool)?

    /// Fetches all objects of an entity.
    public init(entity: Int, predicate: PredicateNode? = nil) {
        self.entity = entity
        self.predicate = predicate
    }
}

extension StoreFetch {
    /// The same fetch with a condition that says in two values what it says.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the key or the part that does not fit.
    package func inTwoValues(in schema: Schema) throws(StoreError) -> StoreFetch {
        guard nullSemantics == .sql else { return self }
        var fetch = self
        fetch.nullSemantics = .twoValued
        // Whoever answers refuses an entity that is none.
        guard let condition = predicate, schema.entities.indices.contains(entity) else {
            return fetch
        }
        let description = schema.entities[entity]
        do throws(PredicateFormatError) {
            fetch.predicate = try condition.boundForStore(
                to: description, in: schema, nullSemantics: .sql)
        } catch {
            throw StoreError(error, entity: description)
        }
        return fetch
    }
}

/// The result of a `StoreFetch`.
public struct StoreFetchResult: Sendable {
    /// The objects, in order.
    public var ids: [ObjectID]
    /// Their rows in the same order, if requested; otherwise empty.
    public var rows: [Row]
    /// The query plan as text: an index or a scan. It is formatted on access.
    public var plan: String { words() }

    private let words: @Sendable () -> String

    /// Creates a result. The plan is formatted on access.
    public init(
        ids: [ObjectID], rows: [Row], plan: @autoclosure @escaping @Sendable () -> String
    ) {
        self.ids = ids
        self.rows = rows
        words = plan
    }
}
