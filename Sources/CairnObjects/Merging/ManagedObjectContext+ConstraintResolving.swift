// What the built-in policies do about objects with one unique key, done to the objects.
//
//   1. Conflicts that were cured meanwhile are passed over.
//   2. New objects are folded into the first of them.
//   3. What is left meets the stored object that had the key first: it is absorbed, goes back, or displaces.
//
// An absorbed object gives its members and whatever pointed at it to the survivor; it then leaves the
// context without any delete rule. Its id leads to the survivor from the save on, and that of a displaced one to the object
// that displaced it.

import CairnModel
import CairnStore

/// Who leads to the objects of conflicts, and what was changed in these.
private struct KeyReferences {
    private var references: OneWayReferences
    /// Columns with edits when resolving began, by object.
    private var edited: [ManagedObject: Set<Int>] = [:]

    init(_ context: ManagedObjectContext, _ conflicts: [ConstraintConflict]) {
        references = OneWayReferences(context)
        for object in conflicts.flatMap(\.conflictingObjects) where !object.isInserted {
            edited[object] = Set(object.columnsWithEdits)
        }
    }

    /// Whether a stored object was changed, be it that what it was led to has turned out to be what it led to before.
    func wasEdited(_ object: ManagedObject, _ column: Int) -> Bool {
        object.hasEdit(column) || edited[object]?.contains(column) == true
    }

    mutating func take(
        to object: ManagedObject, in context: ManagedObjectContext, includingPairs: Bool = false
    ) -> [OneWayReferences.Reference] {
        references.take(to: object, in: context, includingPairs: includingPairs)
    }

    mutating func add(_ reference: OneWayReferences.Reference, to target: ObjectID) {
        references.add(reference, to: target)
    }
}

/// What objects would have if others were merged into them.
private struct DeclaredTrial {
    /// By object: its values, and the columns that were set.
    var states: [ManagedObject: (values: [Value], isSet: ColumnSet)] = [:]
    /// Those that were merged into others.
    var gone: Set<ManagedObject> = []

    func state(of object: ManagedObject) -> (values: [Value], isSet: ColumnSet) {
        if let known = states[object] { return known }
        let isSet =
            object.isInserted
            ? object.ownSlots?.assigned ?? ColumnSet()
            : ColumnSet(object.columnsWithEdits.filter { !object.untracked.contains($0) })
        return (object.entity.columns.indices.map(object.columnValue), isSet)
    }
}

extension ManagedObjectContext {
    /// Conflicts over one key: the stored object that has it is listed apart from those of the save among
    /// each other.
    private struct KeyConflict: Hashable {
        let entity: Int
        let constraint: [String]
        let options: UniquenessRule?
        let values: [Value]
    }

    func resolve(_ conflicts: [ConstraintConflict], by policy: MergePolicy) throws(StoreError) {
        var seen: Set<ManagedObject> = []
        let objects = conflicts.flatMap {
            ($0.databaseObject.map { [$0] } ?? []) + $0.conflictingObjects
        }.filter { seen.insert($0).inserted }
        let edited = Set(objects.filter(\.hasEdits))
        try resolveKeys(conflicts, by: policy)
        // Those that were given something, and those that went back to what is stored.
        let survivors = Set(objects.compactMap(\.absorbedInto))
        for object in objects
        where object.managedObjectContext === self && !object.isDeleted && !object.isGone {
            if survivors.contains(object.objectID) || edited.contains(object) && !object.hasEdits {
                object.awakeFromSnapshotEvents(.mergePolicy)
            }
        }
    }

    private func resolveKeys(_ conflicts: [ConstraintConflict], by policy: MergePolicy)
        throws(StoreError)
    {
        if policy.mergeType == .mergeByPropertyObjectTrump || policy.mergeType == .declared {
            try refuseTwoRows(conflicts)
        }
        var places: [KeyConflict: Int] = [:]
        var groups: [[ConstraintConflict]] = []
        for conflict in conflicts {
            let key = KeyConflict(
                entity: conflict.conflict.entity, constraint: conflict.constraint,
                options: conflict.conflict.options,
                values: rule(of: conflict)?.key(of: conflict.conflict.values)
                    ?? conflict.conflict.values)
            if let place = places[key] {
                groups[place].append(conflict)
            } else {
                places[key] = groups.count
                groups.append([conflict])
            }
        }
        try UnlikeTrial.check(groups.map { ($0, members(of: $0)) }, policy, in: self)
        if policy.mergeType == .declared { try checkDeclared(groups) }
        var references = KeyReferences(self, conflicts)
        for group in groups { try fold(members(of: group), by: policy, &references) }
        // Who had the key all along comes first: what goes back to its own key may need it.
        var goesBack = false
        for isKept in [true, false] {
            if goesBack { return }
            for group in groups {
                let members = members(of: group)
                guard let first = members.first, hasKept(group[0], first) == isKept else {
                    continue
                }
                if try resolve(members, group[0], by: policy, &references) { goesBack = true }
            }
        }
    }

    /// All objects that share a key still: who had it first, then those of the save, new ones last.
    private func members(of group: [ConstraintConflict]) -> [ManagedObject] {
        var seen: Set<ManagedObject> = []
        let stored = group.filter { $0.databaseObject != nil }
        let others = group.filter { $0.databaseObject == nil }
        let members = (stored + others).flatMap(members(of:)).filter { seen.insert($0).inserted }
        return members.filter { !isNew($0) } + members.filter(isNew)
    }

    /// Whether the object was made here: one that is stored again under its id was not.
    func isNew(_ object: ManagedObject) -> Bool { object.isInserted && !object.isRecreated }

    /// Whether a stored object has not been given the key just now.
    private func hasKept(_ conflict: ConstraintConflict, _ object: ManagedObject) -> Bool {
        guard !object.isInserted else { return false }
        if let rule = rule(of: conflict) {
            guard let row = object.row else { return false }
            let entity = object.entity
            return shares(conflict, rule) { row.cells.value($0, of: entity, in: identity) }
        }
        return conflict.constraint.allSatisfy { name in
            object.entity.columnIndex(named: name).map { !object.hasEdit($0) } ?? false
        }
    }

    /// A new or changed object that two different stored ones stand against cannot become both.
    private func refuseTwoRows(_ conflicts: [ConstraintConflict]) throws(StoreError) {
        var first: [ManagedObject: ConstraintConflict] = [:]
        for conflict in conflicts {
            guard let row = conflict.databaseObject else { continue }
            let members = members(of: conflict)
            guard members.first === row else { continue }
            for object in members.dropFirst() {
                guard let other = first.updateValue(conflict, forKey: object),
                    other.databaseObject !== row
                else { continue }
                throw MergePolicy.failure(
                    "an object has the keys of two different objects, so it cannot be merged into either",
                    [.constraint(other.conflict), .constraint(conflict.conflict)])
            }
        }
    }

    /// The objects that still share the key, the stored one that had it first.
    private func members(of conflict: ConstraintConflict) -> [ManagedObject] {
        let all = (conflict.databaseObject.map { [$0] } ?? []) + conflict.conflictingObjects
        return all.filter { object in
            guard object.managedObjectContext === self, !object.isDeleted else { return false }
            if let rule = rule(of: conflict) { return shares(conflict, rule, object.columnValue) }
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

    /// The options of the constraint that a conflict is about; nil if it has none.
    private func rule(of conflict: ConstraintConflict) -> KeyRule? {
        guard conflict.conflict.options != nil else { return nil }
        return schema.constraint(of: conflict.conflict)?.rule
    }

    /// Whether an object with these values has the key of a conflict.
    private func shares(
        _ conflict: ConstraintConflict, _ rule: KeyRule, _ value: (Int) -> Value
    ) -> Bool {
        guard let constraint = schema.constraint(of: conflict.conflict),
            rule.holds(rule.conditionColumns.map { KeyRule.asked(value($0)) }),
            let key = rule.key(of: constraint.columns.map(value)),
            let other = rule.key(of: conflict.conflict.values)
        else { return false }
        return zip(key, other).allSatisfy { present, value in
            if let id = present.reference, let other = value.reference {
                // The store names new targets by the ids they would have got.
                return id == other || id.isTemporary || other.isTemporary
            }
            return present == value
        }
    }

    /// New objects with one key: the one created first survives, in every policy.
    private func fold(
        _ members: [ManagedObject], by policy: MergePolicy, _ references: inout KeyReferences
    ) throws(StoreError) {
        let new = members.filter(isNew)
        let gift = ConflictRules.newObjectsMeet(policy.mergeType, setOnly: policy.setOnly)
        for loser in new.dropFirst() {
            try absorb(loser, into: new[0], giving: gift, &references)
        }
    }

    /// Objects with one key, the one that had it first; whether one of them went back to what is stored.
    private func resolve(
        _ members: [ManagedObject], _ conflict: ConstraintConflict, by policy: MergePolicy,
        _ references: inout KeyReferences
    ) throws(StoreError) -> Bool {
        guard var first = members.first, !isNew(first) else { return false }
        var goesBack = false
        for other in members.dropFirst() {
            switch ConflictRules.objectMeetsRow(
                policy.mergeType, isNew: isNew(other), setOnly: policy.setOnly)
            {
            case .merge(let gift): try absorb(other, into: first, giving: gift, &references)
            case .revert:
                if let row = other.row {
                    goBack(other, to: row)
                    goesBack = true
                }
            case .displace:
                try displace(first, conflict, &references)
                redirect(first, to: other)
                first = other
            case .fail: preconditionFailure("the error policy resolves nothing")
            }
        }
        return goesBack
    }

    /// Whether the model's rules can put together what the objects have that will be one, before anything is.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if a sum is greater than its type can hold.
    private func checkDeclared(_ groups: [[ConstraintConflict]]) throws(StoreError) {
        let all = groups.map { ($0[0], members(of: $0)) }
        var trial = DeclaredTrial()
        for (_, members) in all {
            let new = members.filter(isNew).filter { !trial.gone.contains($0) }
            for loser in new.dropFirst() { try tryMerging(loser, into: new[0], &trial) }
        }
        for isKept in [true, false] {
            for (conflict, members) in all {
                let left = members.filter { !trial.gone.contains($0) }
                guard let first = left.first, !isNew(first), hasKept(conflict, first) == isKept
                else { continue }
                for other in left.dropFirst() { try tryMerging(other, into: first, &trial) }
            }
        }
    }

    private func tryMerging(
        _ loser: ManagedObject, into survivor: ManagedObject, _ trial: inout DeclaredTrial
    ) throws(StoreError) {
        let entity = survivor.entity
        let columns = commonAncestor(loser.entity, entity)?.columns.indices ?? 0..<0
        let (values, isSet) = trial.state(of: loser)
        var (kept, keptSet) = trial.state(of: survivor)
        var given = [Value](repeating: .null, count: entity.columns.count)
        for column in columns { given[column] = values[column] }
        let assigned = ColumnSet(columns.filter(isSet.contains))
        let merged = try ConflictRules.declaredValues(
            entity, given: given, assigned: assigned,
            counted: loser.isInserted ? assigned : ColumnSet(columns), kept: kept,
            keptAssigned: survivor.isInserted ? keptSet : nil)
        for column in columns where merged[column] != kept[column] {
            kept[column] = merged[column]
            keptSet.insert(column)
        }
        trial.states[survivor] = (kept, keptSet)
        trial.gone.insert(loser)
    }

    // MARK: Absorbing

    private func absorb(
        _ loser: ManagedObject, into survivor: ManagedObject, giving gift: ConflictRules.Gift,
        _ references: inout KeyReferences
    ) throws(StoreError) {
        let common = commonAncestor(loser.entity, survivor.entity)
        let columns = common?.columns.indices ?? 0..<0
        let relationships = common?.relationships.indices ?? 0..<0
        if gift == .declared {
            try giveDeclared(columns, from: loser, to: survivor, &references)
        } else {
            give(gift, columns, from: loser, to: survivor, &references)
        }
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
                    note(relationship, index, of: survivor, to: member, &references)
                }
            }
        }
        for (referrer, way) in references.take(to: loser, in: self, includingPairs: true)
        where referrer !== loser {
            let wasEdited = isEdited(referrer, way.index)
            unlink(referrer, way.index, loser)
            if survivor.entity.isKind(of: schema.entities[way.relationship.destination]) {
                link(referrer, way.index, survivor)
                if !wasEdited { hideEdit(referrer, way.index) }
                references.add((referrer, way), to: survivor.objectID)
            }
        }
        dismiss(loser)
        loser.absorbedInto = survivor.objectID
        absorbedObjects.append(loser)
        redirect(loser, to: survivor)
    }

    /// Whether somebody has changed a to-one relationship.
    private func isEdited(_ object: ManagedObject, _ index: Int) -> Bool {
        guard case .column(let column) = object.entity.relationships[index].storage else {
            return true
        }
        return object.hasEdit(column)
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
        _ gift: ConflictRules.Gift, _ columns: Range<Int>, from loser: ManagedObject,
        to survivor: ManagedObject, _ references: inout KeyReferences
    ) {
        if gift == .nothing { return }
        let givesAll = gift == .everything
        for column in columns {
            let isSet = isSet(column, of: loser, references)
            guard let index = loser.entity.columns[column].relationship else {
                if isSet || givesAll {
                    survivor.setColumn(column, loser.columnValue(column))
                }
                continue
            }
            if isSet { giveTarget(index, from: loser, to: survivor, &references) }
        }
    }

    /// Whether somebody set a column of a new object, or changed it in a stored one.
    private func isSet(_ column: Int, of loser: ManagedObject, _ references: KeyReferences) -> Bool
    {
        loser.isInserted
            ? loser.isAssigned(column)
            : references.wasEdited(loser, column) && !loser.untracked.contains(column)
    }

    private func giveTarget(
        _ index: Int, from loser: ManagedObject, to survivor: ManagedObject,
        _ references: inout KeyReferences
    ) {
        let new = target(of: loser, index)
        if let new, new.isDeleted || new.isGone { return }
        setTarget(of: survivor, index, new)
        if let new {
            note(loser.entity.relationships[index], index, of: survivor, to: new, &references)
        }
    }

    private func giveDeclared(
        _ columns: Range<Int>, from loser: ManagedObject, to survivor: ManagedObject,
        _ references: inout KeyReferences
    ) throws(StoreError) {
        let entity = survivor.entity
        var given = [Value](repeating: .null, count: entity.columns.count)
        for column in columns { given[column] = loser.columnValue(column) }
        let assigned = ColumnSet(columns.filter { isSet($0, of: loser, references) })
        let kept = entity.columns.indices.map(survivor.columnValue)
        let values = try ConflictRules.declaredValues(
            entity, given: given, assigned: assigned,
            counted: loser.isInserted ? assigned : ColumnSet(columns), kept: kept,
            keptAssigned: survivor.isInserted
                ? survivor.ownSlots?.assigned ?? ColumnSet() : nil)
        for column in columns where values[column] != kept[column] {
            if let index = entity.columns[column].relationship {
                giveTarget(index, from: loser, to: survivor, &references)
            } else {
                survivor.setColumn(column, values[column])
            }
        }
    }

    /// A new one-way reference may have to be led on, if its target is absorbed too.
    private func note(
        _ relationship: SchemaRelationship, _ index: Int, of owner: ManagedObject,
        to target: ManagedObject, _ references: inout KeyReferences
    ) {
        guard relationship.inverse == nil else { return }
        let way = OneWay(
            entity: schema.entities[relationship.declaringEntity], index: index,
            relationship: relationship)
        references.add((owner, way), to: target.objectID)
    }

    /// An object goes without any delete rule.
    private func dismiss(_ object: ManagedObject) {
        noteLeaving(object)
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

    private func displace(
        _ object: ManagedObject, _ conflict: ConstraintConflict,
        _ references: inout KeyReferences
    ) throws(StoreError) {
        for (index, relationship) in object.entity.relationships.enumerated() {
            guard let inverse = relationship.inverse else { continue }
            let back = schema.entities[relationship.destination].relationships[inverse]
            for member in members(of: object, index) where !member.isDeleted {
                try allow(back, member, conflict)
                unlink(object, index, member)
            }
        }
        for (referrer, way) in references.take(to: object, in: self) where !referrer.isDeleted {
            try allow(way.relationship, referrer, conflict)
            unlink(referrer, way.index, object)
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
            .constraintConflict,
            "the save would replace an object that a required relationship of another object refers to",
            context: .init(
                entity: owner.entity.name, key: relationship.description.name,
                objectID: owner.objectID),
            conflicts: [.constraint(conflict.conflict)])
    }
}
