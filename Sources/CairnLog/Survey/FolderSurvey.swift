// The contents of a store's folder, examined without assuming that any of it is valid.            Format 60.4
//
//   1. Every file with the name of a segment is opened and its header read. If that is invalid, the first
//      frame header inside shows to which store the file belongs and where in the log it begins.
//   2. The store is the one to which most files belong; files of others are ignored.
//   3. Start frames are read. The newest readable one lists the segments of the store and their ends;
//      otherwise the end follows from the header of the successor, or from its position in the log.
//   4. Adopt and retire frames after that start frame change the list, up to the end of the log.
//   5. The current metadata list the retired segments that are kept for past states.            (F-793)
//
// An examined file is closed again, unless the newest start frame lists it: there may be as many retired
// segments as past states need.
//
// Invariants: nothing is written and nothing locked.
// Threads: one survey in one thread.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

/// A file with the name of a segment.
struct SurveyedSegment {
    /// The role of the file.
    enum Role: Equatable {
        /// Part of the log.
        case main
        /// Contains what compaction moved; valid as far as the log has adopted it.
        case side
        /// No longer a part of the store, and kept for past states.
        case held
        /// No longer a part of the store.
        case retired
        /// Its creation was interrupted.
        case unfinished
        /// A segment of another store.
        case foreign
    }

    let number: UInt32
    let file: TolerantFile
    let size: UInt64
    /// The header, if it is valid and belongs to this file.
    var header: SegmentHeader?
    /// Why there is no header.
    var headerError: FormatError?
    /// Whether the header is intact, but written by another version of the format or of Cairn.
    var isOfOtherVersion: Bool { headerError?.isOfOtherVersion ?? false }
    /// The chain value before the first frame.
    var chain: UInt32?
    var storeTag: UInt32
    var baseLSN: UInt64
    var role: Role
    /// The start frame, if it can be read.
    var start: StartPayload?
    var startEnd: UInt64 = 0
    /// The end of the content, if it is known.
    var statedEnd: UInt64?

    /// The end of the part that may contain frames.
    var end: UInt64 { min(statedEnd ?? size, size) }

    /// Returns a segment with a header that is sufficient to read frames, whatever the file's own header is.
    func segment(of store: StoreID) -> Segment {
        Segment(
            header: header
                ?? SegmentHeader(
                    kind: role == .side ? .side : .main, store: store, number: number,
                    baseLSN: baseLSN), file: file)
    }
}

struct FolderSurvey {
    let folder: FilePath
    let fileSystem: any FileSystem
    /// In ascending order of their numbers.
    private(set) var segments: [SurveyedSegment] = []
    /// Nil if no header contains it.
    private(set) var storeID: StoreID?
    private(set) var storeTag: UInt32 = 0
    private(set) var mark: MarkRecord?
    /// The LSN below which the log is durable, according to the mark and segment headers.
    private(set) var promised: UInt64 = 0
    /// The lock file, if it exists.
    let lock: TolerantFile?
    /// Members of the live set whose files are missing.
    private(set) var missing: [StartPayload.LiveSegment] = []
    /// The problems of the folder and the files, apart from their frames.
    private(set) var problems: [StoreError] = []
    /// The number of the main segment whose start frame defines the live set.
    private(set) var newestStart: UInt32 = 0

    /// Examines a folder.
    ///
    /// - Throws: `StoreError`: `.openFailed` if there is no segment, or none that this version can read;
    ///   `.inputOutput` if the folder cannot be read.
    init(_ folder: FilePath, _ fileSystem: any FileSystem) throws(StoreError) {
        self.folder = folder
        self.fileSystem = fileSystem
        let numbers: [UInt32]
        var lock: TolerantFile?
        do throws(FileSystemError) {
            let names = try fileSystem.list(folder)
            numbers = names.compactMap { SegmentName.number(in: $0) }.sorted()
            if names.contains(SegmentName.lock) {
                lock = TolerantFile(
                    try fileSystem.open(folder.appending(SegmentName.lock), .read))
            }
        } catch  where error.code == .noSuchFileOrDirectory || error.code == .notDirectory {
            throw StoreError(
                .openFailed, "there is no store here", context: .init(path: "\(folder)"))
        } catch {
            throw StoreError(error)
        }
        self.lock = lock
        guard !numbers.isEmpty else {
            throw StoreError(
                .openFailed, "there is no store here", context: .init(path: "\(folder)"))
        }
        let record = lock.flatMap { Self.mark(in: $0) }
        var unreadable: StoreError?
        var live: Set<UInt32>?
        for number in numbers.reversed() {
            do {
                let segment = try Self.look(at: number, folder, fileSystem)
                segments.append(segment)
                if live == nil, segment.role == .main,
                    let start = (try? Self.start(of: segment, storeTag: segment.storeTag)) ?? nil
                {
                    live = Set(start.payload.live.map(\.number)).union([number])
                } else if live?.contains(number) != true {
                    segment.file.rest()
                }
            } catch {
                unreadable = unreadable ?? error
                problems.append(error)
            }
        }
        segments.reverse()
        problems.reverse()
        if segments.isEmpty, let unreadable { throw unreadable }
        // Data of another version is not damaged, and cannot be examined.
        if let newest = segments.last(where: { $0.header != nil || $0.isOfOtherVersion }),
            newest.isOfOtherVersion, let error = newest.headerError
        {
            throw StoreError(
                ofOtherVersion: error, at: "\(newest.file.path)", segment: newest.number)
        }
        if let record, record.role == .unfinishedCopy { leaveOutCopied(record) }
        chooseStore(record)
        for index in segments.indices.reversed() where segments[index].role == .main {
            try readStart(index)
            if live?.contains(segments[index].number) != true { segments[index].file.rest() }
        }
        chooseLiveSet()
        stateEnds()
        try takeLaterChanges()
        try takeHeld()
    }

    /// What is above the mark of an unfinished copy is ignored.                           F-220
    private mutating func leaveOutCopied(_ record: MarkRecord) {
        guard record.lsn > 0 else {
            problems.append(.unfinished(folder))
            return
        }
        for (index, segment) in segments.enumerated() {
            if segment.number > record.segment, segment.role != .side || segment.headerError != nil
            {
                segments[index].role = .unfinished
            } else if segment.number == record.segment, record.lsn >= segment.baseLSN {
                segments[index].statedEnd = record.lsn - segment.baseLSN
            }
        }
    }

    // MARK: Files

    /// Returns the names of the segments in a folder.
    ///
    /// - Throws: `StoreError`: `.openFailed` if there is no folder.
    static func segmentNames(in folder: FilePath, _ fileSystem: any FileSystem) throws(StoreError)
        -> [String]
    {
        do {
            return try fileSystem.list(folder).filter { SegmentName.number(in: $0) != nil }
        } catch  where error.code == .noSuchFileOrDirectory || error.code == .notDirectory {
            throw StoreError(
                .openFailed, "there is no store here", context: .init(path: "\(folder)"))
        } catch {
            throw StoreError(error)
        }
    }

    /// The machine that has the store open for writing, according to the lock file.                   F-227
    var host: HostRecord? {
        let bytes = RawBytes(count: HostRecord.size)
        guard let lock,
            (try? lock.read(into: bytes.mutable, at: UInt64(HostRecord.offset))) == HostRecord.size
        else { return nil }
        return try? HostRecord(decoding: bytes.bytes)
    }

    private static func mark(in lock: TolerantFile) -> MarkRecord? {
        let bytes = RawBytes(count: MarkRecord.size)
        guard (try? lock.read(into: bytes.mutable, at: 0)) == MarkRecord.size else { return nil }
        return try? MarkRecord(decoding: bytes.bytes)
    }

    private static func look(
        at number: UInt32, _ folder: FilePath, _ fileSystem: any FileSystem
    ) throws(StoreError) -> SurveyedSegment {
        do throws(FileSystemError) {
            let opened = try fileSystem.open(folder.appending(SegmentName.name(of: number)), .read)
            let file = TolerantFile(try RestingFile(opened, on: fileSystem, stays: true))
            var segment = SurveyedSegment(
                number: number, file: file, size: try file.size(), storeTag: 0, baseLSN: 0,
                role: .unfinished)
            let head = RawBytes(count: SegmentHeader.size)
            head.trim(to: try file.read(into: head.mutable, at: 0))
            do {
                let header = try SegmentHeader(decoding: head.bytes)
                guard header.number == number else {
                    throw FormatError(
                        .mismatch, "F-204", "the file of this number holds another segment",
                        expected: UInt64(number), found: UInt64(header.number))
                }
                segment.header = header
                segment.chain = SegmentHeader.chain(ofEncoded: head.bytes)
                segment.storeTag = header.store.tag
                segment.baseLSN = header.baseLSN
                segment.role = header.kind == .side ? .side : .main
            } catch let error as FormatError {
                segment.headerError = error
            } catch {
                preconditionFailure("decoding only throws format errors: \(error)")
            }
            return try learnFromFrames(segment)
        } catch {
            throw StoreError(error)
        }
    }

    /// Completes a segment without a valid header from its frames.
    private static func learnFromFrames(_ segment: SurveyedSegment) throws(FileSystemError)
        -> SurveyedSegment
    {
        guard segment.header == nil, !segment.isOfOtherVersion else { return segment }
        var found = segment
        var search = HeaderSearch(segment.file, from: UInt64(SegmentHeader.size))
        while let (header, offset) = try? search.next() {
            guard header.segment == segment.number, header.lsn >= offset,
                header.lsn < Self.maximumLSN
            else { continue }
            found.storeTag = header.storeTag
            found.baseLSN = header.lsn - offset
            // In a side segment the position is the offset; it is in the first main segment, too, but that
            // has a start frame, whose payload is at least 24 bytes.
            found.role = .main
            if offset == UInt64(SegmentHeader.size), header.kind != .start { found.role = .side }
            break
        }
        return found
    }

    /// The upper limit of positions in the log: adding to one does not overflow.
    private static let maximumLSN: UInt64 = 1 << 62

    // MARK: Store

    /// Chooses the store to which most segments belong.
    private mutating func chooseStore(_ record: MarkRecord?) {
        var votes: [UInt32: Int] = [:]
        for segment in segments where segment.role != .unfinished {
            votes[segment.storeTag, default: 0] += segment.header == nil ? 1 : 2
        }
        let newest = segments.last { $0.role != .unfinished }?.storeTag
        storeTag =
            votes.max {
                ($0.value, $0.key == newest ? 1 : 0) < ($1.value, $1.key == newest ? 1 : 0)
            }?
            .key ?? 0
        storeID = segments.first { $0.header?.store.tag == storeTag }?.header?.store
        if let record {
            if storeID == nil, votes.isEmpty || record.store.tag == storeTag {
                storeID = record.store
                storeTag = record.store.tag
            }
            mark = record.store == storeID ? record : nil
        }
        // Everything before a segment is durable before its header is written. A copy is written in any
        // order.
        let lastMain = record?.role == .unfinishedCopy ? record?.segment ?? 0 : .max
        promised = mark?.lsn ?? 0
        for segment in segments where segment.number <= lastMain {
            guard let header = segment.header, header.kind == .main, header.store == storeID else {
                continue
            }
            promised = max(promised, header.baseLSN)
        }
        for index in segments.indices where segments[index].role != .unfinished {
            if segments[index].storeTag != storeTag {
                segments[index].role = .foreign
                problems.append(
                    .damaged(
                        "the segment belongs to another store (F-216)",
                        segment: segments[index].number, offset: 0))
            }
        }
        for segment in segments where segment.role == .main || segment.role == .side {
            guard let error = segment.headerError else { continue }
            problems.append(
                .damaged("\(error.what) (\(error.rule))", segment: segment.number, offset: 0))
        }
    }

    private mutating func readStart(_ index: Int) throws(StoreError) {
        let segment = segments[index]
        guard let start = try Self.start(of: segment, storeTag: storeTag) else {
            if segment.header != nil, try !Self.holdsFrames(segment) {
                // Its creation did not finish: opening the store skips it.
                segments[index].role = .unfinished
            }
            return
        }
        segments[index].start = start.payload
        segments[index].startEnd = start.end
    }

    /// Returns the start frame of a segment and its end; nil if there is no readable one.
    private static func start(of segment: SurveyedSegment, storeTag: UInt32) throws(StoreError)
        -> (payload: StartPayload, end: UInt64)?
    {
        var walk = FrameWalk(
            segment.file, segment: segment.number, storeTag: storeTag, baseLSN: segment.baseLSN,
            chain: segment.chain, to: segment.size, readsPayloads: true)
        guard case .frame(let frame) = try walk.next(), frame.header.kind == .start,
            let payload = frame.payload, let start = try? StartPayload(decoding: payload)
        else { return nil }
        return (start, frame.end)
    }

    /// Whether there is a valid frame header of the segment anywhere after the place of the start frame.
    private static func holdsFrames(_ segment: SurveyedSegment) throws(StoreError) -> Bool {
        var search = HeaderSearch(
            segment.file, from: UInt64(SegmentHeader.size + FormatLimits.frameAlignment))
        return try search.holdsFrame(of: segment.number)
    }

    // MARK: Live set

    /// Takes the live set from the newest start frame, as of its time.
    private mutating func chooseLiveSet() {
        guard let newest = segments.last(where: { $0.role == .main && $0.start != nil }),
            let live = newest.start?.live
        else { return }
        newestStart = newest.number
        let members = Dictionary(
            live.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        for index in segments.indices {
            let number = segments[index].number
            guard segments[index].role == .main || segments[index].role == .side,
                number != newest.number
            else { continue }
            if let member = members[number] {
                segments[index].role = member.kind == .side ? .side : .main
                segments[index].statedEnd = member.end
            } else if number < newest.number {
                segments[index].role = .retired
            }
        }
        let present = Set(
            segments.filter { $0.role == .main || $0.role == .side }.map(\.number))
        missing = live.filter { !present.contains($0.number) }
    }

    /// Sets the end of each main segment, if the newest start frame does not contain it.
    private mutating func stateEnds() {
        let mains = segments.indices.filter { segments[$0].role == .main }
        for (index, next) in zip(mains, mains.dropFirst()) where segments[index].statedEnd == nil {
            let successor = segments[next]
            if successor.header?.predecessor == segments[index].number {
                segments[index].statedEnd = successor.header?.predecessorEnd
            } else if successor.baseLSN > segments[index].baseLSN {
                segments[index].statedEnd = successor.baseLSN - segments[index].baseLSN
            }
        }
    }

    /// Applies what commits after the newest start frame adopted and retired.
    private mutating func takeLaterChanges() throws(StoreError) {
        for index in segments.indices where segments[index].role == .side {
            segments[index].statedEnd = segments[index].statedEnd ?? UInt64(SegmentHeader.size)
        }
        var later = try laterChanges(readsPayloads: false)
        // A frame whose payload was lost ends the log as well. Except after a crash, there is little after
        // the durable part.
        if let last = later.changes.last, last.lsn >= later.durable {
            later = try laterChanges(readsPayloads: true)
        }
        let end = later.breaks.first { $0 >= later.durable } ?? .max
        for change in later.changes where change.lsn < end {
            retire(change.retired)
            for part in change.adopted { adopt(part) }
        }
    }

    /// A change of the live set by a commit after the newest start frame.
    private struct LaterChange {
        /// The position of the commit's frame in the log.
        var lsn: UInt64
        var retired: [UInt32]
        var adopted: [AdoptPayload.Part]
    }

    /// Returns the commits after the newest start frame that adopted or retired segments, the breaks of the
    /// log, and the LSN up to which it is durable: the first break at or above that is the end of the log,
    /// and nothing after it ever counted.
    private func laterChanges(readsPayloads: Bool) throws(StoreError) -> (
        changes: [LaterChange], breaks: [UInt64], durable: UInt64
    ) {
        var changes: [LaterChange] = []
        var breaks: [UInt64] = []
        var durable = promised
        var open: (retired: [UInt32], adopted: [AdoptPayload.Part]) = ([], [])
        for segment in segments where segment.role == .main && segment.number >= newestStart {
            var walk = FrameWalk(
                segment.file, segment: segment.number, storeTag: storeTag,
                baseLSN: segment.baseLSN, chain: segment.chain, to: segment.end,
                readsPayloads: readsPayloads)
            while let event = try walk.next() {
                guard case .frame(let frame) = event else {
                    if case .gap(let range, _) = event {
                        breaks.append(segment.baseLSN + range.lowerBound)
                    }
                    continue
                }
                if frame.problem != nil { breaks.append(frame.header.lsn) }
                durable = max(durable, frame.header.mark)
                switch frame.header.kind {
                case .retire:
                    if let payload = payload(frame, of: segment) {
                        open.retired +=
                            (try? RetirePayload(decoding: payload.bytes))?.segments ?? []
                    }
                case .adopt:
                    if let payload = payload(frame, of: segment) {
                        open.adopted += (try? AdoptPayload(decoding: payload.bytes))?.parts ?? []
                    }
                case .commit:
                    if !open.retired.isEmpty || !open.adopted.isEmpty {
                        changes.append(
                            LaterChange(
                                lsn: frame.header.lsn, retired: open.retired, adopted: open.adopted)
                        )
                    }
                    open = ([], [])
                default: break
                }
            }
        }
        return (changes, breaks, durable)
    }

    private func payload(_ frame: FrameWalk.Frame, of segment: SurveyedSegment) -> RawBytes? {
        try? segment.segment(of: storeID ?? StoreID(low: 0, high: 0)).frame(
            at: frame.offset, storeTag: storeTag
        ).1
    }

    /// Records that segments, whose files may be gone, were retired later.
    private mutating func retire(_ numbers: [UInt32]) {
        missing.removeAll { numbers.contains($0.number) }
        for index in segments.indices where numbers.contains(segments[index].number) {
            segments[index].role = .retired
        }
    }

    /// Sets the end of the valid part of a side segment.
    private mutating func adopt(_ part: AdoptPayload.Part) {
        guard let index = segments.firstIndex(where: { $0.number == part.segment }) else {
            if !missing.contains(where: { $0.number == part.segment }) {
                missing.append(
                    .init(number: part.segment, kind: .side, end: part.end, chain: part.endChain))
            }
            return
        }
        // A segment that was begun before the newest start frame and adopted after it is not in that frame.
        let isSide =
            segments[index].role == .side
            || segments[index].role == .retired && segments[index].header?.kind == .side
        guard isSide || segments[index].header == nil else { return }
        segments[index].role = .side
        segments[index].statedEnd = max(part.end, segments[index].statedEnd ?? 0)
    }

    // MARK: Past states

    /// Distinguishes retired segments that past states need from unused ones. A writer that retires some logs
    /// which ones are needed, so the newest metadata of a main segment are current.
    private mutating func takeHeld() throws(StoreError) {
        guard segments.contains(where: { $0.role == .retired }) else { return }
        for segment in segments.reversed() where segment.role == .main {
            // No earlier segment can record that past states are kept.
            guard segment.header?.flags.allowsPastStates ?? true else { return }
            guard let metadata = try metadata(in: segment) else { continue }
            for held in metadata.asOf?.held ?? [] {
                guard
                    let index = segments.firstIndex(where: {
                        $0.number == held.segment && $0.role == .retired
                    })
                else { continue }
                segments[index].role = .held
                segments[index].statedEnd =
                    segments.first { $0.header?.predecessor == held.segment }?.header?
                    .predecessorEnd
            }
            return
        }
    }

    /// Returns the last committed metadata in a main segment.
    private func metadata(in segment: SurveyedSegment) throws(StoreError) -> StoredMetadata? {
        var found: StoredMetadata?
        var open: FrameWalk.Frame?
        var walk = FrameWalk(
            segment.file, segment: segment.number, storeTag: storeTag, baseLSN: segment.baseLSN,
            chain: segment.chain, to: segment.end, readsPayloads: false)
        while let event = try walk.next() {
            guard case .frame(let frame) = event else { continue }
            if frame.header.kind == .metadata { open = frame }
            guard frame.header.kind == .commit, let metadata = open else { continue }
            open = nil
            if let payload = payload(metadata, of: segment),
                let stored = try? StoredMetadata(
                    payload.bytes,
                    at: Place(exactSegment: segment.number, byteOffset: metadata.offset) ?? .none)
            {
                found = stored
            }
        }
        return found
    }

    /// The missing segments, as errors.
    var missingErrors: [StoreError] {
        missing.map { .damaged("segment \($0.number) is missing (F-216)", segment: $0.number) }
    }
}
