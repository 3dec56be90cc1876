// The segments that are no longer part of a store, but whose files still exist.
//
// Threads: any.

import Synchronization

/// A segment that is no longer part of the store, but whose file still exists.
struct RetiredSegment: Sendable {
    let number: UInt32
    /// The last commit before it, the commit that retired it, and where the log ends after that.
    let begun: UInt64
    let commit: UInt64
    let lsn: UInt64
    let bytes: UInt64
    /// Where the log ends after the commit that records that no past state needs it; the largest number
    /// during that commit.
    var releaseLSN: UInt64 = 0

    /// Whether the state after a commit has the segment: it was started before that, and retired after it.
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

    /// Adds segments.
    ///
    /// - Parameter note: called before another thread can change the list.
    func append(_ segments: [RetiredSegment], then note: () -> Void) {
        content.withLock { content in
            content.segments += segments
            note()
        }
    }

    /// Removes the segments that are not needed, except those that are held; returns all that are not needed.
    ///
    /// - Parameter note: receives the remaining segments, before another thread can change the list.
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

    /// Records where the log ends after the commit that releases segments; the largest number during that
    /// commit.
    package func noteRelease(of numbers: Set<UInt32>, lsn: UInt64) {
        if numbers.isEmpty { return }
        content.withLock { content in
            for index in content.segments.indices
            where numbers.contains(content.segments[index].number) {
                content.segments[index].releaseLSN = lsn
            }
        }
    }

    /// Records that the commits that release segments are published, except for segments that are still held.
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

    /// Returns true to the first caller that requests a sweep, if there are segments to sweep.
    func beginWaitingForSweep() -> Bool {
        content.withLock { content in
            guard !content.isSweepScheduled, !content.segments.isEmpty else { return false }
            content.isSweepScheduled = true
            return true
        }
    }

    func endWaitingForSweep() { content.withLock { $0.isSweepScheduled = false } }
}
