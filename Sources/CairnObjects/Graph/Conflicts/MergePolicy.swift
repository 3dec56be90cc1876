// What a save does about conflicts.

public import CairnStore

/// A merge policy: what a save does when an object was changed by somebody else, or when a uniqueness
/// constraint would be violated.
///
/// The built-in policies are carried out by the store. A policy of one's own is a subclass that starts from
/// the nearest built-in one, changes what is about to be merged, and calls super:
///
/// ```swift
/// final class KeepWhatIsKnown: MergePolicy {
///     override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
///         for conflict in list {
///             guard let known = conflict.databaseObject else { continue }
///             for object in conflict.conflictingObjects where object["note"] == nil {
///                 object["note"] = known["note"]
///             }
///         }
///         try super.resolve(constraintConflicts: list)
///     }
/// }
/// ```
///
/// A policy that does not call super must cure the conflicts itself, or the save fails.
///
/// A batch insert has no objects that could be handed over: it does what the built-in policy does that a policy starts from, as
/// ``mergeType`` and ``setOnly`` say, and calls nothing that a subclass overrides.
///
/// Of two objects with one unique key one stays, whatever a built-in policy does about their values. The id of the other one, if
/// it was stored, or given by ``ManagedObjectContext/obtainPermanentIDs(for:)``, leads to the one that stays from then on: see
/// ``ManagedObjectContext/redirectedObjectID(for:)``.
///
/// By a constraint that entities inherit, objects of different entities may have one key. An object is merged into one of another
/// entity only if that has every property that was set on it, and if all that leads to it may lead there; else the conflict is an
/// error that names both, whatever the policy does about values. ``overwrite`` merges nothing, and so lets the new object take the
/// place of a stored one of any entity.
open class MergePolicy {
    /// What the policy starts from.
    public final let mergeType: MergePolicyKind
    /// Whether a new object that is merged into another one gives it only what was assigned to it: what
    /// nobody set stays as it is stored, and of several new objects each gives what was set on it.
    public final let setOnly: Bool

    /// A policy that starts from a built-in one.
    public init(merge mergeType: MergePolicyKind, setOnly: Bool = false) {
        self.mergeType = mergeType
        self.setOnly = setOnly
    }

    /// The save fails and lists the conflicts. The policy of a new context.
    public static var error: MergePolicy { shared.error }
    /// What is stored wins, property by property; a new object gives way to the stored one. The deletion of an object that somebody
    /// else has changed is taken back, with what its delete rules have done to others.
    public static var mergeByPropertyStoreTrump: MergePolicy { shared.storeTrump }
    /// What is in the context wins, property by property; a stored object takes the values of a new one.
    public static var mergeByPropertyObjectTrump: MergePolicy { shared.objectTrump }
    /// The object in the context replaces the stored one, whose id leads to it from then on. What led to the stored object in
    /// the store leads nowhere.
    public static var overwrite: MergePolicy { shared.overwrite }
    /// What is stored stays, and what was changed is dropped. A deletion is taken back as with ``mergeByPropertyStoreTrump``.
    public static var rollback: MergePolicy { shared.rollback }
    /// The model says of each property what is made of two values: a counter adds, the newest wins, one that is nil is filled. See
    /// `MergeRule`, and ``mergeByPropertyObjectTrump`` for what it says nothing of.
    ///
    /// ```swift
    /// @Attribute(mergeRule: .sum) var visits: Int = 0
    /// @Attribute(mergeRule: .newest(by: "modified")) var title: String = ""
    /// var modified: Date = Date()
    ///
    /// container.setMergePolicy(.declared)
    /// ```
    ///
    /// Of a new object that is merged into another one only what was set counts. A batch insert follows the rules row by row
    /// where it finds objects by the entity's first uniqueness constraint; see `BatchInsertRequest.mergePolicy`.
    public static var declared: MergePolicy { shared.declared }

    private struct Shared {
        let error = MergePolicy(merge: .error)
        let storeTrump = MergePolicy(merge: .mergeByPropertyStoreTrump)
        let objectTrump = MergePolicy(merge: .mergeByPropertyObjectTrump)
        let overwrite = MergePolicy(merge: .overwrite)
        let rollback = MergePolicy(merge: .rollback)
        let declared = MergePolicy(merge: .declared)
    }

    private nonisolated(unsafe) static let shared = Shared()
    // Policies of this very class have constants only.

    /// Whether the store can do what the policy says.
    final var isBuiltIn: Bool { type(of: self) == MergePolicy.self }

    /// Resolves all conflicts of a save: those of versions, then those of constraints.
    ///
    /// - Throws: What aborts the save.
    open func resolve(mergeConflicts list: [Any]) throws {
        let versions = list.compactMap { $0 as? MergeConflict }
        if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
        let constraints = list.compactMap { $0 as? ConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts with objects that somebody else has changed or deleted, in the context.
    ///
    /// - Throws: `StoreError` with `.mergeConflict` under the error policy; with `.invalidRequest` if a declared sum is greater
    ///   than its type can hold.
    open func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
        if mergeType == .error {
            throw MergePolicy.failure(
                "objects were changed elsewhere since they were read",
                list.map { .version($0.conflict) })
        }
        try list.first?.context.operations.resolve(list, by: self)
    }

    /// Resolves conflicts over uniqueness constraints, in the context.
    ///
    /// - Throws: `StoreError` with `.constraintConflict` under the error policy, and where an object
    ///   would have to become two others, or one of another entity that cannot keep all of it, or others must point at what would
    ///   be displaced.
    open func resolve(constraintConflicts list: [ConstraintConflict]) throws {
        if mergeType == .error {
            throw MergePolicy.failure(
                "a uniqueness constraint is violated", list.map { .constraint($0.conflict) })
        }
        try list.first?.context.operations.resolve(list, by: self)
    }

    static func failure(_ message: String, _ conflicts: [SaveConflict]) -> StoreError {
        let isVersion = conflicts.contains { if case .version = $0 { true } else { false } }
        return StoreError(
            isVersion ? .mergeConflict : .constraintConflict, message, conflicts: conflicts)
    }
}
