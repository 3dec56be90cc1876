// What a list can say of the objects that a relationship leads to.

import CairnModel
import CairnStore

/// A relationship that a field of a list names.
package struct RelatedField: Sendable {
    /// Why an attribute of its target cannot be said.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// An attribute of its target that a list says something of.
    package struct Part: Sendable {
        let name: String
        let type: AttributeType
        /// Whether it tells targets apart, so that its values must not be rounded.
        let isKey: Bool
        /// Whether objects and arrays go in as JSON text.
        let keepsNested: Bool
    }

    /// Its index among those of the entity.
    let index: Int
    let name: String
    /// Its column; nil if it leads to many.
    let column: Int?
    let destination: SchemaEntity
    /// The attribute that a single value is the key by; nil if no key is a single attribute.
    let key: (name: String, type: AttributeType)?

    var isToMany: Bool { column == nil }
    /// What the values of its field should be, for errors.
    var type: AttributeType { key?.type ?? .objectID }

    /// Nil if the relationship has no place in a store.
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

    /// An attribute of the target.
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

    /// The target that some of its attributes tell; nil if no key is among them.
    ///
    /// - Parameter isMade: whether it may be made, and has what is said besides its key then.
    func target(_ values: [String: Value], isMade: Bool) -> RowTarget? {
        let key = destination.plainConstraints.first { constraint in
            constraint.names.allSatisfy { values[$0]?.isNull == false }
        }
        guard let key else { return nil }
        return .keys(isMade ? values : values.filter { key.names.contains($0.key) })
    }

    /// The keys that a target may be told by, for errors.
    var keys: String {
        let keys = destination.plainConstraints.map { $0.names.joined(separator: ", ") }
        return keys.isEmpty ? "an id" : keys.joined(separator: " or ")
    }
}
