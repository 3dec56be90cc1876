// Object number → the survivor into which the object was merged.                                  Format 78
//
// An object is led to another one in the commit that deletes it, and this is noted once: if the other one is folded too, there
// is an entry for that as well, and who asks goes from one to the next. So a commit writes as many entries as it folds
// objects, however often those that they lead to were chosen before.
//
// They are in a few tables, each of them more than four times as large as the one before. All but the first one are shared by
// states; a commit copies that, which is small. When it has come to some size it stays as it is, and is put together with those
// that are not much larger: so an entry is copied a few times for each time that there are four times as many.
//
// Invariants: RD1: an object that is there is led nowhere. RD2: going from one to the next ends: an entry is only made for an
// object that is led nowhere yet, and leads to one that is there. RD3: the segment of an entry is one of the state.
// Threads: immutable, so any. A commit makes another one.

import CairnFormat
import CairnModel
import CairnStore

/// The redirects of a state. A class, so that states without any have nothing to copy.
final class RedirectTable: Sendable {
    /// What is in force for a number.
    struct Entry: Sendable, Hashable {
        /// 0: the object is there again.
        var target: UInt32
        /// Which of the entries of the number it is.
        var turn: UInt32
        /// Where its frame is.
        var segment: UInt32

        /// Which of two is in force. What compaction has written once more is in a segment with a larger number.   F-782
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

    /// The newest first; none is empty.
    private let tables: [[Key: Entry]]
    /// How many objects are led to another one.
    let count: Int

    /// So many entries a commit copies at most, beside its own.
    private static let least = 256

    private init(_ tables: [[Key: Entry]], count: Int) {
        self.tables = tables
        self.count = count
    }

    /// What is in force for a number.
    subscript(_ key: Key) -> Entry? {
        for table in tables {
            if let entry = table[key] { return entry }
        }
        return nil
    }

    /// A table with some more entries, as far as those are newer; nil if there are none at all.
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

    /// All entries, in no order.
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

    /// How many entries there are at most: going from one to the next takes no more steps.
    var mostSteps: Int { tables.reduce(0) { $0 + $1.count } }
}

extension [RedirectTable.Key: RedirectTable.Entry] {
    /// Takes what a frame says.
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

    /// Takes what others say.
    mutating func take(_ others: Self) {
        merge(others) { known, other in other.newer(than: known) }
    }

    /// The payloads of the frames that say it.
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
