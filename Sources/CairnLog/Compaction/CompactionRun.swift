// Moves live rows out of some segments, a step at a time, and retires them.                         Format 65
//
//   1. From a pinned state, writes into a side segment: the deaths in the victims that concern other
//      segments, redirects in force, the schema and metadata if they are there, and retained changes for the
//      history; then all live rows of their blocks, and rows elsewhere that refer to a large value in them,
//      as full blocks.
//   2. After some blocks, makes the part durable, and a commit adopts it: if a row changed in the meantime,
//      its copy is dead, so no writer has to wait.
//   3. Finds the rows that took over a reference to a value in a victim during that time and moves them as
//      well, until there are none.
//   4. One commit retires all victims, as their deaths may concern each other.
//
// Invariants: CP1: a crash between any two steps leaves the same content, and at most files outside the live
// set. CP2: ids and versions do not change. CP3: the write lock is never held longer than for one part.
// Threads: one step at a time, in any thread.

import CairnFormat
import CairnStore

/// A compaction of some segments.
final class CompactionRun: @unchecked Sendable {
    // `CompactionUpkeep.run` lets one thread at a time have it.

    /// The progress of a run after a step.
    enum Step {
        /// This many bytes were written; there is more to do.
        case moved(UInt64)
        case finished
        /// The victims cannot be retired now: they are kept, and moved rows stay moved.
        case abandoned
    }

    private enum Stage { case deaths, history, rows, references, retire }

    /// Unowned, as the engine owns the run: an engine that is closed in the middle of one must be released.
    private unowned let engine: Engine
    let victims: Set<UInt32>
    private var pin: PinnedState<EngineState>
    private var writer: SideWriter
    private var stage = Stage.deaths
    /// Victims whose deaths are not yet carried over.
    private var unread: ArraySlice<UInt32>
    /// The commit up to which changes for the history are carried over.
    private var carriedHistory: UInt64 = 0
    /// Blocks still to examine.
    private var rest: ArraySlice<BlockHandle> = []
    private var hasFoundReferrers = false
    /// Blocks with references that were examined.
    private var examined: Set<Place> = []
    private var rounds = 0
    /// The bytes that the run has written.
    private(set) var writtenBytes: UInt64 = 0

    /// The maximum number of rounds that look for references before the run is abandoned.
    private static let maximumRounds = 8
    /// The size in bytes at which a part is adopted.
    private static let partBytes: UInt64 = 4 << 20

    init(_ engine: Engine, victims: Set<UInt32>) throws(StoreError) {
        self.engine = engine
        self.victims = victims
        unread = victims.sorted()[...]
        // What a checkpoint contains of the victims must be loaded before they are removed.
        engine.image?.loadAll()
        pin = engine.registry.pin()
        writer = try SideWriter(engine, pin.state, victims: victims)
    }

    /// Performs a part of the work.
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

    /// Starts a round over the rows that refer to the victims in the newest state.
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

    /// Reclaims the space that was written in vain, when there is no next step.
    func end() { engine.trimSideSegment(writer.segment) }

    private var isPartFull: Bool {
        writer.waitingBytes >= Self.partBytes
            || writer.waitingBlocks >= engine.sizes.compactionBlocks
    }

    // MARK: Rows

    /// The blocks of the victims that have live rows.
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

    /// Whether a block no longer has live rows: each copy would be dead on arrival. The next round looks for
    /// what became of its rows.
    private func isGone(_ handle: BlockHandle, _ entry: BlockEntry) -> Bool {
        let newest = engine.registry.pin()
        return withExtendedLifetime(newest) {
            guard newest.state.blocks.has(handle) else { return true }
            let other = newest.state.blocks.entry(handle)
            return other.place != entry.place || other.live == 0
        }
    }

    /// The blocks outside the victims that may refer to a large value in them, and those that became patches
    /// of blocks in them.
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

    /// Moves the rows of a block that refer to a large value in the victims, or that patch a block there.
    private func moveReferrers(_ handle: BlockHandle) throws(StoreError) {
        let entry = pin.state.blocks.entry(handle)
        if isGone(handle, entry) {
            // The rows of a patch may be in another patch by now.
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

    /// Adds the written part to the store; returns its size in bytes.
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

    /// Writes the deaths in a victim that concern blocks elsewhere, and the schema and metadata if they are
    /// in it.
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
                // A damaged segment is kept as it is: users may want to examine it.
                throw .damaged(
                    "\(failure.what) (\(failure.rule))", segment: number, offset: scanner.position)
            }
        }
    }

    /// Carries over the redirects in force that are in the victims; returns false if there are none.
    private func carryRedirects() throws(StoreError) -> Bool {
        var found: [RedirectTable.Key: RedirectTable.Entry] = [:]
        pin.state.redirects?.forEach { key, entry in
            if victims.contains(entry.segment) { found[key] = entry }
        }
        try writer.carry(found)
        return !found.isEmpty
    }

    /// Carries over the retained changes of commits that are in the victims, until a part is full; returns
    /// false if there are no more.
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

    /// The commit up to which the victims contain no retained changes; nil if they contain some.
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
