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

    /// Sets the merge policy of the view context, and of all contexts that the container makes from now on: background contexts,
    /// and those of background tasks. Without, they have the error policy. A context can be given another one at any time.
    ///
    /// ```swift
    /// container.setMergePolicy(.mergeByPropertyObjectTrump)
    /// container.setMergePolicy(KeepWhatIsKnown(merge: .mergeByPropertyObjectTrump))
    /// ```
    ///
    /// The expression is evaluated for each context, so that each has a policy of its own.
    @MainActor public func setMergePolicy(
        _ policy: @autoclosure @escaping @Sendable () -> MergePolicy
    ) {
        newPolicy.withLock { $0 = policy }
        view.mergePolicy = policy()
    }

    private var policyOfNew: @Sendable () -> MergePolicy { newPolicy.withLock { $0 } }

    /// What gets the events of the contexts of the container: requests, faults and saves, with how long they took, and advice.
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
    /// rollback or by ``ManagedObjectContext/processPendingChanges()``. As long as the context is observed, the main actor
    /// does that too, once for each run, as soon as it comes to other work.
    @MainActor public var viewContext: ManagedObjectContext { view }

    /// A new context with an actor of its own.
    public func newBackgroundContext() -> BackgroundContext {
        BackgroundContext(
            store: store, classes: classes, board: board, saveFeed: saveFeed,
            newPolicy: policyOfNew)
    }

    /// Runs a task on a fresh context, away from the caller's actor, and gives its result.
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
