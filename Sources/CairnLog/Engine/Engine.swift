// A store that is open in this process: one engine for all coordinators that have opened it.
//
// Readers pin the published state and take no lock after that. Writers take the write lock one at a time; it
// covers check, apply and encode, against the newest sealed state (the head), which need not be published.
// Writing, syncing and publishing follow without the write lock, see `CommitQueue`.
//
//   commit = start (roll a full segment) → body → seal → release the write lock → wait for the queue
//
// A single writer that needs no sync writes and publishes within the write lock instead: no other could share
// the write.
//
// A commit that fails before it is sealed is discarded: its state, and what it wrote after the end. When the
// queue fails, the next holder of the write lock truncates the log and makes the published state the head
// again. When a sync or the truncation fails, the state of the disk is unknown: the engine is poisoned,
// continues to read, and every commit throws the first cause.
//
// Invariants: CM1: after return every new snapshot contains the commit. CM2: after a crash the store holds a
// prefix of the commits that includes every full one that returned.
// Threads: any.

import CCairn
package import CairnFileSystem
package import CairnFormat
import CairnModel
package import CairnStore
import FoundationEssentials
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An open store.
package final class Engine: Sendable {
    /// The state that only the holder of the write lock may access.
    package struct Turn {
        /// The newest state that was sealed.
        var head: HeldState<EngineState>
        /// The commit that created it, if it may not be published yet.
        var last: CommitTicket?
        /// Where the next frame goes.
        var end: LogEnd
        /// The segments of the store.
        package var segments: LiveSet
        /// Whether the newest one is open for writing: an engine that only follows other processes has it
        /// open for reading.
        var isCurrentWritable = true
        var isClosed = false
        /// The offset up to which the last segment is prefilled with zeros.
        var filledEnd: UInt64 = 0
        /// How many zeros are written next; 0 if this segment needs no more.
        var fillBytes: UInt64
        var isFilling = false
        /// Whether the next commit must start a new segment: what follows the end must not be touched.
        var mustRoll: Bool
        /// The next number of each tree, also after failed commits: a number is never reused.
        package var nextNumbers: [UInt32]
        /// A state that is no longer in use, whose memory the next one reuses.
        var spare: HeldState<EngineState>?
    }

    package let files: StoreFiles
    package let storeID: StoreID
    package let identity: StoreIdentity
    let isReadOnly: Bool
    let derivationUse: DerivationUse
    let durability: LogStoreOptions.Durability
    let snapshotLimit: UInt64
    package let sizes: StoreSizes
    package let clock: any StoreClock
    /// The pool of the published state's pages: a state that was reread has its own.
    var pool: PagePool { registry.pool }
    package let reader: StoreReader
    package let tools: CommitTools
    /// Counts what was written since the store was opened.
    let writes = WriteCounter()
    package let registry: StateRegistry<EngineState>
    package let queue: CommitQueue
    /// Notifies observers of commits.
    let changes: CommitFeed
    let disk: CommitDisk
    /// Runs short work that must not wait: syncs, prefilling zeros, checking for new commits.
    let scheduler: any BackgroundScheduler
    /// Runs long work: checkpoints and compaction.
    let housekeeper: any BackgroundScheduler
    /// What is known about the newest checkpoint.
    let checkpoint: Mutex<CheckpointProgress>
    /// The largest segment number that was issued.
    let lastSegment: Atomic<UInt32>
    /// The open snapshots.
    let snapshots = SnapshotPins()
    /// Whether the store was closed: its folder may belong to another engine. Code that creates or removes
    /// files without the write lock holds this lock.
    let isReleased = LongLock(false)
    /// The same, to be read without waiting.
    let isClosed = Atomic(false)
    /// Locked by the registry while it closes the engine; other threads that open the store wait for that.
    let closing = LongLock(false)
    /// Whether a sync of grouped commits is scheduled.
    let isSyncScheduled = Atomic(false)
    /// The part of the state that is still in the checkpoint that it was opened from.
    let image: CheckpointImage?
    /// What recovery found.
    let recovery: RecoveryReport
    /// Whether the checkpoint that it was opened from lacks fetch indexes, so that they were built, and no
    /// other checkpoint was taken for that reason.
    let lacksFetchIndexes: Atomic<Bool>
    /// Where the log ended when checkpoint and compaction were last checked; the largest number before the
    /// first check.
    private let lookedAt = Atomic<UInt64>(.max)
    /// Where the log ended when it was opened, if its last frame was a close frame, and the numbers in that
    /// frame.
    let openedAt: (end: LogEnd, nextNumbers: [UInt32])?
    private let turn: LongLock<Turn>
    /// Whether this process may append; see Engine+Lease.swift.
    let lease: EngineLease
    /// The mark next to which the log was read, if another process had the lease: it may predate a stop of
    /// the machine.
    let openedBeside: MarkRecord?
    /// The work in addition to commits.
    let upkeeps: [any EngineUpkeep]
    /// The engine, for scheduled work.
    let link = EngineLink()

    init(_ opened: OpenedLog, options: LogStoreOptions, upkeeps: [any EngineUpkeep])
        throws(StoreError)
    {
        self.upkeeps = upkeeps
        files = opened.files
        let pool = opened.pool
        storeID = opened.storeID
        isReadOnly = options.isReadOnly
        derivationUse = DerivationUse(opened.catalog.schema.derivations)
        durability = options.durability
        snapshotLimit = options.snapshotLimit
        sizes = options.sizes
        clock = options.clock
        tools = CommitTools(
            options, staging: StagingArea(adoptedBytes: opened.sideBytes),
            retired: RetiredSegments(opened.retired))
        let cache = BlockCache(budget: options.cacheBytes ?? Self.defaultCacheBytes)
        let largeValues = LargeValueReader(storeTag: opened.storeID.tag)
        for segment in opened.readable { largeValues.add(segment) }
        lastSegment = Atomic(opened.lastSegment)
        identity = StoreIdentity(
            identifier: opened.catalog.metadata?.identifier ?? opened.storeID.uuid,
            hierarchies: opened.catalog.schema.entities.map { entity in
                opened.catalog.trees[opened.catalog.entities[entity.index].tree].id
            })
        recovery = opened.report
        image = opened.image
        let nextNumbers = opened.catalog.trees.map { opened.nextNumbers[$0.id] ?? 1 }
        openedAt =
            opened.report.wasClosed && !opened.report.wasCreated ? (opened.end, nextNumbers) : nil
        var state = try StateBuilder.build(
            opened, cache: cache, largeValues: largeValues, pool: pool,
            hashSeed: opened.hashSeed ?? StoredHash.newSeed(bits: sizes.hashBits), sizes: sizes,
            monitor: RecoveryMonitor(.buildingState, options))
        var opened = opened
        if opened.isToBeTakenOver {
            try opened.takeOver()
            state.segments = opened.segments
        }
        registry = StateRegistry(state, epoch: state.commit, pool: pool)
        disk = CommitDisk(files: files, storeID: storeID)
        scheduler = options.makeScheduler()
        housekeeper = options.makeScheduler()
        lacksFetchIndexes = Atomic(
            opened.base.map { base in
                !FetchIndexBuilder.has(base, allOf: opened.catalog)
            } ?? false)
        checkpoint = Mutex(
            CheckpointProgress(
                lsn: opened.base?.commitEnd.lsn ?? 0, volume: opened.base?.commitEnd.lsn ?? 0,
                bytes: opened.checkpointBytes))
        changes = CommitFeed(registry)
        queue = CommitQueue(
            end: opened.end, durable: opened.durable, disk: disk, registry: registry,
            changes: changes)
        reader = StoreReader(
            storeID: storeID, identity: identity, cache: cache,
            crew: ScanCrew(helpers: max(1, options.scanThreads ?? Self.defaultScanThreads) - 1),
            largeValues: largeValues, registry: registry, latePages: image,
            mapsFiles: options.mapsFiles && !opened.files.isShared,
            durable: { [queue] in queue.durable }
        ) { [queue] segment, offset in queue.rows(in: segment, at: offset) }
        lease = EngineLease(isHeld: opened.hasLease, timeout: options.timeout)
        openedBeside = opened.hasLease ? nil : opened.mark
        turn = LongLock(
            Turn(
                head: registry.current(), end: opened.end, segments: opened.segments,
                isCurrentWritable: opened.hasLease,
                fillBytes: options.sizes.fillBytes,
                mustRoll: !(opened.report.wasClosed || opened.wasHandedOver)
                    || opened.hasChangedSchema,
                nextNumbers: nextNumbers))
        changes.begin(reader)
        if state.redirects != nil { tools.mayRedirect.store(true, ordering: .relaxed) }
        link.begin(self)
        registry.onRelease { [link] in
            guard let engine = link.engine else { return }
            for upkeep in engine.upkeeps { upkeep.noteRelease(engine) }
        }
        // Whoever closed the store had synced its checkpoints before; beside other processes that is unknown.
        let isClosed = opened.report.wasClosed
        if options.mapsFiles, !opened.files.isShared, isClosed || opened.hasLease {
            image?.map(isSynced: isClosed)
        }
        image?.loadsRest = { [link] in link.engine?.scheduleLoading(wholly: false) }
        for upkeep in upkeeps { upkeep.begin(self) }
        if lease.isHeld { endOpening() }
    }

    /// Returns the upkeep of a kind.
    func upkeep<Upkeep: EngineUpkeep>(_ kind: Upkeep.Type = Upkeep.self) -> Upkeep {
        for upkeep in upkeeps { if let upkeep = upkeep as? Upkeep { return upkeep } }
        preconditionFailure("an engine is made with all upkeep that somebody asks for")
    }

    /// A sixteenth of the memory, at most 1 GiB.
    private static let defaultCacheBytes = min(1 << 30, (UsableMemory.bytes ?? 1 << 30) / 16)

    /// The number of cores that the process may use: at most four, as more wait for the same memory.
    private static var defaultScanThreads: Int { min(4, Int(cairn_usable_cores())) }

    // MARK: Writing

    /// The outcome of a commit when the write lock was released.
    private enum Made {
        /// The commit's number, its ticket, and the end of the log after it. No ticket: it is published already.
        case sealed(UInt64, CommitTicket?, UInt64)
        /// Nothing changed. The ticket belongs to the state that the body saw, which may not be published yet.
        case unchanged(CommitTicket?)
        /// The body threw on the state of the ticket.
        case failed(StoreError, CommitTicket?)
    }

    /// Runs the body as one commit. Returns the body's result and the commit's number, nil if nothing
    /// changed. Observers are notified unless the commit is silent, that is, changes no object.
    ///
    /// - Parameter number: its number, if that is greater than the last one: numbers may be skipped (F-602).
    package func commit<R>(
        author: String?, contextName: String?, isSilent: Bool = false, number: UInt64? = nil,
        _ body: (inout CommitBuilder) throws(StoreError) -> R
    ) throws(StoreError) -> (R, UInt64?) {
        var result: R?
        let number = try commitAny(
            CommitOrigin(
                author: author, contextName: contextName, isSilent: isSilent, number: number)
        ) { builder throws(StoreError) in result = try body(&builder) }
        guard let result else { preconditionFailure("the body of a commit gave a result") }
        return (result, number)
    }

    /// The same for all result types: a commit is much code, of which there should be one copy.
    @inline(never)
    private func commitAny(
        _ origin: CommitOrigin, _ body: (inout CommitBuilder) throws(StoreError) -> Void
    ) throws(StoreError) -> UInt64? {
        try Self.check(origin.author, "author")
        try Self.check(origin.contextName, "context's name")
        let made = try withLease { turn throws(StoreError) in try make(&turn, origin, body) }
        defer { if !origin.isSilent { changes.deliver() } }
        switch made {
        case .sealed(let number, let ticket, let end):
            if let ticket { try wait(for: ticket) }
            if durability == .grouped { scheduleSync() }
            if isTimeToLook(end) {
                scheduleLoading(wholly: true)
                scheduleCheckpoint()
                for upkeep in upkeeps { upkeep.look(self) }
            }
            return number
        case .unchanged(let ticket):
            // A commit that made a change needless must not be lost after this one has returned.
            if let ticket { try wait(for: ticket) }
            return nil
        case .failed(let error, let ticket):
            // A caller that looks for what conflicts with the commit must be able to find it.
            if let ticket { try? wait(for: ticket) }
            throw error
        }
    }

    private static func check(_ text: String?, _ name: StaticString) throws(StoreError) {
        guard let text, text.utf8.count > CommitPayload.maximumText else { return }
        throw StoreError(
            .invalidRequest, "the \(name) has more than \(CommitPayload.maximumText) bytes")
    }

    /// Whether enough was written since the last check for work in addition to commits.
    private func isTimeToLook(_ end: UInt64) -> Bool {
        let end = volume(at: end)
        let last = lookedAt.load(ordering: .relaxed)
        let step = min(sizes.checkpointBytes, sizes.compactionFloor) / 64
        guard last == .max || end >= last + step else { return false }
        lookedAt.store(end, ordering: .relaxed)
        return true
    }

    /// Waits until a commit is published, or throws the reason of its failure.
    private func wait(for ticket: CommitTicket) throws(StoreError) {
        while true {
            switch queue.wait(for: ticket) {
            case .published: return
            case .failed(let error): throw error
            case .broken: try withTurn { turn throws(StoreError) in repair(&turn) }
            }
        }
    }

    /// Runs a closure with the write lock.
    package func withTurn<R>(_ body: (inout Turn) throws(StoreError) -> R) throws(StoreError) -> R {
        try checkReentry()
        queue.committers.add(1, ordering: .relaxed)
        defer { queue.committers.subtract(1, ordering: .relaxed) }
        return try turn.withLock { turn throws(StoreError) in try body(&turn) }
    }

    /// Throws in a thread that holds the write lock: waiting for other threads could deadlock.
    func checkReentry() throws(StoreError) {
        guard !turn.isHeldByThisThread else {
            throw StoreError(
                .invalidRequest,
                "a batch insert's closure writes to the store, which would wait for itself"
            )
        }
    }

    /// The same if the write lock is free; otherwise returns nil.
    func withTurnIfFree<R>(_ body: (inout Turn) -> R) -> R? {
        turn.withLockIfAvailable { body(&$0) }
    }

    /// The same for the engine's own work, which may throw and is never called back.
    func withTurnThrowing<R>(_ body: (inout Turn) throws(StoreError) -> R) throws(StoreError) -> R {
        try turn.withLock { turn throws(StoreError) in try body(&turn) }
    }

    /// The same for the engine's own work, which is never called back.
    package func withTurnAnyway<R>(_ body: (inout Turn) -> R) -> R {
        turn.withLock { body(&$0) }
    }

    private func make(
        _ turn: inout Turn, _ origin: CommitOrigin,
        _ body: (inout CommitBuilder) throws(StoreError) -> Void
    ) throws(StoreError) -> Made {
        var outlook = queue.outlook(&turn.spare)
        if !outlook.isClear || isReadOnly || turn.isClosed {
            repair(&turn)
            try checkWritable(turn)
            if queue.isFull { try drain(&turn) }
            outlook = queue.outlook(&turn.spare)
        }
        let failures = try image?.repair() ?? 0
        if turn.mustRoll || turn.end.offset >= nominalSegmentBytes(turn) {
            do throws(StoreError) {
                try beginSegment(&turn)
            } catch {
                // On a full disk, prefilled zeros may hold the commit.
                guard error.code == .noSpace, !turn.mustRoll, queue.cause == nil,
                    turn.filledEnd > turn.end.offset
                else { throw error }
            }
            outlook = queue.outlook(&turn.spare)
        }
        let number = max(turn.head.epoch + 1, origin.number ?? 0)
        let held = unusedState(number, &turn)
        var builder = CommitBuilder(
            reader: reader, tools: tools, held: held,
            pages: PageTransaction(
                epoch: number, pool: turn.head.pool, lists: tools.memory.pageLists.pointee.take()),
            log: LogWriter(
                segment: turn.segments.current, end: turn.end, storeTag: storeID.tag,
                commit: number, mark: outlook.durable, limit: sizes.writeBufferBytes,
                syncs: durability == .full, buffer: tools.memory.buffer.pointee.take()),
            writtenLSN: outlook.written)
        builder.state.assign(turn.head)
        builder.state.nextNumbers.assign(turn.nextNumbers)
        builder.state.segments = turn.segments
        let isDirect: Bool
        tools.partial?.begin()
        do throws(StoreError) {
            try body(&builder)
            if let partial = tools.partial, partial.isLacking { throw PartialKnowledge.lacking }
            let time = clock.now()
            if builder.catalog.tracksHistory, builder.hasChanges, !builder.hasRecordedHistory {
                try builder.recordHistory(
                    since: turn.head, time: time, author: origin.author,
                    contextName: origin.contextName)
                if let partial = tools.partial, partial.isLacking { throw PartialKnowledge.lacking }
            }
            try image?.check(since: failures)
            if let crowding = builder.crowding { throw crowding }
            if let contradiction = builder.contradiction { throw contradiction }
            turn.nextNumbers.assign(builder.state.nextNumbers)
            guard builder.hasChanges else {
                abandon(builder, &turn)
                return .unchanged(turn.last)
            }
            try builder.seal(
                time: time, author: origin.author, contextName: origin.contextName)
            isDirect = isAlone
            if isDirect { try builder.log.flush() }
        } catch {
            // The numbers of a trial were never visible.
            if !(error.cause is BatchTrial) {
                turn.nextNumbers.assign(builder.state.nextNumbers)
            }
            abandon(builder, &turn)
            return .failed(error, turn.last)
        }
        let end = builder.log.end
        let mergedBytes = builder.mergedBytes
        if isDirect {
            let pages = builder.take(into: held)
            var before = queue.publish(held, pages, origin)
            tools.memory.pageLists.pointee = pages.lists()
            finish(held, nil, end, mergedBytes: mergedBytes, &turn)
            if queue.empty(&before) { turn.spare = before }
            fillAhead(&turn)
            return .sealed(number, nil, end.lsn)
        }
        let ticket = CommitTicket()
        let chunk = builder.log.rest()
        let sealed = SealedCommit(
            held: held, pages: builder.take(into: held), ticket: ticket,
            isFull: durability == .full, origin: origin)
        guard queue.seal(sealed, chunk) else {
            sealed.pages.giveAll(to: held.pool)
            // The states that it is based on will never exist. Nothing of it is in the log once that is
            // truncated.
            let error = queue.currentFailure()?.failure.error ?? queue.cause
            repair(&turn)
            guard let error else {
                preconditionFailure("a queue that takes no commit says why")
            }
            return .failed(error, nil)
        }
        finish(held, ticket, end, mergedBytes: mergedBytes, &turn)
        if chunk != nil { fillAhead(&turn) }
        return .sealed(number, ticket, end.lsn)
    }

    /// Returns a state for the next commit that is not in use; its content is meaningless.
    private func unusedState(_ number: UInt64, _ turn: inout Turn) -> HeldState<EngineState> {
        let pool = turn.head.pool
        if let spare = turn.spare.take(), spare.pool === pool { return spare }
        return HeldState(
            EngineState(placeholderWith: turn.head.state.catalog), epoch: number, pool: pool)
    }

    /// Whether the holder of the write lock may write and publish a commit: it needs no sync, the queue is
    /// empty, and no other thread waits for the write lock and could share the write.
    private var isAlone: Bool {
        durability != .full && queue.committers.load(ordering: .relaxed) == 1 && queue.isIdle
    }

    /// Makes a commit the base of the next one.
    private func finish(
        _ held: HeldState<EngineState>, _ ticket: CommitTicket?, _ end: LogEnd, mergedBytes: Int,
        _ turn: inout Turn
    ) {
        writes.addCommit(end.lsn - turn.end.lsn, merged: mergedBytes)
        turn.end = end
        turn.segments = held.state.segments
        turn.head = held
        turn.last = ticket
    }

    package func checkWritable(_ turn: Turn) throws(StoreError) {
        if isReadOnly { throw StoreError(.readOnly, "the store is open for reading only") }
        if turn.isClosed { throw StoreError(.unusable, "the store is closed") }
        if var failure = queue.cause {
            failure.code = .unusable
            failure.message =
                "because of an earlier failure, the store must be reopened before writing: \(failure.message)"
            throw failure
        }
    }

    /// Discards a commit: what it wrote is truncated before any caller learns of the failure.
    private func abandon(_ builder: consuming CommitBuilder, _ turn: inout Turn) {
        let hasWritten = builder.log.hasWritten
        if builder.hasChanges { tools.memory.smallRows.pointee.forget() }
        builder.pages.abandon()
        if hasWritten { cut(to: turn.end, &turn) }
    }

    /// Truncates the last segment after an end, durably, including the zeros there. If that fails, the state
    /// of the log is unknown.
    private func cut(to end: LogEnd, _ turn: inout Turn) {
        let segment = turn.segments.current
        segment.waitForFilling()
        turn.filledEnd = end.offset
        do {
            try segment.file.truncate(to: end.offset)
            try segment.synchronize()
        } catch {
            queue.poison(StoreError(error))
        }
    }

    /// Undoes what failed in the queue, if anything did: the file may already contain complete commit frames,
    /// and the head is based on states that will never exist.
    package func repair(_ turn: inout Turn) {
        guard let (failure, end) = queue.currentFailure() else { return }
        tools.memory.smallRows.pointee.forget()
        turn.end = end
        turn.head = registry.current()
        turn.segments.takeBack(to: turn.head.state.segments)
        turn.last = nil
        if !failure.isFinal { cut(to: end, &turn) }
        queue.finishFailure(cause: failure.isFinal ? failure.error : nil)
    }

    /// Waits until all sealed commits are published.
    func drain(_ turn: inout Turn) throws(StoreError) {
        if queue.drain() { return }
        let error = queue.currentFailure()?.failure.error
        repair(&turn)
        if let error { throw error }
    }

    /// Makes everything that is published durable. Nothing is sealed, as the caller has drained the queue.
    func synchronize(_ turn: inout Turn) throws(StoreError) {
        guard queue.durable < turn.end.lsn else { return }
        do {
            // Not by the head: it does not know a segment that was started and has no commit yet.
            try disk.synchronize(
                turn.segments.current, to: turn.end, commit: turn.head.state.commit)
        } catch {
            // A retry could report success for lost bytes.
            queue.poison(error)
            throw error
        }
        queue.advance(to: turn.end, durable: turn.end.lsn)
    }

    /// Creates or removes files while no other thread does, and while the folder belongs to this engine.
    func inFolder<R: Sendable>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        try isReleased.withLock { isReleased throws(StoreError) -> R in
            if isReleased { throw StoreError(.unusable, "the store is closed") }
            return try body()
        }
    }
}
