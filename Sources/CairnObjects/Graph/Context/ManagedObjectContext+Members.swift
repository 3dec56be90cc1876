// The members of a to-many relationship as objects, with as little as there is to it.
//
//   1. If nobody has asked for them, they are read together with their rows: mostly their values are wanted next, and rows
//      that lie side by side are read in one go. Very many are not: then a row is read when its object is touched.
//   2. If they were read so and nothing was added or removed since, their objects are looked up by number, all at once. New
//      ones take the rows that were read ahead.
//
// All else goes by ids: new objects, members that were read ahead, relationships that the store does not answer so.
//
// Invariants: as `loadedMembers`, which finds the same members.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// So many members are read with their rows at most.
    private static let mostRows = 4096

    /// The objects that know members of relationships or results of fetched properties, in no order; others may be among them.
    var objectsWithMembers: [ManagedObject] {
        registry.objectsWithMembers.filter { $0.managedObjectContext === self }
    }

    /// Forgets the members of all relationships to some hierarchies: objects of those that were as good as deleted are there
    /// again, and whatever was read meanwhile was read without them.
    ///
    /// - Parameter roots: the roots of the hierarchies.
    func forgetMembers(under roots: Set<Int>) {
        if roots.isEmpty { return }
        for object in objectsWithMembers {
            let isAny = object.toMany.contains { index, state in
                let destination = object.entity.relationships[index].destination
                return state.isLoaded && roots.contains(schema.entities[destination].root)
            }
            if isAny { object.unloadMembers() }
        }
    }

    /// The members of a to-many, in their order or by ascending id; nil if they are to be found by their ids.
    func membersWithRows(of object: ManagedObject, _ index: Int) -> [ManagedObject]? {
        guard !object.hasTemporaryID,
            prefetched?.members[.init(owner: object.objectID, index: index)] == nil,
            object.flags.isDisjoint(with: [.inserted, .gone, .foreign])
        else { return nil }
        guard let state = object.rarer?.toMany[index] else { return readMembers(of: object, index) }
        if let numbers = state.numbers { return members(numbers, of: object, index) }
        return state.isLoaded || state.hasChanges ? nil : readMembers(of: object, index)
    }

    /// Reads the members with their rows.
    private func readMembers(of object: ManagedObject, _ index: Int) -> [ManagedObject]? {
        let relationship = object.entity.relationships[index]
        let column: Int?
        switch relationship.storage {
        case .inverseColumn(_, let inverse): column = inverse
        // Who leads here by an edit that was lost is found by ids.
        case .pairs where !hasLostLinks: column = nil
        case .pairs, .column, .transient: return nil
        }
        var members: [ManagedObject] = []
        let start = board.wants([.faultMisses, .advice]) ? Self.now() : nil
        do {
            let isAnswered = try readRelated(index, of: object) {
                appendObjects(for: $0, to: &members)
            }
            guard isAnswered else { return nil }
        } catch {
            if let start { tellOfMembers([], of: object, index, since: start, error: error) }
            readError = error
            return []
        }
        if let start {
            tellOfMembers(members.map(\.objectID), of: object, index, since: start)
        }
        if members.contains(where: { isElsewhere($0, from: object, relationship, column) }) {
            members.removeAll { isElsewhere($0, from: object, relationship, column) }
        }
        if relationship.description.isOrdered {
            var state = ToManyState(isOrdered: true)
            state.load(ordered: members.map(\.objectID))
            object.toMany[index] = state
            return members
        }
        let destination = schema.entities[relationship.destination]
        object.toMany[index] = ToManyState(
            numbers: members.map { $0.reference & StoreNumbers.mask },
            members.first.map { RowOrigin(like: $0.objectID) }
                ?? RowOrigin(identity, entity: destination.index))
        return members
    }

    /// Passes the rows of the members from a store that finds them at once; false if there is none.
    private func readRelated(
        _ index: Int, of object: ManagedObject, _ body: (StreamedRows) -> Void
    ) throws(StoreError) -> Bool {
        guard let keyedSource else {
            return try coordinatedSource?.readRelated(
                index, of: object.objectID, object.entity, most: Self.mostRows, rowRoom, body)
                ?? false
        }
        return try keyedSource.related(
            index, entity: object.entity.index, owner: object.reference, most: Self.mostRows,
            rowRoom, body)
    }

    /// Whether a stored member is none here: it was moved, or is as good as deleted.
    @inline(__always)
    private func isElsewhere(
        _ member: ManagedObject, from owner: ManagedObject, _ relationship: SchemaRelationship,
        _ column: Int?
    ) -> Bool {
        if isDeleted(member, from: relationship) { return true }
        // Mostly there is nothing that could be an edit; pairs are none of the member's columns.
        guard let column, member.slots != nil, let edit = member.edit(column) else { return false }
        return edit.reference != owner.objectID
    }

    /// The objects of members whose numbers are known; nil if the class of one is not.
    private func members(_ numbers: [UInt64], of object: ManagedObject, _ index: Int)
        -> [ManagedObject]?
    {
        let destination = schema.entities[object.entity.relationships[index].destination]
        let scope = scope(of: destination)
        guard schema.entities[destination.root].family.count == 1, let place = scope.place else {
            return nil
        }
        var members: [ManagedObject] = []
        members.reserveCapacity(numbers.count)
        // Which store they are of their owner says.
        let store = object.reference & ~StoreNumbers.mask
        let numbers = store == 0 ? numbers : numbers.map { store | $0 }
        let ahead = prefetched?.rows
        numbers.withUnsafeBufferPointer { numbers in
            guard let first = numbers.baseAddress else { return }
            registry.objects(first, numbers.count, at: place, in: &members) { _, _ in
            } new: { index in
                let object = fault(first[index], scope)
                if let row = ahead?[identity.id(first[index], entity: destination.index)] {
                    object.take(row)
                }
                return object
            }
        }
        return members
    }
}
