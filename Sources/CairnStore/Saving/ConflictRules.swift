// What the built-in merge policies do about conflicts: one implementation for every backend and for
// the object layer.
//
// Pure functions: they look at what they are given and say what is to be done. Whoever asks does it, finds
// the rows, re-points references and runs the delete rules that remain.
//
//   (a) an object that somebody else changed or deleted since it was read        `ConflictRules+Versions`
//   (b) a new object that equals a stored row, under a uniqueness constraint
//   (c) new objects of one save that equal one another                           `fold`
//   (d) a changed object that has come to equal another row
//
// Under the declared policy it is as under object trump, but that the model says what becomes of values: see
// `ConflictRules+Declared`.
//
// (c) is applied before (b): new objects are folded into one, and that one meets the row.
// Threads: functions of values only.

public import CairnModel

/// The rules of the built-in merge policies.
public enum ConflictRules {
    /// What becomes of a new object that meets a stored row under a uniqueness constraint.
    public enum NewObjectOutcome: Sendable, Hashable {
        /// The save fails with `.constraintConflict`.
        case fail
        /// The new object is dropped, the row stays as it is; references to the object go to the row.
        case keepStored
        /// The row takes the new object's values under its own identity (`mergedValue`), the to-many
        /// members of both are united, and references to the object go to the row.
        case updateStored
        /// The row is deleted without its delete rules, references to it are cleared, and the new object
        /// is inserted. A mandatory reference to the row makes the save fail with `.constraintConflict`.
        case displaceStored
    }

    /// A new object that meets one stored row, by one constraint or by several.
    public static func newObjectMeetsRow(_ policy: MergePolicyKind) -> NewObjectOutcome {
        switch policy {
        case .error: .fail
        case .mergeByPropertyStoreTrump, .rollback: .keepStored
        case .mergeByPropertyObjectTrump, .declared: .updateStored
        case .overwrite: .displaceStored
        }
    }

    /// A new object that meets several different rows by several constraints: there is no single row it
    /// could be merged into.
    public static func newObjectMeetsSeveralRows(_ policy: MergePolicyKind) -> NewObjectOutcome {
        switch policy {
        case .error, .mergeByPropertyObjectTrump, .declared: .fail
        case .mergeByPropertyStoreTrump, .rollback: .keepStored
        case .overwrite: .displaceStored
        }
    }

    /// What becomes of a changed object that meets another stored row under a uniqueness constraint.
    public enum UpdatedObjectOutcome: Sendable, Hashable {
        /// The save fails with `.constraintConflict`.
        case fail
        /// The changed object goes back to what is stored of it; the other row stays.
        case revert
        /// The other row takes the changed values; the changed object is deleted without its delete
        /// rules, and references to it go to the other row.
        case mergeIntoOther
        /// The other row is deleted without its delete rules; the changed object stays and has the key.
        case displaceOther
    }

    /// A changed object that meets one other row.
    public static func updatedObjectMeetsRow(_ policy: MergePolicyKind) -> UpdatedObjectOutcome {
        switch policy {
        case .error: .fail
        case .mergeByPropertyStoreTrump, .rollback: .revert
        case .mergeByPropertyObjectTrump, .declared: .mergeIntoOther
        case .overwrite: .displaceOther
        }
    }

    /// A changed object that meets several other rows by several constraints.
    public static func updatedObjectMeetsSeveralRows(_ policy: MergePolicyKind)
        -> UpdatedObjectOutcome
    {
        switch policy {
        case .error, .mergeByPropertyObjectTrump, .declared: .fail
        case .mergeByPropertyStoreTrump, .rollback: .revert
        case .overwrite: .displaceOther
        }
    }

    /// The value that a stored row has in a column after it took the values of a new object.
    ///
    /// - Parameters:
    ///   - column: the column, which decides between the rule of attributes and that of to-one relationships.
    ///   - new: the new object's value.
    ///   - isAssigned: whether it was set by somebody, as opposed to being the default.
    ///   - stored: the row's value.
    ///   - assignedOnly: whether attributes that nobody set keep what is stored (`setOnly`); else they
    ///     are overwritten, also by nil and by defaults.
    ///   - targetIsUsable: whether the new value, a target, is neither deleted in this save nor foreign.
    public static func mergedValue(
        column: SchemaColumn, new: Value, isAssigned: Bool, stored: Value, assignedOnly: Bool,
        targetIsUsable: Bool = true
    ) -> Value {
        switch column.kind {
        case .reference:
            // Not touched keeps the row's target; nil set by somebody clears it.
            if !isAssigned { return stored }
            return new.isNull || targetIsUsable ? new : stored
        case .attribute:
            return assignedOnly && !isAssigned ? stored : new
        }
    }

    // MARK: New objects among themselves

    /// What becomes of new objects of one save that equal one another.
    public enum FoldOutcome: Sendable, Hashable {
        /// The save fails with `.constraintConflict`, which lists all of them and no row.
        case fail
        /// The first created survives with its own values; the others are dropped, references to them
        /// go to it, and to-many members are united.
        case keepFirst
        /// As `keepFirst`, and it takes what was set on the later ones, in the order of creation.
        case foldAssigned
    }

    /// New objects that equal one another.
    public static func newObjectsMeet(_ policy: MergePolicyKind, assignedOnly: Bool) -> FoldOutcome
    {
        switch policy {
        case .error: .fail
        case .mergeByPropertyStoreTrump, .rollback: .keepFirst
        case .mergeByPropertyObjectTrump, .overwrite: assignedOnly ? .foldAssigned : .keepFirst
        case .declared: .foldAssigned
        }
    }

    /// Folds new objects that equal one another into the first of them.
    ///
    /// - Parameters:
    ///   - objects: at least one, in the order of creation, all with as many values as the survivor's
    ///     entity has columns or more.
    ///   - outcome: `.keepFirst` or `.foldAssigned`.
    /// - Returns: the survivor: the first one's id and entity, the values and assigned columns of the result.
    ///   An object of a descendant gives only the columns that the survivor has.
    public static func fold(_ objects: [SaveRequest.Inserted], _ outcome: FoldOutcome)
        -> SaveRequest.Inserted
    {
        guard var survivor = objects.first else {
            preconditionFailure("there is nothing to fold")
        }
        guard outcome == .foldAssigned else { return survivor }
        for later in objects.dropFirst() {
            let common = min(survivor.values.count, later.values.count)
            for column in 0..<common where later.assigned.contains(column) {
                survivor.values[column] = later.values[column]
                survivor.assigned.insert(column)
            }
        }
        return survivor
    }

    // MARK: Batches

    /// What becomes of a batch row that finds its stored object.
    public enum BatchRowRule: Sendable, Hashable {
        /// The row is left out.
        case skip
        /// The stored object takes the row's values under its own identity.
        case update
    }

    /// A batch row that finds its stored object, or an earlier row of the batch, by a constraint.
    ///
    /// A batch has no object whose identity could be kept, so that overwriting is updating.
    public static func batchRowMeetsRow(_ policy: MergePolicyKind) -> BatchRowRule {
        switch policy {
        case .error, .mergeByPropertyStoreTrump, .rollback: .skip
        case .mergeByPropertyObjectTrump, .overwrite, .declared: .update
        }
    }
}
