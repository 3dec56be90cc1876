// What differs in rows that were written: which properties, and whose members are others now.
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

    package init(columns: ColumnSet = ColumnSet(), relationships: ColumnSet = ColumnSet()) {
        self.columns = columns
        self.relationships = relationships
    }

    /// Adds what differs by another change.
    package mutating func formUnion(_ other: RowDifference) {
        columns = columns.union(other.columns)
        relationships = relationships.union(other.relationships)
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
