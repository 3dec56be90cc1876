// Reads the frames of a segment, oldest first.                                                      Format 30
//
//   1. Read the header: magic, checksum, and what its place requires.
//   2. Read the payload and check its checksum.
//   3. The first failure ends the scan; the caller decides what it means: in a segment that has a successor
//      it is damage, in the last one perhaps a torn tail.
//
// Invariants: `position` is the end of the last whole frame.
// Threads: one scanner in one thread; the file may have other readers.

import CairnFileSystem
package import CairnFormat
package import CairnStore

/// Reads frame after frame.
package struct FrameScanner: ~Copyable {
    let segment: Segment
    let end: UInt64
    package private(set) var position: UInt64
    package private(set) var expected: FrameHeader.Expectation
    /// Why the scan ended before `end`.
    package private(set) var failure: FormatError?
    /// None until something is read.
    private var window: RawBytes?
    private var windowStart: UInt64 = 0
    private var windowCount = 0
    /// The number of bytes to read at once.
    private let windowSize: Int

    /// Creates a scanner of a segment from its first frame up to `end`, or to the end of the file.
    ///
    /// - Parameter beginning: the beginning of the file, if it was read already.
    package init(
        _ segment: Segment, chain: UInt32, storeTag: UInt32, end: UInt64?,
        window size: Int = 4 << 20, beginning: RawBytes? = nil
    ) throws(StoreError) {
        self.segment = segment
        windowSize = size
        if let end { self.end = end } else { self.end = try segment.size() }
        position = UInt64(SegmentHeader.size)
        expected = FrameHeader.Expectation(
            segment: segment.number, storeTag: storeTag,
            lsn: segment.baseLSN + UInt64(SegmentHeader.size), chain: chain, mark: 0)
        window = beginning
        windowCount = beginning?.count ?? 0
    }

    /// Continues after a known frame.
    package mutating func skip(to end: LogEnd) {
        position = end.offset
        expected.lsn = end.lsn
        expected.chain = end.chain
    }

    /// Returns the next frame: its header, and its payload, which is valid until the next call. Returns nil
    /// at the end or at the first failure.
    package mutating func next() throws(StoreError) -> (
        header: FrameHeader, payload: UnsafeRawBufferPointer
    )? {
        guard position < end, failure == nil else { return nil }
        do {
            let head = try bytes(FrameHeader.size)
            let header = try FrameHeader(decoding: head)
            try header.check(expected)
            guard position >> 3 <= UInt64(UInt32.max) else {
                throw FormatError(
                    .tooLarge, "F-221", "a frame beyond the offsets that a place can name",
                    found: position)
            }
            let frame = try bytes(header.frameLength)
            let payload = try header.payload(
                of: UnsafeRawBufferPointer(rebasing: frame[FrameHeader.size...]))
            position += UInt64(header.frameLength)
            expected.lsn += UInt64(header.frameLength)
            expected.chain = header.chain
            expected.mark = header.mark
            return (header, payload)
        } catch let error as FormatError {
            failure = error
            return nil
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("a scan only throws format and store errors: \(error)")
        }
    }

    /// Returns bytes from the position on.
    private mutating func bytes(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard position + UInt64(count) <= end else {
            throw FormatError(
                .truncated, "F-303", "the file ends inside a frame", expected: UInt64(count),
                found: end - position)
        }
        if position < windowStart || position + UInt64(count) > windowStart + UInt64(windowCount) {
            // After a checkpoint there is little to read.
            let wanted = Int(min(UInt64(max(count, windowSize)), end - position))
            let read: RawBytes
            if let window, window.count >= wanted {
                read = window
            } else {
                read = RawBytes(count: wanted)
            }
            window = read
            let buffer = UnsafeMutableRawBufferPointer(rebasing: read.mutable[..<wanted])
            windowCount = try segment.readSome(buffer, at: position)
            windowStart = position
            guard windowCount >= count else {
                throw FormatError(
                    .truncated, "F-303", "the file ends inside a frame", expected: UInt64(count),
                    found: UInt64(windowCount))
            }
        }
        guard let window else { preconditionFailure("the requested bytes have been read") }
        let start = Int(position - windowStart)
        return UnsafeRawBufferPointer(rebasing: window.bytes[start..<start + count])
    }
}
