// What all commits of an open store share.
//
// Threads: any; what `memory` holds is the holder's of the turn.

package import CairnFileSystem
import Synchronization

/// What a commit needs in addition to the state that it changes.
package final class CommitTools: Sendable {
    package let sizes: StoreSizes
    package let clock: any StoreClock
    /// Who writes, as the history says it; nil: this process.
    let historyProcess: (number: UInt32, program: String)?
    /// For the holder of the turn.
    let memory = CommitMemory()
    /// The values that wait for a save.
    package let staging: StagingArea
    /// Segments that left the store.
    package let retired: RetiredSegments
    /// Metadata that are to be written by the next save.
    package let metadata = MetadataQueue()
    /// The commit that was recorded last, and when.
    let recordedHistory = Mutex((commit: UInt64(0), time: 0.0))
    /// Whether an id may lead to another object than its own: contexts ask often, and mostly none does.
    let mayRedirect = Atomic(false)
    /// What is known of a store of which only a part is here; nil where all of it is.
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
