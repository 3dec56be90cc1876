// A cache of past states that were read recently.                                                 ENGINE-NOTES 13
//
// A past state is built as opening builds one, from the log up to its commit. It has its own pages, and does
// not change while it is pinned. A later one is built from it by reading on, unless a checkpoint is nearer:
// as a reader of another process follows a writer. Going from commit to commit costs as much as the commits
// contain: the folder is not searched for the next one, unless it is in another segment.
//
// Invariants: HI1: it equals what a snapshot taken at that time showed. Two are kept; more only while they
// are read, and none before the horizon: their open files would keep their space for nothing.
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
        /// States that are in use, perhaps without a line any longer.
        var known: [Known] = []
    }

    private static let kept = 2
    /// The number of commits that are read without checking whether a checkpoint is nearer.
    private static let step: UInt64 = 8

    private let content = LongLock(Content())

    /// Releases all states that are not being read.
    func removeAll() {
        content.withLock { $0 = Content() }
    }

    /// The same for those before a commit.
    func removeAll(before number: UInt64) {
        content.withLock { content in
            content.lines.removeAll { $0.read { $0.commit } < number }
        }
    }

    /// The commits of the states that are kept, the most recently used one last.
    var epochs: [UInt64] { content.withLock { $0.lines.map { $0.read { $0.commit } } } }

    /// Returns the state after a commit that is not before the horizon.
    ///
    /// - Parameter check: throws if its files do not exist. It is not needed for a state that follows a
    ///   cached one.
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

    /// Advances a line to a state by a few commits and returns its index; nil if no line could be advanced.
    private func stepped(to number: UInt64, _ engine: Engine, _ content: Content) -> Int? {
        let near = content.lines.indices.filter {
            let commit = content.lines[$0].read { $0.commit }
            return commit < number && number - commit <= Self.step
        }.max { content.lines[$0].read { $0.commit } < content.lines[$1].read { $0.commit } }
        // Reading from the beginning shows what is wrong with it.
        guard let near, (try? engine.step(content.lines[near], to: number)) == true else {
            return nil
        }
        return near
    }

    /// Returns a line that ends with a state: one that was advanced, or a new one.
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
                // Reading from the beginning shows what is wrong with it.
                if error.code != .damaged { throw error }
            }
        }
        let line: StateRegistry<EngineState>
        do throws(StoreError) {
            line = try engine.pastLine(to: number, usesCheckpoints: true)
        } catch {
            // As at opening: the error may be in the checkpoint.
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
    /// Advances a line of past states to the state after a commit.
    fileprivate func lead(_ line: StateRegistry<EngineState>, to number: UInt64) throws(StoreError)
    {
        let state = line.published()
        try lead(
            line, by: try LogReader.past(files, after: number, from: state, pool: nil), to: number)
    }

    /// The same if all commits up to it are in the segment in which the line's state ends; otherwise returns
    /// false.
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

    /// Returns a line of past states that begins with the state after a commit.
    func pastLine(to number: UInt64, usesCheckpoints: Bool) throws(StoreError)
        -> StateRegistry<EngineState>
    {
        try pastLine(
            try LogReader.past(
                files, after: number, from: nil, pool: usesCheckpoints ? PagePool() : nil),
            to: number)
    }

    /// The same from one checkpoint only; returns nil if it cannot be used.
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
        // Rows of the base that have died since then may have values in segments that were retired since
        // then.
        reader.largeValues.lend(log.readable)
    }
}
