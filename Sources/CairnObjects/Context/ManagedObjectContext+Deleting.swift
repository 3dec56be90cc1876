// Deleting objects, and what that does to others.
//
//   1. `delete` marks the object; nothing else has happened yet.
//   2. Processing pending changes applies the delete rules, until no cascade reaches anything new.
//   3. References without an inverse are found by the store's way back, and among the changed objects.
//   4. An object that was never saved is gone with that; a stored one waits for the save.
//
// A rule that denies is looked at by the save, since the blockers may yet be deleted.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Marks an object to be deleted by the next save. A new object will never have been.
    public func delete(_ object: ManagedObject) {
        if object.managedObjectContext !== self {
            precondition(object.isDeleted, "an object can be deleted in its own context only")
            return
        }
        object.prepareForDeletion()
        guard !object.isDeleted else { return }
        object.isDeleted = true
        objectDidChange(object, isReal: true)
        pendingDeletes.append(object)
    }

    /// Applies the delete rules of what was deleted. Saving, fetching and the end of a
    /// ``BackgroundContext/perform(_:)`` do this by themselves.
    public func processPendingChanges() {
        while !pendingDeletes.isEmpty {
            let batch = pendingDeletes
            pendingDeletes = []
            for object in batch { propagate(object) }
            clearReferences(to: batch)
            for object in batch {
                object.isPropagated = true
                if object.isInserted { detach(object) }
            }
        }
    }

    private func propagate(_ object: ManagedObject) {
        for (index, relationship) in object.entity.relationships.enumerated() {
            switch relationship.description.deleteRule {
            case .cascade:
                let members = relatedObjects(of: object, index)
                for member in members where !member.isDeleted { delete(member) }
                for member in members { unlink(object, index, member) }
            case .nullify:
                guard relationship.inverse != nil else { continue }
                for member in relatedObjects(of: object, index) { unlink(object, index, member) }
            case .noAction, .deny:
                // To what was never stored nobody can keep pointing.
                guard object.isInserted else { continue }
                for member in relatedObjects(of: object, index) { unlink(object, index, member) }
            }
        }
    }

    /// The objects at the other end of a relationship of either kind.
    func relatedObjects(of object: ManagedObject, _ index: Int) -> [ManagedObject] {
        members(of: object, index)
    }

    // MARK: References without inverse

    /// A relationship that nothing leads back from.
    struct OneWay {
        let entity: SchemaEntity
        let index: Int
        let relationship: SchemaRelationship
    }

    /// The relationships without inverse that may lead to objects of an entity.
    func oneWays(to entity: SchemaEntity) -> [OneWay] {
        var found: [OneWay] = []
        for owner in schema.entities {
            for (index, relationship) in owner.relationships.enumerated()
            where relationship.inverse == nil && relationship.declaringEntity == owner.index
                && entity.isKind(of: schema.entities[relationship.destination])
            {
                found.append(OneWay(entity: owner, index: index, relationship: relationship))
            }
        }
        return found
    }

    private func clearReferences(to gone: [ManagedObject]) {
        for object in gone {
            for way in oneWays(to: object.entity) {
                for referrer in referrers(to: object, way) {
                    unlink(referrer, way.index, object)
                }
            }
        }
    }

    /// The objects that lead to another one by a relationship without inverse, as far as the store or this
    /// context knows, in the order of their ids. Members that only the store knows as pairs are left to it.
    func referrers(to object: ManagedObject, _ way: OneWay, includingPairs: Bool = false)
        -> [ManagedObject]
    {
        let isToMany = way.relationship.description.isToMany
        var found: Set<ManagedObject> = []
        let isStored = !object.isInserted && !object.objectID.isTemporary
        if isStored, way.relationship.storage != .transient, includingPairs || !isToMany {
            do {
                let ids = try store.snapshot().referrers(
                    toTarget: object.objectID, relationship: way.index, entity: way.entity.index)
                found.formUnion(objects(with: ids, under: way.entity))
            } catch {
                readError = error
            }
        }
        for other in registry.objects where other.entity.isKind(of: way.entity) {
            if isToMany {
                guard let state = other.toMany[way.index] else { continue }
                if state.current?.contains(object.objectID) ?? state.added.contains(object.objectID)
                {
                    found.insert(other)
                }
            } else if !other.isFault {
                found.insert(other)
            }
        }
        return found.filter {
            !$0.isGone
                && (isToMany || targetID(of: $0, way.index) == object.objectID)
        }.sorted { $0.objectID.reference < $1.objectID.reference }
    }
}
