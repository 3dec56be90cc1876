// The order of the members of an ordered to-many relationship, beside the sets that say who they are.
//
// While the stored members are unknown it holds those who were added, in the order in which they came: they stand at the end.
// Who is removed stays in the list until it is looked at again, so that taking out many costs no more than one pass.
//
// Invariants: what the owner of this, `ToManyState`, says of members holds; the list may have others besides, until it is
// tidied.

import CairnModel
import CairnStore

/// The order of members.
struct MemberOrder {
    /// The stored order that changes are made against; nil if it is unknown.
    private(set) var base: [ObjectID]?
    /// The members in their order.
    private(set) var list: [ObjectID] = []
    /// Whether the list may have some who are no members any more.
    private(set) var hasLeavers = false
    /// Whether somebody was put elsewhere than at the end.
    private(set) var isMoved = false
    /// Who was taken out and came back while the stored members were unknown: he stands at the end.
    private(set) var returned: Set<ObjectID> = []

    /// Takes those out who are no members any more.
    mutating func tidy(_ isMember: (ObjectID) -> Bool) {
        guard hasLeavers else { return }
        hasLeavers = false
        list.removeAll { !isMember($0) }
    }

    /// Whether the order is another one than that of the stored members with those who came at the end.
    func differs(_ isMember: (ObjectID) -> Bool) -> Bool {
        guard isMoved, let base else { return false }
        var place = 0
        for id in base where isMember(id) {
            while hasLeavers, place < list.count, !isMember(list[place]) { place += 1 }
            if place == list.count || list[place] != id { return true }
            place += 1
        }
        return false
    }

    /// Puts somebody at the end of a list without leavers.
    mutating func append(_ id: ObjectID, wasRemoved: Bool) {
        list.append(id)
        // Who was taken out and comes back stood elsewhere before.
        if wasRemoved { if base == nil { returned.insert(id) } else { isMoved = true } }
    }

    mutating func remove() { hasLeavers = true }

    /// Puts the members into an order.
    mutating func set(_ members: [ObjectID]) {
        list = members
        hasLeavers = false
        isMoved = true
    }

    /// Moves the last to where it was stored.
    mutating func restoreLast() {
        guard let id = list.last, let base, let place = base.firstIndex(of: id) else { return }
        let before = Set(base[..<place])
        list.removeLast()
        let index = (list.lastIndex { before.contains($0) } ?? -1) + 1
        list.insert(id, at: index)
    }

    /// The stored members became known.
    mutating func load(_ stored: [ObjectID], added: Set<ObjectID>, removed: Set<ObjectID>) {
        let returned = self.returned.intersection(stored).subtracting(removed)
        let came = list.filter { added.contains($0) || returned.contains($0) }
        let now = stored.filter { !removed.contains($0) && !returned.contains($0) } + came
        if isMoved {
            list = ConflictRules.mergedOrder(
                members: list, base: base ?? [], now: now, arrivals: came.count, nil)
        } else {
            list = now
            isMoved = !returned.isEmpty
        }
        hasLeavers = false
        base = stored
        self.returned = []
    }

    /// The stored members are not known any more; an order that somebody gave stays.
    mutating func unload(added: Set<ObjectID>, _ isMember: (ObjectID) -> Bool) {
        tidy(isMember)
        if differs(isMember) { return }
        list.removeAll { !added.contains($0) }
        base = nil
        isMoved = false
    }

    /// What was done is forgotten.
    mutating func revert(isLoaded: Bool) {
        list = isLoaded ? base ?? [] : []
        if !isLoaded { base = nil }
        hasLeavers = false
        isMoved = false
        returned = []
    }

    /// What was done is stored now.
    mutating func commit(
        isLoaded: Bool, _ permanentIDs: [ObjectID: ObjectID], _ isMember: (ObjectID) -> Bool
    ) {
        tidy(isMember)
        if !permanentIDs.isEmpty { list = list.map { permanentIDs[$0] ?? $0 } }
        if !isLoaded { list = [] }
        base = isLoaded ? list : nil
        isMoved = false
        returned = []
    }

    /// Objects are no more.
    mutating func forget(_ gone: Set<ObjectID>) {
        if list.contains(where: gone.contains) { list.removeAll(where: gone.contains) }
        if let known = base, known.contains(where: gone.contains) {
            base = known.filter { !gone.contains($0) }
        }
    }

    /// Objects got other ids.
    mutating func rename(_ names: [ObjectID: ObjectID]) {
        list = list.map { names[$0] ?? $0 }
        returned = Set(returned.map { names[$0] ?? $0 })
        base = base.map { $0.map { names[$0] ?? $0 } }
    }
}
