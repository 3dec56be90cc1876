// Looks, before anything is merged, whether an object would be merged into one of another entity that cannot keep all of it:
// see `ConflictRules+Entities`.
//
// Merging is played through in the order in which it is done: new objects into the first of them, what is left into the stored
// one. What an object was given counts as its own.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// What becomes of the objects of conflicts, as far as it matters for what cannot be kept.
struct UnlikeTrial {
    private let context: ManagedObjectContext
    private let policy: MergePolicy
    /// By object: those that were merged into it.
    private var donors: [ManagedObject: [ManagedObject]] = [:]
    private var gone: Set<ManagedObject> = []
    private var references: OneWayReferences?
    private var referrers: [ManagedObject: [OneWayReferences.Reference]] = [:]

    private init(_ context: ManagedObjectContext, _ policy: MergePolicy) {
        self.context = context
        self.policy = policy
    }

    /// - Throws: `StoreError` with `.constraintConflict` if an object would lose something.
    static func check(
        _ groups: [(conflicts: [ConstraintConflict], members: [ManagedObject])],
        _ policy: MergePolicy, in context: ManagedObjectContext
    ) throws(StoreError) {
        let isAlike = groups.allSatisfy { _, members in
            members.allSatisfy { $0.entity === members[0].entity }
        }
        if isAlike { return }
        var trial = UnlikeTrial(context, policy)
        for (conflicts, members) in groups {
            let new = members.filter { context.isNew($0) && !trial.gone.contains($0) }
            for loser in new.dropFirst() {
                try trial.merge(loser, into: new[0], isFolded: true, conflicts)
            }
        }
        for (conflicts, members) in groups {
            let left = members.filter { !trial.gone.contains($0) }
            guard let first = left.first, !context.isNew(first) else { continue }
            for other in left.dropFirst() {
                guard
                    case .merge = ConflictRules.objectMeetsRow(
                        policy.mergeType, isNew: context.isNew(other), setOnly: policy.setOnly)
                else { continue }
                try trial.merge(other, into: first, isFolded: false, conflicts)
            }
        }
    }

    private mutating func merge(
        _ loser: ManagedObject, into survivor: ManagedObject, isFolded: Bool,
        _ conflicts: [ConstraintConflict]
    ) throws(StoreError) {
        // Of new objects one gives the other its values only where the policy says so, but what leads to it always.
        let givesValues = policy.mergeType == .declared || policy.setOnly
        let all = [loser] + (donors[loser] ?? [])
        for object in all {
            guard
                let loss = loss(
                    of: object, in: survivor.entity, withValues: object === loser || givesValues)
            else { continue }
            let conflict = conflicts[0].conflict
            throw UnlikeObjects(
                given: .init(object.objectID, object.entity),
                kept: .init(survivor.objectID, survivor.entity), constraint: conflict.constraint,
                values: conflict.values
            ).error(
                loss, advice: isFolded ? .otherKey : .otherKeyOrOverwriting,
                conflicts: conflicts.map { .constraint($0.conflict) })
        }
        donors[survivor, default: []] += all
        gone.insert(loser)
    }

    private mutating func loss(
        of object: ManagedObject, in survivor: SchemaEntity, withValues: Bool
    ) -> UnlikeObjects.Loss? {
        let entity = object.entity
        if survivor.isKind(of: entity) { return nil }
        let schema = context.schema
        if withValues {
            let assigned =
                context.isNew(object) ? object.ownSlots?.assigned ?? ColumnSet() : nil
            let column = ConflictRules.lostColumn(
                of: entity, values: entity.columns.indices.map(object.columnValue),
                assigned: assigned, in: survivor, schema)
            if let column { return .property(entity.columns[column].name) }
        }
        for (index, relationship) in entity.relationships.enumerated()
        where relationship.description.isToMany {
            let declaring = schema.entities[relationship.declaringEntity]
            if survivor.isKind(of: declaring) { continue }
            let members = context.members(of: object, index)
            if members.contains(where: { !$0.isDeleted && !$0.isGone }) {
                return .property(relationship.description.name)
            }
        }
        for (referrer, way) in references(to: object) where !referrer.isDeleted {
            if survivor.isKind(of: schema.entities[way.relationship.destination]) { continue }
            return .reference(
                entity: way.entity.name, key: way.relationship.description.name)
        }
        return nil
    }

    /// What leads to an object by relationships that nothing leads back from.
    private mutating func references(to object: ManagedObject) -> [OneWayReferences.Reference] {
        if let known = referrers[object] { return known }
        var all = references ?? OneWayReferences(context)
        let found = all.take(to: object, in: context, includingPairs: true)
        references = all
        referrers[object] = found
        return found
    }
}
