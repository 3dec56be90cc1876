// How the objects of a list that follows are ordered: as a fetch orders them.
//
// An object keeps what it was sorted by when it came to its place. So a place is found by few comparisons of what is kept,
// whatever has become of the objects meanwhile.
//
// Threads: a value.

import CairnModel
import CairnStore

/// What a list knows of one of its objects.
struct ListedObject {
    let id: ObjectID
    /// What it is sorted by.
    let keys: [Value]
    /// The name of its section; nil if there are none.
    let section: String?
    /// The object itself, if the list keeps it.
    var object: ManagedObject?
}

/// The order of a list.
struct ListOrder {
    private let sort: [SortPath]
    /// How often two objects were compared.
    private(set) var comparisons = 0

    init(_ sort: [SortPath]) { self.sort = sort }

    /// Whether one object comes before another.
    mutating func precedes(
        _ left: [Value], _ leftID: ObjectID, _ right: [Value], _ rightID: ObjectID
    ) -> Bool {
        comparisons += 1
        return sort.precedes(left, right) ?? (SortingOrder.compare(leftID, rightID) < 0)
    }

    /// Whether two objects are sorted by the same values.
    func areEqual(_ left: [Value], _ right: [Value]) -> Bool {
        sort.indices.allSatisfy { SortingOrder.compare(left[$0], right[$0]) == 0 }
    }
}
