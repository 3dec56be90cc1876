// Writes whole frames into a buffer, without copying a payload twice.         Format 30, F-301
//
//   1. `beginFrame` reserves room for the header.
//   2. The caller appends the payload.
//   3. `endFrame` pads it, computes both checksums and fills in the header.

extension ByteWriter {
    /// Begins a frame; everything appended until `endFrame` is its payload.
    ///
    /// - Returns: the start of the frame in the buffer, for `endFrame`.
    package mutating func beginFrame() -> Int {
        precondition(count & 7 == 0, "frames begin at multiples of 8")
        let start = count
        appendZeros(FrameHeader.size)
        return start
    }

    /// Ends the frame that began at `start` in the buffer.
    ///
    /// - Returns: its header; the next frame refers to its `chain`.
    @discardableResult
    package mutating func endFrame(
        at start: Int, kind: FrameKind, flags: UInt8 = 0, commit: UInt64, lsn: UInt64, mark: UInt64,
        predecessor: UInt32, storeTag: UInt32, segment: UInt32
    ) -> FrameHeader {
        let payloadStart = start + FrameHeader.size
        precondition(payloadStart <= count, "a frame ends after it began")
        var header = FrameHeader(
            unchained: kind, flags: flags,
            payload: UnsafeRawBufferPointer(rebasing: bytes[payloadStart...]), commit: commit,
            lsn: lsn, mark: mark, predecessor: predecessor, storeTag: storeTag, segment: segment)
        return finish(&header, at: start)
    }

    /// Ends the frame with a known payload checksum.
    package mutating func endFrame(
        at start: Int, kind: FrameKind, payloadChecksum: UInt32, commit: UInt64, lsn: UInt64,
        mark: UInt64, predecessor: UInt32, storeTag: UInt32, segment: UInt32
    ) -> FrameHeader {
        let payloadStart = start + FrameHeader.size
        precondition(payloadStart <= count, "a frame ends after it began")
        var header = FrameHeader(
            unchained: kind, payloadLength: count - payloadStart, payloadChecksum: payloadChecksum,
            commit: commit, lsn: lsn, mark: mark, predecessor: predecessor, storeTag: storeTag,
            segment: segment)
        return finish(&header, at: start)
    }

    private mutating func finish(_ header: inout FrameHeader, at start: Int) -> FrameHeader {
        appendZeros(header.paddedLength - Int(header.payloadLength))
        if let base = mutableBytes.baseAddress { header.chain = header.encode(into: base + start) }
        return header
    }
}
