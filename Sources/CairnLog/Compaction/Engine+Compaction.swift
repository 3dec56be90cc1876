// Decides when compaction runs.
//
// In the background: from time to time, by volume of the log, the dead space is measured, and once more when nobody has
// written for a moment; when it pays (`CompactionChoice`), a run is begun, a part at a time, at a bounded rate. The newest
// segment is closed for it when enough of that is dead. Asked for, it goes on until nothing is left that is worth moving.
//
// Threads: any; one run at a time.

import CairnFileSystem
import CairnFormat
import CairnStore
import Synchronization

/// Reclaims the space of dead rows.
final class CompactionUpkeep: EngineUpkeep {
    /// What is known of the dead space.
    let progress: Mutex<CompactionProgress>
    /// The compaction that is under way.
    let run = LongLock<CompactionRun?>(nil)

    init(logEnd: UInt64, floor: UInt64) {
        progress = Mutex(CompactionProgress(logEnd: logEnd, floor: floor))
    }

    func look(_ engine: Engine) { engine.scheduleCompaction() }
}

extension Engine {
    var compaction: CompactionUpkeep { upkeep() }

    /// The gain of a segment from which on it is compacted when that is asked for.
    private static let askedDeadSegment = 0.1

    // MARK: In the background

    /// Lets the dead space be looked at if enough was written since the last time, now or when writers pause.
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

    /// Lets it be looked after a while whether somebody writes.
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

    /// Does one step, and lets the next one be done when the rate allows it.
    private func compactInBackground() {
        do throws(StoreError) {
            // Whoever has asked for it does it all. Waiting here would keep the store from being closed.
            let done = try compaction.run.withLockIfAvailable { run throws(StoreError) in
                try step(&run)
            }
            if let done, done.goesOn {
                // Between two runs: their files go as they come, not all at the end.
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
                // What is damaged stays so. Anything else may have passed when there is more to give back.
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
            // Those who have written meanwhile may not come back.
            return compaction.awaitPause(logEnd: written)
        }
        if waits { scheduleLook() }
    }

    /// Does a part of a run, which is begun if it is worth it; gives the bytes that it wrote, and whether something is
    /// left.
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
                // Nobody has to write so that the rest is done as well.
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

    /// Removes what was retired, and replaces a checkpoint that needs it.
    private func releaseRetired() {
        // What cannot be let go of now is when there is more of it.
        try? releasePast()
        giveBackReleased()
    }

    /// Begins a run if it is worth it, and no other process compacts the store.
    private func beginRun() throws(StoreError) -> CompactionRun? {
        guard try files.begin(.compaction) else { return nil }
        var run: CompactionRun?
        defer { if run == nil { files.end(.compaction) } }
        // What another process has compacted is not to be compacted again.
        try withLease { _ in }
        run = try measuredRun()
        return run
    }

    /// Measures, and begins a run if it is worth it.
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
            // Measuring reads blocks that refer to large values, so a large store must have changed more.
            compaction.lookBytes = max(
                sizes.idleCompactionFloor, uses.reduce(0) { $0 + $1.bytes } / 32)
            return compaction.allowance.bytes
        }
        let newest = state.segments.current.number
        let urgent = CompactionChoice.whileWriting(uses, newest: newest, sizes)
        let idle = CompactionChoice.whenIdle(uses, newest: newest, allowance: allowance, sizes)
        if let idle, !isIdle, !idle.victims.isSubset(of: urgent?.victims ?? []) {
            // Worth it as soon as nobody writes, however little the log grows by then.
            compaction.progress.withLock { $0.lookedLSN = 0 }
        }
        guard let choice = urgent ?? (isIdle ? idle : nil) else { return nil }
        compaction.progress.withLock {
            $0.leavesMore = choice.leavesMore
            $0.promisedBytes = choice.deadBytes
        }
        if choice.closesNewest {
            // Beginning a segment needs it, and others can write as long as it is read here.
            image?.loadAll()
            try rollSegment(ifNewest: newest)
        }
        let run = try compactionRun(choice)
        if run == nil { compaction.progress.withLock { $0.promisedBytes = 0 } }
        return run
    }

    /// Begins a run; nil if a value is being written to one of its segments.
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

    /// Gives back all the space that is worth it.
    func compact(progress: ((UInt64) -> Void)?) throws(StoreError) -> CompactionResult {
        if isReadOnly { throw StoreError(.readOnly, "the store is open for reading only") }
        // A run that is under way waits for the turn.
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
            // What the background has begun is finished first.
            try complete(&run, &result, progress)
            try rollIfWorthIt()
            // Each round leaves less; a writer beside could go on for ever.
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
            // Both make the retirement durable: without that no file goes.
            if sizes.checkpointBytes == .max { try synchronize() } else { try takeCheckpoint() }
            sweepRetired()
        }
        result.bytesAfter = segmentBytes
        return result
    }

    /// Waits for another process that compacts the store, and goes on from what it has done.
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
            // What the background has begun goes on.
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

    /// The segments in which no value waits for a save.
    private func unstaged(_ uses: [SegmentUse]) -> [SegmentUse] {
        let sides = Dictionary(
            uniqueKeysWithValues: registry.published().segments.sides.map {
                ($0.segment.number, $0.end)
            })
        return uses.filter { use in
            if tools.staging.isInUse(use.segment.number) { return false }
            // Behind what is adopted another process may have values that wait.
            guard files.hasOtherWriters, let end = sides[use.segment.number] else { return true }
            return (try? use.segment.file.size()) == end
        }
    }

    /// The segments that take no more commits. The mark is above them.
    private func closed(_ uses: [SegmentUse], in state: EngineState) -> [SegmentUse] {
        let current = state.segments.current.number
        return uses.filter { $0.segment.number != current }
    }

    /// Whether a segment is of before there were packed columns, and has enough that could be.
    private func isToBePacked(_ use: SegmentUse) -> Bool {
        sizes.packsColumns && !use.segment.header.flags.allowsPackedColumns
            && use.liveBytes >= sizes.askedCompactionFloor
    }

    /// Closes the newest segment if enough of it is dead, or if there is something to be packed behind it.
    private func rollIfWorthIt() throws(StoreError) {
        let pin = registry.pin()
        let current = pin.state.segments.current.number
        let uses = try SegmentUse.measure(pin.state, self)
        // What is moved is packed where the newest segment says so.
        let isPacking = pin.state.segments.current.header.flags.allowsPackedColumns
        let use = uses.first { $0.segment.number == current }
        guard let use,
            !isPacking && uses.contains(where: isToBePacked)
                || use.deadBytes >= sizes.askedCompactionFloor && use.gain >= Self.askedDeadSegment
        else { return }
        try rollSegment()
        // The state that is published names the new segment with its first commit only.
        _ = try commit(author: nil, contextName: nil, isSilent: true) { builder in
            builder.hasChanges = true
        }
    }

    /// Bytes of the segments' files, as far as they hold content, but for those that are kept for past states.
    private var segmentBytes: UInt64 {
        let state = registry.published()
        return state.segments.bytes(to: state.end) + unheldRetired.reduce(0) { $0 + $1.bytes }
    }

    // MARK: Retired segments

    /// Notes what a commit retired.
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
