// The differences between two states: new, changed and deleted objects.
//
//   1. The directories of each tree are compared page by page. Pages that the states share are skipped, so
//      the cost depends only on what changed.
//   2. A cell that was empty is a new object, one that is empty now a deleted one. Another version is an
//      update; another place alone is a move, which is no change.
//   3. If pairs were added or removed, the objects at both ends count as updated.
//   4. Unless there are many changes, the rows are compared: which columns of changed ones differ, and which
//      objects the references of new, changed and deleted ones point to and pointed to.
//
// States that share no page, as after the log was reread, are compared cell by cell: versions show the same.
//
// Invariants: an object is in at most one of the lists.
// Threads: any; the states are pinned.

import CairnFormat
import CairnModel
import CairnStore

/// A comparison of two states.
final class StateDifference: ChangeSource {
    private let transition: StateTransition<EngineState>
    private let reader: StoreReader

    init(_ transition: StateTransition<EngineState>, _ reader: StoreReader) {
        self.transition = transition
        self.reader = reader
    }

    func changes() throws(StoreError) -> StoreChanges {
        try withExtendedLifetime(transition) { () throws(StoreError) in
            try reader.withWholeState { () throws(StoreError) in
                var comparison = StateComparison(
                    reader: reader, old: transition.before.state, new: transition.after.state)
                return try comparison.run()
            }
        }
    }
}

/// A comparison in progress.
private struct StateComparison {
    let reader: StoreReader
    let old: EngineState
    let new: EngineState
    /// By entity of the catalog.
    private var changes: [EntityChanges]
    /// By tree: objects whose pairs have changed.
    private var ends: [[PairEnd]]
    private var oldRows = OpenRows()
    private var newRows = OpenRows()
    /// The columns of rows that are read; nil = all.
    private var openColumns: ColumnSet?

    /// An object at an end of a pair.
    private struct PairEnd {
        let number: UInt32
        /// The relationship of this object that the pair belongs to; nil if it has no inverse relationship of
        /// its own.
        let relationship: Int?
    }

    init(reader: StoreReader, old: EngineState, new: EngineState) {
        self.reader = reader
        self.old = old
        self.new = new
        changes = new.catalog.entities.indices.map { EntityChanges(entity: $0) }
        ends = new.catalog.trees.map { _ in [] }
    }

    mutating func run() throws(StoreError) -> StoreChanges {
        for tree in new.catalog.trees.indices {
            if new.catalog.entities[new.catalog.trees[tree].root].isHidden {
                try comparePairs(tree)
            } else {
                compare(tree)
            }
        }
        addEnds()
        // If rows cannot be read, only the ids are reported.
        let rows = try? rowChanges()
        return StoreChanges(entities: changes.filter { !$0.isEmpty }, rows: rows ?? nil)
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
        // Pairs of one block are read one after another.
        for pair in pairs.sorted(by: { $0.bits < $1.bits }) {
            let entry = state.blocks.entry(pair.handle)
            let entity = state.catalog.entities[Int(entry.entity)]
            let block = try reader.block(entry, in: state)
            let schema = state.catalog.schema
            let pairs = schema.pairs[Int(entry.entity) - schema.entities.count]
            let relationships = [pairs.sourceRelationship, pairs.destinationRelationship]
            for (index, column) in entity.columns.enumerated() {
                guard let target = column.target, let cells = try block.column(column),
                    !cells.isNil(at: pair.slot)
                else { continue }
                ends[target].append(
                    PairEnd(
                        number: cells.number(pair.slot),
                        relationship: index < 2 ? relationships[index] : nil))
            }
        }
    }

    /// Counts ends in which only pairs changed as updated.
    private mutating func addEnds() {
        for (tree, ends) in ends.enumerated() where !ends.isEmpty {
            var updated: [Int: ObjectNumbers] = [:]
            for number in ObjectNumbers(ends.lazy.map { UInt64($0.number) }) {
                let number = UInt32(truncatingIfNeeded: number)
                guard let entity = new.entity(ofStaying: number, tree: tree, since: old) else {
                    continue
                }
                updated[entity, default: ObjectNumbers()].append(UInt64(number))
            }
            for (entity, numbers) in updated { changes[entity].updated.formUnion(numbers) }
        }
    }

    // MARK: Rows

    /// A reference whose targets have its sources as a to-many relationship.
    private struct OwnedReference {
        let column: Int
        let list: MemberList
        /// The index of the order key among the columns of a row.
        let order: Int?
    }

    /// What differs in the rows; nil if there are too many, or they are not stored in the same way.
    private mutating func rowChanges() throws(StoreError) -> RowChanges? {
        let catalog = new.catalog
        let count = changes.reduce(0) {
            $0 + $1.inserted.count + $1.updated.count + $1.deleted.count
        }
        guard count <= RowChanges.mostObjects, old.catalog === catalog else { return nil }
        let relationships = changedRelationships()
        var updated: [RowChanges.Group: [UInt64]] = [:]
        var owners: [MemberList: [UInt64]] = [:]
        for entity in catalog.schema.entities.indices where !changes[entity].isEmpty {
            let references = ownedReferences(entity)
            if !references.isEmpty { try addOwnersOfWhole(references, entity, to: &owners) }
            let tree = catalog.entities[entity].tree
            for (number, before) in cells(changes[entity].updated, tree, old) {
                // The number now belongs to an object of another entity.
                if !before.isEmpty, old.entity(of: before) != entity { return nil }
                var difference = RowDifference()
                difference.relationships = relationships[tree][number] ?? ColumnSet()
                let after = new.directories[tree][number]
                if before.version != after.version {
                    try compareRows(before, after, entity, references, &difference, &owners)
                }
                updated[.init(entity: entity, difference: difference), default: []]
                    .append(UInt64(number))
            }
        }
        return RowChanges(updated: updated, owners: owners)
    }

    /// By tree and object: the relationships whose pairs have changed.
    private func changedRelationships() -> [[UInt32: ColumnSet]] {
        ends.map { ends in
            var relationships: [UInt32: ColumnSet] = [:]
            for end in ends {
                guard let relationship = end.relationship else { continue }
                relationships[end.number, default: ColumnSet()].insert(relationship)
            }
            return relationships
        }
    }

    /// Adds the objects that new objects of an entity refer to, and those that deleted ones referred to.
    private mutating func addOwnersOfWhole(
        _ references: [OwnedReference], _ entity: Int, to owners: inout [MemberList: [UInt64]]
    ) throws(StoreError) {
        let tree = new.catalog.entities[entity].tree
        openColumns = ColumnSet(references.map(\.column))
        forgetRows()
        for (_, cell) in cells(changes[entity].inserted, tree, new) {
            let rows = try open(cell, entity, isOld: false)
            addOwners(references, rows, cell.slot, to: &owners)
        }
        for (_, cell) in cells(changes[entity].deleted, tree, old) {
            let rows = try open(cell, entity, isOld: true)
            addOwners(references, rows, cell.slot, to: &owners)
        }
        openColumns = nil
        forgetRows()
    }

    /// Finds what differs between two versions of a row, and the objects that either refers to in these
    /// columns.
    private mutating func compareRows(
        _ before: DirectoryCell, _ after: DirectoryCell, _ entity: Int,
        _ references: [OwnedReference], _ difference: inout RowDifference,
        _ owners: inout [MemberList: [UInt64]]
    ) throws(StoreError) {
        let was = try open(before, entity, isOld: true)
        let now = try open(after, entity, isOld: false)
        func differs(_ column: Int) -> Bool {
            now.differs(from: was, column, after.slot, before.slot)
        }
        for column in new.catalog.entities[entity].columns.indices where differs(column) {
            difference.columns.insert(column)
        }
        for reference in references {
            if let order = reference.order, differs(order) {
                difference.columns.insert(reference.column)
            }
        }
        let moved = references.filter { difference.columns.contains($0.column) }
        addOwners(moved, was, before.slot, to: &owners)
        addOwners(moved, now, after.slot, to: &owners)
    }

    private mutating func forgetRows() {
        oldRows = OpenRows()
        newRows = OpenRows()
    }

    private func ownedReferences(_ entity: Int) -> [OwnedReference] {
        let stored = new.catalog.entities[entity]
        let schema = new.catalog.schema
        return schema.memberLists(in: schema.entities[entity]).map { column, list in
            OwnedReference(
                column: column, list: list,
                order: stored.orders.firstIndex { $0.reference == column }
                    .map { stored.columns.count + $0 })
        }
    }

    /// The places of some rows, grouped by block.
    private func cells(_ numbers: ObjectNumbers, _ tree: Int, _ state: EngineState)
        -> [(number: UInt32, cell: DirectoryCell)]
    {
        numbers.map { number in
            let number = UInt32(truncatingIfNeeded: number)
            return (number, state.directories[tree][number])
        }.sorted { $0.cell.bits < $1.cell.bits }
    }

    private func addOwners(
        _ references: [OwnedReference], _ rows: OpenRows.Rows, _ slot: Int,
        to owners: inout [MemberList: [UInt64]]
    ) {
        for reference in references {
            if let owner = rows.reference(reference.column, slot) {
                owners[reference.list, default: []].append(UInt64(owner))
            }
        }
    }

    /// Reads the rows of a cell's block.
    private mutating func open(_ cell: DirectoryCell, _ entity: Int, isOld: Bool)
        throws(StoreError) -> OpenRows.Rows
    {
        if let known = isOld ? oldRows.rows(cell.handle) : newRows.rows(cell.handle) {
            return known
        }
        let state = isOld ? old : new
        let block = try reader.block(state.blocks.entry(cell.handle), in: state)
        let rows = try OpenRows.Rows(block, state.catalog.entities[entity], only: openColumns)
        if isOld { oldRows.keep(rows, cell.handle) } else { newRows.keep(rows, cell.handle) }
        return rows
    }
}

extension EngineState {
    /// The entity of the row that a cell refers to.
    fileprivate func entity(of cell: DirectoryCell) -> Int {
        Int(blocks.entry(cell.handle).entity)
    }
}
