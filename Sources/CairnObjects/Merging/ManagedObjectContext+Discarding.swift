// Mending a context whose save has failed: what stands against the save is dropped, everything else is kept.
//
//   version      the changed object goes back to what is stored now; a deletion is taken back
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
    /// merging makes it; if it was to be deleted, it is not. A new object that has the key of another one leaves the context,
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
            lockedObjects.removeAll { $0 === object }
            if object.isDeleted { object.isUpdated = true }
            refresh(object, mergeChanges: false)
            dropped.append(object)
        }
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
