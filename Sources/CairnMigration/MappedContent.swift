// Adds the rows that a mapping has created, in a separate store, to the commit that changes the schema.       ENGINE-NOTES 16
//
//   1. Each object gets its number: that of the old object that it became of, if its hierarchy goes on and nobody else has it, or
//      one that no object ever had.
//   2. Block by block the live rows are encoded anew, as compaction does it; references get the numbers of their targets, and large
//      values come along. Where members of a list stood by their numbers, and these do not rise as before, all get the keys that the
//      numbers stood for (F-709).
//
// Inverse tables and unique indexes are filled when all rows are there, by whoever changes the schema.
//
// Invariants: every live row of the other store is one row here; pairs lead where they led.
// Memory: 4 bytes an object, and a batch of rows.
// Threads: within the turn, in one thread; nobody writes to the other store.

import CairnFormat
import CairnLog
import CairnModel
import CairnStore

/// The rows that a mapping has created.
struct MappedContent {
    /// The store that they are in. Its catalog has the entities, trees and columns of the new one, in the same order.
    let engine: Engine
    /// Which of them became of which old objects.
    let successions: [ObjectSuccession]

    /// Writes them, under the catalog of the commit.
    ///
    /// - Parameter old: the catalog that the old objects were of.
    func write(
        _ builder: inout CommitBuilder, _ plan: ModelMigrationPlan, from old: Catalog,
        _ monitor: inout MigrationMonitor
    ) throws(StoreError) {
        let pin = engine.registry.pin()
        defer { withExtendedLifetime(pin) {} }
        try engine.reader.withWholeState { () throws(StoreError) in
            let state = pin.state
            precondition(
                state.catalog.entities.map(\.name) == builder.catalog.entities.map(\.name),
                "the rows have the model of the migrated store")
            try monitor.begin(.mapping, total: state.counts.reduce(0, +))
            let numbers = try numbers(state, &builder, plan, old)
            let keyed = try keyed(state, numbers, &builder)
            for entity in state.catalog.entities.indices where state.counts[entity] > 0 {
                try write(entity, of: state, numbers, keyed, &builder, &monitor)
            }
        }
    }

    // MARK: Numbers

    /// By tree, and by number in the other store: the number here; 0 where there is no object.
    private func numbers(
        _ state: EngineState, _ builder: inout CommitBuilder, _ plan: ModelMigrationPlan,
        _ old: Catalog
    ) throws(StoreError) -> [[UInt32]] {
        let catalog = state.catalog
        var numbers = catalog.trees.indices.map {
            [UInt32](repeating: 0, count: Int(state.nextNumbers[$0]))
        }
        var used = [NumberSet](repeating: NumberSet(), count: catalog.trees.count)
        for succession in successions {
            let tree = catalog.entities[succession.destinationEntity].tree
            let root = plan.hierarchies.first { $0.root == catalog.trees[tree].root }?.source
            guard let root,
                old.entities[root].tree == old.entities[succession.sourceEntity].tree
            else { continue }
            for (source, destination) in zip(succession.sources, succession.destinations)
            where Int(destination) < numbers[tree].count
                && numbers[tree][Int(destination)] == 0
                && !state.directories[tree][destination].isEmpty && !used[tree].contains(source)
                && source < builder.state.nextNumbers[tree]
            {
                numbers[tree][Int(destination)] = source
                used[tree].insert(source)
            }
        }
        for tree in catalog.trees.indices {
            for number in numbers[tree].indices.dropFirst()
            where numbers[tree][number] == 0
                && !state.directories[tree][UInt32(number)].isEmpty
            {
                numbers[tree][number] = try builder.issueNumber(tree: tree)
            }
        }
        return numbers
    }

    // MARK: Order

    /// The references, by index, beside which every row gets an order key, as the new numbers do not stand for the order. Of such
    /// a hierarchy the numbers to come are above those of the other store, so that what is added comes last (F-710).
    private func keyed(
        _ state: EngineState, _ numbers: [[UInt32]], _ builder: inout CommitBuilder
    ) throws(StoreError) -> Set<Int> {
        var keyed: Set<Int> = []
        for (index, reference) in state.catalog.references.enumerated() {
            guard let place = reference.order else { continue }
            let tree = state.catalog.entities[reference.entity].tree
            let given = numbers[tree].enumerated().filter { $0.element > 0 }
            if given.allSatisfy({ $0.offset == Int($0.element) }) { continue }
            let isRising = zip(given, given.dropFirst()).allSatisfy { $0.element < $1.element }
            if isRising, try !hasKeys(place, of: reference.entity, state) { continue }
            keyed.insert(index)
            builder.state.nextNumbers[tree] = max(
                builder.state.nextNumbers[tree], state.nextNumbers[tree])
        }
        return keyed
    }

    /// Whether any row of an entity's family has an order key of its own.
    private func hasKeys(_ place: Int, of entity: Int, _ state: EngineState) throws(StoreError)
        -> Bool
    {
        for member in state.catalog.family(of: entity) {
            let column = state.catalog.entities[member].orders[place].column
            for handle in state.blocks.all(ofEntity: member) {
                let entry = state.blocks.entry(handle)
                guard let cells = try engine.reader.passingBlock(entry, in: state).column(column)
                else {
                    continue
                }
                for slot in 0..<Int(entry.rows) where entry.isLive(slot) && !cells.isNil(at: slot) {
                    return true
                }
            }
        }
        return false
    }

    /// The places of references in rows of an entity, and of the order keys beside them, that every row gets.
    private func keyedPlaces(_ keyed: Set<Int>, of entity: Int, _ catalog: Catalog) -> [(
        reference: Int, key: Int
    )] {
        let stored = catalog.entities[entity]
        return stored.orders.enumerated().compactMap { place, order in
            let isKeyed = stored.references.contains {
                keyed.contains($0) && catalog.references[$0].column == order.reference
            }
            return isKeyed ? (order.reference, stored.columns.count + place) : nil
        }
    }

    // MARK: Rows

    private func write(
        _ entity: Int, of state: EngineState, _ numbers: [[UInt32]], _ keyed: Set<Int>,
        _ builder: inout CommitBuilder, _ monitor: inout MigrationMonitor
    ) throws(StoreError) {
        let keyed = keyedPlaces(keyed, of: entity, state.catalog)
        let source = state.catalog.entities[entity]
        let own = numbers[source.tree]
        var filler = BlockFiller(entity, builder.catalog, builder.reader.batches)
        let batch = filler.batch
        var handle = state.blocks.first(ofEntity: entity)
        while handle != .none {
            let entry = state.blocks.entry(handle)
            handle = state.blocks.next(after: entry)
            if entry.live == 0 { continue }
            let block = try engine.reader.passingBlock(entry, in: state)
            let cells = try block.numbers()
            for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                let row = batch.rows
                for (index, column) in source.allColumns.enumerated() {
                    try batch.columns[index].copyCell(
                        from: block, column, slot, to: row, isWhole: true)
                    if let tree = column.target {
                        Self.lead(&batch.columns[index], row, numbers[tree])
                    }
                }
                for (reference, key) in keyed
                where batch.columns[reference].hasValue(row) && !batch.columns[key].hasValue(row) {
                    batch.columns[key].setInteger(
                        OrderKeys.key(of: cells.number(slot)), row: row)
                }
                filler.add(own[Int(cells.number(slot))], version: 1)
                if batch.isFull { try builder.writeParts(&filler) }
            }
            builder.insertedCount += Int(entry.live)
            try monitor.advance(Int(entry.live))
        }
        try builder.writeParts(&filler)
        try builder.finish(&filler)
    }

    /// Has a reference lead to its target's number here.
    private static func lead(_ column: inout ColumnBuffer, _ row: Int, _ numbers: [UInt32]) {
        guard column.hasValue(row) else { return }
        let number = column.word(row)
        let target = number < UInt64(numbers.count) ? numbers[Int(number)] : 0
        if target == 0 {
            column.setNil(row: row)
        } else {
            column.setInteger(Int64(target), row: row)
        }
    }
}
