// Finds the segments in a folder that make up its log.                                            Format 60.4
//
//   1. Each file is classified on its own: whole (header and start frame), unfinished (no frame after the
//      place of the start frame), or broken. (FS4)
//   2. The newest whole main segment is the log's last. A broken file with a larger number is damage; an
//      unfinished one is a segment whose creation did not finish, and is ignored: but everything before it
//      was durable when its header was written.
//   3. Its start frame lists the other members of the live set. Each must exist and be whole, and must agree
//      with its successor's header. (F-216)
//   4. The files of all other segments are closed until they are read: most of them are kept only for past
//      states, however many there are.
//
// A missing member may have been retired after that start frame: the reader of the frames knows.
//
// Invariants: nothing is written.
// Threads: one search in one thread.

import CairnFileSystem
package import CairnFormat
package import CairnStore
import SystemPackage

/// A segment with a valid header and a valid start frame.
package struct FoundSegment {
    package let segment: Segment
    /// The chain value before its first frame.
    let chain: UInt32
    package let start: StartPayload
    /// The last commit before it, according to its start frame.
    let startCommit: UInt64
    /// The LSN after its start frame.
    let startEnd: UInt64
    /// A lower bound of its file's size in bytes; 0 if it was not read.
    var bytes: UInt64 = 0

    init(
        segment: Segment, chain: UInt32, start: StartPayload, startCommit: UInt64, startEnd: UInt64
    ) {
        self.segment = segment
        self.chain = chain
        self.start = start
        self.startCommit = startCommit
        self.startEnd = startEnd
    }

    /// A segment that is known already; its beginning does not matter.
    init(known segment: Segment) {
        self.init(
            segment: segment, chain: 0, start: StartPayload(), startCommit: 0, startEnd: 0)
    }

    /// Returns the same with a file that is closed until it is read.
    fileprivate func resting(on fileSystem: any FileSystem) throws(StoreError) -> FoundSegment {
        do {
            return FoundSegment(
                segment: Segment(
                    header: segment.header, file: try RestingFile(segment.file, on: fileSystem)),
                chain: chain, start: start, startCommit: startCommit, startEnd: startEnd)
        } catch {
            throw StoreError(error)
        }
    }
}

/// The log files of a folder.
package struct FoundLog {
    /// The main segments of the newest start frame's live set that are whole, and the newest one, oldest first.
    package var mains: [FoundSegment] = []
    /// Every whole file of the store, by number.
    var whole: [UInt32: FoundSegment] = [:]
    /// The errors of the live set's members that are not whole, by number.
    var missing: [UInt32: StoreError] = [:]
    /// The errors of the files that exist and are not whole, by number.
    var notWhole: [UInt32: StoreError] = [:]
    /// Files whose creation did not finish.
    var unfinished: Set<UInt32> = []
    /// The LSN below which the log was durable when the creation of the newest of them began.
    var promised: UInt64 = 0
    /// The numbers of all files.
    var numbers: [UInt32] = []
    /// The commits of the checkpoints next to them, newest first.
    var checkpoints: [UInt64] = []
    /// The newest one, if it is open already.
    var newestCheckpoint: FolderContent.Opened?

    /// Returns the newest main segment and its predecessors, oldest first, as far as their files exist,
    /// including retired ones. Sets the end of each.
    func lineage() -> [FoundSegment] {
        guard var next = mains.last else { return [] }
        var line = [next]
        while let before = whole[next.segment.header.predecessor],
            before.segment.header.kind == .main, before.segment.number < next.segment.number
        {
            let header = next.segment.header
            let (end, overflows) = before.segment.baseLSN.addingReportingOverflow(
                header.predecessorEnd)
            guard !overflows, end == header.baseLSN else { break }
            before.segment.seal(at: header.predecessorEnd, chain: header.predecessorChain)
            line.append(before)
            next = before
        }
        return line.reversed()
    }

    /// Replaces the found segments by the same ones of a state, so that the log can be read after it; returns
    /// false if the one that it ends in is not among the main segments.
    mutating func goOn(from segments: LiveSet, end: LogEnd) -> Bool {
        let number = end.segment
        guard let known = segments[number],
            let first = mains.firstIndex(where: { $0.segment.number == number })
        else { return false }
        mains.removeSubrange(..<first)
        mains[0] = FoundSegment(
            segment: known, chain: mains[0].chain, start: StartPayload(), startCommit: 0,
            startEnd: 0)
        if mains.count > 1 {
            let header = mains[1].segment.header
            known.seal(at: header.predecessorEnd, chain: header.predecessorChain)
        }
        return true
    }
}

package struct SegmentSearch {
    private enum Judgement {
        case whole(FoundSegment)
        /// Its header, if valid.
        case unfinished(SegmentHeader?)
        case broken(StoreError)
    }

    private let files: StoreFiles
    private var judgements: [UInt32: Judgement] = [:]
    /// The newest file with a valid header, if this version cannot read it.
    private var unreadable: StoreError?
    /// Whether a file with a valid header was found.
    private var hasHeader = false
    /// The newest file, if it is open already.
    private var newest: (number: UInt32, opened: FolderContent.Opened)?

    /// The number above which main segments and broken files are ignored: a copy was not finished.
    private let lastMain: UInt32

    /// The commit up to which the log is requested: main segments that were started after it are ignored.
    private let lastCommit: UInt64?

    package init(_ files: StoreFiles, lastMain: UInt32? = nil, through lastCommit: UInt64? = nil) {
        self.files = files
        self.lastMain = lastMain ?? .max
        self.lastCommit = lastCommit
    }

    /// Returns the log's segments; none if the creation of one was never finished.
    ///
    /// - Parameters:
    ///   - folder: the content of the folder; nil: it is listed.
    ///   - opensNewest: whether the newest segment and the newest checkpoint will be read.
    package mutating func run(_ folder: FolderContent? = nil, opensNewest: Bool = false)
        throws(StoreError) -> FoundLog
    {
        var log = FoundLog()
        let content: FolderContent
        if let folder {
            content = folder
        } else {
            do {
                content = try FolderContent(files, opensNewest: opensNewest)
            } catch {
                throw StoreError(error)
            }
        }
        log.numbers = content.segments
        log.checkpoints = content.checkpoints
        log.newestCheckpoint = content.newestCheckpoint
        if let number = content.segments.last, let opened = content.newestSegment {
            newest = (number, opened)
        }
        let last = try judgeAll(log.numbers)
        // What a writer removed since the folder was listed is no longer part of the store, or is missing.
        log.numbers.removeAll { judgements[$0] == nil }
        guard let last else { return log }
        for case (let number, .whole(let found)) in judgements
        where found.segment.header.store == last.segment.header.store {
            log.whole[number] = found
        }
        for (number, judgement) in judgements {
            switch judgement {
            case .whole: break
            case .broken(let error): log.notWhole[number] = error
            case .unfinished(let header):
                log.unfinished.insert(number)
                if let header, header.kind == .main, number <= lastMain, lastCommit == nil,
                    header.store == last.segment.header.store
                {
                    log.promised = max(log.promised, header.baseLSN)
                }
                log.notWhole[number] = .damaged(
                    "the segment has no content, but is part of the store (F-216)",
                    segment: number, offset: 0)
            }
        }
        collect(last, into: &log)
        return log
    }

    /// Classifies all files, newest first; returns the log's last segment.
    private mutating func judgeAll(_ numbers: [UInt32]) throws(StoreError) -> FoundSegment? {
        var last: FoundSegment?
        var failure: StoreError?
        var members: Set<UInt32> = []
        for number in numbers.reversed() {
            let judgement = try judge(number)
            judgements[number] = judgement
            switch judgement {
            case .whole(let found):
                if last == nil, isNewest(found) {
                    last = found
                    members = Set(found.start.live.map(\.number))
                } else if !members.contains(number) {
                    judgements[number] = .whole(try found.resting(on: files.fileSystem))
                }
            case .broken(let error):
                // Segments after a past state do not matter; what the state lacks shows when it is read.
                if last == nil, number <= lastMain, lastCommit == nil { failure = failure ?? error }
            case .unfinished, nil: break
            }
        }
        if let error = unreadable ?? failure { throw error }
        return last
    }

    /// Whether a segment is the last one, provided that no later one is.
    private func isNewest(_ found: FoundSegment) -> Bool {
        let header = found.segment.header
        return header.kind == .main && found.segment.number <= lastMain
            && header.commit < lastCommit ?? .max
    }

    // MARK: Files

    /// Returns a file on its own; nil if it does not exist, or is not whole.
    mutating func whole(_ number: UInt32) throws(StoreError) -> FoundSegment? {
        let judgement = try judge(number)
        if let unreadable { throw unreadable }
        guard case .whole(let found) = judgement else { return nil }
        return found
    }

    /// Classifies a file on its own; returns nil if it does not exist.
    private mutating func judge(_ number: UInt32) throws(StoreError) -> Judgement? {
        let file: any File
        var size: UInt64?
        // Includes most start frames.
        let beginning = RawBytes(count: 2 * SegmentHeader.size)
        do {
            if let newest, newest.number == number {
                file = newest.opened.file
                size = newest.opened.size
                self.newest = nil
            } else {
                file = try files.fileSystem.open(files.path(number), .read)
            }
            beginning.trim(to: try file.read(into: beginning.mutable, at: 0))
        } catch {
            if error.operation == .open, error.code == .noSuchFileOrDirectory { return nil }
            throw StoreError(error)
        }
        var offset: UInt64 = 0
        var valid: SegmentHeader?
        do {
            let head = UnsafeRawBufferPointer(
                rebasing: beginning.bytes.prefix(SegmentHeader.size))
            let header = try SegmentHeader(decoding: head)
            hasHeader = true
            guard header.number == number else {
                throw FormatError(
                    .mismatch, "F-204", "the file of this number holds another segment",
                    expected: UInt64(number), found: UInt64(header.number))
            }
            valid = header
            let segment = Segment(header: header, file: file)
            let chain = SegmentHeader.chain(ofEncoded: head)
            if header.kind == .side {
                return .whole(
                    FoundSegment(
                        segment: segment, chain: chain, start: StartPayload(), startCommit: 0,
                        startEnd: 0))
            }
            offset = UInt64(SegmentHeader.size)
            return .whole(
                try whole(segment, chain, beginning, bytes: try size ?? segment.size()))
        } catch let error as FormatError {
            if offset == 0, error.isOfOtherVersion, !hasHeader {
                hasHeader = true
                unreadable = StoreError(
                    ofOtherVersion: error, at: "\(file.path)", segment: number)
            }
            if try !Self.holdsFrames(file, number) { return .unfinished(valid) }
            return .broken(
                .damaged("\(error.what) (\(error.rule))", segment: number, offset: offset))
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("a header only throws format and store errors: \(error)")
        }
    }

    /// Reads a segment's start frame.
    private func whole(
        _ segment: Segment, _ chain: UInt32, _ beginning: RawBytes, bytes: UInt64
    ) throws -> FoundSegment {
        var scanner = try FrameScanner(
            segment, chain: chain, storeTag: segment.header.store.tag, end: bytes,
            window: 8 << 10, beginning: beginning)
        guard let (header, payload) = try scanner.next() else {
            throw scanner.failure
                ?? FormatError(.truncated, "F-303", "the segment has no start frame")
        }
        guard header.kind == .start else {
            throw FormatError(
                .malformed, "F-211", "the first frame of the segment is not its start frame",
                found: UInt64(header.rawKind))
        }
        guard try header.readableKind() != nil else {
            preconditionFailure("a start frame is of a kind that is known")
        }
        var found = FoundSegment(
            segment: segment, chain: chain, start: try StartPayload(decoding: payload),
            startCommit: header.commit,
            startEnd: header.lsn + UInt64(header.frameLength))
        found.bytes = bytes
        return found
    }

    /// Whether a valid frame header of the segment exists anywhere after the place of the start frame.
    private static func holdsFrames(_ file: any File, _ number: UInt32) throws(StoreError) -> Bool {
        var search = HeaderSearch(
            file, from: UInt64(SegmentHeader.size + FormatLimits.frameAlignment))
        return try search.holdsFrame(of: number)
    }

    // MARK: Live set

    /// Collects the members of the newest segment's live set.
    private func collect(_ last: FoundSegment, into log: inout FoundLog) {
        for member in last.start.live {
            let number = member.number
            switch judgements[number] {
            case nil:
                log.missing[number] = .damaged(
                    "segment \(number) is missing (F-216)", segment: number)
            case .unfinished, .broken: log.missing[number] = log.notWhole[number]
            case .whole(let found):
                let header = found.segment.header
                guard header.kind == member.kind, header.store == last.segment.header.store else {
                    log.missing[number] = .damaged(
                        "the segment belongs to another store (F-216)", segment: number, offset: 0)
                    continue
                }
                if member.kind == .main {
                    found.segment.seal(at: member.end, chain: member.chain)
                    log.mains.append(found)
                }
            }
        }
        log.mains.append(last)
    }

    /// Checks that the newest start frame agrees with the headers of the successors of the segments that it
    /// lists.
    static func check(_ mains: [FoundSegment]) throws(StoreError) {
        guard let last = mains.last else { return }
        func contradiction() -> StoreError {
            .damaged(
                "the segment's list of segments contradicts their headers (F-216)",
                segment: last.segment.number, offset: UInt64(SegmentHeader.size))
        }
        let named = last.segment.header.predecessor
        guard named == last.start.live.last(where: { $0.kind == .main })?.number ?? 0 else {
            throw contradiction()
        }
        for found in mains {
            guard found.startCommit == found.segment.header.commit else {
                throw .damaged(
                    "start frame and header name different commits (F-218)",
                    segment: found.segment.number, offset: UInt64(SegmentHeader.size))
            }
        }
        for index in mains.indices.dropFirst() {
            let (before, after) = (mains[index - 1], mains[index])
            let header = after.segment.header
            let number = before.segment.number
            guard let end = before.segment.knownEnd else { throw contradiction() }
            if header.predecessor == number {
                guard header.predecessorEnd == end,
                    header.predecessorChain == before.segment.sealedChain
                else { throw contradiction() }
                guard before.segment.baseLSN + end == header.baseLSN else {
                    throw .damaged(
                        "the segment does not begin where its predecessor ends (F-216)",
                        segment: header.number, offset: 0)
                }
            } else {
                // The segments in between have been retired.
                guard header.predecessor > number, header.baseLSN >= before.segment.baseLSN + end
                else { throw contradiction() }
            }
        }
    }
}
