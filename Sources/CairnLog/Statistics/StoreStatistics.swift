// What a store is made of, for people and tests.

import CairnFileSystem
import CairnFormat
import CairnModel
public import CairnStore
import Synchronization

/// What a store is made of.
public struct StoreStatistics: Sendable {
    /// One entity's part.
    public struct Entity: Sendable {
        /// The entity's name.
        public let name: String
        /// Whether the store made it for a relationship.
        public let isHidden: Bool
        /// Objects of this very entity.
        public let objects: Int
        /// Blocks its rows are in.
        public let blocks: Int
        /// Rows that live in those blocks, and rows that died there.
        public let liveRows: Int
        /// Rows in the blocks that a newer version or a deletion ended.
        public let deadRows: Int
    }

    /// One segment's part.
    public struct Segment: Sendable {
        /// The segment's number.
        public let number: UInt32
        /// Whether it holds what compaction moved; else it is a part of the log.
        public let isSide: Bool
        /// Where its content ends.
        public let bytes: UInt64
        /// About how many of them compaction would write again.
        public let liveBytes: UInt64
    }

    /// A snapshot that keeps an old state.
    public struct Snapshot: Sendable {
        /// The commit it is the state after.
        public let commit: UInt64
        /// Who has it, if that was said.
        public let name: String?
        /// Bytes of files that it keeps from being removed.
        public let pinnedBytes: UInt64
    }

    /// The number of the last commit.
    public let commit: UInt64
    /// The version of the file format.
    public let formatVersion: UInt32
    /// The entities, hidden ones last.
    public let entities: [Entity]
    /// The segments, oldest first.
    public let segments: [Segment]
    /// Bytes of files that left the store and are not removed yet.
    public let retiredBytes: UInt64
    /// The snapshots that are held, the oldest first.
    public let snapshots: [Snapshot]
    /// What was written since the store was opened.
    public let written: WrittenBytes
    /// Why compaction in the background has stopped until the store is opened again: a damaged segment.
    public let compactionFailure: StoreError?
    /// A fetch index.
    public struct FetchIndex: Sendable {
        /// Its name.
        public let name: String
        /// The entity that declares it.
        public let entity: String
        /// Its properties, in order.
        public let properties: [String]
        /// Its entries: one for each object.
        public let entries: Int
        /// Bytes of its pages, once all of them are in memory; those that are in a checkpoint still are counted.
        public let bytes: Int
    }

    /// Entries of the unique indexes.
    public let indexEntries: Int
    /// The fetch indexes.
    public let fetchIndexes: [FetchIndex]
    /// Bytes of memory that directory, indexes and block table take.
    public let stateBytes: Int
    /// Bytes of memory that cached blocks take, about.
    public let cacheBytes: Int
    /// States that are kept readable, the newest included.
    public let pinnedStates: Int
}

extension LogStore {
    /// What the store is made of now.
    ///
    /// - Throws: `StoreError` with `.damaged` if references to large values cannot be read.
    /// - Complexity: O(number of blocks and of pages of fetch indexes); references to large values are read, and the hash
    ///   tables of fetch indexes.
    public func statistics() throws(StoreError) -> StoreStatistics {
        let pin = engine.registry.pin()
        let retired = engine.tools.retired.all.reduce(0) { $0 + $1.bytes }
        let (compacted, failure) = engine.compaction.progress.withLock {
            ($0.writtenBytes, $0.failure)
        }
        return try withExtendedLifetime(pin) { () throws(StoreError) in
            let state = pin.state
            let entities = state.catalog.entities.indices.map { index in
                var blocks = 0
                var live = 0
                var rows = 0
                var handle = state.blocks.first(ofEntity: index)
                while handle != .none {
                    let entry = state.blocks.entry(handle)
                    blocks += 1
                    live += Int(entry.live)
                    rows += Int(entry.rows)
                    handle = state.blocks.next(after: entry)
                }
                let entity = state.catalog.entities[index]
                return StoreStatistics.Entity(
                    name: entity.name, isHidden: entity.isHidden, objects: state.counts[index],
                    blocks: blocks, liveRows: live, deadRows: rows - live)
            }
            return StoreStatistics(
                commit: state.commit, formatVersion: FormatVersion.current, entities: entities,
                segments: try SegmentUse.measure(state, engine).map { use in
                    StoreStatistics.Segment(
                        number: use.segment.number, isSide: !use.isMain, bytes: use.bytes,
                        liveBytes: min(use.bytes, use.liveBytes))
                }.sorted { $0.number < $1.number }, retiredBytes: retired,
                snapshots: engine.pinnedSpace.map {
                    StoreStatistics.Snapshot(
                        commit: $0.snapshot.commit, name: $0.snapshot.name, pinnedBytes: $0.bytes)
                }, written: engine.writes.total(compacted: compacted), compactionFailure: failure,
                indexEntries: state.uniques.reduce(0) { $0 + $1.count },
                fetchIndexes: zip(state.catalog.fetchIndexes, state.fetchIndexes).map {
                    StoreStatistics.FetchIndex(
                        name: $0.name, entity: state.catalog.entities[$0.entity].name,
                        properties: $0.names, entries: $1.ordered.count, bytes: $1.byteCount)
                },
                stateBytes: engine.registry.pool.bytesInUse, cacheBytes: engine.reader.cache.bytes,
                pinnedStates: engine.registry.count)
        }
    }
}
