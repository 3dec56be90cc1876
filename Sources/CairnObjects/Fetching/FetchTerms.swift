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

    init(entityName: String, predicate: PredicateNode?) {
        self.entityName = entityName
        self.predicate = predicate
    }
}
