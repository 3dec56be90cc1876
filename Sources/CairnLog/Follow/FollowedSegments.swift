// Finds the main segments from a state to a mark.                                             ENGINE-NOTES 15
//
//   1. From the segment that the mark names back, header by header, to the one of the state's last commit.
//      Each header says where the previous segment ends.
//   2. A missing segment was compacted away: the log cannot be followed step by step.
//
// Nothing is listed and no other file is opened, so the cost depends on the number of new segments.
// Threads: one search in one thread.

import CairnFormat
import CairnStore

struct FollowedSegments {
    let files: StoreFiles
    let state: EngineState
    let mark: MarkRecord

    /// The segments, starting with that of the state; nil if one is missing, or they are not consecutive.
    func find() throws(StoreError) -> FoundLog? {
        let first = state.commitEnd.segment
        guard let base = state.segments[first] else { return nil }
        var log = FoundLog()
        var number = mark.segment
        while number > first {
            var search = SegmentSearch(files)
            guard let found = try search.whole(number), found.segment.header.kind == .main,
                found.segment.header.store == mark.store, follows(found, log.mains.last)
            else { return nil }
            log.mains.append(found)
            number = found.segment.header.predecessor
        }
        guard number == first else { return nil }
        let known = FoundSegment(known: base)
        guard follows(known, log.mains.last) else { return nil }
        log.mains.append(known)
        log.mains.reverse()
        for (before, after) in zip(log.mains, log.mains.dropFirst()) {
            let header = after.segment.header
            before.segment.seal(at: header.predecessorEnd, chain: header.predecessorChain)
        }
        // A side segment that is adopted further is the same one that the state has.
        for side in state.segments.sides {
            log.whole[side.segment.number] = FoundSegment(known: side.segment)
        }
        return log
    }

    /// Whether a segment ends where its successor says, or reaches to the mark if there is none.
    private func follows(_ found: FoundSegment, _ after: FoundSegment?) -> Bool {
        let base = found.segment.baseLSN
        guard let after else { return mark.lsn >= base }
        let header = after.segment.header
        let (end, overflows) = base.addingReportingOverflow(header.predecessorEnd)
        return !overflows && end == header.baseLSN
    }
}
