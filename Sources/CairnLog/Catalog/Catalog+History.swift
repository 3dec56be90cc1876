// The names of properties in the history, which outlives the names of a model.                     Format 77
//
// A mask identifies the columns of an entity by their positions, followed by its relationships.

import CairnFormat
import CairnModel
import CairnStore

extension Catalog {
    /// The names in the history for the columns and to-many relationships of a mask.
    func historyProperties(_ mask: ColumnSet, of entity: Int) -> [ChangesPayload.Property] {
        let stored = entities[entity]
        let columns = stored.columns.count
        let relationships = schema.entities[entity].relationships
        var properties: [ChangesPayload.Property] = []
        for index in 0..<columns + relationships.count where mask.contains(index) {
            if index < columns {
                properties.append(.init(id: stored.columns[index].propertyID))
            } else if let property = historyProperty(relationships[index - columns]) {
                properties.append(property)
            }
        }
        return properties
    }

    /// The name of a to-many relationship in the history; nil for one that is to-one, or not stored.
    private func historyProperty(_ relationship: SchemaRelationship) -> ChangesPayload.Property? {
        switch relationship.storage {
        case .column, .transient: return nil
        case .inverseColumn(let destination, let column):
            let through = entities[destination]
            return .init(id: through.columns[column].propertyID, through: through.id)
        case .pairs(let pairs, let isSource):
            let through = entities[entityIndex(ofPairs: pairs)]
            return .init(id: through.columns[isSource ? 0 : 1].propertyID, through: through.id)
        }
    }

    /// The names of an entity's properties, by their names in the history. A composite attribute has several.
    func historyNames(of entity: Int) -> [ChangesPayload.Property: String] {
        let description = schema.entities[entity]
        var names: [ChangesPayload.Property: String] = [:]
        for (index, column) in entities[entity].columns.enumerated() {
            names[.init(id: column.propertyID)] = description.columns[index].name
        }
        for attribute in description.attributes {
            for index in attribute.columns {
                names[.init(id: entities[entity].columns[index].propertyID)] =
                    attribute.description.name
            }
        }
        for relationship in description.relationships {
            guard let property = historyProperty(relationship) else { continue }
            names[property] = relationship.description.name
        }
        return names
    }

    /// The columns whose values the history keeps when an object is deleted.
    func preservedColumns(of entity: Int) -> [Int] {
        preserved[entity]
    }

    /// The same for all entities of a schema.
    static func preservedColumns(_ schema: Schema) -> [[Int]] {
        schema.entities.map { entity in
            entity.attributes.flatMap { attribute in
                attribute.columns.filter {
                    attribute.description.preservesValueInHistoryOnDeletion
                        || entity.columns[$0].attribute?.preservesValueInHistoryOnDeletion == true
                }
            }
        }
    }
}
