// Does to the objects of a context what a save has done to the store.
//
//   1. New objects get their permanent ids; absorbed ones leave the context.
//   2. Rows replace edits. Rows that the save wrote besides replace those of clean objects.
//   3. Deleted and displaced objects leave the context.
//   4. Members: what was added and removed is stored now. If a policy moved references about, or somebody
//      else's were merged in, what was read of members is forgotten instead, and asked for again. Objects at
//      the other ends of one-to-one relationships become faults.
//   5. Nothing is changed any more. Those who watch are told what the save has found to be otherwise; didSave is called, and
//      they are told what was saved.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// - Parameter isLeft: of which changed objects nothing was saved; nil: of none.
    func finishSave(_ result: SaveResult, leaving isLeft: ((ManagedObject) -> Bool)? = nil) {
        var objects = changedInOrder
        let left = isLeft.map { objects.filter($0) } ?? []
        if let isLeft { objects.removeAll(where: isLeft) }
        var saved = isWatched(.saves) ? SavedObjects() : nil
        // A parent's objects are not compared with what the child knows of them.
        saved?.notesDifferences = parent == nil && isWatched(.differences)
        saved?.isWritten = result.commit != nil
        saved?.commit = result.commit
        saved?.commits = result.commits
        if let inbox { inbox.disown(result, of: identity.identifier) }
        let isPlain =
            result.absorbed.isEmpty && result.reverted.isEmpty && result.displaced.isEmpty
            && result.undeleted.isEmpty && absorbedObjects.isEmpty
        let reverted = Set(result.reverted)
        let undeleted = Set(result.undeleted)
        let recomputed = Set(result.recomputed)
        var gone: Set<ObjectID> = []
        var handled: Set<ObjectID> = []
        for object in objects {
            let old = object.objectID
            if let survivor = result.absorbed[old] {
                noteLeaving(object)
                leave(object, absorbedInto: survivor)
            } else if object.isDeleted && !undeleted.contains(old) {
                gone.insert(old)
                saved?.noteDeletion(of: object, isCurrent: deletesWhatItKnows)
                leave(object, absorbedInto: object.absorbedInto)
            } else if reverted.contains(old) || undeleted.contains(old) {
                noteMoves(of: object, by: result.rows[old], result.permanentIDs)
                revert(object, to: result.rows[old])
                handled.insert(old)
            } else {
                let id = result.permanentIDs[old] ?? old
                if object.isInserted {
                    saved?.inserted.append(object)
                } else {
                    saved?.noteUpdate(
                        of: object, result.rows[id], isRecomputed: recomputed.contains(id))
                }
                noteMoves(of: object, by: result.rows[id], result.permanentIDs)
                if id != old { rename(object, id) }
                object.isInserted = false
                object.isRecreated = false
                object.isUpdated = false
                object.commitEdits(result.rows[id])
                handled.insert(id)
            }
        }
        for id in result.displaced {
            guard let object = registry.object(for: id) else {
                saved?.deletedElsewhere.append(id)
                continue
            }
            gone.insert(id)
            saved?.deleted.append(object)
            noteLeaving(object)
            leave(object, absorbedInto: result.successors[id])
        }
        for (id, row) in result.rows where !handled.contains(id) {
            guard let object = registry.object(for: id), !object.isGone else {
                saved?.updatedElsewhere.append(id)
                continue
            }
            saved?.updated.append(object)
            saved?.noteDifference(of: object, row)
            noteRefreshed(object)
            noteMoves(of: object, by: row, result.permanentIDs)
            if object.isFault { object.row = row } else { object.rebase(on: row) }
        }
        for id in result.recomputed {
            guard let object = registry.object(for: id), !object.isGone else {
                saved?.updatedElsewhere.append(id)
                continue
            }
            if !handled.contains(id) {
                saved?.updated.append(object)
                noteRefreshed(object)
            }
            object.turnIntoFault(resetsTransients: false)
        }
        for id in moves.ends where !handled.contains(id) && result.rows[id] == nil {
            guard let object = registry.object(for: id), !object.isFault, !object.isGone,
                isLeft == nil || object.changedIndex < 0
            else { continue }
            object.turnIntoFault(resetsTransients: false)
            noteRefreshed(object)
        }
        finishMembers(of: objects, result, gone, isPlain: isPlain && !moves.areThere)
        forgetOrder(result.reordered)
        moves = ReferenceMoves()
        renameTransients(result.permanentIDs)
        var absorbed = result.absorbed
        for (object, other) in redirects
        where object.managedObjectContext !== self && object.absorbedInto == nil {
            let id = other.objectID
            object.absorbedInto = result.permanentIDs[id] ?? result.absorbed[id] ?? id
        }
        for object in absorbedObjects {
            guard let id = object.absorbedInto else { continue }
            let survivor = result.permanentIDs[id] ?? result.absorbed[id] ?? id
            object.absorbedInto = survivor
            absorbed[object.objectID] = survivor
        }
        if !absorbed.isEmpty { saved?.survivors = Set(absorbed.values) }
        if !children.isEmpty {
            tellChildren(of: result, absorbed)
            if result.commit != nil { outdateChildren(result.rows) }
        }
        // What the rest relies on, it still does.
        if isLeft == nil {
            absorbedObjects = []
            lockedObjects = []
            redirects = []
        }
        let hadLostLinks = hasLostLinks && !left.isEmpty
        forgetChanges()
        hasLostLinks = hadLostLinks
        // Whoever is told of the save finds the rest changed as it was.
        for object in left { _ = changed.insert(object) }
        revision += 1
        saves += 1
        if result.commit != nil {
            knownRows.noteSave(max(1, result.commits.count))
            moveGenerationOn()
        }
        // Before anybody is called who might save: listeners get saves in their order.
        if let saved { feed(saved) }
        endEvent()
        // They were changed before the run of edits that begins now.
        if !left.isEmpty { changed.beginEvent() }
        undoHistory?.recording = .steps
        for object in objects { object.didSave() }
        if let saved { tell(.didSave(saved)) }
        if !children.isEmpty, !result.permanentIDs.isEmpty { tellChildrenOfRenames() }
    }

    /// Whether what a save deletes is stored as the context knows it: the policy lets nobody's writes pass unseen, or they are
    /// still to be merged.
    private var deletesWhatItKnows: Bool {
        inbox != nil && readsNewest || mergePolicy.isBuiltIn && mergePolicy.mergeType == .error
    }

    /// The policy sent an object back to what is stored, or took its deletion back.
    private func revert(_ object: ManagedObject, to row: Row?) {
        guard let row else { return vanish(object) }
        noteRefreshed(object)
        object.isUpdated = false
        object.isDeleted = false
        object.isPropagated = false
        object.yield(to: row)
    }

    private func finishMembers(
        of objects: [ManagedObject], _ result: SaveResult, _ gone: Set<ObjectID>, isPlain: Bool
    ) {
        for object in objects {
            for index in object.toMany.keys {
                object.toMany[index]?.commit(result.permanentIDs)
            }
        }
        if hasLostLinks {
            // Members that are gone were not saved.
            for object in objects { object.unloadMembers() }
        }
        if isPlain && gone.isEmpty { return }
        for object in objectsWithMembers {
            if !isPlain { object.unloadMembers() }
            for index in object.toMany.keys { object.toMany[index]?.forget(gone) }
        }
    }
}
