// Shared by all readers of a store: the block cache and information about blocks, helper threads, memory for
// columns, and the published states.
//
// A part of a state that is loaded late from a checkpoint and cannot be read appears empty: code that reads
// states does so within `withWholeState`, which throws in that case.
//
// Threads: any.

import CairnFormat
package import CairnStore

/// Reads the blocks of an open store.
package final class StoreReader: Sendable {
    let storeID: StoreID
    let identity: StoreIdentity
    let cache: BlockCache
    let zones = BlockZones()
    /// Helps with scans.
    let crew: ScanCrew
    package let batches = ColumnBatchPool()
    let largeValues: LargeValueReader
    package let registry: StateRegistry<EngineState>
    /// The parts of a state that are loaded late.
    private let latePages: LatePages?
    /// Whether blocks stay in the system's cache where their files can be mapped.
    private let mapsFiles: Bool
    /// The LSN below which the log is durable.
    private let durable: @Sendable () -> UInt64
    /// Rows of a commit that may not be written yet, by segment and offset.
    private let waiting: @Sendable (UInt32, UInt64) -> StoredPayload?

    init(
        storeID: StoreID, identity: StoreIdentity, cache: BlockCache, crew: ScanCrew,
        largeValues: LargeValueReader, registry: StateRegistry<EngineState>, latePages: LatePages?,
        mapsFiles: Bool, durable: @escaping @Sendable () -> UInt64,
        waiting: @escaping @Sendable (UInt32, UInt64) -> StoredPayload?
    ) {
        self.storeID = storeID
        self.identity = identity
        self.cache = cache
        self.crew = crew
        self.largeValues = largeValues
        self.registry = registry
        self.latePages = latePages
        self.mapsFiles = mapsFiles
        self.durable = durable
        self.waiting = waiting
    }

    // MARK: Blocks

    /// Returns a stored block.
    package func block(_ entry: BlockEntry, in state: EngineState) throws(StoreError) -> CachedBlock
    {
        let place = entry.place
        // It is mostly cached, and then the state is not copied.
        if let known = cache.known(place) { return try checked(known, entry) }
        return try checked(
            try cache.block(place) { () throws(StoreError) in try read(entry, in: state) }, entry)
    }

    /// The same for a pinned state, which is not copied for a cached block.
    func block(_ entry: BlockEntry, in pinned: PinnedState<EngineState>) throws(StoreError)
        -> CachedBlock
    {
        if let known = cache.known(entry.place) { return try checked(known, entry) }
        return try block(entry, in: pinned.state)
    }

    /// The same for a scan, which leaves a full cache unchanged.
    func scannedBlock(_ entry: BlockEntry, in state: EngineState) throws(StoreError) -> CachedBlock
    {
        try checked(
            try cache.block(entry.place, isScan: true) { () throws(StoreError) in
                try read(entry, in: state, isScan: true)
            }, entry)
    }

    /// The same for a block that will not be read again.
    package func passingBlock(_ entry: BlockEntry, in state: EngineState) throws(StoreError)
        -> CachedBlock
    {
        if let known = cache.known(entry.place) { return try checked(known, entry) }
        cache.notePassing()
        return try checked(try read(entry, in: state, isScan: true), entry)
    }

    /// Whether the next rows of a block are read one by one, if their total number is unknown: until reading
    /// them has cost as much as decoding the columns, and as long as the cache has no room for the decoded
    /// columns.
    func readsAlone(_ block: CachedBlock, next rows: Int) -> Bool {
        block.readsAlone(rows) && (!cache.hasRoom || block.readsNextAlone(rows))
    }

    /// A checkpoint records the number of rows of a block before the block is read: slots beyond it must not
    /// be accessed.
    @inline(__always)
    private func checked(_ block: CachedBlock, _ entry: BlockEntry) throws(StoreError)
        -> CachedBlock
    {
        if block.rows == Int(entry.rows) { return block }
        throw .damaged(
            "a block does not have the number of rows that is recorded for it (F-858)",
            segment: entry.segment, offset: UInt64(entry.place.byteOffset))
    }

    /// Returns a block of a commit that may not be written yet. It is not cached: if the commit fails, the
    /// place is reused.
    func unwrittenBlock(_ place: Place, in state: EngineState) throws(StoreError) -> CachedBlock {
        try CachedBlock(
            try unwritten(place, in: state), place: place, largeValues: largeValues
        ) { base throws(StoreError) in try basePayload(base, in: state) }
    }

    /// Returns the payload at a place that may not be written yet.
    private func unwritten(
        _ place: Place, in state: EngineState, _ reading: Segment.Reading = .copied
    ) throws(StoreError) -> StoredPayload {
        if let found = waiting(place.segment, UInt64(place.byteOffset)) {
            return found
        }
        return try segment(of: place, in: state).rows(
            at: UInt64(place.byteOffset), storeTag: storeID.tag, reading)
    }

    /// Returns the payload of the block that a patch is based on. It may be in memory, and it may not be
    /// written yet.
    ///
    /// - Parameter reading: `.copied` if its commit may still fail: then the place is reused.
    func basePayload(
        _ place: Place, in state: EngineState, _ reading: Segment.Reading = .copied
    ) throws(StoreError) -> RawBytes {
        if let known = cache.glance(at: place), known.base == nil { return known.payload }
        let stored = try unwritten(place, in: state, reading)
        guard !stored.isPatch else {
            throw .damaged(
                "a patch is based on a patch (F-454)", segment: place.segment,
                offset: UInt64(place.byteOffset))
        }
        return stored.payload
    }

    /// Releases the files of segments that no state needs any longer, and that are or will be removed.
    func forget(_ segments: [UInt32]) {
        guard !segments.isEmpty else { return }
        for segment in segments { largeValues.remove(segment) }
        cache.remove(segments: Set(segments))
    }

    private func segment(of place: Place, in state: EngineState) throws(StoreError) -> Segment {
        guard let segment = state.segment(place.segment) else {
            throw .damaged("a block's segment is missing", segment: place.segment)
        }
        return segment
    }

    private func read(_ entry: BlockEntry, in state: EngineState, isScan: Bool = false)
        throws(StoreError) -> CachedBlock
    {
        let place = entry.place
        let segment = try segment(of: place, in: state)
        let isMapped = mapsFiles && isMappable(entry, in: segment)
        let stored = try segment.rows(
            at: UInt64(place.byteOffset), storeTag: storeID.tag,
            isMapped ? .mapped(length: Int(entry.length), isScan: isScan) : .copied)
        return try CachedBlock(
            stored, place: place, largeValues: largeValues, tables: cache.tables
        ) { base throws(StoreError) in
            // It was written before the patch.
            let isMapped = isMapped && isPublished(base.segment)
            return try basePayload(base, in: state, isMapped ? .mapped(length: 0) : .copied)
        }
    }

    /// Whether a block can stay in the system's cache. Until it is synced, the system may lose it after an
    /// error of the disk; and in a segment that only past states and snapshots have, it would keep a removed
    /// file from being deleted.
    private func isMappable(_ entry: BlockEntry, in segment: Segment) -> Bool {
        guard isPublished(segment.number) else { return false }
        // Side segments are synced before they are adopted.
        if segment.header.kind == .side { return true }
        return segment.baseLSN + UInt64(entry.place.byteOffset) + UInt64(entry.length) <= durable()
    }

    private func isPublished(_ segment: UInt32) -> Bool {
        registry.read { $0.segments[segment] != nil }
    }

    // MARK: States

    /// Runs a closure over states. Throws if parts of them were missing during that time: they are read as
    /// empty.
    package func withWholeState<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        guard let latePages else { return try body() }
        let count = try latePages.repair()
        let result: R
        do {
            result = try body()
        } catch {
            // Parts that are read as empty contradict the rest: the cause is the part that could not be read.
            try latePages.check(since: count)
            throw error
        }
        try latePages.check(since: count)
        return result
    }
}
