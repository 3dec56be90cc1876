// The first page of a segment.                                                      Format 20
//
//   1. Magic and checksum decide whether these bytes are a header at all. (F-203)
//   2. Version and flags are checked only after that. (F-205, F-208)
//   3. Number, kind and predecessor are last. (F-204, F-209, F-212)

/// The purpose of a segment. The raw values never change.
package enum SegmentKind: UInt32, Sendable {
    /// A member of the chain that takes commits.
    case main = 1
    /// Rewritten or streamed content that a frame of the main chain adopts.
    case side = 2
}

/// The header of a segment.
package struct SegmentHeader: Sendable, Hashable {
    package static let size = FormatLimits.segmentHeaderSize
    /// "CAIRNSEG" in ASCII.
    package static let magic: UInt64 = 0x4745_534e_5249_4143

    enum Field {
        static let incompatible = 80
        static let used = 104
        static let checksum = 4092
    }

    package var flags: FeatureFlags
    package var kind: SegmentKind
    package var store: StoreID
    /// The segment's own number, from 1.
    package var number: UInt32
    /// The number of the main segment before it, or 0.
    package var predecessor: UInt32
    /// The LSN of the segment's byte 0; 0 for a side segment.
    package var baseLSN: UInt64
    /// The offset in the predecessor where its content ends.
    package var predecessorEnd: UInt64
    /// The chain value there.
    package var predecessorChain: UInt32
    /// When the segment was created, in seconds since 2001-01-01 UTC.
    package var created: Double
    /// The number of the last commit before the segment.
    package var commit: UInt64

    package init(
        flags: FeatureFlags = FeatureFlags(), kind: SegmentKind = .main, store: StoreID,
        number: UInt32, predecessor: UInt32 = 0, baseLSN: UInt64 = 0, predecessorEnd: UInt64 = 0,
        predecessorChain: UInt32 = 0, created: Double = 0, commit: UInt64 = 0
    ) {
        self.flags = flags
        self.kind = kind
        self.store = store
        self.number = number
        self.predecessor = predecessor
        self.baseLSN = baseLSN
        self.predecessorEnd = predecessorEnd
        self.predecessorChain = predecessorChain
        self.created = created
        self.commit = commit
    }

    /// Appends the 4,096 bytes.
    ///
    /// - Returns: their checksum, the chain value that the segment's first frame refers to.
    @discardableResult
    package func encode(to writer: inout ByteWriter) -> UInt32 {
        precondition(number != 0, "segments are numbered from 1")
        let start = writer.count
        writer.append(Self.magic)
        writer.append(FormatVersion.current)
        writer.append(kind.rawValue)
        writer.append(store.low)
        writer.append(store.high)
        writer.append(number)
        writer.append(predecessor)
        writer.append(baseLSN)
        writer.append(predecessorEnd)
        writer.append(predecessorChain)
        writer.append(UInt32(0))
        writer.append(flags.compatible)
        writer.append(flags.readOnlyCompatible)
        writer.append(flags.incompatible)
        writer.append(double: created)
        writer.append(commit)
        writer.appendZeros(Field.checksum - (writer.count - start))
        let checksum = Checksum.crc32c(
            UnsafeRawBufferPointer(rebasing: writer.bytes[start...]))
        writer.append(checksum)
        return checksum
    }

    /// Decodes the header from the first 4,096 bytes of a segment.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        guard bytes.count >= Self.size else {
            throw FormatError(
                .truncated, "F-203", "the segment is shorter than its header of 4,096 bytes",
                at: bytes.count,
                expected: UInt64(Self.size), found: UInt64(bytes.count))
        }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<Self.size]))
        let magic = try reader.integer(UInt64.self)
        guard magic == Self.magic else {
            throw FormatError(
                .badMagic, "F-203", "not a segment", expected: Self.magic, found: magic)
        }
        let stated = Self.chain(ofEncoded: bytes)
        let computed = Checksum.crc32c(
            UnsafeRawBufferPointer(rebasing: bytes[..<Field.checksum]))
        guard stated == computed else {
            throw FormatError(
                .badChecksum, "F-203", "the segment header is damaged", at: Field.checksum,
                expected: UInt64(stated), found: UInt64(computed))
        }
        let version = try reader.integer(UInt32.self)
        guard version == FormatVersion.current else {
            throw FormatError(
                .unsupportedVersion, "F-205", "the store has another format version", at: 8,
                expected: UInt64(FormatVersion.current), found: UInt64(version))
        }
        let kind = try reader.integer(UInt32.self)
        store = try reader.storeID()
        number = try reader.integer()
        predecessor = try reader.integer()
        baseLSN = try reader.integer()
        predecessorEnd = try reader.integer()
        predecessorChain = try reader.integer()
        try reader.zeros(4)
        flags = FeatureFlags(
            compatible: try reader.integer(), readOnlyCompatible: try reader.integer(),
            incompatible: try reader.integer())
        try flags.requireReadable()
        created = try reader.double()
        commit = try reader.integer()
        try reader.zeros(Field.checksum - Field.used)
        guard let known = SegmentKind(rawValue: kind) else {
            throw FormatError(
                .malformed, "F-209", "the segment is neither main nor side", at: 12,
                found: UInt64(kind))
        }
        self.kind = known
        try checkNumbers()
    }

    /// Returns the checksum of a header that was decoded before: its first frame is chained to it.
    package static func chain(ofEncoded bytes: UnsafeRawBufferPointer) -> UInt32 {
        precondition(bytes.count >= Self.size, "a segment header has 4,096 bytes")
        return UInt32(
            littleEndian: bytes.loadUnaligned(fromByteOffset: Field.checksum, as: UInt32.self))
    }

    private func checkNumbers() throws(FormatError) {
        guard number != 0 else {
            throw FormatError(.malformed, "F-202", "the segment has the number 0", at: 32)
        }
        let isRight =
            if kind == .side {
                predecessor == 0 && baseLSN == 0 && predecessorEnd == 0 && predecessorChain == 0
            } else if predecessor == 0 {
                baseLSN == 0 && predecessorEnd == 0 && predecessorChain == 0
            } else {
                predecessor < number && predecessorEnd >= UInt64(Self.size)
                    && predecessorEnd & 7 == 0
                    && baseLSN & 7 == 0 && baseLSN >= predecessorEnd && baseLSN < 1 << 62
            }
        guard isRight else {
            throw FormatError(
                .malformed, "F-212", "the predecessor of the segment is impossible", at: 36,
                found: UInt64(predecessor))
        }
    }
}
