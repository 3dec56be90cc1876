// A cache of past states that were read recently.                                                 ENGINE-NOTES 13
//
// A past state is made as opening makes one, of the log up to its commit. It has pages of its own, and stays as it is for whoever
// has it pinned. Another one after it is made from it, by reading on, unless a checkpoint is nearer: as a reader of another
// process follows a writer. Who goes from commit to commit pays for what the commits hold: no folder is looked through for the
// next one, unless it is in another segment.
//
// Invariants: HI1: it equals what a snapshot showed that was taken then. Two are kept; more only while somebody reads them, and
// none before the horizon: the files that they have open would take their space for nothing.
// Threads: any; one is made at a time.

import CairnFormat
import CairnStore
import Synchronization

final class PastStates: EngineUpkeep {
    private final class Known: Sendable {
        weak let state: PinnedState<EngineState>?

        init(_ state: PinnedState<EngineState>) { self.state = state }
    }

    private struct Content: Sendable {
        /// The most recently used one is last.
        var lines: [StateRegistry<EngineState>] = []
        /// What somebody has, and perhaps no line any more.
        var known: [Known] = []
    }

    private static let kept = 2
    /// So many commits are read without looking whether a checkpoint is nearer.
    private static let step: UInt64 = 8

    private let content = LongLock(Content())

    /// Lets go of all that nobody reads.
    func removeAll() {
        content.withLock { $0 = Content() }
    }

    /// The same of those before a commit.
    func removeAll(before number: UInt64) {
        content.withLock { content in
            content.lines.removeAll { $0.read { $0.commit } < number }
        }
    }

    /// The numbers of the states that are kept, the one that was asked for last at the end.
    var epochs: [UInt64] { content.withLock { $0.lines.map { $0.read { $0.commit } } } }

    /// The state after a commit that is not before the horizon.
    ///
    /// - Parameter check: throws if its files are not there. What follows a state that is here needs no look at them.
    func pin(
        _ number: UInt64, _ engine: Engine, check: () throws(StoreError) -> Void
    ) throws(StoreError) -> PinnedState<EngineState> {
        try content.withLock { content throws(StoreError) in
            content.known.removeAll { $0.state == nil }
            let index = content.lines.firstIndex { $0.read { $0.commit } == number }
            if index == nil,
                let known = content.known.lazy.compactMap(\.state)
                    .first(where: { $0.epoch == number })
            {
                return known
            }
            let line: StateRegistry<EngineState>
            if let index {
                line = content.lines.remove(at: index)
            } else if let index = stepped(to: number, engine, content) {
                line = content.lines.remove(at: index)
            } else {
                try check()
                line = try self.line(to: number, engine, &content)
            }
            content.lines.append(line)
            let pin = line.pin()
            if !content.known.contains(where: { $0.state === pin }) {
                content.known.append(Known(pin))
            }
            return pin
        }
    }

    /// The index of a line that was led on to a state by a few commits; nil if there is none that could be.
    private func stepped(to number: UInt64, _ engine: Engine, _ content: Content) -> Int? {
        let near = content.lines.indices.filter {
            let commit = content.lines[$0].read { $0.commit }
            return commit < number && number - commit <= Self.step
        }.max { content.lines[$0].read { $0.commit } < content.lines[$1].read { $0.commit } }
        // What is wrong with it, reading from the beginning shows.
        guard let near, (try? engine.step(content.lines[near], to: number)) == true else {
            return nil
        }
        return near
    }

    /// A line that ends with a state: one that is led on, or a new one.
    private func line(to number: UInt64, _ engine: Engine, _ content: inout Content)
        throws(StoreError) -> StateRegistry<EngineState>
    {
        let checkpoints = (try? CheckpointReader.commits(in: engine.files)) ?? []
        let start = checkpoints.first { $0 <= number } ?? 0
        let before = content.lines.indices.filter {
            (start...number).contains(content.lines[$0].read { $0.commit })
        }.max { content.lines[$0].read { $0.commit } < content.lines[$1].read { $0.commit } }
        if let before {
            let line = content.lines[before]
            do throws(StoreError) {
                try engine.lead(line, to: number)
                content.lines.remove(at: before)
                return line
            } catch {
                // What is wrong with it, reading from the beginning shows.
                if error.code != .damaged { throw error }
            }
        }
        let line: StateRegistry<EngineState>
        do throws(StoreError) {
            line = try engine.pastLine(to: number, usesCheckpoints: true)
        } catch {
            // As at opening: the checkpoint may be the one that is wrong.
            guard error.code == .damaged else { throw error }
            line = try engine.pastLine(to: number, usesCheckpoints: false)
        }
        if content.lines.count >= Self.kept { content.lines.removeFirst() }
        return line
    }
}

extension PastStates {
    func keepCheckpoints(_ engine: Engine, on shelf: inout CheckpointShelf) {
        let settings = engine.pastSettings
        shelf.horizon = settings.map { (try? engine.pastHorizon($0)) ?? $0.horizon }
        shelf.step = engine.sizes.checkpointStep
        shelf.leaving = Set(engine.unheldRetired.map(\.number))
    }

    func willClose(_ engine: Engine) { removeAll() }
}

extension Engine {
    /// Leads a line of past states on to the state after a commit.
    fileprivate func lead(_ line: StateRegistry<EngineState>, to number: UInt64) throws(StoreError)
    {
        let state = line.published()
        try lead(
            line, by: try LogReader.past(files, after: number, from: state, pool: nil), to: number)
    }

    /// The same if all commits up to it are in the segment that the line's state ends in; else false.
    fileprivate func step(_ line: StateRegistry<EngineState>, to number: UInt64) throws(StoreError)
        -> Bool
    {
        guard let log = try LogReader.past(files, after: number, within: line.published()) else {
            return false
        }
        try lead(line, by: log, to: number)
        return true
    }

    private func lead(
        _ line: StateRegistry<EngineState>, by log: OpenedLog, to number: UInt64
    ) throws(StoreError) {
        let state = line.published()
        var log = log
        try prepare(&log, for: number)
        let next = try StateBuilder.advance(
            log, cache: reader.cache, largeValues: reader.largeValues, pool: line.pool,
            hashSeed: state.hashSeed,
            sizes: sizes)
        line.publish(next.state, epoch: number, replaced: next.replaced)
    }

    /// A line of past states that begins with the state after a commit.
    func pastLine(to number: UInt64, usesCheckpoints: Bool) throws(StoreError)
        -> StateRegistry<EngineState>
    {
        try pastLine(
            try LogReader.past(
                files, after: number, from: nil, pool: usesCheckpoints ? PagePool() : nil),
            to: number)
    }

    /// The same from a checkpoint and no other; nil if it cannot be used.
    func pastLine(to number: UInt64, ofCheckpoint commit: UInt64) throws(StoreError)
        -> StateRegistry<EngineState>?
    {
        let log = try LogReader.past(
            files, after: number, from: nil, pool: PagePool(), checkpoint: commit)
        guard log.base?.commit == commit else { return nil }
        return try pastLine(log, to: number)
    }

    private func pastLine(_ log: OpenedLog, to number: UInt64) throws(StoreError)
        -> StateRegistry<EngineState>
    {
        var log = log
        try prepare(&log, for: number)
        let state = try StateBuilder.build(
            log, cache: reader.cache, largeValues: reader.largeValues, pool: log.pool,
            hashSeed: log.hashSeed ?? StoredHash.newSeed(bits: sizes.hashBits), sizes: sizes)
        return StateRegistry(state, epoch: number, pool: log.pool)
    }

    private func prepare(_ log: inout OpenedLog, for number: UInt64) throws(StoreError) {
        let catalog = registry.read { $0.catalog }
        guard log.storeID == storeID else {
            throw StoreError(
                .unusable, "the folder now contains another store",
                context: .init(path: "\(files.folder)"))
        }
        guard log.catalog.version == catalog.version else {
            throw StoreError(
                .incompatibleModel, "the store had another model after commit \(number)",
                context: .init(path: "\(files.folder)"))
        }
        log.catalog = catalog.with(log.catalog.metadata, at: log.catalog.place)
        // Rows of the base that died since may have values in segments that were retired since.
        reader.largeValues.lend(log.readable)
    }
}
