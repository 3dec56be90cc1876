// An event for a request that read something.

public import CairnModel

/// A context executed a request, in its store and over its changed objects.
public struct FetchEvent: Sendable {
    /// What was read.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Objects, with their rows.
        case objects
        /// Ids of objects.
        case objectIDs
        /// The number of objects.
        case count
        /// Rows with values.
        case values
        /// Rows of a lazy fetch.
        case batch
        /// Rows of the destination of a relationship, or members and their rows: one step of a key path.
        case prefetch
    }

    /// The request.
    public struct Request: Sendable, Hashable {
        /// The entity's name.
        public var entity: String
        /// Which objects; nil = all.
        public var predicate: PredicateNode?
        /// The null semantics of ``predicate`` and ``having``.
        public var nullSemantics = NullSemantics.twoValued
        /// The sort order.
        public var sort: [SortKey] = []
        /// The maximum number of results; nil = all.
        public var limit: Int?
        /// How many results to skip first.
        public var offset = 0
        /// The names of the values to read; empty for objects.
        public var properties: [String] = []
        /// What the rows are grouped by.
        public var groupedBy: [String] = []
        /// The condition on groups; nil = all.
        public var having: PredicateNode?
        /// Whether rows are distinct.
        public var isDistinct = false
        /// The relationships to prefetch.
        public var prefetchedKeyPaths: [String] = []

        /// A request for all objects of an entity.
        public init(entity: String) { self.entity = entity }

        /// The request as text.
        ///
        /// - Parameter showsValues: whether to include the values that the predicate compares with: they can be users'
        ///   data.
        public func text(showsValues: Bool) -> String {
            var text = properties.isEmpty ? "" : properties.joined(separator: ", ") + " of "
            if isDistinct { text = "distinct " + text }
            text += entity
            if let predicate {
                text += " where \(showsValues ? predicate : predicate.withoutValues)"
            }
            if !groupedBy.isEmpty { text += " grouped by \(groupedBy.joined(separator: ", "))" }
            if let having { text += " having \(showsValues ? having : having.withoutValues)" }
            if nullSemantics == .sql { text += " with SQL nulls" }
            if !sort.isEmpty {
                text += " sorted by \(sort.map(\.outline).joined(separator: ", "))"
            }
            if let limit { text += " limit \(limit)" }
            if offset > 0 { text += " offset \(offset)" }
            return text
        }
    }

    /// What was read.
    public let kind: Kind
    /// The request.
    public let request: Request
    /// For a prefetch: the key path from the objects of the request to those that were read.
    public let keyPath: String?
    /// The number of objects, ids or rows; for a count, the count.
    public let count: Int
    /// The duration, including prefetching.
    public let duration: Duration
    /// Whether it was asynchronous.
    public let isAsynchronous: Bool
    /// The name of the context.
    public let contextName: String?
    /// The error, if any.
    public let error: StoreError?
    /// What the store was asked, and in which state.
    private let question: (asked: StoreQuestion, snapshot: any StoreSnapshot)?

    package init(
        _ kind: Kind, _ request: Request, keyPath: String? = nil, count: Int, duration: Duration,
        isAsynchronous: Bool = false, contextName: String?, error: StoreError? = nil,
        question: (asked: StoreQuestion, snapshot: any StoreSnapshot)? = nil
    ) {
        self.kind = kind
        self.request = request
        self.keyPath = keyPath
        self.count = count
        self.duration = duration
        self.isAsynchronous = isAsynchronous
        self.contextName = contextName
        self.error = error
        self.question = question
    }

    /// The store's query plan for this request: index or scan, groups, sort, rows and blocks. Nil if objects were
    /// requested by id, or if there is no result.
    ///
    /// The store executes the request again in the same state: see ``StoreSnapshot/explain(_:)-(StoreFetch)``. An event
    /// that you keep retains that state.
    ///
    /// - Throws: As the request.
    public func plan() throws(StoreError) -> QueryPlan? {
        guard let question, error == nil else { return nil }
        return try question.asked.plan(of: question.snapshot)
    }
}
