// What an open store does in addition to its commits: each kind of work has its own state, and the engine calls it when
// there may be something to do.
//
// Threads: any; `willClose`, `willEndLog` and `didEndLog` within the turn.

import CairnStore

/// Something that an open store does in addition to its commits.
protocol EngineUpkeep: AnyObject, Sendable {
    /// The store was opened.
    func begin(_ engine: Engine)

    /// This process is next to get the lease; called repeatedly until then.
    func waitsForLease(_ engine: Engine)

    /// This process has got the lease: brings the engine up to date with what others wrote, and takes over the log.
    func takeLease(_ engine: Engine) throws(StoreError)

    /// Called before the lease is released, while holding the write lock.
    func willGiveLeaseBack(_ engine: Engine)

    /// Enough was written that there may be something to do: called after each sixty-fourth of the interval between
    /// checkpoints or compaction checks, whichever is less.
    func look(_ engine: Engine)

    /// A state is no longer read.
    func noteRelease(_ engine: Engine)

    /// Chooses the checkpoints to keep in addition to the newest one.
    func keepCheckpoints(_ engine: Engine, on shelf: inout CheckpointShelf)

    /// The store is closing; called while holding the write lock.
    func willClose(_ engine: Engine)

    /// The same for a writable store, before its close frame; the caller holds the write lock.
    func willEndLog(_ engine: Engine, _ turn: Engine.Turn)

    /// The same after its close frame.
    func didEndLog(_ engine: Engine)
}

extension EngineUpkeep {
    func begin(_ engine: Engine) {}
    func waitsForLease(_ engine: Engine) {}
    func takeLease(_ engine: Engine) throws(StoreError) {}
    func willGiveLeaseBack(_ engine: Engine) {}
    func look(_ engine: Engine) {}
    func noteRelease(_ engine: Engine) {}
    func keepCheckpoints(_ engine: Engine, on shelf: inout CheckpointShelf) {}
    func willClose(_ engine: Engine) {}
    func willEndLog(_ engine: Engine, _ turn: Engine.Turn) {}
    func didEndLog(_ engine: Engine) {}
}
