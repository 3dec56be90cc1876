// How the objects of a list that follows are ordered: as a fetch orders them.
//
// An object keeps what it was sorted by when it came to its place. So a place is found by few comparisons of what is kept,
// whatever has become of the objects meanwhile.
//
// Threads: a value.

import CairnModel

/// What a list knows of one of its objects.
struct ListedObject {
    let id: ObjectID
    /// What it is sorted by.
    let keys: ContiguousArray<Value>
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
        _ left: ContiguousArray<Value>, _ leftID: ObjectID,
        _ right: ContiguousArray<Value>, _ rightID: ObjectID
    ) -> Bool {
        comparisons += 1
        for index in sort.indices {
            if let precedes = sort[index].precedes(left[index], right[index]) { return precedes }
        }
        return SortingOrder.compare(leftID, rightID) < 0
    }

    /// Whether two objects are sorted by the same values.
    func areEqual(_ left: ContiguousArray<Value>, _ right: ContiguousArray<Value>) -> Bool {
        sort.indices.allSatisfy { SortingOrder.compare(left[$0], right[$0]) == 0 }
    }
}
