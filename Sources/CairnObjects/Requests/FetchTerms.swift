// What a fetch request says, whatever the class of its results: see `FetchRequest` for each part.

import CairnModel

/// The parts of a fetch request.
struct FetchTerms: Sendable, Hashable {
    var entityName: String
    var predicate: PredicateNode?
    var sortDescriptors: [SortKey] = []
    var fetchLimit = 0
    var fetchOffset = 0
    var includesSubentities = true
    var includesPendingChanges = true
    var returnsObjectsAsFaults = true
    /// What few requests say, in one box: requests are copied often. Nil if it says nothing.
    private(set) var box: Box?

    init(entityName: String, predicate: PredicateNode?) {
        self.entityName = entityName
        self.predicate = predicate
    }

    /// What conditions say of nil.
    var nullSemantics: NullSemantics { box?.terms.nullSemantics ?? .twoValued }

    /// What few requests say.
    var rarer: RarerFetchTerms {
        get { box?.terms ?? RarerFetchTerms() }
        set { box = newValue == RarerFetchTerms() ? nil : Box(newValue) }
    }

    final class Box: Sendable, Hashable {
        let terms: RarerFetchTerms

        init(_ terms: RarerFetchTerms) { self.terms = terms }

        static func == (left: Box, right: Box) -> Bool {
            left === right || left.terms == right.terms
        }

        func hash(into hasher: inout Hasher) { hasher.combine(terms) }
    }
}

/// The parts of a fetch request that few have.
struct RarerFetchTerms: Sendable, Hashable {
    var propertiesToFetch: [PropertyToFetch] = []
    var propertiesToGroupBy: [PropertyToFetch] = []
    var havingPredicate: PredicateNode?
    var nullSemantics = NullSemantics.twoValued
    var returnsDistinctResults = false
    var relationshipKeyPathsForPrefetching: [String] = []
    var fetchBatchSize = 0
    var includesPropertyValues = true
    var shouldRefreshRefetchedObjects = false
    var affectedStores: AffectedStores?
}
