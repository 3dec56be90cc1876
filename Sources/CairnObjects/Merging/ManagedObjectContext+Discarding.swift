// Mending a context whose save has failed: what stands against the save is dropped, everything else is kept.
//
//   version      the changed object goes back to what is stored now; a deletion is taken back, with all that a cascade rule
//                has deleted along with it
//   constraint   the new object leaves the context, the changed one goes back; of several new ones the first stays
//
// Threads: the context's.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// Drops those changes that a save has failed for, and keeps all others, so that the next save can succeed.
    ///
    /// ```swift
    /// do {
    ///     try context.save()
    /// } catch let error as StoreError where !error.conflicts.isEmpty {
    ///     let dropped = context.discard(error.conflicts)
    ///     try context.save()
    /// }
    /// ```
    ///
    /// An object that somebody else has changed or deleted becomes what is stored, as ``refresh(_:mergeChanges:)`` without
    /// merging makes it; if it was to be deleted, it is not, nor is what only its cascade rules have deleted. A new object that has the key of another one leaves the context,
    /// with the new objects that it owns by a cascade rule; a changed one goes back to what is stored. Of several objects of
    /// the context with one key the first keeps it.
    ///
    /// - Returns: the objects that were new, or whose changes were dropped.
    @discardableResult
    public func discard(_ conflicts: [SaveConflict]) -> [ManagedObject] {
        processPendingChanges()
        var dropped: [ManagedObject] = []
        withoutRecording {
            for conflict in conflicts {
                switch conflict {
                case .version(let version):
                    if let object = registry.object(for: version.id) { drop(object, &dropped) }
                case .constraint(let violation):
                    let objects = violation.objects.compactMap { registry.object(for: $0) }
                    for object in violation.stored == nil ? objects.dropFirst() : objects[...] {
                        drop(object, &dropped)
                    }
                }
            }
        }
        processPendingChanges()
        return dropped
    }

    private func drop(_ object: ManagedObject, _ dropped: inout [ManagedObject]) {
        guard object.managedObjectContext === self, !object.isGone else { return }
        if object.isInserted, !object.isRecreated {
            dropNew(object, &dropped)
        } else {
            object.isInserted = false
            object.isRecreated = false
            object.isDisplaced = false
            lockedObjects.remove(object)
            let restored = object.isDeleted ? takenBack(with: object) : [object]
            for object in restored { refresh(object, mergeChanges: false) }
            dropped += restored
        }
    }

    /// Takes the deletion of an object back, and of those that its cascade rules have deleted; gives all of them, linked as
    /// they are stored.
    private func takenBack(with object: ManagedObject) -> [ManagedObject] {
        var objects = [object]
        var known: Set<ManagedObject> = [object]
        var next = 0
        while next < objects.count {
            for member in formerMembers(of: objects[next], .cascade)
            where member.isDeleted && !member.isGone && member.flags.contains(.cascaded)
                && known.insert(member).inserted
            {
                objects.append(member)
            }
            next += 1
        }
        // What somebody else who is deleted owns too stays with him, and so does what that owns.
        var kept: Set<ManagedObject> = []
        for member in objects.dropFirst() {
            let owners = owners(of: member).filter(\.isDeleted)
            if owners.contains(where: { !known.contains($0) || kept.contains($0) }) {
                kept.insert(member)
            }
        }
        objects.removeAll { kept.contains($0) }
        let restored = Set(objects)
        pendingDeletes.removeAll { restored.contains($0) }
        for object in objects {
            object.flags.subtract([.deleted, .propagated, .displaced, .cascaded])
            object.isUpdated = true
        }
        withoutRecording { for object in objects { revertRelationships(of: object) } }
        return objects
    }

    /// What an object is stored as leading to by relationships with a delete rule, as far as it was read.
    private func formerMembers(of object: ManagedObject, _ rule: DeleteRule) -> [ManagedObject] {
        object.entity.relationships.indices.filter {
            object.entity.relationships[$0].description.deleteRule == rule
        }.flatMap { formerMembers(of: object, $0) }
    }

    private func formerMembers(of object: ManagedObject, _ index: Int) -> [ManagedObject] {
        var ids: [ObjectID] = []
        if case .column(let column) = object.entity.relationships[index].storage {
            if let id = object.baseValue(column).reference { ids = [id] }
        } else {
            ids = (object.rarer?.toMany[index]?.removed ?? []).sorted {
                SortingOrder.compare($0, $1) < 0
            }
        }
        return ids.compactMap { registry.object(for: $0) }
    }

    /// The objects whose cascade rules reach an object.
    private func owners(of object: ManagedObject) -> [ManagedObject] {
        object.entity.relationships.indices.filter { index in
            let relationship = object.entity.relationships[index]
            guard let inverse = relationship.inverse else { return false }
            return schema.entities[relationship.destination].relationships[inverse].description
                .deleteRule == .cascade
        }.flatMap { formerMembers(of: object, $0) }
    }

    /// A new object has never been.
    private func dropNew(_ object: ManagedObject, _ dropped: inout [ManagedObject]) {
        guard !object.isDeleted else { return }
        object.isDeleted = true
        dropped.append(object)
        for (index, relationship) in object.entity.relationships.enumerated() {
            let isOwner = relationship.description.deleteRule == .cascade
            for member in relatedObjects(of: object, index) {
                unlink(object, index, member)
                if isOwner, member.isInserted, !member.isDeleted { dropNew(member, &dropped) }
            }
        }
        if !oneWays(to: object.entity).isEmpty {
            var references = OneWayReferences(self)
            for (referrer, way) in references.take(to: object, in: self) {
                unlink(referrer, way.index, object)
            }
        }
        noteLeaving(object)
        detach(object)
    }
}
