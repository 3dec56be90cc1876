// The heads of a value frame whose piece is already written.                            Format 30, 60.5

extension ValuePayload {
    /// Writes the frame header and the payload's head, with the checksum of the head and the piece that
    /// follows.
    ///
    /// - Parameter offset: the frame's offset in a side segment.
    package func encodeHeads(
        pieceChecksum: UInt32, pieceCount: Int, commit: UInt64, offset: UInt64,
        predecessor: UInt32, storeTag: UInt32, segment: UInt32, to writer: inout ByteWriter
    ) -> FrameHeader {
        let start = writer.count
        writer.appendZeros(FrameHeader.size)
        encodeHead(pieceCount: pieceCount, to: &writer)
        let head = UnsafeRawBufferPointer(
            rebasing: writer.bytes[(start + FrameHeader.size)...])
        var header = FrameHeader(
            unchained: .value, payloadLength: Self.headSize + pieceCount,
            payloadChecksum: Checksum.combined(
                Checksum.crc32c(head), pieceChecksum, count: pieceCount),
            commit: commit, lsn: offset, mark: 0, predecessor: predecessor, storeTag: storeTag,
            segment: segment)
        if let base = writer.mutableBytes.baseAddress {
            header.chain = header.encode(into: base + start)
        }
        return header
    }
}

extension FrameHeader {
    /// Creates a header for a payload that is not in memory, without `chain`.
    init(
        unchained kind: FrameKind, payloadLength: Int, payloadChecksum: UInt32, commit: UInt64,
        lsn: UInt64, mark: UInt64, predecessor: UInt32, storeTag: UInt32, segment: UInt32
    ) {
        precondition(
            payloadLength <= FormatLimits.maximumPayload, "a payload has at most 16 MiB")
        rawKind = kind.rawValue
        flags = 0
        version = 0
        self.payloadLength = UInt32(payloadLength)
        self.payloadChecksum = payloadChecksum
        self.commit = commit
        self.lsn = lsn
        self.mark = mark
        self.predecessor = predecessor
        self.storeTag = storeTag
        self.segment = segment
        chain = 0
    }
}
