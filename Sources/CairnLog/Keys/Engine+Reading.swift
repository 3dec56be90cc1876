// Reading blocks, and states that stay readable.
//
// Threads: any.

import CairnFormat
import CairnStore

extension Engine {
    /// A block that is stored.
    func block(_ entry: BlockEntry, in state: EngineState) throws(StoreError) -> CachedBlock {
        let place = entry.place
        // Mostly it is there, and then nothing takes a copy of the state.
        if let known = cache.known(place) { return try checked(known, entry) }
        return try checked(
            try cache.block(place) { () throws(StoreError) in try read(place, in: state) }, entry)
    }

    /// The same for a state that is pinned, of which no copy is made for a block in the cache.
    func block(_ entry: BlockEntry, in pinned: PinnedState<EngineState>) throws(StoreError)
        -> CachedBlock
    {
        if let known = cache.known(entry.place) { return try checked(known, entry) }
        return try block(entry, in: pinned.state)
    }

    /// The same for a block that nobody will ask for again.
    func passingBlock(_ entry: BlockEntry, in state: EngineState) throws(StoreError) -> CachedBlock
    {
        if let known = cache.known(entry.place) { return try checked(known, entry) }
        cache.notePassing()
        return try checked(try read(entry.place, in: state), entry)
    }

    /// A checkpoint says how many rows a block has before that is read: slots beyond must not be asked for.
    @inline(__always)
    private func checked(_ block: CachedBlock, _ entry: BlockEntry) throws(StoreError)
        -> CachedBlock
    {
        if block.rows == Int(entry.rows) { return block }
        throw .damaged(
            "a block does not have the number of rows that is recorded for it (F-858)",
            segment: entry.segment, offset: UInt64(entry.place.byteOffset))
    }

    /// A block of a commit that may not be written yet. It does not go into the cache: if the commit fails, the
    /// place is used again.
    func unwrittenBlock(_ place: Place, in state: EngineState) throws(StoreError) -> CachedBlock {
        try CachedBlock(
            try unwritten(place, in: state), place: place, largeValues: largeValues
        ) { base throws(StoreError) in try basePayload(base, in: state) }
    }

    /// What is at a place that may not be written yet.
    private func unwritten(_ place: Place, in state: EngineState) throws(StoreError)
        -> StoredPayload
    {
        if let waiting = queue.rows(in: place.segment, at: UInt64(place.byteOffset)) {
            return waiting
        }
        return try segment(of: place, in: state).rows(
            at: UInt64(place.byteOffset), storeTag: storeID.tag)
    }

    /// The payload of the block that a patch is of. It may be in memory, and it may not be written yet.
    func basePayload(_ place: Place, in state: EngineState) throws(StoreError) -> RawBytes {
        if let known = cache.glance(at: place), known.base == nil { return known.payload }
        let stored = try unwritten(place, in: state)
        guard !stored.isPatch else {
            throw .damaged(
                "a patch is based on a patch (F-454)", segment: place.segment,
                offset: UInt64(place.byteOffset))
        }
        return stored.payload
    }

    private func segment(of place: Place, in state: EngineState) throws(StoreError) -> Segment {
        guard let segment = state.segment(place.segment) else {
            throw .damaged("a block's segment is missing", segment: place.segment)
        }
        return segment
    }

    private func read(_ place: Place, in state: EngineState) throws(StoreError) -> CachedBlock {
        let stored = try segment(of: place, in: state).rows(
            at: UInt64(place.byteOffset), storeTag: storeID.tag)
        return try CachedBlock(stored, place: place, largeValues: largeValues) {
            base throws(StoreError) in try basePayload(base, in: state)
        }
    }

    /// Keeps the published state readable.
    func pin() throws(StoreError) -> PinnedState<EngineState> {
        registry.pin()
    }
}
