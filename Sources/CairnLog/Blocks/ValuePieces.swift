// Reads a value that has its own frames, frame by frame.                             Format 60.5
//
//   1. Each frame is verified by its checksums, and must hold the expected piece of the value and owner that
//      the cell's reference names.
//   2. With the last piece, the checksum of the whole value must match: otherwise that piece is not returned.
//
// Threads: a value of the one who reads.

import CairnFormat
import CairnStore

/// The pieces of a large value that have not been read yet.
struct ValuePieces {
    private let segment: Segment
    private let reference: ValueReference
    private let storeTag: UInt32
    private let owner: LargeValueReader.Owner?
    private var offset: UInt64
    private var sequence: UInt32 = 0
    private var position: UInt64 = 0
    private var checksum: UInt32 = 0

    /// - Parameter owner: the owner that it must have; nil: its checksum suffices.
    init(
        _ reference: ValueReference, in segment: Segment, storeTag: UInt32,
        owner: LargeValueReader.Owner?
    ) {
        self.reference = reference
        self.segment = segment
        self.storeTag = storeTag
        self.owner = owner
        offset = UInt64(reference.place.byteOffset)
    }

    /// Returns the payload of the next frame, whose piece follows the head; nil at the end.
    ///
    /// - Throws: `StoreError` with `.damaged` and the place.
    mutating func next() throws(StoreError) -> RawBytes? {
        guard position < reference.length else { return nil }
        let (header, payload) = try segment.frame(at: offset, storeTag: storeTag)
        guard header.kind == .value else {
            throw damaged(
                sequence == 0
                    ? "there is no large value here (F-631)" : "a large value ends early (F-632)")
        }
        let head: ValuePayload
        do {
            head = try ValuePayload(decoding: payload.bytes)
        } catch {
            throw damaged("\(error.what) (\(error.rule))")
        }
        guard head.sequence == sequence, head.totalLength == reference.length,
            head.pieceOffset == position
        else { throw damaged("a piece of a large value is out of place (F-632)") }
        if let owner,
            owner
                != LargeValueReader.Owner(
                    tree: head.tree, number: head.number, property: head.property)
        {
            throw damaged("a large value belongs to another row (F-632)")
        }
        let piece = ValuePayload.piece(of: payload.bytes)
        checksum = Checksum.crc32c(piece, continuing: checksum)
        position += UInt64(piece.count)
        if position == reference.length, checksum != reference.checksum {
            offset = UInt64(reference.place.byteOffset)
            throw damaged("a large value is damaged (F-634)")
        }
        sequence += 1
        offset += UInt64(header.frameLength)
        return payload
    }

    private func damaged(_ message: String) -> StoreError {
        .damaged(message, segment: segment.number, offset: offset)
    }
}
