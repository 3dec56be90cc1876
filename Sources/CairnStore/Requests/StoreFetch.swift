// A question to a snapshot.

public import CairnModel
public import FoundationEssentials

/// Which objects are wanted, in which order, and whether with their values. The answer holds all of them at once: to go through very
/// many rows, use a ``StoreRead``.
public struct StoreFetch: Sendable {
    /// The entity, as an index of the schema.
    public var entity: Int
    /// Whether the entity's descendants are included.
    public var includesSubentities = true
    /// The condition; its keys and values must fit the entity.
    public var predicate: PredicateNode?
    /// What the condition says of nil, and in a table also the one on groups and those in expressions.
    ///
    /// ```swift
    /// var fetch = StoreFetch(entity: 0, predicate: .compare("price", .notEqual, .double(5)))
    /// fetch.nullSemantics = .sql    // without the objects whose price is nil
    /// ```
    ///
    /// A store of your own follows it by binding the condition with it: `bound(to:in:nullSemantics:)`.
    public var nullSemantics = NullSemantics.twoValued
    /// The order; objects that are equal in it come by id.
    public var sort: [SortKey] = []
    /// The greatest number of results; nil = all.
    public var limit: Int?
    /// How many results are left out first.
    public var offset = 0
    /// The stores that are asked, by their identifiers, if there are several behind a coordinator; nil = all.
    public var affectedStores: [UUID]?
    /// Whether the rows are wanted with their values.
    public var includesRows = false
    /// Asked between blocks while the store reads, by every thread that does: when it returns true, the store throws
    /// `StoreError` with `.cancelled`. Nil: nobody can cancel.
    public var isCancelled: (@Sendable () -> Bool)?

    /// Asks for all objects of an entity.
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

/// The answer to a `StoreFetch`.
public struct StoreFetchResult: Sendable {
    /// The objects, in order.
    public var ids: [ObjectID]
    /// Their rows in the same order, if they were asked for; else empty.
    public var rows: [Row]
    /// How the answer was found, for people: an index or a scan. Put into words when it is asked.
    public var plan: String { words() }

    private let words: @Sendable () -> String

    /// An answer. How it was found is asked when somebody wants to know.
    public init(
        ids: [ObjectID], rows: [Row], plan: @autoclosure @escaping @Sendable () -> String
    ) {
        self.ids = ids
        self.rows = rows
        words = plan
    }
}
