// The first 128 bytes of a checkpoint: its state, and the location of its contents.    Format 85
//
// It is written after the rest of the file, and the whole file is synced before its name is: so a valid
// header implies a complete file. (F-852)

/// The header of a checkpoint.
package struct CheckpointHeader: Sendable, Hashable {
    package static let size = 128
    /// "CAIRNCKP" in ASCII.
    static let magic: UInt64 = 0x504b_434e_5249_4143

    package var store: StoreID
    /// The commit whose state the checkpoint contains.
    package var commit: UInt64
    /// The end of the log in that state: after that commit's frame.
    package var lsn: UInt64
    package var segment: UInt32
    package var chain: UInt32
    package var endOffset: UInt64
    /// The offset of that commit's frame in the segment.
    package var commitOffset: UInt64
    /// The seed of the hashes in its indexes.
    package var hashSeed: UInt64
    package var contents: CheckpointUnit

    package init(
        store: StoreID, commit: UInt64, lsn: UInt64, segment: UInt32, chain: UInt32,
        endOffset: UInt64, commitOffset: UInt64, hashSeed: UInt64, contents: CheckpointUnit
    ) {
        self.store = store
        self.commit = commit
        self.lsn = lsn
        self.segment = segment
        self.chain = chain
        self.endOffset = endOffset
        self.commitOffset = commitOffset
        self.hashSeed = hashSeed
        self.contents = contents
    }

    package func encode(to writer: inout ByteWriter) {
        let start = writer.count
        writer.append(Self.magic)
        writer.append(FormatVersion.current)
        writer.append(UInt32(0))
        writer.append(store.low)
        writer.append(store.high)
        writer.append(commit)
        writer.append(lsn)
        writer.append(segment)
        writer.append(chain)
        writer.append(endOffset)
        writer.append(commitOffset)
        writer.append(hashSeed)
        contents.encode(to: &writer)
        writer.appendZeros(Self.size - 4 - (writer.count - start))
        writer.append(Checksum.crc32c(UnsafeRawBufferPointer(rebasing: writer.bytes[start...])))
    }

    /// - Parameter fileLength: the size of the whole file, in bytes.
    package init(decoding bytes: UnsafeRawBufferPointer, fileLength: UInt64) throws(FormatError) {
        guard bytes.count >= Self.size else {
            throw FormatError(
                .truncated, "F-852", "the checkpoint is shorter than its header of 128 bytes")
        }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<Self.size]))
        guard try reader.integer(UInt64.self) == Self.magic else {
            throw FormatError(.badMagic, "F-852", "not a checkpoint")
        }
        let stated = bytes.loadUnaligned(fromByteOffset: Self.size - 4, as: UInt32.self)
        guard
            UInt32(littleEndian: stated)
                == Checksum.crc32c(UnsafeRawBufferPointer(rebasing: bytes[..<(Self.size - 4)]))
        else { throw FormatError(.badChecksum, "F-852", "the header of the checkpoint is damaged") }
        let version = try reader.integer(UInt32.self)
        guard version == FormatVersion.current else {
            throw FormatError(
                .unsupportedVersion, "F-853", "the checkpoint has another format version")
        }
        try reader.zeros(4)
        store = StoreID(low: try reader.integer(), high: try reader.integer())
        commit = try reader.integer()
        lsn = try reader.integer()
        segment = try reader.integer()
        chain = try reader.integer()
        endOffset = try reader.integer()
        commitOffset = try reader.integer()
        hashSeed = try reader.integer()
        contents = try CheckpointUnit(decoding: &reader, fileLength: fileLength)
    }
}
