// Taking back what was done, and doing it again.
//
//   1. The run of edits that is under way ends; it is the last step.
//   2. Of each run of the step, the last one first: objects that were there before it come back; then values are what they were,
//      relationships on both sides; then objects that were not there leave, by the delete rules.
//   3. Objects that are as they are stored are no longer changed.
//   4. The objects are told why they show other values. One whose insertion is taken back is told before it leaves.
//   5. What has changed is told, as one run of edits; it is no step.
//
// Doing a step again is the same the other way round.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Undoes the last step: the current run of edits, the one before it, or a group of runs. Does nothing without an
    /// ``undoHistory``, or without a step.
    ///
    /// Objects that were deleted elsewhere since, or that the context has forgotten, are not affected.
    ///
    /// - Complexity: O(k) for the k objects of the step.
    public func undo() {
        guard let undoHistory else { return }
        prepareToTakeStep()
        guard let step = undoHistory.takeUndo() else { return }
        undoHistory.isUndoing = true
        defer { undoHistory.isUndoing = false }
        apply(step.events.reversed().map(\.reversed), undoHistory)
        undoHistory.keepUndone(step)
    }

    /// Redoes the step that ``undo()`` undid last. Does nothing if there is none, or if something else was changed since.
    ///
    /// - Complexity: O(k) for the k objects of the step.
    public func redo() {
        guard let undoHistory else { return }
        prepareToTakeStep()
        guard let step = undoHistory.takeRedo() else { return }
        undoHistory.isRedoing = true
        defer { undoHistory.isRedoing = false }
        apply(step.events, undoHistory)
        undoHistory.keepRedone(step)
    }

    private func prepareToTakeStep() {
        precondition(
            tellings == 0,
            "undo and redo cannot be called while observers are being notified of a change")
        processPendingChanges()
    }

    // MARK: Recording

    /// Has the runs of edits from now on recorded; the one that is under way has ended.
    func record(in history: UndoHistory) {
        precondition(history.context == nil, "an undo history belongs to one context")
        history.context = self
        recordsEdits = true
        history.registration += 1
        let registration = history.registration
        observe(
            ContextObserver(.changes) { [weak history] event, context in
                guard let history, history === context.undoHistory,
                    history.registration == registration
                else { return false }
                if history.isRecording, case .didChange(let changes) = event,
                    let told = context.told
                {
                    history.note(UndoEvent(changes, told, context))
                }
                return true
            })
    }

    /// Runs a closure whose edits are no step, since others have brought them about. What was edited before is one.
    func withoutRecording(_ body: () throws -> Void) rethrows {
        guard let undoHistory else { return try body() }
        if tellings == 0 { processPendingChanges() }
        let recording = undoHistory.recording
        undoHistory.recording = .nothing
        defer { undoHistory.recording = recording }
        try body()
        if tellings == 0 { processPendingChanges() }
    }

    // MARK: Applying

    private func apply(_ events: [UndoEvent], _ history: UndoHistory) {
        let recording = history.recording
        history.recording = .nothing
        defer { history.recording = recording }
        var awakening: [ManagedObject: SnapshotEvents] = [:]
        for event in events {
            var returned: [ObjectEdit] = []
            var roots: Set<Int> = []
            for edit in event.objects where edit.isThere.after && !edit.isThere.before {
                if edit.object.isPropagated { roots.insert(edit.object.entity.root) }
                if bringBack(edit.object) { returned.append(edit) }
            }
            forgetMembers(under: roots)
            for edit in event.objects where isToEdit(edit.object) { setValues(edit) }
            for edit in returned { link(edit.object, edit.remaining) }
            for edit in event.objects where isToEdit(edit.object) {
                for (index, change) in edit.orders {
                    setOrder(of: edit.object, index, change.after.map(\.objectID))
                }
            }
            for edit in event.objects where !edit.isThere.after && edit.isThere.before {
                takeAway(edit.object)
                if history.isUndoing, edit.object.managedObjectContext === self {
                    edit.object.awakeFromSnapshotEvents(.undoInsertion)
                }
            }
            for edit in event.objects {
                awakening[edit.object, default: []].formUnion(
                    snapshotEvents(edit, isUndoing: history.isUndoing))
            }
            applyDeleteRules()
        }
        for event in events {
            for edit in event.objects where !edit.isUpdated.after { settle(edit.object) }
        }
        revision += 1
        for object in events.flatMap(\.objects).map(\.object) {
            guard let reasons = awakening.removeValue(forKey: object), !reasons.isEmpty,
                isHere(object)
            else { continue }
            object.awakeFromSnapshotEvents(reasons)
        }
        endEvent()
    }

    /// Why an object shows other values after an edit was applied, as far as it is still there.
    private func snapshotEvents(_ edit: ObjectEdit, isUndoing: Bool) -> SnapshotEvents {
        switch (edit.isThere.before, edit.isThere.after) {
        case (false, true): isUndoing ? .undoDeletion : .undoInsertion
        case (true, false): isUndoing ? [] : .undoDeletion
        default: .undoUpdate
        }
    }

    /// Whether an object can be set. Deleted ones can: delete rules set them too.
    private func isToEdit(_ object: ManagedObject) -> Bool {
        guard isHere(object) else { return false }
        object.fulfillIfNeeded()
        return !object.isGone
    }

    private func setValues(_ edit: ObjectEdit) {
        let object = edit.object
        for (column, change) in edit.columns { object.setColumn(column, change.after) }
        for (index, change) in edit.transients { object.setTransient(index, change.after) }
        for (index, change) in edit.targets {
            if let target = change.after, !isHere(target) { continue }
            setTarget(of: object, index, change.after)
        }
        for (index, change) in edit.members {
            for member in change.went where member.managedObjectContext === self {
                unlink(object, index, member)
            }
            for member in change.came where isHere(member) { link(object, index, member) }
        }
        // Last: setting a property otherwise forgets them.
        for (index, change) in edit.lostTargets {
            forgetLostTargets(of: object, index)
            noteLostTargets(change.after ?? [], of: object, index)
        }
        for (index, change) in edit.refused { object.setRefused(index, change.after) }
    }

    /// Links an object that had left to what it still was linked to then.
    private func link(_ object: ManagedObject, _ others: [Int: [ManagedObject]]) {
        guard isHere(object) else { return }
        for (index, others) in others {
            for other in others where isHere(other) { link(object, index, other) }
        }
    }

    /// Whether an object can be linked. Deleted ones can: there are delete rules that leave references to them.
    private func isHere(_ object: ManagedObject) -> Bool {
        object.managedObjectContext === self && !object.isGone
    }

    // MARK: Coming and going

    /// A deleted object is there again: as a stored one if its deletion was not saved, else as a new one. True if it had left
    /// the context.
    private func bringBack(_ object: ManagedObject) -> Bool {
        if object.managedObjectContext === self {
            // What others have deleted does not come back.
            guard object.isDeleted, !object.isGone, !object.isDisplaced else { return false }
            objectWillChange(object)
            object.isDeleted = false
            object.isPropagated = false
            pendingDeletes.removeAll { $0 === object }
            // Members that were deleted too have been left out.
            object.unloadMembers()
            objectDidChange(object, isReal: true)
            return false
        }
        guard object.managedObjectContext == nil else { return false }
        if let other = registry.object(for: object.objectID) {
            // Somebody has asked for the id since it was deleted; what he has is nothing.
            guard other.isFault || other.isGone else { return false }
            detach(other)
            other.isDeleted = true
        }
        object.join(self, layout(of: object.entity))
        object.flags.subtract([.deleted, .propagated, .displaced, .deletedElsewhere])
        object.absorbedInto = nil
        // By ids, which others may have no more.
        for index in object.toMany.keys where !object.isTransient(index) {
            object.toMany[index] = nil
        }
        if object.hasRow {
            recreate(object)
        } else {
            object.flags.formUnion([.inserted, .fulfilled])
            objectDidChange(object, isReal: true)
        }
        registry.register(object)
        return true
    }

    /// An object leaves that was not there before; no hook is called.
    private func takeAway(_ object: ManagedObject) {
        guard object.managedObjectContext === self, !object.isDeleted else { return }
        markDeleted(object)
    }

    /// An object that is as it is stored is no longer changed.
    private func settle(_ object: ManagedObject) {
        guard object.managedObjectContext === self, object.changedIndex >= 0, !object.isInserted,
            !object.isDeleted, !object.hasEdits, !object.hasRefusals
        else { return }
        for (index, state) in object.rarer?.toMany ?? [:] where state.hasChanges {
            // What was added and removed again is known to be no change once the members are read.
            _ = memberIDs(of: object, index)
            if object.toMany[index]?.hasChanges == true { return }
        }
        changed.remove(object)
        object.isUpdated = false
        noteRefreshed(object)
    }
}
