// A store that is open in this process: one engine for all coordinators that opened it.
//
// Readers pin the published state and take no lock after that. Writers take the turn, one after the other;
// the turn covers everything from the check to the sync. (Sharing a sync among committers is the next step;
// the parts of a commit are separate functions for that.)
//
//   commit = begin (roll the segment if it is full) → body → seal → sync → mark → publish
//
// When something fails before the sync, the file is cut back to the end of the last commit and the state is
// forgotten. When the sync fails, or the cut, nothing is known any more: the engine is poisoned, goes on
// reading, and every commit throws the first cause.
//
// Invariants: CM1: after return every new snapshot contains the commit. CM2: after a crash the store holds a
// prefix of the commits that includes every full one that returned.
// Threads: any.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
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
final class Engine: Sendable {
    /// What only the holder of the turn may touch.
    struct Turn {
        /// Where the next frame goes.
        var end: LogEnd
        /// The segments of the log, the last one taking commits.
        var segments: [Segment]
        /// The LSN below which the log is durable.
        var durable: UInt64
        /// Why nothing can be written any more.
        var failure: StoreError?
        var isClosed = false
        /// Whether the next commit must begin a new segment: what follows the end is not ours to touch.
        var mustRoll: Bool
        /// The next number of each tree, also after commits that failed: a number is given once.
        var nextNumbers: [UInt32]
        /// Numbers below these may have been handed out as ids of objects that are not saved yet.
        var reserved: [UInt32]
    }

    let files: StoreFiles
    let storeID: StoreID
    let identity: StoreIdentity
    let isReadOnly: Bool
    let durability: LogStoreOptions.Durability
    let sizes: StoreSizes
    let clock: any StoreClock
    let hashSeed: UInt64
    let pool = PagePool()
    let cache: BlockCache
    let largeValues: LargeValueReader
    let registry: StateRegistry<EngineState>
    /// What recovery found.
    let recovery: RecoveryReport
    /// Where the log ended when it was opened, if a close frame was its last.
    private let openedAt: LogEnd?
    private let turn: LongLock<Turn>
    /// The thread that has the turn, so that asking for it again throws instead of waiting for itself.
    private let holder = Atomic<UInt>(0)

    init(_ opened: OpenedLog, options: LogStoreOptions) throws(StoreError) {
        files = opened.files
        storeID = opened.storeID
        isReadOnly = options.isReadOnly
        durability = options.durability
        sizes = options.sizes
        clock = options.clock
        hashSeed = UInt64.random(in: .min ... .max)
        cache = BlockCache(budget: options.cacheBytes ?? Self.defaultCacheBytes)
        largeValues = LargeValueReader(storeTag: opened.storeID.tag)
        for segment in opened.segments { largeValues.add(segment) }
        identity = StoreIdentity(
            identifier: opened.storeID.uuid,
            hierarchies: opened.catalog.schema.entities.map { entity in
                opened.catalog.trees[opened.catalog.entities[entity.index].tree].id
            })
        recovery = opened.report
        openedAt = opened.report.wasClosed && !opened.report.wasCreated ? opened.end : nil
        let state = try StateBuilder.build(
            opened, cache: cache, largeValues: largeValues, pool: pool, hashSeed: hashSeed)
        registry = StateRegistry(state, epoch: state.commit, pool: pool)
        turn = LongLock(
            Turn(
                end: opened.end, segments: opened.segments, durable: opened.durable, failure: nil,
                mustRoll: !opened.report.wasClosed,
                nextNumbers: state.nextNumbers, reserved: state.nextNumbers))
    }

    /// A sixteenth of the memory, at most 256 MiB.
    private static var defaultCacheBytes: Int {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let size = sysconf(Int32(_SC_PAGESIZE))
        guard pages > 0, size > 0 else { return 64 << 20 }
        return min(256 << 20, pages / 16 * size)
    }

    // MARK: Reading

    /// A block that is stored.
    func block(_ place: Place, in state: EngineState) throws(StoreError) -> CachedBlock {
        try cache.block(place) { () throws(StoreError) in
            guard let segment = state.segment(place.segment) else {
                throw .damaged("a block's segment is missing", segment: place.segment)
            }
            let payload = try segment.payload(
                at: UInt64(place.byteOffset), kind: .block, storeTag: storeID.tag)
            return try CachedBlock(payload: payload, place: place, largeValues: largeValues)
        }
    }

    /// Keeps the published state readable.
    func pin() throws(StoreError) -> PinnedState<EngineState> {
        registry.pin()
    }

    // MARK: Writing

    /// Makes one commit of what the body does. Gives the body's result and the commit's number, nil if
    /// nothing changed.
    func commit<R>(
        author: String?, contextName: String?,
        _ body: (inout CommitBuilder) throws(StoreError) -> R
    ) throws(StoreError) -> (R, UInt64?) {
        try withTurn { turn throws(StoreError) in
            try commit(&turn, author: author, contextName: contextName, body)
        }
    }

    /// Runs a closure while nobody else can write.
    private func withTurn<R>(_ body: (inout Turn) throws(StoreError) -> R) throws(StoreError) -> R {
        let me = UInt(bitPattern: Self.threadID)
        guard holder.load(ordering: .relaxed) != me else {
            throw StoreError(
                .invalidRequest,
                "the store is written to from within a batch insert's closure, which would wait for itself"
            )
        }
        return try turn.withLock { turn throws(StoreError) in
            holder.store(me, ordering: .relaxed)
            defer { holder.store(0, ordering: .relaxed) }
            return try body(&turn)
        }
    }

    /// A number that no other running thread has.
    private static var threadID: Int {
        #if canImport(Darwin)
            Int(bitPattern: pthread_self())
        #else
            Int(bitPattern: UInt(bitPattern: Int(pthread_self())))
        #endif
    }

    private func commit<R>(
        _ turn: inout Turn, author: String?, contextName: String?,
        _ body: (inout CommitBuilder) throws(StoreError) -> R
    ) throws(StoreError) -> (R, UInt64?) {
        try checkWritable(turn)
        for (name, text) in [("author", author), ("context's name", contextName)]
        where text.map({ $0.utf8.count > CommitPayload.maximumText }) ?? false {
            throw StoreError(
                .invalidRequest, "the \(name) has more than \(CommitPayload.maximumText) bytes")
        }
        if turn.mustRoll || turn.end.offset >= sizes.segmentBytes { try beginSegment(&turn) }
        guard let segment = turn.segments.last else {
            preconditionFailure("a log that is open has a segment")
        }
        var state = registry.published()
        state.nextNumbers = turn.nextNumbers
        state.segments = turn.segments
        var builder = CommitBuilder(
            engine: self, state: state, pages: PageTransaction(epoch: state.commit + 1, pool: pool),
            log: LogWriter(
                segment: segment, end: turn.end, storeTag: storeID.tag, commit: state.commit + 1,
                mark: turn.durable, limit: sizes.writeBufferBytes), reserved: turn.reserved)
        let result: R
        do {
            result = try body(&builder)
            turn.nextNumbers = builder.state.nextNumbers
            if builder.hasChanges {
                try builder.seal(time: clock.now(), author: author, contextName: contextName)
            }
        } catch {
            turn.nextNumbers = builder.state.nextNumbers
            try abandon(builder, &turn)
            throw error
        }
        guard builder.hasChanges else {
            try abandon(builder, &turn)
            return (result, nil)
        }
        return (result, try finish(builder, &turn))
    }

    private func checkWritable(_ turn: Turn) throws(StoreError) {
        if isReadOnly { throw StoreError(.readOnly, "the store is opened for reading only") }
        if turn.isClosed { throw StoreError(.unusable, "the store is closed") }
        if var failure = turn.failure {
            failure.code = .unusable
            failure.message =
                "an earlier failure forbids writing until the store is opened again: \(failure.message)"
            throw failure
        }
    }

    /// Syncs a sealed commit and makes it what readers see. Gives its number.
    private func finish(_ builder: consuming CommitBuilder, _ turn: inout Turn) throws(StoreError)
        -> UInt64
    {
        let end = builder.log.end
        if durability == .full {
            do {
                try synchronize(end, commit: builder.state.commit, &turn)
            } catch {
                builder.pages.abandon()
                throw error
            }
        }
        turn.end = end
        turn.reserved = builder.reserved
        let state = builder.state
        registry.publish(state, epoch: state.commit, replaced: builder.pages.commit())
        return state.commit
    }

    /// Makes the log durable up to an end, and says so in the mark file.
    private func synchronize(_ end: LogEnd, commit: UInt64, _ turn: inout Turn) throws(StoreError) {
        do {
            // Relaxed commits may have left a segment behind that was not synced yet.
            for segment in turn.segments
            where segment.baseLSN <= end.lsn
                && segment.lsnIsBehind(turn.durable, last: turn.segments.last)
            {
                try segment.file.synchronizeData()
            }
        } catch {
            // After a failed sync nothing is known of the bytes: trying again could report success for lost ones.
            turn.failure = StoreError(error)
            throw StoreError(error)
        }
        turn.durable = end.lsn
        files.writeMark(
            MarkRecord(
                store: storeID, commit: commit, lsn: end.lsn, chain: end.chain, segment: end.segment
            ))
    }

    /// Forgets a commit: what it wrote is cut off before anybody hears of the failure.
    private func abandon(_ builder: consuming CommitBuilder, _ turn: inout Turn) throws(StoreError)
    {
        builder.pages.abandon()
        guard builder.log.hasWritten, let segment = turn.segments.last else { return }
        do {
            try segment.file.truncate(to: turn.end.offset)
            try segment.file.synchronizeData()
        } catch {
            turn.failure = StoreError(error)
        }
    }

    /// Begins a new segment: header and start frame, synced, with the folder (FS1).
    private func beginSegment(_ turn: inout Turn) throws(StoreError) {
        // A successor states where its predecessor ends, so what lies below must not be lost any more.
        if turn.durable < turn.end.lsn {
            try synchronize(turn.end, commit: registry.published().commit, &turn)
        }
        let catalog = registry.published().catalog
        let segment: (segment: Segment, end: LogEnd)
        do throws(FileSystemError) {
            segment = try files.makeSegment(
                after: turn.end, segments: turn.segments, storeID: storeID, time: clock.now(),
                commit: registry.published().commit, durable: turn.durable,
                counters: counters(turn), schema: catalog.place, schemaVersion: catalog.version)
        } catch {
            // As with every failed sync: that a later one succeeds would prove nothing.
            if error.operation == .synchronize || error.operation == .syncDirectory {
                turn.failure = StoreError(error)
            }
            throw StoreError(error)
        }
        largeValues.add(segment.segment)
        turn.segments.append(segment.segment)
        turn.end = segment.end
        turn.mustRoll = false
    }

    /// Ends the use of the log: what is relaxed is synced, and a close frame says that nothing is missing.
    func close() throws(StoreError) {
        try withTurn { turn throws(StoreError) in
            guard !turn.isClosed else { return }
            turn.isClosed = true
            defer { files.release() }
            guard !isReadOnly, turn.failure == nil, !turn.mustRoll,
                let segment = turn.segments.last
            else { return }
            // A store that nobody wrote to ends with the close frame of the last one who did.
            if turn.end == openedAt, turn.nextNumbers == turn.reserved { return }
            let state = registry.published()
            var log = LogWriter(
                segment: segment, end: turn.end, storeTag: storeID.tag, commit: state.commit,
                mark: turn.durable, limit: sizes.writeBufferBytes)
            let payload = ClosePayload(time: clock.now(), counters: counters(turn))
            do throws(StoreError) {
                try log.append(.close) { writer throws(StoreError) in payload.encode(to: &writer) }
                try log.flush()
            } catch {
                // No room for the close frame: the commits before it are to be durable all the same.
                try? segment.file.truncate(to: turn.end.offset)
                if turn.durable < turn.end.lsn {
                    try synchronize(turn.end, commit: state.commit, &turn)
                }
                throw error
            }
            try synchronize(log.end, commit: state.commit, &turn)
            turn.end = log.end
        }
    }

    /// How far numbers are issued: the log never says less than it said before (DR1).
    private func counters(_ turn: borrowing Turn) -> [TreeCounter] {
        let trees = registry.published().catalog.trees
        return trees.indices.map {
            TreeCounter(tree: trees[$0].id, next: max(turn.nextNumbers[$0], turn.reserved[$0]))
        }
    }
}

extension Segment {
    /// Whether bytes of the segment may lie above what is durable: it is the last one, or ends above it.
    fileprivate func lsnIsBehind(_ durable: UInt64, last: Segment?) -> Bool {
        self === last || knownEnd.map { baseLSN + $0 > durable } ?? true
    }
}
