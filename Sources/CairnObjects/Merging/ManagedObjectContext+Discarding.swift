// Mending a context whose save has failed: what stands against the save is dropped, everything else is kept.
//
//   version      the changed object goes back to what is stored now; a deletion is taken back, with all that cascade rules
//                have deleted along with it, from the object on that the program has deleted
//   constraint   the new object leaves the context, the changed one goes back; of several new ones the first stays
//
// Threads: the context's.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// Drops the changes that made a save fail, and keeps all others, so that the next save can succeed.
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
    /// An object that was changed or deleted elsewhere reverts to its stored state, like ``refresh(_:mergeChanges:)``
    /// without merging. If it was to be deleted, it is not, nor are objects whose cascade rules delete it, nor objects
    /// that only their rules deleted. A new object with another object's key leaves the context, with the new objects
    /// that it owns by a cascade rule; a changed one reverts to its stored state. Of several objects of the context
    /// with the same key, the first keeps it.
    ///
    /// - Returns: the objects that were new, or whose changes were dropped, without duplicates.
    @discardableResult
    public func discard(_ conflicts: [SaveConflict]) -> [ManagedObject] {
        processPendingChanges()
        var discarded = Discarded()
        withoutRecording {
            for conflict in conflicts {
                switch conflict {
                case .version(let version):
                    if let object = registry.object(for: version.id) { drop(object, &discarded) }
                case .constraint(let violation):
                    let objects = violation.objects.compactMap { registry.object(for: $0) }
                    for object in violation.stored == nil ? objects.dropFirst() : objects[...] {
                        drop(object, &discarded)
                    }
                }
            }
        }
        processPendingChanges()
        return discarded.list
    }

    /// What has been dropped so far.
    private struct Discarded {
        private(set) var list: [ManagedObject] = []
        private var known: Set<ManagedObject> = []
        /// Who leads to new objects by relationships without inverse; nil as long as nobody had to know.
        var references: OneWayReferences?
        /// What cascade rules have deleted; nil as long as nobody had to know.
        var cascades: Cascades?

        func contains(_ object: ManagedObject) -> Bool { known.contains(object) }

        mutating func add(_ object: ManagedObject) {
            if known.insert(object).inserted { list.append(object) }
        }
    }

    private func drop(_ object: ManagedObject, _ discarded: inout Discarded) {
        guard object.managedObjectContext === self, !object.isGone, !discarded.contains(object)
        else { return }
        if object.isInserted, !object.isRecreated {
            dropNew(object, &discarded)
        } else {
            object.isInserted = false
            object.isRecreated = false
            object.isDisplaced = false
            lockedObjects.remove(object)
            for object in object.isDeleted
                ? takenBack(with: object, &discarded.cascades) : [object]
            {
                refresh(object, mergeChanges: false)
                discarded.add(object)
            }
        }
    }

    /// Takes the deletion of an object back, with those of all that own it, whose rules would delete it again, and of what
    /// their cascade rules have deleted; gives all of them, linked as they are stored.
    ///
    /// - Parameters:
    ///   - known: what cascade rules have deleted, once somebody had to know.
    ///   - isAlone: whether only this deletion is meant: who owns it stays deleted, and a member that leads to another object by
    ///     now stays there.
    func takenBack(
        with object: ManagedObject, _ known: inout Cascades?, isAlone: Bool = false
    ) -> [ManagedObject] {
        let cascades = known ?? Cascades(self)
        known = cascades
        var owning = [object]
        var found: Set<ManagedObject> = [object]
        var next = 0
        while next < owning.count, !isAlone {
            let member = owning[next]
            next += 1
            for owner in owners(of: member) + (cascades.owner(of: member).map { [$0] } ?? [])
            where owner.isDeleted && !owner.isGone && found.insert(owner).inserted {
                owning.append(owner)
            }
        }
        var objects = Array(owning.reversed())
        next = 0
        while next < objects.count {
            for member in cascades.members(of: objects[next], self)
            where found.insert(member).inserted {
                objects.append(member)
            }
            next += 1
        }
        // What somebody else who is deleted owns too stays with him, and so does what that owns.
        var kept: Set<ManagedObject> = []
        var isComplete = false
        while !isComplete {
            isComplete = true
            for member in objects.dropFirst(owning.count) where !kept.contains(member) {
                let owners = owners(of: member).filter(\.isDeleted)
                if owners.contains(where: { !found.contains($0) || kept.contains($0) }) {
                    kept.insert(member)
                    isComplete = false
                }
            }
        }
        objects.removeAll { kept.contains($0) }
        let restored = Set(objects)
        pendingDeletes.removeAll { restored.contains($0) }
        for object in objects {
            object.flags.subtract([
                .deleted, .propagated, .displaced, .deletedElsewhere, .cascaded,
            ])
            object.isUpdated = true
        }
        withoutRecording {
            for object in objects { revertRelationships(of: object, keepsMoves: isAlone) }
            for object in objects { linkReferrers(of: object) }
        }
        return objects
    }

    /// Links again what led to an object without an inverse when it was deleted, and leads nowhere else by now.
    private func linkReferrers(of object: ManagedObject) {
        restoresOrder = true
        defer { restoresOrder = false }
        for (id, index) in object.rarer?.cutReferences ?? [] {
            guard let referrer = registry.object(for: id), !referrer.isDeleted, !referrer.isGone
            else { continue }
            let isToMany = referrer.entity.relationships[index].description.isToMany
            if isToMany || targetID(of: referrer, index) == nil { link(referrer, index, object) }
        }
        object.rarer?.cutReferences = []
    }

    /// What cascade rules have deleted, by the objects of the context whose rules they were.
    struct Cascades {
        private var owners: [ObjectID: ManagedObject] = [:]

        fileprivate init(_ context: ManagedObjectContext) {
            for object in context.changedInOrder where object.isDeleted && !object.isGone {
                for id in object.rarer?.cascaded ?? [] { owners[id] = object }
            }
        }

        /// The deleted object whose rule alone has deleted another one.
        fileprivate func owner(of object: ManagedObject) -> ManagedObject? {
            guard object.isDeleted, object.flags.contains(.cascaded) else { return nil }
            return owners[object.objectID]
        }

        /// What the rules of a deleted object alone have deleted.
        fileprivate func members(
            of object: ManagedObject, _ context: ManagedObjectContext
        ) -> [ManagedObject] {
            (object.rarer?.cascaded ?? []).compactMap { context.registry.object(for: $0) }
                .filter { !$0.isGone && owner(of: $0) === object }
        }
    }

    /// The objects whose cascade rules reach an object as it is stored, as far as they were read.
    private func owners(of object: ManagedObject) -> [ManagedObject] {
        object.entity.relationships.indices.filter { index in
            let relationship = object.entity.relationships[index]
            guard let inverse = relationship.inverse else { return false }
            return schema.entities[relationship.destination].relationships[inverse].description
                .deleteRule == .cascade
        }.flatMap { formerMembers(of: object, $0) }
    }

    /// What an object is stored as leading to by a relationship, as far as it was read.
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

    /// A new object has never been.
    private func dropNew(_ object: ManagedObject, _ discarded: inout Discarded) {
        guard !object.isDeleted else { return }
        object.isDeleted = true
        discarded.add(object)
        for (index, relationship) in object.entity.relationships.enumerated() {
            let isOwner = relationship.description.deleteRule == .cascade
            for member in relatedObjects(of: object, index) {
                unlink(object, index, member)
                if isOwner, member.isInserted, !member.isDeleted { dropNew(member, &discarded) }
            }
        }
        if !oneWays(to: object.entity).isEmpty {
            var references = discarded.references.take() ?? OneWayReferences(self)
            for (referrer, way) in references.take(to: object, in: self) {
                unlink(referrer, way.index, object)
            }
            discarded.references = references
        }
        noteLeaving(object)
        detach(object)
    }
}
