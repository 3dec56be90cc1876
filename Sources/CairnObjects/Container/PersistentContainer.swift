// A store with the contexts that work on it.
//
// Threads: any. The view context belongs to the main actor, each background context to its own actor.

public import CairnModel
public import CairnStore
import Synchronization

/// A store and the contexts that work on it.
public final class PersistentContainer: Sendable {
    /// The store.
    public let store: any PersistentStore
    /// The classes of the objects.
    public let classes: ObjectClasses
    private let board: InstrumentBoard
    /// Who listens to the saves of its contexts.
    let saveFeed = Feed<ContextSave>()
    /// Who listens to what is written to the store.
    let remote: RemoteChanges
    /// Makes the merge policy of a new context.
    private let newPolicy: Mutex<@Sendable () -> MergePolicy>
    private nonisolated(unsafe) let view: ManagedObjectContext
    // Reached only through `viewContext`, which belongs to the main actor.

    /// A container over an open store.
    ///
    /// - Parameter mergePolicy: the policy of its contexts; see ``setMergePolicy(_:)``.
    public init(
        store: any PersistentStore, classes: ObjectClasses = ObjectClasses(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) {
        self.store = store
        self.classes = classes
        remote = RemoteChanges(store)
        let board = InstrumentBoard(TraceInstrument.ofEnvironment)
        self.board = board
        view = ManagedObjectContext(
            store: store, classes: classes, board: board, saveFeed: saveFeed)
        view.isViewContext = true
        view.isObservable = true
        view.mergePolicy = mergePolicy()
        newPolicy = Mutex(mergePolicy)
        remote.begin(self)
    }

    deinit { saveFeed.finish() }

    /// The model as the store resolved it.
    public var schema: Schema { store.schema }

    /// Sets the merge policy of the view context, and of all contexts that the container creates from now on: background
    /// contexts, and those of background tasks. The default is the error policy. You can change a context's policy at any
    /// time.
    ///
    /// ```swift
    /// container.setMergePolicy(.mergeByPropertyObjectTrump)
    /// container.setMergePolicy(KeepWhatIsKnown(merge: .mergeByPropertyObjectTrump))
    /// ```
    ///
    /// The expression is evaluated for each context, so that each has its own policy.
    @MainActor public func setMergePolicy(
        _ policy: @autoclosure @escaping @Sendable () -> MergePolicy
    ) {
        newPolicy.withLock { $0 = policy }
        view.mergePolicy = policy()
    }

    private var policyOfNew: @Sendable () -> MergePolicy { newPolicy.withLock { $0 } }

    /// Instruments that receive the events of the container's contexts: requests, faults and saves, with their
    /// durations, and advice.
    ///
    /// ```swift
    /// container.instruments = [TraceInstrument(level: .values)]
    /// ```
    ///
    /// By default there are none, and nothing is measured. If the environment variable `CAIRN_DEBUG` is 1, 2 or 3 when
    /// the container is created, it starts with a ``TraceInstrument`` of that level. Any thread can set them at any
    /// time; the last one wins. Appending reads and then sets them: if two threads do so at once, one may undo the
    /// other's change.
    public var instruments: [any Instrument] {
        get { board.instruments }
        set { board.set(newValue) }
    }

    /// The context of the main actor.
    ///
    /// On the main actor, a run of edits ends when pending changes are processed: by a fetch, a save, a rollback, or
    /// ``ManagedObjectContext/processPendingChanges()``. While the context is observed, the main actor also processes
    /// them once per run, as soon as it is idle.
    @MainActor public var viewContext: ManagedObjectContext { view }

    /// A new context with an actor of its own.
    public func newBackgroundContext() -> BackgroundContext {
        BackgroundContext(
            store: store, classes: classes, board: board, saveFeed: saveFeed,
            newPolicy: policyOfNew)
    }

    /// Runs a task on a new context, off the caller's actor, and returns its result.
    ///
    /// The context has the container's merge policy until the task sets another. Objects cannot leave the task; ids and
    /// plain values can.
    @concurrent
    public func performBackgroundTask<R, E: Error>(
        _ body: sending (ManagedObjectContext) async throws(E) -> sending R
    ) async throws(E) -> sending R {
        let context = ManagedObjectContext(
            store: store, classes: classes, board: board, saveFeed: saveFeed)
        context.mergePolicy = policyOfNew()
        defer {
            if context.isWatched(.changes) { context.processPendingChanges() }
            context.abandon()
        }
        return try await body(context)
    }
}
