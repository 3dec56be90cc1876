// Batch requests.

import CairnLog
import CairnModel
public import CairnStore
import FoundationEssentials

extension PostgresStore {
    /// Inserts and updates many rows atomically.
    ///
    /// If there are many rows, only a part of them is in memory at a time, unless they can only be processed together; see
    /// `BulkInsert`.
    public func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        try checkWritable()
        guard let entity = schema.entity(named: request.entityName), !entity.isAbstract else {
            return try insert(request, nil, nil, inParts: false)
        }
        // The rows may have to be given several times.
        let rows = try request.recorded(for: entity)
        let request = request.with(rows)
        // Of a trial nothing may be written, not even a part.
        guard !request.isTrial, BulkInsert.canDivide(request, rows, entity, in: core) else {
            return try insert(request, entity, rows, inParts: false)
        }
        do throws(StoreError) {
            return try insert(request, entity, rows, inParts: true)
        } catch {
            guard error.cause is Undivided else { throw error }
        }
        return try insert(request, entity, rows, inParts: false)
    }

    /// - Parameters:
    ///   - rows: all of the request's.
    ///   - inParts: whether they are carried out part by part.
    private func insert(
        _ request: BatchInsertRequest, _ entity: SchemaEntity?, _ rows: RecordedRows?,
        inParts: Bool
    ) throws(StoreError) -> BatchInsertResult {
        let missing = inParts ? try request.missingPlan(in: schema) : nil
        let written = try run(request.author, request.contextName).run(fetching: missing?.scope) {
            catalog, found throws(StoreError) in
            var plan = SaveRun.Plan { store throws(StoreError) in try store.execute(request) }
            if let entity, let rows {
                plan.needs.numbers[catalog.entities[entity.index].tree] = rows.count
                if inParts {
                    let parts = BulkInsert(request, rows, entity, missing, scope: found)
                    plan = SaveRun.Plan(needs: plan.needs, parts: parts) {
                        store throws(StoreError) in try parts.finish(store)
                    }
                }
            }
            plan.needsAll = !inParts && request.missing != .stay
            return plan
        }
        var result = written.result
        result.commit = written.commit
        changes.deliver()
        return result
    }

    /// Updates many objects atomically.
    public func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        try checkWritable()
        let plan = try BatchUpdatePlan(request, in: schema, now: Date())
        // What is calculated may lead anywhere.
        let leadsAway = request.propertiesToUpdate.values.contains {
            if case .expression(let expression) = $0 {
                !expression.isAboutOne(plan.entity)
            } else {
                false
            }
        }
        var order: [ObjectID] = []
        let written = try run(request.author, request.contextName).run(fetching: plan.fetch) {
            catalog, ids throws(StoreError) in
            order = ids
            var found = request
            found.predicate = .comparison(.init(.key("SELF"), .in, ids.map { .objectID($0) }))
            found.sortDescriptors = []
            found.fetchLimit = 0
            found.fetchOffset = 0
            found.affectedStores = nil
            let asked = found
            var plan = SaveRun.Plan { store throws(StoreError) in try store.execute(asked) }
            plan.needs = PartialKnowledge.Needs(rows: ids, catalog, identity)
            plan.needsAll = leadsAway
            return plan
        }
        var result = written.result
        // They were found in another order than that of their numbers.
        let updated = Set(result.objectIDs)
        result.objectIDs = order.filter(updated.contains)
        result.commit = written.commit
        changes.deliver()
        return result
    }

    /// Deletes many objects atomically.
    public func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        try checkWritable()
        try request.checkAsks(identity)
        let request = try request.resolved(in: schema) { identity.entity(of: $0) }
        var fetch: StoreFetch?
        if case .fetch(let wanted) = request.target { fetch = wanted }
        let written = try run(request.author, request.contextName).run(fetching: fetch) {
            catalog, ids throws(StoreError) in
            var found = request
            found.affectedStores = nil
            if let fetch { found.target = .ids(ids, entity: schema.entities[fetch.entity].root) }
            let asked = found
            var plan = SaveRun.Plan { store throws(StoreError) in try store.execute(asked) }
            if case .ids(let ids, _) = asked.target {
                plan.needs = PartialKnowledge.Needs(rows: ids, catalog, identity)
            }
            return plan
        }
        var result = written.result
        result.commit = written.commit
        changes.deliver()
        return result
    }
}
