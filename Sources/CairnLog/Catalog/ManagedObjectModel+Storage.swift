// Whether two models keep the same things.

import CairnModel

extension ManagedObjectModel {
    /// Whether a store made with the other model can be used with this one as it is: what is stored, how it
    /// is named and what is unique are the same. Texts for people, indexes and requests may differ.
    func hasSameStorage(as other: ManagedObjectModel) -> Bool {
        storage == other.storage
    }

    /// What differs, in a few words.
    func difference(to other: ManagedObjectModel) -> String {
        let (mine, theirs) = (storage, other.storage)
        let names = Set(mine.map(\.name)), otherNames = Set(theirs.map(\.name))
        let added = names.subtracting(otherNames).sorted()
        let missing = otherNames.subtracting(names).sorted()
        if !added.isEmpty || !missing.isEmpty {
            let parts =
                added.map { "the store lacks the entity \($0)" }
                + missing.map { "the model lacks the entity \($0)" }
            return parts.joined(separator: ", ")
        }
        let differing = mine.filter { entity in
            theirs.first { $0.name == entity.name } != entity
        }
        return "the entity \(differing.map(\.name).joined(separator: ", ")) differs"
    }

    private var storage: [EntityDescription] {
        entities.map(\.storage).sorted { $0.name < $1.name }
    }
}

extension EntityDescription {
    /// The entity without what is not stored.
    fileprivate var storage: EntityDescription {
        var entity = EntityDescription(name)
        entity.isAbstract = isAbstract
        entity.superentityName = superentityName
        entity.uniquenessConstraints = uniquenessConstraints
        entity.attributes = attributes.filter { !$0.isTransient }.map(\.storage)
        entity.relationships = relationships.filter { !$0.isTransient }.map { relationship in
            var stored = RelationshipDescription(
                relationship.name, to: relationship.destinationEntityName,
                toMany: relationship.isToMany, inverse: relationship.inverseName,
                deleteRule: relationship.deleteRule)
            stored.isOptional = relationship.isOptional
            stored.isOrdered = relationship.isOrdered
            return stored
        }
        return entity
    }
}

extension AttributeDescription {
    fileprivate var storage: AttributeDescription {
        var attribute = AttributeDescription(
            name, type, optional: isOptional, default: defaultValue)
        attribute.elements = elements.map(\.storage)
        // What is stored is computed by it.
        attribute.derivationExpression = derivationExpression
        return attribute
    }
}
