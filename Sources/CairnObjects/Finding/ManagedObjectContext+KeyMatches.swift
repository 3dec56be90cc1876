// Which objects have a key, as a context shows them: stored ones, and those with unsaved changes.
//
//   1. Changed objects are found in the index of their keys; see ChangedKeys.
//   2. The store is asked for all keys at once that these do not answer. Of what it finds, changed objects are left out:
//      they have other keys now, or are deleted.
//   3. A context that works on another one asks that in place of the store.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// An object that has a key.
enum KeyMatch {
    /// One of the context that was asked.
    case object(ManagedObject)
    /// One of the store, or of the context that it works on.
    case row(Row)
    /// One that the context's parent has found.
    case id(ObjectID)
}

extension ManagedObjectContext {
    /// The objects that have keys, by the places of the keys: as many as are asked for, or all there are.
    ///
    /// - Parameters:
    ///   - keys: different ones.
    ///   - count: how many are enough.
    func matches(of keys: [[Value]], _ terms: KeyTerms, count: Int) throws(StoreError)
        -> [[KeyMatch]]
    {
        processPendingChanges()
        if let coordinator { noticeStores(coordinator) }
        var matches = [[KeyMatch]](repeating: [], count: keys.count)
        if changed.count > 0 {
            let divided = dividedStores
            let index = changedKeys(terms)
            for (place, key) in keys.enumerated() {
                let objects = index.objects(key, terms, count: count) {
                    isFound($0, in: divided)
                }
                matches[place] = objects.map { .object($0) }
            }
        }
        let open = keys.indices.filter { matches[$0].count < count }
        if open.isEmpty { return matches }
        let asked = open.map { keys[$0] }
        let spare = count > Int.max - changed.count ? Int.max : count + changed.count
        if let parent, parentSource != nil {
            let found = try parent.matches(of: asked, terms, count: spare)
            for (place, some) in zip(open, found) {
                for match in some {
                    let id =
                        switch match {
                        case .object(let object): object.objectID
                        case .row(let row): row.id
                        case .id(let id): id
                        }
                    if isOvertaken(id) { continue }
                    matches[place].append(.id(id))
                }
            }
        } else {
            let found = try storedRows(asked, terms, limit: spare)
            for (place, key) in zip(open, asked) {
                for row in found[key] ?? [] where !isOvertaken(row.id) {
                    matches[place].append(.row(row))
                }
            }
        }
        return matches
    }

    /// The index of changed objects by a key.
    private func changedKeys(_ terms: KeyTerms) -> ChangedKeys {
        let keys = changed.keys ?? ChangedKeys()
        if changed.keys == nil { changed.keys = keys }
        keys.prepare(terms, changed)
        keys.catchUp(changed)
        return keys
    }

    /// Whether an object is not what the store says of it, so that the index alone says whether it has a key.
    private func isOvertaken(_ id: ObjectID) -> Bool {
        guard let object = registry.object(for: id), object.changedIndex >= 0 else { return false }
        return object.isDeleted || object.isGone || !object.showsNoValues
    }

    /// The stored rows with some keys, by id.
    private func storedRows(_ keys: [[Value]], _ terms: KeyTerms, limit: Int) throws(StoreError)
        -> [[Value]: [Row]]
    {
        // Nothing that is stored leads to an object that is not.
        let keys = keys.filter { !$0.contains { $0.reference?.isTemporary == true } }
        if keys.isEmpty { return [:] }
        let wanted = Set(keys)
        let snapshot = try source()
        var found: [[Value]: [Row]] = [:]
        for condition in terms.conditions(keys) {
            var request = FetchTerms(
                entityName: terms.entity.name, predicate: condition.predicate)
            if condition.isOfMany { request.fetchLimit = limit }
            var fetch = try question(request, terms.entity).fetch
            fetch.includesRows = true
            let rows: [Row]
            if board.wants(.fetches) {
                rows = try watched(.objects, request, count: \.count) { () throws(StoreError) in
                    try snapshot.fetch(fetch).rows
                }
            } else {
                rows = try snapshot.fetch(fetch).rows
            }
            for row in rows {
                guard let key = terms.key(of: row, in: identity, schema), wanted.contains(key)
                else { continue }
                found[key, default: []].append(row)
            }
        }
        for key in found.keys where (found[key]?.count ?? 0) > 1 {
            found[key]?.sort { SortingOrder.compare($0.id, $1.id) < 0 }
        }
        return found
    }

    /// The objects of first matches; nil where there is none.
    func objects(of matches: [[KeyMatch]]) throws(StoreError) -> [ManagedObject?] {
        var objects = [ManagedObject?](repeating: nil, count: matches.count)
        var unknown: [(place: Int, id: ObjectID)] = []
        for (place, match) in matches.enumerated() {
            switch match.first {
            case .object(let object): objects[place] = object
            case .row(let row): objects[place] = object(for: row)
            case .id(let id):
                if let known = registry.object(for: id), !known.isFault, !known.isGone {
                    objects[place] = known
                } else {
                    unknown.append((place, id))
                }
            case nil: break
            }
        }
        if unknown.isEmpty { return objects }
        let rows = try source().rows(unknown.map(\.id))
        for ((place, _), row) in zip(unknown, rows) {
            if let row { objects[place] = object(for: row) }
        }
        return objects
    }
}
