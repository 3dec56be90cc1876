// Writes a value into a side segment, frame by frame, before its length is known.          Format 60.5
//
//   1. Each piece is written after 88 zeros, the room for its two heads; its checksum is kept.
//   2. After the last piece the heads are written: the length that each of them contains is known now, and
//      the checksum of a payload is combined from those of its head and its piece. So nothing is read, or
//      written twice.
//   3. Everything is made durable: only then may a commit refer to it.
//
// Invariants: at most one piece is in memory. Nothing is a valid frame before step 2.
// Threads: any, one call at a time.

import CairnFileSystem
import CairnFormat
import CairnStore
import Synchronization

/// Receives the bytes of a value.
final class StagedWriter: ValueStaging {
    private struct Progress: ~Copyable {
        /// Zeros for the heads, and the piece being collected.
        var buffer: ByteWriter
        /// The checksums of the written pieces.
        var checksums: [UInt32] = []
        var lastCount = 0
        /// The number of bytes of the value, and their checksum.
        var count: UInt64 = 0
        var checksum: UInt32 = 0
        var isOver = false
    }

    private let engine: Engine
    private let segment: Segment
    private let start: LogEnd
    private let commit: UInt64
    private let owner: LargeValueReader.Owner
    private let progress: Mutex<Progress>

    /// The size of both heads in bytes.
    private static let headSize = FrameHeader.size + ValuePayload.headSize
    /// A row can store less than 4 GiB.
    private static let most = UInt64(UInt32.max) - 1 << 20

    init(
        _ engine: Engine, _ segment: Segment, _ start: LogEnd, commit: UInt64,
        owner: LargeValueReader.Owner
    ) {
        self.engine = engine
        self.segment = segment
        self.start = start
        self.commit = commit
        self.owner = owner
        var buffer = ByteWriter(capacity: Self.headSize + StagingArea.pieceSize)
        buffer.appendZeros(Self.headSize)
        progress = Mutex(Progress(buffer: buffer))
    }

    deinit { abandon() }

    func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        try progress.withLock { progress throws(StoreError) in
            try checkOpen(progress)
            guard progress.count + UInt64(bytes.count) <= Self.most else {
                throw StoreError(.invalidRequest, "a value exceeds 4 GiB")
            }
            var rest = bytes
            while !rest.isEmpty {
                let room = Self.headSize + StagingArea.pieceSize - progress.buffer.count
                let taken = UnsafeRawBufferPointer(rebasing: rest.prefix(room))
                progress.buffer.append(taken)
                progress.count += UInt64(taken.count)
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(room))
                if taken.count == room { try writePiece(&progress) }
            }
        }
    }

    private func checkOpen(_ progress: borrowing Progress) throws(StoreError) {
        if progress.isOver {
            throw StoreError(
                .invalidRequest,
                "the value is finished or was cancelled: nothing more can be written")
        }
    }

    /// The offset of a piece's frame: all frames before it have the same size.
    private func offset(_ piece: Int) -> UInt64 {
        start.offset + UInt64(piece) * UInt64(Self.headSize + StagingArea.pieceSize)
    }

    private func writePiece(_ progress: inout Progress) throws(StoreError) {
        let piece = UnsafeRawBufferPointer(
            rebasing: progress.buffer.bytes.dropFirst(Self.headSize))
        let checksum = Checksum.crc32c(piece)
        progress.checksums.append(checksum)
        progress.checksum = Checksum.combined(progress.checksum, checksum, count: piece.count)
        progress.lastCount = piece.count
        progress.buffer.appendZeros(progress.buffer.count.roundedUpToEight - progress.buffer.count)
        do throws(StoreError) {
            try write(progress.buffer.bytes, at: offset(progress.checksums.count - 1))
        } catch {
            // The noted piece was not written: nothing can follow.
            progress.isOver = true
            engine.tools.staging.abandon(segment.number, isSpoiled: false)
            engine.scheduleStagingTrim()
            throw error
        }
        progress.buffer.reset()
        progress.buffer.appendZeros(Self.headSize)
    }

    /// Writes to the segment while this process owns the folder: after the store is closed, another process
    /// may own it.
    private func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
        try engine.tools.staging.isOver.withLock { isOver throws(StoreError) in
            if isOver { throw StoreError(.unusable, "the store is closed") }
            do throws(FileSystemError) {
                try segment.write(bytes, at: offset)
            } catch {
                throw StoreError(error)
            }
        }
    }

    func finish() throws(StoreError) -> StagedValue {
        try progress.withLock { progress throws(StoreError) in
            try checkOpen(progress)
            if progress.buffer.count > Self.headSize { try writePiece(&progress) }
            precondition(progress.count > 0, "an empty value needs no frames")
            let end = try writeHeads(progress)
            do throws(FileSystemError) {
                try segment.synchronize()
            } catch {
                progress.isOver = true
                engine.tools.staging.abandon(segment.number, isSpoiled: true)
                throw StoreError(error)
            }
            guard let place = Place(exactSegment: segment.number, byteOffset: start.offset) else {
                throw StoreError(.invalidRequest, "a segment exceeds 32 GiB")
            }
            progress.isOver = true
            engine.tools.staging.finish(segment.number, start, end)
            return StagedValue(
                count: progress.count,
                StagedPart(
                    of: engine.storeID, in: engine.tools.staging, segment, start: start, end: end,
                    reference: ValueReference(
                        place: place, length: progress.count, checksum: progress.checksum),
                    owner: owner))
        }
    }

    /// Writes the heads of all frames; returns where the frames end.
    private func writeHeads(_ progress: borrowing Progress) throws(StoreError) -> LogEnd {
        var end = start
        var writer = ByteWriter(capacity: Self.headSize)
        let pieces = progress.checksums.count
        for piece in 0..<pieces {
            let count = piece == pieces - 1 ? progress.lastCount : StagingArea.pieceSize
            let head = ValuePayload(
                tree: owner.tree, number: owner.number, property: owner.property,
                sequence: UInt32(piece), totalLength: progress.count,
                pieceOffset: UInt64(piece) * UInt64(StagingArea.pieceSize))
            writer.reset()
            let header = head.encodeHeads(
                pieceChecksum: progress.checksums[piece], pieceCount: count, commit: commit,
                offset: end.offset, predecessor: end.chain, storeTag: engine.storeID.tag,
                segment: segment.number, to: &writer)
            try write(writer.bytes, at: end.offset)
            end.offset += UInt64(header.frameLength)
            end.lsn = end.offset
            end.chain = header.chain
        }
        return end
    }

    func abandon() {
        let wasOpen = progress.withLock { progress in
            defer { progress.isOver = true }
            return !progress.isOver
        }
        guard wasOpen else { return }
        engine.tools.staging.abandon(segment.number, isSpoiled: false)
        engine.scheduleStagingTrim()
    }
}
