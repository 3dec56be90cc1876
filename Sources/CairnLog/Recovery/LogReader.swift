// Reads a store's log from its first frame to the end of its last commit.            Format 60.4
//
//   1. The newest main segment says which segments make up the store (SegmentSearch).
//   2. What side segments hold is read first, as far as that segment's start frame has it; then the frames of
//      the main segments in order, each up to the end that is stated for it. Frames of a commit count when its
//      commit frame is met; what a commit adopts is read as if it stood there.
//   3. The first failure, X, ends the log, unless something says that the log was durable beyond it: the
//      mark of a frame before or behind, or the mark file. Then it is damage.
//   4. The end is the end of the last commit, close or start frame before X. What follows is left behind.
//
// With a checkpoint, everything up to the end of its commit is taken as read. The same with a state that readers
// have, when the log of a writer is followed.
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
    private var limit: UInt64?
    private var storeID = StoreID(low: 0, high: 0)
    private var found = FoundLog()
    private var live = LiveSet()
    private var catalog: Catalog?
    /// Whether the schema was taken from the newest start frame: those of older segments mean nothing then.
    private var hasNewestSchema = false
    /// Deaths in side segments, which may name blocks that are read later.
    private var lateDeaths: [(payload: RawBytes, segment: Segment, offset: UInt64)] = []
    /// Segments that are gone, as they were retired later.
    private var gone: Set<UInt32> = []
    /// What the newest segment adopts, if segments are gone.
    private var adoptedLater: [AdoptPayload.Part] = []
    /// The largest number of a segment that was seen.
    private var lastSegment: UInt32 = 0
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
    private var openLive: LiveSet?
    private var openFrames: UInt32 = 0
    private var openStart: UInt64?
    private var openCommit: UInt64 = 0
    /// What is wrong with a frame of it; nobody's business as long as the commit does not count.
    private var openFailure: StoreError?
    private var rowsOfBlock: [Place: Int] = [:]

    /// The pages that the state of a checkpoint may be put in; nil if none is to be used.
    private let pool: PagePool?
    /// The commit of the only checkpoint that may be used; nil: the newest one that can be.
    private let checkpoint: UInt64?
    /// What makes up for damaged parts of a checkpoint, if parts may be read later.
    private let rebuild: CheckpointImage.Rebuild?
    /// Who is told how far it is.
    private var monitor: RecoveryMonitor?
    private var restored: RestoredState?
    /// Where the log ends in its last segment, for whoever follows a writer.
    private var followedEnd: UInt64?
    private var commitOffset: UInt64 = 0
    private var commitEnd = LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)

    init(
        _ files: StoreFiles, mark: MarkRecord?, limit: UInt64?, pool: PagePool? = nil,
        checkpoint: UInt64? = nil, rebuild: CheckpointImage.Rebuild? = nil,
        monitor: RecoveryMonitor? = nil
    ) {
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

    /// Goes on from a state up to a mark, through segments that were found to lead there.
    init(_ files: StoreFiles, from state: EngineState, _ found: FoundLog, to mark: MarkRecord) {
        self.init(files, mark: mark, limit: mark.lsn)
        storeID = mark.store
        self.found = found
        let base = found.mains.last.map(\.segment.baseLSN) ?? 0
        followedEnd = mark.lsn - min(base, mark.lsn)
        restored = RestoredState(
            state: state, image: nil, hashSeed: state.hashSeed, bytes: 0,
            lastSegment: found.mains.last?.segment.number ?? 0, time: 0, author: "")
    }

    /// Reads what follows the state. Whatever is not as expected is damage here; what it really is a reading of the
    /// whole log says.
    mutating func goOn() throws(StoreError) -> OpenedLog {
        guard let restored, let mark else {
            preconditionFailure("whoever goes on has a state to go on from")
        }
        begin(with: restored)
        try readSegments()
        guard case .log(let log) = try finish(), log.end.lsn == mark.lsn,
            log.end.chain == mark.chain
        else {
            throw .damaged("the log does not lead to the mark", segment: mark.segment)
        }
        return log
    }

    /// Reads the log.
    mutating func read() throws(StoreError) -> Outcome {
        let isUnfinishedCopy = mark?.role == .unfinishedCopy
        if isUnfinishedCopy, mark?.lsn == 0 {
            throw StoreError(
                .openFailed, "the folder holds a backup that was not finished (F-220)",
                context: .init(path: "\(files.folder)"))
        }
        var search = SegmentSearch(files, lastMain: isUnfinishedCopy ? mark?.segment : nil)
        found = try search.run()
        guard let newest = found.mains.last else {
            // The mark is written when the creation is finished, so there was a log once.
            guard let mark else { return .nothing }
            throw .damaged("segment \(mark.segment) is missing (F-216)", segment: mark.segment)
        }
        storeID = newest.segment.header.store
        // A segment is begun when everything before it is durable; its start frame sums all of that up.
        limit = limit.map { max($0, newest.startEnd) }
        if let mark, mark.store == storeID { durable = mark.lsn }
        try judgeMissing(newest)
        try SegmentSearch.check(found.mains)
        if let pool {
            restored = CheckpointReader.newest(
                files, found: found, storeID: storeID, limit: limit, only: checkpoint,
                pool: pool, rebuild: rebuild)
        }
        if let restored { begin(with: restored) } else { try begin(with: newest) }
        try readSegments()
        return try finish()
    }

    /// What was read, now that the end is known.
    private mutating func finish() throws(StoreError) -> Outcome {
        // What is left of a commit without its end does not count.
        openDeaths = []
        openLive = nil
        for late in lateDeaths {
            do {
                try takeDeaths(late.payload.bytes, late.segment, late.offset)
            } catch let error as FormatError {
                throw StoreError(error, late.segment, late.offset)
            } catch let error as StoreError {
                throw error
            } catch {
                preconditionFailure("deaths give format and store errors alone: \(error)")
            }
        }
        deaths.append(contentsOf: openDeaths)
        live.removeMains(above: end.segment)
        guard let catalog else {
            return .unfinished(
                UnfinishedLog(storeID: storeID, segments: live.mains, end: end))
        }
        let base = restored?.state
        let last = end.segment
        let needless = found.numbers.filter {
            ($0 > last || found.whole[$0] != nil || found.unfinished.contains($0))
                && live[$0] == nil && base?.segments[$0] == nil
        }
        return .log(
            OpenedLog(
                files: files, storeID: storeID, segments: live,
                lastSegment: max(lastSegment, found.numbers.last ?? 0),
                needless: Set(needless), readable: (base?.segments.all ?? []) + live.all,
                catalog: catalog, end: end,
                durable: min(durable, end.lsn), commit: commit, commitOffset: commitOffset,
                commitEnd: commitEnd, base: base,
                image: restored?.image, hashSeed: restored?.hashSeed,
                checkpointBytes: restored?.bytes ?? 0, pool: pool ?? PagePool(), counters: counters,
                blocks: blocks, deaths: deaths, lacksRetired: !gone.isEmpty, report: report))
    }

    /// Everything up to the end of a checkpoint's commit is taken as read.
    private mutating func begin(with restored: RestoredState) {
        let state = restored.state
        live = state.segments
        // One that was begun and has no commit yet is read again.
        live.removeMains(above: state.commitEnd.segment)
        lastSegment = restored.lastSegment
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

    /// A member of the live set may be gone if it was retired behind the start frame that lists it.
    private mutating func judgeMissing(_ newest: FoundSegment) throws(StoreError) {
        guard !found.missing.isEmpty else { return }
        let later = try LaterChanges(newest, limit: limit)
        for (number, error) in found.missing.sorted(by: { $0.key > $1.key }) {
            guard later.retired.contains(number) else { throw error }
            gone.insert(number)
        }
        adoptedLater = later.adopted
    }

    /// Begins with what the newest start frame says: the schema in force, and side segments.
    private mutating func begin(with newest: FoundSegment) throws(StoreError) {
        live = LiveSet(mains: found.mains.map(\.segment))
        let members = newest.start.live.filter { $0.kind == .side && !gone.contains($0.number) }
        if !newest.start.schema.isNone {
            catalog = try schema(of: newest)
            hasNewestSchema = true
        }
        for member in members {
            guard let side = found.whole[member.number] else { continue }
            try readSide(
                AdoptPayload.Part(
                    segment: member.number, start: UInt64(SegmentHeader.size), end: member.end,
                    startChain: side.chain, endChain: member.chain))
            live.adopt(side.segment, end: member.end, chain: member.chain)
        }
        blocks.append(contentsOf: openBlocks)
        openBlocks.removeAll(keepingCapacity: true)
    }

    /// The schema that a start frame names. If its segment is gone, compaction has written it once more.
    private func schema(of newest: FoundSegment) throws(StoreError) -> Catalog {
        let place = newest.start.schema
        let known: Catalog?
        if gone.contains(place.segment) {
            known = try replacedSchema()
        } else if let segment = found.whole[place.segment]?.segment {
            known = try Self.schema(at: place, in: segment)
        } else {
            known = nil
        }
        guard let known, known.version == newest.start.schemaVersion else {
            throw .damaged(
                "the start frame names a schema that is not there (F-217)",
                segment: newest.segment.number, offset: UInt64(SegmentHeader.size))
        }
        return known
    }

    private static func schema(at place: Place, in segment: Segment) throws(StoreError) -> Catalog {
        let offset = UInt64(place.byteOffset)
        let payload = try segment.payload(
            at: offset, kind: .schema, storeTag: segment.header.store.tag)
        do {
            return try CatalogDocument.decode(payload.bytes).placed(at: place)
        } catch let error as FormatError {
            throw StoreError(error, segment, offset)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("a schema gives format and store errors alone: \(error)")
        }
    }

    private func replacedSchema() throws(StoreError) -> Catalog? {
        for part in adoptedLater.reversed() {
            guard let side = found.whole[part.segment] else { continue }
            var scanner = try FrameScanner(
                side.segment, chain: side.chain, storeTag: storeID.tag, end: part.end)
            scanner.skip(
                to: LogEnd(
                    segment: part.segment, offset: part.start, lsn: part.start,
                    chain: part.startChain))
            while let (header, _) = try scanner.next() {
                guard header.kind == .schema else { continue }
                return try Self.schema(
                    at: Place(segment: part.segment, byteOffset: Int(header.lsn)), in: side.segment)
            }
        }
        return nil
    }

    private mutating func readSegments() throws(StoreError) {
        let first = restored.map { $0.state.commitEnd.segment } ?? 0
        let bytes = bytesToRead(from: first)
        try monitor?.begin(bytes)
        for (index, main) in found.mains.enumerated() where main.segment.number >= first {
            let segment = main.segment
            if restored != nil, segment.number > first { live.begin(segment) }
            let isLast = index + 1 == found.mains.count
            var scanner = try FrameScanner(
                segment, chain: main.chain, storeTag: storeID.tag,
                end: isLast ? followedEnd : segment.knownEnd)
            if let restored, segment.number == first {
                scanner.skip(to: restored.state.commitEnd)
            }
            guard try readFrames(&scanner, segment) else { return try endAtLimit() }
            if isLast || scanner.failure != nil {
                return try judgeTail(index, scanner.position, scanner.failure)
            }
            guard end.segment == segment.number, end.offset == segment.knownEnd,
                end.chain == segment.sealedChain
            else {
                throw .damaged(
                    "the segment does not end as its successor says (F-216)",
                    segment: segment.number, offset: segment.knownEnd)
            }
        }
    }

    /// Bytes of the main segments from one on, behind the checkpoint.
    private func bytesToRead(from first: UInt32) -> UInt64 {
        var bytes: UInt64 = 0
        for main in found.mains where main.segment.number >= first {
            bytes += main.segment.knownEnd ?? (try? main.segment.file.size()) ?? 0
        }
        return bytes - min(bytes, restored?.state.commitEnd.offset ?? 0)
    }

    /// Reads the frames of a segment; false if the limit was met.
    private mutating func readFrames(_ scanner: inout FrameScanner, _ segment: Segment)
        throws(StoreError) -> Bool
    {
        while let (header, payload) = try scanner.next() {
            if let limit, header.lsn + UInt64(header.frameLength) > limit { return false }
            durable = max(durable, header.mark)
            report.frames += 1
            try monitor?.advance(header.frameLength)
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

    // MARK: Live set

    /// Whether adopt and retire frames of a main segment say something that is not known already: those of
    /// segments before the newest one are summed up in its start frame.
    private func counts(_ segment: Segment) -> Bool {
        restored != nil || segment.number == found.mains.last?.segment.number
    }

    private mutating func take(_ adopt: AdoptPayload, _ segment: Segment, _ offset: UInt64) throws {
        for part in adopt.parts {
            lastSegment = max(lastSegment, part.segment)
            if followedEnd != nil, found.whole[part.segment] == nil {
                var search = SegmentSearch(files)
                found.whole[part.segment] = try search.whole(part.segment)
            }
            if gone.contains(part.segment) { continue }
            guard let side = found.whole[part.segment], side.segment.header.kind == .side else {
                if let newest = found.mains.last, restored == nil,
                    try LaterChanges(newest, limit: limit).retired.contains(part.segment)
                {
                    gone.insert(part.segment)
                    continue
                }
                throw found.notWhole[part.segment]
                    ?? .damaged(
                        "side segment \(part.segment) is missing (F-652)", segment: part.segment)
            }
            let set = openLive ?? live
            let before = set.sides.first { $0.segment.number == part.segment }
            guard part.start == before?.end ?? UInt64(SegmentHeader.size),
                part.startChain == before?.chain ?? side.chain
            else {
                throw StoreError.damaged(
                    "a part of side segment \(part.segment) does not follow the one before (F-652)",
                    segment: segment.number, offset: offset)
            }
            try readSide(part, isInCommit: true)
            openLive = set
            openLive?.adopt(side.segment, end: part.end, chain: part.endChain)
        }
    }

    private mutating func take(_ retire: RetirePayload, _ segment: Segment, _ offset: UInt64)
        throws(StoreError)
    {
        var set = openLive ?? live
        for number in retire.segments {
            lastSegment = max(lastSegment, number)
            guard number != segment.number, set[number] != nil || gone.contains(number) else {
                throw .damaged(
                    "segment \(number) is retired, and is no part of the store (F-654)",
                    segment: segment.number, offset: offset)
            }
        }
        set.retire(retire.segments)
        openLive = set
    }

    /// Reads a part of a side segment: all of it must be whole, as it was durable before it was adopted.
    private mutating func readSide(_ part: AdoptPayload.Part, isInCommit: Bool = false)
        throws(StoreError)
    {
        guard let side = found.whole[part.segment] else {
            preconditionFailure("whoever reads a side segment has looked for it")
        }
        let segment = side.segment
        var scanner = try FrameScanner(
            segment, chain: side.chain, storeTag: storeID.tag, end: part.end)
        scanner.skip(
            to: LogEnd(
                segment: part.segment, offset: part.start, lsn: part.start, chain: part.startChain))
        while let (header, payload) = try scanner.next() {
            report.frames += 1
            do {
                switch try header.readableKind() {
                case .block: try takeBlock(header, payload, segment)
                case .value: _ = try ValuePayload(decoding: payload)
                case .deaths where isInCommit: try takeDeaths(payload, segment, header.lsn)
                case .deaths:
                    lateDeaths.append((RawBytes(copying: payload), segment, header.lsn))
                case .schema where isInCommit:
                    openCatalog = try CatalogDocument.decode(payload)
                        .placed(at: Place(segment: part.segment, byteOffset: Int(header.lsn)))
                case .schema, nil: break
                default:
                    throw FormatError(
                        .malformed, "F-655", "a side segment holds a frame of the log",
                        found: UInt64(header.rawKind))
                }
            } catch let error as FormatError {
                throw StoreError(error, segment, header.lsn)
            } catch let error as StoreError {
                throw error
            } catch {
                preconditionFailure("a frame gives format and store errors alone: \(error)")
            }
        }
        guard scanner.position == part.end, scanner.expected.chain == part.endChain else {
            let failure = scanner.failure
            throw .damaged(
                "\(failure?.what ?? "the adopted part ends elsewhere") (\(failure?.rule ?? "F-652"))",
                segment: part.segment, offset: scanner.position)
        }
    }

    // MARK: The end

    /// A reader beside a writer cannot tell what lies behind the limit. In a copy that was not finished it means
    /// nothing.
    private mutating func endAtLimit() throws(StoreError) {
        report.wasClosed = false
        guard mark?.role == .unfinishedCopy, let last = found.whole[end.segment]?.segment else {
            return
        }
        report.bytesLeftBehind = try TailMeasure.bytes(of: last.file, from: end.offset)
    }

    /// Decides whether what ends the log is a torn tail or damage.
    private mutating func judgeTail(_ index: Int, _ position: UInt64, _ failure: FormatError?)
        throws(StoreError)
    {
        let segments = found.mains[index...].map(\.segment)
        let segment = segments[0]
        let firstBad = segment.baseLSN + position
        if let limit, firstBad >= limit { return try endAtLimit() }
        for later in segments {
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
        for later in segments {
            let start = later === segment ? end.offset : 0
            report.bytesLeftBehind += try TailMeasure.bytes(of: later.file, from: start)
        }
        do {
            let isAtEnd = try segment.file.size() == end.offset
            if !isAtEnd || segments.count > 1 { report.wasClosed = false }
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
            if counts(segment) || !hasNewestSchema {
                openCatalog = try CatalogDocument.decode(payload).placed(at: place)
            }
        case .block: try takeBlock(header, payload, segment)
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
        case .adopt:
            let adopt = try AdoptPayload(decoding: payload)
            if counts(segment) { try take(adopt, segment, offset) }
        case .retire:
            let retire = try RetirePayload(decoding: payload)
            if counts(segment) { try take(retire, segment, offset) }
        case .patch, .changes, .reserve, .metadata:
            preconditionFailure("version 0 does not define these kinds")
        }
        countFrame(header)
    }

    private mutating func takeBlock(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        let offset = header.lsn - segment.baseLSN
        let head = try BlockHead(decoding: payload)
        guard let entity = (openCatalog ?? catalog)?.entityIndex(id: head.entity) else {
            throw StoreError.damaged(
                "a block of an entity that the schema lacks", segment: segment.number,
                offset: offset)
        }
        let place = Place(segment: segment.number, byteOffset: Int(offset))
        openBlocks.append(
            LoggedBlock(
                place: place, entity: entity, rows: head.rows, length: header.frameLength,
                rawLength: head.rawLength, hasReferences: head.hasReferences,
                schemaVersion: head.schemaVersion, commit: header.commit))
        rowsOfBlock[place] = head.rows
    }

    private mutating func takeStart(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        guard header.lsn == segment.baseLSN + UInt64(SegmentHeader.size) else {
            throw FormatError(.malformed, "F-211", "a start frame in the middle of a segment")
        }
        let start = try StartPayload(decoding: payload)
        if segment.header.predecessor != end.segment {
            // Those between have been retired, and their commits with them.
            guard header.commit >= commit, openStart == nil else {
                throw FormatError(
                    .malformed, "F-603", "a start frame bears the number of the last commit",
                    expected: commit, found: header.commit)
            }
            commit = header.commit
        }
        try checkBetweenCommits(header)
        if counts(segment) || !hasNewestSchema {
            guard
                gone.contains(start.schema.segment)
                    || start.schema == catalog?.place ?? .none,
                start.schemaVersion == catalog?.version ?? 0
            else {
                throw FormatError(
                    .malformed, "F-217", "the start frame names another schema")
            }
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
            guard let rows = rowsOfBlock[entry.block] ?? rowsInBase(entry.block) else {
                // In a segment that is no part of the store any more it means nothing.
                if (openLive ?? live)[entry.block.segment] == nil { continue }
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
        guard let base = restored?.state, let segment = base.segments[place.segment],
            UInt64(place.byteOffset) < base.end(of: segment),
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
        if let openLive { live = openLive }
        try raise(record.counters)
        commit = header.commit
        commitOffset = header.lsn - segment.baseLSN
        report.commits += 1
        report.lastCommitTime = record.time
        report.lastAuthor = record.author.isEmpty ? nil : record.author
        openBlocks.removeAll(keepingCapacity: true)
        openDeaths.removeAll(keepingCapacity: true)
        openCatalog = nil
        openLive = nil
        finishFrame(header, segment, isClose: false)
        commitEnd = end
    }

    /// No store lives to see this; adding to it must not trap.
    private static let maximumCommit: UInt64 = FormatLimits.maximumLSN

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
