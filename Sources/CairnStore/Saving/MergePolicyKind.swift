// The policies that a store can carry out by itself.

/// What happens when a save or a batch meets an object that somebody else has stored.
public enum MergePolicyKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// The save fails and lists the conflicts. A batch insert skips the row.
    case error
    /// What is stored wins, property by property; of a new object nothing is taken.
    case mergeByPropertyStoreTrump
    /// What the object says wins, property by property.
    case mergeByPropertyObjectTrump
    /// The object replaces what is stored.
    case overwrite
    /// What is stored stays, all of the object's changes are dropped.
    case rollback
    /// What the model's merge rules say, property by property; where it says nothing, as `mergeByPropertyObjectTrump`, with
    /// nothing of a new object but what was set.
    case declared
}
