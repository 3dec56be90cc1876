// The contents of a log's frames, as far as they count.                              Format 60.4, 65
//
// Frames are processed in order. Those of a commit count when its commit frame is reached; what a commit
// adopts is read as if it were there. What side segments contain when the newest segment begins is read
// before everything else, except for their deaths: these may name blocks that are read later.
//
// Invariants: the content of a frame is trusted, and validated, only when it counts.                    F-641
// Threads: one reader in one thread.

import CairnFormat
import CairnStore

/// A death list, by the position of its block.
typealias LoggedDeath = (place: Place, slots: [UInt16])

struct LogContent {
    let storeID: StoreID
    /// The state to continue from, of a checkpoint or of readers.
    private let base: EngineState?
    /// The block cache of a process that follows the log.
    private let cache: BlockCache?
    /// How many more bytes of small blocks are kept, so that they are not reread.
    private var bytesToKeep: Int
    /// The newest main segment; nil: adopt and retire frames of all segments count, not only its own.
    private let newest: UInt32?
    private(set) var members: LiveMembers
    /// The live set after the last whole commit.
    var live = LiveSet()
    private(set) var catalog: Catalog?
    /// The metadata in force.                                                            F-753
    private var metadata: StoredMetadata?
    /// Whether the schema was taken from the newest start frame: those of older segments are ignored then.
    private var hasNewestSchema = false
    /// The blocks and deaths of whole commits.
    private(set) var blocks: [LoggedBlock] = []
    private(set) var deaths: [LoggedDeath] = []
    /// The places of changes for the history; of duplicates, the later ones count.
    private(set) var history: [LoggedChanges] = []
    /// The redirects of whole commits, those in force.
    private(set) var redirects: [RedirectTable.Key: RedirectTable.Entry] = [:]
    private var lateDeaths: [(payload: RawBytes, segment: Segment, offset: UInt64)] = []
    private var rowsOfBlock: [Place: Int] = [:]
    private var open = OpenCommit()
    /// The next number of each tree as of the last commit.
    private(set) var counters: [UInt32: UInt32] = [:]
    /// The next numbers in start and close frames after it: failed commits have used up numbers.
    private var raised: [UInt32: UInt32] = [:]
    /// The largest segment number encountered.
    private(set) var lastSegment: UInt32 = 0
    private(set) var end = LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)
    private(set) var commit: UInt64 = 0
    private(set) var commitOffset: UInt64 = 0
    private(set) var commitEnd = LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)
    /// The bytes read from side segments.
    private(set) var sideBytes: UInt64 = 0
    var report = RecoveryReport()

    /// The maximum bytes of blocks that are kept, and of one of them.
    private static let mostBytesKept = 4 << 20
    private static let mostBytesOfOneKept = 4 << 10

    // MARK: Beginning

    /// Continues from a state: everything up to the end of its commit counts as read.
    ///
    /// - Parameter cache: the block cache of a process that follows the log.
    init(
        _ storeID: StoreID, after restored: RestoredState, members: LiveMembers,
        cache: BlockCache? = nil
    ) {
        let state = restored.state
        self.cache = cache
        bytesToKeep = cache == nil ? 0 : Self.mostBytesKept
        self.storeID = storeID
        self.members = members
        base = state
        newest = nil
        live = state.segments
        // A segment that was started and has no commit yet is reread.
        live.removeMains(above: state.commitEnd.segment)
        lastSegment = restored.lastSegment
        catalog = state.catalog
        metadata = state.catalog.metadata
        commit = state.commit
        commitOffset = state.commitOffset
        commitEnd = state.commitEnd
        end = state.commitEnd
        for (index, tree) in state.catalog.trees.enumerated() {
            counters[tree.id] = max(state.nextNumbers[index], state.reserved[index])
        }
        report.checkpoint = state.commit
        report.wasClosed = false
        report.lastCommitTime = restored.time
        report.lastAuthor = restored.author.isEmpty ? nil : restored.author
    }

    /// Starts from the newest start frame: the schema in force, and side segments.
    init(_ storeID: StoreID, mains: [FoundSegment], newest: FoundSegment, members: LiveMembers)
        throws(StoreError)
    {
        self.storeID = storeID
        self.members = members
        base = nil
        cache = nil
        bytesToKeep = 0
        self.newest = newest.segment.number
        live = LiveSet(mains: mains.map(\.segment))
        if !newest.start.schema.isNone {
            catalog = try self.members.schema(of: newest)
            hasNewestSchema = true
        }
        for member in newest.start.live
        where member.kind == .side && !members.gone.contains(member.number) {
            guard let side = members[member.number] else { continue }
            let part = AdoptPayload.Part(
                segment: member.number, start: UInt64(SegmentHeader.size), end: member.end,
                startChain: side.chain, endChain: member.chain)
            try read(part, of: side, isInCommit: false)
            live.adopt(side.segment, end: member.end, chain: member.chain)
        }
        blocks.append(contentsOf: open.blocks)
        history.append(contentsOf: open.history)
        redirects.take(open.redirects)
        open.reset()
    }

    /// Whether adopt, retire and schema frames of a main segment contain anything new: the start frame of the
    /// newest segment summarizes those of the segments before it (F-659).
    private func counts(_ segment: Segment) -> Bool { newest.map { $0 == segment.number } ?? true }

    // MARK: Frames

    /// Processes the next frame.
    mutating func take(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws(StoreError) {
        report.frames += 1
        do {
            try takeFrame(header, payload, segment)
        } catch {
            let error = StoreError(inFrame: error, segment, header.lsn - segment.baseLSN)
            switch header.kind {
            case .commit, .start, .close: throw error
            default:
                // It matters once the commit counts.
                open.fail(error)
                open.count(header)
            }
        }
    }

    private mutating func takeFrame(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        let offset = header.lsn - segment.baseLSN
        guard let kind = try header.readableKind() else { return open.count(header) }
        switch kind {
        case .start: return try takeStart(header, payload, segment)
        case .commit: return try takeCommit(header, payload, segment)
        case .close:
            // It counts on its own (F-607).
            let close = try ClosePayload(decoding: payload)
            try checkBetweenCommits(header)
            try raise(close.counters, isCommit: false)
            return finishFrame(header, segment, isClose: true)
        case .schema:
            if counts(segment) || !hasNewestSchema {
                open.catalog = try CatalogDocument.decode(payload)
                    .placed(at: Place(segment: segment.number, byteOffset: Int(offset)))
            }
        case .block: try takeBlock(header, payload, segment)
        case .patch: try takePatch(header, payload, segment)
        case .deaths: open.deaths += try deaths(payload, segment, offset)
        case .value: _ = try ValuePayload(decoding: payload)
        case .adopt:
            let adopt = try AdoptPayload(decoding: payload)
            if counts(segment) { try take(adopt, segment, offset) }
        case .retire:
            let retire = try RetirePayload(decoding: payload)
            if counts(segment) { try take(retire, segment, offset) }
        case .metadata:
            open.metadata = try StoredMetadata(
                payload, at: Place(segment: segment.number, byteOffset: Int(offset))
            ).newer(than: open.metadata)
        case .changes: try takeChanges(header, payload, segment)
        case .redirects:
            open.redirects.take(try RedirectsPayload(decoding: payload), in: segment.number)
        case .reserve:
            preconditionFailure("version 1 does not define this kind")
        }
        open.count(header)
    }

    private mutating func takeBlock(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        let head = try BlockHead(decoding: payload)
        try take(head, hasReferences: head.hasReferences, payload, header, segment)
    }

    private mutating func takePatch(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        let patch = try PatchHead(decoding: payload)
        try take(
            patch.own, hasReferences: patch.hasReferences, patch: patch, payload, header, segment)
    }

    private mutating func take(
        _ head: BlockHead, hasReferences: Bool, patch: PatchHead? = nil,
        _ payload: UnsafeRawBufferPointer, _ header: FrameHeader, _ segment: Segment
    ) throws {
        let offset = header.lsn - segment.baseLSN
        guard (open.catalog ?? catalog)?.mayHaveBlocks(ofEntity: head.entity) ?? false else {
            throw StoreError.damaged(
                "a block of an entity that the schema lacks", segment: segment.number,
                offset: offset)
        }
        let place = Place(segment: segment.number, byteOffset: Int(offset))
        open.blocks.append(
            LoggedBlock(
                place: place, entity: head.entity, rows: head.rows, length: header.frameLength,
                rawLength: head.rawLength, hasReferences: hasReferences,
                schemaVersion: head.schemaVersion, commit: header.commit,
                patched: patch?.base ?? .none, borrowedBytes: patch?.borrowedBytes ?? 0,
                // The last one is the hidden column.
                patchedProperties: patch?.own.columns.dropLast().map(\.propertyID) ?? [],
                kept: kept(payload, head, isPatch: patch != nil)))
        rowsOfBlock[place] = head.rows
    }

    private mutating func kept(
        _ payload: UnsafeRawBufferPointer, _ head: BlockHead, isPatch: Bool
    ) -> KeptRows? {
        guard payload.count <= min(bytesToKeep, Self.mostBytesOfOneKept) else { return nil }
        bytesToKeep -= payload.count
        return KeptRows(
            StoredPayload(
                payload: RawBytes(copying: payload), isPatch: isPatch, head: isPatch ? nil : head))
    }

    private mutating func takeChanges(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        try open.history.take(
            try ChangesPayload.head(of: payload),
            at: Place(
                segment: segment.number, byteOffset: Int(header.lsn - segment.baseLSN)),
            length: header.frameLength, limit: header.commit)
    }

    private mutating func takeStart(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        guard header.lsn == segment.baseLSN + UInt64(SegmentHeader.size) else {
            throw FormatError(.malformed, "F-211", "a start frame in the middle of a segment")
        }
        let start = try StartPayload(decoding: payload)
        if segment.header.predecessor != end.segment {
            // The segments in between have been retired, and their commits with them.
            guard header.commit >= commit, open.start == nil else {
                throw FormatError(
                    .malformed, "F-603",
                    "a start frame does not bear the number of the last commit",
                    expected: commit, found: header.commit)
            }
            commit = header.commit
        }
        try checkBetweenCommits(header)
        if counts(segment) || !hasNewestSchema {
            guard
                members.gone.contains(start.schema.segment)
                    || start.schema == catalog?.place ?? .none,
                start.schemaVersion == catalog?.version ?? 0
            else {
                throw FormatError(.malformed, "F-217", "the start frame names another schema")
            }
        }
        try raise(start.counters, isCommit: false)
        finishFrame(header, segment, isClose: false)
    }

    /// Checks that a start or close frame is between commits and has the number of the last one.
    private func checkBetweenCommits(_ header: FrameHeader) throws(FormatError) {
        guard open.start == nil, header.commit == commit else {
            throw FormatError(
                .malformed, "F-603", "a start or close frame is not between commits",
                expected: commit, found: header.commit)
        }
    }

    /// The next number of every tree, by tree id.
    var nextNumbers: [UInt32: UInt32] { counters.merging(raised) { max($0, $1) } }

    /// Raises the next numbers, which never fall: issued numbers stay issued.
    private mutating func raise(_ said: [TreeCounter], isCommit: Bool) throws(FormatError) {
        for counter in said {
            let last = raised[counter.tree] ?? counters[counter.tree]
            guard counter.next >= last ?? 1 else {
                throw FormatError(
                    .malformed, "F-622", "the counter of a tree falls",
                    expected: last.map { UInt64($0) }, found: UInt64(counter.next))
            }
            if isCommit {
                counters[counter.tree] = counter.next
            } else if counter.next != last {
                raised[counter.tree] = counter.next
            }
        }
    }

    private mutating func takeCommit(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        let record = try CommitPayload(decoding: payload)
        try open.check(record, header, after: commit)
        try open.history.checkEnd()
        guard catalog != nil || open.catalog != nil else {
            throw FormatError(.malformed, "F-602", "the first commit does not hold the schema")
        }
        blocks.append(contentsOf: open.blocks)
        deaths.append(contentsOf: open.deaths)
        history.append(contentsOf: open.history)
        if !open.redirects.isEmpty { redirects.take(open.redirects) }
        if let catalog = open.catalog {
            // A state is not continued past a change of the model: it is rebuilt from the beginning then.
            if base != nil, catalog.isMigrated, catalog.version != self.catalog?.version {
                throw StoreError(
                    .incompatibleModel, "the store's model has changed since it was opened")
            }
            self.catalog = catalog
        }
        if let live = open.live { self.live = live }
        if let found = open.metadata { metadata = found.newer(than: metadata) }
        try raise(record.counters, isCommit: true)
        if !raised.isEmpty {
            // A commit need not repeat them.
            counters.merge(raised) { max($0, $1) }
            raised.removeAll(keepingCapacity: true)
        }
        commit = header.commit
        commitOffset = header.lsn - segment.baseLSN
        report.commits += 1
        report.lastCommitTime = record.time
        report.lastAuthor = record.author.isEmpty ? nil : record.author
        finishFrame(header, segment, isClose: false)
        commitEnd = end
    }

    /// Ends a commit, or a frame that stands on its own: the log may end after it.
    private mutating func finishFrame(_ header: FrameHeader, _ segment: Segment, isClose: Bool) {
        open.reset()
        let lsn = header.lsn + UInt64(header.frameLength)
        end = LogEnd(
            segment: segment.number, offset: lsn - segment.baseLSN, lsn: lsn, chain: header.chain)
        report.wasClosed = isClose
    }

    // MARK: Deaths

    private mutating func deaths(
        _ payload: UnsafeRawBufferPointer, _ segment: Segment, _ offset: UInt64
    ) throws -> [LoggedDeath] {
        var deaths: [LoggedDeath] = []
        for entry in try DeathsPayload(decoding: payload).entries {
            guard let rows = rowsOfBlock[entry.block] ?? rowsInBase(entry.block) else {
                // In a segment that is no longer part of the store, it is ignored (F-614).
                if (open.live ?? live)[entry.block.segment] == nil { continue }
                throw StoreError.damaged(
                    "a death in a block that does not exist (F-614)", segment: segment.number,
                    offset: offset)
            }
            if rows == 0 { continue }
            var slots: [UInt16] = []
            try entry.forEachSlot(rows: rows) { slots.append($0) }
            deaths.append((entry.block, slots))
        }
        return deaths
    }

    /// Returns the number of rows of a block that the checkpoint covers, as recorded in the block: one that
    /// is missing in the checkpoint no longer had live rows. Returns zero for a patch of a block that was
    /// gone by then (F-457): its rows can no longer be identified.
    private mutating func rowsInBase(_ place: Place) -> Int? {
        guard let base, let segment = base.segments[place.segment],
            UInt64(place.byteOffset) < base.end(of: segment),
            let (found, patched) = storedRows(place, segment)
        else { return nil }
        let rows = patched.isNone || base.segments[patched.segment] != nil ? found : 0
        rowsOfBlock[place] = rows
        return rows
    }

    private func storedRows(_ place: Place, _ segment: Segment) -> (count: Int, patched: Place)? {
        if let known = cache?.glance(at: place) {
            return (known.rows, known.base?.place ?? .none)
        }
        return try? segment.rows(at: UInt64(place.byteOffset), storeTag: storeID.tag).rows()
    }

    // MARK: Live set

    private mutating func take(_ adopt: AdoptPayload, _ segment: Segment, _ offset: UInt64) throws {
        for part in adopt.parts {
            lastSegment = max(lastSegment, part.segment)
            guard let side = try members.side(part.segment) else { continue }
            var set = open.live ?? live
            let before = set.sides.first { $0.segment.number == part.segment }
            guard part.start == before?.end ?? UInt64(SegmentHeader.size),
                part.startChain == before?.chain ?? side.chain
            else {
                throw StoreError.damaged(
                    "a part of side segment \(part.segment) does not follow the one before (F-652)",
                    segment: segment.number, offset: offset)
            }
            try read(part, of: side, isInCommit: true)
            set.adopt(side.segment, end: part.end, chain: part.endChain)
            open.live = set
        }
    }

    private mutating func take(_ retire: RetirePayload, _ segment: Segment, _ offset: UInt64)
        throws(StoreError)
    {
        var set = open.live ?? live
        for number in retire.segments {
            lastSegment = max(lastSegment, number)
            guard number != segment.number, set[number] != nil || members.gone.contains(number)
            else {
                throw .damaged(
                    "segment \(number) is retired and not part of the store (F-654)",
                    segment: segment.number, offset: offset)
            }
        }
        set.retire(retire.segments)
        open.live = set
    }

    /// Reads a part of a side segment: all of it must be whole, as it was durable before it was adopted.
    private mutating func read(
        _ part: AdoptPayload.Part, of side: FoundSegment, isInCommit: Bool
    ) throws(StoreError) {
        let segment = side.segment
        var scanner = try FrameScanner(
            segment, chain: side.chain, storeTag: storeID.tag, end: part.end)
        scanner.skip(to: part)
        sideBytes += part.end - part.start
        while let (header, payload) = try scanner.next() {
            report.frames += 1
            do {
                try takeSide(header, payload, segment, isInCommit: isInCommit)
            } catch {
                throw StoreError(inFrame: error, segment, header.lsn)
            }
        }
        guard scanner.position == part.end, scanner.expected.chain == part.endChain else {
            let failure = scanner.failure
            throw .damaged(
                "\(failure?.what ?? "the adopted part ends elsewhere") (\(failure?.rule ?? "F-652"))",
                segment: part.segment, offset: scanner.position)
        }
        // Users of the base must be able to continue reading; of others there may be many.
        if base?.segments[segment.number] !== segment { segment.rest() }
    }

    private mutating func takeSide(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment,
        isInCommit: Bool
    ) throws {
        switch try header.readableKind() {
        case .block: try takeBlock(header, payload, segment)
        case .value: _ = try ValuePayload(decoding: payload)
        case .changes: try takeChanges(header, payload, segment)
        case .redirects:
            open.redirects.take(try RedirectsPayload(decoding: payload), in: segment.number)
        case .deaths where isInCommit: open.deaths += try deaths(payload, segment, header.lsn)
        case .deaths: lateDeaths.append((RawBytes(copying: payload), segment, header.lsn))
        case .schema where isInCommit:
            open.catalog = try CatalogDocument.decode(payload)
                .placed(at: Place(segment: segment.number, byteOffset: Int(header.lsn)))
        case .metadata:
            let found = try StoredMetadata(
                payload, at: Place(segment: segment.number, byteOffset: Int(header.lsn)))
            if isInCommit {
                open.metadata = found.newer(than: open.metadata)
            } else {
                metadata = found.newer(than: metadata)
            }
        case .schema, nil: break
        default:
            throw FormatError(
                .malformed, "F-655", "a side segment holds a frame of the log",
                found: UInt64(header.rawKind))
        }
    }

    // MARK: Ending

    /// Ends the content at the last commit, close or start frame: an incomplete commit does not count
    /// (F-641).
    mutating func finish() throws(StoreError) {
        open.reset()
        for late in lateDeaths {
            do {
                deaths += try deaths(late.payload.bytes, late.segment, late.offset)
            } catch {
                throw StoreError(inFrame: error, late.segment, late.offset)
            }
        }
        lateDeaths = []
        if let catalog, catalog.metadata !== metadata { self.catalog = catalog.with(metadata) }
        live.removeMains(above: end.segment)
    }
}
