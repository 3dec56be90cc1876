// A batch update of a dictionary store: object by object, then one look at the whole.

import CairnModel
import CairnStore
import FoundationEssentials

/// A batch update being carried out.
struct DictionaryUpdate {
    let schema: Schema
    var state: DictionaryState

    mutating func run(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        let plan = try BatchUpdatePlan(request, in: schema, now: Date())
        let before = state
        try checkTargets(plan)
        let found = try state.fetch(plan.fetch, in: schema).ids
        let objects = SnapshotObjects(DictionarySnapshot(state: before, schema: schema))
        var failures: [StoreError] = []
        var changed: [ObjectID] = []
        for id in found {
            guard let row = before.row(id) else { continue }
            for assignment in plan.assignments {
                let value: Value
                switch assignment.content {
                case .constant(let constant): value = constant
                case .expression(let evaluator):
                    let given = evaluator.value(for: objects.object(of: row)).plain
                    do throws(StoreError) {
                        value = try assignment.fitted(given)
                    } catch {
                        var failure = error
                        failure.context.entity = schema.entities[row.entity].name
                        failure.context.objectID = id
                        failures.append(failure)
                        continue
                    }
                }
                state.objects[id]?.values[assignment.column] = value
            }
            if state.objects[id]?.values != before.objects[id]?.values { changed.append(id) }
        }
        try objects.rethrow()
        try throwAny(failures, .multiple)
        try throwAny(sharedKeys(), .constraintConflict)
        _ = state.settleOrders(after: before, in: schema)
        try state.derive(after: before, in: schema)
        for (id, object) in state.objects where before.objects[id]?.values != object.values {
            state.objects[id]?.version += 1
        }
        var result = BatchUpdateResult()
        result.updatedCount = changed.count
        result.unchangedCount = found.count - changed.count
        if request.resultType == .objectIDs { result.objectIDs = changed }
        if state.objects != before.objects {
            state.commit += 1
            result.commit = state.commit
        }
        return result
    }

    private func throwAny(_ failures: [StoreError], _ code: StoreError.Code) throws(StoreError) {
        if failures.isEmpty { return }
        if failures.count == 1 { throw failures[0] }
        throw StoreError(code, "several objects are refused", details: failures)
    }

    private func checkTargets(_ plan: BatchUpdatePlan) throws(StoreError) {
        for assignment in plan.assignments {
            guard case .constant(.objectID(let id)) = assignment.content,
                let relationship = plan.entity.columns[assignment.column].relationship
            else { continue }
            let destination = schema.entities[
                plan.entity.relationships[relationship].destination]
            guard state.identity.owns(id, entity: destination.index) else {
                throw StoreError(.foreignObject, "the target is of another store or entity")
            }
            guard let object = state.objects[id] else {
                throw StoreError(.objectNotFound, "the target is not there")
            }
            guard destination.family.contains(object.entity) else {
                throw StoreError(.foreignObject, "the target is of another store or entity")
            }
        }
    }

    /// Everybody who shares a key with somebody that comes before.
    private func sharedKeys() -> [StoreError] {
        var failures: [StoreError] = []
        for entity in schema.entities {
            for constraint in entity.constraints where constraint.declaringEntity == entity.index {
                var holders: Set<[Value]> = []
                for (id, object) in state.objects(of: entity) {
                    guard let key = constraint.naiveKey(object.values, of: entity),
                        !holders.insert(key).inserted
                    else { continue }
                    failures.append(
                        StoreError(
                            .constraintConflict, "the key would belong to another object, too",
                            context: .init(
                                entity: entity.name, key: constraint.names.joined(separator: ", "),
                                objectID: id)))
                }
            }
        }
        return failures
    }
}
