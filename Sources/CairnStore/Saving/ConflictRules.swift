// The decisions of the built-in merge policies: the engine uses them when it plans a save or a batch, and a context when it
// applies a policy to objects. The callers themselves merge two states of an object under the other policies than the
// declared one: see `SavePlanner.merge` and `ManagedObjectContext+VersionResolving`.
//
//   objects with one key              here; whether one of another entity can keep all: `ConflictRules+Entities`
//   deleted by one, changed by other  here
//   values under the declared policy  `ConflictRules+Declared`
//   the order of a list               `ConflictRules+Order`
//
// New objects of one save that have one key are folded into one first, and that one meets the stored row.
//
// A version alone says nothing of values: a row that was written with the same values again is still a conflict under the error
// policy. Only what is derived is nobody's change: a row whose base differs from it in nothing else is no conflict, under any
// policy. Pairs of to-many relationships have no version: additions and removals of both writers apply, and belong to the
// object that made them. Where its changes are dropped, so are they.
//
// Whoever asks does what they say, finds the rows, leads references elsewhere and runs the delete rules that remain.
// Threads: functions of values only.

public import CairnModel

/// The rules of the built-in merge policies.
public enum ConflictRules {
    // MARK: Keys

    /// What an object that is merged into another one passes to it, in addition to its members and references to it.
    public enum Gift: Sendable, Hashable {
        /// No values.
        case nothing
        /// All attributes, including nil and default values, and the to-one relationships that were set.
        case everything
        /// The properties that were set in a new object, or changed in a stored one.
        case edits
        /// The result of the model's merge rules.
        case declared
    }

    /// What happens to an object that gets the key of a stored one.
    public enum KeyOutcome: Sendable, Hashable {
        /// The save fails with `.constraintConflict`.
        case fail
        /// The object is merged into the stored one, which keeps its identity, and is deleted without its delete rules. If
        /// it passes values and has the keys of several stored objects, the save fails: it cannot be merged into all of
        /// them.
        case merge(Gift)
        /// The object is reverted to its stored state.
        case revert
        /// The stored object is deleted without its delete rules, references to it are cleared, and the saved object has
        /// the key. If a required reference points to the stored object, the save fails with `.constraintConflict`.
        case displace
    }

    /// The rule for an object that gets the key of a stored one.
    ///
    /// - Parameters:
    ///   - isNew: whether it is new, as opposed to a stored object that was changed.
    ///   - setOnly: whether a new object passes only the properties that were set.
    public static func objectMeetsRow(
        _ policy: MergePolicyKind, isNew: Bool, setOnly: Bool
    ) -> KeyOutcome {
        switch policy {
        case .error: .fail
        case .mergeByPropertyStoreTrump, .rollback: isNew ? .merge(.nothing) : .revert
        case .mergeByPropertyObjectTrump: .merge(isNew && !setOnly ? .everything : .edits)
        case .declared: .merge(.declared)
        case .overwrite: .displace
        }
    }

    /// What new objects of one save with the same key pass to the first of them, which survives under every policy that
    /// resolves conflicts.
    public static func newObjectsMeet(_ policy: MergePolicyKind, setOnly: Bool) -> Gift {
        switch policy {
        case .error, .mergeByPropertyStoreTrump, .rollback: .nothing
        case .mergeByPropertyObjectTrump, .overwrite: setOnly ? .edits : .nothing
        case .declared: .declared
        }
    }

    // MARK: Deletions

    /// Whether our side wins for an object that one side has deleted and the other has changed: then our deletion is
    /// applied, or an object that we have changed is created again with its id. Otherwise the stored state wins. Under the
    /// error policy neither does: the save fails.
    public static func keepsOurs(
        _ policy: MergePolicyKind, ofDeleted entity: SchemaEntity
    ) -> Bool {
        switch policy {
        case .mergeByPropertyObjectTrump, .overwrite: true
        case .declared: !entity.mergeRules.keepsStored
        case .error, .mergeByPropertyStoreTrump, .rollback: false
        }
    }

    // MARK: Batches

    /// What happens to a batch row that matches a stored object.
    public enum BatchRowRule: Sendable, Hashable {
        /// The row is skipped.
        case skip
        /// The stored object gets the row's values and keeps its identity.
        case update
    }

    /// The rule for a batch row that matches a stored object, or an earlier row of the batch, by a constraint.
    ///
    /// A batch row has no identity to keep, so overwriting is the same as updating.
    public static func batchRowMeetsRow(_ policy: MergePolicyKind) -> BatchRowRule {
        switch policy {
        case .error, .mergeByPropertyStoreTrump, .rollback: .skip
        case .mergeByPropertyObjectTrump, .overwrite, .declared: .update
        }
    }
}
