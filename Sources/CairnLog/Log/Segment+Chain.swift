import CairnFormat
import CairnStore

extension Segment {
    /// The chain value before the first frame.
    func headerChain() throws(StoreError) -> UInt32 {
        let head = RawBytes(count: SegmentHeader.size)
        try read(head.mutable, at: 0)
        return SegmentHeader.chain(ofEncoded: head.bytes)
    }
}
