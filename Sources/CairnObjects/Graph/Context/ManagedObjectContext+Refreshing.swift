// Going back to what is stored.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Drops all unsaved changes: new objects leave the context, changed and deleted ones become faults again, which
    /// read the newest state when they are accessed. Observers see the latter as refreshed, and new objects as deleted
    /// if they were reported before.
    public func rollback() {
        forgetIntentions()
        var restored: [ManagedObject] = []
        var roots: Set<Int> = []
        for object in changedInOrder {
            // Who has read members meanwhile has left it out where it was moved away.
            if object.isPropagated || object.hasReferenceEdits { roots.insert(object.entity.root) }
            if object.isInserted {
                noteLeaving(object)
                detach(object)
                object.isDeleted = false
            } else if object.isGone {
                // Somebody else has deleted it, and nobody here has ever seen its values.
                vanish(object)
            } else {
                noteRefreshed(object)
                returnToStored(object)
                restored.append(object)
            }
        }
        forgetMembers(under: roots)
        forgetChanges()
        revision += 1
        for object in restored { object.awakeFromSnapshotEvents(.rollback) }
        endEvent()
        undoHistory?.removeAllActions()
    }

    /// Forgets everything. Objects that are still referenced leave the context and must not be used. Observers only get
    /// the ids of all objects.
    public func reset() {
        forgetIntentions()
        advisor = nil
        batchedFetches = []
        beginEvent()
        let objects = registry.objects
        var changes = ObjectChanges()
        if isWatched(.changes) { changes.invalidatedAll = objects.map(\.objectID) }
        for object in objects {
            if !object.isFault && !object.isInserted {
                object.turnIntoFault(resetsTransients: true)
            }
            object.resetTransients()
            detach(object)
        }
        forgetChanges()
        hasSetTransients = false
        beginKnowingRows()
        revision += 1
        undoHistory?.removeAllActions()
        if !changes.isEmpty { tell(.didChange(changes)) }
    }

    /// Forgets what the next save was to do beside writing changes, and what went wrong.
    private func forgetIntentions() {
        pendingDeletes = []
        absorbedObjects = []
        lockedObjects = []
        redirects = []
        moves = ReferenceMoves()
        readError = nil
    }

    /// Refreshes an object.
    ///
    /// It then shows stored values, whoever wrote them, including the context's own batch requests.
    ///
    /// With `mergeChanges`, the row is read again and edits are kept. Without, the object becomes a fault and its edits
    /// are lost, on both sides of its relationships. A new object is not affected.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
        let start = board.wants(.refreshes) ? Self.now() : nil
        let isDone = bringUpToDate(object, mergeChanges: mergeChanges)
        if let start, isDone { tellOfRefresh(1, since: start) }
    }

    /// False if there is nothing to bring it up to, or it could not be read.
    private func bringUpToDate(_ object: ManagedObject, mergeChanges: Bool) -> Bool {
        guard object.managedObjectContext === self, !object.isInserted, !object.isGone else {
            return false
        }
        prefetched = nil
        if parent != nil, knownRows.hidesBatches { refreshAbove(object.objectID) }
        if mergeChanges && (object.isUpdated || object.isDeleted) {
            do {
                if let row = try read(object.objectID, object.entity),
                    object.managedObjectContext === self
                {
                    object.rebase(on: row)
                    object.unloadMembers()
                    noteRefreshed(object)
                    object.awakeFromSnapshotEvents(.refresh)
                } else {
                    vanish(object)
                }
                return true
            } catch {
                readError = error
                return false
            }
        }
        if object.isUpdated { withoutRecording { revertRelationships(of: object) } }
        changed.remove(object)
        pendingDeletes.removeAll { $0 === object }
        let wasPropagated = object.isPropagated
        returnToStored(object)
        if wasPropagated { forgetMembers(under: [object.entity.root]) }
        noteRefreshed(object)
        revision += 1
        return true
    }

    /// An object that was changed or deleted is a fault again.
    private func returnToStored(_ object: ManagedObject) {
        object.isUpdated = false
        object.isDeleted = false
        object.isPropagated = false
        object.isDisplaced = false
        object.absorbedInto = nil
        object.turnIntoFault(resetsTransients: false)
    }

    /// Refreshes all objects, which then show stored values, and keeps unsaved changes: changed objects get the newest
    /// row under their edits, the others become faults. Transient values return to their defaults.
    public func refreshAllObjects() {
        let start = board.wants(.refreshes) ? Self.now() : nil
        var count = 0
        prefetched = nil
        if changed.count == 0 {
            beginKnowingRows()
            hasSetTransients = false
        }
        if parent != nil, knownRows.hidesBatches {
            refreshAllAbove()
            knownRows.begin(at: nil)
        }
        for object in registry.objects where !object.isInserted && !object.isGone {
            if object.isUpdated || object.isDeleted {
                if bringUpToDate(object, mergeChanges: true) { count += 1 }
                object.resetTransients()
            } else {
                object.turnIntoFault(resetsTransients: true)
                noteRefreshed(object)
                count += 1
            }
        }
        if let start { tellOfRefresh(count, since: start) }
    }

    /// Brings the objects of an id up to date that the contexts above have: a child has carried out a batch request, which has
    /// gone to the store past them. Their changes stay.
    private func refreshAbove(_ id: ObjectID) {
        guard let parent else { return }
        parent.refreshAbove(id)
        if let shown = parent.registry.object(for: id) {
            parent.refresh(shown, mergeChanges: true)
        }
    }

    /// The same of all objects that the contexts above have: what is not here yet is read through them.
    private func refreshAllAbove() {
        guard let parent else { return }
        parent.refreshAllAbove()
        for shown in parent.registry.objects { parent.refresh(shown, mergeChanges: true) }
    }

    /// Takes the edits of an object's relationships back on both sides.
    ///
    /// - Parameter keepsMoves: whether a former member that leads to another object by now stays there.
    func revertRelationships(of object: ManagedObject, keepsMoves: Bool = false) {
        restoresOrder = true
        defer { restoresOrder = false }
        for (index, relationship) in object.entity.relationships.enumerated() {
            if case .column(let column) = relationship.storage {
                guard object.hasEdit(column) else { continue }
                let base = object.baseValue(column).reference
                let root = schema.entities[relationship.destination]
                let target = base.map { objects(with: [$0], under: root)[0] }
                setTarget(of: object, index, target.flatMap { $0.isDeleted ? nil : $0 })
            } else if relationship.storage != .transient {
                keepMemberEdits(of: object, index)
                guard let state = object.toMany[index] else { continue }
                let root = schema.entities[relationship.destination]
                // Where neither side knows what is stored, this would be an edit in its turn.
                for member in objects(with: Array(state.added), under: root) {
                    unlink(object, index, member)
                    forgetPairEdit(of: object, index, member.objectID)
                }
                for member in objects(with: Array(state.removed), under: root)
                where !member.isDeleted && !member.isGone {
                    if keepsMoves, leadsElsewhere(member, relationship.inverse) { continue }
                    link(object, index, member)
                    forgetPairEdit(of: object, index, member.objectID)
                }
            }
        }
    }

    /// Whether a to-one relationship of a member that has left leads to another object.
    private func leadsElsewhere(_ member: ManagedObject, _ inverse: Int?) -> Bool {
        guard let inverse, !member.entity.relationships[inverse].description.isToMany else {
            return false
        }
        return targetID(of: member, inverse) != nil
    }
}
