// A complete commit in memory: its state, its pages, and its outcome.

import CairnStore

/// A commit that has released the write lock and is not published yet. A class, because several parts of the
/// engine pass it on.
final class SealedCommit: Sendable {
    let held: HeldState<EngineState>
    let pages: SealedPages
    let ticket: CommitTicket
    /// Whether it returns only when it is durable.
    let isFull: Bool
    let origin: CommitOrigin

    init(
        held: HeldState<EngineState>, pages: consuming SealedPages, ticket: CommitTicket,
        isFull: Bool, origin: CommitOrigin
    ) {
        self.origin = origin
        self.held = held
        self.pages = pages
        self.ticket = ticket
        self.isFull = isFull
    }
}

/// What a committer waits for. Its outcome is read and written only under the lock of the queue.
final class CommitTicket: @unchecked Sendable {
    // The queue's monitor guards it.
    var outcome: Result<Void, StoreError>?
}
