// What a commit of very many rows will ask for, read by helpers while it is made.
//
//   1. Parts of unique indexes that are still in a checkpoint are loaded.
//   2. Blocks are read and unpacked into the cache, up to half of what that may hold: from the end where the commit begins with
//      the first and reads faster than it asks, so that the two meet.
//
// Nothing depends on it: what is not there when it is asked for is read then, and what cannot be read is told then.
//
// Threads: helpers read the state before the commit, which is immutable and kept by it.

import CairnFormat
import CairnStore
import Synchronization

/// Parts of a state that will be asked for.
struct ReadingAhead {
    private let engine: Engine
    private let state: EngineState
    private let blocks: [BlockEntry]
    /// Unique index and partition.
    private let partitions: [(unique: Int, partition: UInt32)]
    /// Blocks below which the commit is made before a helper is awake.
    private static let blocksWorthHelp = 48

    /// - Parameters:
    ///   - entities: whose rows will be asked for.
    ///   - writtenLSN: where what is written for sure ends.
    init(
        _ engine: Engine, _ state: EngineState, _ entities: [Int], writtenLSN: UInt64,
        isFromEnd: Bool
    ) {
        self.engine = engine
        self.state = state
        guard engine.crew.helpers > 0 else {
            blocks = []
            partitions = []
            return
        }
        var blocks: [BlockEntry] = []
        for entity in entities {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.live > 0, !Self.mayBeUnwritten(entry, state, writtenLSN) {
                    blocks.append(entry)
                }
                handle = state.blocks.next(after: entry)
            }
        }
        if isFromEnd { blocks.reverse() }
        var room = engine.cache.budget / 2
        let end = blocks.firstIndex { entry in
            // Unpacked they are as large as their frames at least.
            room -= Int(entry.length) * 2
            return room < 0
        }
        self.blocks = Array(blocks[..<(end ?? blocks.endIndex)])
        let uniques = Set(entities.flatMap { state.catalog.entities[$0].uniques }).sorted()
        partitions = uniques.flatMap { unique in
            (0..<state.uniques[unique].partitionCount).map { (unique, $0) }
        }
    }

    /// Whether a helper would be awake in time.
    fileprivate var isWorthHelp: Bool { blocks.count >= Self.blocksWorthHelp }

    private static func mayBeUnwritten(
        _ entry: BlockEntry, _ state: EngineState, _ writtenLSN: UInt64
    ) -> Bool {
        let segment = state.segments.current
        return entry.segment == segment.number
            && segment.baseLSN + UInt64(entry.place.byteOffset) >= writtenLSN
    }

    /// Reads one part; false if there is none with this number.
    fileprivate func read(_ part: Int) -> Bool {
        if part < partitions.count {
            state.uniques[partitions[part].unique].loadPartition(partitions[part].partition)
            return true
        }
        guard part - partitions.count < blocks.count else { return false }
        // Whoever asks for what cannot be read is told why.
        _ = try? engine.block(blocks[part - partitions.count], in: state)
        return true
    }
}

extension Engine {
    /// Calls the body, and has what it will ask for read meanwhile.
    func whileReading<Result>(
        _ ahead: ReadingAhead, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard ahead.isWorthHelp else { return try body() }
        let next = Atomic(0)
        let isOver = Atomic(false)
        var outcome: Swift.Result<Result, StoreError>?
        func work() {
            do throws(StoreError) {
                outcome = .success(try body())
            } catch {
                outcome = .failure(error)
            }
            isOver.store(true, ordering: .relaxed)
        }
        crew.together(work) {
            while !isOver.load(ordering: .relaxed),
                ahead.read(next.wrappingAdd(1, ordering: .relaxed).oldValue)
            {}
        }
        guard let outcome else { preconditionFailure("the body was called") }
        return try outcome.get()
    }
}
