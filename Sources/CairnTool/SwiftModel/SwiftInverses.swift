// Which side of each pair of relationships says that the other is its inverse.
//
// One side alone can say it by a key path, or the compiler goes in circles: the one that the model names first, or the
// only one that says it in the model. A relationship that is its own inverse says it by name.

import CairnModel

/// The relationships that name their inverse.
struct SwiftInverses {
    /// A relationship, by the entity that declares it.
    private struct Side: Hashable {
        let entity: Int
        let name: String
    }

    /// The inverses of the sides that name one.
    private var named: [Side: SchemaRelationship] = [:]

    init(_ schema: Schema) {
        var done: Set<Side> = []
        for entity in schema.entities {
            for relationship in entity.relationships
            where relationship.declaringEntity == entity.index {
                let side = Side(entity: entity.index, name: relationship.description.name)
                guard let inverse = relationship.inverse, !done.contains(side) else { continue }
                let other = schema.entities[relationship.destination].relationships[inverse]
                let otherSide = Side(
                    entity: other.declaringEntity, name: other.description.name)
                // The other side will, if it alone does in the model.
                if relationship.description.inverseName == nil { continue }
                if relationship.description.isTransient || other.description.isTransient {
                    continue
                }
                done.insert(side)
                if other.description.inverseName == side.name { done.insert(otherSide) }
                named[side] = other
            }
        }
    }

    /// The inverse that a relationship names; nil if it names none.
    func inverse(of name: String, declaredIn entity: Int) -> SchemaRelationship? {
        named[Side(entity: entity, name: name)]
    }
}
