// When compaction runs, and what becomes of the segments that it retired.
//
// In the background: from time to time, by volume of the log, the dead space is measured; when a segment is half dead,
// or two fifths of the store are, a run is begun, a part at a time, at a bounded rate. Asked for, it closes the newest
// segment too and goes on until nothing is left that is worth moving.
//
// A retired segment's file is removed when the commit that retired it is durable, no state of this process needs it,
// and no checkpoint on the disk does. Snapshots that together keep too much of them are given up, the oldest first.
//                                                                                                        FS2, ST3
//
// Threads: any; one run at a time.

import CairnFileSystem
import CairnFormat
public import CairnStore
import Synchronization

/// What a compaction did.
public struct CompactionResult: Sendable, Equatable {
    /// Bytes of the store's segments before, those that waited to be removed included.
    public internal(set) var bytesBefore: UInt64 = 0
    /// The same after it.
    public internal(set) var bytesAfter: UInt64 = 0
    /// Bytes that were written for it.
    public internal(set) var bytesWritten: UInt64 = 0
    /// Segments that left the store.
    public internal(set) var retiredSegments = 0
}

extension Engine {
    /// The dead share of a segment from which on it is compacted in the background, and of the store.
    private static let deadSegment = 0.5
    private static let deadStore = 0.4
    /// The dead share of a segment from which on it is compacted when that is asked for.
    private static let askedDeadSegment = 0.1

    // MARK: In the background

    /// Lets the dead space be looked at if enough was written since the last time.
    func scheduleCompaction() {
        let written = queue.progress.written
        let isDue = compaction.withLock { compaction in
            guard !compaction.isScheduled, compaction.failure == nil,
                written - min(written, compaction.measuredLSN) >= sizes.compactionFloor
            else { return false }
            compaction.isScheduled = true
            return true
        }
        if isDue { housekeeper.schedule(after: 0) { [weak self] in self?.compactInBackground() } }
    }

    /// Lets files be removed that a state needed which nobody reads any more.
    func scheduleSweep() {
        let isDue = compaction.withLock { compaction in
            guard !compaction.isSweepScheduled, !compaction.retired.isEmpty else { return false }
            compaction.isSweepScheduled = true
            return true
        }
        guard isDue else { return }
        // States come and go: once a second is enough.
        housekeeper.schedule(after: 1) { [weak self] in
            guard let self else { return }
            self.compaction.withLock { $0.isSweepScheduled = false }
            self.sweepRetired()
        }
    }

    /// Does one step, and lets the next one be done when the rate allows it.
    private func compactInBackground() {
        do throws(StoreError) {
            // Whoever has asked for it does it all. Waiting here would keep the store from being closed.
            let bytes = try compactor.withLockIfAvailable { run throws(StoreError) in
                try step(&run)
            }
            if let bytes, bytes > 0 {
                let seconds = Double(bytes) / sizes.compactionRate
                return housekeeper.schedule(after: seconds) { [weak self] in
                    self?.compactInBackground()
                }
            }
            if bytes != nil { releaseRetired() }
        } catch {
            let written = queue.progress.written
            compaction.withLock { compaction in
                // What is damaged stays so. Anything else may have passed when there is more to give back.
                if error.code == .damaged { compaction.failure = error }
                compaction.measuredLSN = written
            }
        }
        compaction.withLock { $0.isScheduled = false }
    }

    /// Does a part of a run, which is begun if it is worth it; gives the bytes that it wrote, 0 when nothing is left.
    private func step(_ run: inout CompactionRun?) throws(StoreError) -> UInt64 {
        if run == nil { run = try beginRun() }
        guard let current = run else { return 0 }
        do {
            // A step that wrote nothing is none that anybody has to wait after.
            if case .moved(let bytes) = try current.step() { return max(1, bytes) }
            finish(&run)
            return 0
        } catch {
            finish(&run)
            throw error
        }
    }

    /// Removes what was retired, and replaces a checkpoint that needs it.
    private func releaseRetired() {
        let lsn = checkpoint.withLock { $0.lsn }
        let isNeeded = compaction.withLock { $0.retired.contains { $0.lsn > lsn } }
        if isNeeded, sizes.checkpointBytes != .max { try? takeCheckpoint() }
        sweepRetired()
    }

    /// Measures, and begins a run if it is worth it.
    private func beginRun() throws(StoreError) -> CompactionRun? {
        let pin = registry.pin()
        compaction.withLock { $0.measuredLSN = pin.state.end.lsn }
        let uses = try SegmentUse.measure(pin.state, self)
        let dead = uses.reduce(0) { $0 + $1.deadBytes }
        let bytes = uses.reduce(0) { $0 + $1.bytes }
        guard dead >= sizes.compactionFloor else { return nil }
        let isStoreDue = Double(dead) >= Self.deadStore * Double(bytes)
        let victims = closed(uses, in: pin.state).filter {
            $0.deadBytes >= min(sizes.compactionFloor, sizes.segmentBytes / 4)
                && $0.deadShare >= (isStoreDue ? Self.deadStore / 2 : Self.deadSegment)
        }
        return try begin(victims)
    }

    /// The segments that take no more commits. The mark is above them.
    private func closed(_ uses: [SegmentUse], in state: EngineState) -> [SegmentUse] {
        let current = state.segments.current.number
        return uses.filter { $0.segment.number != current }
    }

    /// A run over the segments that give the most for the least, as much as is moved in one go.
    private func begin(_ victims: [SegmentUse]) throws(StoreError) -> CompactionRun? {
        var chosen: Set<UInt32> = []
        var live: UInt64 = 0
        for use in victims.sorted(by: { $0.deadShare > $1.deadShare })
        where chosen.isEmpty || live + use.liveBytes <= sizes.largestSegmentBytes / 4 {
            chosen.insert(use.segment.number)
            live += use.liveBytes
        }
        return chosen.isEmpty ? nil : try CompactionRun(self, victims: chosen)
    }

    private func finish(_ run: inout CompactionRun?) {
        guard let ended = run else { return }
        run = nil
        ended.end()
        compaction.withLock { $0.writtenBytes += ended.writtenBytes }
    }

    // MARK: Asked for

    /// Gives back all the space that is worth it.
    func compact(progress: ((UInt64) -> Void)?) throws(StoreError) -> CompactionResult {
        if isReadOnly { throw StoreError(.readOnly, "the store is opened for reading only") }
        // A run that is under way waits for the turn.
        try checkReentry()
        var result = CompactionResult()
        result.bytesBefore = segmentBytes
        try compactor.withLock { run throws(StoreError) in
            // What the background has begun is finished first.
            try complete(&run, &result, progress)
            try rollIfWorthIt()
            // Each round leaves less; a writer beside could go on for ever.
            for _ in 0..<4 {
                let pin = registry.pin()
                let uses = closed(try SegmentUse.measure(pin.state, self), in: pin.state)
                let small = uses.filter { $0.bytes < sizes.segmentBytes / 8 }
                let victims = uses.filter {
                    ($0.deadShare >= Self.askedDeadSegment
                        && $0.deadBytes >= sizes.askedCompactionFloor)
                        || (small.count > 1 && $0.bytes < sizes.segmentBytes / 8)
                }
                run = try begin(victims)
                if run == nil { break }
                try complete(&run, &result, progress)
            }
        }
        if result.retiredSegments > 0 || compaction.withLock({ !$0.retired.isEmpty }) {
            // Both make the retirement durable: without that no file goes.
            if sizes.checkpointBytes == .max { try synchronize() } else { try takeCheckpoint() }
            sweepRetired()
        }
        result.bytesAfter = segmentBytes
        return result
    }

    private func complete(
        _ run: inout CompactionRun?, _ result: inout CompactionResult,
        _ progress: ((UInt64) -> Void)?
    ) throws(StoreError) {
        guard let current = run else { return }
        do {
            while true {
                let step = try current.step()
                progress?(current.writtenBytes)
                switch step {
                case .moved: continue
                case .finished: result.retiredSegments += current.victims.count
                case .abandoned: break
                }
                break
            }
        } catch {
            finish(&run)
            throw error
        }
        result.bytesWritten += current.writtenBytes
        finish(&run)
    }

    /// Closes the newest segment if enough of it is dead.
    private func rollIfWorthIt() throws(StoreError) {
        let pin = registry.pin()
        let current = pin.state.segments.current.number
        let use = try SegmentUse.measure(pin.state, self).first { $0.segment.number == current }
        guard let use, use.deadBytes >= sizes.askedCompactionFloor,
            use.deadShare >= Self.askedDeadSegment
        else { return }
        try rollSegment()
        // The state that is published names the new segment with its first commit only.
        _ = try commit(author: nil, contextName: nil) { builder in builder.hasChanges = true }
    }

    /// Bytes of the segments' files, as far as they hold content.
    private var segmentBytes: UInt64 {
        let state = registry.published()
        return state.segments.bytes(to: state.end)
            + compaction.withLock { $0.retired.reduce(0) { $0 + $1.bytes } }
    }

    // MARK: Retired segments

    /// Notes what a commit retired.
    func noteRetired(_ segments: [Segment], commit: UInt64, side: UInt32, carriedBytes: UInt64) {
        let state = registry.published()
        compaction.withLock { compaction in
            for segment in segments {
                compaction.carriedBytes[segment.number] = nil
                compaction.retired.append(
                    RetiredSegment(
                        segment: segment, commit: commit, lsn: state.end.lsn,
                        bytes: (try? segment.file.size()) ?? 0))
            }
            compaction.carriedBytes[side] = carriedBytes
            registry.tellsOfReleases.store(true, ordering: .relaxed)
        }
    }

    /// Snapshots, the oldest first, with the bytes of retired segments that each keeps from being removed.
    var pinnedSpace: [(snapshot: LogSnapshot, bytes: UInt64)] {
        let all = snapshots.withLock { $0.values.compactMap(\.snapshot) }
            .filter(\.isHeld).sorted { $0.commit < $1.commit }
        let retired = compaction.withLock { $0.retired }
        return all.map { snapshot in
            let kept = retired.filter { $0.isNeeded(by: snapshot.commit) }
            return (snapshot, kept.reduce(0) { $0 + $1.bytes })
        }
    }

    /// Gives the oldest snapshots up while together they keep more than the limit.
    private func expireSnapshots() {
        var snapshots = pinnedSpace.filter { $0.bytes > 0 }[...]
        let retired = compaction.withLock { $0.retired }
        while let oldest = snapshots.first {
            let kept = retired.reduce(0) { sum, segment in
                snapshots.contains { segment.isNeeded(by: $0.snapshot.commit) }
                    ? sum + segment.bytes : sum
            }
            guard kept > snapshotLimit else { return }
            _ = oldest.snapshot.expire(.init(keptBytes: oldest.bytes, limit: snapshotLimit))
            snapshots.removeFirst()
        }
    }

    /// Removes the files of retired segments that nobody needs.
    ///
    /// - Parameter isClosing: that what is still read is read through files that are open.
    func sweepRetired(isClosing: Bool = false) {
        if isReadOnly { return }
        if !isClosing { expireSnapshots() }
        try? inFolder { () throws(StoreError) in removeRetired(isClosing: isClosing) }
    }

    private func removeRetired(isClosing: Bool) {
        let durable = queue.durable
        // First the states, then the checkpoint: what is made of a state pins it until that is noted.
        let epochs = isClosing ? [] : registry.epochs
        let (checkpointLSN, hasCheckpoint) = checkpoint.withLock { ($0.lsn, $0.bytes > 0) }
        let needless = compaction.withLock { compaction in
            let needless = compaction.retired.filter { segment in
                segment.lsn <= durable && (!hasCheckpoint || segment.lsn <= checkpointLSN)
                    && !epochs.contains { segment.isNeeded(by: $0) }
            }
            let numbers = Set(needless.map(\.segment.number))
            compaction.retired.removeAll { numbers.contains($0.segment.number) }
            registry.tellsOfReleases.store(!compaction.retired.isEmpty, ordering: .relaxed)
            return needless
        }
        guard !needless.isEmpty else { return }
        for retired in needless {
            // Snapshots outlive the closing, and what they read is open.
            if !isClosing { largeValues.remove(retired.segment.number) }
            // A file that stays is removed by the next writer.
            try? files.fileSystem.unlink(files.path(retired.segment.number))
        }
        // Without, they would come back with the next power cut, until somebody opens the store to write.
        try? files.fileSystem.syncDirectory(files.folder)
    }
}

extension LogStore {
    /// Moves what is alive out of segments that hold much that is not, and gives their space back. Readers and
    /// writers go on meanwhile; object ids, row versions and snapshots stay as they are.
    ///
    /// ```swift
    /// let result = try store.compact()
    /// print(result.bytesBefore - result.bytesAfter, "bytes given back")
    /// ```
    ///
    /// - Parameter progress: told the bytes written so far, from time to time. It must not compact the store itself; if it
    ///   closes it, the compaction ends with `.unusable`.
    /// - Throws: `StoreError`: `.readOnly`, `.noSpace`, `.damaged` with the place if a segment cannot be read whole;
    ///   what was moved until then is moved, and nothing is lost.
    /// - Complexity: O(live bytes of the segments concerned).
    public func compact(progress: ((UInt64) -> Void)? = nil) throws(StoreError) -> CompactionResult
    {
        try checkOpen()
        return try engine.compact(progress: progress)
    }
}
