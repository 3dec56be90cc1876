// Finds the segments of a folder that make up its log.                               Format 60.4
//
//   1. Every file is judged by itself: whole (header and start frame), unfinished (no frame behind the
//      place of the start frame), or broken.                                              (FS4)
//   2. The newest whole main segment is the log's last. A broken file above it is damage; an unfinished
//      one is a segment whose creation did not finish, and is passed over.
//   3. From the last one the predecessors are followed. Each must be there and whole, and the live set in
//      every start frame must say the same as the headers.                              (F-216)
//
// Invariants: nothing is written. Files that are not reached in step 3 are no part of the log.
// Threads: one search in one thread.

import CairnFileSystem
import CairnFormat
import CairnStore

/// A segment that is whole: its header and its start frame are.
struct FoundSegment {
    let segment: Segment
    /// The chain value before its first frame.
    let chain: UInt32
    let start: StartPayload
    /// What the start frame says to be the last commit before it.
    let startCommit: UInt64
}

struct SegmentSearch {
    private enum Judgement {
        case whole(FoundSegment)
        case unfinished
        case broken(StoreError)
    }

    private let files: StoreFiles
    private var judgements: [UInt32: Judgement] = [:]
    /// The newest file with a valid header, if this version cannot read it.
    private var unreadable: StoreError?

    init(_ files: StoreFiles) {
        self.files = files
    }

    /// The log's segments, oldest first; empty if no creation of one was ever finished.
    mutating func run() throws(StoreError) -> [FoundSegment] {
        let numbers: [UInt32]
        do {
            numbers = try files.segmentNumbers()
        } catch {
            throw StoreError(error)
        }
        for number in numbers { judgements[number] = try judge(number) }
        if let unreadable { throw unreadable }
        var last: FoundSegment?
        for number in numbers.reversed() where last == nil {
            switch judgements[number] {
            case .whole(let found) where found.segment.header.kind == .main: last = found
            case .broken(let error): throw error
            case .whole, .unfinished, nil: break
            }
        }
        guard let last else { return [] }
        let log = try chain(to: last)
        try checkLiveSets(log)
        return log
    }

    // MARK: Files

    private mutating func judge(_ number: UInt32) throws(StoreError) -> Judgement {
        let file: any File
        let head = RawBytes(count: SegmentHeader.size)
        do {
            file = try files.fileSystem.open(files.path(number), .read)
            head.trim(to: try file.read(into: head.mutable, at: 0))
        } catch {
            throw StoreError(error)
        }
        var offset: UInt64 = 0
        do {
            let header = try SegmentHeader(decoding: head.bytes)
            unreadable = nil
            guard header.number == number else {
                throw FormatError(
                    .mismatch, "F-204", "the file of this number holds another segment",
                    expected: UInt64(number), found: UInt64(header.number))
            }
            let segment = Segment(header: header, file: file)
            let chain = SegmentHeader.chain(ofEncoded: head.bytes)
            if header.kind == .side {
                return .whole(
                    FoundSegment(
                        segment: segment, chain: chain, start: StartPayload(), startCommit: 0))
            }
            offset = UInt64(SegmentHeader.size)
            return .whole(try whole(segment, chain))
        } catch let error as FormatError {
            if offset == 0,
                error.code == .unsupportedVersion || error.code == .unsupportedFeature
            {
                unreadable = StoreError(
                    .openFailed, "\(error.what): \(error.found ?? 0) (\(error.rule))",
                    context: .init(path: "\(file.path)", segment: number))
            }
            if try !Self.holdsFrames(file, number) { return .unfinished }
            return .broken(
                .damaged("\(error.what) (\(error.rule))", segment: number, offset: offset))
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("a header gives format and store errors alone: \(error)")
        }
    }

    /// The segment with its start frame.
    private func whole(_ segment: Segment, _ chain: UInt32) throws -> FoundSegment {
        var scanner = try FrameScanner(
            segment, chain: chain, storeTag: segment.header.store.tag, end: nil, window: 64 << 10)
        guard let (header, payload) = try scanner.next() else {
            throw scanner.failure
                ?? FormatError(.truncated, "F-303", "the segment has no start frame")
        }
        guard header.kind == .start else {
            throw FormatError(
                .malformed, "F-211", "the first frame of a segment is its start frame",
                found: UInt64(header.rawKind))
        }
        guard try header.readableKind() != nil else {
            preconditionFailure("a start frame is of a kind that is known")
        }
        return FoundSegment(
            segment: segment, chain: chain, start: try StartPayload(decoding: payload),
            startCommit: header.commit)
    }

    /// Whether a valid frame header of the segment is anywhere behind the place of the start frame.
    private static func holdsFrames(_ file: any File, _ number: UInt32) throws(StoreError) -> Bool {
        var search = HeaderSearch(
            file, from: UInt64(SegmentHeader.size + FormatLimits.frameAlignment))
        while let (header, _) = try search.next() {
            if header.segment == number { return true }
        }
        return false
    }

    // MARK: Chain

    private func chain(to last: FoundSegment) throws(StoreError) -> [FoundSegment] {
        var log = [last]
        var successor = last.segment.header
        while successor.predecessor != 0 {
            let number = successor.predecessor
            let found: FoundSegment
            switch judgements[number] {
            case nil: throw .damaged("segment \(number) is missing (F-216)", segment: number)
            case .unfinished:
                throw .damaged(
                    "the segment has no content, but a successor (F-216)", segment: number,
                    offset: 0)
            case .broken(let error): throw error
            case .whole(let whole): found = whole
            }
            let header = found.segment.header
            guard header.kind == .main, header.store == successor.store else {
                throw .damaged(
                    "the segment belongs to another store (F-216)", segment: number, offset: 0)
            }
            guard header.baseLSN + successor.predecessorEnd == successor.baseLSN else {
                throw .damaged(
                    "the segment does not begin where its predecessor ends (F-216)",
                    segment: successor.number, offset: 0)
            }
            log.append(found)
            successor = header
        }
        return log.reversed()
    }

    /// What a start frame says of the segments before it must be what their successors' headers say.
    private func checkLiveSets(_ log: [FoundSegment]) throws(StoreError) {
        var live: [StartPayload.LiveSegment] = []
        for found in log {
            let header = found.segment.header
            if let before = live.indices.last {
                live[before].end = header.predecessorEnd
                live[before].chain = header.predecessorChain
            }
            guard found.start.live == live else {
                throw .damaged(
                    "the segment's list of segments is not what their headers say (F-216)",
                    segment: header.number, offset: UInt64(SegmentHeader.size))
            }
            guard found.startCommit == header.commit else {
                throw .damaged(
                    "start frame and header name different commits (F-218)",
                    segment: header.number, offset: UInt64(SegmentHeader.size))
            }
            live.append(.init(number: header.number, kind: .main, end: 0, chain: 0))
        }
    }
}
