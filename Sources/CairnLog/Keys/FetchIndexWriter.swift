// Collects the effects of a commit, or of a log that is read, on fetch indexes.
//
// Rows are born when a block is written, and die by place. Both are recorded here block by block, in any
// order, and applied to the indexes together: a row that is rewritten with the same key changes nothing (see
// `IndexChanges`). Rows that move are not recorded, since indexes refer to row numbers.
//
// Threads: one owner.

import CairnFormat
import CairnStore

/// The changes of the fetch indexes of a state.
final class FetchIndexWriter {
    private let catalog: Catalog
    private let seed: UInt64
    /// By fetch index of the catalog; nil for those that are not kept here.
    private let changes: [IndexChanges?]
    // Loaded for every row: with one owner, exclusivity need not be checked.
    @exclusivity(unchecked) private var key = IndexKey()
    /// How many deaths of the commit have been recorded.
    var toldDeaths = 0

    /// The bytes of entries above which they should be applied to the indexes.
    private static let most = 8 << 20

    /// - Parameter kept: the fetch indexes to keep, as indices into the catalog's; nil: all.
    init(_ catalog: Catalog, seed: UInt64, kept: Set<Int>? = nil) {
        self.catalog = catalog
        self.seed = seed
        changes = catalog.fetchIndexes.indices.map {
            kept?.contains($0) ?? true ? IndexChanges() : nil
        }
    }

    /// Whether there are so many changes that they should be applied to the indexes now.
    var isLarge: Bool { changes.contains { ($0?.byteCount ?? 0) > Self.most } }

    /// Whether the writer is for the fetch indexes of a catalog, and small enough to be kept from commit to
    /// commit.
    func fits(_ other: Catalog, seed: UInt64) -> Bool {
        catalog.describesSame(as: other) && self.seed == seed
            && changes.allSatisfy { $0?.isSmall ?? true }
    }

    /// Records rows of a batch as born.
    ///
    /// - Parameter values: reads cells that are references; those values are written.
    func add(
        _ batch: ColumnBatch, _ selection: [UInt16], _ numbers: [UInt32], entity: Int,
        _ values: LargeValueReader
    ) throws(StoreError) {
        for index in catalog.fetchIndexesOfEntity[entity] {
            guard let changes = changes[index] else { continue }
            let parts = catalog.fetchIndexes[index].parts
            for (slot, row) in selection.enumerated() {
                try key.load(batch, row: Int(row), parts, values)
                changes.add(key.bytes, number: numbers[slot], isInsert: true)
            }
        }
    }

    /// Whether rows of a batch have references to large values in key columns.
    func hasReferences(_ batch: ColumnBatch, _ selection: [UInt16], entity: Int) -> Bool {
        for index in catalog.fetchIndexesOfEntity[entity] where changes[index] != nil {
            for part in catalog.fetchIndexes[index].parts where part.kind == .text {
                let states = batch.columns[part.column].states
                for row in selection where states[Int(row)] == ColumnBuffer.State.external {
                    return true
                }
            }
        }
        return false
    }

    /// Records rows of a block as born or dead.
    func add(_ block: CachedBlock, _ slots: some Collection<Int>, entity: Int, isInsert: Bool)
        throws(StoreError)
    {
        for index in catalog.fetchIndexesOfEntity[entity] {
            try add(block, slots, entity: entity, index: index, isInsert: isInsert)
        }
    }

    /// The same in one index.
    func add(
        _ block: CachedBlock, _ slots: some Collection<Int>, entity: Int, index: Int, isInsert: Bool
    ) throws(StoreError) {
        guard let changes = changes[index], !slots.isEmpty else { return }
        let parts = catalog.fetchIndexes[index].parts
        var columns: [DecodedColumn?] = []
        for part in parts {
            columns.append(try block.column(catalog.entities[entity].columns[part.column]))
        }
        let numbers = try block.numbers()
        for slot in slots {
            try key.load(block, row: slot, parts, columns)
            changes.add(key.bytes, number: numbers.number(slot), isInsert: isInsert)
        }
    }

    /// Applies all changes to the indexes of a state. Returns an index that contradicts them, if there is
    /// one.
    func apply(
        to indexes: inout [FetchIndexContent], in pages: inout PageTransaction
    ) -> Catalog.FetchIndexDefinition? {
        var wrong: Catalog.FetchIndexDefinition?
        for (index, changes) in changes.enumerated() {
            guard let changes, !changes.isEmpty else { continue }
            let definition = catalog.fetchIndexes[index]
            let isRight = indexes[index].apply(
                changes, hasPostings: definition.hasPostings, seed: seed, in: &pages)
            if !isRight { wrong = definition }
        }
        return wrong
    }
}
