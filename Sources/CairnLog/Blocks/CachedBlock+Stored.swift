import CairnFormat
import CairnStore

extension CachedBlock {
    /// Reads a block from the file of its segment.
    ///
    /// - Parameter known: the stored bytes, if they have been read.
    /// - Throws: `StoreError` with `.damaged` and the location.
    static func read(
        _ place: Place, _ known: StoredPayload? = nil, storeTag: UInt32,
        largeValues: LargeValueReader, from segment: (UInt32) -> Segment?
    ) throws(StoreError) -> CachedBlock {
        func found(_ number: UInt32) throws(StoreError) -> Segment {
            if let segment = segment(number) { return segment }
            throw .damaged("a block's segment is missing", segment: number)
        }
        let stored: StoredPayload
        if let known {
            stored = known
        } else {
            stored = try found(place.segment).rows(
                at: UInt64(place.byteOffset), storeTag: storeTag)
        }
        return try CachedBlock(stored, place: place, largeValues: largeValues) {
            base throws(StoreError) in
            try found(base.segment).payload(
                at: UInt64(base.byteOffset), kind: .block, storeTag: storeTag)
        }
    }
}
