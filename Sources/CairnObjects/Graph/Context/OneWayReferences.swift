// References to an object by a relationship without an inverse.
//
//   1. One look at all objects of the context notes the targets they show: changes that no store knows.
//   2. For each target the store names the rest. Members of stored pairs it clears or moves by itself, so it
//      is asked for those only if the caller moves them.
//
// Invariants: what `take` gives leads to the object at that moment.
// Threads: the context's.

import CairnModel
import CairnStore

/// The one-way references among the objects of a context, by target.
struct OneWayReferences {
    typealias Reference = (referrer: ManagedObject, way: ManagedObjectContext.OneWay)

    private var known: [ObjectID: [Reference]] = [:]
    /// What leads where in the contexts above.
    private var above = ChangedReferrers()

    init(_ context: ManagedObjectContext) {
        var ways: [Int: [ManagedObjectContext.OneWay]] = [:]
        for way in context.oneWays {
            for entity in way.entity.family { ways[entity, default: []].append(way) }
        }
        if ways.isEmpty { return }
        for object in context.registry.objects {
            for way in ways[object.entity.index] ?? [] {
                for target in shownTargets(of: object, way, in: context) {
                    known[target, default: []].append((object, way))
                }
            }
        }
    }

    private func shownTargets(
        of object: ManagedObject, _ way: ManagedObjectContext.OneWay,
        in context: ManagedObjectContext
    ) -> Set<ObjectID> {
        if way.relationship.description.isToMany {
            return object.toMany[way.index].map { $0.current ?? $0.added } ?? []
        }
        if object.isFault { return [] }
        return context.targetID(of: object, way.index).map { [$0] } ?? []
    }

    /// The references to an object, in the order of the referrers' ids; they are forgotten here.
    mutating func take(
        to object: ManagedObject, in context: ManagedObjectContext, includingPairs: Bool = false
    ) -> [Reference] {
        var found = known.removeValue(forKey: object.objectID) ?? []
        var seen: [Int: Set<ObjectIdentifier>] = [:]
        found = found.filter { referrer, way in
            leads(referrer, way, to: object, in: context)
                && seen[way.key, default: []].insert(ObjectIdentifier(referrer)).inserted
        }
        for way in context.oneWays(to: object.entity) {
            for referrer in context.storedReferrers(
                to: object, way, includingPairs: includingPairs, &above)
            where leads(referrer, way, to: object, in: context)
                && seen[way.key, default: []].insert(ObjectIdentifier(referrer)).inserted
            {
                found.append((referrer, way))
            }
        }
        return found.sorted {
            SortingOrder.compare($0.referrer.objectID, $1.referrer.objectID) < 0
        }
    }

    private func leads(
        _ referrer: ManagedObject, _ way: ManagedObjectContext.OneWay, to object: ManagedObject,
        in context: ManagedObjectContext
    ) -> Bool {
        if referrer.isGone || referrer.managedObjectContext == nil { return false }
        if way.relationship.description.isToMany {
            guard let state = referrer.toMany[way.index] else { return true }
            return state.current?.contains(object.objectID)
                ?? !state.removed.contains(object.objectID)
        }
        return context.targetID(of: referrer, way.index) == object.objectID
    }

    /// Notes a reference that has been led to another object.
    mutating func add(_ reference: Reference, to target: ObjectID) {
        known[target, default: []].append(reference)
    }
}

extension ManagedObjectContext {
    /// A relationship that nothing leads back from.
    struct OneWay {
        let entity: SchemaEntity
        let index: Int
        let relationship: SchemaRelationship

        /// A number of its own.
        var key: Int { entity.index << 32 | index }
    }

    /// The relationships without inverse.
    func findOneWays() -> [OneWay] {
        schema.entities.flatMap { owner in
            owner.relationships.enumerated().filter { _, relationship in
                relationship.inverse == nil && relationship.declaringEntity == owner.index
            }.map { OneWay(entity: owner, index: $0, relationship: $1) }
        }
    }

    /// The relationships without inverse that may lead to objects of an entity.
    func oneWays(to entity: SchemaEntity) -> [OneWay] {
        if let known = oneWaysTo[entity.index] { return known }
        let ways = oneWays.filter {
            entity.isKind(of: schema.entities[$0.relationship.destination])
        }
        oneWaysTo[entity.index] = ways
        return ways
    }

    /// The objects that lead to another one by a relationship without inverse, as the store knows.
    fileprivate func storedReferrers(
        to object: ManagedObject, _ way: OneWay, includingPairs: Bool,
        _ above: inout ChangedReferrers
    ) -> [ManagedObject] {
        guard !object.isInserted, !object.hasTemporaryID || parent != nil,
            way.relationship.storage != .transient,
            includingPairs || !way.relationship.description.isToMany
        else { return [] }
        do {
            let ids =
                if let parentSource {
                    try parentSource.referrers(
                        toTarget: object.objectID, relationship: way.index,
                        entity: way.entity.index, &above)
                } else {
                    try source().referrers(
                        toTarget: object.objectID, relationship: way.index,
                        entity: way.entity.index)
                }
            return objects(with: ids, under: way.entity)
        } catch {
            readError = error
            return []
        }
    }
}
