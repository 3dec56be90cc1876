// Fields of a list that identify or describe the targets of a relationship.

import CairnModel
import CairnStore

/// A relationship that a field of a list refers to.
package struct RelatedField: Sendable {
    /// The reason why a list cannot specify an attribute of its target.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// An attribute of the target that a list specifies.
    package struct Part: Sendable {
        let name: String
        let type: AttributeType
        /// Whether it identifies targets, so that its values must not be rounded.
        let isKey: Bool
        /// Whether objects and arrays are stored as JSON text.
        let keepsNested: Bool
    }

    /// Its index in the entity's relationships.
    let index: Int
    let name: String
    /// Its column; nil if it is to-many.
    let column: Int?
    let destination: SchemaEntity
    /// The attribute whose value identifies a target alone; nil if no key is a single attribute.
    let key: (name: String, type: AttributeType)?

    var isToMany: Bool { column == nil }
    /// The type of its field's values, for errors.
    var type: AttributeType { key?.type ?? .objectID }

    /// Returns nil if the relationship is not stored.
    init?(_ index: Int, of entity: SchemaEntity, in schema: Schema) {
        let relationship = entity.relationships[index]
        self.index = index
        name = relationship.description.name
        destination = schema.entities[relationship.destination]
        switch relationship.storage {
        case .transient: return nil
        case .column(let column): self.column = column
        case .inverseColumn, .pairs: column = nil
        }
        if let constraint = destination.plainConstraints.first(where: { $0.columns.count == 1 }),
            case .attribute(let type) = destination.columns[constraint.columns[0]].kind
        {
            key = (constraint.names[0], type)
        } else {
            key = nil
        }
    }

    /// Returns an attribute of the target.
    func attribute(_ name: String) -> Result<Part, Refusal> {
        if destination.relationshipIndex(named: name) != nil {
            return .failure(
                Refusal(
                    description:
                        "\(name) is a relationship of \(destination.name), which only a record of \(destination.name) can set"
                ))
        }
        guard let index = destination.columnIndex(named: name),
            case .attribute(let type) = destination.columns[index].kind
        else {
            return .failure(Refusal(description: "\(destination.name) has no attribute \(name)"))
        }
        let column = destination.columns[index]
        guard !column.isDerived else {
            return .failure(Refusal(description: "\(name) is derived: the store computes it"))
        }
        return .success(
            Part(
                name: name, type: type,
                isKey: destination.constraints.contains { $0.columns.contains(index) },
                keepsNested: column.attribute?.userInfo[ModelInference.jsonMark] != nil))
    }

    /// Returns the target that these attributes identify; nil if they contain no key.
    ///
    /// - Parameter isMade: whether it may be created, and then has the other values besides its key.
    func target(_ values: [String: Value], isMade: Bool) -> RowTarget? {
        let key = destination.plainConstraints.first { constraint in
            constraint.names.allSatisfy { values[$0]?.isNull == false }
        }
        guard let key else { return nil }
        return .keys(isMade ? values : values.filter { key.names.contains($0.key) })
    }

    /// The keys that may identify a target, for errors.
    var keys: String {
        let keys = destination.plainConstraints.map { $0.names.joined(separator: ", ") }
        return keys.isEmpty ? "an id" : keys.joined(separator: " or ")
    }
}
