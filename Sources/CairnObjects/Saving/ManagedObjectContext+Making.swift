// Contexts as programs make them, with what they do by themselves.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// Creates a context for a store. Its objects have the given classes.
    ///
    /// - Parameter instruments: the receivers of its events; nil: the trace that the environment variable `CAIRN_DEBUG`
    ///   requests. Contexts of a container have the container's instruments.
    public convenience init(
        store: any PersistentStore, classes: ObjectClasses = ObjectClasses(),
        instruments: [any Instrument]? = nil
    ) {
        self.init(
            store: store, classes: classes,
            board: InstrumentBoard(instruments ?? TraceInstrument.ofEnvironment))
    }

    convenience init(
        store: any PersistentStore, classes: ObjectClasses, board: InstrumentBoard,
        saveFeed: Feed<ContextSave>? = nil
    ) {
        self.init(
            store: store, classes: classes, board: board, operations: DefaultContextOperations(),
            saveFeed: saveFeed)
    }
}

/// What every context does by itself.
private struct DefaultContextOperations: ContextOperations {
    func save(_ context: ManagedObjectContext) throws { try context.save() }

    func mergeMissedChanges(into context: ManagedObjectContext) { context.mergeMissedChanges() }

    func mergeBetweenEdits(of context: ManagedObjectContext) { context.mergeBetweenEdits() }

    func fetchedObjects(_ property: FetchedPropertyDescription, of object: ManagedObject)
        -> [ManagedObject]
    {
        object.fetchedObjects(property)
    }

    func resolve(_ conflicts: [MergeConflict], by policy: MergePolicy) throws {
        try policy.resolveVersions(conflicts)
    }

    func resolve(_ conflicts: [ConstraintConflict], by policy: MergePolicy) throws {
        try policy.resolveConstraints(conflicts)
    }
}
