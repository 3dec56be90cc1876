// Matches partners for a one-to-one relationship whose old links may refer to several objects.
//
// Links that are known from both sides come first, then the others, each in the order of the objects and of their members; each
// one stays whose ends have no partner yet.
//
// Invariants: RL2: whoever is led to leads back.
// Threads: a value.

import CairnModel

struct OneToOneMatch {
    /// A to-one relationship, by its declaration.
    struct Side: Hashable {
        let entity: Int
        let column: Int
    }

    /// By object at this side: the one at the other.
    private(set) var forth: [UInt32: UInt32] = [:]
    /// By object at the other side: the one at this.
    private(set) var back: [UInt32: UInt32] = [:]

    /// Matches the links of either side: the object above, where it leads to below.
    ///
    /// - Parameter isOwnInverse: whether both sides are the same relationship, so that nobody has a partner at each.
    init(_ forth: [UInt64], _ back: [UInt64], isOwnInverse: Bool) {
        let known = Set(back)
        for link in forth where known.contains(Self.turned(link)) { add(link, isOwnInverse) }
        for link in forth { add(link, isOwnInverse) }
        for link in back { add(Self.turned(link), isOwnInverse) }
    }

    private mutating func add(_ link: UInt64, _ isOwnInverse: Bool) {
        let here = UInt32(truncatingIfNeeded: link >> 32)
        let there = UInt32(truncatingIfNeeded: link)
        guard forth[here] == nil, back[there] == nil else { return }
        if isOwnInverse {
            guard forth[there] == nil else { return }
            (forth[here], forth[there]) = (there, here)
            (back[here], back[there]) = (there, here)
        } else {
            forth[here] = there
            back[there] = here
        }
    }

    /// The same link from its other end.
    static func turned(_ link: UInt64) -> UInt64 { link << 32 | link >> 32 }

    /// The two sides of a to-one relationship whose inverse is to-one; nil of any other.
    static func sides(ofColumn column: Int, of entity: Int, _ schema: Schema)
        -> (here: Side, there: Side)?
    {
        guard let index = schema.entities[entity].columns[column].relationship else { return nil }
        let relationship = schema.entities[entity].relationships[index]
        guard let inverse = relationship.inverse else { return nil }
        let other = schema.entities[relationship.destination].relationships[inverse]
        guard case .column(let back) = other.storage else { return nil }
        return (
            Side(entity: relationship.declaringEntity, column: column),
            Side(entity: other.declaringEntity, column: back)
        )
    }
}
