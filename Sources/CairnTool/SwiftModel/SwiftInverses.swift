// Determines which side of each pair of relationships declares the other as its inverse.
//
// Only one side can declare it with a key path, otherwise the compiler reports a circular reference: the side
// that the model names first, or the only one that declares it in the model. A relationship that is its own
// inverse declares it by name.

import CairnModel

/// The relationships that declare their inverse.
struct SwiftInverses {
    /// A relationship of the entity that declares it.
    private struct Side: Hashable {
        let entity: Int
        let name: String
    }

    /// The inverses of the sides that declare one.
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
                // The other side declares it if it is the only one in the model.
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

    /// Returns the inverse that a relationship declares; nil if it declares none.
    func inverse(of name: String, declaredIn entity: Int) -> SchemaRelationship? {
        named[Side(entity: entity, name: name)]
    }
}
