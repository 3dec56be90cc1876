// What changed in written rows: the properties, and the owners whose members changed.
//
// Who follows a change needs more than the ids of the objects: whether anything differs that concerns it, and to whom an
// object led before, which its new row does not say.
//
// Invariants: several changes together say at least what each of them says. What is not said of a changed object is not
// known, unless the changes as a whole say that nothing differs.
// Threads: values.

package import CairnModel

/// Which properties of an object differ.
package struct RowDifference: Sendable, Hashable {
    /// Columns, as indexes of the entity's; with that of a reference also if the place in the list of its owner differs.
    package var columns: ColumnSet
    /// Relationships that are kept as pairs, as indexes of the entity's.
    package var relationships: ColumnSet

    /// Whether it is all of them, as of an object that is gone.
    package var isEverything: Bool

    package init(
        columns: ColumnSet = ColumnSet(), relationships: ColumnSet = ColumnSet(),
        isEverything: Bool = false
    ) {
        self.columns = columns
        self.relationships = relationships
        self.isEverything = isEverything
    }

    /// Whether a column may differ.
    package func concerns(_ column: Int) -> Bool { isEverything || columns.contains(column) }

    /// Adds what differs by another change.
    package mutating func formUnion(_ other: RowDifference) {
        columns = columns.union(other.columns)
        relationships = relationships.union(other.relationships)
        if other.isEverything { isEverything = true }
    }
}

/// A to-many relationship that is kept in a column of its members: the same for all entities that inherit it.
package struct MemberList: Sendable, Hashable {
    /// The entity that declares it.
    package let entity: Int
    /// Its index among the relationships.
    package let relationship: Int

    package init(entity: Int, relationship: Int) {
        self.entity = entity
        self.relationship = relationship
    }
}

/// What differs in all rows that a commit wrote.
package struct RowChanges: Sendable {
    /// Objects in which the same differs.
    package struct Group: Sendable, Hashable {
        /// That of the objects itself.
        package let entity: Int
        package let difference: RowDifference

        package init(entity: Int, difference: RowDifference) {
            self.entity = entity
            self.difference = difference
        }
    }

    /// The changed objects; of several commits an object may be in more than one group.
    package private(set) var updated: [Group: ObjectNumbers] = [:]
    /// By to-many relationship, who has other members or has them in another order, and those that are no more: before and
    /// after each commit.
    package private(set) var owners: [MemberList: ObjectNumbers] = [:]

    /// Of commits that wrote more objects than this nothing is said: whoever follows them looks at more than those anyway.
    package static let mostObjects = 1024

    /// Nothing differs.
    package init() {}

    package init(updated: [Group: [UInt64]], owners: [MemberList: [UInt64]]) {
        self.updated = updated.mapValues { ObjectNumbers($0) }
        self.owners = owners.mapValues { ObjectNumbers($0) }
    }

    /// How many runs of numbers it keeps.
    package var runs: Int {
        updated.values.reduce(0) { $0 + $1.runs.count }
            + owners.values.reduce(0) { $0 + $1.runs.count }
    }

    /// Adds what differs by another commit.
    package mutating func formUnion(_ other: RowChanges) {
        for (group, numbers) in other.updated {
            updated[group, default: ObjectNumbers()].formUnion(numbers)
        }
        for (list, numbers) in other.owners {
            owners[list, default: ObjectNumbers()].formUnion(numbers)
        }
    }

    /// The same with the number of a store in the numbers of the objects; see `StoreNumbers`.
    package func moved(to store: UInt32) -> RowChanges {
        var moved = RowChanges()
        moved.updated = updated.mapValues { $0.moved(to: store) }
        moved.owners = owners.mapValues { $0.moved(to: store) }
        return moved
    }
}

extension Schema {
    /// The to-many relationships that are kept in columns of an entity, with those columns.
    package func memberLists(in entity: SchemaEntity) -> [(column: Int, list: MemberList)] {
        entity.columns.indices.compactMap { column in
            guard let index = entity.columns[column].relationship else { return nil }
            let forward = entity.relationships[index]
            guard let inverse = forward.inverse else { return nil }
            let back = entities[forward.destination].relationships[inverse]
            guard case .inverseColumn = back.storage else { return nil }
            return (column, MemberList(entity: back.declaringEntity, relationship: inverse))
        }
    }
}
