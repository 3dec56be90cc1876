// The merge policies that a store can apply on its own.

/// How a save or a batch resolves a conflict with a stored object.
public enum MergePolicyKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// The save fails and lists the conflicts. A batch insert skips the row.
    case error
    /// The stored values win, property by property. Values of a new object are dropped.
    case mergeByPropertyStoreTrump
    /// The object's values win, property by property.
    case mergeByPropertyObjectTrump
    /// The object replaces the stored one.
    case overwrite
    /// The stored object wins, and all changes of the object are dropped.
    case rollback
    /// The model's merge rules apply, property by property. Without a rule it is like `mergeByPropertyObjectTrump`, where
    /// only the properties that were set count in a new object.
    case declared
}
