// A commit that is whole in memory: its state, its pages, and a place to say how it ended.

import CairnStore

/// A commit between its turn and its publication.
struct SealedCommit: Sendable {
    let held: HeldState<EngineState>
    let pages: SealedPages
    let ticket: CommitTicket
    /// Whether it returns only when it is durable.
    let isFull: Bool

    var state: EngineState { held.state }
}

/// What a committer waits for. Its outcome is read and written under the lock of the queue alone.
final class CommitTicket: @unchecked Sendable {
    // The queue's monitor guards it.
    var outcome: Result<Void, StoreError>?
}
