// An access path for a fetch through one fetch index, with the constants of the fetch.
//
// Threads: a value; the state is pinned by whoever made it.

struct IndexPath {
    /// An index into the outline's `ways`.
    let way: Int
    /// The ranks of the entries that hold every match: one range, or those of a list in any order and without overlap.
    let ranks: Range<Int>
    let list: [Range<Int>]?
    /// How many entries that is.
    let count: Int
    /// Which terms of the predicate they answer.
    let answered: PlanOutline.TermSet
    /// Whether all entries meet those terms.
    let isExact: Bool
    /// How many values are listed, each once; nil if no list is looked up.
    let listed: Int?

    /// The only range; nil if there are several or none.
    var onlyRange: Range<Int>? {
        guard let list else { return ranks }
        return list.count == 1 ? list[0] : nil
    }

    /// Whether it has no range at all.
    var isNothing: Bool { list?.isEmpty == true }
}
