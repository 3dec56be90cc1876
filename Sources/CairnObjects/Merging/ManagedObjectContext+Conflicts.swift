// Conflicts that a store reports, with the objects they are about.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// The conflicts of a failed save for a merge policy: ``MergeConflict`` and ``ConstraintConflict`` objects. Pass them
    /// to a policy, and try to save again.
    public func conflicts(in error: StoreError) -> [Any] { conflictObjects(error.conflicts) }

    func conflictObjects(_ conflicts: [SaveConflict]) -> [Any] {
        conflicts.compactMap { conflict -> Any? in
            switch conflict {
            case .version(let conflict):
                return MergeConflict(conflict, object(of: conflict), self)
            case .constraint(let conflict):
                let objects = conflict.objects.compactMap { registry.object(for: $0) }
                return ConstraintConflict(
                    conflict, database: conflict.stored.map(databaseObject), objects: objects, self)
            }
        }
    }

    /// The object that a conflict is about; a fault if nobody holds it any more.
    private func object(of conflict: VersionConflict) -> ManagedObject {
        registry.object(for: conflict.id)
            ?? faults(with: [conflict.id], of: schema.entities[conflict.entity])[0]
    }

    /// The object of a stored row, with the values that are stored now.
    private func databaseObject(_ row: Row) -> ManagedObject {
        let object = object(for: row)
        if object.isFault {
            fill(object, row)
        } else {
            // One that was gone is back: somebody has stored it again under its id.
            if object.isGone { object.isDeleted = false }
            noteMoves(of: object, by: row)
            if object.version != row.version { noteRefreshed(object) }
            object.rebase(on: row)
        }
        return object
    }
}
