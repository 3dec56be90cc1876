// What a save does about conflicts.

public import CairnStore

/// A merge policy: what a save does when an object was changed elsewhere, or when a uniqueness constraint would be
/// violated.
///
/// The store executes the built-in policies. A custom policy is a subclass that starts from the nearest built-in one,
/// adjusts the conflicting objects, and calls super:
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
/// A policy that does not call super must resolve the conflicts itself, or the save fails.
///
/// A batch insert has no objects to pass to a policy: it applies the built-in policy that the custom one starts from, as
/// ``mergeType`` and ``setOnly`` specify, and does not call overridden methods.
///
/// Of two objects with the same unique key, one survives, whatever a built-in policy does about their values. The id of the
/// other one, if it was stored or assigned by ``ManagedObjectContext/obtainPermanentIDs(for:)``, is redirected to the
/// survivor from then on: see ``ManagedObjectContext/redirectedObjectID(for:)``.
///
/// With an inherited constraint, objects of different entities may have the same key. An object is merged into one of
/// another entity only if that entity has every property that was set on it, and every relationship that refers to it
/// accepts that entity; otherwise the conflict is an error that names both, whatever the policy does about values.
/// ``overwrite`` merges nothing, and so lets the new object replace a stored one of any entity.
open class MergePolicy {
    /// The built-in policy that this policy starts from.
    public final let mergeType: MergePolicyKind
    /// Whether merging a new object into another one only transfers values that were assigned to it: other values stay
    /// as they are stored, and several new objects each contribute the values set on them.
    public final let setOnly: Bool

    /// A policy that starts from a built-in one.
    public init(merge mergeType: MergePolicyKind, setOnly: Bool = false) {
        self.mergeType = mergeType
        self.setOnly = setOnly
    }

    /// The save fails and lists the conflicts. The policy of a new context.
    public static var error: MergePolicy { shared.error }
    /// Stored values win, property by property; a new object is merged into the stored one. Deleting an object that was
    /// changed elsewhere is undone, including the effects of its delete rules.
    public static var mergeByPropertyStoreTrump: MergePolicy { shared.storeTrump }
    /// The context's values win, property by property; a stored object takes the values of a new one.
    public static var mergeByPropertyObjectTrump: MergePolicy { shared.objectTrump }
    /// The object in the context replaces the stored one, whose id is redirected to it from then on. Stored references to
    /// the old object are removed.
    public static var overwrite: MergePolicy { shared.overwrite }
    /// Stored values are kept, and changes are dropped. A deletion is undone as with ``mergeByPropertyStoreTrump``.
    public static var rollback: MergePolicy { shared.rollback }
    /// The model defines, for each property, how to combine two values: counters add up, the newest wins, nil is filled
    /// in. See `MergeRule`; properties without a rule follow ``mergeByPropertyObjectTrump``.
    ///
    /// ```swift
    /// @Attribute(mergeRule: .sum) var visits: Int = 0
    /// @Attribute(mergeRule: .newest(by: "modified")) var title: String = ""
    /// var modified: Date = Date()
    ///
    /// container.setMergePolicy(.declared)
    /// ```
    ///
    /// When a new object is merged into another one, only values that were set count. A batch insert applies the rules
    /// row by row if it finds objects by the entity's first uniqueness constraint; see
    /// `BatchInsertRequest.mergePolicy`.
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
    /// - Throws: An error that aborts the save.
    open func resolve(mergeConflicts list: [Any]) throws {
        let versions = list.compactMap { $0 as? MergeConflict }
        if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
        let constraints = list.compactMap { $0 as? ConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts with objects that were changed or deleted elsewhere, in the context.
    ///
    /// - Throws: `StoreError` with `.mergeConflict` under the error policy; with `.invalidRequest` if a declared sum
    ///   exceeds the range of its type.
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
    /// - Throws: `StoreError` with `.constraintConflict` under the error policy, and if an object would have to be
    ///   merged into two others, or into one of another entity that cannot hold all its values, or if others would have
    ///   to refer to a replaced object.
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
