// What an object knows of one of its to-many relationships: the stored members, once somebody asked for
// them, and what was added and removed since.
//
// Additions and removals can be noted while the stored members are unknown: then the last word counts, and
// what turns out to be no change is dropped when the members are read.
//
// Members that were read together with their rows are kept as their numbers, which cost nothing to make; ids are made of
// them when somebody compares some.
//
// Members of an ordered relationship are ids, and have an order besides.
//
// Invariants: `added` and `removed` are disjoint; where `stored` is known, `added` has none of it and
// `removed` only some of it.

import CairnModel
import CairnStore

/// The members of a to-many relationship.
struct ToManyState {
    /// The stored members; nil if they are unknown.
    private enum Stored {
        case unknown
        case ids(Set<ObjectID>)
        /// By rising numbers.
        case numbers([UInt64], RowOrigin)
    }

    private var known = Stored.unknown
    private(set) var added: Set<ObjectID> = []
    private(set) var removed: Set<ObjectID> = []
    /// The order of the members; nil if they have none.
    private(set) var order: MemberOrder?

    init(isOrdered: Bool = false) {
        if isOrdered { order = MemberOrder() }
    }

    /// Nothing but stored members of one hierarchy, by rising numbers.
    init(numbers: [UInt64], _ origin: RowOrigin) { known = .numbers(numbers, origin) }

    /// Nothing but stored members.
    init(_ members: Set<ObjectID>) { known = .ids(members) }

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || hasOrderChange }

    /// Whether an object was added or removed.
    func hasEdit(of id: ObjectID) -> Bool { added.contains(id) || removed.contains(id) }

    /// Whether the order is another one than the stored one with those at the end who came.
    var hasOrderChange: Bool {
        guard let order else { return false }
        // Who came back stands at the end, wherever he is stored.
        if !order.returned.isEmpty { return true }
        return order.isMoved && order.differs(isMember)
    }

    /// Whether an object is a member, as far as that is known. While the stored members are unknown, those of an order that
    /// somebody gave are members.
    private func isMember(_ id: ObjectID) -> Bool {
        if added.contains(id) { return true }
        return !removed.contains(id) && (hasStored(id) ?? (order?.isMoved == true))
    }

    /// Whether the stored members are known.
    var isLoaded: Bool { if case .unknown = known { false } else { true } }

    /// The numbers of the members, rising, if they are known so and nothing was added or removed.
    var numbers: [UInt64]? {
        if case .numbers(let numbers, _) = known, !hasChanges { numbers } else { nil }
    }

    private var stored: Set<ObjectID>? {
        get {
            switch known {
            case .unknown: nil
            case .ids(let ids): ids
            case .numbers(let numbers, let origin): Set(numbers.lazy.map { origin.id($0) })
            }
        }
        set { known = newValue.map(Stored.ids) ?? .unknown }
    }

    /// Whether an object is among the stored members; nil if they are unknown.
    private func hasStored(_ id: ObjectID) -> Bool? {
        switch known {
        case .unknown: return nil
        case .ids(let ids): return ids.contains(id)
        case .numbers(let numbers, let origin):
            var (low, high) = (0, numbers.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[middle] < id.reference { low = middle + 1 } else { high = middle }
            }
            return low < numbers.count && origin.id(numbers[low]) == id
        }
    }

    /// Whether any of some objects is among the stored members, as far as they are known.
    func hasStored(anyOf ids: Set<ObjectID>) -> Bool {
        switch known {
        case .unknown: false
        case .ids(let members): !members.isDisjoint(with: ids)
        case .numbers(let numbers, let origin):
            ids.count < numbers.count
                ? ids.contains { hasStored($0) == true }
                : numbers.contains { ids.contains(origin.id($0)) }
        }
    }

    /// How many members there are now; nil if the stored ones are unknown.
    var count: Int? {
        switch known {
        case .unknown: nil
        case .ids(let ids): ids.count - removed.count + added.count
        case .numbers(let numbers, _): numbers.count - removed.count + added.count
        }
    }

    /// Whether an object is a member now; nil if the stored ones are unknown.
    func contains(_ id: ObjectID) -> Bool? {
        if added.contains(id) { return true }
        return hasStored(id).map { $0 && !removed.contains(id) }
    }

    /// The members now; nil if the stored ones are unknown.
    var current: Set<ObjectID>? {
        stored.map { $0.subtracting(removed).union(added) }
    }

    mutating func load(_ members: Set<ObjectID>) {
        stored = members
        added.subtract(members)
        removed.formIntersection(members)
    }

    /// Keeps of what was added and removed what is still so. To be called before the members are read or reverted: their
    /// order is put right by that.
    mutating func keepEdits(isAdded: (ObjectID) -> Bool, isRemoved: (ObjectID) -> Bool) {
        added = added.filter(isAdded)
        removed = removed.filter(isRemoved)
    }

    /// An object was neither added nor removed, which is known from elsewhere; the stored members are unknown.
    mutating func forgetEdit(of id: ObjectID) {
        added.remove(id)
        removed.remove(id)
    }

    mutating func add(_ id: ObjectID) {
        if order != nil { return addInOrder(id) }
        removed.remove(id)
        if hasStored(id) != true { added.insert(id) }
    }

    mutating func remove(_ id: ObjectID) {
        added.remove(id)
        if hasStored(id) != false { removed.insert(id) }
        order?.remove()
    }

    /// Forgets the stored members; they are read again when somebody asks.
    mutating func unload() {
        if var order {
            order.unload(added: added, isMember)
            self.order = order
        }
        stored = nil
    }

    /// Forgets what was added and removed.
    mutating func revert() {
        added = []
        removed = []
        let isLoaded = isLoaded
        order?.revert(isLoaded: isLoaded)
    }

    /// What was added and removed is stored now, under these ids.
    mutating func commit(_ permanentIDs: [ObjectID: ObjectID]) {
        // Stored members that are known by their numbers have no other names.
        if numbers != nil { return }
        if var order {
            order.commit(isLoaded: isLoaded, permanentIDs, isMember)
            self.order = order
        }
        stored = current.map { members in
            permanentIDs.isEmpty ? members : Set(members.map { permanentIDs[$0] ?? $0 })
        }
        revert()
    }

    /// An object is no more.
    mutating func forget(_ gone: Set<ObjectID>) {
        if gone.isEmpty { return }
        switch known {
        case .unknown: break
        case .ids(var ids):
            known = .unknown
            ids.subtract(gone)
            known = .ids(ids)
        case .numbers(let numbers, let origin):
            // Mostly it is none of them, and they stay as they are.
            if hasStored(anyOf: gone) {
                known = .numbers(numbers.filter { !gone.contains(origin.id($0)) }, origin)
            }
        }
        added.subtract(gone)
        removed.subtract(gone)
        order?.forget(gone)
    }

    /// Objects got other ids.
    mutating func rename(_ names: [ObjectID: ObjectID]) {
        added = Set(added.map { names[$0] ?? $0 })
        removed = Set(removed.map { names[$0] ?? $0 })
        // Stored members that are known by their numbers have no other names.
        if case .ids(let ids) = known { known = .ids(Set(ids.map { names[$0] ?? $0 })) }
        order?.rename(names)
    }
}

// MARK: Order

extension ToManyState {
    /// Takes the stored members of an ordered relationship.
    mutating func load(ordered members: [ObjectID]) {
        load(Set(members))
        order?.load(members, added: added, removed: removed)
    }

    /// The members in their order; of an ordered relationship whose stored members are unknown those that were added.
    mutating func inOrder() -> [ObjectID] {
        tidy()
        return order?.list ?? []
    }

    /// Takes those out of the list who are no members any more.
    private mutating func tidy() {
        guard var order, order.hasLeavers else { return }
        order.tidy(isMember)
        self.order = order
    }

    /// The members that were added, in the order in which they stand.
    mutating func addedInOrder() -> [ObjectID] { inOrder().filter(added.contains) }

    private mutating func addInOrder(_ id: ObjectID) {
        if isLoaded ? isMember(id) : added.contains(id) { return }
        tidy()
        order?.append(id, wasRemoved: removed.contains(id))
        removed.remove(id)
        if hasStored(id) != true { added.insert(id) }
    }

    /// Puts the members into an order: all of them, which are known.
    mutating func reorder(_ members: [ObjectID]) { order?.set(members) }

    /// The last that was added comes back to where it was stored.
    mutating func restoreLast() { order?.restoreLast() }

    /// Whether the members stand as they did in an earlier state, be there more or less of them.
    func hasSameOrder(as earlier: ToManyState) -> Bool {
        guard let order else { return true }
        if order.isMoved || earlier.order?.isMoved == true {
            return order.list == earlier.order?.list
        }
        return order.returned == earlier.order?.returned ?? []
    }
}
