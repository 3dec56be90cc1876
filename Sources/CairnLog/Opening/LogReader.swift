// Reads a store's log from its first frame to the end of its last commit.            Format 60.4
//
//   1. The newest main segment lists the segments that make up the store (SegmentSearch); members that are
//      gone must have been retired since (LiveMembers).
//   2. The content of side segments is read first, as far as that segment's start frame lists it; then the
//      frames of the main segments in order, each up to its recorded end (LogContent).
//   3. The first failure, X, ends the log, unless there is a record that the log was durable beyond it: the
//      mark of a frame before or after it, or the mark file. Then it is damage (LogTail).
//   4. The end is the end of the last commit, close or start frame before X. What follows is left behind.
//
// With a checkpoint, everything up to the end of its commit counts as read; likewise with a state of readers,
// when the log of a writer is followed.
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
    /// The mark before anything else was read.
    private let mark: MarkRecord?
    /// The LSN at which to stop: a reader concurrent with a writer reads only what is durable.
    private var limit: UInt64?
    /// The commit after which nothing is read; nil: all commits are read.
    private let lastCommit: UInt64?
    /// The pool for the pages of a checkpoint's state; nil if no checkpoint may be used.
    private let pool: PagePool?
    /// The commit of the only checkpoint that may be used; nil: the newest usable one.
    private let checkpoint: UInt64?
    /// Rebuilds damaged parts of a checkpoint, if parts may be read later.
    private let rebuild: CheckpointImage.Rebuild?
    /// Receives progress.
    private var monitor: RecoveryMonitor?

    /// Creates a reader of a log that no process appends to.
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
        // F-220: the log of an unfinished copy ends at its mark.
        if let mark, mark.role == .unfinishedCopy { self.limit = min(limit ?? .max, mark.lsn) }
        self.pool = pool
    }

    /// Reads the log; without a checkpoint if the model has changed after the existing one.
    ///
    /// - Parameter folder: the content of the folder, if it was listed while no other process could write.
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
        // A segment is started when everything before it is durable; its start frame summarizes all of that.
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

    /// Reads what follows a state up to a mark, through the segments that were found in between. Anything
    /// unexpected is reported as damage here; reading the whole log shows what it really is.
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

    /// Reads the log as of a commit: as if it ended there.                                              F-798
    ///
    /// - Parameters:
    ///   - base: an earlier state to continue from.
    ///   - pool: the pool for the pages of a checkpoint's state, if there is no base; nil if no checkpoint
    ///     may be used.
    ///   - checkpoint: the commit of the only checkpoint that may be used; nil: the newest usable one.
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

    /// The same from a base, if everything in between is in the segment in which the base ends; otherwise
    /// returns nil.
    ///
    /// - Complexity: O(bytes in between): the folder is not searched.
    static func past(
        _ files: StoreFiles, after commit: UInt64, within base: EngineState
    ) throws(StoreError) -> OpenedLog? {
        guard let segment = base.segments[base.commitEnd.segment] else { return nil }
        let storeID = segment.header.store
        var found = FoundLog()
        found.mains = [FoundSegment(known: segment)]
        // A side segment that is adopted further is the same one that the base has.
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
        // The file may continue after what is written, and another thread may be writing there.
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

    /// Reads the main segments from the beginning, or from the end of a state's commit on; returns the LSN
    /// below which the log is known to be durable.
    ///
    /// - Parameter newestEnd: the end of the newest one; nil: the end of its file.
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
                // What follows the requested commit does not matter.
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
            // There may be many before a past state; the first one belongs to the state that reading
            // continues from.
            if segment.number != start?.segment { segment.rest() }
        }
        return durable
    }

    /// Returns the bytes of main segments, after an end in the first of them.
    private static func bytes(of mains: ArraySlice<FoundSegment>, after start: LogEnd?) -> UInt64 {
        let bytes = mains.reduce(0) {
            $0 + ($1.segment.knownEnd ?? (try? $1.segment.file.size()) ?? 0)
        }
        return bytes - min(bytes, start?.offset ?? 0)
    }

    /// Reads the frames of a segment; returns false if the limit was reached.
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

    /// Ends the log at the limit. A reader concurrent with a writer cannot tell what follows it; in an
    /// unfinished copy, that is ignored.
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

    /// Decides whether the end of the log is a torn tail or damage.
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
