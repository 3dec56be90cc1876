// What has become of a list, in the words of a list on a screen: sections and objects that went, came, moved, or show other
// values.
//
//   1. Objects that nobody has touched keep their order, and what is between them is found by counting: an object is still
//      between the same two of them if as many of them are before it as there were.
//   2. Of those that are, as many as possible stay; the others are moved. So it is with sections, too, whose objects were all
//      touched: one that stands elsewhere is deleted and inserted, and its objects are moved.
//
// Applied to the old list it gives the new one exactly: deletions and the origins of moves by old places, then insertions and
// the ends of moves by new ones, rising.
//
// Work: O(k log k) in the touched objects.
// Threads: a value.

import CairnModel

/// What has become of a list.
struct ListChange {
    typealias Position = FetchedList.Position

    /// An object that was touched.
    struct Entry {
        /// The id that it had in the list, if it was there.
        var oldID: ObjectID
        var id: ObjectID
        var old: Position?
        var new: Position?
        /// The names of its sections.
        var oldSection: String?
        var newSection: String?
        /// How many objects its old section had.
        var oldSectionSize = 0
        /// Whether it shows other values.
        var isUpdated = false
        /// Whether it was put where it belongs now; else it has not left its place.
        var isReplaced = true
        /// The object, if somebody has it.
        var object: ManagedObject?
    }

    /// A section that went or came.
    struct Section {
        let name: String
        let index: Int
    }

    private(set) var deletedSections: [Section] = []
    private(set) var insertedSections: [Section] = []
    private(set) var deletes: [Entry] = []
    private(set) var inserts: [Entry] = []
    private(set) var moves: [Entry] = []
    private(set) var updates: [Entry] = []
    /// Objects that have stayed and have got their permanent ids.
    private(set) var renames: [Entry] = []

    /// - Parameters:
    ///   - entries: those that were deleted, inserted and replaced, and those that are only updated.
    ///   - oldSections: which of the names of sections in the entries there were before.
    ///   - list: what has become of the list.
    init(_ entries: [Entry], oldSections: Set<String>, _ list: FetchedList) {
        var movedSections: Set<String> = []
        if list.isSectioned { movedSections = compareSections(entries, oldSections, list) }
        var isStaying = Set<ObjectID>()
        let oldOrder = entries.filter { $0.isReplaced && $0.old != nil }
            .sorted { ($0.old?.index ?? 0) < ($1.old?.index ?? 0) }
        var newRanks: [ObjectID: Int] = [:]
        let newOrder = entries.filter { $0.isReplaced && $0.new != nil }
            .sorted { ($0.new?.index ?? 0) < ($1.new?.index ?? 0) }
        for (place, entry) in newOrder.enumerated() {
            newRanks[entry.id] = (entry.new?.index ?? 0) - place
        }
        var candidates: [Entry] = []
        for (place, entry) in oldOrder.enumerated() where entry.new != nil {
            let rank = (entry.old?.index ?? 0) - place
            if rank == newRanks[entry.id], entry.oldSection == entry.newSection,
                !(entry.newSection.map(movedSections.contains) ?? false)
            {
                candidates.append(entry)
            }
        }
        for place in RisingRun.longest(candidates.map { $0.new?.index ?? 0 }) {
            isStaying.insert(candidates[place].id)
        }
        for entry in entries {
            switch (entry.old, entry.new) {
            case (nil, nil): continue
            case (_?, nil): deletes.append(entry)
            case (nil, _?): inserts.append(entry)
            case (_?, _?):
                if entry.isReplaced, !isStaying.contains(entry.id) {
                    moves.append(entry)
                } else if entry.isUpdated {
                    updates.append(entry)
                } else if entry.oldID != entry.id {
                    renames.append(entry)
                }
            }
        }
        func rising(_ left: Position?, _ right: Position?) -> Bool {
            (left?.index ?? 0) < (right?.index ?? 0)
        }
        deletes.sort { rising($0.old, $1.old) }
        inserts.sort { rising($0.new, $1.new) }
        moves.sort { rising($0.new, $1.new) }
        updates.sort { rising($0.new, $1.new) }
    }

    /// Notes sections that went and came; gives the names of those that stand elsewhere.
    private mutating func compareSections(
        _ entries: [Entry], _ oldSections: Set<String>, _ list: FetchedList
    ) -> Set<String> {
        // What is known of sections that touched objects were in, or are.
        var olds: [String: (index: Int, rest: Int)] = [:]
        var news: [String: Int] = [:]
        for entry in entries where entry.isReplaced {
            if let old = entry.old, let name = entry.oldSection {
                let rest = olds[name]?.rest ?? entry.oldSectionSize
                olds[name] = (old.section, rest - 1)
            }
            if let new = entry.new, let name = entry.newSection { news[name] = new.section }
        }
        var left: [Section] = []
        var came: [Section] = []
        var loose: [(name: String, old: Int, new: Int)] = []
        for (name, old) in olds where old.rest == 0 {
            if let new = news[name] {
                loose.append((name, old.index, new))
            } else {
                left.append(Section(name: name, index: old.index))
            }
        }
        for (name, index) in news where !oldSections.contains(name) {
            came.append(Section(name: name, index: index))
        }
        // How many sections are before one that have not been touched as a whole.
        let oldPlaces = (left.map(\.index) + loose.map(\.old)).sorted()
        let newPlaces = (came.map(\.index) + loose.map(\.new)).sorted()
        func rank(_ index: Int, _ places: [Int]) -> Int {
            var (low, high) = (0, places.count)
            while low < high {
                let middle = (low + high) / 2
                if places[middle] < index { low = middle + 1 } else { high = middle }
            }
            return index - low
        }
        loose.sort { $0.old < $1.old }
        let candidates = loose.filter { rank($0.old, oldPlaces) == rank($0.new, newPlaces) }
        let staying = Set(RisingRun.longest(candidates.map(\.new)).map { candidates[$0].name })
        var moved: Set<String> = []
        for section in loose where !staying.contains(section.name) {
            moved.insert(section.name)
            left.append(Section(name: section.name, index: section.old))
            came.append(Section(name: section.name, index: section.new))
        }
        deletedSections = left.sorted { $0.index < $1.index }
        insertedSections = came.sorted { $0.index < $1.index }
        return moved
    }

    // MARK: Other forms

    /// The ids of objects that show other values.
    var reconfigured: Set<ObjectID> {
        Set(updates.map(\.id)).union(moves.lazy.filter(\.isUpdated).map(\.id))
    }

    /// The same by places in the whole list.
    var difference: CollectionDifference<ObjectID> {
        var changes: [CollectionDifference<ObjectID>.Change] = []
        func remove(_ entry: Entry, to new: Position? = nil) {
            guard let old = entry.old else { return }
            changes.append(
                .remove(offset: old.index, element: entry.oldID, associatedWith: new?.index))
        }
        func insert(_ entry: Entry, from old: Position? = nil) {
            guard let new = entry.new else { return }
            changes.append(
                .insert(offset: new.index, element: entry.id, associatedWith: old?.index))
        }
        for entry in deletes { remove(entry) }
        for entry in inserts { insert(entry) }
        for entry in moves + renames + updates.filter({ $0.oldID != $0.id }) {
            remove(entry, to: entry.new)
            insert(entry, from: entry.old)
        }
        return .checked(changes)
    }
}
