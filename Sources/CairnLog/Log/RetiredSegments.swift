// The segments that are no longer part of a store, but whose files still exist.
//
// Threads: any.

import Synchronization

/// A segment that is no longer part of the store, but whose file still exists.
struct RetiredSegment: Sendable {
    let number: UInt32
    /// The last commit before it, the one that retired it, and where the log ends behind that.
    let begun: UInt64
    let commit: UInt64
    let lsn: UInt64
    let bytes: UInt64
    /// Where the log ends behind the commit that said that no past state needs it; the largest number while that is made.
    var releaseLSN: UInt64 = 0

    /// Whether the state after a commit has the segment: it was begun before that, and retired after it.
    func isNeeded(by epoch: UInt64) -> Bool { begun < epoch && epoch < commit }
}

/// The retired segments of an open store.
package final class RetiredSegments: Sendable {
    private struct Content {
        var segments: [RetiredSegment]
        var isSweepScheduled = false
    }

    private let content: Mutex<Content>

    init(_ segments: [RetiredSegment]) { content = Mutex(Content(segments: segments)) }

    var all: [RetiredSegment] { content.withLock { $0.segments } }

    /// Adds some.
    ///
    /// - Parameter note: called before anybody else changes what there is.
    func append(_ segments: [RetiredSegment], then note: () -> Void) {
        content.withLock { content in
            content.segments += segments
            note()
        }
    }

    /// Leaves those out whose files may go, but for some that are kept; gives them all.
    ///
    /// - Parameter note: told those that are left, before anybody else changes what there is.
    func remove(
        keeping held: Set<UInt32>, _ isUnneeded: (RetiredSegment) -> Bool,
        then note: ([RetiredSegment]) -> Void
    ) -> [RetiredSegment] {
        content.withLock { content in
            let unneeded = content.segments.filter(isUnneeded)
            let numbers = Set(unneeded.map(\.number)).subtracting(held)
            content.segments.removeAll { numbers.contains($0.number) }
            note(content.segments)
            return unneeded
        }
    }

    // MARK: Past states

    /// Says where the log ends behind the commit that lets go of segments; the largest number while that is made.
    package func noteRelease(of numbers: Set<UInt32>, lsn: UInt64) {
        if numbers.isEmpty { return }
        content.withLock { content in
            for index in content.segments.indices
            where numbers.contains(content.segments[index].number) {
                content.segments[index].releaseLSN = lsn
            }
        }
    }

    /// Notes that the commits that were to let go of segments are published, but for those of segments that are still held.
    func settleReleases(end: UInt64, held: Set<UInt32>) {
        content.withLock { content in
            for index in content.segments.indices
            where content.segments[index].releaseLSN == .max
                && !held.contains(content.segments[index].number)
            {
                content.segments[index].releaseLSN = end
            }
        }
    }

    // MARK: Sweeping

    /// True for the first who wants a sweep, if there is something to be swept.
    func beginWaitingForSweep() -> Bool {
        content.withLock { content in
            guard !content.isSweepScheduled, !content.segments.isEmpty else { return false }
            content.isSweepScheduled = true
            return true
        }
    }

    func endWaitingForSweep() { content.withLock { $0.isSweepScheduled = false } }
}
