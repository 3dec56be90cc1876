// A way to the rows of a fetch through one fetch index.
//
// Threads: a value; the state is pinned by whoever made it.

import CairnModel
import CairnStore

struct IndexPath {
    let view: FetchIndexView
    /// The entries that hold every match, in rising order and without overlap.
    let ranges: [IndexRange]
    /// How many there are.
    let count: Int
    /// Which members of the predicate the ranges answer.
    let answered: Set<Int>
    /// Whether all entries of the ranges meet those members.
    let isExact: Bool
    /// How many of the index's elements have one value in all entries.
    let fixed: Int
    /// The values of all elements, if each has one.
    let equal: [Value]?
    /// What it looks for, for people.
    let conditions: [PlanName.Condition]

    /// What it is called in a plan.
    var name: PlanName.Index {
        PlanName.Index(definition: view.definition, conditions: conditions)
    }

    /// The direction in which the index gives a sort order, and rows that are equal in it by number; nil if it does not.
    func direction(for sort: [SortKey]) -> OrderedCursor.Direction? {
        guard ranges.count <= 1, !sort.isEmpty else { return nil }
        let index = view.definition
        let fixedNames = Set(index.names.prefix(fixed))
        let keys = sort.filter { !fixedNames.contains($0.key) }
        // An index has texts in the order of their bytes.
        guard keys.allSatisfy({ $0.comparison == .binary }) else { return nil }
        // What comes behind in the index would order rows that are equal.
        guard keys.count == index.parts.count - fixed else { return nil }
        if keys.isEmpty { return .forward }
        var isForward: Bool?
        for (key, place) in zip(keys, fixed...) {
            guard key.key == index.names[place] else { return nil }
            let matches = key.isAscending == index.parts[place].isAscending
            if isForward == nil { isForward = matches }
            if isForward != matches { return nil }
        }
        return isForward == true ? .forward : .backwardByKeys
    }
}
