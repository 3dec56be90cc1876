// Whether the classes of the program declare what a model has.
//
// On Apple's platforms a misspelt `@NSManaged` property, or one of the wrong type, is found when it is used, by an exception.
// Here it is found when a store is opened, all of them at once.
//
//   1. What was declared is found at run time; see `_ManagedProperty`.
//   2. A declaration is compared with each entity whose objects have it: those of the class, and of classes that inherit from
//      it. Classes that the model does not name are another model's.
//   3. Name and type have to fit. Whether a value may be missing is no matter of the type: Core Data's scalars are 0 then.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

/// The key of an option of stores: false if they are to be opened though classes of the program declare other properties than
/// the model has, as with the older version of a model.
public let NSManagedPropertyCheckOption = "NSManagedPropertyCheckOption"

/// The comparison of the program's classes with a model.
enum ManagedPropertyCheck {
    /// - Throws: `StoreError` with all that does not fit.
    static func check(_ resolution: ModelResolution, _ options: [AnyHashable: Any]?) throws {
        if options?[NSManagedPropertyCheckOption] as? Bool == false { return }
        let errors = errors(in: resolution)
        if errors.isEmpty { return }
        throw StoreError(
            .incompatibleModel,
            "classes declare properties that the model does not have, or has otherwise: \(errors.joined(separator: "; "))"
        )
    }

    /// What does not fit, a sentence each, by class and property.
    static func errors(in resolution: ModelResolution) -> [String] {
        let entities = resolution.schema.entities.compactMap { entity in
            objectType(of: entity, in: resolution).map { (entity, $0) }
        }
        // Nothing was declared for plain objects.
        guard entities.contains(where: { $0.1 != NSManagedObject.self }) else { return [] }
        var errors: Set<String> = []
        for property in _ManagedProperty.all {
            for (entity, type) in entities where isKind(type, of: property.owner) {
                if let error = error(of: property, in: entity, resolution) {
                    errors.insert("\(property.owner).\(error)")
                }
            }
        }
        return errors.sorted()
    }

    /// The class of an entity's objects.
    private static func objectType(of entity: SchemaEntity, in resolution: ModelResolution)
        -> NSManagedObject.Type?
    { resolution.classes.type(for: entity, in: resolution.schema) as? NSManagedObject.Type }

    /// Whether a class is another one, or inherits from it.
    static func isKind(_ type: AnyClass, of other: AnyClass) -> Bool {
        sequence(first: type, next: { _getSuperclass($0) }).contains { $0 == other }
    }

    private static func error(
        of property: _ManagedProperty, in entity: SchemaEntity, _ resolution: ModelResolution
    ) -> String? {
        if let function = property.function {
            return error(of: property, function: function, in: entity, resolution)
        }
        let name = property.name
        if let index = entity.attributeIndex(named: name) {
            let attribute = entity.attributes[index].description
            if ExpectedType(property.type).holds(attribute.type) { return nil }
            return
                "\(name): the attribute of the entity \(entity.name) is of type \(attribute.type.rawValue), which a \(property.type) cannot hold"
        }
        if let index = entity.relationshipIndex(named: name) {
            return ExpectedType(property.type).error(
                entity.relationships[index].description,
                destination: destination(of: entity.relationships[index], resolution)
            ).map { "\(name): the relationship of the entity \(entity.name) \($0)" }
        }
        if hasFetchedProperty(name, entity, resolution) { return nil }
        return "\(name): \(unknown("property", name, in: entity))"
    }

    private static func error(
        of property: _ManagedProperty, function: String, in entity: SchemaEntity,
        _ resolution: ModelResolution
    ) -> String? {
        let name = NSManagedObject.key(property.name) {
            entity.relationshipIndex(named: $0) != nil
        }
        guard let index = entity.relationshipIndex(named: name) else {
            return "\(function): \(unknown("relationship", name, in: entity))"
        }
        let relationship = entity.relationships[index]
        let description = relationship.description
        if !description.isToMany {
            return "\(function): the relationship \(name) of the entity \(entity.name) is to-one"
        }
        if property.isOrdered, !description.isOrdered {
            return
                "\(function): the relationship \(name) of the entity \(entity.name) is not ordered"
        }
        return ExpectedType(property.type).errorOfMembers(
            destination: destination(of: relationship, resolution)
        ).map { "\(function): the relationship \(name) of the entity \(entity.name) \($0)" }
    }

    private static func destination(
        of relationship: SchemaRelationship, _ resolution: ModelResolution
    ) -> (name: String, type: NSManagedObject.Type) {
        let entity = resolution.schema.entities[relationship.destination]
        return (entity.name, objectType(of: entity, in: resolution) ?? NSManagedObject.self)
    }

    private static func hasFetchedProperty(
        _ name: String, _ entity: SchemaEntity, _ resolution: ModelResolution
    ) -> Bool {
        sequence(first: entity) { $0.parent.map { resolution.schema.entities[$0] } }.contains {
            $0.description.fetchedProperties.contains { $0.name == name }
        }
    }

    /// Says that there is no such property, and which there are.
    private static func unknown(_ kind: String, _ name: String, in entity: SchemaEntity) -> String {
        let relationships = entity.relationships.map(\.description.name)
        let names =
            kind == "property"
            ? entity.attributes.map(\.description.name) + relationships : relationships
        let list = names.isEmpty ? "it has none" : "it has: \(names.joined(separator: ", "))"
        return "the entity \(entity.name) has no \(kind) \(name); \(list)"
    }
}
