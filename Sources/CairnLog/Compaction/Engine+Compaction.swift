// Decides when compaction runs.
//
// In the background: the dead space is measured each time the log has grown enough, and again when writers
// pause for a moment. When it pays (`CompactionChoice`), a run starts, one part at a time, at a bounded rate.
// The newest segment is closed for it when enough of it is dead. On request, compaction goes on until nothing
// is left that is worth moving.
//
// Threads: any; one run at a time.

import CairnFileSystem
import CairnFormat
import CairnStore
import Synchronization

/// Reclaims the space of dead rows.
final class CompactionUpkeep: EngineUpkeep {
    /// What is known about the dead space.
    let progress: Mutex<CompactionProgress>
    /// The compaction in progress.
    let run = LongLock<CompactionRun?>(nil)

    init(logEnd: UInt64, floor: UInt64) {
        progress = Mutex(CompactionProgress(logEnd: logEnd, floor: floor))
    }

    func look(_ engine: Engine) { engine.scheduleCompaction() }
}

extension Engine {
    var compaction: CompactionUpkeep { upkeep() }

    /// The minimum gain of a segment for requested compaction.
    private static let askedDeadSegment = 0.1

    // MARK: In the background

    /// Schedules a check of the dead space if enough was written since the last one, now or when writers
    /// pause.
    func scheduleCompaction() {
        let written = volume(at: queue.progress.written)
        let (isDue, waits) = compaction.progress.withLock { compaction in
            guard !compaction.isScheduled, compaction.failure == nil,
                written - min(written, compaction.measuredLSN) >= sizes.compactionFloor
            else { return (false, compaction.awaitPause(logEnd: written)) }
            compaction.isScheduled = true
            return (true, false)
        }
        if isDue { housekeeper.schedule(after: 0) { [link] in link.engine?.compactInBackground() } }
        if waits { scheduleLook() }
    }

    /// Schedules a check whether writers have paused.
    private func scheduleLook() {
        guard sizes.idleSeconds < .infinity else { return }
        housekeeper.schedule(after: sizes.idleSeconds) { [link] in
            guard let engine = link.engine else { return }
            let written = engine.volume(at: engine.queue.progress.written)
            switch engine.compaction.progress.withLock({ $0.endPause(logEnd: written) }) {
            case .isDropped: return
            case .waitsOn: engine.scheduleLook()
            case .begins: engine.compactInBackground()
            }
        }
    }

    /// Performs one step, and schedules the next one for when the rate allows it.
    private func compactInBackground() {
        do throws(StoreError) {
            // A requested compaction does all the work. Waiting for it here would keep the store from
            // closing.
            let done = try compaction.run.withLockIfAvailable { run throws(StoreError) in
                try step(&run)
            }
            if let done, done.goesOn {
                // Between two runs: files are removed after each run, not all at the end.
                if done.bytes == 0 { releaseRetired() }
                let seconds = Double(done.bytes) / sizes.compactionRate
                return housekeeper.schedule(after: seconds) { [link] in
                    link.engine?.compactInBackground()
                }
            }
            if done != nil {
                releaseRetired()
            } else {
                let written = volume(at: queue.progress.written)
                compaction.progress.withLock { $0.lookedLSN = written }
            }
        } catch {
            let written = volume(at: queue.progress.written)
            compaction.progress.withLock { compaction in
                // Damage is permanent. Any other failure may be over when there is more to reclaim.
                if error.code == .damaged { compaction.failure = error }
                compaction.measuredLSN = written
                compaction.lookedLSN = written
            }
            releaseRetired()
        }
        let written = volume(at: queue.progress.written)
        let waits = compaction.progress.withLock { compaction in
            compaction.isScheduled = false
            compaction.isIdle = false
            // Processes that have written in the meantime may not write again.
            return compaction.awaitPause(logEnd: written)
        }
        if waits { scheduleLook() }
    }

    /// Performs one step of a run, which is started if it is worth it; returns the bytes written, and whether
    /// something is left.
    private func step(_ run: inout CompactionRun?) throws(StoreError) -> (
        bytes: UInt64, goesOn: Bool
    ) {
        if run == nil { run = try beginRun() }
        guard let current = run else { return (0, false) }
        do {
            switch try current.step() {
            case .moved(let bytes): return (bytes, true)
            case .finished:
                compaction.progress.withLock { $0.releasePromised() }
                finish(&run)
                // The rest is compacted without waiting for another commit.
                return (0, compaction.progress.withLock { $0.isIdle && $0.leavesMore })
            case .abandoned:
                finish(&run)
                return (0, false)
            }
        } catch {
            finish(&run)
            throw error
        }
    }

    /// Removes retired segments, and replaces a checkpoint that needs them.
    private func releaseRetired() {
        // What cannot be released now is released when there is more of it.
        try? releasePast()
        giveBackReleased()
    }

    /// Starts a run if it is worth it and no other process compacts the store.
    private func beginRun() throws(StoreError) -> CompactionRun? {
        guard try files.begin(.compaction) else { return nil }
        var run: CompactionRun?
        defer { if run == nil { files.end(.compaction) } }
        // Catches up first: segments that another process has compacted must not be compacted again.
        try withLease { _ in }
        run = try measuredRun()
        return run
    }

    /// Measures the dead space, and starts a run if it is worth it.
    private func measuredRun() throws(StoreError) -> CompactionRun? {
        let pin = registry.pin()
        let state = pin.state
        let written = volume(at: state.end.lsn)
        let isIdle = compaction.progress.withLock { compaction in
            compaction.measuredLSN = written
            if compaction.isIdle { compaction.lookedLSN = written }
            return compaction.isIdle
        }
        let uses = unstaged(try SegmentUse.measure(state, self))
        let allowance = compaction.progress.withLock { compaction in
            compaction.allowance.add(
                logEnd: written, dead: uses.reduce(0) { $0 + $1.deadBytes })
            // Measuring reads blocks that refer to large values, so a large store must change more before the
            // next one.
            compaction.lookBytes = max(
                sizes.idleCompactionFloor, uses.reduce(0) { $0 + $1.bytes } / 32)
            return compaction.allowance.bytes
        }
        let newest = state.segments.current.number
        let urgent = CompactionChoice.whileWriting(uses, newest: newest, sizes)
        let idle = CompactionChoice.whenIdle(uses, newest: newest, allowance: allowance, sizes)
        if let idle, !isIdle, !idle.victims.isSubset(of: urgent?.victims ?? []) {
            // It is worth it as soon as the store is idle, however little the log grows until then.
            compaction.progress.withLock { $0.lookedLSN = 0 }
        }
        guard let choice = urgent ?? (isIdle ? idle : nil) else { return nil }
        compaction.progress.withLock {
            $0.leavesMore = choice.leavesMore
            $0.promisedBytes = choice.deadBytes
        }
        if choice.closesNewest {
            // A new segment requires the whole image, and other threads can write while it is read here.
            image?.loadAll()
            try rollSegment(ifNewest: newest)
        }
        let run = try compactionRun(choice)
        if run == nil { compaction.progress.withLock { $0.promisedBytes = 0 } }
        return run
    }

    /// Starts a run; returns nil if a value is being written to one of its segments.
    private func compactionRun(_ choice: CompactionChoice) throws(StoreError) -> CompactionRun? {
        guard tools.staging.give(choice.victims) else { return nil }
        return try CompactionRun(self, victims: choice.victims)
    }

    private func finish(_ run: inout CompactionRun?, isAsked: Bool = false) {
        guard let ended = run else { return }
        run = nil
        ended.end()
        if !isAsked { files.end(.compaction) }
        compaction.progress.withLock {
            $0.promisedBytes = 0
            $0.writtenBytes += ended.writtenBytes
            if !isAsked { $0.allowance.spend(ended.writtenBytes) }
        }
    }

    // MARK: Asked for

    /// Reclaims all space that is worth it.
    func compact(progress: ((UInt64) -> Void)?) throws(StoreError) -> CompactionResult {
        if isReadOnly { throw StoreError(.readOnly, "the store is open for reading only") }
        // A run in progress waits for the write lock.
        try checkReentry()
        if compaction.run.isHeldByThisThread {
            throw StoreError(
                .invalidRequest,
                "compact() was called from its own progress closure, where it would wait for itself"
            )
        }
        var result = CompactionResult()
        result.bytesBefore = segmentBytes
        try compaction.run.withLock { run throws(StoreError) in
            try beginAskedCompaction(isUnderWay: run != nil)
            defer { files.end(.compaction) }
            // First finishes what the background has started.
            try complete(&run, &result, progress)
            try rollIfWorthIt()
            // Each round leaves less, but with a concurrent writer this could go on forever.
            for _ in 0..<4 {
                let pin = registry.pin()
                let uses = unstaged(
                    closed(try SegmentUse.measure(pin.state, self), in: pin.state))
                let small = uses.filter { $0.bytes < sizes.segmentBytes / 8 }
                let victims = uses.filter {
                    ($0.gain >= Self.askedDeadSegment
                        && $0.deadBytes >= sizes.askedCompactionFloor)
                        || isToBePacked($0)
                        || (small.count > 1 && $0.bytes < sizes.segmentBytes / 8)
                }
                guard let choice = CompactionChoice(victims, sizes) else { break }
                run = try compactionRun(choice)
                if run == nil { break }
                compaction.progress.withLock { $0.promisedBytes = choice.deadBytes }
                try complete(&run, &result, progress)
            }
        }
        try releasePast()
        if !unheldRetired.isEmpty {
            // Both make the retirement durable: no file is removed before that.
            if sizes.checkpointBytes == .max { try synchronize() } else { try takeCheckpoint() }
            sweepRetired()
        }
        result.bytesAfter = segmentBytes
        return result
    }

    /// Waits for another process that compacts the store, and continues from its result.
    private func beginAskedCompaction(isUnderWay: Bool) throws(StoreError) {
        let end = MonotonicTime.now + lease.timeout
        while try !files.begin(.compaction) {
            guard end.secondsFromNow > 0 else {
                throw StoreError(
                    .storeInUse, "another process is compacting the store",
                    context: .init(path: "\(files.folder)"))
            }
            Pause.milliseconds(5)
        }
        do throws(StoreError) {
            try withLease { _ in }
        } catch {
            // A run that the background has started goes on.
            if !isUnderWay { files.end(.compaction) }
            throw error
        }
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
                case .finished:
                    compaction.progress.withLock { $0.releasePromised() }
                    result.retiredSegments += current.victims.count
                case .abandoned: break
                }
                break
            }
        } catch {
            finish(&run, isAsked: true)
            throw error
        }
        result.bytesWritten += current.writtenBytes
        finish(&run, isAsked: true)
    }

    /// Returns the segments in which no value waits for a save.
    private func unstaged(_ uses: [SegmentUse]) -> [SegmentUse] {
        let sides = Dictionary(
            uniqueKeysWithValues: registry.published().segments.sides.map {
                ($0.segment.number, $0.end)
            })
        return uses.filter { use in
            if tools.staging.isInUse(use.segment.number) { return false }
            // After the adopted end, another process may have values that wait.
            guard files.hasOtherWriters, let end = sides[use.segment.number] else { return true }
            return (try? use.segment.file.size()) == end
        }
    }

    /// Returns the segments that take no more commits. The mark is above them.
    private func closed(_ uses: [SegmentUse], in state: EngineState) -> [SegmentUse] {
        let current = state.segments.current.number
        return uses.filter { $0.segment.number != current }
    }

    /// Whether a segment predates packed columns, and has enough bytes that could be packed.
    private func isToBePacked(_ use: SegmentUse) -> Bool {
        sizes.packsColumns && !use.segment.header.flags.allowsPackedColumns
            && use.liveBytes >= sizes.askedCompactionFloor
    }

    /// Closes the newest segment if enough of it is dead, or if it does not allow packed columns and there is
    /// something to pack.
    private func rollIfWorthIt() throws(StoreError) {
        let pin = registry.pin()
        let current = pin.state.segments.current.number
        let uses = try SegmentUse.measure(pin.state, self)
        // Moved rows are packed if the newest segment allows it.
        let isPacking = pin.state.segments.current.header.flags.allowsPackedColumns
        let use = uses.first { $0.segment.number == current }
        guard let use,
            !isPacking && uses.contains(where: isToBePacked)
                || use.deadBytes >= sizes.askedCompactionFloor && use.gain >= Self.askedDeadSegment
        else { return }
        try rollSegment()
        // The published state names the new segment only after its first commit.
        _ = try commit(author: nil, contextName: nil, isSilent: true) { builder in
            builder.hasChanges = true
        }
    }

    /// The bytes of content in the segments' files, except those that are kept for past states.
    private var segmentBytes: UInt64 {
        let state = registry.published()
        return state.segments.bytes(to: state.end) + unheldRetired.reduce(0) { $0 + $1.bytes }
    }

    // MARK: Retired segments

    /// Notes the segments that a commit retired.
    func noteRetired(_ segments: [Segment], commit: UInt64, side: UInt32, carriedBytes: UInt64) {
        let state = registry.published()
        compaction.progress.withLock { compaction in
            for segment in segments { compaction.carriedBytes[segment.number] = nil }
            compaction.carriedBytes[side] = carriedBytes
        }
        tools.retired.append(
            segments.map { segment in
                RetiredSegment(
                    number: segment.number, begun: segment.header.commit, commit: commit,
                    lsn: state.end.lsn, bytes: (try? segment.file.size()) ?? 0)
            }
        ) { registry.tellsOfReleases = true }
    }
}
