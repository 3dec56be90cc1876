// A context with Core Data's names: a queue, and one of Cairn's contexts, which is made when it is first needed.
//
// In Core Data a context gets its parent or its coordinator after it was made, in Cairn when it is made. So what is set before
// waits here, in `settings`, until the first object, fetch or save makes the context behind.
//
// Threads: any may ask for work; the work itself, and everything else, is for the context's queue alone, which nobody checks.

import CairnObjects
public import Foundation

/// A working copy of a store's objects.
///
/// Use it, and its objects, within ``perform(_:)-(()->Void)`` or ``performAndWait(_:)->()`` alone; a context of the main queue also on
/// the main thread.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // The program uses it on its queue only, as Core Data demands; what other threads call, `perform`, touches the queue alone.

    /// Where its work is done.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    let queue: ContextQueue
    /// What was set before the context behind was made.
    var settings = ContextSettings()
    /// The context behind; nil until it is needed.
    private(set) var made: ManagedObjectContext?

    /// The context that performs what runs here.
    static var current: NSManagedObjectContext? { HeldPlaces.context }

    /// A context whose work is done in some place. It needs a ``persistentStoreCoordinator`` or a ``parent`` before it has objects.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        concurrencyType = type
        queue = .make(type)
        super.init()
    }

    /// A context whose work is done where its maker is, as Core Data's first contexts were made.
    public convenience override init() {
        self.init(concurrencyType: .confinementConcurrencyType)
    }

    /// A context whose work is done in some place.
    public convenience init(_ type: ConcurrencyType) {
        switch type {
        case .mainQueue: self.init(concurrencyType: .mainQueueConcurrencyType)
        case .privateQueue: self.init(concurrencyType: .privateQueueConcurrencyType)
        }
    }

    deinit {
        guard let made else { return }
        // Whoever lets it go last may be elsewhere, while its parent tells it what was saved.
        guard let parent = settings.parent, !queue.isCurrent else { return made.abandon() }
        let core = Handed(made)
        queue.async { withExtendedLifetime(parent) { core.value.abandon() } }
    }

    /// The context that does the work.
    package var core: ManagedObjectContext { made ?? makeCore() }

    private func makeCore() -> ManagedObjectContext {
        let core: ManagedObjectContext
        if let parent = settings.parent {
            core = ManagedObjectContext(parent: parent.core)
        } else if let coordinator = settings.coordinator {
            core = coordinator.newContext()
        } else {
            preconditionFailure(
                "the context has neither a coordinator nor a parent: set one before its first use")
        }
        // Where nobody but its maker works in it, nobody else may merge.
        var wake: (@Sendable () -> Void)?
        if concurrencyType != .confinementConcurrencyType {
            wake = { [weak self] in self?.queue.async { self?.made?.mergeWaitingChanges() } }
        }
        core.serve(self, isOnMainActor: queue.isMain, wake: wake)
        core.keepsMembers = true
        // Nobody asks a class that says what is set anyway.
        if type(of: self) != NSManagedObjectContext.self {
            core.shouldHandleInaccessibleFault = { [weak self] fault, key in
                guard let self else { return true }
                let fault = Self.object(fault)
                return shouldHandleInaccessibleFault(
                    fault, for: fault.objectID,
                    triggeredByProperty: key.flatMap { fault.entity.propertiesByName[$0] })
            }
        }
        made = core
        settings.apply(to: core)
        return core
    }

    /// It stands for a context behind that is there already.
    func stand(for core: ManagedObjectContext) {
        core.serve(self, isOnMainActor: queue.isMain) {}
        made = core
    }

    // MARK: What it works on

    /// The stores that it works on, directly or by its parents.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { settings.coordinator ?? settings.parent?.persistentStoreCoordinator }
        set {
            if newValue === settings.coordinator { return }
            settings.coordinator = newValue
            startAgain()
        }
    }

    /// The context that it works on.
    open var parent: NSManagedObjectContext? {
        get { settings.parent }
        set {
            if newValue === settings.parent { return }
            settings.parent = newValue
            startAgain()
            guard let newValue else { return }
            let wasMain = newValue.queue.isMain
            queue.join(newValue.queue)
            if !wasMain, queue.isMain { newValue.goToMain() }
        }
    }

    /// What it works on is another now: it begins without objects, keeping what it is set to.
    private func startAgain() {
        guard let made else { return beginMerging() }
        precondition(
            made.registeredObjects.isEmpty,
            "a context that has objects cannot be given another coordinator or parent")
        made.facade = nil
        made.abandon()
        self.made = nil
        beginMerging()
    }

    /// A context that merges by itself is told of new objects even if nobody has used it yet. One that works on another is made in
    /// that one's place, when it is used: here may be another thread.
    func beginMerging() {
        if made == nil, settings.automaticallyMergesChangesFromParent,
            settings.parent == nil, settings.coordinator != nil
        {
            _ = makeCore()
        }
    }

    /// It and those that it works on belong to the main actor now.
    private func goToMain() {
        made?.isOnMainActor = true
        settings.parent?.goToMain()
    }

    // MARK: Changes

    /// Whether there is anything to save.
    open var hasChanges: Bool { made?.hasChanges ?? false }

    /// Writes all changes, or none: to the store, or to the parent.
    ///
    /// - Throws: An error with the codes and keys of `NSCocoaErrorDomain`.
    open func save() throws {
        // One that was not used yet may have metadata of its stores to write.
        if made == nil, persistentStoreCoordinator == nil { return }
        try withCoreDataErrors(in: self) { try core.save() }
    }

    /// Ends the run of changes: applies delete rules, and tells observers.
    open func processPendingChanges() { made?.processPendingChanges() }

    /// Takes all unsaved changes back.
    open func rollback() { made?.rollback() }

    /// Forgets all objects and changes.
    open func reset() { made?.reset() }

    /// Whether an object whose row is gone counts as deleted, with all its values nil, when it is touched; else reading it fails.
    /// The default is ``shouldDeleteInaccessibleFaults``.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID,
        triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }

    // MARK: Its queue

    /// Runs a closure on the context's queue, later. Pending changes are processed after it.
    open func perform(_ block: @escaping () -> Void) {
        queue.async { [self] in turn(block) }
    }

    /// Runs a closure on the context's queue, and waits for it: at once if the caller is there already.
    open func performAndWait(_ block: () -> Void) {
        queue.sync { turn(block) }
    }

    /// Runs a closure on the context's queue and gives its result: at once if the caller is there already.
    ///
    /// - Throws: What the closure throws.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        // Programs that have one of their own from before Core Data had it have this very type: theirs is taken then.
        try turnAndWait(block)
    }

    private func turnAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        try queue.sync { () throws(E) in try turn(block) }
    }

    /// Runs a closure on the context's queue, and gives its result.
    ///
    /// - Parameter schedule: whether it may run at once if the caller is there already.
    /// - Throws: What the closure throws.
    public nonisolated(nonsending) func perform<T, E: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(E) -> T
    ) async throws(E) -> T {
        if schedule == .immediate, queue.isCurrent { return try turn(block) }
        let handed = Handed(block)
        let result: Handed<Result<T, E>> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    returning: Handed(Result { () throws(E) in try turn(handed.value) }))
            }
        }
        return try result.value.get()
    }

    private func turn<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        defer { made?.processPendingChanges() }
        return try HeldPlaces.running(self, block)
    }

    /// Where the work of a context is done.
    public enum ConcurrencyType: Sendable {
        /// On the main queue.
        case mainQueue
        /// On a queue of its own.
        case privateQueue
    }

    /// When a closure runs that is given to ``perform(schedule:_:)``.
    public enum ScheduledTaskType: Sendable {
        /// At once, if the caller is on the context's queue already.
        case immediate
        /// After what was asked for before.
        case enqueued
    }
}
