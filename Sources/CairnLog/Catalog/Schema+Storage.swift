// Whether two models store the same things.

package import CairnModel
import CairnStore

extension Schema {
    /// Returns whether a store with the other schema needs no migration to this one: stored properties, their
    /// names, uniqueness constraints, defaults, delete rules and renaming identifiers (which later versions
    /// need) are the same. Texts, indexes, validation and requests may differ, and so may the side of a
    /// relationship that declares the inverse.
    package func hasSameStorage(as other: Schema) -> Bool {
        storage == other.storage && renamings == other.renamings
    }

    /// Whether a store created with the other schema can be read and written with this one as it is: the same
    /// except for defaults and delete rules, which rows do not depend on.
    func hasSameForm(as other: Schema) -> Bool {
        storage.map(\.form) == other.storage.map(\.form)
    }

    /// The same schema with entities, properties and constraints in the order of another one; nil if that has
    /// other entities.
    func ordered(like other: Schema) -> Schema? {
        model.ordered(like: other.model).flatMap { try? Schema($0, isStored: true) }
    }

    /// Whether the version hashes of all entities are the same, whichever side of a relationship declares the
    /// inverse.
    func hasSameVersion(as other: Schema) -> Bool {
        model.entityVersionHashesByName == other.model.entityVersionHashesByName
            || modelWithInverses.entityVersionHashesByName
                == other.modelWithInverses.entityVersionHashesByName
    }

    /// The model with the names of inverses on both sides.
    private var modelWithInverses: ManagedObjectModel {
        var model = model
        for (place, entity) in zip(model.entities.indices, entities) {
            for index in model.entities[place].relationships.indices {
                let name = model.entities[place].relationships[index].name
                guard let own = entity.relationshipIndex(named: name),
                    let inverse = entity.relationships[own].inverse
                else { continue }
                let destination = entities[entity.relationships[own].destination]
                model.entities[place].relationships[index].inverseName =
                    destination.relationships[inverse].description.name
            }
        }
        return model
    }

    /// Returns what differs, in a few words.
    package func difference(to other: Schema) -> String {
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
        let different = entitiesStoredOtherwise(than: other)
        if different.isEmpty, hasSameVersion(as: other), renamings != other.renamings {
            return "renaming identifiers differ"
        }
        if different.isEmpty {
            let mismatch = ModelMismatch(store: other.model, model: model)
            return "it has another version: \(mismatch)"
        }
        return "the entity \(different.joined(separator: ", ")) differs"
    }

    /// Returns the names of the entities that the other schema stores differently.
    package func entitiesStoredOtherwise(than other: Schema) -> [String] {
        let theirs = Dictionary(other.storage.map { ($0.name, $0) }) { first, _ in first }
        return storage.filter { theirs[$0.name] != $0 }.map(\.name)
    }

    /// The renaming identifiers that differ from names, by the elements that have them.
    private var renamings: [String: String] {
        var renamings: [String: String] = [:]
        func note(_ place: String, _ name: String, _ identifier: String?) {
            guard let identifier, !identifier.isEmpty, identifier != name else { return }
            renamings[place] = identifier
        }
        func note(_ attributes: [AttributeDescription], in place: String) {
            for attribute in attributes where !attribute.isTransient {
                let own = "\(place).\(attribute.name)"
                note(own, attribute.name, attribute.renamingIdentifier)
                note(attribute.elements, in: own)
            }
        }
        for entity in model.entities {
            note(entity.name, entity.name, entity.renamingIdentifier)
            note(entity.attributes, in: entity.name)
            for relationship in entity.relationships where !relationship.isTransient {
                note(
                    "\(entity.name).\(relationship.name)", relationship.name,
                    relationship.renamingIdentifier)
            }
        }
        return renamings
    }

    private var storage: [EntityDescription] {
        entities.map(storage).sorted { $0.name < $1.name }
    }

    /// An entity without the parts that are not stored.
    private func storage(_ entity: SchemaEntity) -> EntityDescription {
        var stored = EntityDescription(entity.name)
        stored.isAbstract = entity.isAbstract
        stored.superentityName = entity.description.superentityName
        stored.uniquenessConstraints =
            entity.description.uniquenessConstraints
            + entity.description.uniquenessRules.filter(\.isPlain).map(\.names)
        stored.uniquenessRules = entity.description.uniquenessRules.filter { !$0.isPlain }
        stored.attributes = entity.description.attributes.filter { !$0.isTransient }.map(\.storage)
        stored.relationships = entity.relationships.compactMap { relationship in
            let description = relationship.description
            guard relationship.declaringEntity == entity.index, !description.isTransient else {
                return nil
            }
            let inverse = relationship.inverse.map { index in
                entities[relationship.destination].relationships[index].description
            }
            var stored = RelationshipDescription(
                description.name, to: description.destinationEntityName,
                toMany: description.isToMany,
                inverse: inverse.flatMap { $0.isTransient ? nil : $0.name },
                deleteRule: description.deleteRule)
            stored.isOptional = description.isOptional
            stored.isOrdered = description.isOrdered
            return stored
        }
        return stored
    }
}

extension EntityDescription {
    /// The same without parts that affect only new objects, and deletions.
    fileprivate var form: EntityDescription {
        var entity = self
        entity.attributes = attributes.map(\.form)
        for index in entity.relationships.indices {
            entity.relationships[index].deleteRule = .nullify
        }
        return entity
    }
}

extension AttributeDescription {
    fileprivate var form: AttributeDescription {
        var attribute = self
        attribute.defaultValue = .null
        attribute.elements = elements.map(\.form)
        return attribute
    }

    fileprivate var storage: AttributeDescription {
        var attribute = AttributeDescription(
            name, type, optional: isOptional, default: defaultValue)
        attribute.elements = elements.map(\.storage)
        // The stored values are computed by it.
        attribute.derivationExpression = derivationExpression
        return attribute
    }
}
