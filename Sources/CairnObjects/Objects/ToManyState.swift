// What an object knows of one of its to-many relationships: the stored members, once somebody asked for
// them, and what was added and removed since.
//
// Additions and removals can be noted while the stored members are unknown: then the last word counts, and
// what turns out to be no change is dropped when the members are read.
//
// Invariants: `added` and `removed` are disjoint; where `stored` is known, `added` has none of it and
// `removed` only some of it.

import CairnModel

/// The members of a to-many relationship.
struct ToManyState {
    private(set) var stored: Set<ObjectID>?
    private(set) var added: Set<ObjectID> = []
    private(set) var removed: Set<ObjectID> = []

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty }

    /// The members now; nil if the stored ones are unknown.
    var current: Set<ObjectID>? {
        stored.map { $0.subtracting(removed).union(added) }
    }

    mutating func load(_ members: Set<ObjectID>) {
        stored = members
        added.subtract(members)
        removed.formIntersection(members)
    }

    mutating func add(_ id: ObjectID) {
        removed.remove(id)
        if stored?.contains(id) != true { added.insert(id) }
    }

    mutating func remove(_ id: ObjectID) {
        added.remove(id)
        if stored?.contains(id) != false { removed.insert(id) }
    }

    /// Forgets the stored members; they are read again when somebody asks.
    mutating func unload() { stored = nil }

    /// Forgets what was added and removed.
    mutating func revert() {
        added = []
        removed = []
    }

    /// What was added and removed is stored now, under these ids.
    mutating func commit(_ permanentIDs: [ObjectID: ObjectID]) {
        stored = current.map { members in
            permanentIDs.isEmpty ? members : Set(members.map { permanentIDs[$0] ?? $0 })
        }
        revert()
    }

    /// An object is no more.
    mutating func forget(_ gone: Set<ObjectID>) {
        stored?.subtract(gone)
        added.subtract(gone)
        removed.subtract(gone)
    }

    /// Objects got other ids.
    mutating func rename(_ names: [ObjectID: ObjectID]) {
        added = Set(added.map { names[$0] ?? $0 })
        removed = Set(removed.map { names[$0] ?? $0 })
        stored = stored.map { Set($0.map { names[$0] ?? $0 }) }
    }
}
