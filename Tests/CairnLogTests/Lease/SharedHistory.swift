// What several processes did to a store that they share, as it was seen from outside.
//
// The store says in which order the commits were made; everything else is what the processes said.

import CairnKilledWriter

/// The operations of all processes, and the order of the commits.
struct SharedHistory {
    /// An operation that was begun.
    struct Event {
        /// Says which operation it is; the author of its commit.
        var stamp: Int64
        var operation: SharedOperation
        /// Who must never see an older state than before: a process with the store open.
        var observer: Int
        /// Whether what it has written, or seen, is durable and shown to everybody when it returns.
        var isDurable: Bool
        /// When it was about to be begun.
        var invoked: UInt64
        /// When it had returned, or could not go on any more since its process was dead.
        var ended: UInt64
        /// nil: its process died before it said so. It was done or not.
        var outcome: SharedStore.Outcome?
    }

    /// A commit that somebody made, as the store's own history tells it.
    struct Commit {
        var number: UInt64
        var stamp: Int64
    }

    /// The last commit before all of this.
    var start: UInt64
    /// What the store held then.
    var content = SharedContent()
    var events: [Event] = []
    /// The commits in their order, those of processes that died among them.
    var commits: [Commit] = []
    /// What is there in the end, and the last commit.
    var end: (commit: UInt64, content: SharedContent)?
}
