// The door to a context that works away from the caller.
//
// Threads: any may call; one turn at a time runs inside.

public import CairnStore

/// A context on an actor of its own.
///
/// ```swift
/// let background = container.newBackgroundContext()
/// let count = try await background.perform { context in
///     try context.count(for: FetchRequest(entityName: "Product"))
/// }
/// ```
public actor BackgroundContext {
    private let context: ManagedObjectContext

    /// A context over a store.
    ///
    /// - Parameter instruments: who is told of what it does; nil: the trace that the environment variable `CAIRN_DEBUG` asks
    ///   for.
    public init(
        store: any PersistentStore, classes: ObjectClasses = ObjectClasses(),
        instruments: [any Instrument]? = nil
    ) {
        let context = ManagedObjectContext(store: store, classes: classes, instruments: instruments)
        let door = BackgroundDoor()
        context.wake = { door.wake() }
        self.context = context
        door.begin(self)
    }

    init(
        store: any PersistentStore, classes: ObjectClasses, board: InstrumentBoard,
        saveFeed: Feed<ContextSave>, newPolicy: @Sendable () -> MergePolicy
    ) {
        let context = ManagedObjectContext(
            store: store, classes: classes, board: board, saveFeed: saveFeed)
        context.mergePolicy = newPolicy()
        let door = BackgroundDoor()
        context.wake = { door.wake() }
        self.context = context
        door.begin(self)
    }

    isolated deinit {
        context.abandon()
    }

    /// What changes in the context from now on; see ``ManagedObjectContext/changes``.
    public var changes: some AsyncSequence<ContextChange, Never> & Sendable { context.changes }

    /// Merges what others have written since the last time.
    func mergeWaitingChanges() { context.mergeWaitingChanges() }

    /// Runs a closure on the context, in one turn, and gives its result. Pending changes are processed
    /// afterwards, those of child contexts first.
    ///
    /// Objects cannot leave the closure; ids and plain values can.
    public func perform<R, E: Error>(
        _ body: sending (ManagedObjectContext) throws(E) -> sending R
    ) throws(E) -> sending R {
        var isDone = false
        defer { context.endTurn(saves: isDone) }
        let result = try body(context)
        isDone = true
        return result
    }
}
