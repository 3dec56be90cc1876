// What a dictionary store does about objects that share a unique key: one group, one step at a time.

import CairnModel
import CairnStore

extension DictionaryDraft {
    /// Objects that share a key. The one that had it before comes first, then objects that were changed to
    /// it, in the order of the request, then new ones in the order of their creation.
    struct Group {
        let constraint: SchemaConstraint
        let values: [Value]
        let members: [ObjectID]
    }

    /// All constraints, each once.
    private var constraints: [SchemaConstraint] {
        schema.entities.flatMap { entity in
            entity.constraints.filter { $0.declaringEntity == entity.index }
        }
    }

    private func groups(of constraint: SchemaConstraint) -> [Group] {
        var byKey: [[Value]: [ObjectID]] = [:]
        let entity = schema.entities[constraint.declaringEntity]
        for (id, object) in state.objects(of: entity) {
            let values = object.values.map { final($0, constraint) }
            guard let key = constraint.naiveKey(values, of: entity) else { continue }
            byKey[key, default: []].append(id)
        }
        return byKey.filter { $0.value.count > 1 }
            .map { _, members in
                let sorted = members.sorted { rank($0, constraint) < rank($1, constraint) }
                let first = state.objects[sorted[0]]?.values ?? []
                return Group(
                    constraint: constraint,
                    values: constraint.columns.map { final(first[$0], constraint) },
                    members: sorted)
            }
            .sorted { rank($0.members[0], constraint) < rank($1.members[0], constraint) }
    }

    /// A value with the survivor of what it leads to. Where nil may be a key, a reference to what goes is nil.
    private func final(_ value: Value, _ constraint: SchemaConstraint) -> Value {
        guard let id = value.reference.map(survivor) else { return value }
        return constraint.options != nil && state.objects[id] == nil ? .null : .objectID(id)
    }

    /// Had the key before; was changed to it; is new.
    private func rank(_ id: ObjectID, _ constraint: SchemaConstraint) -> (Int, Int) {
        if let place = created.firstIndex(of: id) { return (2, place) }
        guard let old = before.objects[id], let now = state.objects[id] else { return (1, 0) }
        let entity = schema.entities[constraint.declaringEntity]
        if constraint.isSameKey(old.values, now.values, of: entity) { return (0, 0) }
        return (1, updated.firstIndex(of: id) ?? updated.count)
    }

    func firstGroup() -> Group? {
        for constraint in constraints {
            // New objects are folded into one another before they meet rows.
            if let group = groups(of: constraint).first(where: { news($0).count > 1 }) {
                return group
            }
        }
        for constraint in constraints {
            if let group = groups(of: constraint).first { return group }
        }
        return nil
    }

    private func news(_ group: Group) -> [ObjectID] {
        group.members.filter { created.contains($0) }
    }

    // MARK: Reporting

    func constraintConflicts() -> [SaveConflict] {
        var among: [SaveConflict] = []
        var against: [SaveConflict] = []
        for constraint in constraints {
            for group in groups(of: constraint) {
                let own = group.members.filter { created.contains($0) || updated.contains($0) }
                func violation(_ stored: Row?, _ objects: [ObjectID]) -> SaveConflict {
                    .constraint(
                        ConstraintViolation(
                            entity: constraint.declaringEntity,
                            entityName: schema.entities[constraint.declaringEntity].name,
                            constraint: constraint.names,
                            values: group.values, stored: stored, objects: objects.map(requestID),
                            options: constraint.options))
                }
                if own.count > 1 { among.append(violation(nil, own)) }
                if let other = group.members.first(where: { !own.contains($0) }),
                    let first = own.first
                {
                    against.append(violation(before.row(other), [first]))
                }
            }
        }
        return among + against
    }

    // MARK: Resolving

    /// One step: two of the group become one, or one goes back or away.
    mutating func resolve(_ group: Group) throws(StoreError) {
        let new = news(group)
        if new.count > 1 {
            try fold(new[1], into: new[0])
            return
        }
        let (row, other) = (group.members[0], group.members[1])
        switch policy {
        case .mergeByPropertyStoreTrump, .rollback:
            if created.contains(other) {
                try refuseLoss(of: other, in: row)
                absorb(other, into: row)
            } else {
                revert(other)
            }
        case .mergeByPropertyObjectTrump:
            try refuseTwoRows(other, row)
            try refuseLoss(of: other, in: row)
            take(
                from: other, into: row, all: created.contains(other) && !request.mergesAssignedOnly)
            absorb(other, into: row)
        case .declared:
            try refuseTwoRows(other, row)
            try refuseLoss(of: other, in: row)
            try takeDeclared(from: other, into: row)
            absorb(other, into: row)
        case .overwrite:
            displace(row, by: other)
        case .error, nil:
            preconditionFailure("these do not resolve")
        }
    }

    private mutating func fold(_ loser: ObjectID, into survivor: ObjectID) throws(StoreError) {
        try refuseLoss(of: loser, in: survivor)
        if policy == .declared {
            try takeDeclared(from: loser, into: survivor)
        } else if request.mergesAssignedOnly
            && (policy == .mergeByPropertyObjectTrump || policy == .overwrite)
        {
            take(from: loser, into: survivor, all: false)
        }
        absorb(loser, into: survivor)
    }

    /// An object that two others stand against cannot become both.
    private func refuseTwoRows(_ id: ObjectID, _ row: ObjectID) throws(StoreError) {
        var against: [SaveConflict] = []
        var others: Set<ObjectID> = []
        for constraint in constraints {
            for group in groups(of: constraint) where group.members.contains(id) {
                guard let other = group.members.first, other != id else { continue }
                others.insert(other)
                against.append(
                    .constraint(
                        ConstraintViolation(
                            entity: constraint.declaringEntity,
                            entityName: schema.entities[constraint.declaringEntity].name,
                            constraint: constraint.names,
                            values: group.values, stored: before.row(other),
                            objects: [requestID(id)], options: constraint.options)))
            }
        }
        if others.count > 1 {
            throw StoreError(
                .constraintConflict, "an object has the keys of two others", conflicts: against)
        }
    }

    /// An object does not become one that cannot keep what was set on it.
    private func refuseLoss(of loser: ObjectID, in survivor: ObjectID) throws(StoreError) {
        guard let from = state.objects[loser], let into = state.objects[survivor] else { return }
        let entity = schema.entities[from.entity]
        let kept = Set(
            schema.commonColumns(from.entity, into.entity).map { entity.columns[$0].name })
        for (column, description) in entity.columns.enumerated()
        where !kept.contains(description.name) && !from.values[column].isNull {
            if description.attribute?.derivationExpression != nil { continue }
            let isSet =
                if description.relationship != nil {
                    true
                } else if created.contains(loser) {
                    assigned[loser]?.contains(column) ?? false
                } else {
                    from.values[column] != description.defaultValue
                }
            if isSet {
                throw lost(
                    entity.name, description.name, loser,
                    schema.entities[into.entity].name)
            }
        }
    }

    func lost(_ entity: String, _ key: String, _ id: ObjectID, _ other: String) -> StoreError {
        StoreError(
            .constraintConflict, "the object cannot become one of \(other)",
            context: .init(entity: entity, key: key, objectID: requestID(id)))
    }

    private mutating func take(from object: ObjectID, into row: ObjectID, all: Bool) {
        guard let from = state.objects[object], let into = state.objects[row] else { return }
        for column in schema.commonColumns(from.entity, into.entity) {
            let isSet = assigned[object]?.contains(column) ?? false
            let isReference = schema.entities[into.entity].columns[column].relationship != nil
            guard isSet || (all && !isReference) else { continue }
            if let target = from.values[column].reference, state.objects[survivor(target)] == nil {
                continue
            }
            if let back = backColumn(of: column, entity: into.entity),
                let partner = into.values[column].reference,
                into.values[column] != from.values[column],
                state.objects[partner]?.values[back] == .objectID(row)
            {
                state.objects[partner]?.values[back] = .null
            }
            state.objects[row]?.values[column] = from.values[column]
            assigned[row, default: ColumnSet()].insert(column)
        }
    }

    private mutating func takeDeclared(from object: ObjectID, into row: ObjectID)
        throws(StoreError)
    {
        guard let from = state.objects[object], let into = state.objects[row] else { return }
        let entity = schema.entities[into.entity]
        let common = schema.commonColumns(from.entity, into.entity)
        let set = ColumnSet(common.filter { assigned[object]?.contains($0) ?? false })
        let values = try ConflictRules.declaredValues(
            entity,
            given: entity.columns.indices.map { common.contains($0) ? from.values[$0] : .null },
            assigned: set, counted: created.contains(object) ? set : ColumnSet(common),
            kept: into.values,
            keptAssigned: created.contains(row) ? assigned[row] ?? ColumnSet() : nil)
        for (column, value) in values.enumerated() where value != into.values[column] {
            if let target = value.reference, state.objects[survivor(target)] == nil { continue }
            if let back = backColumn(of: column, entity: into.entity),
                let partner = into.values[column].reference,
                state.objects[partner]?.values[back] == .objectID(row)
            {
                state.objects[partner]?.values[back] = .null
            }
            state.objects[row]?.values[column] = value
            assigned[row, default: ColumnSet()].insert(column)
        }
    }

    private mutating func absorb(_ loser: ObjectID, into survivor: ObjectID) {
        absorbed[loser] = survivor
        state.objects[loser] = nil
        if !requestID(loser).isTemporary { successors[loser] = survivor }
    }

    private mutating func displace(_ row: ObjectID, by other: ObjectID) {
        state.objects[row] = nil
        result.displaced.append(row)
        if !requestID(row).isTemporary { successors[row] = other }
    }
}

extension Schema {
    /// Columns that two entities have in common: those of their nearest common ancestor.
    func commonColumns(_ one: Int, _ other: Int) -> Range<Int> {
        var current: Int? = one
        while let index = current {
            if entities[index].family.contains(other) {
                return entities[index].columns.indices
            }
            current = entities[index].parent
        }
        return 0..<0
    }
}
