// The names of the values in a snapshot: one list for all snapshots of an entity's objects.
//
// Threads: immutable, so any.

import CairnModel
import CairnStore

/// The names of what a snapshot holds.
final class SnapshotKeys: Sendable {
    /// The name of the entity.
    let entityName: String
    /// Columns by their numbers, then transient attributes and transient to-one relationships.
    let names: [String]
    /// The transformers of transformable attributes, by name.
    let transformers: [String: String]
    /// Whether a model said which names there are. What was written elsewhere has those that it had there.
    let isOfModel: Bool
    private let places: [String: Int]

    init(
        entityName: String, names: [String], transformers: [String: String], isOfModel: Bool
    ) {
        self.entityName = entityName
        self.names = names
        self.transformers = transformers
        self.isOfModel = isOfModel
        places = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    convenience init(of entity: SchemaEntity) {
        var names = entity.columns.map(\.name)
        var transformers: [String: String] = [:]
        for column in entity.columns where column.attribute?.type == .transformable {
            transformers[column.name] = Self.transformer(column.attribute?.valueTransformerName)
        }
        for attribute in entity.attributes.map(\.description) where attribute.isTransient {
            names.append(attribute.name)
            if attribute.type == .transformable {
                transformers[attribute.name] = Self.transformer(attribute.valueTransformerName)
            }
        }
        for relationship in entity.relationships
        where relationship.storage == .transient && !relationship.description.isToMany {
            names.append(relationship.description.name)
        }
        self.init(
            entityName: entity.name, names: names, transformers: transformers, isOfModel: true)
    }

    private static func transformer(_ name: String?) -> String {
        name ?? AttributeTransformers.usual
    }

    /// The place of a name's value.
    func place(_ name: String) -> Int? { places[name] }

    /// The places of a composite attribute's leaves.
    func leaves(of name: String) -> [Int] {
        let head = name + "."
        return names.indices.filter { names[$0].hasPrefix(head) }
    }
}
