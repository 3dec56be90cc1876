// Rules for objects that somebody else changed or deleted since they were read.
//
// "Ours" is what changed in this save since the base row; "theirs" is what differs between the base row and
// the stored one. A version alone says nothing: a row that was written with the same values again is still a
// conflict under the error policy, as the version says. Only what is derived is nobody's change: a row whose
// base differs from it in nothing else is no conflict, under any policy.
//
// Under the declared policy an entity whose rule is `store` meets deletions as under store trump.
//
// Pairs of to-many relationships have no version: additions and removals of both writers apply, and belong
// to the object that made them. Where its changes are dropped, so are they.

public import CairnModel

extension ConflictRules {
    /// What becomes of a changed object whose row was changed or deleted by somebody else.
    public enum UpdateOutcome: Sendable, Hashable {
        /// The save fails with `.mergeConflict`.
        case fail
        /// These columns of ours are written over the stored row; the rest is as it is stored. With no
        /// column there is nothing to write.
        case write(ColumnSet)
        /// Our whole object is written, the columns we did not change too: theirs are lost.
        case writeWhole
        /// Our changes are dropped; the object shows what is stored.
        case revert
        /// The row is gone, and our object becomes deleted; our changes are dropped.
        case becomeDeleted
        /// The row is gone, and is made again under the same id with our whole object.
        case recreate
    }

    /// A changed object whose row has another version, or is gone.
    ///
    /// - Parameters:
    ///   - changed: the columns changed in this save.
    ///   - theirs: the columns in which the stored row differs from the base row; nil if the row is gone.
    public static func updateMeetsVersion(
        _ policy: MergePolicyKind, changed: ColumnSet, theirs: ColumnSet?
    ) -> UpdateOutcome {
        guard let theirs else {
            switch policy {
            case .error: return .fail
            case .mergeByPropertyStoreTrump, .rollback: return .becomeDeleted
            case .mergeByPropertyObjectTrump, .overwrite, .declared: return .recreate
            }
        }
        switch policy {
        case .error: return .fail
        case .mergeByPropertyStoreTrump: return .write(changed.subtracting(theirs))
        case .mergeByPropertyObjectTrump, .declared: return .write(changed)
        case .overwrite: return .writeWhole
        case .rollback: return .revert
        }
    }

    /// What becomes of a deletion of an object whose row was changed or deleted by somebody else.
    public enum DeletionOutcome: Sendable, Hashable {
        /// The save fails with `.mergeConflict`.
        case fail
        /// The object is deleted all the same.
        case delete
        /// The deletion is taken back; the object shows what is stored.
        case undelete
        /// It is gone already: no conflict, and nothing to do.
        case done
    }

    /// A deletion of an object whose row has another version, or is gone.
    public static func deletionMeetsVersion(_ policy: MergePolicyKind, rowExists: Bool)
        -> DeletionOutcome
    {
        guard rowExists else { return .done }
        return switch policy {
        case .error: .fail
        case .mergeByPropertyObjectTrump, .overwrite, .declared: .delete
        case .mergeByPropertyStoreTrump, .rollback: .undelete
        }
    }

    /// The columns in which two rows of an entity differ.
    public static func differences(_ base: RowCells, _ stored: RowCells, of entity: SchemaEntity)
        -> ColumnSet
    {
        var result = ColumnSet()
        for column in entity.columns.indices
        where !base.isEqual(stored, column: column, of: entity) {
            result.insert(column)
        }
        return result
    }
}
