// A save of a dictionary store while it is being decided.
//
//   1. Apply everything to a copy: temporary ids become permanent ones, versions are compared first.
//   2. As long as two objects of the copy share a unique key: let the policy take one step.
//   3. References to what is gone are cleared, one-to-one relationships made to agree, pairs cut. Then everything that
//      is derived is computed anew.
//   4. Nothing that was written may lack a mandatory value.
//   5. What differs from before gets a new version. Ids of what went in favour of others lead to these, and what comes in leads
//      to them from the beginning.
//
// Invariants: `before` never changes; ids in `state` are permanent.

import CairnModel
import CairnStore

/// A save being decided.
struct DictionaryDraft {
    let schema: Schema
    let identity: StoreIdentity
    let before: DictionaryState
    let request: SaveRequest
    var state: DictionaryState
    var result = SaveResult()
    /// New objects, in the order of their creation.
    var created: [ObjectID] = []
    /// Updated objects, in the order of the request.
    var updated: [ObjectID] = []
    /// Columns that were set on new objects, and changed ones of updated objects.
    var assigned: [ObjectID: ColumnSet] = [:]
    /// By permanent id.
    var absorbed: [ObjectID: ObjectID] = [:]
    /// Objects that lost their keys to others although somebody may have their ids.
    var successors: [ObjectID: ObjectID] = [:]
    /// Permanent id to the id in the request.
    private var requestIDs: [ObjectID: ObjectID] = [:]
    /// Versions of objects that were deleted elsewhere and are created again.
    private var recreated: [ObjectID: UInt32] = [:]

    init(
        schema: Schema, identity: StoreIdentity, before: DictionaryState, request: SaveRequest,
        permanentIDs: [ObjectID: ObjectID]
    ) {
        self.schema = schema
        self.identity = identity
        self.before = before
        self.request = request
        state = before
        result.permanentIDs = permanentIDs
        for (temporary, permanent) in permanentIDs { requestIDs[permanent] = temporary }
    }

    /// The policy; nil if conflicts are reported.
    var policy: MergePolicyKind? {
        if case .policy(let kind) = request.resolution { kind } else { nil }
    }

    mutating func run() throws(StoreError) -> SaveOutcome {
        var conflicts = try apply()
        if conflicts.isEmpty || policy == nil || policy == .error {
            if policy == nil || policy == .error {
                conflicts += constraintConflicts()
            } else {
                while let group = firstGroup() { try resolve(group) }
            }
        }
        guard conflicts.isEmpty else {
            if policy == nil { return .conflicts(conflicts) }
            throw DictionaryDraft.error(conflicts)
        }
        try mapReferences()
        try applyPairs()
        agreeOnOneToOne()
        result.reordered = state.settleOrders(after: before, in: schema, orderChanges, policy)
        try state.derive(after: before, in: schema)
        if !request.leavesMandatoryOpen { try checkMandatory() }
        try redirect()
        if state.sharedKey(in: schema) != nil {
            throw StoreError(.constraintConflict, "references that were cleared make objects equal")
        }
        finish()
        return .saved(result)
    }

    static func error(_ conflicts: [SaveConflict]) -> StoreError {
        let isVersion = conflicts.contains { if case .version = $0 { true } else { false } }
        return StoreError(
            isVersion ? .mergeConflict : .constraintConflict, "the save is in conflict",
            conflicts: conflicts)
    }

    /// The id an object had in the request.
    func requestID(_ id: ObjectID) -> ObjectID { requestIDs[id] ?? id }

    private func permanent(_ id: ObjectID) -> ObjectID { result.permanentIDs[id] ?? id }

    private func permanent(_ value: Value) -> Value {
        value.reference.map { .objectID(permanent($0)) } ?? value
    }

    /// A value that an object comes with: what leads to one that was folded into another before leads to that, if it may.
    private func led(_ value: Value, _ column: Int, of id: ObjectID, _ entity: Int) -> Value {
        let value = permanent(value)
        guard let target = value.reference, before.objects[id]?.values[column] != value,
            !request.inserted.contains(where: { permanent($0.id) == target }),
            let other = before.redirected(target), let alive = before.objects[other],
            let index = schema.entities[entity].columns[column].relationship
        else { return value }
        let destination = schema.entities[entity].relationships[index].destination
        return schema.entities[destination].family.contains(alive.entity) ? .objectID(other) : value
    }

    // MARK: 1 Applying

    private mutating func apply() throws(StoreError) -> [SaveConflict] {
        try checkRequest()
        var conflicts: [SaveConflict] = []
        for object in request.inserted {
            let id = permanent(object.id)
            guard identity.owns(id, entity: object.entity), before.objects[id] == nil else {
                throw StoreError(.invalidRequest, "a new object has an id that is in use")
            }
            state.objects[id] = DictionaryObject(
                entity: object.entity, version: 1,
                values: object.values.enumerated().map { led($1, $0, of: id, object.entity) })
            created.append(id)
            assigned[id] = object.assigned
            if object.version > 0 { recreated[id] = object.version &+ 1 }
        }
        for object in request.updated {
            if let conflict = try applyUpdate(object) { conflicts.append(conflict) }
        }
        // What others say of objects that go back is known now.
        let reverted = Set(result.reverted)
        if policy == .rollback {
            for object in request.updated where reverted.contains(object.id) { loosen(object) }
        }
        if policy == nil || policy == .error { conflicts += lockedConflicts() }
        for object in request.deleted {
            guard let stored = before.objects[object.id] else { continue }
            let isConflict =
                object.version.map { $0 != stored.version } ?? false
                && !isUnchanged(stored, since: object.base)
            if isConflict && (policy == nil || policy == .error) {
                conflicts.append(
                    .version(
                        VersionConflict(
                            id: object.id, entity: object.entity,
                            entityName: schema.entities[object.entity].name, base: nil,
                            stored: before.row(object.id), isDeletion: true)))
            } else if isConflict
                && (policy == .mergeByPropertyStoreTrump || policy == .rollback
                    || keepsStored(object.entity))
            {
                result.undeleted.append(object.id)
                continue
            }
            state.objects[object.id] = nil
        }
        return conflicts
    }

    /// Whether the model says that deletions are as they are stored.
    private func keepsStored(_ entity: Int) -> Bool {
        policy == .declared && schema.entities[entity].mergeRules.keepsStored
    }

    private mutating func applyUpdate(_ object: SaveRequest.Updated) throws(StoreError)
        -> SaveConflict?
    {
        let entity = schema.entities[object.entity]
        let stored = before.objects[object.id]
        let base = entity.columns.indices.map {
            let value = object.base.cells.value($0, of: entity, in: identity)
            return stored == nil ? led(value, $0, of: object.id, object.entity) : value
        }
        var object = object
        for index in object.changes.indices {
            object.changes[index].value = led(
                object.changes[index].value, object.changes[index].column, of: object.id,
                object.entity)
        }
        let isConflict =
            stored?.version != object.base.version && !isUnchanged(stored, since: object.base)
        updated.append(object.id)
        assigned[object.id] = ColumnSet()
        if isConflict && (policy == nil || policy == .error) {
            applyChanges(object, over: stored?.values)
            return .version(
                VersionConflict(
                    id: object.id, entity: object.entity,
                    entityName: schema.entities[object.entity].name, base: object.base,
                    stored: before.row(object.id), isDeletion: false))
        }
        guard isConflict else {
            applyChanges(object, over: stored?.values)
            return nil
        }
        if policy == .declared, let stored {
            try mergeDeclared(object, base: base, stored.values)
            return nil
        }
        switch policy {
        case .declared where keepsStored(object.entity):
            result.reverted.append(object.id)
        case .mergeByPropertyObjectTrump, .overwrite, .declared:
            if let stored {
                applyChanges(object, over: policy == .overwrite ? base : stored.values)
            } else {
                recreated[object.id] = object.base.version &+ 1
                state.objects[object.id] = DictionaryObject(
                    entity: object.entity, version: 0, values: base)
                applyChanges(object, over: base)
            }
        case .mergeByPropertyStoreTrump:
            guard let stored else {
                result.reverted.append(object.id)
                break
            }
            var kept = object
            kept.changes = object.changes.filter { stored.values[$0.column] == base[$0.column] }
            applyChanges(kept, over: stored.values)
        case .rollback, .error, nil:
            result.reverted.append(object.id)
        }
        return nil
    }

    private mutating func mergeDeclared(
        _ object: SaveRequest.Updated, base: [Value], _ stored: [Value]
    ) throws(StoreError) {
        var ours = base
        for (column, value) in object.changes { ours[column] = permanent(value) }
        let values = try ConflictRules.declaredValues(
            schema.entities[object.entity], base: base, ours: ours,
            changed: ColumnSet(object.changes.map(\.column)), theirs: stored)
        state.objects[object.id]?.values = values
        assigned[object.id] = ColumnSet(values.indices.filter { values[$0] != stored[$0] })
    }

    /// Objects without changes of their own that somebody else has changed.
    private func lockedConflicts() -> [SaveConflict] {
        let own = Set(request.updated.map(\.id) + request.deleted.map(\.id))
        return request.locked.compactMap { object in
            let stored = before.objects[object.id]
            guard !own.contains(object.id), stored?.version != object.base.version,
                !isUnchanged(stored, since: object.base)
            else { return nil }
            return .version(
                VersionConflict(
                    id: object.id, entity: object.entity,
                    entityName: schema.entities[object.entity].name, base: object.base,
                    stored: before.row(object.id), isDeletion: false))
        }
    }

    /// Whether nothing but what is derived differs from the row that was read, and in stores whose rows have places in lists,
    /// these: there the version does not tell.
    private func isUnchanged(_ stored: DictionaryObject?, since base: Row?) -> Bool {
        guard let stored, let base else { return false }
        let entity = schema.entities[base.entity]
        if entity.derivedColumns.isEmpty, schema.orderedReferences[base.entity].isEmpty {
            return false
        }
        let values = entity.columns.indices.map { base.cells.value($0, of: entity, in: identity) }
        return entity.isEqualButDerived(stored.values, values)
    }

    private mutating func applyChanges(_ object: SaveRequest.Updated, over values: [Value]?) {
        guard var values else { return }
        for (column, value) in object.changes {
            values[column] = permanent(value)
            assigned[object.id, default: ColumnSet()].insert(column)
        }
        state.objects[object.id]?.values = values
    }

    /// The other ends of one-to-one relationships that a dropped change had tied to an object let go of it.
    private mutating func loosen(_ object: SaveRequest.Updated) {
        for (column, value) in object.changes {
            guard let target = value.reference.map(permanent),
                let back = backColumn(of: column, entity: object.entity),
                before.objects[object.id]?.values[column] != .objectID(target),
                state.objects[target]?.values[back] == .objectID(object.id)
            else { continue }
            state.objects[target]?.values[back] = .null
        }
    }

    /// The changes of an updated object are dropped.
    mutating func revert(_ id: ObjectID) {
        guard let stored = before.objects[id] else { return }
        for change in request.updated where change.id == id { loosen(change) }
        state.objects[id] = stored
        assigned[id] = ColumnSet()
        if !result.reverted.contains(id) { result.reverted.append(id) }
    }

    /// The column of the other side, if both sides of a relationship are to-one.
    func backColumn(of column: Int, entity: Int) -> Int? {
        let owner = schema.entities[entity]
        guard let index = owner.columns[column].relationship else { return nil }
        let relationship = owner.relationships[index]
        guard let inverse = relationship.inverse,
            case .column(let back) = schema.entities[relationship.destination]
                .relationships[inverse].storage
        else { return nil }
        return back
    }

    // MARK: 3 References

    /// What an id leads to in the end.
    func survivor(_ id: ObjectID) -> ObjectID {
        var current = id
        while let next = absorbed[current] { current = next }
        return current
    }

    private mutating func mapReferences() throws(StoreError) {
        for (id, object) in state.objects {
            let entity = schema.entities[object.entity]
            for (column, description) in entity.columns.enumerated() {
                guard let target = object.values[column].reference,
                    let index = description.relationship
                else { continue }
                let relationship = entity.relationships[index]
                let end = survivor(target)
                if let alive = state.objects[end] {
                    let fits = schema.entities[relationship.destination].family.contains(
                        alive.entity)
                    guard fits else {
                        throw target == end
                            ? foreign(entity, description.name, id)
                            : lost(
                                entity.name, description.name, target,
                                schema.entities[alive.entity].name)
                    }
                    state.objects[id]?.values[column] = .objectID(end)
                    continue
                }
                let isNew = before.objects[id]?.values[column] != object.values[column]
                let isGoing = before.objects[target] != nil || created.contains(target)
                if target.isTemporary || target.store != identity.identifier {
                    throw foreign(entity, description.name, id)
                }
                let rule = relationship.inverse.map {
                    schema.entities[relationship.destination].relationships[$0].description
                        .deleteRule
                }
                if isNew || (isGoing && rule != .noAction) {
                    state.objects[id]?.values[column] = .null
                }
            }
        }
    }

    private func foreign(_ entity: SchemaEntity, _ key: String, _ id: ObjectID) -> StoreError {
        StoreError(
            .foreignObject, "the object that is pointed at is of another store or entity",
            context: .init(entity: entity.name, key: key, objectID: requestID(id)))
    }

    /// Removals first, then additions; then absorbed ends are replaced and pairs of the dead removed.
    private mutating func applyPairs() throws(StoreError) {
        for change in request.pairChanges where !change.isAddition {
            let (a, b) = (permanent(change.source), permanent(change.destination))
            state.pairs[change.pairs].remove(DictionaryPair(source: a, destination: b))
            if schema.pairs[change.pairs].isSymmetric(in: schema) {
                state.pairs[change.pairs].remove(DictionaryPair(source: b, destination: a))
            }
        }
        for change in request.pairChanges where change.isAddition {
            let (a, b) = (end(change.source), end(change.destination))
            insertPair(DictionaryPair(source: a, destination: b), change.pairs)
        }
        for index in schema.pairs.indices {
            let all = state.pairs[index]
            state.pairs[index] = []
            let source = schema.entities[schema.pairs[index].source]
            let destination = schema.entities[schema.pairs[index].destination]
            for pair in all {
                let moved = DictionaryPair(
                    source: survivor(pair.source), destination: survivor(pair.destination))
                guard let one = state.objects[moved.source],
                    let other = state.objects[moved.destination]
                else { continue }
                guard source.family.contains(one.entity), destination.family.contains(other.entity)
                else {
                    throw lost(source.name, destination.name, pair.source, source.name)
                }
                insertPair(moved, index)
            }
        }
    }

    /// What an end of a new pair leads to, where others have folded it before.
    private func end(_ id: ObjectID) -> ObjectID {
        let id = permanent(id)
        return state.objects[id] == nil && absorbed[id] == nil ? before.redirected(id) ?? id : id
    }

    private mutating func insertPair(_ pair: DictionaryPair, _ index: Int) {
        let mirrored = DictionaryPair(source: pair.destination, destination: pair.source)
        if schema.pairs[index].isSymmetric(in: schema), state.pairs[index].contains(mirrored) {
            return
        }
        state.pairs[index].insert(pair)
    }

    /// Where A leads to B but B does not lead back, B is made to if it leads nowhere; else A lets go.
    private mutating func agreeOnOneToOne() {
        for id in state.objects.keys.sorted(by: { $0.reference < $1.reference }) {
            guard let object = state.objects[id] else { continue }
            for column in object.values.indices {
                guard let target = object.values[column].reference,
                    let back = backColumn(of: column, entity: object.entity),
                    let other = state.objects[target]
                else { continue }
                if other.values[back].isNull {
                    state.objects[target]?.values[back] = .objectID(id)
                } else if other.values[back] != .objectID(id) {
                    state.objects[id]?.values[column] = .null
                }
            }
        }
    }

    /// The orders of the request, by permanent ids.
    private var orderChanges: [SaveRequest.OrderChange] {
        request.orderChanges.map { change in
            var change = change
            change.owner = survivor(permanent(change.owner))
            change.members = change.members.map { survivor(permanent($0)) }
            change.base = change.base.map { $0.map { survivor(permanent($0)) } }
            return change
        }
    }

    // MARK: 4 and 5

    private func checkMandatory() throws(StoreError) {
        var failures: [StoreError] = []
        for (id, object) in state.objects.sorted(by: { $0.key.reference < $1.key.reference }) {
            let entity = schema.entities[object.entity]
            for (column, description) in entity.columns.enumerated()
            where !description.isOptional && object.values[column].isNull {
                if description.attribute?.derivationExpression != nil { continue }
                if let old = before.objects[id], old.values[column].isNull { continue }
                failures.append(
                    StoreError(
                        .missingMandatory, "a required property is nil",
                        context: .init(
                            entity: entity.name, key: description.name, objectID: requestID(id))))
            }
        }
        guard let first = failures.first else { return }
        if !result.displaced.isEmpty {
            throw StoreError(
                .constraintConflict, "an object that others must point at would be displaced",
                context: first.context, details: failures)
        }
        if failures.count == 1 { throw first }
        throw StoreError(.multiple, "several properties are invalid", details: failures)
    }

    /// Objects that are there lead nowhere, those that went in favour of others to these.
    private mutating func redirect() throws(StoreError) {
        for redirect in request.redirects {
            let survivor = permanent(redirect.survivor)
            // Gone on both sides: it was led elsewhere, or nowhere.
            guard state.objects[redirect.id] == nil,
                before.objects[redirect.id] != nil
                    || !request.deleted.contains(where: { $0.id == redirect.id }),
                survivor != redirect.id
            else { continue }
            successors[redirect.id] = survivor
        }
        for (id, successor) in successors where state.objects[id] == nil {
            var end = successor
            while state.objects[end] == nil, let next = successors[end] { end = next }
            if let other = state.objects[end] == nil ? before.redirected(end) : end,
                state.objects[other] != nil, other != id
            {
                state.redirects[id] = other
            }
        }
        for id in result.displaced { result.successors[id] = state.redirected(id) }
        for id in state.objects.keys { state.redirects[id] = nil }
    }

    private mutating func finish() {
        var isWritten =
            state.pairs != before.pairs || state.orders != before.orders
            || state.redirects != before.redirects
        var reported = Set(created + updated + result.reverted + result.undeleted)
        for (id, object) in state.objects {
            if let old = before.objects[id] {
                guard old.values != object.values else { continue }
                state.objects[id]?.version = old.version &+ 1
            } else {
                // Nobody has read a version as great as the number of this commit, in stores whose first one is that of
                // the schema.
                state.objects[id]?.version =
                    recreated[id].map { max($0, UInt32(truncatingIfNeeded: state.commit + 2)) } ?? 1
            }
            isWritten = true
            reported.insert(id)
        }
        if before.objects.keys.contains(where: { state.objects[$0] == nil }) { isWritten = true }
        if isWritten {
            state.commit += 1
            result.commit = state.commit
        }
        for id in reported { result.rows[id] = state.row(id) }
        for id in absorbed.keys { result.absorbed[requestID(id)] = survivor(id) }
    }
}
