// How the order of ordered to-many relationships is stored: next to the references that determine the members.
//
// A member row that leads to its owner, or the row of a pair, has an order key for each list that it is in. The keys are the
// store's business: they are no columns of an entity, and nobody but a store sees them.

extension Schema {
    /// For each entity: the columns that have an order key, ascending; those of the parent first.
    static func orderedReferences(_ entities: [SchemaEntity]) -> [[Int]] {
        entities.map { entity in
            entity.columns.indices.filter { column in
                guard let index = entity.columns[column].relationship else { return false }
                let relationship = entity.relationships[index]
                guard let inverse = relationship.inverse else { return false }
                return entities[relationship.destination].relationships[inverse].keepsOrder
            }
        }
    }

    /// The ends of a pair that have an ordered list of the others: 0 for the source, 1 for the destination.
    package func orderedEnds(of pairs: SchemaPairs) -> [Int] {
        var ends: [Int] = []
        if entities[pairs.source].relationships[pairs.sourceRelationship].keepsOrder {
            ends.append(0)
        }
        if let back = pairs.destinationRelationship,
            entities[pairs.destination].relationships[back].keepsOrder
        {
            ends.append(1)
        }
        return ends
    }
}

extension SchemaRelationship {
    /// Whether the order of its members is stored.
    package var keepsOrder: Bool {
        description.isToMany && description.isOrdered && storage != .transient
    }
}
