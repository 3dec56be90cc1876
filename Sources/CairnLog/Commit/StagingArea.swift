// The side segments with values that nothing refers to yet.                             Format 60.5, 65
//
//   begin       a segment that nobody writes to, behind its last whole value; or a new one
//   finish      the value is whole and durable, and waits for a save
//   settle      a commit has adopted the segment up to some place, and rows refer to values before that
//   release     nobody will save it: if it is the last of its segment, the next value takes its place
//
// Values behind each other are adopted in the order of their places: who is saved first takes those before it along. These
// may be saved later; if not, they are dead, and compaction's.
//
// Invariants: what is adopted is never written over. A segment with a value that waits is not compacted.
// Threads: any.

import CairnFileSystem
import CairnFormat
import CairnStore
package import Synchronization

/// Values that wait for a save.
package final class StagingArea: Sendable {
    /// The bytes of a piece: its payload needs no padding.
    static let pieceSize = (1 << 20) - ValuePayload.headSize

    /// A value that is whole.
    private struct Waiting {
        let start: LogEnd
        let end: LogEnd
        /// Whether a commit has adopted it with one behind it.
        var isAdopted = false
        /// Whether nobody will save it.
        var isGone = false
    }

    private struct Ground {
        let segment: Segment
        /// Behind the last whole value.
        var end: LogEnd
        /// Whether a value is being written behind that.
        var isBusy = true
        /// Whether nothing is known of it any more, as a sync has failed.
        var isSpoiled = false
        /// Whether a commit has adopted some of it, so that compaction may take it.
        var isAdopted = false
        /// Whether nothing more is written to it.
        var isEnded = false
        /// By rising places.
        var waiting: [Waiting] = []

        /// Gives the place back of values at the end that nobody will save.
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
    /// Whether what waits when the store is closed may be saved to a copy of it: its bytes must stay.
    package let isKept = Atomic(false)
    /// The bytes that commits have adopted, behind the checkpoint that the store was opened with: the log grows by none of
    /// them.
    let adoptedBytes: Atomic<UInt64>
    /// Whether the folder may be somebody else's. Not the lock that a checkpoint holds while it is written.
    let isOver = LongLock(false)

    init(adoptedBytes: UInt64) { self.adoptedBytes = Atomic(adoptedBytes) }

    /// A segment to write a value to, if there is one that is shorter than `limit`.
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

    /// Takes a new segment in, to which a value is being written.
    func add(_ segment: Segment, _ end: LogEnd) {
        grounds.withLock { $0[segment.number] = Ground(segment: segment, end: end) }
    }

    /// A value is whole.
    func finish(_ number: UInt32, _ start: LogEnd, _ end: LogEnd) {
        grounds.withLock { grounds in
            grounds[number]?.waiting.append(Waiting(start: start, end: end))
            grounds[number]?.end = end
            grounds[number]?.isBusy = false
        }
    }

    /// A value will not be whole.
    func abandon(_ number: UInt32, isSpoiled: Bool) {
        grounds.withLock { grounds in
            grounds[number]?.isBusy = false
            if isSpoiled { grounds[number]?.isSpoiled = true }
            grounds[number]?.shrink()
        }
    }

    /// Whether a value waits that begins there.
    func isWaiting(_ number: UInt32, _ start: LogEnd) -> Bool {
        grounds.withLock { grounds in
            grounds[number]?.waiting.contains { $0.start == start && !$0.isGone } ?? false
        }
    }

    /// Whether a commit has adopted something of a segment.
    func isAdopted(_ number: UInt32) -> Bool {
        grounds.withLock { $0[number]?.isAdopted ?? false }
    }

    /// A commit has adopted a segment up to an offset, and rows refer to the values that begin at some places.
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

    /// Other processes may compact what is adopted from now on, if it ends where its file does: nothing more is written to it.
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

    /// Has a closure called when there is space to be given back.
    func onRelease(_ body: @escaping @Sendable () -> Void) { released.withLock { $0 = body } }

    /// Nobody will save a value any more.
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

    /// Cuts files off behind what somebody may save. The caller has the turn, and no commit has failed without being cut.
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

    /// Lets compaction have segments, to which nothing is written then; false if one of them is in use.
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
