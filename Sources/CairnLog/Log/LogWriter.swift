// Appends the frames of one commit to the log.
//
//   1. Frames are built in a buffer; when it is full, it is written after the end of the log. What follows
//      the end is ignored (SG2), so a commit that fails leaves nothing behind.
//   2. The commit frame is last. What is in the buffer then is written by the queue of commits, so that
//      several commits share a write. Large values are written at once: readers of one read the file.
//
// Invariants: frames of a commit are in one segment, one after the other (SG5); a frame's mark is the durable
// end when it is created (SG4); `buffer` contains the bytes from `bufferStart` on.
// Threads: used by the holder of the turn alone.

import CairnFileSystem
package import CairnFormat
package import CairnStore

/// The frames of a commit that are being written to the log.
package struct LogWriter: ~Copyable {
    let segment: Segment
    let storeTag: UInt32
    let commit: UInt64
    /// The LSN below which the log is durable.
    let mark: UInt64
    let limit: Int
    /// Whether the commit will be synced at once.
    let syncs: Bool
    private(set) var end: LogEnd
    private(set) var frameCount = 0
    private let start: LogEnd
    private var buffer: ByteWriter
    private var bufferStart: UInt64
    private(set) var hasWritten = false
    /// Whether it contains large values.
    private(set) var hasValues = false

    /// - Parameter buffer: an empty buffer to reuse.
    init(
        segment: Segment, end: LogEnd, storeTag: UInt32, commit: UInt64, mark: UInt64, limit: Int,
        syncs: Bool = false, buffer: consuming ByteWriter? = nil
    ) {
        self.segment = segment
        self.end = end
        start = end
        self.storeTag = storeTag
        self.commit = commit
        self.mark = mark
        self.limit = limit
        self.syncs = syncs
        self.buffer = buffer ?? ByteWriter(capacity: 4096)
        bufferStart = end.offset
    }

    /// The LSN of the commit's first frame.
    var firstLSN: UInt64 { start.lsn }

    /// Appends a frame whose payload the closure writes; returns its place.
    @discardableResult
    package mutating func append(
        _ kind: FrameKind, flags: UInt8 = 0,
        _ payload: (inout ByteWriter) throws(StoreError) -> Void
    ) throws(StoreError) -> Place {
        let at = buffer.beginFrame()
        do {
            try payload(&buffer)
        } catch {
            buffer.cut(to: at)
            throw error
        }
        let place = try place(ofFrameAt: at)
        let header = buffer.endFrame(
            at: at, kind: kind, flags: flags, commit: commit, lsn: end.lsn, mark: mark,
            predecessor: end.chain, storeTag: storeTag, segment: segment.number)
        try add(header)
        return place
    }

    /// Appends a frame with an existing payload and its checksum; returns its place.
    mutating func append(
        _ kind: FrameKind, payload: UnsafeRawBufferPointer, checksum: UInt32
    ) throws(StoreError) -> Place {
        let at = buffer.beginFrame()
        buffer.append(payload)
        let place = try place(ofFrameAt: at)
        let header = buffer.endFrame(
            at: at, kind: kind, payloadChecksum: checksum, commit: commit, lsn: end.lsn, mark: mark,
            predecessor: end.chain, storeTag: storeTag, segment: segment.number)
        try add(header)
        return place
    }

    /// Returns the place that the frame in the buffer will have; if it cannot have one, removes it from the
    /// buffer.
    private mutating func place(ofFrameAt at: Int) throws(StoreError) -> Place {
        guard buffer.count - at - FrameHeader.size <= FormatLimits.maximumPayload else {
            buffer.cut(to: at)
            throw StoreError(.invalidRequest, "a single block of rows exceeds 16 MiB")
        }
        guard let place = Place(exactSegment: segment.number, byteOffset: end.offset) else {
            buffer.cut(to: at)
            throw StoreError(.invalidRequest, "a single commit exceeds 32 GiB")
        }
        return place
    }

    /// Counts a complete frame.
    @inline(__always)
    private mutating func add(_ header: FrameHeader) throws(StoreError) {
        let length = UInt64(header.frameLength)
        end.offset += length
        end.lsn += length
        end.chain = header.chain
        frameCount += 1
        if header.kind == .value { hasValues = true }
        if buffer.count >= limit {
            try flush()
            // More will follow: start writing to the disk before the end.
            if syncs {
                segment.file.beginWriting(at: start.offset, count: bufferStart - start.offset)
            }
        }
    }

    /// Writes the buffer after the end of the log.
    mutating func flush() throws(StoreError) {
        guard buffer.count > 0 else { return }
        hasWritten = true
        do {
            try segment.write(buffer.bytes, at: bufferStart)
        } catch {
            throw StoreError(error)
        }
        bufferStart += UInt64(buffer.count)
        buffer.reset()
    }

    /// Returns the payload of a frame of rows of this commit, from the buffer or from the file.
    func rows(at place: Place) throws(StoreError) -> StoredPayload {
        let offset = UInt64(place.byteOffset)
        guard offset >= bufferStart else {
            return try segment.rows(at: offset, storeTag: storeTag)
        }
        return Self.rows(ofFrameAt: Int(offset - bufferStart), in: buffer.bytes)
    }

    /// Returns the payload of a frame of rows in memory.
    static func rows(ofFrameAt start: Int, in bytes: UnsafeRawBufferPointer) -> StoredPayload {
        do {
            let header = try FrameHeader(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[start...]))
            let from = start + FrameHeader.size
            return StoredPayload(
                payload: RawBytes(
                    copying: UnsafeRawBufferPointer(
                        rebasing: bytes[from..<from + Int(header.payloadLength)])),
                isPatch: header.kind == .patch)
        } catch {
            preconditionFailure("a frame that was just made is whole: \(error)")
        }
    }

    /// Returns the buffer, for the next writer.
    consuming func takeBuffer() -> ByteWriter { buffer }

    /// Returns the frames that are not written yet, for the caller to write.
    func rest() -> LogChunk? {
        guard buffer.count > 0 else { return nil }
        return LogChunk(
            segment: segment, start: bufferStart, bytes: Array(buffer.bytes))
    }
}

extension Place {
    /// A place, if it can represent the offset.
    init?(exactSegment segment: UInt32, byteOffset: UInt64) {
        guard byteOffset & 7 == 0, let units = UInt32(exactly: byteOffset >> 3) else { return nil }
        self.init(segment: segment, offset8: units)
    }
}
