// What all commits of an open store share.
//
// Threads: any; what `memory` holds is the holder's of the turn.

package import CairnFileSystem
import Synchronization

/// What a commit needs in addition to the state that it changes.
package final class CommitTools: Sendable {
    package let sizes: StoreSizes
    package let clock: any StoreClock
    /// The writing process in the history; nil: this process.
    let historyProcess: (number: UInt32, program: String)?
    /// Memory for the holder of the write lock.
    let memory = CommitMemory()
    /// The values that wait for a save.
    package let staging: StagingArea
    /// Segments that left the store.
    package let retired: RetiredSegments
    /// Metadata that the next save writes.
    package let metadata = MetadataQueue()
    /// The number and the time of the last commit that was recorded.
    let recordedHistory = Mutex((commit: UInt64(0), time: 0.0))
    /// Whether an id may be redirected to another object: contexts check this often, and usually none is.
    let mayRedirect = Atomic(false)
    /// What is known about a store of which only a part is present; nil if all of it is.
    let partial: PartialKnowledge?

    init(_ options: LogStoreOptions, staging: StagingArea, retired: RetiredSegments) {
        sizes = options.sizes
        clock = options.clock
        historyProcess = options.historyProcess
        partial = options.partial
        self.staging = staging
        self.retired = retired
    }
}
