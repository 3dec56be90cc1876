// Starts the segments of the log, and those that compaction writes.
//
// Threads: any; everything here takes the turn, or is called by its holder.

import CairnFileSystem
package import CairnFormat
package import CairnStore
import Synchronization
import SystemPackage

extension Engine {
    /// The size at which a segment takes no more commits.
    func nominalSegmentBytes(_ turn: borrowing Turn) -> UInt64 {
        guard turn.end.offset >= sizes.segmentBytes else { return sizes.segmentBytes }
        return min(
            sizes.largestSegmentBytes,
            max(sizes.segmentBytes, turn.segments.bytes(to: turn.end) / 64))
    }

    /// Returns a number that no segment had.
    func issueSegmentNumber() -> UInt32 {
        lastSegment.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Creates a segment's file. Other processes may use the same number at the same time, so a taken one is
    /// skipped.
    private func withNewNumber<R>(_ make: (UInt32) throws(FileSystemError) -> R)
        throws(FileSystemError) -> R
    {
        while true {
            do {
                return try make(issueSegmentNumber())
            } catch {
                guard error.operation == .open, error.code == .fileExists else { throw error }
            }
        }
    }

    /// Returns the next number of each tree: the log never records less than it did before (DR1).
    func counters(_ turn: borrowing Turn) -> [TreeCounter] {
        let catalog = turn.head.state.catalog
        return catalog.treesInOrder.map {
            TreeCounter(
                tree: catalog.trees[$0].id,
                next: max(turn.nextNumbers[$0], turn.head.state.reserved[$0]))
        }
    }

    /// Starts a new segment even if the newest one is not full, so that its content can be compacted.
    ///
    /// - Parameter number: the segment to close; does nothing if another one takes commits by now.
    package func rollSegment(ifNewest number: UInt32? = nil) throws(StoreError) {
        try withLease { turn throws(StoreError) in
            repair(&turn)
            try checkWritable(turn)
            if let number, turn.segments.current.number != number { return }
            try beginSegment(&turn)
        }
    }

    /// Creates a side segment. Requires the lease, so that its number is one that no segment of the log ever
    /// had: memory identifies segments by number.
    func makeSideSegment(commit: UInt64) throws(StoreError) -> (segment: Segment, end: LogEnd) {
        let made = try withLease { turn throws(StoreError) in
            repair(&turn)
            try checkWritable(turn)
            do throws(FileSystemError) {
                let flags = turn.segments.current.header.flags
                return try withNewNumber { number throws(FileSystemError) in
                    try files.makeSideSegment(
                        number: number, storeID: storeID, time: clock.now(), commit: commit,
                        flags: flags)
                }
            } catch {
                throw StoreError(error)
            }
        }
        reader.largeValues.add(made.segment)
        return made
    }

    /// Reclaims the space that a side segment has after its adopted part (F-657); removes the segment if
    /// nothing was adopted. It is no longer written to.
    func trimSideSegment(_ segment: Segment) {
        try? withTurn { turn throws(StoreError) in
            repair(&turn)
            // After a failed sync, more may be adopted on disk than is known here.
            try checkWritable(turn)
            trim(segment, turn)
        }
    }

    /// The same for a caller that holds the write lock.
    func trim(_ segment: Segment, _ turn: Turn) {
        if let side = turn.segments.sides.first(where: {
            $0.segment.number == segment.number
        }) {
            if let size = try? segment.file.size(), size > side.end {
                try? segment.file.truncate(to: side.end)
            }
        } else {
            reader.forget([segment.number])
            try? files.fileSystem.unlink(files.path(segment.number))
        }
    }

    /// Starts a new segment: header and start frame, synced, with the folder (FS1).
    ///
    /// - Parameter flags: its feature flags in addition to those of the previous segment.  F-206
    package func beginSegment(_ turn: inout Turn, adding flags: FeatureFlags = FeatureFlags())
        throws(StoreError)
    {
        // A successor states where its predecessor ends, so everything before that must be durable.
        try drain(&turn)
        try synchronize(&turn)
        // Damaged parts of a checkpoint can be repaired as long as the log is in this segment.
        image?.loadAll()
        try image?.repair()
        let catalog = turn.head.state.catalog
        var number: UInt32 = 0
        let segment: (segment: Segment, end: LogEnd)
        let counters = counters(turn)
        let now = (end: turn.end, live: turn.segments, commit: turn.head.state.commit)
        do throws(FileSystemError) {
            segment = try withNewNumber { issued throws(FileSystemError) in
                number = issued
                return try files.makeSegment(
                    number: number, after: now.end, live: now.live,
                    storeID: storeID, time: clock.now(), commit: now.commit,
                    durable: queue.durable,
                    counters: counters, schema: catalog.place, schemaVersion: catalog.version,
                    flags: catalog.flags(
                        beside: now.live.current.header.flags.union(flags), sizes))
            }
        } catch {
            // As with every failed sync: a later success would prove nothing.
            if error.operation == .synchronize || error.operation == .syncDirectory {
                queue.poison(StoreError(error))
            }
            // If the file could not be removed either, it says that the log continues in another segment. If
            // there was no space and the file is gone, the prefilled zeros may still hold a commit.
            if !error.isWantOfRoom || !files.isGone(number) { turn.mustRoll = true }
            throw StoreError(error)
        }
        reader.largeValues.add(segment.segment)
        if turn.filledEnd > turn.end.offset {
            // Zeros after the end mean nothing, and their removal needs no sync (SG2).
            let last = turn.segments.current
            last.waitForFilling()
            try? last.file.truncate(to: turn.end.offset)
        }
        turn.segments.begin(segment.segment)
        turn.end = segment.end
        turn.filledEnd = 0
        turn.fillBytes = sizes.fillBytes
        turn.mustRoll = false
        queue.advance(to: segment.end, durable: segment.end.lsn)
    }
}

extension FileSystemError {
    /// Whether a file could not be created or grow because the disk is full.
    fileprivate var isWantOfRoom: Bool {
        (operation == .open || operation == .write)
            && (code == .noSpace || code == .diskQuotaExceeded)
    }
}
