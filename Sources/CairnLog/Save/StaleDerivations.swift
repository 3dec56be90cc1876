// The derived attributes of rows that may be out of date because something on which they depend has changed.
//
// Code that changes rows notes them here: deleted rows before they are removed, others when they are written.
// Noting too much only costs time, as the computed value is then found to be the same.
//
// Invariants: noted objects are found by references as they were before the change; `lead` registers the
// references of rows to be written.
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

/// Derived attributes to recompute.
package struct StaleDerivations {
    /// The object of a derived attribute.
    struct Key: Hashable, Comparable {
        let tree: Int
        let number: UInt32

        static func < (left: Key, right: Key) -> Bool {
            (left.tree, left.number) < (right.tree, right.number)
        }
    }

    /// The derived attributes by their numbers in the hierarchy. The object need not have all of them.
    private(set) var attributes: [Key: ColumnSet] = [:]
    /// By reference and target: rows to be written that will refer to it.
    private var leading: [Int: [UInt32: [UInt32]]] = [:]
    /// By reference and target: those of them that refer to it as they are stored.
    private var led: [Int: [UInt32: [UInt32]]] = [:]

    package init() {}

    /// Notes one derived attribute of an object.
    package mutating func insert(_ derivation: Int, tree: Int, _ number: UInt32) {
        attributes[Key(tree: tree, number: number), default: ColumnSet()].insert(derivation)
    }

    /// Registers the target of a row to be written, as stored and as it will be.
    mutating func lead(
        _ source: UInt32, from old: UInt32?, to new: UInt32?, reference: Int
    ) {
        if let old { led[reference, default: [:]][old, default: []].append(source) }
        if let new { leading[reference, default: [:]][new, default: []].append(source) }
    }

    /// Returns the rows to be written that will refer to a target.
    func leading(to target: UInt32, reference: Int) -> [UInt32] {
        leading[reference]?[target] ?? []
    }

    /// Returns the rows to be written that refer to a target as they are stored.
    func led(to target: UInt32, reference: Int) -> [UInt32] { led[reference]?[target] ?? [] }

    // MARK: Sources

    /// Notes everything that is computed from a stored row, whichever of its values changes.
    mutating func noteRow(entity: Int, number: UInt32, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        let catalog = builder.catalog
        let watches = catalog.schema.derivations.watches[entity]
        if watches.isEmpty { return }
        for watch in watches {
            switch watch.way {
            case .members(let column):
                let value = try builder.value(
                    tree: catalog.entities[entity].tree, number: number, column: column)
                guard let value, let owner = CommitBuilder.number(of: value) else { continue }
                insert(watch.derivation, tree: catalog.entities[watch.entity].tree, owner)
            case .pairs: try noteOwners(ofMember: number, watch, &builder)
            case .path(let back): noteStarts(of: back, from: number, watch, &builder)
            }
        }
    }

    /// Notes what is computed through a reference of a stored row.
    mutating func noteReference(
        entity: Int, number: UInt32, column: Int, _ builder: inout CommitBuilder
    ) {
        for watch in builder.catalog.schema.derivations.watches[entity]
        where watch.column == column {
            if case .path(let back) = watch.way {
                noteStarts(of: back, from: number, watch, &builder)
            }
        }
    }

    /// Notes what derives from the existence of a pair. `entity` is the hidden entity of the pairs.
    mutating func notePair(
        entity: Int, source: UInt32, destination: UInt32, _ catalog: Catalog
    ) {
        let pairs = entity - catalog.schema.entities.count
        for watch in catalog.schema.derivations.pairWatches[pairs] {
            guard case .pairs(_, let ownerIsSource, let isSymmetric) = watch.way else { continue }
            let tree = catalog.entities[watch.entity].tree
            if ownerIsSource || isSymmetric { insert(watch.derivation, tree: tree, source) }
            if !ownerIsSource || isSymmetric { insert(watch.derivation, tree: tree, destination) }
        }
    }

    /// Notes the owners that have a stored row among the members of a relationship stored as pairs.
    mutating func noteOwners(
        ofMember number: UInt32, _ watch: SchemaDerivations.Watch, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard case .pairs(let pairs, let ownerIsSource, let isSymmetric) = watch.way else { return }
        let catalog = builder.catalog
        let entity = catalog.entityIndex(ofPairs: pairs)
        for memberSide in isSymmetric ? [0, 1] : [ownerIsSource ? 1 : 0] {
            guard let reference = catalog.reference(ofColumn: memberSide, entity: entity) else {
                continue
            }
            var rows: [UInt32] = []
            builder.sources(reference: reference, target: number, into: &rows)
            for row in rows {
                let ends = try builder.pair(entity: entity, number: row)
                insert(
                    watch.derivation, tree: catalog.entities[watch.entity].tree,
                    memberSide == 0 ? ends.1 : ends.0)
            }
        }
    }

    /// Notes the objects whose path refers to a row, or will refer to it.
    mutating func noteStarts(
        of back: [Derivation.Step], from number: UInt32, _ watch: SchemaDerivations.Watch,
        _ builder: inout CommitBuilder
    ) {
        let catalog = builder.catalog
        var reached: Set<UInt32> = [number]
        for step in back {
            guard let reference = catalog.reference(ofColumn: step.column, entity: step.entity)
            else { return }
            var sources: [UInt32] = []
            for target in reached {
                builder.sources(reference: reference, target: target, into: &sources)
                sources += leading(to: target, reference: reference)
            }
            reached = Set(sources)
        }
        for start in reached {
            insert(watch.derivation, tree: catalog.entities[watch.entity].tree, start)
        }
    }
}

extension CommitBuilder {
    /// Returns the value of a live row in a column; nil if there is no such row.
    mutating func value(tree: Int, number: UInt32, column: Int) throws(StoreError) -> Value? {
        let cell = state.directories[tree][number]
        guard !cell.isEmpty else {
            tools.partial?.miss(tree: tree, number: number)
            return nil
        }
        let entity = Int(state.blocks.entry(cell.handle).entity)
        let block = try block(cell.handle)
        return try value(block, cell.slot, entity: entity, column: column)
    }

    /// Returns the value of a column in a slot of a block.
    func value(_ block: CachedBlock, _ slot: Int, entity: Int, column: Int) throws(StoreError)
        -> Value
    {
        let stored = catalog.entities[entity]
        guard column < stored.columns.count else { return .null }
        let cells = try block.cells(stored.columns[column], at: column).pointee
        if cells.isNil(slot) { return .null }
        switch catalog.description(of: entity).columns[column].kind {
        case .reference(let root):
            return .objectID(
                identity.id(UInt64(bitPattern: cells.integer(slot)), entity: root))
        case .attribute(let type): return try Value.stored(cells, slot, type, block)
        }
    }
}
