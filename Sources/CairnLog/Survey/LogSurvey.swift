// Reads the log of a store, whatever is wrong with it, and finds its end.                         Format 60.4
//
//   1. Every main segment is read in order, frame by frame and gap by gap. Each is passed to a visitor.
//   2. A break (a gap, a broken frame, a missing segment) is the end of the log if nothing shows that the log
//      was durable beyond it; otherwise it is damage. Which of the two is known at the end, when all marks
//      have been read.
//   3. The log ends with the last commit, close or start frame before that break.
//
// Invariants: nothing is written. What a reader would accept is below `end` and in no gap.
// Threads: one survey in one thread.

import CairnFormat
import CairnStore

/// An outline of a store's log, without opening the store.
struct LogOutline {
    /// A position at which it is broken.
    struct Break {
        /// The position in the log.
        let lsn: UInt64
        let error: StoreError
        /// The state of the survey before it.
        fileprivate let before: Progress
    }

    struct Progress {
        /// The end of the last commit, close or start frame.
        var end: LogEnd
        var commit: UInt64 = 0
        /// The place of the last commit's frame.
        var commitFrame = Place.none
        var isClosed = false
        var frames: UInt64 = 0
        var commits: UInt64 = 0
        /// The number of frames found, in complete commits or not.
        var met: UInt64 = 0
    }

    /// The LSN below which the log is known to have been durable.
    var durable: UInt64 = 0
    /// The contents up to the end.
    var progress: Progress
    /// Breaks that are damage.
    var damage: [Break] = []
    /// Why the log ends where it does, unless it ends with its file.
    var tail: Break?
    /// Whether the log ends before a part that was durable.
    var endsEarly = false
}

struct LogSurvey {
    /// An item passed to the visitor.
    enum Item {
        case frame(SurveyedSegment, FrameWalk.Frame)
        case gap(SurveyedSegment, Range<UInt64>, FormatError)
    }

    private let folder: FolderSurvey
    private let readsPayloads: Bool
    /// The LSN at which a reader must stop while another process writes.
    private let limit: UInt64?
    private var progress: LogOutline.Progress
    private var breaks: [LogOutline.Break] = []
    private var durable: UInt64

    /// - Parameter limit: the LSN from which on a writer may be at work.
    init(_ folder: FolderSurvey, readsPayloads: Bool, limit: UInt64? = nil) {
        self.folder = folder
        self.readsPayloads = readsPayloads
        self.limit = limit
        durable = folder.promised
        progress = LogOutline.Progress(end: LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0))
    }

    /// Reads the log, starting at a position if one is provided.
    mutating func run(
        from start: LogEnd? = nil, _ visit: (Item) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) -> LogOutline {
        if let start { progress.end = start }
        var expected: UInt64?
        for segment in folder.segments where segment.role == .main {
            if let start, segment.number < start.segment { continue }
            if let expected, segment.baseLSN > expected {
                let isKnown = folder.missing.contains {
                    $0.kind == .main && $0.number < segment.number
                }
                // Up to the newest start frame its list is complete, and segments in between were retired.
                if !isKnown, segment.number > folder.newestStart {
                    note(
                        expected,
                        .damaged(
                            "a part of the log before the segment is missing (F-216)",
                            segment: segment.number, offset: 0))
                }
            }
            guard try survey(segment, from: start, visit) else { break }
            expected = segment.baseLSN + segment.end
            if let stated = segment.statedEnd, stated > segment.size {
                note(
                    segment.baseLSN + segment.size,
                    .damaged(
                        "the file is shorter than its content (F-303)",
                        segment: segment.number, offset: segment.size))
            }
        }
        return outline()
    }

    /// Reads a segment; false if the limit was reached.
    private mutating func survey(
        _ segment: SurveyedSegment, from start: LogEnd?,
        _ visit: (Item) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        let isFirst = segment.number == start?.segment
        var walk = FrameWalk(
            segment.file, segment: segment.number, storeTag: folder.storeTag,
            baseLSN: segment.baseLSN,
            from: isFirst ? start?.offset ?? 0 : UInt64(SegmentHeader.size),
            chain: isFirst ? start?.chain : segment.chain, to: segment.end,
            readsPayloads: readsPayloads)
        while let event = try walk.next() {
            switch event {
            case .frame(let frame):
                if let limit, frame.header.lsn + UInt64(frame.header.frameLength) > limit {
                    return false
                }
                durable = max(durable, frame.header.mark)
                if let problem = frame.problem {
                    note(
                        frame.header.lsn,
                        .damaged(
                            "\(problem.what) (\(problem.rule))", segment: segment.number,
                            offset: frame.offset))
                }
                try visit(.frame(segment, frame))
                take(frame, segment)
            case .gap(let range, let error):
                let lsn = segment.baseLSN + range.lowerBound
                if let limit, lsn >= limit { return false }
                note(
                    lsn,
                    .damaged(
                        "\(error.what) (\(error.rule))", segment: segment.number,
                        offset: range.lowerBound))
                try visit(.gap(segment, range, error))
            }
        }
        return true
    }

    private mutating func take(_ frame: FrameWalk.Frame, _ segment: SurveyedSegment) {
        progress.met += 1
        // A frame with a broken payload does not end anything.
        if readsPayloads, frame.payload == nil { return }
        switch frame.header.kind {
        case .commit:
            progress.commits += 1
            progress.commit = frame.header.commit
            progress.commitFrame =
                Place(exactSegment: segment.number, byteOffset: frame.offset) ?? .none
            progress.isClosed = false
        case .close: progress.isClosed = true
        case .start: progress.isClosed = false
        default: return
        }
        progress.frames = progress.met
        progress.end = LogEnd(
            segment: segment.number, offset: frame.end, lsn: segment.baseLSN + frame.end,
            chain: frame.header.chain)
    }

    private mutating func note(_ lsn: UInt64, _ error: StoreError) {
        breaks.append(LogOutline.Break(lsn: lsn, error: error, before: progress))
    }

    private func outline() -> LogOutline {
        var outline = LogOutline(durable: durable, progress: progress)
        // A segment that a later one lists existed.
        outline.damage = folder.missingErrors.map {
            LogOutline.Break(lsn: 0, error: $0, before: self.progress)
        }
        for found in breaks {
            if found.lsn >= durable {
                outline.tail = found
                outline.progress = found.before
                break
            }
            outline.damage.append(found)
        }
        let progress = outline.progress
        if outline.tail == nil, limit == nil, progress.end.lsn < durable {
            // The file ends before the log does.
            outline.endsEarly = true
            outline.damage.append(
                LogOutline.Break(
                    lsn: progress.end.lsn,
                    error: .damaged(
                        "the log ends, though it was durable up to byte \(durable - min(durable, progress.end.lsn - progress.end.offset)) (F-303)",
                        segment: progress.end.segment, offset: progress.end.offset),
                    before: progress))
        }
        return outline
    }
}
