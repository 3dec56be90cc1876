// Diagrams of a model, or of its differences from another version.
//
//   1. Entities, properties, constraints and indexes are those that each entity declares; inherited ones are
//      in its parent's box.
//   2. In a comparison with another version, elements that exist only there are drawn as removed. Properties
//      differ if their descriptions differ (ModelDescription). Entities and properties are matched by name.
//
// Threads: values.

import CairnInspection
import CairnModel
import CairnPictures

/// Creates diagrams of models.
enum ModelPicture {
    /// Returns the diagram of a model.
    ///
    /// - Parameters:
    ///   - objects: the number of objects of each entity itself, by name.
    ///   - older: the version to compare with; nil: none.
    ///   - name: the name of that version.
    static func diagram(
        of model: ManagedObjectModel, objects: [String: Int] = [:],
        against older: ManagedObjectModel? = nil, named name: String = "the other version"
    ) -> ModelDiagram {
        guard let older else {
            return ModelDiagram(
                model.entities.map { entity($0, older: nil, isCompared: false, objects) })
        }
        var entities = model.entities.map {
            entity($0, older: older.entity(named: $0.name), isCompared: true, objects)
        }
        for gone in older.entities where model.entity(named: gone.name) == nil {
            var box = entity(gone, older: nil, isCompared: false, objects)
            box.change = .removed
            entities.append(box)
        }
        return ModelDiagram(entities, comparedWith: name)
    }

    private static func entity(
        _ entity: EntityDescription, older: EntityDescription?, isCompared: Bool,
        _ objects: [String: Int]
    ) -> ModelDiagram.Entity {
        var box = box(of: entity)
        box.note = objects[entity.name].map { PlainText.number($0) }
        guard isCompared else { return box }
        guard let older else {
            box.change = .added
            return box
        }
        let before = Self.box(of: older)
        merge(&box.attributes, before.attributes, \.name, \.change) { $0.words }
        merge(&box.relationships, before.relationships, \.name, \.change) { $0.words }
        merge(&box.rules, before.rules, \.words, \.change) { $0.remark ?? "" }
        for (index, attribute) in box.attributes.enumerated() where attribute.change == .changed {
            let words = before.attributes.first { $0.name == attribute.name }?.words ?? ""
            box.attributes[index].remark = "\(attribute.words)\nbefore: \(words)"
        }
        for (index, row) in box.relationships.enumerated() where row.change == .changed {
            let words = before.relationships.first { $0.name == row.name }?.words ?? ""
            box.relationships[index].remark = "\(row.words)\nbefore: \(words)"
        }
        let isChanged =
            box.attributes.contains { $0.change != nil }
            || box.relationships.contains { $0.change != nil }
            || box.rules.contains { $0.change != nil } || box.parent != before.parent
            || ModelDescription.remarks(on: entity) != ModelDescription.remarks(on: older)
        if isChanged { box.change = .changed }
        return box
    }

    /// Marks differences, and adds elements that exist only in the older version.
    private static func merge<Part>(
        _ parts: inout [Part], _ older: [Part], _ name: KeyPath<Part, String>,
        _ change: WritableKeyPath<Part, ModelDiagram.Change?>, _ words: (Part) -> String
    ) {
        for index in parts.indices {
            guard
                let before = older.first(where: { $0[keyPath: name] == parts[index][keyPath: name] }
                )
            else {
                parts[index][keyPath: change] = .added
                continue
            }
            if words(before) != words(parts[index]) { parts[index][keyPath: change] = .changed }
        }
        let names = Set(parts.map { $0[keyPath: name] })
        for var gone in older where !names.contains(gone[keyPath: name]) {
            gone[keyPath: change] = .removed
            parts.append(gone)
        }
    }

    // MARK: One version

    private static func box(of entity: EntityDescription) -> ModelDiagram.Entity {
        var box = ModelDiagram.Entity(entity.name)
        box.parent = entity.superentityName
        box.isAbstract = entity.isAbstract
        let rules = entity.allUniquenessRules
        let keys = Set(rules.flatMap(\.names))
        box.attributes = entity.attributes.map { attribute in
            var row = ModelDiagram.Attribute(
                attribute.name,
                type: (attribute.compositeName ?? attribute.type.rawValue)
                    + (attribute.isOptional ? "?" : ""))
            row.isKey = keys.contains(attribute.name)
            row.isDerived = attribute.isTransient || attribute.derivationExpression != nil
            row.remark = ModelDescription.rows(of: attribute).map {
                $0.dropFirst().joined(separator: "  ")
            }
            .joined(separator: "\n")
            return row
        }
        box.relationships = entity.relationships.map(row(of:))
        box.rules =
            rules.map {
                .init(
                    "unique \($0.names.joined(separator: ", "))",
                    remark: $0.isPlain ? nil : $0.remarks.joined(separator: ", "))
            }
            + entity.indexes.map { index in
                let cells = ModelDescription.row(of: index)
                return .init(
                    cells.prefix(2).joined(separator: " "),
                    remark: cells.count > 2 ? cells.dropFirst(2).joined(separator: " ") : nil)
            }
        return box
    }

    private static func row(of relationship: RelationshipDescription)
        -> ModelDiagram.Relationship
    {
        let most = relationship.maximumCount > 0 ? "\(relationship.maximumCount)" : "*"
        let least = max(relationship.minimumCount, relationship.isOptional ? 0 : 1)
        let arity =
            relationship.isToMany
            ? "\(least)..\(most)" : relationship.isOptional ? "0..1" : "1"
        var row = ModelDiagram.Relationship(
            relationship.name, to: relationship.destinationEntityName,
            arity: relationship.isOrdered ? "\(arity) ordered" : arity)
        row.inverse = relationship.inverseName
        row.isToMany = relationship.isToMany
        row.isRequired = !relationship.isOptional
        row.remark = ModelDescription.row(of: relationship).dropFirst(3).joined(separator: ", ")
        return row
    }
}

extension ModelDiagram.Attribute {
    /// The whole description.
    fileprivate var words: String { remark ?? type }
}

extension ModelDiagram.Relationship {
    /// The whole description.
    fileprivate var words: String { "\(destination) \(arity) \(remark ?? "")" }
}
