// An access path for a fetch through one fetch index, with the constants of the fetch.
//
// Threads: a value; the state is pinned by whoever made it.

struct IndexPath {
    /// An index into the outline's `ways`.
    let way: Int
    /// The ranks of the entries that include every match: one range, or those of a list, unordered and
    /// without overlap.
    let ranks: Range<Int>
    let list: [Range<Int>]?
    /// The number of these entries.
    let count: Int
    /// The terms of the predicate that they satisfy.
    let answered: PlanOutline.TermSet
    /// Whether all entries satisfy those terms.
    let isExact: Bool
    /// The number of distinct values in a list; nil if no list is looked up.
    let listed: Int?

    /// The only range; nil if there are several or none.
    var onlyRange: Range<Int>? {
        guard let list else { return ranks }
        return list.count == 1 ? list[0] : nil
    }

    /// Whether it has no range.
    var isNothing: Bool { list?.isEmpty == true }
}
