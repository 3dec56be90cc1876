// What an open store does beside its commits: each kind has its own state, and the engine tells it when there may be something
// to do.
//
// Threads: any; `willClose`, `willEndLog` and `didEndLog` within the turn.

import CairnStore

/// Something that an open store does beside its commits.
protocol EngineUpkeep: AnyObject, Sendable {
    /// The store is open.
    func begin(_ engine: Engine)

    /// This process is the next one to get the lease: called again and again until then.
    func waitsForLease(_ engine: Engine)

    /// This process has got the lease: brings the engine to what others wrote, and makes the log its own.
    func takeLease(_ engine: Engine) throws(StoreError)

    /// All is said before the lease is given back; within the turn.
    func willGiveLeaseBack(_ engine: Engine)

    /// Enough was written that there may be something to do: once in a sixty-fourth of what a
    /// checkpoint is taken after, or compaction looks after, whichever is less.
    func look(_ engine: Engine)

    /// A state is not read any more.
    func noteRelease(_ engine: Engine)

    /// Says which checkpoints stay beside the newest one.
    func keepCheckpoints(_ engine: Engine, on shelf: inout CheckpointShelf)

    /// The store is closed; within the turn.
    func willClose(_ engine: Engine)

    /// The same for a store that can be written to, before its close frame; the caller has the turn.
    func willEndLog(_ engine: Engine, _ turn: Engine.Turn)

    /// The same behind its close frame.
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
