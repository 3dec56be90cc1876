// Reports commits as they are published.                                                 ENGINE-NOTES 8, H
//
// What a commit changed is the difference of two states: so it costs a commit nothing to be told of but two pins, and
// whatever made it, a save, a batch or another process, it is told in the same way.
//
// Threads: any; `post` by whoever publishes, who does so in the order of commits.

import CairnStore
import Synchronization

/// The origin of a commit.
struct CommitOrigin: Sendable {
    let author: String?
    let contextName: String?
    /// Whether it changes no object, so that nobody needs to be told.
    let isSilent: Bool
    /// The least number that the commit may have; nil: the one behind the last.
    var number: UInt64?
    var isFromAnotherProcess = false
}

/// Who is told of the commits of an engine.
final class CommitFeed: Sendable {
    private let board: ChangeBoard
    /// Until the store is closed, as the reader leads to who publishes. Not weakly: every request counts references to it, which
    /// would be dearer then.
    private let reader = Mutex<StoreReader?>(nil)

    init(_ registry: StateRegistry<EngineState>) {
        board = ChangeBoard { registry.watch($0) }
    }

    /// Says whose commits they are.
    func begin(_ reader: StoreReader) { self.reader.withLock { $0 = reader } }

    /// Says that there will be no more.
    func end() {
        // What may end with it must not end under the lock.
        let reader = reader.withLock { $0.take() }
        withExtendedLifetime(reader) {}
    }

    /// Has a closure told of every commit from now on.
    func observe(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation {
        board.observe(receive)
    }

    /// Notes what was published.
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

    /// Tells what waits, on a thread of its own.
    func deliverElsewhere() {
        guard board.hasWaiting else { return }
        if !SystemThread.start({ [board] in board.deliver() }) { board.deliver() }
    }

    /// Tells what waits. The caller has nothing locked.
    @inline(__always) func deliver() { if board.isObserved { board.deliver() } }
}
