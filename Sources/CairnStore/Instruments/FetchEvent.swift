// What was read by a request.

public import CairnModel

/// A request of a context was answered: by its store, and by what is changed in the context.
public struct FetchEvent: Sendable {
    /// What was read.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Objects, with their rows.
        case objects
        /// Ids of objects.
        case objectIDs
        /// How many there are.
        case count
        /// Rows of values.
        case values
        /// Rows of a lazy fetch.
        case batch
        /// Rows, or members and their rows, that a relationship leads to: one step of a key path.
        case prefetch
    }

    /// What the request says.
    public struct Request: Sendable, Hashable {
        /// The entity's name.
        public var entity: String
        /// Which objects; nil = all.
        public var predicate: PredicateNode?
        /// What ``predicate`` and ``having`` say of nil.
        public var nullSemantics = NullSemantics.twoValued
        /// The order.
        public var sort: [SortKey] = []
        /// The greatest number of results; nil = all.
        public var limit: Int?
        /// How many results are left out first.
        public var offset = 0
        /// The names of the values that are read; empty if objects are.
        public var properties: [String] = []
        /// What the values of one row are grouped by.
        public var groupedBy: [String] = []
        /// Which groups are wanted; nil = all.
        public var having: PredicateNode?
        /// Whether of rows that are equal only the first is wanted.
        public var isDistinct = false
        /// The relationships that are read along with them.
        public var prefetchedKeyPaths: [String] = []

        /// A request for all objects of an entity.
        public init(entity: String) { self.entity = entity }

        /// The request in words.
        ///
        /// - Parameter showsValues: whether the values that the predicate compares with are shown: they may be data of users.
        public func text(showsValues: Bool) -> String {
            var text = properties.isEmpty ? "" : properties.joined(separator: ", ") + " of "
            if isDistinct { text = "distinct " + text }
            text += entity
            if let predicate {
                text += " where \(showsValues ? predicate : predicate.withoutValues)"
            }
            if !groupedBy.isEmpty { text += " grouped by \(groupedBy.joined(separator: ", "))" }
            if let having { text += " having \(showsValues ? having : having.withoutValues)" }
            if nullSemantics == .sql { text += " with the nil of SQL" }
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
    /// What was asked for.
    public let request: Request
    /// Of a prefetch: the path from the objects of the request to those that were read.
    public let keyPath: String?
    /// How many objects, ids or rows there were; of a count, the count.
    public let count: Int
    /// How long it took, what was read ahead along with it included.
    public let duration: Duration
    /// Whether it ran beside the caller.
    public let isAsynchronous: Bool
    /// The name of the context.
    public let contextName: String?
    /// What went wrong, if anything did.
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

    /// How the store answers such a request: by an index or a scan, with groups and a sort or without, over how many rows and
    /// blocks. Nil where objects were asked for by their ids, and where there is no answer.
    ///
    /// The store does it once more for that, as ``StoreSnapshot/explain(_:)`` says, in the state in which it was asked. An
    /// event that is kept keeps that state.
    ///
    /// - Throws: As the request.
    public func plan() throws(StoreError) -> QueryPlan? {
        guard let question, error == nil else { return nil }
        return try question.asked.plan(of: question.snapshot)
    }
}
