// Fetch indexes of a state that is built from a log.
//
//   1. Requested indexes that the base has are taken over; its other indexes are released.
//   2. They follow the deaths and births after the base. Without a base, all indexes do, starting empty.
//   3. The others are built from all live rows, in one pass over the columns of their keys. So an index is
//      added to a store without writing any of its rows.
//
// Threads: one builder in one thread.

import CairnFormat
import CairnStore

struct FetchIndexBuilder: ~Copyable {
    /// Applies deaths and births; nil if there is nothing to apply.
    let writer: FetchIndexWriter?
    private let missing: [Int]
    private let catalog: Catalog
    private let seed: UInt64

    /// Whether a state has exactly the indexes that a catalog lists.
    static func isComplete(_ state: EngineState, for catalog: Catalog) -> Bool {
        catalog.fetchIndexes.count == state.fetchIndexes.count
            && catalog.fetchIndexes == state.catalog.fetchIndexes
    }

    /// Whether a state has all the indexes that a catalog lists.
    static func has(_ state: EngineState, allOf catalog: Catalog) -> Bool {
        catalog.fetchIndexes.allSatisfy { wanted in
            state.catalog.fetchIndexes.contains { $0.isSame(as: wanted) }
        }
    }

    /// - Parameters:
    ///   - state: the base, with its own catalog, or an empty state.
    ///   - catalog: lists the requested indexes.
    init(
        _ state: inout EngineState, _ catalog: Catalog, hasBase: Bool, seed: UInt64,
        in pages: inout PageTransaction
    ) {
        self.catalog = catalog
        self.seed = seed
        guard catalog.hasFetchIndexes || state.catalog.hasFetchIndexes else {
            writer = nil
            missing = []
            state.fetchIndexes = []
            return
        }
        var known = state.fetchIndexes.map { Optional($0) }
        var contents: [FetchIndexContent] = []
        var missing: [Int] = []
        for (index, definition) in catalog.fetchIndexes.enumerated() {
            let place = state.catalog.fetchIndexes.firstIndex { $0.isSame(as: definition) }
            if hasBase, let place, place < known.count, let content = known[place].take() {
                contents.append(content)
            } else {
                contents.append(FetchIndexContent())
                if hasBase { missing.append(index) }
            }
        }
        for index in known.indices { known[index]?.removeAll(in: &pages) }
        state.fetchIndexes = contents
        self.missing = missing
        let kept = Set(catalog.fetchIndexes.indices).subtracting(missing)
        writer = kept.isEmpty ? nil : FetchIndexWriter(catalog, seed: seed, kept: kept)
    }

    /// Applies what was recorded so far to the indexes.
    func settle(_ state: inout EngineState, in pages: inout PageTransaction) throws(StoreError) {
        try Self.settle(writer, &state, &pages)
    }

    private static func settle(
        _ writer: FetchIndexWriter?, _ state: inout EngineState, _ pages: inout PageTransaction
    ) throws(StoreError) {
        if let wrong = writer?.apply(to: &state.fetchIndexes, in: &pages) {
            throw .damaged("the fetch index \(wrong.name) does not match its rows (IX1)")
        }
    }

    /// Builds the indexes that the base did not have. All rows must have their places.
    func buildMissing(
        _ state: inout EngineState, in pages: inout PageTransaction,
        read: (Place) throws(StoreError) -> CachedBlock
    ) throws(StoreError) {
        if missing.isEmpty { return }
        let writer = FetchIndexWriter(catalog, seed: seed, kept: Set(missing))
        for entity in catalog.entities.indices {
            let indexes = catalog.fetchIndexesOfEntity[entity].filter { missing.contains($0) }
            if indexes.isEmpty { continue }
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.live > 0 {
                    let block = try read(entry.place)
                    guard block.rows == Int(entry.rows) else {
                        throw .damaged(
                            "a block does not have the number of rows that is recorded for it (F-858)",
                            segment: entry.segment, offset: UInt64(entry.place.byteOffset))
                    }
                    let slots = (0..<block.rows).filter { entry.isLive($0) }
                    for index in indexes {
                        try writer.add(block, slots, entity: entity, index: index, isInsert: true)
                    }
                    if writer.isLarge { try Self.settle(writer, &state, &pages) }
                }
                handle = state.blocks.next(after: entry)
            }
        }
        try Self.settle(writer, &state, &pages)
    }
}
