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
        // Waits for a thread that is taking the lease and taking over the log.
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
                // Commits that did not wait for the disk were promised to be durable by now.
                if queue.durable < registry.published().end.lsn { throw cause }
                return
            }
            guard !isReadOnly, lease.isHeld else { return }
            for upkeep in upkeeps { upkeep.willEndLog(self, turn) }
            // Another process continues the log.
            if files.hasOtherWriters { return giveLeaseBack(&turn) }
            if turn.mustRoll { return }
            // A store without new commits ends with the close frame of its last writer.
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
                // No space for the close frame. The commits before it are durable all the same.
                try? segment.file.truncate(to: turn.end.offset)
                throw error
            }
            // If the zeros stay, the store counts as not closed: nothing is lost by that.
            if turn.filledEnd > log.end.offset { try? segment.file.truncate(to: log.end.offset) }
            turn.end = log.end
            try synchronize(&turn)
            for upkeep in upkeeps { upkeep.didEndLog(self) }
        }
    }
}
