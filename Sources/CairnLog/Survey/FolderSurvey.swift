// The contents of a store's folder, examined without assuming that any of it is valid.            Format 60.4
//
//   1. Every file with the name of a segment is opened and its header read. Where that is wrong, the first frame
//      header inside says to which store the file belongs and where in the log it begins.
//   2. The store is the one that most files belong to; files of others are set aside.
//   3. Start frames are read. The newest one that can be read says which segments make up the store, and where
//      each of them ends; else the header of a successor says it, or the place in the log where one begins.
//   4. Adopt and retire frames behind that start frame change what it says, up to where the log ends.
//   5. The metadata in force say which of the retired segments are kept for past states.            (F-793)
//
// A file that is looked at is closed again, unless the newest start frame lists it: of retired segments there may be as many as
// past states need.
//
// Invariants: nothing is written and nothing locked.
// Threads: one survey in one thread.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

/// A file with the name of a segment.
struct SurveyedSegment {
    /// What it is good for.
    enum Role: Equatable {
        /// Part of the log.
        case main
        /// Contains what compaction moved; counts as far as the log has adopted it.
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
    /// The header, if it is valid and of this file.
    var header: SegmentHeader?
    /// Why there is none.
    var headerError: FormatError?
    /// Whether the header is whole, and another version of the format or of Cairn has written it.
    var isOfOtherVersion: Bool { headerError?.isOfOtherVersion ?? false }
    /// The chain value before the first frame.
    var chain: UInt32?
    var storeTag: UInt32
    var baseLSN: UInt64
    var role: Role
    /// The start frame, if it can be read.
    var start: StartPayload?
    var startEnd: UInt64 = 0
    /// Where the content ends, if somebody says so.
    var statedEnd: UInt64?

    /// Where there may be frames.
    var end: UInt64 { min(statedEnd ?? size, size) }

    /// A header that reading frames can be done with, whatever the file's own is.
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
    /// By rising number.
    private(set) var segments: [SurveyedSegment] = []
    /// Nil if no header says it.
    private(set) var storeID: StoreID?
    private(set) var storeTag: UInt32 = 0
    private(set) var mark: MarkRecord?
    /// The LSN below which the log is durable, as far as mark and segment headers say.
    private(set) var promised: UInt64 = 0
    /// The lock file, if it is there.
    let lock: TolerantFile?
    /// Members of the live set whose files are not there.
    private(set) var missing: [StartPayload.LiveSegment] = []
    /// What is wrong with the folder and the files, apart from their frames.
    private(set) var problems: [StoreError] = []
    /// The number of the main segment whose start frame says what the store is made of.
    private(set) var newestStart: UInt32 = 0

    /// Looks at a folder.
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
        // What another version has written is not damaged, and nothing can be said of it.
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

    /// What lies above the mark of a copy that was not finished means nothing.                           F-220
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

    /// The names of the segments in a folder.
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

    /// The machine that has the store open to write, as far as the lock file says it.                   F-227
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

    /// What the frames of a segment without a valid header say of it.
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
            // In a side segment the position is the offset; the first main segment's is, too, and has a start
            // frame, whose payload is no smaller than 24 bytes.
            found.role = .main
            if offset == UInt64(SegmentHeader.size), header.kind != .start { found.role = .side }
            break
        }
        return found
    }

    /// Positions in the log are below: adding to one does not overflow.
    private static let maximumLSN: UInt64 = 1 << 62

    // MARK: Store

    /// The store is the one that most segments are of.
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
        // Everything before a segment is durable before its header is written. What is copied is copied in any order.
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
                // Its creation did not finish: an opening passes over it.
                segments[index].role = .unfinished
            }
            return
        }
        segments[index].start = start.payload
        segments[index].startEnd = start.end
    }

    /// The start frame of a segment and where it ends; nil if there is none that can be read.
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

    /// Whether a valid frame header of the segment is anywhere behind the place of the start frame.
    private static func holdsFrames(_ segment: SurveyedSegment) throws(StoreError) -> Bool {
        var search = HeaderSearch(
            segment.file, from: UInt64(SegmentHeader.size + FormatLimits.frameAlignment))
        return try search.holdsFrame(of: segment.number)
    }

    // MARK: Live set

    /// The newest start frame says what the store is made of, as far as it was made before it.
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

    /// Where each main segment ends, if the newest start frame does not say it.
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

    /// What commits behind the newest start frame adopted and retired.
    private mutating func takeLaterChanges() throws(StoreError) {
        for index in segments.indices where segments[index].role == .side {
            segments[index].statedEnd = segments[index].statedEnd ?? UInt64(SegmentHeader.size)
        }
        var later = try laterChanges(readsPayloads: false)
        // A frame whose payload was lost ends the log as well. Behind what is durable there is little but after a crash.
        if let last = later.changes.last, last.lsn >= later.durable {
            later = try laterChanges(readsPayloads: true)
        }
        let end = later.breaks.first { $0 >= later.durable } ?? .max
        for change in later.changes where change.lsn < end {
            retire(change.retired)
            for part in change.adopted { adopt(part) }
        }
    }

    /// What a commit behind the newest start frame changed in what the store is made of.
    private struct LaterChange {
        /// Where the frame of the commit is in the log.
        var lsn: UInt64
        var retired: [UInt32]
        var adopted: [AdoptPayload.Part]
    }

    /// Commits behind the newest start frame that adopted or retired segments, where the log is broken, and up to where it is
    /// durable: the first break that is not below is its end, and what lies behind that never counted.
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

    /// Notes that segments, the files of which may be gone, were retired later.
    private mutating func retire(_ numbers: [UInt32]) {
        missing.removeAll { numbers.contains($0.number) }
        for index in segments.indices where numbers.contains(segments[index].number) {
            segments[index].role = .retired
        }
    }

    /// Says up to where a side segment counts.
    private mutating func adopt(_ part: AdoptPayload.Part) {
        guard let index = segments.firstIndex(where: { $0.number == part.segment }) else {
            if !missing.contains(where: { $0.number == part.segment }) {
                missing.append(
                    .init(number: part.segment, kind: .side, end: part.end, chain: part.endChain))
            }
            return
        }
        // One that was begun before the newest start frame and adopted behind it is not in that frame.
        let isSide =
            segments[index].role == .side
            || segments[index].role == .retired && segments[index].header?.kind == .side
        guard isSide || segments[index].header == nil else { return }
        segments[index].role = .side
        segments[index].statedEnd = max(part.end, segments[index].statedEnd ?? 0)
    }

    // MARK: Past states

    /// Tells retired segments that past states need from those that nobody does. Whoever retires some writes which ones those
    /// are into the log, so the newest metadata of a main segment are those in force.
    private mutating func takeHeld() throws(StoreError) {
        guard segments.contains(where: { $0.role == .retired }) else { return }
        for segment in segments.reversed() where segment.role == .main {
            // Before it no segment says that past states are kept.
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

    /// The metadata of the last commit in a main segment that has some.
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

    /// What is missing, as errors.
    var missingErrors: [StoreError] {
        missing.map { .damaged("segment \($0.number) is missing (F-216)", segment: $0.number) }
    }
}
