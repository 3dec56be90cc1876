// The side segments with values that nothing refers to yet.                             Format 60.5, 65
//
//   begin       a segment that no thread writes to, after its last complete value; or a new one
//   finish      the value is complete and durable, and waits for a save
//   settle      a commit has adopted the segment up to some place, and rows refer to values before that
//   release     it will not be saved: if it is the last of its segment, the next value replaces it
//
// Consecutive values are adopted in the order of their places: the save of one also adopts those before it.
// These may be saved later; if not, they are dead and left to compaction.
//
// Invariants: adopted bytes are never overwritten. A segment with a value that waits is not compacted.
// Threads: any.

import CairnFileSystem
import CairnFormat
import CairnStore
package import Synchronization

/// Values that wait for a save.
package final class StagingArea: Sendable {
    /// The size of a piece, in bytes: its payload needs no padding.
    static let pieceSize = (1 << 20) - ValuePayload.headSize

    /// A complete value.
    private struct Waiting {
        let start: LogEnd
        let end: LogEnd
        /// Whether a commit has adopted it together with a later one.
        var isAdopted = false
        /// Whether it will not be saved.
        var isGone = false
    }

    private struct Ground {
        let segment: Segment
        /// The end of the last complete value.
        var end: LogEnd
        /// Whether a value is being written after that.
        var isBusy = true
        /// Whether its content is unknown, because a sync has failed.
        var isSpoiled = false
        /// Whether a commit has adopted some of it, so that compaction may take it.
        var isAdopted = false
        /// Whether nothing more is written to it.
        var isEnded = false
        /// By ascending places.
        var waiting: [Waiting] = []

        /// Reclaims the space of values at the end that will not be saved.
        mutating func shrink() {
            if isBusy { return }
            while let last = waiting.last, last.isGone {
                if !last.isAdopted {
                    guard last.end == end else { return }
                    end = last.start
                }
                waiting.removeLast()
            }
        }
    }

    private let grounds = Mutex<[UInt32: Ground]>([:])
    private let released = Mutex<(@Sendable () -> Void)?>(nil)
    /// Whether values that wait when the store is closed may be saved to a copy of it: their bytes must stay.
    package let isKept = Atomic(false)
    /// The number of bytes that commits have adopted after the checkpoint with which the store was opened:
    /// none of them makes the log grow.
    let adoptedBytes: Atomic<UInt64>
    /// Whether the folder may belong to another process. This is not the lock that a checkpoint holds while
    /// it is written.
    let isOver = LongLock(false)

    init(adoptedBytes: UInt64) { self.adoptedBytes = Atomic(adoptedBytes) }

    /// Takes a segment to write a value to, if there is one that is shorter than `limit`.
    func take(upTo limit: UInt64) -> (segment: Segment, end: LogEnd)? {
        grounds.withLock { grounds in
            for number in grounds.keys.sorted() {
                guard let ground = grounds[number], !ground.isBusy, !ground.isSpoiled,
                    !ground.isEnded, ground.end.offset < limit
                else { continue }
                grounds[number]?.isBusy = true
                return (ground.segment, ground.end)
            }
            return nil
        }
    }

    /// Adds a new segment, to which a value is being written.
    func add(_ segment: Segment, _ end: LogEnd) {
        grounds.withLock { $0[segment.number] = Ground(segment: segment, end: end) }
    }

    /// Records that a value is complete.
    func finish(_ number: UInt32, _ start: LogEnd, _ end: LogEnd) {
        grounds.withLock { grounds in
            grounds[number]?.waiting.append(Waiting(start: start, end: end))
            grounds[number]?.end = end
            grounds[number]?.isBusy = false
        }
    }

    /// Records that a value will not be completed.
    func abandon(_ number: UInt32, isSpoiled: Bool) {
        grounds.withLock { grounds in
            grounds[number]?.isBusy = false
            if isSpoiled { grounds[number]?.isSpoiled = true }
            grounds[number]?.shrink()
        }
    }

    /// Whether a value that begins at a place waits.
    func isWaiting(_ number: UInt32, _ start: LogEnd) -> Bool {
        grounds.withLock { grounds in
            grounds[number]?.waiting.contains { $0.start == start && !$0.isGone } ?? false
        }
    }

    /// Whether a commit has adopted a part of a segment.
    func isAdopted(_ number: UInt32) -> Bool {
        grounds.withLock { $0[number]?.isAdopted ?? false }
    }

    /// Records that a commit has adopted a segment up to an offset, and that rows refer to the values that
    /// begin at some places.
    func settle(_ number: UInt32, upTo end: UInt64, used starts: Set<UInt64>) {
        grounds.withLock { grounds in
            guard var ground = grounds[number] else { return }
            ground.isAdopted = true
            for index in ground.waiting.indices where ground.waiting[index].end.offset <= end {
                ground.waiting[index].isAdopted = true
            }
            ground.waiting.removeAll {
                starts.contains($0.start.offset) || $0.isAdopted && $0.isGone
            }
            grounds[number] = ground
        }
    }

    /// Other processes may compact what is adopted from now on, if it ends where its file does: so nothing
    /// more is written to it.
    func endAdopted() {
        grounds.withLock { grounds in
            for (number, ground) in grounds where ground.isAdopted {
                if ground.isBusy || ground.isSpoiled || !ground.waiting.allSatisfy(\.isGone) {
                    grounds[number]?.isEnded = true
                } else {
                    grounds[number] = nil
                }
            }
        }
    }

    /// Sets the closure that is called when space can be reclaimed.
    func onRelease(_ body: @escaping @Sendable () -> Void) { released.withLock { $0 = body } }

    /// Records that a value will not be saved.
    func release(_ number: UInt32, _ start: LogEnd) {
        let leavesSpace = grounds.withLock { grounds in
            guard let end = grounds[number]?.end,
                let index = grounds[number]?.waiting.firstIndex(where: { $0.start == start })
            else { return false }
            grounds[number]?.waiting[index].isGone = true
            grounds[number]?.shrink()
            return grounds[number]?.end != end
        }
        if leavesSpace { released.withLock { $0 }?() }
    }

    // MARK: Space

    /// Truncates files after the last value that may be saved. The caller holds the write lock, and no commit
    /// has failed without a truncation of the log.
    func trim() {
        grounds.withLock { grounds in
            for ground in grounds.values where !ground.isBusy && !ground.isSpoiled {
                if let size = try? ground.segment.file.size(), size > ground.end.offset {
                    try? ground.segment.file.truncate(to: ground.end.offset)
                }
            }
        }
    }

    /// The segments.
    var segments: [Segment] { grounds.withLock { $0.values.map(\.segment) } }

    /// Whether compaction must leave a segment alone.
    func isInUse(_ number: UInt32) -> Bool {
        grounds.withLock { grounds in
            grounds[number].map { $0.isBusy || $0.waiting.contains { !$0.isGone } } ?? false
        }
    }

    /// Leaves segments to compaction, after which nothing is written to them; returns false if one of them is
    /// in use.
    func give(_ numbers: Set<UInt32>) -> Bool {
        grounds.withLock { grounds in
            let ours = numbers.filter { grounds[$0] != nil }
            for number in ours {
                guard let ground = grounds[number], !ground.isBusy,
                    ground.waiting.allSatisfy(\.isGone)
                else { return false }
            }
            for number in ours { grounds[number] = nil }
            return true
        }
    }
}
