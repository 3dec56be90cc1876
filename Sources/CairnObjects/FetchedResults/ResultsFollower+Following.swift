// Brings a list up to what the objects are that an event concerned.
//
//   1. Those are added that depend on objects that were written.
//   2. What has become of each is found out, and compared with what the list knows. If nothing differs, that was all.
//   3. Whoever listens is told that the list changes; not if new objects have got their permanent ids, and nothing else has
//      happened: then the list looks as it did.
//   4. All that left or belong elsewhere are taken out, then all that came or belong elsewhere are put in.
//   5. What that is for a reader is told.
//
// Threads: the context's.

import CairnModel
import CairnStore

extension ResultsFollower {
    /// More candidates than these, and than half of the list, are not looked at one by one: what a fetch costs depends on
    /// the store, which may be much larger than the list.
    private static let fewCandidates = 8192

    func follow(_ candidates: Candidates, _ context: ManagedObjectContext) throws(StoreError) {
        guard let list else { return }
        var candidates = candidates
        if candidates.isEverything || candidates.isLedElsewhere {
            return try refetch(candidates, context)
        }
        if !candidates.written.isEmpty, let related {
            guard let dependents = try related.dependents(candidates.written, context.source())
            else { return try refetch(candidates, context) }
            for id in dependents.sorted(by: { SortingOrder.compare($0, $1) < 0 }) {
                candidates.add(id)
            }
        }
        if candidates.ids.count > max(Self.fewCandidates, list.count / 2) {
            return try refetch(candidates, context)
        }
        let question = try context.question(terms)
        let present = try present(candidates.ids, question, context)
        var (entries, objects) = compare(candidates, present, list)
        if isWindow {
            if mayMove(candidates, present, list, question) {
                return try refetch(candidates, context)
            }
            // What comes behind the end is not shown.
            entries.removeAll(where: \.isReplaced)
            objects = []
        }
        guard !entries.isEmpty else { return }
        if !areRenamed(entries, objects, list) {
            listener.willChange()
            // Who is told may have had the list fetched again, or forgotten.
            guard self.list === list else { return }
        }
        try apply(entries, objects, list)
    }

    /// Whether new objects have got their permanent ids, and are where they were.
    private func areRenamed(
        _ entries: [ListChange.Entry], _ objects: [ListedObject], _ list: FetchedList
    ) -> Bool {
        // Those that are replaced have come in the order of the entries.
        guard entries.count == objects.count else { return false }
        var order = list.order
        var newIDs: [ObjectID: ObjectID] = [:]
        for (entry, object) in zip(entries, objects) {
            guard entry.oldID != entry.id, !entry.isUpdated, entry.oldSection == entry.newSection,
                let terms = list.terms(of: entry.oldID), order.areEqual(terms.keys, object.keys)
            else { return false }
            newIDs[entry.oldID] = entry.id
        }
        func terms(at index: Int) -> (id: ObjectID, keys: [Value])? {
            guard index >= 0, index < list.count else { return nil }
            let id = list.entry(at: index).id
            return list.terms(of: id).map { (newIDs[id] ?? id, $0.keys) }
        }
        for (entry, object) in zip(entries, objects) {
            guard let index = entry.old?.index else { return false }
            if let before = terms(at: index - 1),
                !order.precedes(before.keys, before.id, object.keys, object.id)
            {
                return false
            }
            if let after = terms(at: index + 1),
                !order.precedes(object.keys, object.id, after.keys, after.id)
            {
                return false
            }
        }
        return true
    }

    /// Whether a part of what matches may be another part now.
    private func mayMove(
        _ candidates: Candidates, _ present: [ObjectID: ListedObject], _ list: FetchedList,
        _ question: FetchQuestion
    ) -> Bool {
        var order = ListOrder(question.sort)
        let last = list.count > 0 ? list.entry(at: list.count - 1).id : nil
        let end = last.flatMap { id in list.terms(of: id).map { (id, $0.keys) } }
        for id in candidates.ids {
            let old = candidates.oldIDs[id] ?? id
            let terms = list.terms(of: old)
            switch (terms, present[id]) {
            case (nil, nil):
                // It may have been before the part.
                if self.terms.fetchOffset > 0 { return true }
            case (let terms?, let new?):
                if old != id || !order.areEqual(terms.keys, new.keys)
                    || terms.section != new.section
                {
                    return true
                }
            case (nil, let new?):
                // Behind the end of a full part it changes nothing.
                guard self.terms.fetchOffset <= 0, list.count == self.terms.fetchLimit,
                    let end, order.precedes(end.1, end.0, new.keys, new.id)
                else { return true }
            case (_?, nil): return true
            }
        }
        return false
    }

    /// What differs from what the list knows.
    private func compare(
        _ candidates: Candidates, _ present: [ObjectID: ListedObject], _ list: FetchedList
    ) -> ([ListChange.Entry], [ListedObject]) {
        var entries: [ListChange.Entry] = []
        var objects: [ListedObject] = []
        for id in candidates.ids {
            let old = candidates.oldIDs[id] ?? id
            let terms = list.terms(of: old)
            var entry = ListChange.Entry(oldID: old, id: id)
            entry.isUpdated = candidates.updated.contains(id)
            entry.object = list.object(of: old) ?? candidates.objects[id]
            switch (terms, present[id]) {
            case (nil, nil): continue
            case (nil, let new?):
                entry.newSection = new.section
                objects.append(new)
            case (let terms?, nil): entry.oldSection = terms.section
            case (let terms?, let new?):
                entry.oldSection = terms.section
                entry.newSection = new.section
                if old == id, list.order.areEqual(terms.keys, new.keys),
                    terms.section == new.section
                {
                    guard entry.isUpdated else { continue }
                    entry.isReplaced = false
                } else {
                    objects.append(new)
                }
            }
            entry.old = list.position(of: old)
            if let old = entry.old { entry.oldSectionSize = list.sectionSize(old.section) }
            entries.append(entry)
        }
        return (entries, objects)
    }

    private func apply(
        _ entries: [ListChange.Entry], _ objects: [ListedObject], _ list: FetchedList
    ) throws(StoreError) {
        var entries = entries
        var oldSections: Set<String> = []
        for entry in entries {
            if let name = entry.newSection, list.hasSection(name) { oldSections.insert(name) }
        }
        for entry in entries where entry.isReplaced && entry.old != nil {
            list.remove(entry.oldID)
        }
        for object in objects { list.insert(object) }
        if list.isOutOfOrder {
            unload()
            throw outOfOrder(list)
        }
        for index in entries.indices { entries[index].new = list.position(of: entries[index].id) }
        let change = ListChange(entries, oldSections: oldSections, list)
        listener.didChange(change, list)
    }

    // MARK: Fetching again

    /// Fetches the list again, and tells what differs.
    private func refetch(_ candidates: Candidates, _ context: ManagedObjectContext)
        throws(StoreError)
    {
        guard let list else { return }
        let new: FetchedList
        new = try fetchedList(context)
        if new.isOutOfOrder {
            unload()
            throw outOfOrder(new)
        }
        let entries = differences(candidates, list, new)
        guard !entries.isEmpty else {
            replaceList(new)
            return
        }
        var oldSections: Set<String> = []
        for entry in entries {
            if let name = entry.newSection, list.hasSection(name) { oldSections.insert(name) }
        }
        listener.willChange()
        guard self.list === list else { return }
        replaceList(new)
        listener.didChange(ListChange(entries, oldSections: oldSections, new), new)
    }

    private func differences(
        _ candidates: Candidates, _ list: FetchedList, _ new: FetchedList
    ) -> [ListChange.Entry] {
        // By the ids that they have now.
        var newIDs: [ObjectID: ObjectID] = [:]
        for (id, old) in candidates.oldIDs { newIDs[old] = id }
        for old in list.newObjects.values {
            if let object = list.object(of: old), object.objectID != old {
                newIDs[old] = object.objectID
            }
        }
        var places: [ObjectID: (old: ObjectID, index: Int)] = [:]
        var entries: [ListChange.Entry] = []
        var index = 0
        list.forEach { old, _ in
            let id = newIDs[old] ?? old
            if new.contains(id) {
                places[id] = (old, index)
            } else {
                var entry = ListChange.Entry(oldID: old, id: id)
                entry.old = list.position(of: old)
                entries.append(entry)
            }
            index += 1
        }
        var common: [(id: ObjectID, index: Int)] = []
        new.forEach { id, _ in
            if let place = places[id] {
                common.append((id, place.index))
            } else {
                var entry = ListChange.Entry(oldID: id, id: id)
                entry.new = new.position(of: id)
                entries.append(entry)
            }
        }
        let staying = Set(RisingRun.longest(common.map(\.index)))
        for (place, (id, _)) in common.enumerated() {
            guard let old = places[id]?.old else { continue }
            let isSame =
                staying.contains(place) && old == id
                && (!list.isSectioned || list.terms(of: old)?.section == new.terms(of: id)?.section)
            // If nobody knows what has changed, anything may have, of what the context does not tell of itself.
            let isUpdated =
                candidates.updated.contains(id) || (candidates.isEverything && !holdsObjects)
            if isSame, !isUpdated { continue }
            var entry = ListChange.Entry(oldID: old, id: id)
            entry.isReplaced = !isSame
            entry.isUpdated = isUpdated
            entry.old = list.position(of: old)
            entry.new = new.position(of: id)
            entries.append(entry)
        }
        for index in entries.indices {
            if entries[index].old != nil {
                entries[index].object =
                    list.object(of: entries[index].oldID) ?? candidates.objects[entries[index].id]
                entries[index].oldSection = list.terms(of: entries[index].oldID)?.section
                entries[index].oldSectionSize = list.sectionSize(entries[index].old?.section ?? 0)
            }
            if entries[index].new != nil {
                entries[index].newSection = new.terms(of: entries[index].id)?.section
            }
        }
        return entries
    }
}
