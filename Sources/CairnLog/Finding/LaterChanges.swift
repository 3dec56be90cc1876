// Changes of the live set after the newest main segment's start frame, read on their own.           Format 65
//
// A retired segment may be gone, so its retirement is searched for before it is reported missing. Frames are
// read up to the first invalid one: what that means is decided by the reader of the log.
// Threads: one reader in one thread.

package import CairnFormat
package import CairnStore

package struct LaterChanges {
    package private(set) var retired: Set<UInt32> = []
    package private(set) var adopted: [AdoptPayload.Part] = []

    /// - Parameters:
    ///   - limit: an LSN; everything beyond it is ignored.
    ///   - lastCommit: a commit; everything after it is ignored.
    package init(_ found: FoundSegment, limit: UInt64?, through lastCommit: UInt64? = nil)
        throws(StoreError)
    {
        var scanner = try FrameScanner(
            found.segment, chain: found.chain, storeTag: found.segment.header.store.tag, end: nil)
        var open: (retired: [UInt32], adopted: [AdoptPayload.Part]) = ([], [])
        while let (header, payload) = try scanner.next() {
            if let limit, header.lsn + UInt64(header.frameLength) > limit { return }
            if let lastCommit, header.commit > lastCommit { return }
            switch header.kind {
            case .retire: open.retired += (try? RetirePayload(decoding: payload))?.segments ?? []
            case .adopt: open.adopted += (try? AdoptPayload(decoding: payload))?.parts ?? []
            case .commit:
                retired.formUnion(open.retired)
                adopted += open.adopted
                open = ([], [])
            default: break
            }
        }
    }
}
