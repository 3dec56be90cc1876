// What the engine does in addition to commits.

import CairnFileSystem
import CairnFormat
package import CairnStore
import Synchronization

extension Engine {
    // MARK: Syncing

    /// Makes everything that is published durable. Commits continue concurrently.
    package func synchronize() throws(StoreError) {
        if let cause = queue.cause { throw cause }
        if isReadOnly { return }
        let pin = registry.pin()
        let state = pin.state
        guard queue.durable < state.end.lsn else { return }
        do {
            try disk.synchronizeLog(of: state)
        } catch {
            // A retry could report success for lost bytes. The published state stays readable.
            var cause = error
            cause.message +=
                "; what was committed after byte \(queue.durable) of the log may not have reached the disk"
            queue.poison(cause)
            throw cause
        }
        queue.advance(durable: state.end.lsn)
        // The store may have been closed in the meantime and its folder contain another one, or another
        // process may have continued the log.
        lease.whileHeld { disk.mark(state.end, commit: state.commit) }
    }

    /// Makes a store that was started as unfinished, or a copy, available to other processes: all of it is
    /// durable before the mark says so.
    package func finishStore() throws(StoreError) {
        try synchronize()
        let state = registry.published()
        do {
            try files.finish(
                MarkRecord(
                    store: storeID, commit: state.commit, lsn: state.end.lsn,
                    chain: state.end.chain, segment: state.end.segment))
        } catch {
            throw StoreError(error)
        }
    }

    /// Schedules a sync, so that the latest commits become durable in time.
    func scheduleSync() {
        guard !isSyncScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        scheduler.schedule(after: sizes.groupSeconds) { [link] in
            guard let engine = link.engine else { return }
            engine.isSyncScheduled.store(false, ordering: .releasing)
            // The next commit reports the error.
            try? engine.synchronize()
        }
    }

    // MARK: Zeros ahead

    /// Schedules writing of zeros after the end of the log when few of them are left, so that a sync need not
    /// extend the file. The caller holds the write lock.
    func fillAhead(_ turn: inout Turn) {
        guard turn.fillBytes > 0, !turn.isFilling,
            turn.end.offset + turn.fillBytes / 2 > turn.filledEnd
        else { return }
        turn.isFilling = true
        scheduler.schedule(after: 0) { [link] in link.engine?.fill() }
    }

    private func fill() {
        struct Piece {
            let segment: Segment
            let start: UInt64
            let count: UInt64
            let filledBefore: UInt64
        }
        let piece: Piece? = withTurnAnyway { turn in
            guard !turn.isClosed, lease.isHeld, queue.cause == nil else {
                turn.isFilling = false
                return nil
            }
            // Sealed commits end below; commits sealed later wait until the zeros are written.
            let start = max(turn.end.offset, turn.filledEnd)
            let segment = turn.segments.current
            segment.beginFilling(at: start)
            return Piece(
                segment: segment, start: start, count: turn.fillBytes,
                filledBefore: turn.filledEnd)
        }
        guard let piece else { return }
        var error: FileSystemError?
        do {
            try piece.segment.fill(from: piece.start, count: piece.count)
        } catch let failure {
            error = failure
        }
        piece.segment.endFilling()
        withTurnAnyway { turn in
            turn.isFilling = false
            guard turn.segments.current === piece.segment else { return }
            guard error == nil else {
                turn.fillBytes = 0
                return
            }
            // A commit that failed in the meantime has truncated them.
            guard turn.filledEnd == piece.filledBefore else { return }
            writes.addZeros(piece.count)
            turn.filledEnd = piece.start + piece.count
            turn.fillBytes = min(turn.fillBytes * 2, sizes.mostFillBytes)
        }
        if let error, error.operation == .synchronize { queue.poison(StoreError(error)) }
    }
}

extension Segment {
    /// Writes zeros and syncs them.
    ///
    /// In small pieces: the system keeps what one call writes as one piece of its cache, and examines all
    /// blocks of a piece whenever a part of it is written. After zeros written by the megabyte, a write of
    /// 300 bytes took 2.2 us, after these 0.9 (ext4, Linux 6.18).
    fileprivate func fill(from start: UInt64, count: UInt64) throws(FileSystemError) {
        let zeros = RawBytes(count: Int(min(count, 64 << 10)))
        zeros.mutable.initializeMemory(as: UInt8.self, repeating: 0)
        var done: UInt64 = 0
        while done < count {
            let part = Int(min(count - done, UInt64(zeros.count)))
            try file.write(
                UnsafeRawBufferPointer(rebasing: zeros.bytes[..<part]), at: start + done)
            done += UInt64(part)
        }
        try synchronize()
    }
}
