// Appends the frames of one commit to the log.
//
//   1. Frames are built in a buffer; when it is full it is written behind the end of the log. What lies
//      beyond the end means nothing yet (SG2), so a commit that fails leaves nothing of itself.
//   2. The commit frame is last. What is in the buffer then is for the queue of commits to write, so that
//      several commits share a write. Large values are written at once: whoever reads one reads the file.
//
// Invariants: frames of a commit lie together in one segment (SG5); a frame's mark is the durable end when
// it is made (SG4); `buffer` holds the bytes from `bufferStart` on.
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
    /// Whether there are large values in it.
    private(set) var hasValues = false

    /// - Parameter buffer: an empty one that was used before.
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

    /// Where the commit's first frame is.
    var firstLSN: UInt64 { start.lsn }

    /// Appends a frame whose payload the closure writes; gives its place.
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

    /// Appends a frame whose payload is there already, with its checksum; gives its place.
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

    /// Where the frame will be that lies in the buffer; if it may be nowhere, the buffer loses it.
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

    /// Counts a frame that is whole.
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
            // More will follow: the disk need not wait for the end.
            if syncs {
                segment.file.beginWriting(at: start.offset, count: bufferStart - start.offset)
            }
        }
    }

    /// Writes what is in the buffer behind the end of the log.
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

    /// The payload of a frame of rows of this commit, from the buffer or from the file.
    func rows(at place: Place) throws(StoreError) -> StoredPayload {
        let offset = UInt64(place.byteOffset)
        guard offset >= bufferStart else {
            return try segment.rows(at: offset, storeTag: storeTag)
        }
        return Self.rows(ofFrameAt: Int(offset - bufferStart), in: buffer.bytes)
    }

    /// The payload of a frame of rows in memory.
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

    /// Its buffer, for the next one.
    consuming func takeBuffer() -> ByteWriter { buffer }

    /// The frames that are not written, for whoever writes them.
    func rest() -> LogChunk? {
        guard buffer.count > 0 else { return nil }
        return LogChunk(
            segment: segment, start: bufferStart, bytes: Array(buffer.bytes))
    }
}

extension Place {
    /// A place, if the offset can be said in it.
    init?(exactSegment segment: UInt32, byteOffset: UInt64) {
        guard byteOffset & 7 == 0, let units = UInt32(exactly: byteOffset >> 3) else { return nil }
        self.init(segment: segment, offset8: units)
    }
}
