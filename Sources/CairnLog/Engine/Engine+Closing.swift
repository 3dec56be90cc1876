// Closes an engine: relaxed commits are synced, and the last writer records with a close frame that nothing is missing.
//
// Threads: any; one of them closes.

import CairnFileSystem
import CairnFormat
package import CairnStore
import Synchronization

extension Engine {
    /// Closes the log: relaxed commits are synced, and a close frame records that nothing is missing.
    package func close() throws(StoreError) {
        try checkReentry()
        image?.stop()
        lease.isEnding.store(true, ordering: .releasing)
        housekeeper.stop()
        scheduler.stop()
        takeLeaseToClose()
        // Whoever is taking the lease, and makes the log its own, is through with that.
        try lease.asking.withLock { _ throws(StoreError) in try endLog() }
    }

    private func endLog() throws(StoreError) {
        try withTurn { turn throws(StoreError) in
            guard !turn.isClosed else { return }
            for upkeep in upkeeps { upkeep.willClose(self) }
            defer {
                turn.isClosed = true
                lease.setHeld(false)
                isClosed.store(true, ordering: .releasing)
                link.end()
                changes.end()
                isReleased.withLock { $0 = true }
                tools.staging.isOver.withLock { $0 = true }
                files.release()
            }
            try drain(&turn)
            if let cause = queue.cause {
                // Who committed without waiting for the disk was promised that it would be there by now.
                if queue.durable < registry.published().end.lsn { throw cause }
                return
            }
            guard !isReadOnly, lease.isHeld else { return }
            for upkeep in upkeeps { upkeep.willEndLog(self, turn) }
            // Somebody else goes on with the log.
            if files.hasOtherWriters { return giveLeaseBack(&turn) }
            if turn.mustRoll { return }
            // A store that nobody wrote to ends with the close frame of the last one who did.
            if let openedAt, turn.end == openedAt.end, turn.nextNumbers == openedAt.nextNumbers {
                return
            }
            try synchronize(&turn)
            checkpointAtClose(turn.head.state)
            let segment = turn.segments.current
            var log = LogWriter(
                segment: segment, end: turn.end, storeTag: storeID.tag,
                commit: turn.head.state.commit,
                mark: queue.durable, limit: sizes.writeBufferBytes)
            let payload = ClosePayload(time: clock.now(), counters: counters(turn))
            do throws(StoreError) {
                try log.append(.close) { writer throws(StoreError) in payload.encode(to: &writer) }
                try log.flush()
            } catch {
                // No room for the close frame. The commits before it are durable all the same.
                try? segment.file.truncate(to: turn.end.offset)
                throw error
            }
            // If the zeros stay, the store is one that was not closed: nothing is lost by that.
            if turn.filledEnd > log.end.offset { try? segment.file.truncate(to: log.end.offset) }
            turn.end = log.end
            try synchronize(&turn)
            for upkeep in upkeeps { upkeep.didEndLog(self) }
        }
    }
}
