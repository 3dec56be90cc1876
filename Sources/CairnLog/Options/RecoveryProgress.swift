// The progress of opening a store, and its cancellation.
//
// Threads: one opening in one thread; the closure is called there.

import CairnStore

/// The progress of opening a store.
public struct RecoveryProgress: Sendable {
    /// The stage of opening a store.
    public enum Stage: String, Sendable {
        /// Reading the log after the checkpoint.
        case readingLog
        /// Building directory and indexes from its contents.
        case buildingState
    }

    /// The current stage. A stage can start over: while a program writes, or if a checkpoint turns out to be wrong.
    public let stage: Stage
    /// The number of bytes processed in this stage.
    public let bytesDone: UInt64
    /// The approximate total number of bytes in this stage.
    public let bytesTotal: UInt64
}

/// Reports the progress of a stage from time to time.
struct RecoveryMonitor {
    private let tell: (@Sendable (RecoveryProgress) -> Bool)?
    private let step: UInt64
    private let stage: RecoveryProgress.Stage
    private var total: UInt64 = 0
    private var done: UInt64 = 0
    private var next: UInt64 = .max

    init(_ stage: RecoveryProgress.Stage, _ options: LogStoreOptions) {
        self.stage = stage
        tell = options.recoveryProgress
        step = options.sizes.recoveryStepBytes
    }

    /// Begins the stage; computes its length only if progress is reported.
    mutating func begin(_ total: () -> UInt64) throws(StoreError) {
        done = 0
        guard tell != nil else { return }
        self.total = total()
        try report()
    }

    /// Adds bytes that were processed.
    @inline(__always)
    mutating func advance(_ bytes: Int) throws(StoreError) {
        done &+= UInt64(truncatingIfNeeded: bytes)
        if done >= next { try report() }
    }

    private mutating func report() throws(StoreError) {
        next = done + step
        let progress = RecoveryProgress(
            stage: stage, bytesDone: done, bytesTotal: max(total, done))
        guard let tell, !tell(progress) else { return }
        throw StoreError(.cancelled, "opening the store was cancelled")
    }
}
