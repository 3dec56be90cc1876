// A store with the contexts that work on it.
//
// Threads: any. The view context belongs to the main actor, each background context to its own actor.

public import CairnModel
public import CairnStore

/// A store and the contexts that work on it.
public final class PersistentContainer: Sendable {
    /// The store.
    public let store: any PersistentStore
    /// The classes of the objects.
    public let classes: ObjectClasses
    private let board: InstrumentBoard
    /// Who listens to the saves of its contexts.
    let saveFeed = Feed<ContextSave>()
    private nonisolated(unsafe) let view: ManagedObjectContext
    // Reached only through `viewContext`, which belongs to the main actor.

    /// A container over an open store.
    public init(store: any PersistentStore, classes: ObjectClasses = ObjectClasses()) {
        self.store = store
        self.classes = classes
        let board = InstrumentBoard(TraceInstrument.ofEnvironment)
        self.board = board
        view = ManagedObjectContext(
            store: store, classes: classes, board: board, saveFeed: saveFeed)
        view.isViewContext = true
        view.isObservable = true
    }

    /// The model as the store resolved it.
    public var schema: Schema { store.schema }

    /// Who is told of what the contexts of the container do: requests, faults and saves, with how long they took, and advice.
    ///
    /// ```swift
    /// container.instruments = [TraceInstrument(level: .values)]
    /// ```
    ///
    /// Without any, which is the default, nothing is measured. If the environment variable `CAIRN_DEBUG` is 1, 2 or 3 when the
    /// container is made, it begins with a ``TraceInstrument`` of that level. They can be changed at any time, by any thread; the
    /// last one to set them wins. To append one is to read them and to set them: of two threads that do so at once, one may
    /// undo what the other did.
    public var instruments: [any Instrument] {
        get { board.instruments }
        set { board.set(newValue) }
    }

    /// The context of the main actor.
    ///
    /// Nobody says there when a run of edits is over: it is when pending changes are processed, by a fetch, by a save, by a
    /// rollback or by ``ManagedObjectContext/processPendingChanges()``. As long as somebody watches the context, the main actor
    /// does that too, once for each run, as soon as it comes to other work.
    @MainActor public var viewContext: ManagedObjectContext { view }

    /// A new context with an actor of its own.
    public func newBackgroundContext() -> BackgroundContext {
        BackgroundContext(store: store, classes: classes, board: board, saveFeed: saveFeed)
    }

    /// Runs a task on a fresh context, away from the caller's actor, and gives its result.
    ///
    /// The context has the error policy until the task sets another. Objects cannot leave the task; ids and
    /// plain values can.
    @concurrent
    public func performBackgroundTask<R, E: Error>(
        _ body: sending (ManagedObjectContext) async throws(E) -> sending R
    ) async throws(E) -> sending R {
        let context = ManagedObjectContext(
            store: store, classes: classes, board: board, saveFeed: saveFeed)
        defer {
            if context.isWatched(.changes) { context.processPendingChanges() }
            context.abandon()
        }
        return try await body(context)
    }
}
