// Objects that a save relies on without changing them.
//
// They are compared with what is stored within the save, as changed ones are. Nothing of them is written, so the merge policies
// have nothing to decide about them: only the error policy, and a policy of one's own, are told.
//
// Threads: the context's.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Makes the next save that has something to save fail if an object was changed or deleted elsewhere since it was
    /// read here, even if it is not changed here.
    ///
    /// ```swift
    /// context.detectConflicts(for: account)          // the following computation depends on it
    /// order["total"] = total(of: account)
    /// try context.save()                             // `.mergeConflict` if the account has changed
    /// ```
    ///
    /// The error policy reports such a conflict, and so does a custom policy; the other built-in policies have nothing
    /// to merge, and save. It applies until a save succeeds, or until ``rollback()`` or ``reset()``. For a child
    /// context, the parent's save checks, once the child has saved.
    ///
    /// A fault is read immediately. New objects, and those that the save changes or deletes, are checked anyway.
    public func detectConflicts(for object: ManagedObject) {
        precondition(
            object.managedObjectContext === self || object.managedObjectContext == nil,
            "conflicts are detected for objects of the context")
        // There is nothing left of it that somebody could have changed.
        guard object.managedObjectContext != nil else { return }
        fulfill(object)
        if object.isInserted || object.isGone { return }
        lockedObjects.append(object)
    }

    /// Adds the rows that must still be there.
    func addLocked(to request: inout SaveRequest) {
        for object in lockedObjects
        where object.managedObjectContext === self && !object.isInserted && !object.isDeleted {
            guard let row = object.row else { continue }
            request.locked.append(
                SaveRequest.Locked(id: object.objectID, entity: object.entity.index, base: row))
        }
    }
}
