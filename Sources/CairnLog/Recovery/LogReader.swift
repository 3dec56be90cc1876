// Reads a store's log from its first frame to the end of its last commit.            Format 60.4
//
//   1. The segments in the folder form one chain (SegmentSearch).
//   2. Frames are read in order, each segment up to the end that its successor states. Frames of a commit
//      count when its commit frame is met.
//   3. The first failure, X, ends the log, unless something says that the log was durable beyond it: the
//      mark of a frame before or behind, or the mark file. Then it is damage.
//   4. The end is the end of the last commit, close or start frame before X. What follows is left behind.
//
// Invariants: nothing is written (RC3). RC2: a torn tail never reaches below the durable mark. What a frame
// says is believed, and judged, only when it lies below the end.
// Threads: one reader in one thread.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore

struct LogReader {
    /// What a folder holds.
    enum Outcome {
        /// No segment whose creation was finished.
        case nothing
        /// Segments without a commit: the store's creation did not finish.
        case unfinished(UnfinishedLog)
        case log(OpenedLog)
    }

    private let files: StoreFiles
    /// What the mark file said before anything else was read.
    private let mark: MarkRecord?
    /// Where to stop: a reader beside a writer goes no further than what is durable.
    private let limit: UInt64?
    private var storeID = StoreID(low: 0, high: 0)
    private var segments: [Segment] = []
    private var starts: [StartPayload] = []
    private var catalog: Catalog?
    private var blocks: [LoggedBlock] = []
    private var deaths: [(place: Place, slots: [UInt16])] = []
    private var counters: [UInt32: UInt32] = [:]
    private var report = RecoveryReport()
    private var end = LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)
    private var commit: UInt64 = 0
    private var durable: UInt64 = 0

    // The commit whose frames are being read.
    private var openBlocks: [LoggedBlock] = []
    private var openDeaths: [(place: Place, slots: [UInt16])] = []
    private var openCatalog: Catalog?
    private var openFrames: UInt32 = 0
    private var openStart: UInt64?
    private var openCommit: UInt64 = 0
    /// What is wrong with a frame of it; nobody's business as long as the commit does not count.
    private var openFailure: StoreError?
    private var rowsOfBlock: [Place: Int] = [:]

    /// The pages that the state of a checkpoint may be put in; nil if none is to be used.
    private let pool: PagePool?
    private var restored: RestoredState?
    private var commitOffset: UInt64 = 0
    private var commitEnd = LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)

    init(_ files: StoreFiles, mark: MarkRecord?, limit: UInt64?, pool: PagePool? = nil) {
        self.files = files
        self.mark = mark
        self.limit = limit
        self.pool = pool
    }

    /// Reads the log.
    mutating func read() throws(StoreError) -> Outcome {
        var search = SegmentSearch(files)
        let found = try search.run()
        guard let first = found.first else {
            // The mark is written when the creation is finished, so there was a log once.
            guard let mark else { return .nothing }
            throw .damaged("segment \(mark.segment) is missing (F-216)", segment: mark.segment)
        }
        storeID = first.segment.header.store
        if let mark, mark.store == storeID { durable = mark.lsn }
        segments = found.map(\.segment)
        starts = found.map(\.start)
        for (segment, successor) in zip(segments, segments.dropFirst()) {
            segment.seal(
                at: successor.header.predecessorEnd, chain: successor.header.predecessorChain)
        }
        if let pool {
            restored = CheckpointReader.newest(
                files, segments: segments, storeID: storeID, limit: limit, pool: pool)
        }
        if let restored { begin(with: restored) }
        try readSegments(found)
        let last = segments.firstIndex { $0.number == end.segment } ?? 0
        let abandoned = segments[(last + 1)...].map(\.number)
        segments.removeSubrange((last + 1)...)
        guard let catalog else {
            return .unfinished(
                UnfinishedLog(
                    storeID: storeID, segments: segments, abandoned: abandoned, end: end))
        }
        return .log(
            OpenedLog(
                files: files, storeID: storeID, segments: segments, abandoned: abandoned,
                catalog: catalog, end: end, durable: min(durable, end.lsn), commit: commit,
                commitOffset: commitOffset, commitEnd: commitEnd, base: restored?.state,
                hashSeed: restored?.hashSeed,
                checkpointBytes: restored?.bytes ?? 0, pool: pool ?? PagePool(), counters: counters,
                blocks: blocks, deaths: deaths, report: report))
    }

    /// Everything up to the end of a checkpoint's commit is taken as read.
    private mutating func begin(with restored: RestoredState) {
        let state = restored.state
        catalog = state.catalog
        commit = state.commit
        commitOffset = state.commitOffset
        commitEnd = state.commitEnd
        end = state.commitEnd
        for (index, tree) in state.catalog.trees.enumerated() {
            counters[tree.id] = max(state.nextNumbers[index], state.reserved[index])
        }
        durable = max(durable, end.lsn)
        report.checkpoint = state.commit
        report.wasClosed = false
        report.lastCommitTime = restored.time
        report.lastAuthor = restored.author.isEmpty ? nil : restored.author
    }

    private mutating func readSegments(_ found: [FoundSegment]) throws(StoreError) {
        let first = restored.map { $0.state.commitEnd.segment } ?? 0
        for index in found.indices where segments[index].number >= first {
            let next = index + 1 < found.count ? found[index + 1].segment.header : nil
            var scanner = try FrameScanner(
                segments[index], chain: found[index].chain, storeTag: storeID.tag,
                end: next?.predecessorEnd)
            if let restored, segments[index].number == first {
                scanner.skip(to: restored.state.commitEnd)
            }
            guard try readFrames(&scanner, segments[index]) else { return endAtLimit() }
            guard let next else {
                try judgeTail(index, scanner.position, scanner.failure)
                return
            }
            if scanner.failure != nil {
                try judgeTail(index, scanner.position, scanner.failure)
                return
            }
            guard end.offset == next.predecessorEnd, end.chain == next.predecessorChain else {
                throw .damaged(
                    "the segment does not end as its successor says (F-216)",
                    segment: segments[index].number, offset: next.predecessorEnd)
            }
            segments[index].seal(at: end.offset, chain: end.chain)
        }
    }

    /// Reads the frames of a segment; false if the limit was met.
    private mutating func readFrames(_ scanner: inout FrameScanner, _ segment: Segment)
        throws(StoreError) -> Bool
    {
        while let (header, payload) = try scanner.next() {
            if let limit, header.lsn + UInt64(header.frameLength) > limit { return false }
            durable = max(durable, header.mark)
            report.frames += 1
            let offset = header.lsn - segment.baseLSN
            do {
                try take(header, payload, segment)
            } catch let error as FormatError {
                try fail(StoreError(error, segment, offset), header)
            } catch let error as StoreError {
                try fail(error, header)
            } catch {
                preconditionFailure("a frame gives format and store errors alone: \(error)")
            }
        }
        return true
    }

    /// What is wrong with a frame matters once the frame counts: at once if it stands by itself.
    private mutating func fail(_ error: StoreError, _ header: FrameHeader) throws(StoreError) {
        guard let kind = header.kind, kind == .commit || kind == .start || kind == .close else {
            if openFailure == nil { openFailure = error }
            countFrame(header)
            return
        }
        throw error
    }

    // MARK: The end

    /// A reader beside a writer cannot tell what lies behind the limit.
    private mutating func endAtLimit() {
        report.wasClosed = false
    }

    /// Decides whether what ends the log is a torn tail or damage.
    private mutating func judgeTail(_ index: Int, _ position: UInt64, _ failure: FormatError?)
        throws(StoreError)
    {
        let segment = segments[index]
        let firstBad = segment.baseLSN + position
        if let limit, firstBad >= limit { return endAtLimit() }
        for later in segments[index...] {
            let start = later === segment ? position : UInt64(SegmentHeader.size)
            var search = HeaderSearch(later.file, from: start)
            while let (header, offset) = try search.next() {
                guard header.segment == later.number, header.storeTag == storeID.tag,
                    header.lsn == later.baseLSN + offset
                else { continue }
                durable = max(durable, header.mark)
            }
        }
        guard firstBad >= durable else {
            throw .damaged(
                "\(failure?.what ?? "the log ends"), though it was durable up to byte \(durable - segment.baseLSN) (\(failure?.rule ?? "F-303"))",
                segment: segment.number, offset: position)
        }
        for later in segments[index...] {
            let start = later === segment ? end.offset : 0
            report.bytesLeftBehind += try TailMeasure.bytes(of: later.file, from: start)
        }
        do {
            let isAtEnd = try segment.file.size() == end.offset
            if !isAtEnd || index + 1 < segments.count { report.wasClosed = false }
        } catch {
            throw StoreError(error)
        }
    }

    // MARK: Frames

    private mutating func take(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        let offset = header.lsn - segment.baseLSN
        guard let kind = try header.readableKind() else { return countFrame(header) }
        let place = Place(segment: segment.number, byteOffset: Int(offset))
        switch kind {
        case .start:
            try takeStart(header, payload, segment)
            return
        case .schema:
            openCatalog = try CatalogDocument.decode(payload).placed(at: place)
        case .block:
            let head = try BlockHead(decoding: payload)
            guard let entity = (openCatalog ?? catalog)?.entityIndex(id: head.entity) else {
                throw StoreError.damaged(
                    "a block of an entity that the schema lacks", segment: segment.number,
                    offset: offset)
            }
            openBlocks.append(
                LoggedBlock(
                    place: place, entity: entity, rows: head.rows,
                    rawLength: head.rawLength, schemaVersion: head.schemaVersion,
                    commit: header.commit))
            rowsOfBlock[place] = head.rows
        case .deaths: try takeDeaths(payload, segment, offset)
        case .value: _ = try ValuePayload(decoding: payload)
        case .commit:
            try takeCommit(header, payload, segment)
            return
        case .close:
            let close = try ClosePayload(decoding: payload)
            try checkBetweenCommits(header)
            try raise(close.counters)
            finishFrame(header, segment, isClose: true)
            return
        case .patch, .changes, .reserve, .adopt, .retire, .metadata:
            preconditionFailure("version 0 does not define these kinds")
        }
        countFrame(header)
    }

    private mutating func takeStart(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        guard header.lsn == segment.baseLSN + UInt64(SegmentHeader.size) else {
            throw FormatError(.malformed, "F-211", "a start frame in the middle of a segment")
        }
        let start = try StartPayload(decoding: payload)
        try checkBetweenCommits(header)
        guard start.schema == catalog?.place ?? .none,
            start.schemaVersion == catalog?.version ?? 0
        else {
            throw FormatError(.malformed, "F-217", "the start frame names another schema")
        }
        try raise(start.counters)
        finishFrame(header, segment, isClose: false)
    }

    /// A start or close frame stands between commits and bears the number of the last one.
    private func checkBetweenCommits(_ header: FrameHeader) throws(FormatError) {
        guard openStart == nil, header.commit == commit else {
            throw FormatError(
                .malformed, "F-603", "a start or close frame stands between commits",
                expected: commit, found: header.commit)
        }
    }

    /// Numbers that were issued stay issued.
    private mutating func raise(_ raised: [TreeCounter]) throws(FormatError) {
        for counter in raised {
            guard counter.next >= counters[counter.tree] ?? 1 else {
                throw FormatError(
                    .malformed, "F-622", "the counter of a tree falls",
                    expected: counters[counter.tree].map { UInt64($0) }, found: UInt64(counter.next)
                )
            }
            counters[counter.tree] = counter.next
        }
    }

    private mutating func countFrame(_ header: FrameHeader) {
        if openStart == nil {
            openStart = header.lsn
            openCommit = header.commit
        }
        if header.commit != openCommit, openFailure == nil {
            openFailure = .damaged(
                "the frames of a commit bear different numbers (F-602)", segment: header.segment)
        }
        openFrames += 1
    }

    private mutating func takeDeaths(
        _ payload: UnsafeRawBufferPointer, _ segment: Segment, _ offset: UInt64
    ) throws {
        for entry in try DeathsPayload(decoding: payload).entries {
            if entry.form == .entity {
                guard let catalog = openCatalog ?? catalog,
                    let entity = catalog.entityIndex(id: entry.entity)
                else {
                    throw StoreError.damaged(
                        "the death of an entity that the schema lacks", segment: segment.number,
                        offset: offset)
                }
                // All rows of earlier commits; that some are dead already means nothing (F-615).
                if let state = restored?.state {
                    var handle = state.blocks.first(ofEntity: entity)
                    while handle != .none {
                        let block = state.blocks.entry(handle)
                        openDeaths.append((block.place, (0..<block.rows).map { $0 }))
                        handle = state.blocks.next(after: block)
                    }
                }
                for block in blocks where block.entity == entity {
                    openDeaths.append((block.place, (0..<block.rows).map { UInt16($0) }))
                }
                continue
            }
            guard let rows = rowsOfBlock[entry.block] ?? rowsInBase(entry.block) else {
                throw StoreError.damaged(
                    "a death in a block that is not there", segment: segment.number, offset: offset)
            }
            var slots: [UInt16] = []
            try entry.forEachSlot(rows: rows) { slots.append($0) }
            openDeaths.append((entry.block, slots))
        }
    }

    /// The rows of a block that the checkpoint knows. One that it does not know had no live row any more: then
    /// the block itself says how many it has.
    private mutating func rowsInBase(_ place: Place) -> Int? {
        guard let restored, let segment = segments.first(where: { $0.number == place.segment }),
            segment.baseLSN + UInt64(place.byteOffset) < restored.state.commitEnd.lsn,
            let payload = try? segment.payload(
                at: UInt64(place.byteOffset), kind: .block, storeTag: storeID.tag),
            let head = try? BlockHead(decoding: payload.bytes)
        else { return nil }
        rowsOfBlock[place] = head.rows
        return head.rows
    }

    private mutating func takeCommit(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        if let openFailure { throw openFailure }
        let record = try CommitPayload(decoding: payload)
        guard record.frameCount == openFrames, record.firstLSN == openStart ?? header.lsn else {
            throw FormatError(
                .malformed, "F-601", "a commit frame that does not fit the frames before it",
                expected: UInt64(openFrames), found: UInt64(record.frameCount))
        }
        guard header.commit == (openStart == nil ? header.commit : openCommit),
            header.commit > commit, header.commit < Self.maximumCommit
        else {
            throw FormatError(
                .malformed, "F-602", "commit numbers rise", found: header.commit)
        }
        guard catalog != nil || openCatalog != nil else {
            throw FormatError(.malformed, "F-602", "the first commit holds the schema")
        }
        blocks.append(contentsOf: openBlocks)
        deaths.append(contentsOf: openDeaths)
        if let openCatalog { catalog = openCatalog }
        try raise(record.counters)
        commit = header.commit
        commitOffset = header.lsn - segment.baseLSN
        report.commits += 1
        report.lastCommitTime = record.time
        report.lastAuthor = record.author.isEmpty ? nil : record.author
        openBlocks.removeAll(keepingCapacity: true)
        openDeaths.removeAll(keepingCapacity: true)
        openCatalog = nil
        finishFrame(header, segment, isClose: false)
        commitEnd = end
    }

    /// No store lives to see this; adding to it must not trap.
    private static let maximumCommit: UInt64 = 1 << 62

    /// A frame that ends a commit, or stands by itself: the log may end behind it.
    private mutating func finishFrame(_ header: FrameHeader, _ segment: Segment, isClose: Bool) {
        openFrames = 0
        openStart = nil
        let lsn = header.lsn + UInt64(header.frameLength)
        end = LogEnd(
            segment: segment.number, offset: lsn - segment.baseLSN, lsn: lsn, chain: header.chain)
        report.wasClosed = isClose
    }
}

extension StoreError {
    /// A frame that is whole and says what it must not say, or what this version cannot read.
    fileprivate init(_ error: FormatError, _ segment: Segment, _ offset: UInt64) {
        if error.code == .unsupportedVersion || error.code == .unsupportedFeature {
            self.init(
                .openFailed, "\(error.what): \(error.found ?? 0) (\(error.rule))",
                context: .init(
                    path: "\(segment.file.path)", segment: segment.number, offset: offset))
        } else {
            self = .damaged(
                "\(error.what) (\(error.rule))", segment: segment.number, offset: offset)
        }
    }
}
