// Objects that a save relies on without changing them.
//
// They are compared with what is stored within the save, as changed ones are. Nothing of them is written, so the merge policies
// have nothing to decide about them: only the error policy, and a policy of one's own, are told.
//
// Threads: the context's.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Has the next save that has something to save fail if somebody else has changed or deleted an object since it was read
    /// here, though it is not changed here.
    ///
    /// ```swift
    /// context.detectConflicts(for: account)          // what is about to be computed depends on it
    /// order["total"] = total(of: account)
    /// try context.save()                             // `.mergeConflict` if the account is another one by now
    /// ```
    ///
    /// The error policy reports such a conflict, and so does a policy of one's own; the other built-in ones have nothing to
    /// merge, and save. It holds until a save succeeds, or until ``rollback()`` or ``reset()``. In a child context it is
    /// the parent's save that looks, once the child has saved.
    ///
    /// A fault is read now. New objects, and those that the save changes or deletes, are compared anyway.
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
