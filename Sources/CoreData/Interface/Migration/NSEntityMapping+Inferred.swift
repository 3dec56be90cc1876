// What Core Data says of an entity mapping that it has inferred, and programs look at: the name, by which they tell it from one
// of Xcode's, and which properties stay, come and go.

import CairnModel

extension NSEntityMapping {
    /// Gives a mapping that a plan was drafted to the name and the information that Core Data gives one.
    func nameAsInferred(by plan: ModelMigrationPlan) {
        let word =
            switch mappingType {
            case .addEntityMappingType: "Add"
            case .removeEntityMappingType: "Remove"
            case .copyEntityMappingType: "Copy"
            default: "Transform"
            }
        name = "IEM_\(word)_\(destinationEntityName ?? sourceEntityName ?? "")"
        let old = sourceEntityName.flatMap(plan.oldSchema.entity(named:))
        var mapped: Set<String> = []
        var added: Set<String> = []
        var removed = Set(old?.propertyNames ?? [])
        if let new = destinationEntityName.flatMap(plan.newSchema.entity(named:)) {
            for name in new.propertyNames {
                if let before = plan.formerProperty(of: name, in: new) {
                    mapped.insert(name)
                    removed.remove(before)
                } else {
                    added.insert(name)
                }
            }
        }
        userInfo = [
            "mappedProperties": mapped, "addedProperties": added, "removedProperties": removed,
        ]
    }
}

extension ModelMigrationPlan {
    /// The property of the old model that one of the new model is; nil if it is new.
    fileprivate func formerProperty(of name: String, in entity: SchemaEntity) -> String? {
        if case .known(let before) = formerName(of: name, in: entity) { return before }
        if let column = entity.columnIndex(named: name),
            let before = convertedColumn(column, of: entity)
        {
            return before.name
        }
        // A derived attribute is computed anew, and is the same all the same.
        let attribute = entity.attributeIndex(named: name).map { entity.attributes[$0].description }
        guard attribute?.derivationExpression != nil else { return nil }
        return formerEntity(of: entity)?.hasProperty(named: name) == true ? name : nil
    }
}

extension SchemaEntity {
    fileprivate var propertyNames: [String] {
        attributes.map(\.description.name) + relationships.map(\.description.name)
    }
}
