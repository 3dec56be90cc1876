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
    /// The identifier of the store when it is opened the next time; nil: its store id.
    package var identifier: UUID?
    /// The number of the setting.
    fileprivate(set) var turn: UInt64 = 0
}

/// The pending metadata, and the number of settings so far. Numbers are never reused.
package final class MetadataQueue: Sendable {
    private struct Content {
        var waiting: PendingMetadata?
        var lastTurn: UInt64 = 0
    }

    private let content = Mutex(Content())
    /// Whether metadata is pending; read without a lock.
    private let hasPending = Atomic(false)

    var isWaiting: Bool { hasPending.load(ordering: .relaxed) }

    /// The pending metadata.
    package var waiting: PendingMetadata? { content.withLock { $0.waiting } }

    /// Replaces the pending metadata.
    ///
    /// - Parameter pending: gets what was pending before, and returns the new metadata.
    /// - Returns: The number of the setting, and what was pending before.
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

    /// Ends the wait of a setting, if it is the last one; others may be pending then.
    func endWaiting(_ turn: UInt64, for other: PendingMetadata? = nil) {
        content.withLock { content in
            guard content.waiting?.turn == turn else { return }
            content.waiting = other
            hasPending.store(other != nil, ordering: .relaxed)
        }
    }
}
