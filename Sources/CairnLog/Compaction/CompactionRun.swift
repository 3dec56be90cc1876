// Moves live rows out of some segments, a step at a time, and retires them.                        Format 65
//
//   1. From a pinned state: the deaths in the victims that concern other segments, redirects in force, and the schema if it is
//      there, are written into a side segment; then all live rows of their blocks, and rows elsewhere that refer to a
//      large value in them, as full blocks.
//   2. After some blocks the part is made durable, and a commit adopts it: whatever happened to a row meanwhile
//      makes its copy a dead one, so nobody has to wait.
//   3. Rows that took a reference to a value in a victim along while that was going on are looked for and moved
//      as well, until there are none.
//   4. One commit retires all victims, as their deaths may concern each other.
//
// Invariants: CP1: a crash between any two steps leaves the same content, and at most files outside the live set.
// CP2: ids and versions do not change. CP3: the turn is never held longer than for one part.
// Threads: one step at a time, in any thread.

import CairnFormat
import CairnStore

/// A compaction of some segments.
final class CompactionRun: @unchecked Sendable {
    // `CompactionUpkeep.run` lets one thread at a time have it.

    /// Where a run is.
    enum Step {
        /// This many bytes were written; there is more to do.
        case moved(UInt64)
        case finished
        /// The victims cannot be retired now: they are kept, and what was moved stays moved.
        case abandoned
    }

    private enum Stage { case deaths, history, rows, references, retire }

    /// What has the run is its: an engine that is closed in the middle of one must be able to go.
    private unowned let engine: Engine
    let victims: Set<UInt32>
    private var pin: PinnedState<EngineState>
    private var writer: SideWriter
    private var stage = Stage.deaths
    /// Victims whose deaths are not carried over yet.
    private var unread: ArraySlice<UInt32>
    /// The commit up to which changes for the history are carried over.
    private var carriedHistory: UInt64 = 0
    /// Blocks that are to be looked at.
    private var rest: ArraySlice<BlockHandle> = []
    private var hasFoundReferrers = false
    /// Blocks with references that were looked at.
    private var examined: Set<Place> = []
    private var rounds = 0
    /// Bytes that it wrote.
    private(set) var writtenBytes: UInt64 = 0

    /// How often references are looked for before the run is given up.
    private static let maximumRounds = 8
    /// Bytes of a part, above which it is adopted.
    private static let partBytes: UInt64 = 4 << 20

    init(_ engine: Engine, victims: Set<UInt32>) throws(StoreError) {
        self.engine = engine
        self.victims = victims
        unread = victims.sorted()[...]
        // What a checkpoint has of the victims must be had from there before they go.
        engine.image?.loadAll()
        pin = engine.registry.pin()
        writer = try SideWriter(engine, pin.state, victims: victims)
    }

    /// Does a part of the work.
    func step() throws(StoreError) -> Step {
        switch stage {
        case .deaths:
            if let victim = unread.popFirst() {
                try carryDeaths(of: victim)
                return .moved(0)
            }
            try writer.finishDeaths()
            stage = .history
            return .moved(try carryRedirects() ? adopt() : 0)
        case .history:
            if try carryHistory() { return .moved(try adopt()) }
            rest = blocksToMove()[...]
            stage = .rows
            return .moved(0)
        case .rows:
            while let handle = rest.popFirst() {
                try move(handle)
                if isPartFull { return .moved(try adopt()) }
            }
            return .moved(try beginReferences())
        case .references:
            while let handle = rest.popFirst() {
                try moveReferrers(handle)
                if isPartFull { return .moved(try adopt()) }
            }
            if !hasFoundReferrers {
                stage = .retire
                return .moved(0)
            }
        case .retire:
            if try retire() { return .finished }
        }
        return rounds < Self.maximumRounds ? .moved(try beginReferences()) : .abandoned
    }

    /// Goes on to the rows that refer to what is in the victims, as they are now.
    private func beginReferences() throws(StoreError) -> UInt64 {
        try writer.finishRows()
        let bytes = try adopt()
        pin = engine.registry.pin()
        rounds += 1
        hasFoundReferrers = false
        rest = blocksWithReferences()[...]
        stage = .references
        return bytes
    }

    /// Gives the space back that was written for nothing, when there is no next step.
    func end() { engine.trimSideSegment(writer.segment) }

    private var isPartFull: Bool {
        writer.waitingBytes >= Self.partBytes
            || writer.waitingBlocks >= engine.sizes.compactionBlocks
    }

    // MARK: Rows

    /// The blocks of the victims that somebody lives in.
    private func blocksToMove() -> [BlockHandle] {
        let state = pin.state
        var handles: [BlockHandle] = []
        for entity in state.catalog.entities.indices {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.lies(in: victims), entry.live > 0 { handles.append(handle) }
                handle = state.blocks.next(after: entry)
            }
        }
        return handles
    }

    private func move(_ handle: BlockHandle) throws(StoreError) {
        let entry = pin.state.blocks.entry(handle)
        if isGone(handle, entry) { return }
        let block = try engine.reader.passingBlock(entry, in: pin.state)
        try writer.move(
            block, (0..<block.rows).filter { entry.isLive($0) }, entity: Int(entry.entity))
    }

    /// Whether no row lives in a block any more: each copy would be dead on arrival. What its rows have become is looked for in
    /// the next round.
    private func isGone(_ handle: BlockHandle, _ entry: BlockEntry) -> Bool {
        let newest = engine.registry.pin()
        return withExtendedLifetime(newest) {
            guard newest.state.blocks.has(handle) else { return true }
            let other = newest.state.blocks.entry(handle)
            return other.place != entry.place || other.live == 0
        }
    }

    /// The blocks outside of the victims that may refer to a large value in them, and those that became patches of blocks in
    /// them.
    private func blocksWithReferences() -> [BlockHandle] {
        let state = pin.state
        var handles: [BlockHandle] = []
        for entity in state.catalog.entities.indices {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.live > 0, !victims.contains(entry.segment),
                    entry.lies(in: victims)
                        || entry.hasReferences && !examined.contains(entry.place)
                {
                    handles.append(handle)
                }
                handle = state.blocks.next(after: entry)
            }
        }
        return handles
    }

    /// Moves the rows of a block that refer to a large value in the victims, or are a patch's of a block there.
    private func moveReferrers(_ handle: BlockHandle) throws(StoreError) {
        let entry = pin.state.blocks.entry(handle)
        if isGone(handle, entry) {
            // Rows of a patch may be rows of another patch by now.
            if entry.lies(in: victims) { hasFoundReferrers = true }
            return
        }
        let block = try engine.reader.passingBlock(entry, in: pin.state)
        var slots: Set<Int> = []
        if entry.lies(in: victims) {
            slots = Set((0..<block.rows).filter { entry.isLive($0) })
        } else {
            try block.forEachReference(entry) { slot, reference in
                if victims.contains(reference.place.segment) { slots.insert(slot) }
            }
        }
        if slots.isEmpty {
            examined.insert(entry.place)
        } else {
            hasFoundReferrers = true
            try writer.move(block, slots.sorted(), entity: Int(entry.entity))
        }
    }

    /// Makes what was written part of the store; gives its bytes.
    private func adopt() throws(StoreError) -> UInt64 {
        guard let part = try writer.finishPart() else { return 0 }
        writtenBytes += part.bytes
        _ = try engine.commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            try builder.adopt(part)
        }
        return part.bytes
    }

    // MARK: Other frames

    /// Writes the deaths in a victim that concern blocks elsewhere, and the schema if that is in it.
    private func carryDeaths(of number: UInt32) throws(StoreError) {
        let state = pin.state
        if state.catalog.place.segment == number { try writer.writeSchema() }
        if let metadata = state.catalog.metadata, metadata.place.segment == number {
            try writer.write(metadata)
        }
        if let segment = state.segments[number] {
            var scanner = try FrameScanner(
                segment, chain: try segment.headerChain(), storeTag: engine.storeID.tag,
                end: state.end(of: segment))
            while let (header, payload) = try scanner.next() {
                guard header.kind == .deaths else { continue }
                do {
                    for entry in try DeathsPayload(decoding: payload).entries
                    where !victims.contains(entry.block.segment)
                        && state.segments[entry.block.segment] != nil
                    {
                        try writer.carry(entry)
                    }
                } catch let error as FormatError {
                    throw StoreError(
                        error, at: Place(segment: number, byteOffset: Int(scanner.position)))
                } catch let error as StoreError {
                    throw error
                } catch {
                    preconditionFailure("deaths only throw format and store errors: \(error)")
                }
            }
            if let failure = scanner.failure {
                // What is damaged is kept as it is: somebody may want to look into it.
                throw .damaged(
                    "\(failure.what) (\(failure.rule))", segment: number, offset: scanner.position)
            }
        }
    }

    /// Carries redirects in force over that are in the victims; false if there are none.
    private func carryRedirects() throws(StoreError) -> Bool {
        var found: [RedirectTable.Key: RedirectTable.Entry] = [:]
        pin.state.redirects?.forEach { key, entry in
            if victims.contains(entry.segment) { found[key] = entry }
        }
        try writer.carry(found)
        return !found.isEmpty
    }

    /// Carries changes of commits over that are in the victims, as far as they are retained, until a part is full; false
    /// if there are no more.
    private func carryHistory() throws(StoreError) -> Bool {
        let state = pin.state
        while let (commit, frame) = state.history.next(after: carriedHistory) {
            carriedHistory = commit
            guard victims.contains(frame.place.segment),
                let segment = state.segments[frame.place.segment]
            else { continue }
            try writer.carry(commit, frame, of: segment)
            if isPartFull { return true }
        }
        return false
    }

    /// Up to which commit no changes that are retained are in the victims; nil if some are.
    private var historyEnd: UInt64? {
        let pin = engine.registry.pin()
        var isThere = false
        pin.state.history.forEach { _, frame in
            isThere = victims.contains(frame.place.segment)
            return !isThere
        }
        return isThere ? nil : pin.state.commit
    }

    private func retire() throws(StoreError) -> Bool {
        let segments = victims.compactMap { pin.state.segments[$0] }
        guard let historyEnd else { return false }
        let (isDone, commit) = try engine.commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            try builder.retire(victims, examined: examined, historyEnd: historyEnd)
        }
        guard isDone, let commit else { return false }
        engine.noteRetired(
            segments, commit: commit, side: writer.number, carriedBytes: writer.carriedBytes)
        return true
    }
}
