// Reads a store's log from its first frame to the end of its last commit.            Format 60.4
//
//   1. The newest main segment says which segments make up the store (SegmentSearch); members that are gone must
//      have been retired since (LiveMembers).
//   2. What side segments hold is read first, as far as that segment's start frame has it; then the frames of
//      the main segments in order, each up to the end that is stated for it (LogContent).
//   3. The first failure, X, ends the log, unless something says that the log was durable beyond it: the
//      mark of a frame before or behind, or the mark file. Then it is damage (LogTail).
//   4. The end is the end of the last commit, close or start frame before X. What follows is left behind.
//
// With a checkpoint, everything up to the end of its commit is taken as read. The same with a state that readers
// have, when the log of a writer is followed.
//
// Invariants: nothing is written (RC3). RC2: a torn tail never reaches below the durable mark.
// Threads: one reader in one thread.

import CairnFileSystem
package import CairnFormat
import CairnModel
package import CairnStore

package struct LogReader {
    /// The contents of a folder.
    package enum Outcome {
        /// No segment that was created completely.
        case nothing
        /// Segments without a commit: the creation of the store was interrupted.
        case unfinished(UnfinishedLog)
        case log(OpenedLog)
    }

    private let files: StoreFiles
    /// What the mark file said before anything else was read.
    private let mark: MarkRecord?
    /// Where to stop: a reader beside a writer goes no further than what is durable.
    private var limit: UInt64?
    /// The commit behind which nothing is read; nil: all of them are.
    private let lastCommit: UInt64?
    /// The pages that the state of a checkpoint may be put in; nil if none is to be used.
    private let pool: PagePool?
    /// The commit of the only checkpoint that may be used; nil: the newest one that can be.
    private let checkpoint: UInt64?
    /// What makes up for damaged parts of a checkpoint, if parts may be read later.
    private let rebuild: CheckpointImage.Rebuild?
    /// Who is told how far it is.
    private var monitor: RecoveryMonitor?

    /// A reader of a log that nobody adds to.
    package init(_ files: StoreFiles, mark: MarkRecord?, pool: PagePool? = nil) {
        self.init(files, mark: mark, limit: nil, pool: pool)
    }

    init(
        _ files: StoreFiles, mark: MarkRecord?, limit: UInt64?, through lastCommit: UInt64? = nil,
        pool: PagePool? = nil, checkpoint: UInt64? = nil, rebuild: CheckpointImage.Rebuild? = nil,
        monitor: RecoveryMonitor? = nil
    ) {
        self.lastCommit = lastCommit
        self.checkpoint = checkpoint
        self.rebuild = rebuild
        self.monitor = monitor
        self.files = files
        self.mark = mark
        self.limit = limit
        // F-220: the log of a copy that was not finished ends at its mark.
        if let mark, mark.role == .unfinishedCopy { self.limit = min(limit ?? .max, mark.lsn) }
        self.pool = pool
    }

    /// Reads the log; without a checkpoint if the model has changed behind the one that there is.
    ///
    /// - Parameter folder: what is in the folder, if that was looked at while nobody else could write.
    package mutating func read(_ folder: FolderContent? = nil) throws(StoreError) -> Outcome {
        do throws(StoreError) {
            return try read(from: pool, folder)
        } catch {
            guard error.code == .incompatibleModel, pool != nil else { throw error }
            return try read(from: nil, nil)
        }
    }

    private mutating func read(from pool: PagePool?, _ folder: FolderContent?) throws(StoreError)
        -> Outcome
    {
        let isUnfinishedCopy = mark?.role == .unfinishedCopy
        if isUnfinishedCopy, mark?.lsn == 0 {
            throw .unfinished(files.folder)
        }
        var search = SegmentSearch(files, lastMain: isUnfinishedCopy ? mark?.segment : nil)
        let found = try search.run(folder, opensNewest: pool != nil)
        guard let newest = found.mains.last else {
            // The mark is written when the creation is finished, so there was a log once.
            guard let mark else { return .nothing }
            throw .damaged("segment \(mark.segment) is missing (F-216)", segment: mark.segment)
        }
        let storeID = newest.segment.header.store
        // A segment is begun when everything before it is durable; its start frame sums all of that up.
        limit = limit.map { max($0, newest.startEnd) }
        var members = LiveMembers(found, limit: limit)
        try members.judge(found.missing)
        try SegmentSearch.check(found.mains)
        let restored = pool.flatMap {
            CheckpointReader.newest(
                files, found: found, storeID: storeID, limit: limit, only: checkpoint, pool: $0,
                rebuild: rebuild)
        }
        var content: LogContent
        if let restored {
            content = LogContent(storeID, after: restored, members: members)
        } else {
            content = try LogContent(storeID, mains: found.mains, newest: newest, members: members)
        }
        let marked = mark?.store == storeID ? mark?.lsn ?? 0 : 0
        let durable = try read(
            found.mains, into: &content, after: restored?.state.commitEnd, newestEnd: nil,
            durable: max(marked, found.promised, restored?.state.commitEnd.lsn ?? 0))
        try content.finish()
        guard content.catalog != nil else {
            return .unfinished(
                UnfinishedLog(storeID: storeID, segments: content.live.mains, end: content.end))
        }
        var log = try OpenedLog(
            files, content, found, restored, durable: durable, pool: pool ?? PagePool())
        log.mark = mark
        if let folder, folder.isWritable { log.writable = folder.newestSegment?.file }
        return .log(log)
    }

    /// Reads what follows a state up to a mark, through segments that were found to lead there. Whatever is not as
    /// expected is damage here; what it really is a reading of the whole log says.
    static func follow(
        _ files: StoreFiles, from state: EngineState, _ found: FoundLog, to mark: MarkRecord,
        cache: BlockCache
    ) throws(StoreError) -> OpenedLog {
        var reader = LogReader(files, mark: mark, limit: mark.lsn)
        let newest = found.mains.last?.segment
        let restored = RestoredState(
            state: state, image: nil, hashSeed: state.hashSeed, bytes: 0,
            lastSegment: newest?.number ?? 0, time: 0, author: "")
        var content = LogContent(
            mark.store, after: restored, members: LiveMembers(found, followingIn: files),
            cache: cache)
        let base = newest?.baseLSN ?? 0
        let durable = try reader.read(
            found.mains, into: &content, after: state.commitEnd,
            newestEnd: mark.lsn - min(base, mark.lsn), durable: state.commitEnd.lsn)
        try content.finish()
        guard content.end.lsn == mark.lsn, content.end.chain == mark.chain else {
            throw .damaged("the log does not reach the mark", segment: mark.segment)
        }
        return try OpenedLog(files, content, found, restored, durable: durable, pool: PagePool())
    }

    /// Reads the log as it was after a commit: as if it ended there, and nothing was behind.                 F-798
    ///
    /// - Parameters:
    ///   - base: a state before it to go on from.
    ///   - pool: the pages that the state of a checkpoint may be put in, if there is no base; nil if none is to be used.
    ///   - checkpoint: the commit of the only checkpoint that may be used; nil: the newest one that can be.
    package static func past(
        _ files: StoreFiles, after commit: UInt64, from base: EngineState?, pool: PagePool?,
        checkpoint: UInt64? = nil
    ) throws(StoreError) -> OpenedLog {
        var search = SegmentSearch(files, through: commit)
        var found = try search.run()
        guard let newest = found.mains.last else { throw lacks(commit) }
        let storeID = newest.segment.header.store
        var members = LiveMembers(found, limit: nil, through: commit)
        var line = found
        line.mains = found.lineage()
        let restored: RestoredState?
        if let base {
            guard line.goOn(from: base.segments, end: base.commitEnd) else { throw lacks(commit) }
            restored = RestoredState(
                state: base, image: nil, hashSeed: base.hashSeed, bytes: 0,
                lastSegment: newest.segment.number, time: 0, author: "")
        } else {
            restored = pool.flatMap {
                CheckpointReader.newest(
                    files, found: line, storeID: storeID, limit: nil, through: commit,
                    only: checkpoint, pool: $0, rebuild: nil)
            }
        }
        var content: LogContent
        if let restored {
            found = line
            content = LogContent(storeID, after: restored, members: members)
        } else {
            try members.judge(found.missing)
            try SegmentSearch.check(found.mains)
            content = try LogContent(storeID, mains: found.mains, newest: newest, members: members)
        }
        var reader = LogReader(files, mark: nil, limit: nil, through: commit)
        let start = restored?.state.commitEnd
        let durable = try reader.read(
            found.mains, into: &content, after: start, newestEnd: nil, durable: start?.lsn ?? 0)
        try content.finish()
        guard content.commit == commit, content.catalog != nil else { throw lacks(commit) }
        return try OpenedLog(
            files, content, found, restored, durable: durable, pool: pool ?? PagePool())
    }

    /// The same from a base, if all that lies between is in the segment that the base ends in; else nil.
    ///
    /// - Complexity: O(what lies between): the folder is not looked through.
    static func past(
        _ files: StoreFiles, after commit: UInt64, within base: EngineState
    ) throws(StoreError) -> OpenedLog? {
        guard let segment = base.segments[base.commitEnd.segment] else { return nil }
        let storeID = segment.header.store
        var found = FoundLog()
        found.mains = [FoundSegment(known: segment)]
        // A side segment that is adopted further is the one that the base has.
        for side in base.segments.sides {
            found.whole[side.segment.number] = FoundSegment(known: side.segment)
        }
        let restored = RestoredState(
            state: base, image: nil, hashSeed: base.hashSeed, bytes: 0,
            lastSegment: segment.number, time: 0, author: "")
        var content = LogContent(
            storeID, after: restored, members: LiveMembers(found, followingIn: files))
        var scanner = try FrameScanner(
            segment, chain: 0, storeTag: storeID.tag, end: segment.knownEnd, window: 64 << 10)
        scanner.skip(to: base.commitEnd)
        // The file may go on behind what is written, and somebody may be writing there.
        while content.commit < commit, let (header, payload) = try scanner.next(),
            header.commit <= commit
        {
            try content.take(header, payload, segment)
        }
        guard content.commit == commit else { return nil }
        try content.finish()
        return try OpenedLog(
            files, content, found, restored, durable: content.end.lsn, pool: PagePool())
    }

    private static func lacks(_ commit: UInt64) -> StoreError {
        .damaged("the log does not reach commit \(commit), whose state is kept (F-794)")
    }

    // MARK: Main segments

    /// Reads the main segments from the beginning, or from the end of a state's commit on; gives the LSN below which
    /// the log is known to be durable.
    ///
    /// - Parameter newestEnd: where the newest one ends; nil: where its file does.
    private mutating func read(
        _ mains: [FoundSegment], into content: inout LogContent, after start: LogEnd?,
        newestEnd: UInt64?, durable: UInt64
    ) throws(StoreError) -> UInt64 {
        let first = mains.firstIndex { $0.segment.number >= start?.segment ?? 0 } ?? mains.endIndex
        try monitor?.begin { Self.bytes(of: mains[first...], after: start) }
        var durable = durable
        for index in mains.indices[first...] {
            let segment = mains[index].segment
            let isNewest = index + 1 == mains.count
            var scanner = try FrameScanner(
                segment, chain: mains[index].chain, storeTag: content.storeID.tag,
                end: isNewest ? newestEnd : segment.knownEnd)
            if let start, segment.number == start.segment {
                scanner.skip(to: start)
            } else if start != nil {
                content.live.begin(segment)
            }
            guard try read(&scanner, into: &content, &durable) else {
                try endAtLimit(mains, &content)
                break
            }
            if isNewest || scanner.failure != nil {
                let tail = LogTail(mains[index...], position: scanner.position)
                // Whatever follows the commit that was wanted is no matter.
                if tail.lsn >= limit ?? .max || content.commit == lastCommit {
                    try endAtLimit(mains, &content)
                } else {
                    try end(&content, tail, scanner.failure, &durable)
                }
                break
            }
            guard content.end.segment == segment.number, content.end.offset == segment.knownEnd,
                content.end.chain == segment.sealedChain
            else {
                throw .damaged(
                    "the segment does not end as its successor says (F-216)",
                    segment: segment.number, offset: segment.knownEnd)
            }
            // On the way to a past state there may be many; the first one is that of the state that is gone on from.
            if segment.number != start?.segment { segment.rest() }
        }
        return durable
    }

    /// Bytes of main segments, behind an end in the first of them.
    private static func bytes(of mains: ArraySlice<FoundSegment>, after start: LogEnd?) -> UInt64 {
        let bytes = mains.reduce(0) {
            $0 + ($1.segment.knownEnd ?? (try? $1.segment.file.size()) ?? 0)
        }
        return bytes - min(bytes, start?.offset ?? 0)
    }

    /// Reads the frames of a segment; false if the limit was met.
    private mutating func read(
        _ scanner: inout FrameScanner, into content: inout LogContent, _ durable: inout UInt64
    ) throws(StoreError) -> Bool {
        while let (header, payload) = try scanner.next() {
            if let limit, header.lsn + UInt64(header.frameLength) > limit { return false }
            if let lastCommit, header.commit > lastCommit { return false }
            durable = max(durable, header.mark)
            try monitor?.advance(header.frameLength)
            try content.take(header, payload, scanner.segment)
        }
        return true
    }

    // MARK: The end

    /// A reader beside a writer cannot tell what lies behind the limit. In a copy that was not finished it means
    /// nothing.
    private func endAtLimit(
        _ mains: [FoundSegment], _ content: inout LogContent
    ) throws(StoreError) {
        content.report.wasClosed = false
        let end = content.end
        guard mark?.role == .unfinishedCopy,
            let last = mains.last(where: { $0.segment.number == end.segment })
        else { return }
        content.report.bytesLeftBehind = try TailMeasure.bytes(
            of: last.segment.file, from: end.offset)
    }

    /// Decides whether what ends the log is a torn tail or damage.
    private func end(
        _ content: inout LogContent, _ tail: LogTail, _ failure: FormatError?,
        _ durable: inout UInt64
    ) throws(StoreError) {
        let end = content.end.offset
        // As in a store that was closed.
        if try tail.isEmpty(from: end) { return try tail.check(durable: durable, failure) }
        durable = max(durable, try tail.largestMark())
        try tail.check(durable: durable, failure)
        content.report.bytesLeftBehind += try tail.bytesLeftBehind(from: end)
        content.report.wasClosed = false
    }
}
