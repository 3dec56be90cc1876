// The changes of a batch's parts, reported as one commit: their rows are written and released.
//
//   An object that a part has made is new, whatever the parts behind it did to it, and one that is gone is that.
//   An object that several parts have changed, as rows lead to it, was changed by all that they say.
//
// Invariants: a part changes no row that a part before it has changed; whoever adds it looks after that.
// Threads: owned by one call.

import CairnLog
import CairnStore

/// Changes of several parts.
struct PartChanges {
    private struct Told {
        var inserted = GrowingNumbers()
        var updated = GrowingNumbers()
        var deleted = GrowingNumbers()
    }

    /// Objects of one entity to which the same was done.
    private struct Group {
        var group: PersistentHistoryChanges.Group
        var numbers = GrowingNumbers()
    }

    /// By entity.
    private var told: [Int: Told] = [:]
    private var rows: RowChanges? = RowChanges()
    private var count = 0
    private var history: [Group] = []

    /// Adds those of a part.
    mutating func add(_ changes: PartialStore.Changes) {
        for other in changes.told.entities {
            told[other.entity, default: Told()].inserted.add(other.inserted)
            told[other.entity, default: Told()].updated.add(other.updated)
            told[other.entity, default: Told()].deleted.add(other.deleted)
            count += other.inserted.count + other.updated.count + other.deleted.count
        }
        if let other = changes.told.rows, count <= RowChanges.mostObjects {
            rows?.formUnion(other)
        } else if !changes.told.entities.isEmpty {
            rows = nil
        }
        for group in changes.history {
            // What was done to many objects is mostly the same in all parts. What deleted ones have left has their order.
            let same = history.firstIndex {
                group.type != .delete && $0.group.type == group.type
                    && $0.group.entity == group.entity
                    && $0.group.updatedProperties == group.updatedProperties
            }
            if let same {
                history[same].numbers.add(group.numbers)
            } else {
                var added = Group(group: group)
                added.numbers.add(group.numbers)
                history.append(added)
            }
        }
    }

    /// Makes changes say all of these, as those of one commit.
    func join(_ changes: inout PartialStore.Changes) {
        let entities = told.keys.sorted().compactMap { entity -> EntityChanges? in
            guard let told = told[entity] else { return nil }
            var changes = EntityChanges(entity: entity)
            changes.inserted = told.inserted.all
            changes.updated = told.updated.all
            changes.deleted = told.deleted.all
            let joined = changes.joined
            return joined.isEmpty ? nil : joined
        }
        changes.told = StoreChanges(entities: entities, rows: rows)
        let groups = history.map { part in
            var group = part.group
            group.numbers = part.numbers.all
            return group
        }
        changes.history = Set(groups.map(\.entity)).sorted().flatMap { entity in
            Self.joined(groups.filter { $0.entity == entity })
        }
    }

    /// The groups of one entity, each object in one.
    private static func joined(_ groups: [PersistentHistoryChanges.Group])
        -> [PersistentHistoryChanges.Group]
    {
        let inserted = groups.filter { $0.type == .insert }
        let deleted = groups.filter { $0.type == .delete }
        let updated = groups.filter { $0.type == .update }
        guard updated.count > 1 || !updated.isEmpty && inserted.count + deleted.count > 0 else {
            return groups
        }
        var overlap = NumberOverlap()
        for (index, group) in groups.enumerated() { overlap.add(group.numbers, index) }
        var merged: [Set<String>: ObjectNumbers] = [:]
        overlap.forEach { run, members in
            var properties: Set<String> = []
            for member in members {
                guard groups[member].type == .update else { return }
                properties.formUnion(groups[member].updatedProperties)
            }
            merged[properties, default: ObjectNumbers()].append(run)
        }
        let all = merged.map { properties, numbers in
            var group = updated[0]
            (group.updatedProperties, group.numbers) = (properties, numbers)
            return group
        }
        // In the order of the first object of each, as every history has them.
        return inserted
            + all.sorted {
                ($0.numbers.runs.first?.lowerBound ?? 0) < ($1.numbers.runs.first?.lowerBound ?? 0)
            } + deleted
    }
}

extension EntityChanges {
    /// Each object in one of the lists.
    fileprivate var joined: EntityChanges {
        if updated.isEmpty || inserted.isEmpty && deleted.isEmpty { return self }
        var joined = self
        joined.updated = ObjectNumbers()
        var overlap = NumberOverlap()
        for (index, numbers) in [inserted, deleted, updated].enumerated() {
            overlap.add(numbers, index)
        }
        overlap.forEach { run, members in
            if members == [2] { joined.updated.append(run) }
        }
        return joined
    }
}

/// Sets of numbers, and which numbers are in which of them.
private struct NumberOverlap {
    private var edges: [(number: UInt64, isEnd: Bool, set: Int)] = []

    mutating func add(_ numbers: ObjectNumbers, _ set: Int) {
        for run in numbers.runs {
            edges.append((run.lowerBound, false, set))
            edges.append((run.upperBound + 1, true, set))
        }
    }

    /// Calls a closure with runs of numbers that are in the same sets, rising, and with these.
    ///
    /// - Complexity: O(n log n) of the runs.
    func forEach(_ body: (ClosedRange<UInt64>, Set<Int>) -> Void) {
        var members: Set<Int> = []
        var start: UInt64 = 0
        for edge in edges.sorted(by: { $0.number < $1.number }) {
            if edge.number > start, !members.isEmpty { body(start...edge.number - 1, members) }
            start = edge.number
            // A run of a set ends before the next one of it begins.
            if edge.isEnd { members.remove(edge.set) } else { members.insert(edge.set) }
        }
    }
}
