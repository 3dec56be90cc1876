// One state of each store of a coordinator, read as one.
//
//   1. A question about an entity goes to the stores that are for it; one about objects to those that they are in.
//   2. If that is one store, it answers, and in its own way.
//   3. If there are several, fetches ask each for as much as may be wanted of it, and put the answers in order; all else is
//      made of fetches, rows and members, as for a store that has no faster way.
//
// Rows get the number of their store on the way out.
//
// Threads: any; immutable.

import CairnModel
import CairnStore
import FoundationEssentials

/// States of several stores as one.
final class CoordinatedSnapshot: StoreSnapshot {
    /// The state of one store.
    struct Part: Sendable {
        let store: CoordinatedStore
        let snapshot: any StoreSnapshot
    }

    let commit: UInt64
    let schema: Schema
    let identity: StoreIdentity
    private let references: [[Int]]
    private let parts: [Part]
    /// The version of the coordinator whose stores these are.
    let version: Int

    init(_ coordinator: PersistentStoreCoordinator, _ parts: [Part], version: Int) {
        self.version = version
        schema = coordinator.schema
        identity = coordinator.identity
        references = coordinator.references
        self.parts = parts
        // No store's commits go back: with the same stores the sum is the same for one state alone.
        commit = parts.reduce(UInt64(version) << 40) { $0 &+ $1.snapshot.commit }
    }

    /// The stores whose states these are.
    var stores: [CoordinatedStore] { parts.map(\.store) }

    /// The commit of each.
    var commits: [StoreState.StoreCommit] {
        parts.map { .init(store: $0.store.identifier, commit: $0.snapshot.commit) }
    }

    /// Whether it is the same state. Sums are not enough: those of states that were taken at once may be the same.
    func isState(of other: CoordinatedSnapshot) -> Bool {
        identity.identifier == other.identity.identifier && version == other.version
            && parts.elementsEqual(other.parts) { $0.snapshot.commit == $1.snapshot.commit }
    }

    // MARK: Who is asked

    private func parts(of entity: Int, includesSubentities: Bool, among stores: [UUID]? = nil)
        throws(StoreError) -> [Part]
    {
        guard schema.entities.indices.contains(entity) else {
            throw StoreError(.invalidRequest, "the model has no entity with the index \(entity)")
        }
        let family = includesSubentities ? schema.entities[entity].family : [entity]
        return parts.filter { part in
            stores?.contains(part.store.identifier) ?? true
                && family.contains { part.store.entities[$0] }
        }
    }

    private func parts(for fetch: StoreFetch) throws(StoreError) -> [Part] {
        try parts(
            of: fetch.entity, includesSubentities: fetch.includesSubentities,
            among: fetch.affectedStores)
    }

    /// A row as contexts get it.
    private func moved(_ row: Row, from part: Part) -> Row {
        row.moved(to: part.store.number, references, in: schema)
    }

    // MARK: Fetching

    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        let parts = try parts(for: request)
        guard parts.count == 1 else { return try merged(request, parts) }
        var found = try parts[0].snapshot.fetch(request)
        for index in found.rows.indices {
            found.rows[index] = moved(found.rows[index], from: parts[0])
        }
        return found
    }

    /// An object that one of the stores has found.
    private struct Entry {
        let id: ObjectID
        let row: Row?
        var keys: [Value] = []
    }

    private func merged(_ request: StoreFetch, _ parts: [Part]) throws(StoreError)
        -> StoreFetchResult
    {
        let entity = schema.entities[request.entity]
        let paths = try [SortPath](request.sort, of: entity, in: schema)
        var question = request
        question.offset = 0
        // The greatest number there is means all, and has no room for more.
        question.limit = request.limit.map {
            $0 > Int.max - request.offset ? .max : $0 + request.offset
        }
        question.includesRows = request.includesRows || !paths.isEmpty
        var entries: [Entry] = []
        var plans: [String] = []
        for part in parts {
            let found = try part.snapshot.fetch(question)
            for (index, id) in found.ids.enumerated() {
                entries.append(
                    Entry(
                        id: id,
                        row: found.rows.isEmpty ? nil : moved(found.rows[index], from: part)))
            }
            plans.append(found.plan)
        }
        if !paths.isEmpty {
            let keys = try SnapshotObjects(self).keys(of: entries.map(\.row), along: paths)
            for (index, keys) in keys.enumerated() { entries[index].keys = keys }
        }
        // What each store gives is in order already, which sorting makes use of.
        entries.sort {
            paths.precedes($0.keys, $1.keys) ?? (SortingOrder.compare($0.id, $1.id) < 0)
        }
        let rest = entries.dropFirst(request.offset)
        let cut = request.limit.map { rest.prefix($0) } ?? rest
        let words = plans
        return StoreFetchResult(
            ids: cut.map(\.id), rows: request.includesRows ? cut.compactMap(\.row) : [],
            plan: Self.plan(words))
    }

    private static func plan(_ plans: [String]) -> String {
        plans.isEmpty
            ? "no store" : "\(plans.count) stores, put in order: \(plans.joined(separator: "; "))"
    }

    func count(_ request: StoreFetch) throws(StoreError) -> Int {
        let parts = try parts(for: request)
        if parts.count == 1 { return try parts[0].snapshot.count(request) }
        var question = request
        question.offset = 0
        question.limit = nil
        var count = 0
        for part in parts { count += try part.snapshot.count(question) }
        return min(max(0, count - request.offset), request.limit ?? .max)
    }

    func table(_ request: StoreTableFetch) throws(StoreError) -> StoreTable {
        let parts = try parts(for: request.fetch)
        return parts.count == 1
            ? try parts[0].snapshot.table(request) : try tableOfObjects(request)
    }

    /// What passes the rows of a fetch from the only store that it concerns; nil if there are several, or if that one has no
    /// such way.
    func rowStream(for request: StoreFetch) throws(StoreError) -> (any RowStream)? {
        let parts = try parts(for: request)
        guard parts.count == 1, let rows = parts[0].snapshot as? any RowStream else { return nil }
        return MovedRows(base: rows, store: parts[0].store.number, references: references)
    }

    // MARK: Objects

    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        if let only = onlyPart(of: ids) {
            let rows = try only.snapshot.rows(ids)
            return rows.map { row in row.map { moved($0, from: only) } }
        }
        var rows = [Row?](repeating: nil, count: ids.count)
        for (part, places) in placed(ids) {
            let found = try part.snapshot.rows(places.map { ids[$0] })
            for (place, row) in zip(places, found) {
                rows[place] = row.map { moved($0, from: part) }
            }
        }
        return rows
    }

    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        if let only = onlyPart(of: owners) {
            return try only.snapshot.members(
                ofRelationship: relationship, entity: entity, owners: owners)
        }
        var members = [[ObjectID]](repeating: [], count: owners.count)
        for (part, places) in placed(owners) {
            let found = try part.snapshot.members(
                ofRelationship: relationship, entity: entity, owners: places.map { owners[$0] })
            for (place, ids) in zip(places, found) { members[place] = ids }
        }
        return members
    }

    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    {
        guard let part = onlyPart(of: [target]) else { return [] }
        return try part.snapshot.referrers(
            toTarget: target, relationship: relationship, entity: entity)
    }

    func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        try part(of: id)?.snapshot.redirectedObjectID(for: id)
    }

    /// The state of the store that all of the objects are in; nil if there is none.
    private func onlyPart(of ids: [ObjectID]) -> Part? {
        guard let store = ids.first?.store, ids.allSatisfy({ $0.store == store }) else {
            return nil
        }
        return parts.first { $0.store.identifier == store }
    }

    /// The state of the store that an object is in, if it is in one of them.
    func part(of id: ObjectID) -> Part? { onlyPart(of: [id]) }

    /// The places of the objects of each store. Those of other stores have none.
    private func placed(_ ids: [ObjectID]) -> [(part: Part, places: [Int])] {
        let places = Dictionary(grouping: ids.indices) { ids[$0].store }
        return parts.compactMap { part in places[part.store.identifier].map { (part, $0) } }
    }

    // MARK: Columns

    func readBatches(_ request: StoreRead, _ body: (borrowing RowBatch) -> Bool)
        throws(StoreError)
    {
        var fetch = request.fetch
        fetch.entity = request.entity.index
        let parts = try parts(for: fetch)
        guard parts.count == 1 else { return try readBatchesGenerally(request, body) }
        try parts[0].snapshot.readBatches(request, body)
    }

    func lookUpBatches(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        let parts = try parts(of: request.entity.index, includesSubentities: true)
        guard parts.count == 1 else {
            return try lookUpBatchesGenerally(request, keys: keys, body)
        }
        try parts[0].snapshot.lookUpBatches(request, keys: keys, body)
    }

    func readRelatedBatches(
        _ request: StoreRelated, of owners: [ObjectID], _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        guard let part = onlyPart(of: owners) else {
            return try readRelatedBatchesGenerally(request, of: owners, body)
        }
        try part.snapshot.readRelatedBatches(request, of: owners, body)
    }

    // MARK: Explaining

    func explain(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        let parts = try parts(for: request)
        if parts.count == 1 { return try parts[0].snapshot.explain(request) }
        let found = try fetch(request)
        return QueryPlan(access: found.plan, results: found.ids.count)
    }

    func explain(_ request: StoreTableFetch) throws(StoreError) -> QueryPlan {
        let parts = try parts(for: request.fetch)
        if parts.count == 1 { return try parts[0].snapshot.explain(request) }
        let table = try table(request)
        return QueryPlan(access: table.plan, results: table.rows.count)
    }

    func explainCount(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        let parts = try parts(for: request)
        if parts.count == 1 { return try parts[0].snapshot.explainCount(request) }
        var plans: [String] = []
        for part in parts { plans.append(try part.snapshot.explainCount(request).access) }
        return QueryPlan(access: Self.plan(plans), results: try count(request))
    }
}

/// Rows of one store, which get its number on the way.
private struct MovedRows: RowStream {
    let base: any RowStream
    let store: UInt32
    let references: [[Int]]

    func streamRows(_ request: StoreFetch, _ body: (StreamedRows) -> Void) throws(StoreError) {
        try base.streamRows(request) { rows in
            rows.move(to: store, references[rows.entity])
            body(rows)
        }
    }

    func streamRowsInOrder(_ request: StoreFetch, _ body: (StreamedRows) -> Void)
        throws(StoreError)
    {
        try base.streamRowsInOrder(request) { rows in
            rows.move(to: store, references[rows.entity])
            body(rows)
        }
    }

    func count(_ request: StoreFetch) throws(StoreError) -> Int { try base.count(request) }
}

extension StoreSnapshot {
    /// What passes the rows of a fetch as they are read; nil if there is no such way.
    func rowStream(for request: StoreFetch) throws(StoreError) -> (any RowStream)? {
        if let snapshot = self as? CoordinatedSnapshot {
            return try snapshot.rowStream(for: request)
        }
        return self as? any RowStream
    }
}

extension Row {
    /// The row with the number of a store in its references, or with 0 none. By entity: the columns that are references.
    func moved(to store: UInt32, _ references: [[Int]], in schema: Schema) -> Row {
        Row(
            id: id, entity: entity, version: version,
            cells: cells.moved(
                to: store, references[entity],
                columns: schema.entities[entity].columns.count))
    }
}
