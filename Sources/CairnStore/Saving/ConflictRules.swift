// What the built-in merge policies decide about conflicts: the engine asks as it plans a save or a batch, a context as it does to
// objects what a policy says. How the policies but the declared one merge two states of an object is done where it is asked:
// `SavePlanner.merge`, and `ManagedObjectContext+VersionResolving`.
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

    /// What an object that is merged into another one gives it, beside its members and what leads to it.
    public enum Gift: Sendable, Hashable {
        /// No values.
        case nothing
        /// All attributes, also nil and defaults, and the to-one relationships that were set.
        case everything
        /// What was set on a new object, or changed in a stored one.
        case edits
        /// What the model's rules make of both.
        case declared
    }

    /// What becomes of an object that has come to have the key of a stored one.
    public enum KeyOutcome: Sendable, Hashable {
        /// The save fails with `.constraintConflict`.
        case fail
        /// It is merged into the stored one, which keeps its identity, and goes without its delete rules. If it gives values,
        /// and has the keys of several stored ones, the save fails: it cannot become all of them.
        case merge(Gift)
        /// It goes back to what is stored of it.
        case revert
        /// The stored one is deleted without its delete rules, references to it are cleared, and it has the key. A mandatory
        /// reference to the stored one makes the save fail with `.constraintConflict`.
        case displace
    }

    /// An object that has come to have the key of a stored one.
    ///
    /// - Parameters:
    ///   - isNew: whether it is new, as opposed to a stored one that was changed.
    ///   - setOnly: whether what nobody set on a new one is given to nobody.
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

    /// What new objects of one save that have one key give the first of them, which survives in every policy that resolves
    /// anything.
    public static func newObjectsMeet(_ policy: MergePolicyKind, setOnly: Bool) -> Gift {
        switch policy {
        case .error, .mergeByPropertyStoreTrump, .rollback: .nothing
        case .mergeByPropertyObjectTrump, .overwrite: setOnly ? .edits : .nothing
        case .declared: .declared
        }
    }

    // MARK: Deletions

    /// Whether what we say holds of an object that one side has deleted and the other one has changed: our deletion goes
    /// through, and what we have changed is created again under its id. Else what is stored holds. Under the error policy
    /// neither does: the save fails.
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
