// What a context shows, as a state of a store: what the contexts that work on it read.
//
//   1. An object that the context has, and whose values it knows, is as it is there, be it changed, new or out of date.
//      One that it has deleted is not there. All others are as the context itself would read them.
//   2. Fetches are the context's own: what it reads, overlaid with what is changed in it.
//   3. Members are those that the context's objects show.
//
// A row that is made of changes has version 0: no store has it. Where it leads to an object with a temporary id, the word has
// a mark.
//
// Invariants: reading makes no object of the context one of the changed ones.
// Threads: those of the context. What reads elsewhere is not given it.

import CairnModel
import CairnStore

/// What a context shows to those that work on it.
final class ParentSource: ParentState, @unchecked Sendable {
    // Unchecked: a child works where its parent does, and reads nowhere else.

    private let context: ManagedObjectContext
    let identity: StoreIdentity

    init(_ context: ManagedObjectContext) {
        self.context = context
        var identity = context.identity
        identity.temporaryStore = context.identifier
        self.identity = identity
    }

    var schema: Schema { context.schema }

    var commit: UInt64 { (try? context.source())?.commit ?? 0 }

    // MARK: Fetching

    /// A request that is put to the context, and its changed objects which that is about; none if it goes on to what the
    /// context reads.
    private func question(_ request: StoreFetch) throws(StoreError) -> (
        FetchQuestion, pending: [ManagedObject]
    ) {
        context.processPendingChanges()
        let question = try context.question(of: request.inTwoValues(in: schema))
        return (question, context.pendingObjects(question))
    }

    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        let (question, pending) = try question(request)
        guard !pending.isEmpty else {
            var found = try context.source().fetch(question.fetch)
            for index in found.rows.indices {
                found.rows[index] = try context.shownRow(found.rows[index])
            }
            return found
        }
        let entries = try context.answer(
            question, pending, includesRows: request.includesRows)
        var rows: [Row] = []
        if request.includesRows {
            rows.reserveCapacity(entries.count)
            for entry in entries {
                if let object = entry.object {
                    // A change of the other side alone has not read it.
                    try context.fulfillOrThrow(object)
                    rows.append(context.presentRow(of: object))
                } else if let row = entry.row {
                    rows.append(try context.shownRow(row))
                }
            }
        }
        return StoreFetchResult(
            ids: entries.map(\.id), rows: rows, plan: "the parent context's objects")
    }

    func count(_ request: StoreFetch) throws(StoreError) -> Int {
        let (question, pending) = try question(request)
        guard !pending.isEmpty else { return try context.source().count(question.fetch) }
        return try context.answer(question, pending, includesRows: false).count
    }

    func table(_ request: StoreTableFetch) throws(StoreError) -> StoreTable {
        context.processPendingChanges()
        // What leads elsewhere may lead to any of the changed objects.
        guard context.changed.count > 0 || context.parent != nil else {
            return try context.source().table(request)
        }
        return try tableOfObjects(request)
    }

    func explain(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        try context.source().explain(request)
    }

    func explain(_ request: StoreTableFetch) throws(StoreError) -> QueryPlan {
        try context.source().explain(request)
    }

    func explainCount(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        try context.source().explainCount(request)
    }

    // MARK: Objects

    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        var rows: [Row?] = Array(repeating: nil, count: ids.count)
        var unknown: [Int] = []
        for (index, id) in ids.enumerated() {
            if let object = context.registry.object(for: id) {
                if object.isDeleted || object.isGone { continue }
                if object.isFault, object.hasEdits { try context.fulfillOrThrow(object) }
                if !object.isFault || object.hasCells {
                    if !object.isGone { rows[index] = context.presentRow(of: object) }
                    continue
                }
            }
            if !id.isTemporary || context.parent != nil { unknown.append(index) }
        }
        if unknown.isEmpty { return rows }
        let read = try context.read(unknown.map { ids[$0] })
        for (index, row) in zip(unknown, read) {
            rows[index] = row
            if let row, let object = context.registry.object(for: ids[index]) { object.take(row) }
        }
        return rows
    }

    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        context.processPendingChanges()
        var members: [[ObjectID]] = Array(repeating: [], count: owners.count)
        var unknown: [Int] = []
        for (index, owner) in owners.enumerated() {
            if let object = context.registry.object(for: owner) {
                if object.isDeleted || object.isGone { continue }
                members[index] = context.memberIDs(of: object, relationship)
            } else if context.hasLostLinks {
                // One that was gone for a while has members by edits of others that nobody has found yet.
                let object = context.faults(with: [owner], of: schema.entities[entity])[0]
                members[index] = context.memberIDs(of: object, relationship)
            } else if !owner.isTemporary || context.parent != nil {
                unknown.append(index)
            }
            if context.hasLostLinks {
                members[index].removeAll { context.registry.object(for: $0)?.isGone == true }
            }
        }
        try context.throwReadError()
        if unknown.isEmpty { return members }
        // What was added to one would have made it an object of the context.
        let read = try context.source().members(
            ofRelationship: relationship, entity: entity, owners: unknown.map { owners[$0] })
        let storage = schema.entities[entity].relationships[relationship].storage
        for (index, ids) in zip(unknown, read) {
            members[index] = ids.filter { id in
                guard let member = context.registry.object(for: id) else { return true }
                if member.isGone || member.isDeleted { return false }
                guard case .inverseColumn(_, let column) = storage, let edit = member.edit(column)
                else { return true }
                return edit.reference == owners[index]
            }
        }
        return members
    }

    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    {
        var changed = ChangedReferrers()
        return try referrers(
            toTarget: target, relationship: relationship, entity: entity, &changed)
    }

    func referrers(
        toTarget target: ObjectID, relationship: Int, entity: Int,
        _ changed: inout ChangedReferrers
    ) throws(StoreError) -> [ObjectID] {
        context.processPendingChanges()
        var found = changed.referrers(
            to: target, ChangedReferrers.Key(context, relationship, entity), in: context)
        if let above = context.parentSource {
            let ids = try above.referrers(
                toTarget: target, relationship: relationship, entity: entity, &changed)
            found.formUnion(ids.filter(isNotChanged))
        } else if !target.isTemporary {
            let ids = try context.source().referrers(
                toTarget: target, relationship: relationship, entity: entity)
            found.formUnion(ids.filter(isNotChanged))
        }
        try context.throwReadError()
        return found.sorted { SortingOrder.compare($0, $1) < 0 }
    }

    func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        try context.redirectedObjectID(for: id)
    }

    /// Whether the object of an id leads where the context's source says.
    private func isNotChanged(_ id: ObjectID) -> Bool {
        context.registry.object(for: id)?.isNotChanged ?? true
    }
}

extension ManagedObject {
    /// Whether it leads where the context's source says.
    fileprivate var isNotChanged: Bool { changedIndex < 0 && !isDeleted && !isGone }
}

extension ManagedObjectContext {
    /// A request that was put to a store.
    func question(of fetch: StoreFetch) throws(StoreError) -> FetchQuestion {
        guard schema.entities.indices.contains(fetch.entity) else {
            throw StoreError(
                .invalidRequest, "the model has no entity with the index \(fetch.entity)")
        }
        let entity = schema.entities[fetch.entity]
        var evaluator: PredicateEvaluator?
        if let predicate = fetch.predicate {
            evaluator = try PredicateEvaluator(predicate, entity: entity, in: schema)
        }
        let sort = try [SortPath](fetch.sort, of: entity, in: schema)
        return FetchQuestion(fetch: fetch, entity: entity, evaluator: evaluator, sort: sort)
    }

    /// A row that was read, or what the context shows instead.
    func shownRow(_ row: Row) throws(StoreError) -> Row {
        guard let object = registry.object(for: row.id), !object.isGone, !object.isFault else {
            return row
        }
        return presentRow(of: object)
    }

    /// An object's values as they are now, as a row. It must know them.
    func presentRow(of object: ManagedObject) -> Row {
        if !object.hasEdits, let row = object.row { return row }
        var builder = RowCellsBuilder(columns: object.entity.columns.count)
        for column in object.entity.columns.indices {
            let value = object.readable(object.presentValue(column))
            if value != .null { registry.put(value, column, into: &builder) }
        }
        return Row(
            id: object.objectID, entity: object.entity.index, version: 0, cells: builder.finish())
    }
}
