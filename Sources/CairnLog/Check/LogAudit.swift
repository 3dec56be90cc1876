// Examines the files of a store and records every problem, not only the first.                   Format 60.4
//
//   1. Segments: headers, start frames, the live set, ends and chains.                        (SG1, SG3)
//   2. Frames in order: checksums, chain, marks, contiguous commits.                          (SG3, SG4, SG5)
//   3. With payloads: the content of each frame must be valid by itself.
//   4. Segments that are kept for past states: that their frames are whole, up to where they end.     (F-793)
//
// Bytes after the end of the log mean nothing and are not checked (SG2).
// Invariants: nothing is written and nothing locked.
// Threads: one audit in one thread.

import CairnFormat
import CairnStore

struct LogAudit {
    /// A block of the log, and the commit that published it.
    struct Block {
        let place: Place
        let entity: Int
        let rows: Int
        let rawLength: Int
        let isMoved: Bool
        let lsn: UInt64
        let isSide: Bool
        /// For a patch: the block that it patches.
        var patched = Place.none
    }

    /// What a commit did, in the order of the log.
    struct Commit {
        var blocks: [Int] = []
        var deaths: [(place: Place, slots: [UInt16], offset: UInt64, segment: UInt32)] = []
        var counters: [TreeCounter] = []
        var endLSN: UInt64 = 0
    }

    let folder: FolderSurvey
    let depth: CheckDepth
    private(set) var outline: LogOutline
    private(set) var findings: [StoreError] = []
    private(set) var frames: UInt64 = 0
    private(set) var blocks: [Block] = []
    private(set) var commits: [Commit] = []
    private(set) var catalog: Catalog?
    /// Deaths that side segments carry, which apply to any block that exists.
    private(set) var carried = Commit()

    // The commit whose frames are being read.
    private var open = Commit()
    private var openCommit: UInt64 = 0
    private var openStart: UInt64 = 0
    private var openFrames: UInt32 = 0
    private var lastCommit: UInt64 = 0
    private var lastSegment: UInt32 = 0
    /// The last revision of the metadata in main segments.
    private var lastRevision: UInt64 = 0
    private var isBroken = false
    private var counters: [UInt32: UInt32] = [:]
    /// Death frames, which are resolved when their blocks are known.
    private var deathFrames: [(payload: RawBytes, segment: UInt32, offset: UInt64, commit: Int)] =
        []
    private var notes: [(lsn: UInt64, error: StoreError)] = []
    private var bytes: UInt64 = 0
    private let limit: UInt64?

    init(_ folder: FolderSurvey, depth: CheckDepth, limit: UInt64?) {
        self.folder = folder
        self.depth = depth
        self.limit = limit
        outline = LogOutline(
            progress: .init(end: LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)))
    }

    /// Runs all checks.
    mutating func run(progress: (UInt64, UInt64) -> Void) throws(StoreError) {
        let total = folder.segments.reduce(0) { $0 + $1.end }
        for error in folder.problems { find(error) }
        for member in folder.missing where member.kind == .side {
            find(.damaged("segment \(member.number) is missing (F-216)", segment: member.number))
        }
        checkSegments()
        for segment in folder.segments where segment.role == .side {
            try checkSide(segment)
            bytes += segment.end
        }
        if let first = folder.segments.first(where: { $0.role == .main }) {
            lastCommit = first.header?.commit ?? 0
        }
        var survey = LogSurvey(folder, readsPayloads: depth > .headers, limit: limit)
        var next: UInt64 = 0
        outline = try survey.run { item throws(StoreError) in
            take(item)
            if bytes >= next {
                progress(min(bytes, total), total)
                next = bytes + 4 << 20
            }
        }
        for damage in outline.damage { find(damage.error) }
        let end = limit == nil ? outline.progress.end.lsn : .max
        for note in notes where note.lsn < end { find(note.error) }
        checkEnds()
        blocks.removeAll { !$0.isSide && $0.lsn >= end }
        commits.removeAll { $0.endLSN > end }
        resolveDeaths()
        for segment in folder.segments where segment.role == .held {
            try checkHeld(segment)
            bytes += segment.end
            progress(min(bytes, total), total)
        }
        progress(total, total)
    }

    private mutating func find(_ error: StoreError) {
        let isKnown = findings.contains {
            $0.message == error.message && $0.context == error.context
        }
        if !isKnown { findings.append(error) }
    }

    /// Notes a problem that matters only before the end of the log.
    private mutating func note(
        _ message: String, _ segment: SurveyedSegment, _ offset: UInt64
    ) {
        notes.append(
            (
                segment.role == .main ? segment.baseLSN + offset : 0,
                .damaged(message, segment: segment.number, offset: offset)
            ))
    }

    // MARK: Segments

    private mutating func checkSegments() {
        let mains = folder.segments.filter { $0.role == .main }
        for segment in mains where segment.header != nil && segment.start == nil {
            find(
                .damaged(
                    "the segment has no start frame that can be read (F-211)",
                    segment: segment.number, offset: UInt64(SegmentHeader.size)))
        }
        for (before, after) in zip(mains, mains.dropFirst()) {
            guard let header = after.header else { continue }
            if header.commit < before.header?.commit ?? 0 || header.baseLSN <= before.baseLSN {
                find(
                    .damaged(
                        "positions or commits do not rise from segment to segment (SG3)",
                        segment: after.number, offset: 0))
            }
            if header.predecessor == before.number,
                before.baseLSN + header.predecessorEnd != header.baseLSN
            {
                find(
                    .damaged(
                        "the segment does not begin where its predecessor ends (F-216)",
                        segment: after.number, offset: 0))
            }
        }
    }

    /// The content before an end that a later segment states must be unchanged since then.
    private mutating func checkEnds() {
        let newest = folder.segments.first { $0.number == folder.newestStart }
        for member in newest?.start?.live ?? [] where member.kind == .main {
            guard let chain = chains[member.number], chain.offset == member.end else { continue }
            if chain.value != member.chain {
                find(
                    .damaged(
                        "the segment has changed since it ended (F-216, SG1)",
                        segment: member.number, offset: member.end))
            }
        }
    }

    /// The end of the last frame of each segment, and the chain value there.
    private var chains: [UInt32: (offset: UInt64, value: UInt32)] = [:]

    private mutating func checkSide(_ segment: SurveyedSegment) throws(StoreError) {
        guard let end = segment.statedEnd, end > UInt64(SegmentHeader.size) else { return }
        if end > segment.size {
            find(
                .damaged(
                    "the file is shorter than its content (F-303)", segment: segment.number,
                    offset: segment.size))
        }
        var walk = FrameWalk(
            segment.file, segment: segment.number, storeTag: folder.storeTag,
            baseLSN: segment.baseLSN, chain: segment.chain, to: segment.end,
            readsPayloads: depth > .headers)
        while let event = try walk.next() {
            switch event {
            case .gap(let range, let error):
                note("\(error.what) (\(error.rule))", segment, range.lowerBound)
            case .frame(let frame):
                frames += 1
                if let problem = frame.problem {
                    note("\(problem.what) (\(problem.rule))", segment, frame.offset)
                }
                if let payload = frame.payload { takePayload(payload, frame, segment) }
            }
        }
    }

    /// Checks a segment that past states are read from. Nothing records how much of a side segment counted,
    /// and what was written after that may be incomplete: it is damage only if frames follow.
    private mutating func checkHeld(_ segment: SurveyedSegment) throws(StoreError) {
        // There may be many of them.
        defer { segment.file.rest() }
        if let end = segment.statedEnd, end > segment.size {
            find(
                .damaged(
                    "the file is shorter than its content (F-303)", segment: segment.number,
                    offset: segment.size))
        }
        var walk = FrameWalk(
            segment.file, segment: segment.number, storeTag: folder.storeTag,
            baseLSN: segment.baseLSN, chain: segment.chain, to: segment.end,
            readsPayloads: depth > .headers)
        while let event = try walk.next() {
            let problem: (FormatError, UInt64)?
            switch event {
            case .gap(let range, let error):
                let isTail = range.upperBound >= segment.end && segment.statedEnd == nil
                problem = isTail ? nil : (error, range.lowerBound)
            case .frame(let frame):
                frames += 1
                problem = frame.problem.map { ($0, frame.offset) }
            }
            if let (error, offset) = problem {
                find(
                    .damaged(
                        "\(error.what) (\(error.rule)); past states need the segment",
                        segment: segment.number, offset: offset))
            }
        }
    }

    // MARK: Frames

    private mutating func take(_ item: LogSurvey.Item) {
        switch item {
        case .gap(_, let range, _):
            bytes += range.upperBound - range.lowerBound
            isBroken = true
        case .frame(let segment, let frame):
            bytes += UInt64(frame.header.frameLength)
            frames += 1
            defer { lastSegment = segment.number }
            chains[segment.number] = (frame.end, frame.header.chain)
            takeOrder(frame, segment)
            if let payload = frame.payload {
                takePayload(payload, frame, segment)
            } else if depth > .headers {
                isBroken = true
            }
            if frame.header.kind == .commit { endCommit(frame) }
        }
    }

    /// Checks that the frames of a commit are contiguous, and that commits are in order.
    private mutating func takeOrder(_ frame: FrameWalk.Frame, _ segment: SurveyedSegment) {
        let header = frame.header
        if header.kind == .start || header.kind == .close {
            if openFrames > 0, !isBroken {
                note("a commit is cut off by another frame (F-603, SG5)", segment, frame.offset)
            }
            // After retired segments, commits are missing.
            let follows =
                header.kind != .start || segment.header?.predecessor ?? 0 == lastSegment
            if follows ? header.commit != lastCommit : header.commit < lastCommit, !isBroken {
                note(
                    "a start or close frame does not bear the number of the last commit (F-603, SG3)",
                    segment, frame.offset)
            }
            if header.kind == .start, frame.offset != UInt64(SegmentHeader.size) {
                note("a start frame in the middle of a segment (F-211)", segment, frame.offset)
            }
            lastCommit = max(lastCommit, header.commit)
            forget()
            return
        }
        if openFrames == 0 {
            openStart = header.lsn
            openCommit = header.commit
            if header.commit <= lastCommit, !isBroken {
                note("commit numbers do not rise (F-602, SG3)", segment, frame.offset)
            }
        } else if header.commit != openCommit, !isBroken {
            note(
                "the frames of a commit bear different numbers (F-602, SG5)", segment, frame.offset)
        }
        openFrames += 1
    }

    private mutating func forget() {
        open = Commit()
        openFrames = 0
        isBroken = false
    }

    private mutating func endCommit(_ frame: FrameWalk.Frame) {
        lastCommit = max(lastCommit, frame.header.commit)
        open.endLSN = frame.header.lsn + UInt64(frame.header.frameLength)
        commits.append(open)
        forget()
    }

    private mutating func takePayload(
        _ payload: UnsafeRawBufferPointer, _ frame: FrameWalk.Frame, _ segment: SurveyedSegment
    ) {
        do {
            guard let kind = try frame.header.readableKind() else { return }
            try takePayload(payload, frame, segment, kind)
        } catch {
            note("\(error.what) (\(error.rule))", segment, frame.offset)
            isBroken = true
        }
    }

    private mutating func takePayload(
        _ payload: UnsafeRawBufferPointer, _ frame: FrameWalk.Frame, _ segment: SurveyedSegment,
        _ kind: FrameKind
    ) throws(FormatError) {
        if segment.role == .side,
            ![.schema, .metadata, .value, .block, .deaths, .changes, .redirects].contains(kind)
        {
            throw FormatError(
                .malformed, "F-655", "a side segment holds a frame of the log",
                found: UInt64(kind.rawValue))
        }
        switch kind {
        case .start: try raise(try StartPayload(decoding: payload).counters)
        case .close: try raise(try ClosePayload(decoding: payload).counters)
        case .schema:
            do {
                let found = try CatalogDocument.decode(payload)
                // Side segments are read first, and may hold the current schema; others that are left are
                // earlier.
                if found.version >= catalog?.version ?? 0 { catalog = found }
            } catch let error as FormatError {
                throw error
            } catch {
                throw FormatError(.malformed, "F-702", "the model in the schema frame is invalid")
            }
        case .block: try take(BlockHead(decoding: payload), frame, segment)
        case .patch:
            let patch = try PatchHead(decoding: payload)
            try take(patch.own, of: patch.base, frame, segment)
        case .deaths:
            _ = try DeathsPayload(decoding: payload)
            deathFrames.append(
                (
                    RawBytes(copying: payload), segment.number, frame.offset,
                    segment.role == .side ? -1 : commits.count
                ))
        case .commit:
            let record = try CommitPayload(decoding: payload)
            guard isBroken || record.frameCount == openFrames - 1 && record.firstLSN == openStart
            else {
                throw FormatError(
                    .malformed, "F-601, SG5",
                    "a commit frame that does not fit the frames before it",
                    expected: UInt64(openFrames - 1), found: UInt64(record.frameCount))
            }
            open.counters = record.counters
            try raise(record.counters)
        case .value: _ = try ValuePayload(decoding: payload)
        case .adopt: _ = try AdoptPayload(decoding: payload)
        case .retire: _ = try RetirePayload(decoding: payload)
        case .metadata: try takeMetadata(payload, frame, segment)
        case .changes: try takeChanges(payload, frame, segment)
        case .redirects:
            _ = try RedirectsPayload(decoding: payload)
            guard segment.header?.flags.allowsRedirects ?? true else {
                throw FormatError(
                    .malformed, "F-785",
                    "redirects in a segment that is not marked to have any")
            }
        case .reserve: break
        }
    }

    private mutating func take(
        _ head: BlockHead, of base: Place = .none, _ frame: FrameWalk.Frame,
        _ segment: SurveyedSegment
    ) throws(FormatError) {
        guard let place = Place(exactSegment: segment.number, byteOffset: frame.offset) else {
            return
        }
        guard !head.isPacked || segment.header?.flags.allowsPackedColumns ?? true else {
            throw FormatError(
                .malformed, "F-570", "a packed block in a segment that is not marked to have any")
        }
        let isSide = segment.role == .side
        if !isSide { open.blocks.append(blocks.count) }
        blocks.append(
            Block(
                place: place, entity: Int(head.entity), rows: head.rows,
                rawLength: head.rawLength, isMoved: head.isMoved, lsn: frame.header.lsn,
                isSide: isSide, patched: base))
        if isSide { open.blocks.removeAll() }
    }

    private mutating func takeChanges(
        _ payload: UnsafeRawBufferPointer, _ frame: FrameWalk.Frame, _ segment: SurveyedSegment
    ) throws(FormatError) {
        guard segment.header?.flags.allowsHistory ?? true else {
            throw FormatError(
                .malformed, "F-777", "changes in a segment that is not marked to have any")
        }
        let changes = try ChangesPayload(decoding: payload)
        guard
            segment.role == .side
                ? changes.head.commit <= frame.header.commit
                : changes.head.commit == frame.header.commit
        else {
            throw FormatError(
                .malformed, "F-775", "changes bear the number of another commit", at: 0,
                expected: frame.header.commit, found: changes.head.commit)
        }
        for entry in changes.entries where entry.operation != nil {
            guard catalog?.mayHaveBlocks(ofEntity: entry.entity) ?? true else {
                throw FormatError(
                    .malformed, "F-772", "changes of an entity that the schema lacks",
                    found: UInt64(entry.entity))
            }
        }
    }

    private mutating func takeMetadata(
        _ payload: UnsafeRawBufferPointer, _ frame: FrameWalk.Frame, _ segment: SurveyedSegment
    ) throws(FormatError) {
        let place = Place(exactSegment: segment.number, byteOffset: frame.offset) ?? .none
        let found = try StoredMetadata(payload, at: place)
        guard segment.header?.flags.allowsMetadata ?? true else {
            throw FormatError(
                .malformed, "F-755", "metadata in a segment that is not marked to have any")
        }
        guard found.asOf == nil || segment.header?.flags.allowsPastStates ?? true else {
            throw FormatError(
                .malformed, "F-797",
                "past states are kept by a segment that is not marked for it")
        }
        if segment.role == .side { return }
        guard found.revision > lastRevision else {
            throw FormatError(
                .malformed, "F-753", "the revision of the metadata does not rise",
                expected: lastRevision + 1, found: found.revision)
        }
        lastRevision = found.revision
    }

    private mutating func raise(_ raised: [TreeCounter]) throws(FormatError) {
        for counter in raised {
            let known = counters[counter.tree] ?? 1
            counters[counter.tree] = max(known, counter.next)
            guard counter.next >= known else {
                throw FormatError(
                    .malformed, "F-622, DR1", "the counter of a tree falls",
                    expected: UInt64(known), found: UInt64(counter.next))
            }
        }
    }

    // MARK: Deaths

    private mutating func resolveDeaths() {
        let rows = Dictionary(
            blocks.map { ($0.place, $0.rows) }, uniquingKeysWith: { first, _ in first })
        let live = Set(
            folder.segments.filter { $0.role == .main || $0.role == .side }.map(\.number))
        for frame in deathFrames {
            guard let payload = try? DeathsPayload(decoding: frame.payload.bytes),
                frame.commit < commits.count
            else { continue }
            for entry in payload.entries {
                guard let count = rows[entry.block] else {
                    // If the segment is gone, the death means nothing (F-614).
                    if live.contains(entry.block.segment), outline.damage.isEmpty {
                        find(
                            .damaged(
                                "a death in a block that does not exist (F-614)",
                                segment: frame.segment, offset: frame.offset))
                    }
                    continue
                }
                var slots: [UInt16] = []
                do {
                    try entry.forEachSlot(rows: count) { slots.append($0) }
                } catch {
                    find(
                        .damaged(
                            "\(error.what) (\(error.rule))", segment: frame.segment,
                            offset: frame.offset))
                    continue
                }
                if frame.commit < 0 {
                    carried.deaths.append((entry.block, slots, frame.offset, frame.segment))
                } else {
                    commits[frame.commit].deaths.append(
                        (entry.block, slots, frame.offset, frame.segment))
                }
            }
        }
        deathFrames = []
    }
}
