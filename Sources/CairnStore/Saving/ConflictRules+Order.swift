// The order of an ordered to-many relationship that two sides have changed.
//
//   who is a member     is decided before: both sides' additions and removals hold
//   only one reordered  that one's order
//   both reordered      the order of the side that the policy lets win
//   members that the winner does not know come behind his, in the order that they have among themselves
//
// Nobody's attributes are in conflict because of an order.

extension ConflictRules {
    /// The order of a list after a save.
    ///
    /// - Parameters:
    ///   - members: the order of the save: all members; without `base` only the members to append.
    ///   - base: the original order before the save's changes, if it changed the order.
    ///   - now: the members after the save: the stored ones in stored order, followed by the new ones.
    ///   - arrivals: how many of `now` are new.
    ///   - policy: which side wins; nil if the save's conflicts have been resolved already.
    public static func mergedOrder<Member: Hashable>(
        members: [Member], base: [Member]?, now: [Member], arrivals: Int, _ policy: MergePolicyKind?
    ) -> [Member] {
        let present = Set(now)
        var wanted = members.filter(present.contains)
        guard let base else {
            let last = Set(wanted)
            return now.filter { !last.contains($0) } + wanted
        }
        if policy == .mergeByPropertyStoreTrump || policy == .rollback {
            let stored = now.dropLast(arrivals)
            let common = Set(base).intersection(stored)
            let isReordered = !stored.lazy.filter(common.contains)
                .elementsEqual(base.lazy.filter(common.contains))
            if isReordered {
                let kept = Set(stored)
                wanted = stored + wanted.filter { !kept.contains($0) }
            }
        }
        let known = Set(wanted)
        return wanted + now.filter { !known.contains($0) }
    }
}
