// What differs between two states: which objects are new, have another version, or are gone.
//
//   1. The directories of each tree are compared page by page. Pages that the states share are passed over, so that this
//      costs as much as was changed.
//   2. A cell that was empty is a new object, one that is empty now a deleted one; another version is an update, another
//      place alone a move, which is no change.
//   3. Of pairs that came or went, the objects at both ends count as updated.
//
// States that share no page, as after the log was read anew, are compared cell by cell: versions tell the same.
//
// Invariants: an object is in one of the lists at most.
// Threads: any; the states are pinned.

import CairnFormat
import CairnStore

/// Two states, to be compared.
final class StateDifference: ChangeSource {
    private let transition: StateTransition<EngineState>
    private let engine: Engine

    init(_ transition: StateTransition<EngineState>, _ engine: Engine) {
        self.transition = transition
        self.engine = engine
    }

    func changes() throws(StoreError) -> [EntityChanges] {
        try withExtendedLifetime(transition) { () throws(StoreError) in
            try engine.withWholeState { () throws(StoreError) in
                var comparison = StateComparison(
                    engine: engine, old: transition.before.state, new: transition.after.state)
                return try comparison.run()
            }
        }
    }
}

/// A comparison that is under way.
private struct StateComparison {
    let engine: Engine
    let old: EngineState
    let new: EngineState
    /// By entity of the catalog.
    private var changes: [EntityChanges]
    /// By tree: objects whose pairs have changed.
    private var ends: [[UInt32]]

    init(engine: Engine, old: EngineState, new: EngineState) {
        self.engine = engine
        self.old = old
        self.new = new
        changes = new.catalog.entities.indices.map { EntityChanges(entity: $0) }
        ends = new.catalog.trees.map { _ in [] }
    }

    mutating func run() throws(StoreError) -> [EntityChanges] {
        for tree in new.catalog.trees.indices {
            if new.catalog.entities[new.catalog.trees[tree].root].isHidden {
                try comparePairs(tree)
            } else {
                compare(tree)
            }
        }
        addEnds()
        return changes.filter { !$0.isEmpty }
    }

    private mutating func compare(_ tree: Int) {
        PagedTable.eachDifference(
            old.directories[tree].cells.table, new.directories[tree].cells.table
        ) { number, before, after in
            let (before, after) = (DirectoryCell(bits: before), DirectoryCell(bits: after))
            if before.isEmpty {
                changes[new.entity(of: after)].inserted.append(UInt64(number))
            } else if after.isEmpty {
                changes[old.entity(of: before)].deleted.append(UInt64(number))
            } else if before.version != after.version {
                changes[new.entity(of: after)].updated.append(UInt64(number))
            }
        }
    }

    // MARK: Pairs

    private mutating func comparePairs(_ tree: Int) throws(StoreError) {
        var (gone, come): ([DirectoryCell], [DirectoryCell]) = ([], [])
        PagedTable.eachDifference(
            old.directories[tree].cells.table, new.directories[tree].cells.table
        ) { _, before, after in
            let (before, after) = (DirectoryCell(bits: before), DirectoryCell(bits: after))
            if before.version == after.version { return }
            if !before.isEmpty { gone.append(before) }
            if !after.isEmpty { come.append(after) }
        }
        try noteEnds(of: gone, in: old)
        try noteEnds(of: come, in: new)
    }

    private mutating func noteEnds(of pairs: [DirectoryCell], in state: EngineState)
        throws(StoreError)
    {
        // Pairs of one block one after the other.
        for pair in pairs.sorted(by: { $0.bits < $1.bits }) {
            let entry = state.blocks.entry(pair.handle)
            let entity = state.catalog.entities[Int(entry.entity)]
            let block = try engine.block(entry, in: state)
            for column in entity.columns {
                guard let target = column.target, let cells = try block.column(column),
                    !cells.isNil(at: pair.slot)
                else { continue }
                ends[target].append(cells.number(pair.slot))
            }
        }
    }

    /// The ends that are as they were but for their pairs count as updated.
    private mutating func addEnds() {
        for (tree, numbers) in ends.enumerated() where !numbers.isEmpty {
            var updated: [Int: ObjectNumbers] = [:]
            for number in ObjectNumbers(numbers.lazy.map(UInt64.init)) {
                let number = UInt32(truncatingIfNeeded: number)
                let after = new.directories[tree][number]
                if after.isEmpty || old.directories[tree][number].isEmpty { continue }
                updated[new.entity(of: after), default: ObjectNumbers()].append(UInt64(number))
            }
            for (entity, numbers) in updated { changes[entity].updated.formUnion(numbers) }
        }
    }
}

extension EngineState {
    /// The entity of the row that a cell leads to.
    fileprivate func entity(of cell: DirectoryCell) -> Int {
        Int(blocks.entry(cell.handle).entity)
    }
}
