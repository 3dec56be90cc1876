// Prefetches what a commit of very many rows will read, on helper threads.
//
//   1. Blocks are read into the cache, and the columns that will be needed are unpacked, up to half of the
//      cache's budget. If the commit begins with the first block, this begins with the last, so that the two
//      meet.
//   2. Partitions of unique indexes that are still in a checkpoint are loaded.
//
// Nothing depends on it: what is missing is read when it is needed, and errors are reported then.
//
// Threads: helpers read the state before the commit, which is immutable and kept by it.

import CairnFormat
import CairnStore
import Synchronization

/// Parts of a state to prefetch.
struct ReadingAhead {
    private let reader: StoreReader
    private let state: EngineState
    private let blocks: [BlockEntry]
    /// By entity of the state: the columns that will be needed.
    private let columns: [Int: [Int]]
    /// Unique index and partition.
    private let partitions: [(unique: Int, partition: UInt32)]
    /// The number of blocks below which the commit is done before a helper is awake.
    private static let blocksWorthHelp = 48

    /// Prefetches for a deletion of all rows that a scan finds: numbers, keys and references.
    init(deleting runner: FetchRunner, writtenLSN: UInt64) {
        let catalog = runner.catalog
        let columns = runner.family.map { entity in
            let uniques = catalog.entities[entity].uniques.flatMap { catalog.uniques[$0].columns }
            let references = catalog.entities[entity].references.map {
                catalog.references[$0].column
            }
            return (entity, uniques + references)
        }
        // Blocks that cannot contain a match are not read.
        self.init(
            runner.reader, runner.state, runner.scanned().blocks.reversed().map(\.entry),
            columns, writtenLSN)
    }

    /// Prefetches for a list that may be about all objects of an entity and its descendants.
    init(comparing entity: Int, _ builder: borrowing CommitBuilder) {
        self.init(
            comparing: entity, builder.state, builder.reader, writtenLSN: builder.writtenLSN)
    }

    /// The same for a state that is kept as long as this is used.
    ///
    /// - Parameter writtenLSN: the end of what is certainly written; of a published state, that is
    ///   everything.
    init(
        comparing entity: Int, _ state: EngineState, _ reader: StoreReader,
        writtenLSN: UInt64 = .max
    ) {
        var blocks: [BlockEntry] = []
        let family = reader.crew.helpers > 0 ? state.catalog.family(of: entity) : []
        for entity in family {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.live > 0 { blocks.append(entry) }
                handle = state.blocks.next(after: entry)
            }
        }
        let columns = family.map { ($0, Array(state.catalog.entities[$0].columns.indices)) }
        self.init(reader, state, blocks, columns, writtenLSN)
    }

    /// - Parameter writtenLSN: the end of what is certainly written.
    private init(
        _ reader: StoreReader, _ state: EngineState, _ blocks: [BlockEntry],
        _ columns: [(Int, [Int])],
        _ writtenLSN: UInt64
    ) {
        self.reader = reader
        self.state = state
        self.blocks = blocks.filter { !Self.mayBeUnwritten($0, state, writtenLSN) }
        self.columns = Dictionary(uniqueKeysWithValues: columns)
        let uniques = Set(columns.flatMap { state.catalog.entities[$0.0].uniques }).sorted()
        partitions = uniques.flatMap { unique in
            (0..<state.uniques[unique].partitionCount).map { (unique, $0) }
        }
    }

    /// Whether a helper would be awake in time.
    var isWorthHelp: Bool {
        reader.crew.helpers > 0 && blocks.count >= Self.blocksWorthHelp
    }

    /// The memory that blocks may take, in bytes.
    fileprivate var room: Int { reader.cache.budget / 2 }

    private static func mayBeUnwritten(
        _ entry: BlockEntry, _ state: EngineState, _ writtenLSN: UInt64
    ) -> Bool {
        let segment = state.segments.current
        return entry.segment == segment.number
            && segment.baseLSN + UInt64(entry.place.byteOffset) >= writtenLSN
    }

    /// Reads one part and returns how many bytes of memory it takes; nil if there is no part with this
    /// number.
    fileprivate func read(_ part: Int, hasRoom: Bool) -> Int? {
        guard part >= blocks.count else {
            // The error is reported when the part is needed.
            return hasRoom ? (try? unpack(blocks[part])) ?? 0 : 0
        }
        guard part - blocks.count < partitions.count else { return nil }
        let (unique, partition) = partitions[part - blocks.count]
        state.uniques[unique].loadPartition(partition)
        return 0
    }

    private func unpack(_ entry: BlockEntry) throws(StoreError) -> Int {
        let block = try reader.block(entry, in: state)
        _ = try block.numbers()
        let stored = state.catalog.entities[Int(entry.entity)]
        for column in columns[Int(entry.entity)] ?? [] {
            _ = try block.cells(stored.columns[column], at: column)
        }
        return block.cost
    }
}

/// Parts that several threads read, each part once.
final class SharedReading: Sendable {
    private let ahead: ReadingAhead
    private let next = Atomic(0)
    private let room: Atomic<Int>

    init(_ ahead: ReadingAhead) {
        self.ahead = ahead
        room = Atomic(ahead.room)
    }

    /// Reads the next part; returns false if there is none.
    func readNext() -> Bool {
        guard
            let cost = ahead.read(
                next.wrappingAdd(1, ordering: .relaxed).oldValue,
                hasRoom: room.load(ordering: .relaxed) > 0)
        else { return false }
        room.wrappingSubtract(cost, ordering: .relaxed)
        return true
    }
}
