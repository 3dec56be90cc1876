// Holds a state of a store against what must be so.
//
//   1. Every row the directory names is printed as the export would, so that every value is decoded and
//      checked (DR2, F-551 to F-554).
//   2. Every row without a nil part in a constraint is found by the constraint's index, and no other row has
//      the same values (IX1, IX2).
//   3. Every reference leads to an object that exists, of the right entity.
//   4. The counts of entities are those of their rows.
//
// Threads: one; the state is pinned.

import CairnFormat
import CairnModel
import CairnStore

/// What a check went through.
package struct StoreVerification: Sendable, Equatable {
    /// Objects, hidden ones included.
    package var rows = 0
    /// Values that are not nil.
    package var values = 0
    /// Entries of unique indexes.
    package var indexEntries = 0
    /// References to other objects.
    package var references = 0
    /// Frames that opening has read.
    package var frames: UInt64 = 0
    /// Commits that opening has read.
    package var commits: UInt64 = 0
}

struct StoreVerifier {
    private let store: LogStore
    private let engine: Engine
    private let pin: PinnedState<EngineState>
    private var state: EngineState { pin.state }
    private var result = StoreVerification()

    init(_ store: LogStore) {
        self.store = store
        engine = store.engine
        pin = store.engine.registry.pin()
    }

    mutating func run() throws -> StoreVerification {
        var export = CanonicalExport(store)
        try export.run { _ in }
        try checkRows()
        result.frames = store.recovery.frames
        result.commits = store.recovery.commits
        return result
    }

    private mutating func checkRows() throws(StoreError) {
        let catalog = state.catalog
        var counts = catalog.entities.map { _ in 0 }
        var entries = catalog.uniques.map { _ in 0 }
        for tree in catalog.trees.indices {
            for number in 1..<max(state.nextNumbers[tree], 1) {
                let cell = state.directories[tree][number]
                if cell.isEmpty { continue }
                let entry = state.blocks.entry(cell.handle)
                let entity = Int(entry.entity)
                guard entry.isLive(cell.slot) else {
                    throw damaged("a row that the directory names is dead", cell)
                }
                counts[entity] += 1
                result.rows += 1
                let values = try values(cell)
                result.values += values.count { !$0.isNull }
                try checkReferences(values, entity, cell)
                for unique in catalog.entities[entity].uniques {
                    if try checkKey(values, unique, number, tree, cell) { entries[unique] += 1 }
                }
            }
        }
        guard counts == state.counts else {
            throw StoreError.damaged("the counts of the entities are not those of their rows")
        }
        for (unique, count) in entries.enumerated() {
            guard state.uniques[unique].count == count else {
                let names = catalog.uniques[unique].names.joined(separator: ", ")
                throw StoreError.damaged(
                    "the index on \(names) has \(state.uniques[unique].count) entries for \(count) rows"
                )
            }
            result.indexEntries += count
        }
    }

    private func values(_ cell: DirectoryCell) throws(StoreError) -> [Value] {
        let entry = state.blocks.entry(cell.handle)
        let reader = RowReader(
            catalog: state.catalog, identity: engine.identity, entity: Int(entry.entity))
        return try reader.values(try engine.block(entry.place, in: state), cell.slot)
    }

    private mutating func checkReferences(
        _ values: [Value], _ entity: Int, _ cell: DirectoryCell
    ) throws(StoreError) {
        for (index, column) in state.catalog.entities[entity].columns.enumerated() {
            guard let target = column.target, case .objectID(let id) = values[index] else {
                continue
            }
            result.references += 1
            guard let number = UInt32(exactly: id.reference),
                !state.directories[target][number].isEmpty
            else { throw damaged("\(column.name) leads to an object that is not there", cell) }
        }
    }

    /// Whether the row is in a unique index.
    private func checkKey(
        _ values: [Value], _ unique: Int, _ number: UInt32, _ tree: Int, _ cell: DirectoryCell
    ) throws(StoreError) -> Bool {
        let definition = state.catalog.uniques[unique]
        var key = KeyBuffer()
        guard key.load(values, columns: definition.columns, number: CommitBuilder.number) else {
            return false
        }
        let names = definition.names.joined(separator: ", ")
        var cursor = state.uniques[unique].firstCandidate(hash: key.hash(seed: engine.hashSeed))
        var isThere = false
        while let candidate = cursor.next() {
            if candidate == number {
                isThere = true
                continue
            }
            let other = state.directories[tree][candidate]
            guard !other.isEmpty else {
                throw damaged("the index on \(names) names an object that is not there", cell)
            }
            var otherKey = KeyBuffer()
            let others = try self.values(other)
            if otherKey.load(others, columns: definition.columns, number: CommitBuilder.number),
                key.equals(otherKey)
            {
                throw damaged("two objects have the same \(names)", cell)
            }
        }
        guard isThere else { throw damaged("the index on \(names) lacks an object", cell) }
        return true
    }

    private func damaged(_ message: String, _ cell: DirectoryCell) -> StoreError {
        let place = state.blocks.entry(cell.handle).place
        return .damaged(message, segment: place.segment, offset: UInt64(place.byteOffset))
    }
}
