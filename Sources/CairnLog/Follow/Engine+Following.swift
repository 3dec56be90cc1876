// A process that reads follows the log of the process that writes.                            ENGINE-NOTES 15
//
//   1. The mark in the lock file says how far the log is durable. A torn record is read again.
//   2. The frames from the present state to the mark are read, and the next state is built from the present
//      one.
//   3. It is published like a commit: old snapshots stay, new ones see it.
//   4. If a file is gone because the writer compacted it away, the log is reread from the newest checkpoint.
//
// A segment that left the store stays open as long as a state in use needs it.
//
// Invariants: FR1: the state at a commit is the writer's. FR2: neither waits for the other; nothing is
// locked. What a reader shows never vanishes: nothing above the mark is read.                             FR3
// Threads: any; one refresh at a time.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import Synchronization
import SystemPackage

/// How far the log of another process was read.
struct FollowingProgress {
    /// Rereads the log.
    fileprivate let opener: StoreOpener
    /// The newest mark that is known to yield nothing new.
    fileprivate var done: MarkRecord?
    /// The mark up to which the log could not be read.
    fileprivate var failed: MarkRecord?
    /// Segments that left the store, and the first commit without each.
    fileprivate var retired: [(number: UInt32, commit: UInt64)] = []

    fileprivate init(_ folder: FilePath, _ options: LogStoreOptions) {
        var options = options
        // Progress is only reported for opening.
        options.recoveryProgress = nil
        opener = StoreOpener(folder: folder, options: options)
    }
}

/// Reads what another process writes.
final class FollowingUpkeep: EngineUpkeep {
    fileprivate let progress: LongLock<FollowingProgress>
    private let isInBackground: Bool
    /// Notifies of marks that other processes write; nil while this process writes them.
    private let watch = Mutex<(any FileWatch)?>(nil)
    /// Whether the store is closed.
    private let isOver = Atomic(false)
    /// Whether a check for new commits is scheduled.
    fileprivate let isAwaited = Atomic(false)

    init(_ folder: FilePath, _ options: LogStoreOptions) {
        progress = LongLock(FollowingProgress(folder, options))
        isInBackground = options.followsWriter
    }

    func begin(_ engine: Engine) {
        guard isInBackground, !engine.lease.isHeld else { return }
        // Not during opening, which must not wait for it.
        engine.scheduler.schedule(after: engine.sizes.followSeconds) {
            [weak self, link = engine.link] in
            guard let self, let engine = link.engine, !engine.lease.isHeld else { return }
            if self.beginWatching(engine) {
                engine.follow()
            } else if engine.isReadOnly {
                // Without notifications, a read-only engine polls from time to time, and a writer reads when
                // it writes.
                engine.follow()
                engine.scheduleFollowing()
            }
        }
    }

    func waitsForLease(_ engine: Engine) { engine.follow() }

    func takeLease(_ engine: Engine) throws(StoreError) {
        stopWatching()
        do throws(StoreError) {
            try engine.takeLogOver()
        } catch {
            if isInBackground { _ = beginWatching(engine) }
            throw error
        }
    }

    func willGiveLeaseBack(_ engine: Engine) {
        if isInBackground, !isOver.load(ordering: .acquiring) { _ = beginWatching(engine) }
    }

    func willClose(_ engine: Engine) {
        isOver.store(true, ordering: .releasing)
        stopWatching()
    }

    private func beginWatching(_ engine: Engine) -> Bool {
        let files = engine.files
        return watch.withLock { watch in
            if watch != nil { return true }
            watch = files.fileSystem.watch(files.lock.path) { [link = engine.link] in
                link.engine?.awaitCommits()
            }
            return watch != nil
        }
    }

    private func stopWatching() {
        let watch = watch.withLock { $0.take() }
        watch?.stop()
    }
}

extension Engine {
    private var following: FollowingUpkeep { upkeep() }

    /// How often a torn mark is reread at once.
    private static let markReadings = 16

    // MARK: In the background

    /// How long it waits for more commits before it reads, in seconds: reading many together costs less.
    private static let gathering = 0.015

    /// Schedules a check for new commits: those that come at the same time are read together.
    fileprivate func awaitCommits() {
        guard !following.isAwaited.exchange(true, ordering: .acquiringAndReleasing) else { return }
        scheduler.schedule(after: min(Self.gathering, sizes.followSeconds)) { [link] in
            guard let engine = link.engine else { return }
            engine.following.isAwaited.store(false, ordering: .releasing)
            engine.follow()
        }
    }

    /// Checks for new commits from time to time, as long as the store is open.
    fileprivate func scheduleFollowing() {
        scheduler.schedule(after: sizes.followSeconds) { [link] in
            guard let engine = link.engine else { return }
            engine.follow()
            engine.scheduleFollowing()
        }
    }

    fileprivate func follow() {
        // An observer may close the store, which waits for this thread; and may take long.
        defer { changes.deliverElsewhere() }
        following.progress.withLock { following in
            // A failed mark is not retried before there is more to read; explicit requests get the error.
            guard !lease.isHeld, let mark = try? readMark(), mark != following.failed else {
                return
            }
            do {
                _ = try refresh(&following, to: mark)
            } catch {
                following.failed = mark
            }
        }
    }

    // MARK: Before writing

    /// Continues from what other processes wrote, and takes over the log. The caller has the lease.
    fileprivate func takeLogOver() throws(StoreError) {
        try following.progress.withLock { following throws(StoreError) in
            // Including those that are retired here: nothing follows while the lease is held.
            defer { closeRetired(&following) }
            let state = registry.published()
            let mark = try readMark()
            // The mark as of opening, while another process had the lease, may be old.                  F-225
            if let mark, mark.role == .released, mark.lsn >= state.end.lsn, mark != openedBeside {
                if try goOn(behind: mark, state, &following) { return }
            }
            // The previous process died, or did not know the state of its disk.
            let log = try startOver(from: registry.published(), takesOver: true, &following)
            try begin(log, mustRoll: true)
        }
        changes.deliverElsewhere()
    }

    /// Continues after a mark that says where the log ends; returns false if it cannot be followed step by
    /// step.
    private func goOn(
        behind mark: MarkRecord, _ state: EngineState, _ following: inout FollowingProgress
    ) throws(StoreError) -> Bool {
        let isOurs = try withTurnThrowing { turn throws(StoreError) in
            // No other process has written since this process gave the lease back.
            guard turn.end.lsn == mark.lsn, turn.end.chain == mark.chain, !turn.mustRoll,
                turn.isCurrentWritable
            else { return false }
            try takeMark(&turn)
            return true
        }
        if isOurs { return true }
        let log = try read(from: state, to: mark, &following)
        guard log.end.lsn == mark.lsn, log.end.chain == mark.chain else { return false }
        try begin(log, mustRoll: log.hasChangedSchema)
        following.done = nil
        return true
    }

    /// Makes the end of a log that was read the place of the next commit.
    private func begin(_ log: OpenedLog, mustRoll: Bool) throws(StoreError) {
        var log = log
        if !log.isToBeTakenOver { try log.openCurrentToWrite() }
        // The current segment may have been started without a commit in it.
        reader.largeValues.add(log.segments.current)
        try withTurnThrowing { turn throws(StoreError) in
            note(log.segments, log.end, &turn)
            turn.mustRoll = mustRoll
            for (index, tree) in turn.head.state.catalog.trees.enumerated() {
                turn.nextNumbers[index] = max(
                    turn.nextNumbers[index], log.nextNumbers[tree.id] ?? 1)
            }
            turn.isCurrentWritable = true
            noteNumber(log.lastSegment)
            queue.advance(to: log.end, durable: log.end.lsn)
            try takeMark(&turn)
        }
    }

    /// Continues from what another process wrote. What was known of the end of this process's commits no
    /// longer holds.
    private func note(_ segments: LiveSet, _ end: LogEnd, _ turn: inout Turn) {
        turn.head = registry.current()
        turn.last = nil
        turn.segments = segments
        turn.end = end
        turn.mustRoll = false
        turn.isCurrentWritable = false
        let state = turn.head.state
        for index in state.nextNumbers.indices {
            turn.nextNumbers[index] = max(turn.nextNumbers[index], state.nextNumbers[index])
        }
        for segment in segments.all { noteNumber(segment.number) }
        tools.memory.smallRows.pointee.forget()
    }

    /// Notes the number of an existing segment, so that it is not issued again.
    private func noteNumber(_ number: UInt32) {
        if lastSegment.load(ordering: .relaxed) < number {
            lastSegment.store(number, ordering: .relaxed)
        }
    }

    /// Records in the mark that the log may continue after it, and allows commits. The caller holds the write
    /// lock.
    private func takeMark(_ turn: inout Turn) throws(StoreError) {
        if turn.isClosed { throw StoreError(.unusable, "the store is closed") }
        // Zeros prefilled by other processes are as good as ours.
        let size = turn.mustRoll ? nil : try? turn.segments.current.file.size()
        turn.filledEnd = max(turn.end.offset, size ?? 0)
        turn.fillBytes = sizes.fillBytes
        do throws(FileSystemError) {
            try files.putMark(
                MarkRecord(
                    store: storeID, commit: turn.head.state.commit, lsn: turn.end.lsn,
                    chain: turn.end.chain, segment: turn.end.segment))
        } catch {
            throw StoreError(error)
        }
        lease.setHeld(true)
    }

    // MARK: Asked for

    /// Reads what is durable by now; returns false if nothing is new.
    func refresh() throws(StoreError) -> Bool {
        defer { changes.deliver() }
        return try refreshUntold()
    }

    /// The same for callers that hold a lock: they notify observers themselves.
    func refreshUntold() throws(StoreError) -> Bool {
        if lease.isHeld { return false }
        return try following.progress.withLock { following throws(StoreError) in
            // The lease may be given back at any time, and is taken with the progress locked.
            guard !lease.isHeld, let mark = try readMark() else { return false }
            return try refresh(&following, to: mark)
        }
    }

    /// Returns what the writer last recorded as durable; nil if there is no record.
    private func readMark() throws(StoreError) -> MarkRecord? {
        try files.refuseOtherHosts()
        do {
            for _ in 0..<Self.markReadings {
                if let mark = try files.readMark() { return mark.store == storeID ? mark : nil }
            }
            return nil
        } catch {
            throw StoreError(error)
        }
    }

    private func refresh(_ following: inout FollowingProgress, to mark: MarkRecord)
        throws(StoreError) -> Bool
    {
        closeRetired(&following)
        let state = registry.published()
        guard mark != following.done, mark.lsn > state.end.lsn else { return false }
        let log = try read(from: state, to: mark, &following)
        following.done = mark
        following.failed = nil
        closeRetired(&following)
        return log.commit > state.commit
    }

    /// Reads what follows a state up to a mark, and publishes it.
    private func read(
        from state: EngineState, to mark: MarkRecord, _ following: inout FollowingProgress
    ) throws(StoreError) -> OpenedLog {
        do throws(StoreError) {
            if let log = try goOn(from: state, to: mark, &following) { return log }
        } catch {
            // Whether it is damage, or the writer has removed what was to be read, only the whole log can
            // tell.
            guard error.code == .damaged else {
                var error = error
                // The reader of the log does not know its path.
                if error.context.path == nil { error.context.path = "\(files.folder)" }
                throw error
            }
        }
        return try startOver(from: state, takesOver: false, &following)
    }

    // MARK: States

    /// Reads what follows a state; returns nil if some of it is gone.
    private func goOn(
        from state: EngineState, to mark: MarkRecord, _ following: inout FollowingProgress
    ) throws(StoreError) -> OpenedLog? {
        guard let found = try FollowedSegments(files: files, state: state, mark: mark).find()
        else { return nil }
        // The next state reuses pages of this one.
        image?.loadWhole()
        try image?.repair()
        var log = try LogReader.follow(files, from: state, found, to: mark, cache: reader.cache)
        try check(log, from: state)
        keepChoices(of: state, &log)
        guard log.commit > state.commit else { return log }
        for segment in log.readable { reader.largeValues.add(segment) }
        let next = try StateBuilder.advance(
            log, cache: reader.cache, largeValues: reader.largeValues, pool: registry.pool,
            hashSeed: state.hashSeed, sizes: sizes)
        publish(
            next.state, replaced: next.replaced, lastSegment: log.lastSegment,
            origin(of: log, behind: state), &following)
        return log
    }

    /// Rereads the log whose files exist.
    private func startOver(
        from state: EngineState, takesOver: Bool, _ following: inout FollowingProgress
    ) throws(StoreError) -> OpenedLog {
        do throws(StoreError) {
            return try startOver(
                from: state, following.opener, takesOver: takesOver, &following)
        } catch {
            guard error.code == .damaged else { throw error }
            // As at opening: the error may be in the checkpoint.
            var opener = following.opener
            opener.usesCheckpoints = false
            return try startOver(from: state, opener, takesOver: takesOver, &following)
        }
    }

    /// - Parameter takesOver: whether the caller has the lease, and makes the log its own.
    private func startOver(
        from state: EngineState, _ opener: StoreOpener, takesOver: Bool,
        _ following: inout FollowingProgress
    ) throws(StoreError) -> OpenedLog {
        var log = try takesOver ? opener.readAlone(files) : opener.readAgain(files)
        try check(log, from: state)
        keepChoices(of: state, &log)
        let isNew = log.commit > state.commit
        guard isNew || takesOver else { return log }
        for segment in log.readable { reader.largeValues.add(segment) }
        guard isNew else {
            try log.takeOver()
            return log
        }
        var next = try StateBuilder.build(
            log, cache: reader.cache, largeValues: reader.largeValues, pool: log.pool,
            hashSeed: log.hashSeed ?? state.hashSeed, sizes: sizes)
        if takesOver {
            try log.takeOver()
            next.segments = log.segments
        }
        publish(
            next, replaced: [], ownPool: log.pool, lastSegment: log.lastSegment,
            origin(of: log, behind: state), &following)
        return log
    }

    /// The author of what follows a state, if known.
    private func origin(of log: OpenedLog, behind state: EngineState) -> CommitOrigin {
        CommitOrigin(
            author: log.commit == state.commit + 1 ? log.report.lastAuthor : nil,
            contextName: nil, isSilent: false, isFromAnotherProcess: true)
    }

    /// Keeps the model and the fetch indexes that were chosen at opening.
    private func keepChoices(of state: EngineState, _ log: inout OpenedLog) {
        if log.catalog.schema !== state.catalog.schema,
            let chosen = CatalogDocument.catalog(log.catalog, under: state.catalog.schema.model)
        {
            log.catalog = chosen
        }
        let wanted = state.catalog.fetchIndexes
        if log.catalog.fetchIndexes != wanted { log.catalog = log.catalog.indexed(by: wanted) }
    }

    private func check(_ log: OpenedLog, from state: EngineState) throws(StoreError) {
        guard log.storeID == storeID else {
            throw StoreError(
                .unusable, "the folder now contains another store",
                context: .init(path: "\(files.folder)"))
        }
        guard log.catalog.version == state.catalog.version else {
            throw StoreError(
                .incompatibleModel, "the store's model has changed since it was opened",
                context: .init(path: "\(files.folder)"))
        }
    }

    private func publish(
        _ state: EngineState, replaced: [Page], ownPool: PagePool? = nil, lastSegment: UInt32,
        _ origin: CommitOrigin, _ following: inout FollowingProgress
    ) {
        let old = registry.published()
        for segment in old.segments.all where state.segments[segment.number] == nil {
            following.retired.append((segment.number, state.commit))
        }
        if state.redirects != nil { tools.mayRedirect.store(true, ordering: .relaxed) }
        let transition = registry.publish(
            state, epoch: state.commit, replaced: replaced, ownPool: ownPool)
        if let transition { changes.post(transition, origin) }
        queue.advance(to: state.end, durable: state.end.lsn)
        // The write lock's state keeps nothing that is no longer needed.
        withTurnAnyway { turn in
            note(state.segments, state.end, &turn)
            noteNumber(lastSegment)
        }
    }

    /// Releases segments that no state needs any longer.
    private func closeRetired(_ following: inout FollowingProgress) {
        guard !following.retired.isEmpty else { return }
        let oldest = registry.oldestEpoch
        var unneeded: [UInt32] = []
        following.retired.removeAll { segment in
            guard segment.commit <= oldest else { return false }
            unneeded.append(segment.number)
            return true
        }
        reader.forget(unneeded)
    }
}
