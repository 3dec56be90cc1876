// The first 64 bytes of the lock file: the known durable end of the log.             Format 20
//
// It is written after each sync of the log and never synced itself, so it may be missing, torn or old, but
// the claim of a valid one is true. In a copy of a store it also states whether the copy is complete, and is
// synced then. (F-213, F-214, F-219, F-220)

/// The durable end of the log, as far as the writer last knew.
package struct MarkRecord: Sendable, Hashable {
    package static let size = 64
    /// "CAIRNMRK" in ASCII.
    package static let magic: UInt64 = 0x4b52_4d4e_5249_4143

    /// The author of a mark, and its meaning.                                          F-219, F-220, F-225
    package enum Role: UInt32, Sendable, CaseIterable {
        /// A writer.
        case writer = 0
        /// The copier of a folder, once it was complete. No writer has opened it since.
        case copy = 1
        /// The copier, before the copy was complete: content above the LSN is meaningless. With LSN 0 there
        /// is no store yet.
        case unfinishedCopy = 2
        /// A writer that has released the lease: the log ends at the LSN.                               F-225
        case released = 3

        /// Whether the folder was created as a copy.
        package var isCopy: Bool { self == .copy || self == .unfinishedCopy }
    }

    package var store: StoreID
    /// The last durable commit.
    package var commit: UInt64
    /// The LSN below which everything is durable; the end of a commit, close or start frame.
    package var lsn: UInt64
    /// The header checksum of the frame that ends there.
    package var chain: UInt32
    /// The segment of that frame.
    package var segment: UInt32
    package var role: Role

    package init(
        store: StoreID, commit: UInt64, lsn: UInt64, chain: UInt32, segment: UInt32,
        role: Role = .writer
    ) {
        self.role = role
        self.store = store
        self.commit = commit
        self.lsn = lsn
        self.chain = chain
        self.segment = segment
    }

    package func encode(to writer: inout ByteWriter) {
        let start = writer.count
        writer.append(Self.magic)
        writer.append(FormatVersion.current)
        writer.append(segment)
        writer.append(store.low)
        writer.append(store.high)
        writer.append(commit)
        writer.append(lsn)
        writer.append(chain)
        writer.append(role.rawValue)
        writer.append(UInt32(0))
        writer.append(Checksum.crc32c(UnsafeRawBufferPointer(rebasing: writer.bytes[start...])))
    }

    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        guard bytes.count >= Self.size else {
            throw FormatError(
                .truncated, "F-213", "the mark record is shorter than 64 bytes", at: bytes.count,
                expected: UInt64(Self.size), found: UInt64(bytes.count))
        }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<Self.size]))
        let magic = try reader.integer(UInt64.self)
        guard magic == Self.magic else {
            throw FormatError(
                .badMagic, "F-213", "not a mark record", expected: Self.magic, found: magic)
        }
        let stated = UInt32(
            littleEndian: bytes.loadUnaligned(fromByteOffset: Self.size - 4, as: UInt32.self))
        let computed = Checksum.crc32c(UnsafeRawBufferPointer(rebasing: bytes[..<(Self.size - 4)]))
        guard stated == computed else {
            throw FormatError(
                .badChecksum, "F-213", "the mark record is damaged", at: Self.size - 4,
                expected: UInt64(stated), found: UInt64(computed))
        }
        let version = try reader.integer(UInt32.self)
        guard version == FormatVersion.current else {
            throw FormatError(
                .unsupportedVersion, "F-205", "the mark has another format version", at: 8,
                expected: UInt64(FormatVersion.current), found: UInt64(version))
        }
        segment = try reader.integer()
        store = try reader.storeID()
        commit = try reader.integer()
        lsn = try reader.integer()
        chain = try reader.integer()
        let role = try reader.integer(UInt32.self)
        guard let known = Role(rawValue: role) else {
            throw FormatError(
                .malformed, "F-213", "the mark record has an unknown role", at: 52,
                found: UInt64(role))
        }
        self.role = known
        try reader.zeros(4)
    }

    /// Returns whether the bytes at the start of a lock file are text of another program.               F-226
    package static func isForeignText(_ start: UnsafeRawBufferPointer) -> Bool {
        isForeign(start)
            && start.prefix(size).allSatisfy {
                $0 >= 0x20 && $0 < 0x7f || $0 == 9 || $0 == 10 || $0 == 13
            }
    }

    /// Returns whether the bytes at the start of a lock file cannot be left by an interrupted write of a
    /// record: of the first eight, as far as they exist, fewer than half are the magic's or zero. (F-226)
    package static func isForeign(_ start: UnsafeRawBufferPointer) -> Bool {
        let first = start.prefix(8)
        let own = withUnsafeBytes(of: magic.littleEndian) { magic in
            zip(first, magic).count { $0 == 0 || $0 == $1 }
        }
        return own * 2 < first.count
    }
}
