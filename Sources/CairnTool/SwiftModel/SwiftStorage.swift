// The stored part of the model that the generated classes define: whether a store of one opens with the
// other.
//
// This follows `TypedEntity` and `TypedProperty`.

import CairnInspection
import CairnLog
import CairnModel

/// The model that the classes store.
struct SwiftStorage {
    let source: Schema
    let names: SwiftModelNames
    let composites: SwiftComposites
    let inverses: SwiftInverses

    private var paths: SwiftPaths {
        SwiftPaths(schema: source, names: names, composites: composites)
    }

    /// The entities that the classes store differently from the model; all if the classes define no valid
    /// schema.
    var otherEntities: [String] {
        let model = ManagedObjectModel(entities: source.entities.map(entity))
        guard let said = try? Schema(model) else { return source.entities.map(\.name) }
        return said.entitiesStoredOtherwise(than: source)
    }

    private func entity(_ entity: SchemaEntity) -> EntityDescription {
        var said = EntityDescription(entity.name)
        said.isAbstract = entity.isAbstract
        said.superentityName = entity.description.superentityName
        said.attributes = entity.description.attributes.compactMap { attribute($0, entity) }
        said.relationships = entity.relationships.compactMap { relationship in
            relationship.declaringEntity == entity.index
                ? self.relationship(relationship, entity) : nil
        }
        said.uniquenessConstraints = entity.description.uniquenessConstraints.compactMap { names in
            let columns = names.compactMap { paths.column($0, entity) }
            return columns.count == names.count ? columns : nil
        }
        said.uniquenessRules = entity.description.uniquenessRules.compactMap { rule in
            var said = rule
            said.names = rule.names.compactMap { paths.column($0, entity) }
            if let predicate = rule.predicate {
                guard let condition = paths.condition(predicate, of: entity) else { return nil }
                said.predicate = condition
            }
            return said.names.count == rule.names.count ? said : nil
        }
        return said
    }

    private func name(_ property: String, _ entity: SchemaEntity) -> String {
        SwiftIdentifier.plain(names.property(property, declaredIn: entity.index))
    }

    private func attribute(_ attribute: AttributeDescription, _ entity: SchemaEntity)
        -> AttributeDescription?
    {
        if attribute.isTransient { return nil }
        let name = name(attribute.name, entity)
        guard attribute.type == .composite else {
            var said = SwiftAttribute(attribute).stored(name: name)
            said.derivationExpression = attribute.derivationExpression.flatMap {
                paths.derivation($0, of: entity)
            }
            return said
        }
        guard let elements = composites.stored(of: attribute, in: entity.description) else {
            return nil
        }
        var said = AttributeDescription(name, .composite, optional: attribute.isOptional)
        said.elements = elements
        return said
    }

    private func relationship(_ relationship: SchemaRelationship, _ entity: SchemaEntity)
        -> RelationshipDescription?
    {
        let description = relationship.description
        if description.isTransient { return nil }
        let inverse = inverses.inverse(of: description.name, declaredIn: entity.index)
        var said = RelationshipDescription(
            name(description.name, entity), to: description.destinationEntityName,
            toMany: description.isToMany,
            inverse: inverse.map {
                name($0.description.name, source.entities[$0.declaringEntity])
            }, deleteRule: description.deleteRule)
        said.isOptional = description.isOptional
        said.isOrdered = description.isOrdered
        return said
    }
}
