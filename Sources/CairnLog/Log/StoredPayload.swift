// The stored form of a block: the whole block, or a patch.                                      Format 40, 45

import CairnFormat
import CairnStore

/// The payload of a frame of rows.
struct StoredPayload {
    let payload: RawBytes
    let isPatch: Bool
    /// The head of a block, if it was read.
    let head: BlockHead?

    init(payload: RawBytes, isPatch: Bool, head: BlockHead? = nil) {
        self.payload = payload
        self.isPatch = isPatch
        self.head = head
    }

    /// Nil for frames of other kinds.
    init?(_ kind: FrameKind?, _ payload: RawBytes) {
        switch kind {
        case .block: self.init(payload: payload, isPatch: false)
        case .patch: self.init(payload: payload, isPatch: true)
        default: return nil
        }
    }

    /// Returns the number of rows, and the block that it patches.
    func rows() throws(FormatError) -> (count: Int, patched: Place) {
        guard isPatch else { return (try BlockHead(decoding: payload.bytes).rows, .none) }
        let patch = try PatchHead(decoding: payload.bytes)
        return (patch.own.rows, patch.base)
    }
}

extension Segment {
    /// Returns the payload of the frame of rows at an offset, whose header is checked. Head and slices have
    /// their own checksums, which their readers verify.
    ///
    /// - Throws: `StoreError` with `.damaged` and the place.
    func rows(at offset: UInt64, storeTag: UInt32, _ reading: Reading = .copied)
        throws(StoreError) -> StoredPayload
    {
        let (header, bytes) = try frame(at: offset, storeTag: storeTag, verifies: false, reading)
        guard let stored = StoredPayload(header.kind, bytes) else {
            throw .damaged("there is a frame of another kind here", segment: number, offset: offset)
        }
        return stored
    }
}
