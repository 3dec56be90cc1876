// A list that follows, as an asynchronous sequence of snapshots.
//
// The follower is kept by what its context tells, and keeps the newest snapshot for the one who listens. Who is slow gets the
// newest, with all that has changed in between.
//
// Threads: the context's sends; any takes.

import CairnModel
public import CairnStore
import Synchronization

extension ManagedObjectContext {
    /// The objects that match a request, by id, now and after each change: a sequence that starts with the current
    /// list.
    ///
    /// ```swift
    /// let results = try container.viewContext.results(
    ///     of: FetchRequest<Product>(sortBy: [SortKey(\Product.name)]))
    /// for try await snapshot in results { show(snapshot.itemIdentifiers) }
    /// ```
    ///
    /// It updates like a ``FetchedResultsController``, but only keeps ids and sort values: it retains no objects, and
    /// snapshots can be passed anywhere. A slow consumer gets the newest snapshot, whose
    /// ``FetchedResultsSnapshot/reconfiguredItemIdentifiers`` cover everything in between;
    /// ``FetchedResultsSnapshot/difference(from:)`` computes insertions, removals and moves.
    ///
    /// The sequence is for one task. It ends when that task is cancelled or releases it, and with the context. It
    /// throws a `StoreError` if the store cannot be read, or if the objects of a section are no longer adjacent. After
    /// ``reset()``, the list is fetched again if the context had objects; otherwise it is unchanged.
    ///
    /// - Parameter key: the section key, a stored property or one reached through to-one relationships; nil for no
    ///   sections.
    /// - Throws: As ``FetchedResultsController/performFetch()``.
    public func results<Result: ManagedObject>(
        of request: FetchRequest<Result>, sectionedBy key: String? = nil
    ) throws(StoreError) -> some AsyncSequence<FetchedResultsSnapshot, any Error> & Sendable {
        let follower = ResultsFollower(request.terms, sectionKey: key, holdsObjects: false)
        return try results(follower)
    }

    /// The same with sections by a property of the class.
    public func results<Result: PersistentEntity, Name>(
        of request: FetchRequest<Result>, sectionedBy path: KeyPath<Result, Name>
    ) throws(StoreError) -> some AsyncSequence<FetchedResultsSnapshot, any Error> & Sendable {
        let key = TypedEntity.of(Result.self).key(of: path)
        let name = { (object: Result) in SectionName.of(object[keyPath: path]) }
        let follower = ResultsFollower(
            request.terms, sectionKey: key,
            sectionName: key == nil ? SectionName.untyped(name) : nil, holdsObjects: false)
        return try results(follower)
    }

    /// The same with sections that a closure names; see
    /// ``FetchedResultsController/init(fetchRequest:managedObjectContext:sectionName:)``.
    public func results<Result: ManagedObject>(
        of request: FetchRequest<Result>, sectionName: @escaping (Result) -> String
    ) throws(StoreError) -> some AsyncSequence<FetchedResultsSnapshot, any Error> & Sendable {
        let follower = ResultsFollower(
            request.terms, sectionKey: nil, sectionName: SectionName.untyped(sectionName),
            holdsObjects: false)
        return try results(follower)
    }

    private func results(_ follower: ResultsFollower) throws(StoreError)
        -> some AsyncSequence<FetchedResultsSnapshot, any Error> & Sendable
    {
        try follower.load(self)
        let (signals, continuation) = AsyncThrowingStream.makeStream(
            of: Void.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(1))
        let box = SnapshotBox()
        continuation.onTermination = { _ in box.end() }
        let sender = SnapshotSender(box, continuation)
        follower.listener = ResultsFollower.Listener(
            didChange: { change, list in
                sender.send(change, list)
            },
            didReset: { [weak follower] context in
                guard let follower else { return }
                do throws(StoreError) {
                    try follower.load(context)
                    // What was not saved is shown no more: all may be otherwise.
                    if let list = follower.list {
                        var snapshot = FetchedResultsSnapshot(list)
                        snapshot.reconfiguredItemIdentifiers = Set(snapshot.itemIdentifiers)
                        sender.send(snapshot)
                    }
                } catch {
                    sender.finish(error)
                }
            },
            didFail: { sender.finish($0) },
            isListening: { !sender.box.isOver })
        follower.observe(self, isOwn: true)
        if let list = follower.list { sender.send(FetchedResultsSnapshot(list)) }
        return signals.compactMap { _ in box.take() }
    }
}

/// Who sends the snapshots of a list. With it the sequence ends; the sequence does not hold it.
private final class SnapshotSender {
    let box: SnapshotBox
    private let continuation: AsyncThrowingStream<Void, any Error>.Continuation

    init(_ box: SnapshotBox, _ continuation: AsyncThrowingStream<Void, any Error>.Continuation) {
        self.box = box
        self.continuation = continuation
    }

    deinit { continuation.finish() }

    func send(_ snapshot: FetchedResultsSnapshot) {
        box.put(snapshot)
        continuation.yield()
    }

    func send(_ change: ListChange, _ list: FetchedList) {
        box.put(FetchedResultsSnapshot(list, reconfigured: change.reconfigured), change, list)
        continuation.yield()
    }

    func finish(_ error: any Error) { continuation.finish(throwing: error) }
}

/// The newest snapshot of a list, for the one who listens.
private final class SnapshotBox: Sendable {
    private struct State {
        var waiting: FetchedResultsSnapshot?
        /// The ids that have gone since a snapshot was taken: those that come back may show other values.
        var gone: Set<ObjectID> = []
        var isOver = false
    }

    private let state = Mutex(State())

    /// Whether nobody listens any more.
    var isOver: Bool { state.withLock { $0.isOver } }

    func end() { state.withLock { $0.isOver = true } }

    /// Has a snapshot wait of which anything may be otherwise than before.
    func put(_ snapshot: FetchedResultsSnapshot) {
        state.withLock { $0.waiting = snapshot }
    }

    func put(_ snapshot: FetchedResultsSnapshot, _ change: ListChange, _ list: FetchedList) {
        state.withLock { state in
            var snapshot = snapshot
            var missed = state.waiting?.reconfiguredItemIdentifiers ?? []
            if !state.gone.isEmpty {
                for entry in change.inserts where state.gone.contains(entry.id) {
                    missed.insert(entry.id)
                }
            }
            for entry in change.deletes { state.gone.insert(entry.oldID) }
            if !missed.isEmpty {
                // New objects have other ids once they are saved.
                for entry in change.moves + change.updates + change.renames
                where entry.oldID != entry.id && missed.contains(entry.oldID) {
                    missed.insert(entry.id)
                }
                for id in missed where list.contains(id) {
                    snapshot.reconfiguredItemIdentifiers.insert(id)
                }
            }
            state.waiting = snapshot
        }
    }

    func take() -> FetchedResultsSnapshot? {
        state.withLock { state in
            defer {
                state.waiting = nil
                state.gone = []
            }
            return state.waiting
        }
    }
}
