// The disk operations of the commit queue.

import CairnFileSystem
import CairnFormat
import CairnStore

/// Writes and syncs the log of a store.
struct CommitDisk: Sendable {
    let files: StoreFiles
    let storeID: StoreID

    func write(_ chunk: LogChunk) throws(StoreError) {
        do {
            try chunk.bytes.withUnsafeBufferPointer { (bytes) throws(FileSystemError) in
                try chunk.segment.write(UnsafeRawBufferPointer(bytes), at: chunk.start)
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Makes the log durable up to the end of a state, and records that in the mark file.
    func synchronize(_ state: EngineState) throws(StoreError) {
        try synchronizeLog(of: state)
        mark(state.end, commit: state.commit)
    }

    /// Makes the log durable up to the end of a state.
    func synchronizeLog(of state: EngineState) throws(StoreError) {
        let segment = state.segments.current
        precondition(
            segment.number == state.end.segment, "the log of a state ends in its newest segment")
        do {
            try segment.synchronize()
        } catch {
            throw StoreError(error)
        }
    }

    /// Makes the log durable up to an end in its last segment, and records that in the mark file. Everything
    /// before that segment is already durable: that is so before a segment is begun.
    func synchronize(_ segment: Segment, to end: LogEnd, commit: UInt64) throws(StoreError) {
        do {
            try segment.synchronize()
        } catch {
            throw StoreError(error)
        }
        mark(end, commit: commit)
    }

    /// Records in the mark file that the log is durable up to an end.
    func mark(_ end: LogEnd, commit: UInt64) {
        files.writeMark(
            MarkRecord(
                store: storeID, commit: commit, lsn: end.lsn, chain: end.chain,
                segment: end.segment))
    }
}
