// Reads all frames in a segment, whatever is in between.                             Format 30
//
//   1. A header that is intact and belongs here is a frame, even if the chain before it is broken.
//   2. If there is none, the next one is searched at every eighth byte. The bytes in between are a gap.
//   3. With payloads: a payload with a wrong checksum makes the frame broken; its length is still known.
//
// Invariants: events come in the order of the file; frames and gaps together cover it without overlap.
// Threads: one walk in one thread.

import CairnFileSystem
import CairnFormat
import CairnStore

/// Reads each frame and each gap.
struct FrameWalk: ~Copyable {
    /// A frame in the segment.
    struct Frame {
        let header: FrameHeader
        let offset: UInt64
        /// Its payload, valid until the next call; nil if it is broken, or payloads are not read.
        let payload: UnsafeRawBufferPointer?
        /// The problem with it; a frame with a wrong chain or mark may still have a payload.
        let problem: FormatError?
        /// Whether it is known to follow the previous frame.
        let isChained: Bool

        var end: UInt64 { offset + UInt64(header.frameLength) }
    }

    enum Event {
        case frame(Frame)
        /// Bytes that are not a frame, and why no frame begins at the first of them.
        case gap(Range<UInt64>, FormatError)
    }

    private let file: any File
    private let segment: UInt32
    private let storeTag: UInt32
    private let baseLSN: UInt64
    private let end: UInt64
    private let readsPayloads: Bool
    private(set) var position: UInt64
    private var chain: UInt32?
    private var mark: UInt64
    private var window: RawBytes
    private var windowStart: UInt64 = 0
    private var windowCount = 0

    /// A walk from an offset to an end.
    ///
    /// - Parameter chain: the chain value before the first frame, if it is known.
    init(
        _ file: any File, segment: UInt32, storeTag: UInt32, baseLSN: UInt64,
        from start: UInt64 = UInt64(SegmentHeader.size), chain: UInt32?, to end: UInt64,
        readsPayloads: Bool
    ) {
        self.file = file
        self.segment = segment
        self.storeTag = storeTag
        self.baseLSN = baseLSN
        self.end = end
        self.readsPayloads = readsPayloads
        self.chain = chain
        position = start
        mark = 0
        window = RawBytes(count: readsPayloads ? 1 << 20 : 16 << 10)
    }

    /// Returns the next frame or gap; nil at the end.
    mutating func next() throws(StoreError) -> Event? {
        guard position < end else { return nil }
        let start = position
        do {
            let header = try header()
            return .frame(try frame(header, at: start))
        } catch let error as FormatError {
            chain = nil
            position = try search(from: start + 8)
            return .gap(start..<position, error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("a frame only throws format and store errors: \(error)")
        }
    }

    private mutating func header() throws -> FrameHeader {
        let header = try FrameHeader(decoding: try bytes(at: position, FrameHeader.size))
        try check(header, at: position)
        return header
    }

    /// Throws if a header does not belong at this place.
    private func check(_ header: FrameHeader, at offset: UInt64) throws(FormatError) {
        if header.segment != segment || header.storeTag != storeTag {
            throw FormatError(
                .mismatch, "F-307", "a frame of another store or segment", at: 44,
                expected: UInt64(segment), found: UInt64(header.segment))
        }
        if header.lsn != baseLSN &+ offset {
            throw FormatError(
                .mismatch, "F-306", "a frame that belongs elsewhere", at: 24,
                expected: baseLSN &+ offset, found: header.lsn)
        }
        if UInt64(header.frameLength) > end - offset {
            throw FormatError(
                .truncated, "F-303", "the segment ends inside a frame",
                expected: UInt64(header.frameLength), found: end - offset)
        }
    }

    private mutating func frame(_ header: FrameHeader, at offset: UInt64) throws -> Frame {
        var problem: FormatError?
        let isChained = chain == header.predecessor
        if let chain, !isChained {
            problem = FormatError(
                .mismatch, "F-308", "a frame that does not follow the one before it", at: 40,
                expected: UInt64(chain), found: UInt64(header.predecessor))
        } else if header.mark < mark {
            problem = FormatError(
                .mismatch, "F-309", "the mark falls (SG4)", at: 32, expected: mark,
                found: header.mark)
        }
        var payload: UnsafeRawBufferPointer?
        if readsPayloads {
            let padded = try bytes(
                at: offset + UInt64(FrameHeader.size), header.paddedLength)
            do {
                payload = try header.payload(of: padded)
            } catch {
                problem = error
            }
        }
        position = offset + UInt64(header.frameLength)
        chain = header.chain
        mark = max(mark, header.mark)
        return Frame(
            header: header, offset: offset, payload: payload, problem: problem,
            isChained: isChained)
    }

    /// Returns the start of the next frame, or the end.
    private func search(from start: UInt64) throws(StoreError) -> UInt64 {
        var search = HeaderSearch(file, from: start)
        while let (header, offset) = try search.next() {
            if offset >= end { break }
            if (try? check(header, at: offset)) != nil { return offset }
        }
        return end
    }

    private mutating func bytes(at offset: UInt64, _ count: Int) throws
        -> UnsafeRawBufferPointer
    {
        guard offset <= end, UInt64(count) <= end - offset else {
            throw FormatError(
                .truncated, "F-303", "the segment ends inside a frame", expected: UInt64(count),
                found: end - min(offset, end))
        }
        if offset < windowStart || offset + UInt64(count) > windowStart + UInt64(windowCount) {
            if window.count < count { window = RawBytes(count: count) }
            let wanted = Int(min(UInt64(window.count), end - offset))
            do throws(FileSystemError) {
                windowCount = try file.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: window.mutable[..<wanted]),
                    at: offset)
            } catch {
                windowCount = 0
                throw StoreError(error)
            }
            windowStart = offset
            guard windowCount >= count else {
                throw FormatError(
                    .truncated, "F-303", "the file ends inside a frame", expected: UInt64(count),
                    found: UInt64(windowCount))
            }
        }
        let start = Int(offset - windowStart)
        return UnsafeRawBufferPointer(rebasing: window.bytes[start..<start + count])
    }
}
