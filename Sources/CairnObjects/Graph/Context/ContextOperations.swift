// What a context does by itself, or is asked for by its objects, that takes fetching, saving or merging: those know objects and
// contexts, which therefore know them by this protocol alone.
//
// Called once a run of edits, a save or a conflict, and for fetched properties; never by what reads or sets a property else.

import CairnModel

/// What a context does by itself.
protocol ContextOperations: Sendable {
    /// Saves, as a context does whose runs of edits end with a save.
    func save(_ context: ManagedObjectContext) throws

    /// Merges what the parent has saved while the context was saving, or told of a change.
    func mergeMissedChanges(into context: ManagedObjectContext)

    /// Merges what waits, before pending changes are processed.
    func mergeBetweenEdits(of context: ManagedObjectContext)

    /// The objects of a fetched property.
    func fetchedObjects(_ property: FetchedPropertyDescription, of object: ManagedObject)
        -> [ManagedObject]

    /// Resolves conflicts of versions as a built-in policy says.
    func resolve(_ conflicts: [MergeConflict], by policy: MergePolicy) throws

    /// Resolves conflicts over uniqueness constraints as a built-in policy says.
    func resolve(_ conflicts: [ConstraintConflict], by policy: MergePolicy) throws
}
