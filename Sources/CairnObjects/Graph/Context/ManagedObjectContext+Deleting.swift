// Deleting objects, and what that does to others.
//
//   1. `delete` marks the object; nothing else has happened yet.
//   2. Processing pending changes applies the delete rules, until no cascade reaches anything new.
//   3. References without an inverse are found by the store's way back, and among the changed objects.
//   4. An object that was never saved is gone with that; a stored one waits for the save.
//   5. What has changed by all of it is told.
//
// A rule that denies is looked at by the save, since the blockers may yet be deleted.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Marks an object to be deleted by the next save. A new object will never have been. For an object that has left the
    /// context, as deleted ones do with a save and new ones with a rollback, there is nothing to do.
    ///
    /// An object of another context is a mistake of the program.
    public func delete(_ object: ManagedObject) {
        if object.managedObjectContext !== self {
            precondition(
                object.isDeleted || object.managedObjectContext == nil,
                "an object can only be deleted in its own context")
            return
        }
        if object.flags.contains(.foreign) { object.fulfillIfNeeded() }
        object.prepareForDeletion()
        // What is deleted can come back only with values that have been read.
        if recordsEdits { object.fulfillIfNeeded() }
        object.flags.subtract([.cascaded, .deletedElsewhere])
        guard !object.isDeleted else { return }
        markDeleted(object)
    }

    /// Marks an object to be deleted, without a hook.
    func markDeleted(_ object: ManagedObject) {
        object.flags.subtract(.cascaded)
        object.rarer?.cascaded = []
        object.rarer?.cutReferences = []
        objectWillChange(object)
        object.willChangeAll()
        object.isDeleted = true
        objectDidChange(object, isReal: true)
        object.didChangeAll()
        pendingDeletes.append(object)
        eventBegan()
    }

    /// The object becomes a new one under the id it had, with everything it has.
    func recreate(_ object: ManagedObject) {
        for column in object.entity.columns.indices {
            let isEdited = object.hasEdit(column)
            object.setEdit(column, object.presentValue(column))
            if isEdited { object.slotsToEdit().assign(column) }
        }
        let version = object.version
        object.forgetRow()
        object.version = version
        object.isInserted = true
        object.isRecreated = true
        object.isUpdated = false
        object.unloadMembers()
        objectDidChange(object, isReal: true)
    }

    /// Ends a run of edits: applies the delete rules of deleted objects, and notifies observers of all changes since
    /// the last run. Saving, fetching and the end of a ``BackgroundContext/perform(_:)`` do this automatically.
    ///
    /// Called from an observer, it only applies the rules: the observer's edits belong to the next run, and are
    /// reported when that ends.
    public func processPendingChanges() {
        if inbox != nil || hasMissedChanges { operations.mergeBetweenEdits(of: self) }
        guard hasEvent else { return }
        if propagatesDeletesAtEndOfEvent { applyDeleteRules() }
        if tellings == 0 { endEvent() }
    }

    /// The same in a save, which tells of all changes before it takes them.
    func processChangesToSave() {
        guard hasEvent || !pendingDeletes.isEmpty else { return }
        applyDeleteRules()
        endEvent()
    }

    func applyDeleteRules() {
        while !pendingDeletes.isEmpty {
            var gone: [ManagedObject] = []
            while !pendingDeletes.isEmpty {
                let batch = pendingDeletes
                pendingDeletes = []
                for object in batch { propagate(object) }
                gone += batch
            }
            // Once for all of them: it looks at every object of the context.
            clearReferences(to: gone)
            for object in gone {
                object.isPropagated = true
                noteLeaving(object)
                if object.isInserted { detach(object) }
            }
        }
    }

    private func propagate(_ object: ManagedObject) {
        for (index, relationship) in object.entity.relationships.enumerated() {
            switch relationship.description.deleteRule {
            case .cascade:
                let members = relatedObjects(of: object, index)
                for member in members where !member.isDeleted {
                    delete(member)
                    member.flags.formUnion(.cascaded)
                    object.extras.cascaded.append(member.objectID)
                }
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

    private func clearReferences(to gone: [ManagedObject]) {
        guard gone.contains(where: { !oneWays(to: $0.entity).isEmpty }) else { return }
        var references = OneWayReferences(self)
        for object in gone {
            // Those that the store clears by itself have to be known to come back.
            for (referrer, way) in references.take(
                to: object, in: self, includingPairs: recordsEdits)
            {
                unlink(referrer, way.index, object)
                // Nothing of the object itself tells who it was that led to it.
                if !object.isInserted {
                    object.extras.cutReferences.append((referrer.objectID, way.index))
                }
            }
        }
    }
}
