// A process that reads follows the log of the one that writes.                            ENGINE-NOTES 15
//
//   1. The mark in the lock file says how far the log is durable. A record that was torn is read again.
//   2. The frames from the present state to the mark are read, and the next state is made from the present one.
//   3. It is published like a commit: old snapshots stay, new ones see it.
//   4. If a file is gone, because the writer compacted it away, the log is read anew, from the newest checkpoint.
//
// A segment that left the store stays open as long as a state that somebody reads needs it.
//
// Invariants: FR1: the state at a commit is the writer's. FR2: neither waits for the other; nothing is locked. What a
// reader shows never vanishes: nothing above the mark is read.                                      FR3
// Threads: any; one refresh at a time.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import Synchronization
import SystemPackage

/// How far the log of another process is read.
struct FollowingProgress {
    /// Reads the log anew.
    fileprivate let opener: StoreOpener
    /// The newest mark that is known to lead to nothing new.
    fileprivate var done: MarkRecord?
    /// The mark up to which the log could not be read.
    fileprivate var failed: MarkRecord?
    /// Segments that left the store, and the first commit without each.
    fileprivate var retired: [(number: UInt32, commit: UInt64)] = []

    fileprivate init(_ folder: FilePath, _ options: LogStoreOptions) {
        var options = options
        // It is about opening.
        options.recoveryProgress = nil
        opener = StoreOpener(folder: folder, options: options)
    }
}

/// Reads what another process writes.
final class FollowingUpkeep: EngineUpkeep {
    fileprivate let progress: LongLock<FollowingProgress>
    private let isInBackground: Bool

    init(_ folder: FilePath, _ options: LogStoreOptions) {
        progress = LongLock(FollowingProgress(folder, options))
        isInBackground = options.isReadOnly && options.followsWriter
    }

    func begin(_ engine: Engine) { if isInBackground { engine.scheduleFollowing() } }
}

extension Engine {
    private var following: FollowingUpkeep { upkeep() }

    /// How often a torn mark is read again at once.
    private static let markReadings = 16

    // MARK: In the background

    /// Looks for new commits from time to time, as long as the store is open.
    fileprivate func scheduleFollowing() {
        scheduler.schedule(after: sizes.followSeconds) { [weak self] in
            guard let self else { return }
            self.follow()
            self.scheduleFollowing()
        }
    }

    private func follow() {
        // Who is told may close the store, which waits for this thread; and may take his time.
        defer { changes.deliverElsewhere() }
        following.progress.withLock { following in
            // What failed is not tried again before there is more to read; who asks for it is told.
            guard let mark = try? readMark(), mark != following.failed else { return }
            do {
                _ = try refresh(&following, to: mark)
            } catch {
                following.failed = mark
            }
        }
    }

    // MARK: Asked for

    /// Reads what is durable by now; false if that is nothing new.
    func refresh() throws(StoreError) -> Bool {
        defer { changes.deliver() }
        return try refreshUntold()
    }

    /// The same for callers that have something locked: they see to it that who observes is told.
    func refreshUntold() throws(StoreError) -> Bool {
        guard isReadOnly else { return false }
        return try following.progress.withLock { following throws(StoreError) in
            guard let mark = try readMark() else { return false }
            return try refresh(&following, to: mark)
        }
    }

    /// What the writer last said to be durable; nil if it says nothing.
    private func readMark() throws(StoreError) -> MarkRecord? {
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
        var isNew: Bool?
        do throws(StoreError) {
            isNew = try goOn(from: state, to: mark, &following)
        } catch {
            // Whether it is damage, or the writer has removed what was to be read, the whole log says.
            guard error.code == .damaged else {
                var error = error
                // Who reads the log does not know where it lies.
                if error.context.path == nil { error.context.path = "\(files.folder)" }
                throw error
            }
        }
        let result: Bool
        if let isNew { result = isNew } else { result = try startOver(from: state, &following) }
        following.done = mark
        following.failed = nil
        closeRetired(&following)
        return result
    }

    // MARK: States

    /// Reads what follows a state; nil if some of it is gone.
    private func goOn(
        from state: EngineState, to mark: MarkRecord, _ following: inout FollowingProgress
    ) throws(StoreError) -> Bool? {
        guard let found = try FollowedSegments(files: files, state: state, mark: mark).find()
        else { return nil }
        var log = try LogReader.follow(files, from: state, found, to: mark)
        try check(log, from: state)
        keepChoices(of: state, &log)
        guard log.commit > state.commit else { return false }
        for segment in log.readable { reader.largeValues.add(segment) }
        let next = try StateBuilder.advance(
            log, cache: reader.cache, largeValues: reader.largeValues, pool: registry.pool,
            hashSeed: state.hashSeed, sizes: sizes)
        publish(next.state, replaced: next.replaced, origin(of: log, behind: state), &following)
        return true
    }

    /// Reads the log anew, whose files are there.
    private func startOver(from state: EngineState, _ following: inout FollowingProgress)
        throws(StoreError) -> Bool
    {
        do throws(StoreError) {
            return try startOver(from: state, following.opener, &following)
        } catch {
            guard error.code == .damaged else { throw error }
            // As at opening: the checkpoint may be the one that is wrong.
            var opener = following.opener
            opener.usesCheckpoints = false
            return try startOver(from: state, opener, &following)
        }
    }

    private func startOver(
        from state: EngineState, _ opener: StoreOpener, _ following: inout FollowingProgress
    ) throws(StoreError) -> Bool {
        var log = try opener.readAgain(files)
        try check(log, from: state)
        keepChoices(of: state, &log)
        guard log.commit > state.commit else { return false }
        for segment in log.readable { reader.largeValues.add(segment) }
        let next = try StateBuilder.build(
            log, cache: reader.cache, largeValues: reader.largeValues, pool: log.pool,
            hashSeed: log.hashSeed ?? state.hashSeed, sizes: sizes)
        publish(
            next, replaced: [], ownPool: log.pool, origin(of: log, behind: state), &following)
        return true
    }

    /// Who made what follows a state, if that is known.
    private func origin(of log: OpenedLog, behind state: EngineState) -> CommitOrigin {
        CommitOrigin(
            author: log.commit == state.commit + 1 ? log.report.lastAuthor : nil,
            contextName: nil, isSilent: false, isFromAnotherProcess: true)
    }

    /// The model and the fetch indexes stay those that were chosen at opening.
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
                .unusable, "there is another store in the folder now",
                context: .init(path: "\(files.folder)"))
        }
        guard log.catalog.version == state.catalog.version else {
            throw StoreError(
                .incompatibleModel, "the store's model has changed since it was opened",
                context: .init(path: "\(files.folder)"))
        }
    }

    private func publish(
        _ state: EngineState, replaced: [Page], ownPool: PagePool? = nil, _ origin: CommitOrigin,
        _ following: inout FollowingProgress
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
        // The turn holds on to nothing that is not needed any more.
        withTurnAnyway { turn in
            turn.head = registry.current()
            turn.segments = state.segments
            turn.end = state.end
            turn.nextNumbers = state.nextNumbers
        }
    }

    /// Lets go of segments that no state needs any more.
    private func closeRetired(_ following: inout FollowingProgress) {
        guard !following.retired.isEmpty else { return }
        let oldest = registry.oldestEpoch
        following.retired.removeAll { segment in
            guard segment.commit <= oldest else { return false }
            reader.largeValues.remove(segment.number)
            return true
        }
    }
}
