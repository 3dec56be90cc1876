// What the frames of a damaged store still contain: blocks, deaths, schemas, counters.
//
//   1. Side segments first, as their frames have a meaning only if the log adopts them; then the log.
//   2. Deaths of a complete commit are certain. If a commit has lost frames, what died may have been moved or
//      changed into rows that are lost: those deaths are doubtful.
//   3. A block with a broken payload is kept for those of its columns that are whole. One with a broken frame
//      header is used if a whole frame follows it directly, which contains its commit.
//   4. When the end of the log is known, everything after it is dropped.
//
// Invariants: nothing is used beyond what was guaranteed to be durable, unless that was requested.
// Threads: one in one thread.

import CairnFileSystem
import CairnFormat
import CairnStore

/// A block with at least a valid head.
struct SalvagedBlock {
    let place: Place
    let payloadLength: Int
    let lsn: UInt64
    let commit: UInt64
    let entity: UInt32
    let rows: Int
    /// Whether it is undamaged.
    let isWhole: Bool
    /// Whether it is in a side segment after the part that is known to be adopted.
    var isUnadopted = false
    /// For a patch: the block that it patches.
    var patched = Place.none

    /// Reads it from a file.
    func payload(of file: any File) throws(StoreError) -> RawBytes {
        let payload = RawBytes(count: payloadLength)
        do throws(FileSystemError) {
            payload.trim(
                to: try file.read(
                    into: payload.mutable, at: UInt64(place.byteOffset + FrameHeader.size)))
        } catch {
            throw StoreError(error)
        }
        return payload
    }
}

/// A deaths frame. Its content is processed when all blocks are known.
struct SalvagedDeaths {
    let payload: RawBytes
    let isMain: Bool
    let lsn: UInt64
    let commit: UInt64
    /// Whether every earlier frame of its commit exists: then all rows that replaced dead ones do.
    let isSure: Bool
}

struct SalvageInventory {
    private(set) var folder: FolderSurvey
    private(set) var outline: LogOutline
    private(set) var blocks: [SalvagedBlock] = []
    private(set) var deaths: [SalvagedDeaths] = []
    /// Commits that have lost frames.
    private(set) var damagedCommits: Set<UInt64> = []
    /// The newest schema that was found.
    private(set) var catalog: Catalog?
    /// The newest metadata that were found.
    private(set) var metadata: StoredMetadata?
    /// The redirects that were found, those in force.
    private(set) var redirects: [RedirectTable.Key: RedirectTable.Entry] = [:]
    /// All of them, as long as the end of the log is unknown.
    private var allRedirects:
        [(found: RedirectsPayload, segment: UInt32, lsn: UInt64, commit: UInt64, isMain: Bool)] = []
    /// All metadata, as long as the end of the log is unknown.
    private var allMetadata: [(found: StoredMetadata, lsn: UInt64, commit: UInt64, isMain: Bool)] =
        []
    /// The next number of each tree, by its id.
    private(set) var counters: [UInt32: UInt32] = [:]
    private(set) var segments: [UInt32: SalvageReport.Segment] = [:]
    /// Whether bytes with unknown contents are lost.
    private(set) var hasUnknownLosses = false
    /// The largest commit whose deaths may be lost.
    private(set) var lastDoubtfulDeaths: UInt64 = 0
    /// The same by place in the log, as long as its end is unknown.
    private var unknownLosses: [UInt64] = []
    private var doubts: [(lsn: UInt64, commit: UInt64, isDamaged: Bool, losesDeaths: Bool)] = []
    private(set) var unpromisedCommits = 0
    /// Complete commits after a break, and where their frames end.
    private var wholeCommits: [UInt64: UInt64] = [:]
    /// Commits that adopted what is lost: even existing deaths are uncertain.
    private(set) var brokenParts: Set<UInt64> = []

    // The commit whose frames are being read.
    private var openStart: UInt64 = 0
    private var openFrames: UInt32 = 0
    private var openCommit: UInt64 = 0
    private var lastBreak: UInt64?
    /// The end of the last bytes that may have been deaths.
    private var lastDeathsBreak: UInt64?
    /// Whether every frame since the end of the last commit exists.
    private var isUnbroken = true
    /// The gap that ended where the next frame begins.
    private var gap: (segment: UInt32, range: Swift.Range<UInt64>)?
    private var lastCommit: UInt64 = 0

    /// Reads everything that is left of a store.
    init(_ folder: FolderSurvey, takesUnpromised: Bool) throws(StoreError) {
        self.folder = folder
        outline = LogOutline(
            progress: .init(end: LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)))
        for segment in folder.segments {
            segments[segment.number] = SalvageReport.Segment(number: segment.number)
            segments[segment.number]?.bytes = segment.size
            segments[segment.number]?.problem = Self.problem(segment)
        }
        for member in folder.missing {
            segments[member.number] = SalvageReport.Segment(number: member.number)
            segments[member.number]?.problem = "the file is missing"
            unknownLosses.append(0)
        }
        // Only the newest start frame names everything that the store consisted of.
        if let newest = folder.segments.last(where: { $0.role == .main }),
            newest.number != folder.newestStart, newest.baseLSN != 0
        {
            unknownLosses.append(0)
        }
        for segment in folder.segments where segment.role == .side { try readSide(segment) }
        // A missing part of the log is a break like any other.
        if folder.newestStart == 0,
            folder.segments.first(where: { $0.role == .main })?.baseLSN != 0
        {
            lastBreak = 0
            lastDeathsBreak = 0
            isUnbroken = false
        }
        var survey = LogSurvey(folder, readsPayloads: true)
        outline = try survey.run { item throws(StoreError) in take(item) }
        if gap != nil { lastDeathsBreak = lastBreak }
        endCommit(isWhole: openFrames == 0)
        let isMissing = folder.missing.contains { $0.kind == .main }
        if isMissing || outline.endsEarly {
            unknownLosses.append(0)
            doubt(.max, at: 0)
        }
        drop(behind: outline, takesUnpromised: takesUnpromised)
    }

    private static func problem(_ segment: SurveyedSegment) -> String? {
        switch segment.role {
        case .foreign: "it belongs to another store"
        case .held: "it is not part of the newest state: past ones are not salvaged"
        case .retired: "it is no longer part of the store"
        case .unfinished:
            segment.size == 0 ? "it is empty" : "it is empty: its creation was interrupted"
        case .main, .side: segment.headerError.map { "\($0.what) (\($0.rule))" }
        }
    }

    // MARK: Frames

    private mutating func readSide(_ segment: SurveyedSegment) throws(StoreError) {
        var walk = FrameWalk(
            segment.file, segment: segment.number, storeTag: folder.storeTag,
            baseLSN: segment.baseLSN, chain: segment.chain, to: segment.size, readsPayloads: true)
        while let event = try walk.next() {
            switch event {
            case .frame(let frame):
                guard let payload = frame.payload else {
                    takeBroken(frame, segment)
                    continue
                }
                segments[segment.number]?.frames += 1
                takePayload(payload, frame, segment)
            case .gap(let range, let error):
                // After the adopted part a side segment may be torn.
                if let adopted = segment.statedEnd, range.lowerBound < adopted {
                    note(range, error, segment)
                    unknownLosses.append(0)
                }
            }
        }
    }

    private mutating func take(_ item: LogSurvey.Item) {
        switch item {
        case .gap(let segment, let range, let error):
            if gap != nil { lastDeathsBreak = lastBreak }
            lastBreak = segment.baseLSN + range.upperBound
            isUnbroken = false
            gap = (segment.number, range)
            note(range, error, segment)
        case .frame(let segment, let frame):
            if let gap {
                let isBlock =
                    gap.segment == segment.number && gap.range.upperBound == frame.offset
                    && takeHeadless(gap.range, before: frame, segment)
                if !isBlock { lastDeathsBreak = lastBreak }
            }
            gap = nil
            if !frame.isChained {
                lastBreak = max(lastBreak ?? 0, frame.header.lsn)
                // After a broken segment header there is no record of what came before; the start frame is
                // first.
                if frame.offset != UInt64(SegmentHeader.size) { isUnbroken = false }
            }
            count(frame)
            guard let payload = frame.payload else {
                takeBroken(frame, segment)
                lastBreak = frame.header.lsn + UInt64(frame.header.frameLength)
                isUnbroken =
                    frame.header.kind.map { $0 == .commit || $0 == .start || $0 == .close } ?? false
                return
            }
            segments[segment.number]?.frames += 1
            takePayload(payload, frame, segment)
        }
    }

    /// Frames of one commit are consecutive; if that is interrupted, some are lost.
    private mutating func count(_ frame: FrameWalk.Frame) {
        let header = frame.header
        if header.kind == .start || header.kind == .close {
            endCommit(isWhole: openFrames == 0)
            isUnbroken = true
            // Commits without any remaining frame.
            if header.commit > lastCommit, lastBreak != nil {
                doubt(header.commit, at: header.lsn)
            }
            lastCommit = max(lastCommit, header.commit)
            return
        }
        if openFrames > 0, header.commit != openCommit { endCommit(isWhole: false) }
        if openFrames == 0 {
            openStart = header.lsn
            openCommit = header.commit
        }
        openFrames += 1
    }

    /// Ends a commit's frames, with a commit frame or without.
    private mutating func endCommit(isWhole: Bool) {
        if !isWhole, openFrames > 0 {
            damage(openCommit, at: openStart, losesDeaths: lastDeathsBreak ?? 0 >= openStart)
        }
        lastCommit = max(lastCommit, openCommit)
        openFrames = 0
    }

    /// Notes that frames of a commit are lost.
    private mutating func damage(_ commit: UInt64, at lsn: UInt64, losesDeaths: Bool = false) {
        doubts.append((lsn, commit, true, losesDeaths))
    }

    /// Notes that deaths up to a commit may be lost.
    private mutating func doubt(_ commit: UInt64, at lsn: UInt64) {
        doubts.append((lsn, commit, false, true))
    }

    private mutating func takeCommit(_ record: CommitPayload, _ header: FrameHeader) {
        let isComplete =
            record.firstLSN == openStart && record.frameCount == openFrames - 1
            && (lastBreak.map { $0 <= record.firstLSN } ?? true)
        // Commits without any remaining frame are lost with their deaths.
        if header.commit > lastCommit + 1, lastBreak != nil {
            doubt(header.commit - 1, at: header.lsn)
        }
        if isComplete, lastBreak != nil { wholeCommits[header.commit] = header.lsn }
        endCommit(isWhole: isComplete)
        isUnbroken = true
        raise(record.counters)
    }

    private mutating func raise(_ raised: [TreeCounter]) {
        for counter in raised {
            counters[counter.tree] = max(counter.next, counters[counter.tree] ?? 1)
        }
    }

    /// Processes the content of a frame whose payload is whole.
    private mutating func takePayload(
        _ payload: UnsafeRawBufferPointer, _ frame: FrameWalk.Frame, _ segment: SurveyedSegment
    ) {
        do {
            guard let kind = try frame.header.readableKind() else { return }
            try takePayload(payload, frame, segment, kind)
        } catch {
            // The payload is whole, but unusable.
            segments[segment.number]?.frames -= 1
            skip(frame, segment, "\(error.what) (\(error.rule))")
            damage(frame.header.commit, at: lsn(frame, segment), losesDeaths: true)
            unknownLosses.append(lsn(frame, segment))
        }
    }

    /// Returns where a frame is in the log; frames in side segments are treated as if they came first.
    private func lsn(_ frame: FrameWalk.Frame, _ segment: SurveyedSegment) -> UInt64 {
        segment.role == .main ? frame.header.lsn : 0
    }

    private mutating func takePayload(
        _ payload: UnsafeRawBufferPointer, _ frame: FrameWalk.Frame, _ segment: SurveyedSegment,
        _ kind: FrameKind
    ) throws(FormatError) {
        switch kind {
        case .start:
            let start = try StartPayload(decoding: payload)
            raise(start.counters)
        case .close: raise(try ClosePayload(decoding: payload).counters)
        case .schema: try takeSchema(payload)
        case .block: take(try BlockHead(decoding: payload), payload.count, frame, segment)
        case .patch:
            let patch = try PatchHead(decoding: payload)
            take(patch.own, of: patch.base, payload.count, frame, segment)
        case .deaths:
            _ = try DeathsPayload(decoding: payload)
            deaths.append(
                SalvagedDeaths(
                    payload: RawBytes(copying: payload), isMain: segment.role == .main,
                    lsn: frame.header.lsn, commit: frame.header.commit, isSure: isUnbroken))
        case .commit: takeCommit(try CommitPayload(decoding: payload), frame.header)
        case .adopt: take(try AdoptPayload(decoding: payload), frame.header)
        case .metadata:
            let place = Place(exactSegment: segment.number, byteOffset: frame.offset) ?? .none
            // Metadata in a commit that has lost frames were written all the same.
            allMetadata.append(
                (
                    try StoredMetadata(payload, at: place), frame.header.lsn, frame.header.commit,
                    segment.role == .main
                ))
        case .redirects:
            allRedirects.append(
                (
                    try RedirectsPayload(decoding: payload), segment.number, frame.header.lsn,
                    frame.header.commit, segment.role == .main
                ))
        // No history is salvaged, and errors in it have no meaning for rows.
        case .changes, .value, .reserve, .retire: break
        }
    }

    private mutating func take(
        _ head: BlockHead, of base: Place = .none, _ length: Int, _ frame: FrameWalk.Frame,
        _ segment: SurveyedSegment
    ) {
        guard let place = Place(exactSegment: segment.number, byteOffset: frame.offset) else {
            return
        }
        blocks.append(
            SalvagedBlock(
                place: place, payloadLength: length, lsn: frame.header.lsn,
                commit: frame.header.commit, entity: head.entity, rows: head.rows, isWhole: true,
                isUnadopted: isUnadopted(frame, segment), patched: base))
    }

    /// If copies of rows are lost, the deaths of the copied rows are uncertain.
    private mutating func take(_ adopt: AdoptPayload, _ header: FrameHeader) {
        for part in adopt.parts {
            let isMissing = folder.missing.contains { $0.number == part.segment }
            let isBroken =
                segments[part.segment]?.unusable.contains {
                    $0.start < part.end && part.start < $0.end
                } ?? false
            let side = folder.segments.first { $0.number == part.segment }
            if isMissing || side?.role == .side && (isBroken || side?.size ?? 0 < part.end) {
                damage(header.commit, at: header.lsn)
                brokenParts.insert(header.commit)
            }
        }
    }

    /// Whether a frame is in a part of a side segment that the log is not known to have adopted.
    private func isUnadopted(_ frame: FrameWalk.Frame, _ segment: SurveyedSegment) -> Bool {
        segment.role == .side && frame.end > segment.statedEnd ?? 0
    }

    private mutating func takeSchema(_ payload: UnsafeRawBufferPointer) throws(FormatError) {
        do {
            let found = try CatalogDocument.decode(payload)
            if found.version >= catalog?.version ?? 0 { catalog = found }
        } catch let error as FormatError {
            throw error
        } catch {
            throw FormatError(.malformed, "F-702", "the model in the schema frame is invalid")
        }
    }

    // MARK: Broken frames

    /// Processes a frame with a broken payload. A block's columns have their own checksums.
    private mutating func takeBroken(_ frame: FrameWalk.Frame, _ segment: SurveyedSegment) {
        let reason = frame.problem.map { "\($0.what) (\($0.rule))" } ?? "it is broken"
        skip(frame, segment, reason)
        switch frame.header.kind {
        case .block, .patch:
            damage(frame.header.commit, at: lsn(frame, segment))
            let offset = frame.offset
            guard let place = Place(exactSegment: segment.number, byteOffset: offset),
                let (head, patched) = Self.head(
                    of: segment, at: offset, payloadLength: Int(frame.header.payloadLength),
                    isPatch: frame.header.kind == .patch)
            else {
                unknownLosses.append(lsn(frame, segment))
                return
            }
            blocks.append(
                SalvagedBlock(
                    place: place, payloadLength: Int(frame.header.payloadLength),
                    lsn: frame.header.lsn, commit: frame.header.commit, entity: head.entity,
                    rows: head.rows, isWhole: false, isUnadopted: isUnadopted(frame, segment),
                    patched: patched))
        case .commit:
            // Its frames exist; only the description of them is lost.
            endCommit(isWhole: lastBreak.map { $0 <= openStart } ?? true)
        case .start, .close: break
        case .value, .schema: damage(frame.header.commit, at: lsn(frame, segment))
        default:
            damage(frame.header.commit, at: lsn(frame, segment), losesDeaths: true)
            unknownLosses.append(lsn(frame, segment))
        }
    }

    /// Returns the head of the block in a frame at an offset, or that of a patch and the block that it
    /// patches, if it is whole.
    private static func head(
        of segment: SurveyedSegment, at offset: UInt64, payloadLength: Int, isPatch: Bool
    ) -> (BlockHead, Place)? {
        let start = offset + UInt64(FrameHeader.size)
        let prefix = RawBytes(count: BlockHead.size + (isPatch ? PatchHead.size : 0))
        guard (try? segment.file.read(into: prefix.mutable, at: start)) == prefix.count,
            let length = isPatch
                ? try? PatchHead.headLength(of: prefix.bytes)
                : try? BlockHead.headLength(of: prefix.bytes), length <= payloadLength
        else { return nil }
        let bytes = RawBytes(count: length)
        guard (try? segment.file.read(into: bytes.mutable, at: start)) == length else { return nil }
        if isPatch {
            let patch = try? PatchHead(decoding: bytes.bytes, payloadLength: payloadLength)
            return patch.map { ($0.own, $0.base) }
        }
        let head = try? BlockHead(decoding: bytes.bytes, payloadLength: payloadLength)
        return head.map { ($0, .none) }
    }

    /// Processes a block or patch with a broken frame header: head and slices have their own checksums. It
    /// fills the gap, and the frame after it is of the same commit, since a block is never the last frame of
    /// a commit.
    private mutating func takeHeadless(
        _ gap: Swift.Range<UInt64>, before next: FrameWalk.Frame, _ segment: SurveyedSegment
    ) -> Bool {
        let room = gap.upperBound - gap.lowerBound
        guard room > UInt64(FrameHeader.size + BlockHead.size),
            room <= UInt64(FormatLimits.maximumPayload), next.header.kind != .start,
            next.header.kind != .close, let kind = next.header.kind, kind != .schema,
            let place = Place(exactSegment: segment.number, byteOffset: gap.lowerBound)
        else { return false }
        let padded = Int(room) - FrameHeader.size
        for guess in 0..<16 {
            let (length, isPatch) = (padded - guess & 7, guess >= 8)
            guard
                let (head, patched) = Self.head(
                    of: segment, at: gap.lowerBound, payloadLength: length, isPatch: isPatch)
            else { continue }
            blocks.append(
                SalvagedBlock(
                    place: place, payloadLength: length,
                    lsn: segment.baseLSN + gap.lowerBound, commit: next.header.commit,
                    entity: head.entity, rows: head.rows, isWhole: false, patched: patched))
            damage(next.header.commit, at: segment.baseLSN + gap.lowerBound)
            if let last = segments[segment.number]?.unusable.popLast() {
                segments[segment.number]?.unusable.append(
                    .init(
                        start: last.start, end: last.end, kind: isPatch ? "patch" : "block",
                        reason: last.reason))
            }
            return true
        }
        return false
    }

    // MARK: Notes

    private mutating func note(
        _ range: Swift.Range<UInt64>, _ error: FormatError, _ segment: SurveyedSegment
    ) {
        note(
            .init(
                start: range.lowerBound, end: range.upperBound, kind: nil,
                reason: "\(error.what) (\(error.rule))"), segment.number)
    }

    private mutating func skip(
        _ frame: FrameWalk.Frame, _ segment: SurveyedSegment, _ reason: String
    ) {
        segments[segment.number]?.skippedFrames += 1
        let kind = frame.header.kind.map { "\($0)" } ?? "kind \(frame.header.rawKind)"
        note(
            .init(start: frame.offset, end: frame.end, kind: kind, reason: reason), segment.number)
    }

    private mutating func note(_ range: SalvageReport.Range, _ number: UInt32) {
        guard segments[number] != nil else { return }
        segments[number]?.unusableBytes += range.end - range.start
        if segments[number]?.unusable.count ?? 0 < 1000 {
            segments[number]?.unusable.append(range)
        }
    }

    // MARK: The end

    /// Drops what follows the end of the log.
    private mutating func drop(behind outline: LogOutline, takesUnpromised: Bool) {
        let mains = Set(folder.segments.filter { $0.role == .main }.map(\.number))
        // What was durable counts, even if the commit frame after it is lost.
        let end = max(outline.progress.end.lsn, outline.durable)
        wholeCommits = wholeCommits.filter { $0.value >= end }
        unpromisedCommits = wholeCommits.count
        let taken = takesUnpromised ? wholeCommits : [:]
        blocks.removeAll { block in
            mains.contains(block.place.segment) && block.lsn >= end && taken[block.commit] == nil
        }
        doubts.removeAll { $0.lsn >= end && taken[$0.commit] == nil }
        damagedCommits = Set(doubts.lazy.filter(\.isDamaged).map(\.commit))
        lastDoubtfulDeaths = doubts.lazy.filter(\.losesDeaths).map(\.commit).max() ?? 0
        for one in allMetadata where !one.isMain || one.lsn < end || taken[one.commit] != nil {
            metadata = one.found.newer(than: metadata)
        }
        for one in allRedirects where !one.isMain || one.lsn < end || taken[one.commit] != nil {
            redirects.take(one.found, in: one.segment)
        }
        allRedirects = []
        deaths.removeAll { $0.isMain && $0.lsn >= end && taken[$0.commit] == nil }
        for segment in folder.segments where segment.role == .main {
            guard var report = segments[segment.number] else { continue }
            let last = end < segment.baseLSN ? 0 : end - segment.baseLSN
            report.unusable.removeAll { range in
                guard range.start >= last else { return false }
                report.unusableBytes -= range.end - range.start
                return true
            }
            if report.unusable.contains(where: { $0.kind == nil }) { unknownLosses.append(0) }
            segments[segment.number] = report
        }
        hasUnknownLosses = unknownLosses.contains { $0 < end }
        // Copies that are not known to be adopted are needed only if the frame that adopted them may be lost.
        if outline.damage.isEmpty { blocks.removeAll(where: \.isUnadopted) }
    }
}
