// One pass over the keys of a uniqueness constraint that a store is about to enforce.                 ENGINE-NOTES 16
//
//   1. The key of each live row is hashed; a number and half of its hash are 8 bytes.
//   2. They are sorted: rows with one key have one hash, so they stand together.
//   3. Where several have one hash the keys themselves are compared. Several with one key are duplicates.
//
// The rows may still be those of the state before: blocks of earlier versions are read as the new schema has them, and a number
// stays what it is.
//
// Memory: 8 bytes a row, as much as the index that is made of it.
// Threads: one pass in one thread.

import CairnFormat
import CairnLog
import CairnModel
import CairnStore

struct KeyPass {
    /// The catalog of the constraint.
    let catalog: Catalog
    /// The constraint, by its index there.
    let unique: Int
    /// The rows of an entity of that catalog, by the index of the entity in the state that is read; nil if it has none.
    let source: (Int) -> Int?
    let identity: StoreIdentity
    private let seed: UInt64
    /// The hash above, the number below.
    private(set) var entries: [UInt64] = []

    init(
        _ catalog: Catalog, unique: Int, seed: UInt64, identity: StoreIdentity,
        source: @escaping (Int) -> Int?
    ) {
        self.catalog = catalog
        self.unique = unique
        self.seed = seed
        self.identity = identity
        self.source = source
    }

    private var definition: Catalog.UniqueDefinition { catalog.uniques[unique] }

    /// How many rows the entities of the constraint have in a state.
    func rows(in state: borrowing EngineState) -> Int {
        catalog.family(of: definition.entity).reduce(0) { sum, entity in
            sum + (source(entity).map { state.counts[$0] } ?? 0)
        }
    }

    /// Reads the keys of all rows.
    mutating func run(
        _ state: borrowing EngineState, _ monitor: inout MigrationMonitor,
        read: (BlockHandle) throws(StoreError) -> CachedBlock
    ) throws(StoreError) {
        let form = definition.form
        var key = KeyBuffer()
        let rows = rows(in: state)
        entries.reserveCapacity(rows)
        try monitor.begin(.keys, total: rows)
        for entity in catalog.family(of: definition.entity) {
            guard let index = source(entity) else { continue }
            let stored = catalog.entities[entity]
            for handle in state.blocks.all(ofEntity: index) {
                let entry = state.blocks.entry(handle)
                let block = try read(handle)
                let numbers = try block.numbers()
                for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                    guard try key.load(block, row: slot, entity: stored, form) else { continue }
                    let half = key.hash(seed: seed) & 0xFFFF_FFFF
                    entries.append(half << 32 | UInt64(numbers.number(slot)))
                }
                try monitor.advance(Int(entry.live))
            }
        }
        entries.sort()
    }

    /// How many keys are shown of those that several rows have, and how many of these rows.
    private static let mostExamples = 5

    /// The keys that several rows have; nil if there are none.
    func duplicates(
        in state: borrowing EngineState, read: (BlockHandle) throws(StoreError) -> CachedBlock
    ) throws(StoreError) -> ConstraintDuplicates? {
        var keys = 0
        var objects = 0
        // Hashes differ from one opening to the next: those with the first objects are the same ones always.
        var shown: [[UInt32]] = []
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end] >> 32 == entries[start] >> 32 { end += 1 }
            if end - start > 1 {
                for group in try groups(entries[start..<end], state, read) where group.count > 1 {
                    keys += 1
                    objects += group.count
                    let place = shown.firstIndex { $0[0] > group[0] } ?? shown.count
                    guard place < Self.mostExamples else { continue }
                    shown.insert(group, at: place)
                    if shown.count > Self.mostExamples { shown.removeLast() }
                }
            }
            start = end
        }
        guard keys > 0 else { return nil }
        var examples: [ConstraintDuplicates.Example] = []
        for group in shown { examples.append(try example(group, state, read)) }
        return ConstraintDuplicates(
            entity: catalog.entities[definition.entity].name, properties: definition.names,
            keys: keys, objects: objects, examples: examples)
    }

    /// The numbers of rows with one hash, those with one key together, by their first numbers.
    private func groups(
        _ entries: ArraySlice<UInt64>, _ state: borrowing EngineState,
        _ read: (BlockHandle) throws(StoreError) -> CachedBlock
    ) throws(StoreError) -> [[UInt32]] {
        var places: [[UInt8]: Int] = [:]
        var groups: [[UInt32]] = []
        var key = KeyBuffer()
        for entry in entries {
            let number = UInt32(truncatingIfNeeded: entry)
            let row = try row(number, state, read)
            guard
                try key.load(
                    row.block, row: row.slot, entity: catalog.entities[row.entity],
                    definition.form)
            else { continue }
            let bytes = Array(key.bytes)
            if let place = places[bytes] {
                groups[place].append(number)
            } else {
                places[bytes] = groups.count
                groups.append([number])
            }
        }
        return groups
    }

    /// Where a row lies, and its entity in the catalog of the constraint.
    private func row(
        _ number: UInt32, _ state: borrowing EngineState,
        _ read: (BlockHandle) throws(StoreError) -> CachedBlock
    ) throws(StoreError) -> (block: CachedBlock, slot: Int, entity: Int) {
        for entity in catalog.family(of: definition.entity) {
            guard let index = source(entity) else { continue }
            let cell = state.directories[state.catalog.entities[index].tree][number]
            guard !cell.isEmpty, Int(state.blocks.entry(cell.handle).entity) == index else {
                continue
            }
            return (try read(cell.handle), cell.slot, entity)
        }
        throw .damaged("a row that was read is no longer in its place (DR2)")
    }

    private func example(
        _ numbers: [UInt32], _ state: borrowing EngineState,
        _ read: (BlockHandle) throws(StoreError) -> CachedBlock
    ) throws(StoreError) -> ConstraintDuplicates.Example {
        let first = try row(numbers[0], state, read)
        let description = catalog.description(of: first.entity)
        var ids: [ObjectID] = []
        for number in numbers.prefix(Self.mostExamples) {
            let row = try row(number, state, read)
            if let index = source(row.entity), index < state.catalog.schema.entities.count {
                ids.append(identity.id(UInt64(number), entity: index))
            }
        }
        // Column by column: whole rows are kept by the version of their catalog, and this one may be one of several.
        var values: [Value] = []
        for column in definition.columns {
            let stored = catalog.entities[first.entity].columns[column]
            let cells = try first.block.cells(stored, at: column).pointee
            if cells.isNil(first.slot) {
                values.append(.null)
            } else if case .attribute(let type) = description.columns[column].kind {
                values.append(try Value.stored(cells, first.slot, type, first.block))
            } else {
                // What leads to another object is shown by its number.
                values.append(.integer(cells.integer(first.slot)))
            }
        }
        return ConstraintDuplicates.Example(
            values: values, objectIDs: ids, count: numbers.count)
    }
}
