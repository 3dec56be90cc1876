// The space usage of a store: by entity and property, by index, by segment.
//
//   1. Each block with a live row is read once; its column table contains the size of each property.
//   2. The live part of a block, and of each of its columns, is proportional to its live rows. The size of
//      large values comes from the references in live rows.
//   3. Indexes are in memory; each counts its pages.
//
// A block without a live row no longer belongs to an entity: it only counts as dead bytes of its segment.
//
// Threads: one walk in one thread; the state is pinned.

import CairnFormat
public import CairnStore
import Synchronization

/// The space usage of a store.
public struct StoreSpace: Sendable {
    /// The space usage of a property in its entity.
    public struct Property: Sendable {
        /// Its name, dotted for an element of a composite attribute.
        public let name: String
        /// The stored size in bytes of its columns in blocks.
        public fileprivate(set) var bytes: UInt64 = 0
        /// The approximate part of them that belongs to live rows.
        public fileprivate(set) var liveBytes: UInt64 = 0
        /// The size in bytes of large values of live rows that are stored outside of blocks.
        public fileprivate(set) var largeValueBytes: UInt64 = 0
        /// The encodings of its columns (chapter 50 of the format), by name with the bytes of each, largest
        /// first: `symbols`, or `lengths, lz4`.
        public fileprivate(set) var encodings: [(name: String, bytes: UInt64)] = []

        /// Counts a column.
        fileprivate mutating func add(_ encoding: String, _ bytes: UInt64) {
            if let index = encodings.firstIndex(where: { $0.name == encoding }) {
                encodings[index].bytes += bytes
            } else {
                encodings.append((encoding, bytes))
            }
        }

        fileprivate mutating func sortEncodings() {
            encodings.sort { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
        }
    }

    /// The space usage of an entity.
    public struct Entity: Sendable {
        /// Its name.
        public let name: String
        /// Whether it is an internal entity that the store created for a relationship.
        public let isHidden: Bool
        /// The number of objects of exactly this entity.
        public let objects: Int
        /// The number of blocks with live rows.
        public fileprivate(set) var blocks = 0
        /// The size in bytes of these blocks in the log.
        public fileprivate(set) var bytes: UInt64 = 0
        /// The approximate part of them that belongs to live rows.
        public fileprivate(set) var liveBytes: UInt64 = 0
        /// The properties, in the order of the schema. The rest of the entity's bytes are block heads, object
        /// numbers and versions.
        public fileprivate(set) var properties: [Property]

        /// The size in bytes of large values of live rows that are stored outside of blocks.
        public var largeValueBytes: UInt64 { properties.reduce(0) { $0 &+ $1.largeValueBytes } }
    }

    /// The space usage of an index in memory: the log contains no indexes, only checkpoints do.
    public struct Index: Sendable {
        /// The purpose of an index.
        public enum Kind: String, Sendable {
            /// A uniqueness constraint.
            case unique
            /// A fetch index.
            case fetch
        }
        /// Its purpose.
        public let kind: Kind
        /// The entity that declares it.
        public let entity: String
        /// The name of a fetch index.
        public let name: String?
        /// Its properties, in order.
        public let properties: [String]
        /// The number of its entries.
        public let entries: Int
        /// Its approximate size in memory, in bytes.
        public let memoryBytes: UInt64
    }

    /// The entities, hidden ones last.
    public let entities: [Entity]
    /// The indexes: those of constraints, then fetch indexes.
    public let indexes: [Index]
    /// The segments, oldest first.
    public let segments: [StoreStatistics.Segment]
}

extension LogStore {
    /// Returns the space usage of the newest state.
    ///
    /// - Parameter progress: called for each block of an entity that is read, with the number of the entity's
    ///   blocks read so far.
    /// - Throws: `StoreError` with `.damaged` and the location if a block or an index cannot be read.
    /// - Complexity: O(size of the contents): each block and each index is read once.
    public func space(progress: ((String, Int) -> Void)? = nil) throws(StoreError) -> StoreSpace {
        try checkOpen()
        let pin = engine.registry.pin()
        defer { withExtendedLifetime(pin) {} }
        return try engine.reader.withWholeState { () throws(StoreError) in
            let state = pin.state
            var entities: [StoreSpace.Entity] = []
            for index in state.catalog.entities.indices {
                entities.append(try StoreSpace.Entity(index, state, engine, progress))
            }
            let indexes = StoreSpace.Index.all(of: state)
            let segments = try SegmentUse.measure(state, engine).map {
                StoreStatistics.Segment(
                    number: $0.segment.number, isSide: !$0.isMain, bytes: $0.bytes,
                    liveBytes: $0.liveBytes)
            }
            return StoreSpace(
                entities: entities, indexes: indexes,
                segments: segments.sorted { $0.number < $1.number })
        }
    }
}

extension StoreSpace.Entity {
    fileprivate init(
        _ index: Int, _ state: EngineState, _ engine: Engine, _ progress: ((String, Int) -> Void)?
    ) throws(StoreError) {
        let entity = state.catalog.entities[index]
        name = entity.name
        isHidden = entity.isHidden
        objects = state.counts[index]
        properties = entity.allColumns.map { StoreSpace.Property(name: $0.name) }
        var positions: [UInt32: Int] = [:]
        for (position, column) in entity.allColumns.enumerated() {
            positions[column.propertyID] = position
        }
        var handle = state.blocks.first(ofEntity: index)
        while handle != .none {
            let entry = state.blocks.entry(handle)
            handle = state.blocks.next(after: entry)
            let block = try engine.reader.passingBlock(entry, in: state)
            blocks += 1
            progress?(name, blocks)
            let stored = UInt64(entry.length) + UInt64(entry.borrowedBytes)
            bytes += stored
            liveBytes += entry.living(stored)
            for column in block.head.columns {
                // Object number and row version are not properties.
                guard let position = positions[column.propertyID] else { continue }
                let stored = UInt64(column.storedLength)
                properties[position].bytes += stored
                properties[position].liveBytes += entry.living(stored)
                properties[position].add(column.encodingName, stored)
                guard column.flags.contains(.externals) else { continue }
                try block.forEachReference(entry, column) { _, reference in
                    properties[position].largeValueBytes &+= ValuePayload.storedLength(
                        reference.length)
                }
            }
        }
        for position in properties.indices { properties[position].sortEncodings() }
    }
}

extension ColumnEntry {
    /// The encoding of the column, in the terms of the format.
    fileprivate var encodingName: String {
        let name =
            switch encoding {
            case .narrow: "narrow"
            case .sequence: "sequence"
            case .planes: "planes"
            case .scaled: "scaled"
            case .constant: "constant"
            case .lengths: "lengths"
            case .dictionary: "dictionary"
            case .plain: "plain"
            case .packed: "packed"
            case .packedDecimals: "packed decimals"
            case .packedBits: "packed bits"
            case .texts: "texts"
            case .symbols: "symbols"
            case .packedDictionary: "packed dictionary"
            }
        return flags.contains(.lz4) ? "\(name), lz4" : name
    }
}

extension BlockEntry {
    /// Returns the live part of some bytes of the block, in proportion to its live rows.
    fileprivate func living(_ bytes: UInt64) -> UInt64 { bytes * UInt64(live) / UInt64(rows) }
}

extension StoreSpace.Index {
    fileprivate static func all(of state: EngineState) -> [StoreSpace.Index] {
        let catalog = state.catalog
        let unique = zip(catalog.uniques, state.uniques).map { definition, index in
            StoreSpace.Index(
                kind: .unique, entity: catalog.entities[definition.entity].name, name: nil,
                properties: definition.names, entries: index.count,
                memoryBytes: index.memoryBytes)
        }
        return unique
            + zip(catalog.fetchIndexes, state.fetchIndexes).map { definition, index in
                StoreSpace.Index(
                    kind: .fetch, entity: catalog.entities[definition.entity].name,
                    name: definition.name, properties: definition.names,
                    entries: index.ordered.count,
                    memoryBytes: index.ordered.memoryBytes + index.postings.table.memoryBytes
                        + index.postings.lists.memoryBytes)
            }
    }
}

extension UniqueIndex {
    /// The size of the pages of its partitions, in bytes.
    fileprivate var memoryBytes: UInt64 {
        var bytes = 0
        forEachPartition { _, partition in
            bytes += partition.header.size.bytes + partition.capacity * 8
        }
        return UInt64(bytes)
    }
}

extension OrderedIndex {
    /// The size of its leaves, in bytes; inner nodes are few.
    fileprivate var memoryBytes: UInt64 {
        var bytes = 0
        forEachLeaf { (leaf: OrderedLeaf, _: UnsafeRawBufferPointer) in
            bytes += leaf.page.size.bytes
        }
        return UInt64(bytes)
    }
}
