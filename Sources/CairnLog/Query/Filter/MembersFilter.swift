// A condition on any member of a to-many relationship.
//
//   1. For the first few rows their members are tested, one after the other.
//   2. After that all objects at the other end are tested, block by block, and the numbers of their owners
//      are collected; for pairs by way of the pairs. From then on a row costs a bit test.
//
// Threads: the condition is immutable; what it found belongs to one reading.

import CairnFormat
import CairnModel
import CairnStore

/// A condition across a to-many relationship.
final class MembersFilter: Sendable {
    /// The relationship, as an index in its entity.
    let relationship: Int
    let owner: Int
    /// The condition on a member.
    let inner: Filter

    init(relationship: Int, of owner: Int, inner: Filter) {
        self.relationship = relationship
        self.owner = owner
        self.inner = inner
    }

    /// The result so far.
    final class Selection {
        /// The number of rows that were tested individually.
        fileprivate var asked = 0
        fileprivate var owners: OwnerSet?
    }

    /// The number of rows that are tested individually.
    private static let few = 32

    /// Sets a byte of 0 or 1 for each row of the mask.
    func evaluate(
        _ place: FilterPlace, _ mask: UnsafePointer<UInt8>, _ objects: StoredObjects,
        into out: UnsafeMutablePointer<UInt8>
    ) throws(StoreError) {
        let rows = place.block.rows
        let numbers = try place.block.numbers()
        let selection = objects.selection(of: self, Selection())
        out.update(repeating: 0, count: rows)
        if selection.owners == nil {
            for row in 0..<rows where mask[row] != 0 { selection.asked += 1 }
            if selection.asked > Self.few { selection.owners = try owners(objects) }
        }
        guard let owners = selection.owners else {
            for row in 0..<rows where mask[row] != 0 {
                out[row] = try matches(place, row, objects) ? 1 : 0
            }
            return
        }
        for row in 0..<rows { out[row] = owners.contains(numbers.number(row)) ? 1 : 0 }
    }

    func matches(_ place: FilterPlace, _ slot: Int, _ objects: StoredObjects) throws(StoreError)
        -> Bool
    {
        let entity = objects.catalog.description(of: owner)
        let directory = objects.state.directories[tree(objects)]
        let number = try place.block.numbers().number(slot)
        for member in try objects.members(relationship, of: entity, number) {
            let cell = directory[member]
            guard !cell.isEmpty else { continue }
            if try inner.matches(try objects.place(of: cell), cell.slot, objects) { return true }
        }
        return false
    }

    private func description(_ objects: StoredObjects) -> SchemaRelationship {
        objects.catalog.description(of: owner).relationships[relationship]
    }

    /// The tree of the members.
    private func tree(_ objects: StoredObjects) -> Int {
        objects.catalog.entities[description(objects).destination].tree
    }

    // MARK: All at once

    /// Returns the numbers of the owners of a matching member.
    private func owners(_ objects: StoredObjects) throws(StoreError) -> OwnerSet {
        let state = objects.state
        let catalog = objects.catalog
        let description = description(objects)
        let owners = OwnerSet(below: state.nextNumbers[catalog.entities[owner].tree])
        switch description.storage {
        case .transient, .column: break
        case .inverseColumn(let destination, let column):
            try forEachMember(of: destination, objects) { place, slots throws(StoreError) in
                guard let cells = try place.block.column(place.stored.columns[column]) else {
                    return
                }
                for slot in 0..<place.block.rows where slots[slot] != 0 && !cells.isNil(at: slot) {
                    owners.insert(cells.number(slot))
                }
            }
        case .pairs(let pairs, let isSource):
            let members = OwnerSet(below: state.nextNumbers[tree(objects)])
            try forEachMember(of: description.destination, objects) {
                place, slots throws(StoreError) in
                let numbers = try place.block.numbers()
                for slot in 0..<place.block.rows where slots[slot] != 0 {
                    members.insert(numbers.number(slot))
                }
            }
            let near = isSource ? 0 : 1
            try collect(pairs, near: near, members, into: owners, objects)
            if state.isOwnInverse(description) {
                try collect(pairs, near: 1, members, into: owners, objects)
            }
        }
        return owners
    }

    /// Iterates over the blocks of an entity and its descendants, with the live rows that match.
    private func forEachMember(
        of entity: Int, _ objects: StoredObjects,
        _ body: (FilterPlace, UnsafeMutablePointer<UInt8>) throws(StoreError) -> Void
    ) throws(StoreError) {
        let most = FormatLimits.maximumRows
        let live = UnsafeMutablePointer<UInt8>.allocate(capacity: most)
        let slots = UnsafeMutablePointer<UInt8>.allocate(capacity: most)
        defer {
            live.deallocate()
            slots.deallocate()
        }
        for entity in objects.catalog.family(of: entity) {
            try objects.forEachBlock(of: entity) { place, entry throws(StoreError) in
                entry.copyLive(to: live)
                try inner.evaluate(place, live, objects, into: slots)
                for slot in 0..<place.block.rows { slots[slot] &= live[slot] }
                try body(place, slots)
            }
        }
    }

    /// Collects the near ends of the pairs whose far end is a member.
    private func collect(
        _ pairs: Int, near: Int, _ members: OwnerSet, into owners: OwnerSet,
        _ objects: StoredObjects
    ) throws(StoreError) {
        try objects.forEachBlock(of: objects.catalog.entityIndex(ofPairs: pairs)) {
            place, entry throws(StoreError) in
            guard let here = try place.block.column(place.stored.columns[near]),
                let there = try place.block.column(place.stored.columns[1 - near])
            else { return }
            for slot in 0..<place.block.rows
            where entry.isLive(slot) && !here.isNil(at: slot) && !there.isNil(at: slot) {
                if members.contains(there.number(slot)) { owners.insert(here.number(slot)) }
            }
        }
    }
}

extension StoredObjects {
    /// Iterates over the blocks of an entity that have live rows.
    func forEachBlock(
        of entity: Int, _ body: (FilterPlace, BlockEntry) throws(StoreError) -> Void
    ) throws(StoreError) {
        let stored = catalog.entities[entity]
        var handle = state.blocks.first(ofEntity: entity)
        while handle != .none {
            let entry = state.blocks.entry(handle)
            if entry.live > 0 {
                try body(
                    FilterPlace(block: try block(entry), stored: stored, entity: entity), entry)
            }
            handle = state.blocks.next(after: entry)
        }
    }
}

extension BlockEntry {
    /// Writes a byte of 1 for each live row, and 0 for the others.
    func copyLive(to bytes: UnsafeMutablePointer<UInt8>) {
        for start in stride(from: 0, to: Int(rows), by: 64) {
            var live = liveWord(start >> 6)
            for slot in start..<min(start + 64, Int(rows)) {
                bytes[slot] = UInt8(truncatingIfNeeded: live & 1)
                live &>>= 1
            }
        }
    }
}
