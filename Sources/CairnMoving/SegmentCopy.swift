// Copies the part of one segment that a backup lacks.
//
//   1. What the backup has is a beginning of the segment if the chain value at its end is the same.
//   2. The rest is copied; what lies behind the end is cut off.
//   3. The copied frames are verified to the last one, whose chain value is known. Then they are synced.
//
// Invariants: SG1: bytes that an earlier backup counts are not written.
// Threads: one copy in one thread.

import CairnFileSystem
import CairnFormat
import CairnLog
import CairnStore

struct SegmentCopy {
    private let source: Segment
    private let member: StartPayload.LiveSegment
    private let files: StoreFiles
    private let storeTag: UInt32
    private let headerChain: UInt32
    /// The end of the data that exists and is valid.
    private var start: LogEnd?

    /// - Parameters:
    ///   - member: where the segment ends.
    ///   - known: what an earlier backup has of it.
    init(
        _ source: Segment, _ member: StartPayload.LiveSegment,
        known: StartPayload.LiveSegment?, _ files: StoreFiles, storeTag: UInt32
    ) throws {
        self.source = source
        self.member = member
        self.files = files
        self.storeTag = storeTag
        let head = RawBytes(count: SegmentHeader.size)
        try source.read(head.mutable, at: 0)
        headerChain = SegmentHeader.chain(ofEncoded: head.bytes)
        guard let known else { return }
        guard known.kind == member.kind, known.end <= member.end,
            try Self.chain(in: source, at: known.end, member) == known.chain
        else {
            throw StoreError(
                .invalidRequest,
                "the backup and the store have different histories; create a new backup in another folder",
                context: .init(
                    path: "\(files.folder)", segment: member.number, offset: known.end))
        }
        // A file that somebody has removed or cut is copied once more.
        let path = files.path(member.number)
        guard try files.fileSystem.exists(path),
            try files.fileSystem.open(path, .read).size() >= known.end
        else { return }
        start = LogEnd(
            segment: member.number, offset: known.end, lsn: source.baseLSN + known.end,
            chain: known.chain)
    }

    /// Bytes to be copied.
    var count: UInt64 { member.end - (start?.offset ?? 0) }

    /// Copies, verifies and syncs; tells of each piece.
    func carryOut(_ progress: (UInt64) -> Void) throws {
        let file = try files.fileSystem.open(
            files.path(member.number), start == nil ? .createOrOpen : .readWrite)
        var size = try file.size()
        if size == member.end, count == 0 { return }
        if start == nil, size > 0 {
            // What an unfinished backup left there.
            try file.truncate(to: 0)
            size = 0
        }
        let buffer = RawBytes(count: 1 << 20)
        var position = start?.offset ?? 0
        while position < member.end {
            let part = UnsafeMutableRawBufferPointer(
                rebasing: buffer.mutable[..<Int(min(UInt64(buffer.count), member.end - position))])
            try source.read(part, at: position)
            try file.write(UnsafeRawBufferPointer(part), at: position)
            position += UInt64(part.count)
            progress(UInt64(part.count))
        }
        if size > member.end { try file.truncate(to: member.end) }
        try verify(file)
        try file.synchronizeData()
    }

    /// Reads what is to be copied, and throws where it is not whole.
    func verifySource() throws { try verify(source.file) }

    /// A copy of what is damaged is no backup.
    private func verify(_ file: any File) throws {
        var scanner = try FrameScanner(
            Segment(header: source.header, file: file), chain: headerChain, storeTag: storeTag,
            end: member.end)
        if let start { scanner.skip(to: start) }
        while try scanner.next() != nil {}
        guard scanner.failure == nil, scanner.position == member.end,
            scanner.expected.chain == member.chain
        else {
            let failure = scanner.failure
            throw .damaged(
                "\(failure?.what ?? "the segment ends elsewhere") (\(failure?.rule ?? "F-216"))",
                segment: member.number, offset: scanner.position,
                path: "\(source.file.path)") as StoreError
        }
    }

    // MARK: Chain

    /// The chain value at a place in a segment, if a frame ends there: the next one says it.
    static func chain(
        in segment: Segment, at offset: UInt64, _ member: StartPayload.LiveSegment
    ) throws -> UInt32? {
        if offset == member.end { return member.chain }
        guard offset < member.end else { return nil }
        let head = RawBytes(count: FrameHeader.size)
        try segment.read(head.mutable, at: offset)
        guard let header = try? FrameHeader(decoding: head.bytes),
            header.segment == segment.number, header.lsn == segment.baseLSN + offset
        else { return nil }
        return header.predecessor
    }
}
