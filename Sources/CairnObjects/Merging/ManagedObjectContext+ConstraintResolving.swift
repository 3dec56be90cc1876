// What the built-in policies do about objects with one unique key, done to the objects.
//
//   1. Conflicts that were cured meanwhile are passed over.
//   2. New objects are folded into the first of them.
//   3. What is left meets the stored object that had the key first: it is absorbed, goes back, or displaces.
//
// An absorbed object gives its members and whatever pointed at it to the survivor; it then leaves the
// context without any delete rule.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// What an absorbed object gives the survivor.
    enum Gift {
        /// No values.
        case nothing
        /// All attributes, and the to-one relationships that were set.
        case everything
        /// What was set on a new object, or changed in a stored one.
        case edits
    }

    func resolve(_ conflicts: [ConstraintConflict], by policy: MergePolicy) throws(StoreError) {
        if policy.mergeType == .mergeByPropertyObjectTrump { try refuseTwoRows(conflicts) }
        for conflict in conflicts { fold(group(conflict, conflicts), by: policy) }
        // Who had the key all along comes first: what goes back to its own key may need it.
        var goesBack = false
        for isKept in [true, false] {
            if goesBack { return }
            for conflict in conflicts {
                let members = group(conflict, conflicts)
                guard let first = members.first, hasKept(conflict, first) == isKept else {
                    continue
                }
                if try resolve(members, conflict, by: policy) { goesBack = true }
            }
        }
    }

    /// All objects that share the conflict's key still: the stored object that has it is listed apart from
    /// those of the save among each other.
    private func group(_ conflict: ConstraintConflict, _ conflicts: [ConstraintConflict])
        -> [ManagedObject]
    {
        let same = conflicts.filter {
            $0.conflict.entity == conflict.conflict.entity && $0.constraint == conflict.constraint
                && $0.conflict.values == conflict.conflict.values
        }
        var members: [ManagedObject] = []
        for object in same.sorted(by: { $0.databaseObject != nil && $1.databaseObject == nil })
            .flatMap(members(of:)) where !members.contains(object)
        {
            members.append(object)
        }
        return members.filter { !isNew($0) } + members.filter(isNew)
    }

    /// Whether the object was made here: one that is stored again under its id was not.
    private func isNew(_ object: ManagedObject) -> Bool { object.isInserted && !object.isRecreated }

    /// Whether a stored object has not been given the key just now.
    private func hasKept(_ conflict: ConstraintConflict, _ object: ManagedObject) -> Bool {
        guard !object.isInserted else { return false }
        return conflict.constraint.allSatisfy { name in
            object.entity.columnIndex(named: name).map { object.edits[$0] == nil } ?? false
        }
    }

    /// A new or changed object that two different stored ones stand against cannot become both.
    private func refuseTwoRows(_ conflicts: [ConstraintConflict]) throws(StoreError) {
        for conflict in conflicts {
            guard let row = conflict.databaseObject, let object = members(of: conflict).last else {
                continue
            }
            let others = conflicts.filter { other in
                guard let otherRow = other.databaseObject, otherRow !== row else { return false }
                return members(of: other).contains(object) && members(of: other).count > 1
            }
            if !others.isEmpty && members(of: conflict).count > 1 {
                throw MergePolicy.failure(
                    "an object has the keys of two different ones, so neither can take its values",
                    ([conflict] + others).map { .constraint($0.conflict) })
            }
        }
    }

    /// The objects that still share the key, the stored one that had it first.
    private func members(of conflict: ConstraintConflict) -> [ManagedObject] {
        let all = (conflict.databaseObject.map { [$0] } ?? []) + conflict.conflictingObjects
        return all.filter { object in
            guard object.managedObjectContext === self, !object.isDeleted else { return false }
            return zip(conflict.constraint, conflict.conflict.values).allSatisfy { name, value in
                guard let column = object.entity.columnIndex(named: name) else { return false }
                let present = object.columnValue(column)
                if let id = present.reference, let other = value.reference {
                    // The store names new targets by the ids they would have got.
                    return id == other || id.isTemporary || other.isTemporary
                }
                return present == value
            }
        }
    }

    /// New objects with one key: the one created first survives, in every policy.
    private func fold(_ members: [ManagedObject], by policy: MergePolicy) {
        let new = members.filter(isNew)
        let gives =
            policy.setOnly
            && (policy.mergeType == .mergeByPropertyObjectTrump || policy.mergeType == .overwrite)
        for loser in new.dropFirst() {
            absorb(loser, into: new[0], giving: gives ? .edits : .nothing)
        }
    }

    /// Objects with one key, the one that had it first; whether one of them went back to what is stored.
    private func resolve(
        _ members: [ManagedObject], _ conflict: ConstraintConflict, by policy: MergePolicy
    ) throws(StoreError) -> Bool {
        guard var first = members.first, !isNew(first) else { return false }
        var goesBack = false
        for other in members.dropFirst() {
            switch policy.mergeType {
            case .mergeByPropertyStoreTrump, .rollback:
                if isNew(other) {
                    absorb(other, into: first, giving: .nothing)
                } else if let row = other.row {
                    goBack(other, to: row)
                    goesBack = true
                }
            case .mergeByPropertyObjectTrump:
                let all = isNew(other) && !policy.setOnly
                absorb(other, into: first, giving: all ? .everything : .edits)
            case .overwrite:
                try displace(first, conflict)
                first = other
            case .error:
                preconditionFailure("the error policy resolves nothing")
            }
        }
        return goesBack
    }

    // MARK: Absorbing

    private func absorb(_ loser: ManagedObject, into survivor: ManagedObject, giving gift: Gift) {
        let common = commonAncestor(loser.entity, survivor.entity)
        let columns = common?.columns.indices ?? 0..<0
        let relationships = common?.relationships.indices ?? 0..<0
        give(gift, columns, from: loser, to: survivor)
        for (index, relationship) in loser.entity.relationships.enumerated() {
            let isShared = relationships.contains(index)
            for member in members(of: loser, index) {
                let wasEdited = relationship.inverse.map { isEdited(member, $0) } ?? true
                unlink(loser, index, member)
                guard isShared, fits(survivor, relationship) else { continue }
                let member = member === loser ? survivor : member
                if relationship.description.isToMany
                    || (isOneToOne(relationship) && targetID(of: survivor, index) == nil)
                {
                    link(survivor, index, member)
                    if let inverse = relationship.inverse, !wasEdited { hideEdit(member, inverse) }
                }
            }
        }
        for way in oneWays(to: loser.entity) {
            for referrer in referrers(to: loser, way, includingPairs: true) where referrer !== loser
            {
                let wasEdited = isEdited(referrer, way.index)
                unlink(referrer, way.index, loser)
                if survivor.entity.isKind(of: schema.entities[way.relationship.destination]) {
                    link(referrer, way.index, survivor)
                    if !wasEdited { hideEdit(referrer, way.index) }
                }
            }
        }
        dismiss(loser)
        loser.absorbedInto = survivor.objectID
        absorbedObjects.append(loser)
    }

    /// Whether somebody has changed a to-one relationship.
    private func isEdited(_ object: ManagedObject, _ index: Int) -> Bool {
        guard case .column(let column) = object.entity.relationships[index].storage else {
            return true
        }
        return object.edits[column] != nil
    }

    /// That a reference was led to a survivor is no change of anybody's: it is saved, but if the object is
    /// absorbed itself, it is not given on.
    private func hideEdit(_ object: ManagedObject, _ index: Int) {
        guard case .column(let column) = object.entity.relationships[index].storage else { return }
        object.untracked.insert(column)
    }

    /// Whether what leads to an object by a relationship's inverse may lead to the survivor.
    private func fits(_ survivor: ManagedObject, _ relationship: SchemaRelationship) -> Bool {
        guard let inverse = relationship.inverse else { return true }
        let back = schema.entities[relationship.destination].relationships[inverse]
        return survivor.entity.isKind(of: schema.entities[back.destination])
    }

    private func isOneToOne(_ relationship: SchemaRelationship) -> Bool {
        guard let inverse = relationship.inverse else { return false }
        return !relationship.description.isToMany
            && !schema.entities[relationship.destination].relationships[inverse].description
                .isToMany
    }

    private func commonAncestor(_ one: SchemaEntity, _ other: SchemaEntity) -> SchemaEntity? {
        var current: Int? = one.index
        while let index = current {
            if other.isKind(of: schema.entities[index]) { return schema.entities[index] }
            current = schema.entities[index].parent
        }
        return nil
    }

    private func give(
        _ gift: Gift, _ columns: Range<Int>, from loser: ManagedObject, to survivor: ManagedObject
    ) {
        if case .nothing = gift { return }
        for column in columns {
            let isSet =
                loser.isInserted
                ? loser.assigned.contains(column)
                : loser.edits[column] != nil && !loser.untracked.contains(column)
            guard let index = loser.entity.columns[column].relationship else {
                if isSet || isEverything(gift) {
                    survivor.setColumn(column, loser.columnValue(column))
                }
                continue
            }
            guard isSet else { continue }
            let new = target(of: loser, index)
            if let new, new.isDeleted || new.isGone { continue }
            setTarget(of: survivor, index, new)
        }
    }

    private func isEverything(_ gift: Gift) -> Bool {
        if case .everything = gift { true } else { false }
    }

    /// An object goes without any delete rule.
    private func dismiss(_ object: ManagedObject) {
        if object.isInserted {
            detach(object)
            object.isDeleted = true
            return
        }
        object.isDeleted = true
        object.isPropagated = true
        object.isDisplaced = true
        objectDidChange(object, isReal: true)
    }

    // MARK: Displacing

    private func displace(_ object: ManagedObject, _ conflict: ConstraintConflict)
        throws(StoreError)
    {
        for (index, relationship) in object.entity.relationships.enumerated() {
            guard let inverse = relationship.inverse else { continue }
            let back = schema.entities[relationship.destination].relationships[inverse]
            for member in members(of: object, index) where !member.isDeleted {
                try allow(back, member, conflict)
                unlink(object, index, member)
            }
        }
        for way in oneWays(to: object.entity) {
            for referrer in referrers(to: object, way) where !referrer.isDeleted {
                try allow(way.relationship, referrer, conflict)
                unlink(referrer, way.index, object)
            }
        }
        dismiss(object)
    }

    /// Whoever must point at the displaced object forbids it.
    private func allow(
        _ relationship: SchemaRelationship, _ owner: ManagedObject, _ conflict: ConstraintConflict
    ) throws(StoreError) {
        guard !relationship.description.isToMany, !relationship.description.isOptional else {
            return
        }
        throw StoreError(
            .constraintConflict, "an object that others must point at would be displaced",
            context: .init(
                entity: owner.entity.name, key: relationship.description.name,
                objectID: owner.objectID),
            conflicts: [.constraint(conflict.conflict)])
    }
}
