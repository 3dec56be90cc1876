// The 56 bytes before every payload.                                                Format 30
//
//   1. Magic and header checksum come first: no field of a header is trusted before. (F-302)
//   2. Then each field is checked against its own limits. (F-303, F-309, F-313)
//   3. `check` compares it with what a reader expects at the place. (F-306 to F-309)
//   4. The payload is trusted after its own checksum. (F-304, F-305)
//
// A decoded header is complete and valid, but may still belong elsewhere until `check` has passed.

/// The header of a frame.
package struct FrameHeader: Sendable, Hashable {
    package static let size = 56
    /// "CFRM" in ASCII.
    package static let magic: UInt32 = 0x4d52_4643

    /// The flag of frames that a reader may skip if it does not know their kind.
    package static let skippable: UInt8 = 0x80

    /// The kind as stored; see `kind`.
    package var rawKind: UInt8
    package var flags: UInt8
    /// The version of the payload's layout: 0.
    package var version: UInt8
    /// The size of the payload in bytes, without the padding after it.
    package var payloadLength: UInt32
    package var payloadChecksum: UInt32
    /// The commit that the frame belongs to; for start and close the last one before.
    package var commit: UInt64
    /// The LSN of the frame's first byte; in a side segment its offset.
    package var lsn: UInt64
    /// The LSN below which the log was durable when the frame was created.
    package var mark: UInt64
    /// The header checksum of the previous frame, or of the segment header.
    package var predecessor: UInt32
    package var storeTag: UInt32
    package var segment: UInt32
    /// The checksum of the 52 bytes before it: the chain value of the frame.
    package var chain: UInt32

    /// The kind; nil if this code does not know it.
    package var kind: FrameKind? { FrameKind(rawValue: rawKind) }

    /// Whether a reader that does not know the kind may skip the frame.                      F-311
    package var isSkippable: Bool { flags & Self.skippable != 0 }

    /// The size of the payload in bytes, with the padding after it.
    package var paddedLength: Int { Int(payloadLength).roundedUpToEight }

    /// The size of header, payload and padding, in bytes.
    package var frameLength: Int { Self.size + paddedLength }

    /// Creates a header for a payload, without `chain`, which `encode` returns.
    @inline(__always)
    init(
        unchained kind: FrameKind, flags: UInt8, payload: UnsafeRawBufferPointer, commit: UInt64,
        lsn: UInt64, mark: UInt64, predecessor: UInt32, storeTag: UInt32, segment: UInt32
    ) {
        precondition(
            payload.count <= FormatLimits.maximumPayload, "a payload has at most 16 MiB")
        rawKind = kind.rawValue
        self.flags = flags
        version = 0
        payloadLength = UInt32(payload.count)
        payloadChecksum = Checksum.crc32c(payload)
        self.commit = commit
        self.lsn = lsn
        self.mark = mark
        self.predecessor = predecessor
        self.storeTag = storeTag
        self.segment = segment
        chain = 0
    }

    /// Writes 56 bytes.
    ///
    /// - Returns: the header checksum, the frame's chain value.
    @discardableResult
    package func encode(into target: UnsafeMutableRawPointer) -> UInt32 {
        target.storeBytes(of: Self.magic.littleEndian, as: UInt32.self)
        target.storeBytes(of: rawKind, toByteOffset: 4, as: UInt8.self)
        target.storeBytes(of: flags, toByteOffset: 5, as: UInt8.self)
        target.storeBytes(of: version, toByteOffset: 6, as: UInt8.self)
        target.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
        target.storeBytes(of: payloadLength.littleEndian, toByteOffset: 8, as: UInt32.self)
        target.storeBytes(of: payloadChecksum.littleEndian, toByteOffset: 12, as: UInt32.self)
        target.storeBytes(of: commit.littleEndian, toByteOffset: 16, as: UInt64.self)
        target.storeBytes(of: lsn.littleEndian, toByteOffset: 24, as: UInt64.self)
        target.storeBytes(of: mark.littleEndian, toByteOffset: 32, as: UInt64.self)
        target.storeBytes(of: predecessor.littleEndian, toByteOffset: 40, as: UInt32.self)
        target.storeBytes(of: storeTag.littleEndian, toByteOffset: 44, as: UInt32.self)
        target.storeBytes(of: segment.littleEndian, toByteOffset: 48, as: UInt32.self)
        let checksum = Checksum.crc32c(UnsafeRawBufferPointer(start: target, count: 52))
        target.storeBytes(of: checksum.littleEndian, toByteOffset: 52, as: UInt32.self)
        return checksum
    }

    /// Returns whether the bytes are preallocated zeros, where no frame was ever written.
    package static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= size && bytes[..<size].allSatisfy { $0 == 0 }
    }

    /// Decodes the header from the first 56 bytes.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        guard bytes.count >= Self.size else {
            throw FormatError(
                .truncated, "F-302", "the frame is shorter than its header of 56 bytes",
                at: bytes.count,
                expected: UInt64(Self.size), found: UInt64(bytes.count))
        }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<Self.size]))
        let magic = try reader.integer(UInt32.self)
        guard magic == Self.magic else {
            throw FormatError(
                .badMagic, "F-302", "no frame here", expected: UInt64(Self.magic),
                found: UInt64(magic))
        }
        rawKind = try reader.integer()
        flags = try reader.integer()
        version = try reader.integer()
        let reserved = try reader.integer(UInt8.self)
        payloadLength = try reader.integer()
        payloadChecksum = try reader.integer()
        commit = try reader.integer()
        lsn = try reader.integer()
        mark = try reader.integer()
        predecessor = try reader.integer()
        storeTag = try reader.integer()
        segment = try reader.integer()
        chain = try reader.integer()
        let computed = Checksum.crc32c(UnsafeRawBufferPointer(rebasing: bytes[..<52]))
        guard chain == computed else {
            throw FormatError(
                .badChecksum, "F-302", "the frame header is damaged", at: 52,
                expected: UInt64(chain), found: UInt64(computed))
        }
        guard payloadLength <= FormatLimits.maximumPayload else {
            throw FormatError(
                .tooLarge, "F-303", "the payload is larger than 16 MiB", at: 8,
                expected: UInt64(FormatLimits.maximumPayload), found: UInt64(payloadLength))
        }
        guard rawKind != 0 else {
            throw FormatError(
                .malformed, "F-310", "the frame has the kind 0, which is never valid", at: 4)
        }
        guard flags & ~Self.skippable == 0, reserved == 0 else {
            throw FormatError(
                .malformed, "F-313", "reserved bits of the frame header are not zero", at: 5,
                found: UInt64(flags))
        }
        guard mark <= lsn else {
            throw FormatError(
                .malformed, "F-309", "the frame's mark is above its own place", at: 32,
                expected: lsn, found: mark)
        }
    }

    /// Checks the header against the place where it was found.
    package func check(_ expected: Expectation) throws(FormatError) {
        if segment != expected.segment { throw mismatch("F-307", 48, expected.segment, segment) }
        if storeTag != expected.storeTag {
            throw mismatch("F-307", 44, expected.storeTag, storeTag)
        }
        if lsn != expected.lsn { throw mismatch("F-306", 24, expected.lsn, lsn) }
        if predecessor != expected.chain {
            throw mismatch("F-308", 40, expected.chain, predecessor)
        }
        if mark < expected.mark { throw mismatch("F-309", 32, expected.mark, mark) }
    }

    /// The known facts about the next frame before it is read.
    package struct Expectation: Sendable, Hashable {
        package var segment: UInt32
        package var storeTag: UInt32
        package var lsn: UInt64
        package var chain: UInt32
        /// The mark of the previous frame; 0 before the first.
        package var mark: UInt64

        package init(segment: UInt32, storeTag: UInt32, lsn: UInt64, chain: UInt32, mark: UInt64) {
            self.segment = segment
            self.storeTag = storeTag
            self.lsn = lsn
            self.chain = chain
            self.mark = mark
        }
    }

    /// Checks payload and padding, `paddedLength` bytes, and returns the payload without the padding.
    package func payload(of padded: UnsafeRawBufferPointer) throws(FormatError)
        -> UnsafeRawBufferPointer
    {
        guard padded.count == paddedLength else {
            throw FormatError(
                .truncated, "F-303", "the payload is incomplete", at: padded.count,
                expected: UInt64(paddedLength), found: UInt64(padded.count))
        }
        let length = Int(payloadLength)
        let payload = UnsafeRawBufferPointer(rebasing: padded[..<length])
        let computed = Checksum.crc32c(payload)
        guard computed == payloadChecksum else {
            throw FormatError(
                .badChecksum, "F-304", "the payload is damaged",
                expected: UInt64(payloadChecksum), found: UInt64(computed))
        }
        guard padded[length...].allSatisfy({ $0 == 0 }) else {
            throw FormatError(
                .malformed, "F-305", "the padding of the payload is not zero", at: length)
        }
        return payload
    }

    /// Rejects a frame that this code cannot read and must not skip.
    ///
    /// - Returns: the kind; nil for a frame to skip. (F-311, F-312)
    package func readableKind() throws(FormatError) -> FrameKind? {
        if let kind, kind.isDefined {
            if kind == .metadata, !isSkippable {
                throw FormatError(
                    .malformed, "F-754", "the metadata frame is not marked as skippable", at: 5,
                    expected: UInt64(Self.skippable), found: UInt64(flags))
            }
            if kind == .changes, !isSkippable {
                throw FormatError(
                    .malformed, "F-776", "the changes frame is not marked as skippable", at: 5,
                    expected: UInt64(Self.skippable), found: UInt64(flags))
            }
            if kind == .redirects, !isSkippable {
                throw FormatError(
                    .malformed, "F-784", "the redirects frame is not marked as skippable", at: 5,
                    expected: UInt64(Self.skippable), found: UInt64(flags))
            }
            if version == 0 { return kind }
            throw FormatError(
                .unsupportedVersion, "F-312", "the payload has another version", at: 6, expected: 0,
                found: UInt64(version))
        }
        if isSkippable { return nil }
        throw FormatError(
            .unsupportedFeature, "F-311",
            "a frame of a kind that this version of Cairn does not know", at: 4,
            found: UInt64(rawKind))
    }

    private func mismatch<T: FixedWidthInteger>(
        _ rule: String, _ offset: Int, _ expected: T, _ found: T
    ) -> FormatError {
        FormatError(
            .mismatch, rule, "the frame belongs elsewhere", at: offset,
            expected: UInt64(expected), found: UInt64(found))
    }
}

extension Int {
    /// The next multiple of 8. Payload lengths are far below the largest integer.
    package var roundedUpToEight: Int { (self &+ 7) & ~7 }
}
