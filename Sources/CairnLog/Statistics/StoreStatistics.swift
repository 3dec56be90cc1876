// Statistics of a store, for users and tests.

import CairnFileSystem
import CairnFormat
import CairnModel
public import CairnStore
import Synchronization

/// Statistics of a store.
public struct StoreStatistics: Sendable {
    /// The statistics of an entity.
    public struct Entity: Sendable {
        /// The entity's name.
        public let name: String
        /// Whether it is an internal entity that the store created for a relationship.
        public let isHidden: Bool
        /// The number of objects of exactly this entity.
        public let objects: Int
        /// The number of blocks that contain its rows.
        public let blocks: Int
        /// The number of live rows in those blocks.
        public let liveRows: Int
        /// The number of rows in those blocks that a newer version or a deletion replaced.
        public let deadRows: Int
    }

    /// The statistics of a segment.
    public struct Segment: Sendable {
        /// The segment's number.
        public let number: UInt32
        /// Whether it contains blocks that compaction moved; otherwise it is a part of the log.
        public let isSide: Bool
        /// The end of its contents, in bytes.
        public let bytes: UInt64
        /// The approximate part of them that compaction would rewrite.
        public let liveBytes: UInt64
    }

    /// A snapshot that retains an old state.
    public struct Snapshot: Sendable {
        /// The commit after which it was taken.
        public let commit: UInt64
        /// Its name, if it has one.
        public let name: String?
        /// The size in bytes of files that it keeps from being removed.
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
    /// The size in bytes of files that are no longer part of the store and not removed yet.
    public let retiredBytes: UInt64
    /// The open snapshots, oldest first.
    public let snapshots: [Snapshot]
    /// The bytes written since the store was opened.
    public let written: WrittenBytes
    /// Why background compaction has stopped until the store is opened again: a damaged segment.
    public let compactionFailure: StoreError?
    /// A fetch index.
    public struct FetchIndex: Sendable {
        /// Its name.
        public let name: String
        /// The entity that declares it.
        public let entity: String
        /// Its properties, in order.
        public let properties: [String]
        /// The number of its entries, one per object.
        public let entries: Int
        /// The size in bytes of its pages when all of them are in memory, including those still in a
        /// checkpoint.
        public let bytes: Int
    }

    /// The number of entries in the unique indexes.
    public let indexEntries: Int
    /// The fetch indexes.
    public let fetchIndexes: [FetchIndex]
    /// The size in bytes of directory, indexes and block table in memory.
    public let stateBytes: Int
    /// The approximate size in bytes of cached blocks in memory, without those in mapped files.
    public let cacheBytes: Int
    /// The number of states that are kept readable, including the newest.
    public let pinnedStates: Int
}

extension LogStore {
    /// Returns the current statistics of the store.
    ///
    /// - Throws: `StoreError` with `.damaged` if references to large values cannot be read.
    /// - Complexity: O(number of blocks and of pages of fetch indexes); references to large values are read,
    ///   and the hash tables of fetch indexes.
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
