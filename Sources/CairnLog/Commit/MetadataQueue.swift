// Metadata that wait for the next save to write them.
//
// Threads: any.

package import CairnModel
import CairnStore
package import FoundationEssentials
import Synchronization

/// Pending metadata.
package struct PendingMetadata: Sendable {
    package var values: [String: Value]
    /// What the store is to be called by when it is opened the next time; nil: by its store id.
    package var identifier: UUID?
    /// Which setting it was.
    fileprivate(set) var turn: UInt64 = 0
}

/// What waits, and how often something was set. Turns are never given twice.
package final class MetadataQueue: Sendable {
    private struct Content {
        var waiting: PendingMetadata?
        var lastTurn: UInt64 = 0
    }

    private let content = Mutex(Content())
    /// Whether something waits, to be asked without a lock.
    private let hasPending = Atomic(false)

    var isWaiting: Bool { hasPending.load(ordering: .relaxed) }

    /// What waits.
    package var waiting: PendingMetadata? { content.withLock { $0.waiting } }

    /// Lets something wait in the place of what does.
    ///
    /// - Parameter pending: told what waited before.
    /// - Returns: Which setting it was, and what waited before.
    func set(
        _ pending: (PendingMetadata?) throws(StoreError) -> PendingMetadata
    ) throws(StoreError) -> (turn: UInt64, before: PendingMetadata?) {
        try content.withLock { content throws(StoreError) in
            let before = content.waiting
            var pending = try pending(before)
            content.lastTurn += 1
            pending.turn = content.lastTurn
            content.waiting = pending
            hasPending.store(true, ordering: .relaxed)
            return (content.lastTurn, before)
        }
    }

    /// Ends the waiting of a setting, if it is the last one; something else may wait then.
    func endWaiting(_ turn: UInt64, for other: PendingMetadata? = nil) {
        content.withLock { content in
            guard content.waiting?.turn == turn else { return }
            content.waiting = other
            hasPending.store(other != nil, ordering: .relaxed)
        }
    }
}
