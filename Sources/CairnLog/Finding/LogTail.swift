// What follows the end of a log: whether it was durable, and how much of it is ignored.           Format 60.4
//
// Threads: one reader in one thread.

import CairnFileSystem
import CairnFormat
import CairnStore

/// The part of a log from the first invalid frame.
struct LogTail {
    /// The segment in which the frame is invalid, and all later ones.
    private let segments: ArraySlice<FoundSegment>
    private let segment: Segment
    /// The offset of the invalid frame.
    private let position: UInt64

    /// - Parameter segments: the one in which the frame is invalid, and all later ones.
    init(_ segments: ArraySlice<FoundSegment>, position: UInt64) {
        guard let first = segments.first else {
            preconditionFailure("a frame fails in a segment")
        }
        self.segments = segments
        segment = first.segment
        self.position = position
    }

    /// The LSN of the invalid frame.
    var lsn: UInt64 { segment.baseLSN + position }

    /// Returns the largest LSN that a frame header in it records as durable. Payloads and the chain are not
    /// checked.
    func largestMark() throws(StoreError) -> UInt64 {
        var mark: UInt64 = 0
        for later in segments.lazy.map(\.segment) {
            let start = later === segment ? position : UInt64(SegmentHeader.size)
            var search = HeaderSearch(later.file, from: start)
            while let (header, offset) = try search.next() {
                guard header.segment == later.number, header.storeTag == later.header.store.tag,
                    header.lsn == later.baseLSN + offset
                else { continue }
                mark = max(mark, header.mark)
            }
        }
        return mark
    }

    /// Throws if something in it was guaranteed to be durable (F-642).
    func check(durable: UInt64, _ failure: FormatError?) throws(StoreError) {
        guard lsn >= durable else {
            throw .damaged(
                "\(failure?.what ?? "the log ends"), though it was durable up to byte \(durable - segment.baseLSN) (\(failure?.rule ?? "F-303"))",
                segment: segment.number, offset: position)
        }
    }

    /// The bytes from an end in its first segment to the last nonzero one, and in all later segments.   F-646
    func bytesLeftBehind(from end: UInt64) throws(StoreError) -> UInt64 {
        var bytes: UInt64 = 0
        for later in segments.lazy.map(\.segment) {
            bytes += try TailMeasure.bytes(of: later.file, from: later === segment ? end : 0)
        }
        return bytes
    }

    /// Whether the last segment ends exactly at an end.
    func isEmpty(from end: UInt64) throws(StoreError) -> Bool {
        do {
            return try segment.file.size() == end && segments.count == 1
        } catch {
            throw StoreError(error)
        }
    }
}
