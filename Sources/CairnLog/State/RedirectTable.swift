// Object number → the survivor into which the object was merged.                                  Format 78
//
// An object is redirected to another one in the commit that deletes it, and this is recorded once: if the
// other one is merged too, it has an entry as well, and a lookup follows the chain. A commit therefore writes
// as many entries as it merges objects, however often their survivors were survivors before.
//
// Entries are in a few tables, each of them more than four times as large as the previous one. States share
// all tables except the first; a commit copies that, which is small. When it reaches some size it becomes
// immutable, and is merged with those that are not much larger: an entry is copied a few times each time the
// number of entries quadruples.
//
// Invariants: RD1: an existing object has no redirect. RD2: every chain ends: an entry is only created for an
// object that has no redirect yet, and refers to an existing object. RD3: the segment of an entry belongs to
// the state.
// Threads: immutable, so any. A commit makes another one.

import CairnFormat
import CairnModel
import CairnStore

/// The redirects of a state. A class, so that states without any have nothing to copy.
final class RedirectTable: Sendable {
    /// The current entry of a number.
    struct Entry: Sendable, Hashable {
        /// 0: the object exists again.
        var target: UInt32
        /// Its ordinal among the entries of the number.
        var turn: UInt32
        /// The segment of its frame.
        var segment: UInt32

        /// Returns the current one of two entries. An entry that compaction rewrote is in a segment with a
        /// larger number.                                                                             F-782
        func newer(than other: Entry?) -> Entry {
            guard let other else { return self }
            if turn != other.turn { return turn > other.turn ? self : other }
            return segment >= other.segment ? self : other
        }
    }

    /// A number in a tree.
    struct Key: Sendable, Hashable, Comparable {
        /// The id of the tree, and the number.
        let bits: UInt64

        @inline(__always) init(tree: UInt32, _ number: UInt32) {
            bits = UInt64(tree) << 32 | UInt64(number)
        }

        var tree: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
        var number: UInt32 { UInt32(truncatingIfNeeded: bits) }

        static func < (one: Key, other: Key) -> Bool { one.bits < other.bits }
    }

    /// Newest first; none is empty.
    private let tables: [[Key: Entry]]
    /// The number of redirected objects.
    let count: Int

    /// The maximum number of entries that a commit copies, in addition to its own.
    private static let least = 256

    private init(_ tables: [[Key: Entry]], count: Int) {
        self.tables = tables
        self.count = count
    }

    /// The current entry of a number.
    subscript(_ key: Key) -> Entry? {
        for table in tables {
            if let entry = table[key] { return entry }
        }
        return nil
    }

    /// Returns a table with additional entries, as far as they are newer; nil if there are no entries at all.
    static func adding(_ entries: [Key: Entry], to table: RedirectTable?) -> RedirectTable? {
        if entries.isEmpty { return table }
        var tables = table?.tables ?? []
        var recent: [Key: Entry] = [:]
        if let newest = tables.first, newest.count < least { recent = tables.removeFirst() }
        var count = table?.count ?? 0
        for (key, entry) in entries {
            let known = table?[key]
            let entry = entry.newer(than: known)
            if entry == known { continue }
            count += (entry.target == 0 ? 0 : 1) - (known?.target ?? 0 == 0 ? 0 : 1)
            recent[key] = entry
        }
        if recent.isEmpty { return table }
        while recent.count >= least, let next = tables.first, next.count <= recent.count * 4 {
            recent = next.merging(recent) { _, new in new }
            tables.removeFirst()
        }
        tables.insert(recent, at: 0)
        return RedirectTable(tables, count: count)
    }

    /// Calls the body with all entries, in no order.
    func forEach(_ body: (Key, Entry) -> Void) {
        for (place, table) in tables.enumerated() {
            for (key, entry) in table
            where !tables[..<place].contains(where: { $0[key] != nil }) { body(key, entry) }
        }
    }

    /// All entries.
    var entries: [Key: Entry] {
        guard var entries = tables.last else { return [:] }
        for table in tables.dropLast().reversed() { entries.merge(table) { _, new in new } }
        return entries
    }

    /// The maximum number of entries: no chain is longer.
    var mostSteps: Int { tables.reduce(0) { $0 + $1.count } }
}

extension [RedirectTable.Key: RedirectTable.Entry] {
    /// Adds the entries of a frame.
    mutating func take(_ payload: RedirectsPayload, in segment: UInt32) {
        for group in payload.groups {
            for entry in group.entries {
                let key = RedirectTable.Key(tree: group.tree, entry.old)
                self[key] = RedirectTable.Entry(
                    target: entry.new, turn: entry.turn, segment: segment
                ).newer(than: self[key])
            }
        }
    }

    /// Adds other entries.
    mutating func take(_ others: Self) {
        merge(others) { known, other in other.newer(than: known) }
    }

    /// The payloads of the frames that contain these entries.
    var payloads: [RedirectsPayload] {
        var payloads: [RedirectsPayload] = []
        var groups: [RedirectsPayload.Group] = []
        var count = 0
        for (key, entry) in inKeyOrder() {
            let said = RedirectsPayload.Entry(
                old: key.number, new: entry.target, turn: entry.turn)
            if groups.last?.tree == key.tree {
                groups[groups.count - 1].entries.append(said)
            } else {
                groups.append(.init(tree: key.tree, entries: [said]))
            }
            count += 1
            if count == RedirectsPayload.mostEntries {
                payloads.append(RedirectsPayload(groups: groups))
                groups = []
                count = 0
            }
        }
        if count > 0 { payloads.append(RedirectsPayload(groups: groups)) }
        return payloads
    }
}
