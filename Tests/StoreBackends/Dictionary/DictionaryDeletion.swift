// A batch delete from a dictionary store, with the delete rules of the model.

import CairnModel
import CairnStore

/// Objects being deleted.
struct DictionaryDeletion {
    let schema: Schema
    var state: DictionaryState

    mutating func run(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        let before = state
        let targets: [ObjectID]
        let identity = state.identity
        switch try request.resolved(in: schema, entity: { identity.entity(of: $0) }).target {
        case .fetch(let fetch): targets = try state.fetch(fetch, in: schema).ids
        case .ids(let ids, let entity):
            let family = schema.entities[entity].family
            targets = ids.filter { id in
                state.objects[id].map { family.contains($0.entity) } ?? false
            }
        case .matching, .objectIDs:
            preconditionFailure("a condition is resolved before it is evaluated")
        }
        let deleted = try delete(targets)
        try state.derive(after: before, in: schema)
        if let constraint = state.sharedKey(in: schema) {
            throw StoreError(
                .constraintConflict, "the deletion would leave two objects with the same values",
                context: .init(key: constraint.names.joined(separator: ", ")))
        }
        var result = BatchDeleteResult()
        result.deletedCount = Set(targets).count
        result.cascadedCount = deleted.count - result.deletedCount
        if request.reportsIDs { result.objectIDs = deleted }
        for (id, object) in state.objects where before.objects[id]?.values != object.values {
            state.objects[id]?.version += 1
        }
        if !deleted.isEmpty {
            state.commit += 1
            result.commit = state.commit
        }
        return result
    }

    /// Deletes objects and whatever their cascades reach; all of them are named.
    mutating func delete(_ targets: [ObjectID]) throws(StoreError) -> [ObjectID] {
        var order: [ObjectID] = []
        var reached: Set<ObjectID> = []
        var waiting = targets
        while !waiting.isEmpty {
            let id = waiting.removeFirst()
            guard let object = state.objects[id], reached.insert(id).inserted else { continue }
            order.append(id)
            forEachRelationship(of: object) { index, relationship in
                if relationship.description.deleteRule == .cascade {
                    waiting += members(of: id, index, object)
                }
            }
        }
        let before = state
        var denials: [StoreError] = []
        for id in order {
            guard let object = state.objects[id] else { continue }
            forEachRelationship(of: object) { index, relationship in
                guard relationship.description.deleteRule == .deny else { return }
                for blocker in members(of: id, index, object) where !reached.contains(blocker) {
                    denials.append(
                        StoreError(
                            .deleteDenied, "another object still refers to the object",
                            context: .init(
                                entity: schema.entities[object.entity].name,
                                key: relationship.description.name, objectID: id,
                                value: .objectID(blocker))))
                }
            }
        }
        for id in order { state.objects[id] = nil }
        for index in state.pairs.indices {
            state.pairs[index] = state.pairs[index].filter {
                !reached.contains($0.source) && !reached.contains($0.destination)
            }
        }
        try throwAny(denials + clearReferences(to: reached))
        _ = state.settleOrders(after: before, in: schema)
        return order
    }

    /// Gives the references that must not be nil.
    private mutating func clearReferences(to gone: Set<ObjectID>) -> [StoreError] {
        var failures: [StoreError] = []
        for (id, object) in state.objects {
            let entity = schema.entities[object.entity]
            for (column, description) in entity.columns.enumerated() {
                guard let target = object.values[column].reference, gone.contains(target),
                    let index = description.relationship
                else { continue }
                let relationship = entity.relationships[index]
                let rule = relationship.inverse.map {
                    schema.entities[relationship.destination].relationships[$0].description
                        .deleteRule
                }
                if rule == .noAction { continue }
                if !description.isOptional {
                    failures.append(
                        StoreError(
                            .missingMandatory, "a mandatory relationship would become nil",
                            context: .init(
                                entity: entity.name, key: description.name, objectID: id,
                                value: .objectID(target))))
                }
                state.objects[id]?.values[column] = .null
            }
        }
        return failures
    }

    private func throwAny(_ errors: [StoreError]) throws(StoreError) {
        if errors.count == 1 { throw errors[0] }
        guard let first = errors.first else { return }
        let isMixed = Set(errors.map(\.code)).count > 1
        throw StoreError(
            isMixed ? .multiple : first.code, "several objects cannot be deleted",
            context: first.context, details: errors)
    }

    private func forEachRelationship(
        of object: DictionaryObject, _ body: (Int, SchemaRelationship) -> Void
    ) {
        for (index, relationship) in schema.entities[object.entity].relationships.enumerated() {
            body(index, relationship)
        }
    }

    private func members(of id: ObjectID, _ relationship: Int, _ object: DictionaryObject)
        -> [ObjectID]
    {
        state.members(
            ofRelationship: relationship, entity: object.entity, owner: id, in: schema)
    }
}
