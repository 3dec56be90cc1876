// What is stored, overlaid with what is changed here.
//
//   1. The store is asked for as many more objects as there are changed ones, since each of these can fall out of the answer.
//   2. Changed objects are taken out of the answer; those that match as they are now are put in, in order. One that was never
//      read and is not in the answer either is read then: it may be gone.
//   3. Offset and limit are applied last.
//
// Objects that are not changed themselves keep the place that the store gave them, also if an object that they lead to is
// changed.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// An object of an answer: its row, or the changed object.
    struct FetchedEntry {
        let id: ObjectID
        var object: ManagedObject?
        var row: Row?
        /// What it is sorted by.
        var keys: [Value] = []
    }

    /// The changed objects that the request is about, if it looks at changes.
    func pendingObjects(_ terms: FetchTerms, _ question: FetchQuestion) -> [ManagedObject] {
        terms.includesPendingChanges ? pendingObjects(question) : []
    }

    /// The changed objects that a request is about.
    func pendingObjects(_ question: FetchQuestion) -> [ManagedObject] {
        guard changed.count > 0 else { return [] }
        let divided = dividedStores
        return changed.inOrder { isAskedFor($0, question, divided) }
    }

    /// Whether a request is about an object as it is here, be it that it does not match.
    ///
    /// - Parameter divided: the context's ``dividedStores``.
    func isAskedFor(
        _ object: ManagedObject, _ question: FetchQuestion, _ divided: [CoordinatedStore]?
    ) -> Bool {
        guard question.includes(object.entity) else { return false }
        if let stores = question.fetch.affectedStores, !isObject(object, inOneOf: stores) {
            return false
        }
        return isFound(object, in: divided)
    }

    /// What the store is asked for if objects are changed here.
    func widened(_ fetch: StoreFetch, _ pending: [ManagedObject], includesRows: Bool)
        -> StoreFetch
    {
        var wider = fetch
        let stored = pending.count { !$0.isInserted }
        wider.offset = 0
        // The greatest number there is means all, and has no room for more.
        wider.limit = fetch.limit.map {
            $0 > Int.max - fetch.offset - stored ? .max : $0 + fetch.offset + stored
        }
        wider.includesRows = includesRows || !fetch.sort.isEmpty
        return wider
    }

    /// What matches, changed objects among it, in order.
    func answer(
        _ question: FetchQuestion, _ pending: [ManagedObject], includesRows: Bool
    ) throws(StoreError) -> [FetchedEntry] {
        let snapshot = try source()
        let found = try snapshot.fetch(
            widened(question.fetch, pending, includesRows: includesRows))
        return try overlaid(found, of: snapshot, question, pending)
    }

    /// The answer of a store to the widened request, overlaid and cut.
    func overlaid(
        _ found: StoreFetchResult, of snapshot: any StoreSnapshot, _ question: FetchQuestion,
        _ pending: [ManagedObject]
    ) throws(StoreError) -> [FetchedEntry] {
        var entries: [FetchedEntry] = []
        entries.reserveCapacity(found.ids.count)
        let changed = Set(pending.map(\.objectID))
        for (index, id) in found.ids.enumerated() where !changed.contains(id) {
            entries.append(
                FetchedEntry(id: id, row: found.rows.isEmpty ? nil : found.rows[index]))
        }
        if !pending.isEmpty {
            try read(pending, unless: found.ids)
            try giveKeys(to: &entries, question, snapshot)
            entries = merged(entries, pending, question)
            // What their faults could not read counted as nil.
            try throwReadError()
        }
        let rest = entries.dropFirst(question.fetch.offset)
        return Array(question.fetch.limit.map { rest.prefix($0) } ?? rest)
    }

    /// Reads changed objects that nobody has read yet, since only their other sides were changed: those that were not found
    /// may be gone.
    private func read(_ pending: [ManagedObject], unless found: [ObjectID]) throws(StoreError) {
        let unread = pending.filter { $0.isFault && !$0.hasCells && !$0.isDeleted }
        if unread.isEmpty { return }
        let found = Set(found)
        try fulfill(unread.filter { !found.contains($0.objectID) })
    }

    /// Gives stored objects what they are sorted by, as the store sees it.
    private func giveKeys(
        to entries: inout [FetchedEntry], _ question: FetchQuestion, _ snapshot: any StoreSnapshot
    ) throws(StoreError) {
        if question.sort.isEmpty { return }
        let keys = try SnapshotObjects(snapshot).keys(
            of: entries.map(\.row), along: question.sort)
        for (index, keys) in keys.enumerated() { entries[index].keys = keys }
    }

    private func merged(
        _ kept: [FetchedEntry], _ pending: [ManagedObject], _ question: FetchQuestion
    ) -> [FetchedEntry] {
        var own: [FetchedEntry] = []
        for object in pending where !object.isDeleted {
            let matches = question.evaluator?.matches(object) ?? true
            if matches && !object.isGone {
                own.append(
                    FetchedEntry(
                        id: object.objectID, object: object,
                        keys: question.sort.map { $0.key(of: object) }))
            }
        }
        func precedes(_ left: FetchedEntry, _ right: FetchedEntry) -> Bool {
            question.sort.precedes(left.keys, right.keys)
                ?? (SortingOrder.compare(left.id, right.id) < 0)
        }
        own.sort(by: precedes)
        // Both are in order: one pass puts them together.
        var merged: [FetchedEntry] = []
        merged.reserveCapacity(kept.count + own.count)
        var next = own.startIndex
        for entry in kept {
            while next < own.endIndex, precedes(own[next], entry) {
                merged.append(own[next])
                next += 1
            }
            merged.append(entry)
        }
        merged.append(contentsOf: own[next...])
        return merged
    }
}
