// Reports commits as they are published.                                                 ENGINE-NOTES 8, H
//
// What a commit changed is the difference of two states. So reporting it costs the commit only two pins, and
// all commits are reported in the same way, whether a save, a batch or another process made them.
//
// Threads: any; `post` by whoever publishes, who does so in the order of commits.

import CairnStore
import Synchronization

/// The origin of a commit.
struct CommitOrigin: Sendable {
    let author: String?
    let contextName: String?
    /// Whether it changes no object, so that observers need not be notified.
    let isSilent: Bool
    /// The minimum number that the commit may have; nil: the number after the last.
    var number: UInt64?
    var isFromAnotherProcess = false
}

/// Notifies observers of the commits of an engine.
final class CommitFeed: Sendable {
    private let board: ChangeBoard
    /// Set until the store is closed, because the reader refers to the object that publishes. Not weak: every
    /// request counts references to the reader, which would cost more then.
    private let reader = Mutex<StoreReader?>(nil)

    init(_ registry: StateRegistry<EngineState>) {
        board = ChangeBoard { registry.watch($0) }
    }

    /// Sets the reader that the commits belong to.
    func begin(_ reader: StoreReader) { self.reader.withLock { $0 = reader } }

    /// Ends the feed: there will be no more commits.
    func end() {
        // Objects that are released with it must not be released under the lock.
        let reader = reader.withLock { $0.take() }
        withExtendedLifetime(reader) {}
    }

    /// Calls a closure for every commit from now on.
    func observe(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation {
        board.observe(receive)
    }

    /// Notes a published commit.
    func post(_ transition: StateTransition<EngineState>, _ origin: CommitOrigin) {
        guard !origin.isSilent, let reader = reader.withLock({ $0 }) else { return }
        board.post(
            ChangeSet(
                identity: reader.identity,
                commits: transition.before.state.commit + 1...transition.after.state.commit,
                author: origin.author, contextName: origin.contextName,
                isFromAnotherProcess: origin.isFromAnotherProcess,
                source: StateDifference(transition, reader)))
    }

    /// Delivers pending notifications on a separate thread.
    func deliverElsewhere() {
        guard board.hasWaiting else { return }
        if !SystemThread.start({ [board] in board.deliver() }) { board.deliver() }
    }

    /// Delivers pending notifications. The caller holds no lock.
    @inline(__always) func deliver() { if board.isObserved { board.deliver() } }
}
