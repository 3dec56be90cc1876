// Bringing a context up to what others have saved: when it is told to, or by itself.
//
// By itself it does so where it works, never in the middle of a turn of it:
//
//   the view context       the main actor, as soon as it comes to other work
//   a background context   a turn of its own of the context's actor
//   any other              whoever uses it, when it processes pending changes, which fetches do
//
// Threads: the context's; it is woken from any.

public import CairnModel
import CairnStore
public import Foundation

extension ManagedObjectContext {
    // MARK: When told to

    /// Merges the changes saved by another context, from a notification: ``didSaveObjectsNotification`` or
    /// ``didSaveObjectIDsNotification``.
    ///
    /// Changed objects show the new values, under any local edits. Deleted ones stay in the context with their values,
    /// and are among ``deletedObjects`` until it saves, which writes nothing for them. Relationships that were read
    /// show their current members. Observers are notified: of changed objects as refreshed, of new ones as inserted,
    /// which the context then has as faults.
    ///
    /// Values are read now: saves after the one in the notification are included. Objects that the context does not
    /// have cost nothing. A context that is pinned to a query generation first advances to the newest state.
    ///
    /// If reading fails, the objects are not changed; the next fetch or save throws the error.
    public func mergeChanges(fromContextDidSave notification: Notification) {
        if notification.managedObjectContext === self { return }
        mergeChanges(ChangesToMerge(notification.userInfo ?? [:]))
    }

    /// Merges a save from ``PersistentContainer/saves``.
    ///
    /// ```swift
    /// for await save in container.saves {
    ///     await background.perform { $0.mergeChanges(fromContextDidSave: save) }
    /// }
    /// ```
    public func mergeChanges(fromContextDidSave save: ContextSave) {
        mergeChanges(ChangesToMerge(save))
    }

    /// Merges changes written elsewhere into contexts, by id: changes of a batch request, another process, or another
    /// container of the same store.
    ///
    /// ```swift
    /// let result = try context.execute(request)                 // a batch delete that reports ids
    /// ManagedObjectContext.mergeChanges(
    ///     fromRemoteContextSave: [.deletedObjectIDs: result.objectIDs], into: [context])
    /// ```
    ///
    /// See ``mergeChanges(fromContextDidSave:)-(Notification)``. Ids of other stores are ignored.
    public static func mergeChanges(
        fromRemoteContextSave changes: [NotificationKey: [ObjectID]],
        into contexts: [ManagedObjectContext]
    ) {
        mergeChanges(fromRemoteContextSave: changes as [AnyHashable: Any], into: contexts)
    }

    /// The same with the dictionary of a notification.
    ///
    /// - Parameter changes: Lists or sets of ids, of URIs of ids or of objects, by ``NotificationKey`` or its raw values.
    ///   Other keys are ignored.
    public static func mergeChanges(
        fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
    ) {
        let changes = ChangesToMerge(changes)
        for context in contexts { context.mergeChanges(changes) }
    }

    // MARK: By itself

    /// Whether the context automatically merges all commits: saves of other contexts, batch requests, including its
    /// own, and commits of other processes, as far as the store reads them.
    ///
    /// ```swift
    /// container.viewContext.automaticallyMergesChangesFromParent = true
    /// ```
    ///
    /// It merges like ``mergeChanges(fromContextDidSave:)-(Notification)``, between its own work: the view context when
    /// the main actor is idle, a ``BackgroundContext`` in a turn of its own, and a context that was created manually,
    /// or for a background task, when it processes pending changes, as each fetch does. Commits that arrive while it is
    /// busy are merged together. After very many, it refreshes all its objects instead, and does not report new ones.
    ///
    /// A context that is pinned to a query generation does not merge until it reads the newest state again.
    ///
    /// A child context merges what its parent saves or merges, and what other children save to the parent, as soon as
    /// that has happened. It sees the parent's unsaved changes only in objects that it reads from then on.
    public var automaticallyMergesChangesFromParent: Bool {
        get { parent == nil ? inbox != nil : mergesFromParent }
        set {
            if newValue == automaticallyMergesChangesFromParent { return }
            if let parent {
                mergesFromParent = newValue
                if newValue { follow(parent) }
            } else {
                inbox = newValue ? ChangeInbox(store, wake: waker) : nil
                noteMerging()
                if isWatched(.differences) || !registry.objects.isEmpty {
                    inbox?.noteOlderReads()
                }
            }
        }
    }

    /// Merges what the parent saves and merges, as long as that is wanted.
    private func follow(_ parent: ManagedObjectContext) {
        parent.observe(
            ContextObserver([.saves, .merges]) { [weak self] event, _ in
                guard let self, mergesFromParent else { return false }
                switch event {
                case .didSave(let saved): mergeFromParent(ChangesToMerge(saved))
                case .didMerge(let merged):
                    if merged.isEverything || !merged.isEmpty {
                        mergeFromParent(ChangesToMerge(merged))
                    }
                case .didChange, .willSave, .didRename: break
                }
                return true
            })
    }

    /// Merges what has changed in the parent, if that is wanted.
    func mergeFromParent(_ changes: ChangesToMerge) {
        guard mergesFromParent else { return }
        guard !isSaving, tellings == 0 else {
            hasMissedChanges = true
            return
        }
        mergeChanges(changes)
    }

    /// What has the context merge what waits, where it works; nil if nobody can be asked.
    private var waker: (@Sendable () -> Void)? {
        if let wake { return wake }
        guard isViewContext else { return nil }
        let view = WeakViewContext(self)
        return { Task { @MainActor in view.context?.mergeWaitingChanges() } }
    }

    /// Merges what others have written since the last time.
    package func mergeWaitingChanges() {
        guard let inbox else { return }
        guard !isSaving, tellings == 0, generation?.snapshot == nil else {
            return inbox.postpone()
        }
        guard let waiting = inbox.take() else { return }
        merge(waiting)
    }

    /// Merges what the parent has saved while the context was saving, or told of a change, as soon as that is over.
    @inline(never)
    func mergeMissedChanges() {
        guard !isSaving, tellings == 0 else { return }
        hasMissedChanges = false
        mergeChanges(.everything)
    }

    /// The same from within a turn, for contexts that nobody wakes.
    @inline(never)
    func mergeBetweenEdits() {
        if hasMissedChanges { mergeMissedChanges() }
        guard wake == nil, !isViewContext, let inbox, !inbox.isEmpty else { return }
        mergeWaitingChanges()
    }
}

/// The view context as whoever commits knows it.
private final class WeakViewContext: @unchecked Sendable {
    // Looked at by the main actor alone, whose context it is.
    weak let context: ManagedObjectContext?

    init(_ context: ManagedObjectContext) { self.context = context }
}
