// A condition on the target of a to-one relationship.
//
// A condition that can be evaluated on whole blocks is evaluated once on each block at the other end, when
// the first row refers to the block; any other condition once on each object. After that a row costs a
// directory lookup.
//
// Threads: the condition is immutable; its selections belong to one reading.

import CairnFormat
import CairnStore

/// A condition across a to-one relationship.
final class ThroughFilter: Sendable {
    let column: Int
    /// The tree of the objects at the other end.
    let tree: Int
    /// The condition on them.
    let inner: Filter
    /// The result if there is no object.
    let ifNil: Bool
    private let isWhole: Bool

    init(column: Int, tree: Int, inner: Filter, ifNil: Bool) {
        self.column = column
        self.tree = tree
        self.inner = inner
        self.ifNil = ifNil
        isWhole = !inner.isGeneral
    }

    /// The results: by handle, a byte for each slot.
    final class Selections {
        fileprivate var blocks: [UnsafeMutablePointer<UInt8>?] = []

        deinit { for block in blocks { block?.deallocate() } }
    }

    private static let unknown: UInt8 = 2

    /// Sets a byte of 0 or 1 for each row of the mask.
    func evaluate(
        _ place: FilterPlace, _ mask: UnsafePointer<UInt8>, _ objects: StoredObjects,
        into out: UnsafeMutablePointer<UInt8>
    ) throws(StoreError) {
        let rows = place.block.rows
        out.update(repeating: ifNil ? 1 : 0, count: rows)
        guard let cells = try place.block.column(place.stored.columns[column]) else { return }
        let selections = objects.selection(of: self, Selections())
        let directory = objects.state.directories[tree]
        for row in 0..<rows where mask[row] != 0 && !cells.isNil(at: row) {
            let cell = directory[cells.number(row)]
            if cell.isEmpty { continue }
            out[row] = try holds(cell, selections, objects) ? 1 : 0
        }
    }

    func matches(_ place: FilterPlace, _ slot: Int, _ objects: StoredObjects) throws(StoreError)
        -> Bool
    {
        guard let cells = try place.block.column(place.stored.columns[column]),
            !cells.isNil(at: slot)
        else { return ifNil }
        let cell = objects.state.directories[tree][cells.number(slot)]
        if cell.isEmpty { return ifNil }
        return try inner.matches(try objects.place(of: cell), cell.slot, objects)
    }

    @inline(__always)
    private func holds(
        _ cell: DirectoryCell, _ selections: Selections, _ objects: StoredObjects
    ) throws(StoreError) -> Bool {
        let index = Int(cell.handle.raw)
        if index < selections.blocks.count, let known = selections.blocks[index],
            known[cell.slot] != Self.unknown
        {
            return known[cell.slot] != 0
        }
        return try find(cell, selections, objects)
    }

    private func find(
        _ cell: DirectoryCell, _ selections: Selections, _ objects: StoredObjects
    ) throws(StoreError) -> Bool {
        let place = try objects.place(of: cell)
        let index = Int(cell.handle.raw)
        while selections.blocks.count <= index { selections.blocks.append(nil) }
        let found: UnsafeMutablePointer<UInt8>
        if let known = selections.blocks[index] {
            found = known
        } else {
            found = .allocate(capacity: place.block.rows)
            found.initialize(repeating: Self.unknown, count: place.block.rows)
            selections.blocks[index] = found
            if isWhole { try evaluate(place, cell.handle, objects, into: found) }
        }
        if found[cell.slot] == Self.unknown {
            found[cell.slot] = try inner.matches(place, cell.slot, objects) ? 1 : 0
        }
        return found[cell.slot] != 0
    }
}

extension ThroughFilter {
    /// Evaluates the condition on a whole block; large values are only read for live rows, since those of
    /// others may be gone.
    private func evaluate(
        _ place: FilterPlace, _ handle: BlockHandle, _ objects: StoredObjects,
        into found: UnsafeMutablePointer<UInt8>
    ) throws(StoreError) {
        let entry = objects.state.blocks.entry(handle)
        guard entry.hasReferences else {
            return try inner.evaluate(place, nil, objects, into: found)
        }
        let live = UnsafeMutablePointer<UInt8>.allocate(capacity: place.block.rows)
        defer { live.deallocate() }
        entry.copyLive(to: live)
        try inner.evaluate(place, live, objects, into: found)
    }
}

extension StoredObjects {
    /// Returns the block that contains a row, as filters use it.
    func place(of cell: DirectoryCell) throws(StoreError) -> FilterPlace {
        let entity = Int(state.blocks.entry(cell.handle).entity)
        return FilterPlace(
            block: try block(cell.handle), stored: catalog.entities[entity], entity: entity)
    }
}
