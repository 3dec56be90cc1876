// Binds each field of a list to an attribute or relationship of an entity.
//
//   1. A mapped field has the mapping's name; a part of another field has that field's name, a point, and its
//      own name; every other field has its own name.
//   2. Valid names are those of stored attributes, of composite attributes, of relationships, and, after a
//      relationship's name and a point, of the attributes of a to-one relationship's target. All other fields
//      are unknown: they are recorded with the reason, and their values are ignored.
//   3. Two fields with the same destination are rejected.
//
// Threads: one reader.

package import CairnModel
import CairnStore

/// Finds the attributes for the fields of a list.
package final class FieldBinder: FieldPlan {
    /// The destination of a field's values.
    package enum Target: Sendable {
        /// A column of that type; whether objects and arrays are stored as JSON text.
        case column(Int, AttributeType, keepsNested: Bool)
        /// The columns of a composite attribute.
        case composite(Range<Int>)
        /// The key of one or several targets of a relationship: the index in `related`.
        case related(Int)
        /// An attribute of a to-one relationship's target: the index in `related`, and the attribute there.
        case part(Int, RelatedField.Part)
        /// None.
        case none
    }

    /// A field without a destination, and the reason.
    package struct Unknown: Sendable, Equatable {
        package let field: String
        package let reason: String
    }

    private let entity: SchemaEntity
    private let schema: Schema
    private let mapping: FieldMapping
    private var names: [String] = []
    private var owners: [Int: String] = [:]
    /// The fields bound to relationships and their parts, by name.
    private var relatedOwners: [String: String] = [:]
    /// By relationship: the first separate field that is a part of it.
    private var partOwners: [Int: String] = [:]
    /// The relationships that fields name.
    package private(set) var related: [RelatedField] = []
    /// Their indexes in `related`, by name.
    private var relatedIndexes: [String: Int] = [:]
    /// The destination of each field's values.
    package private(set) var targets: [Target] = []
    package private(set) var unknown: [Unknown] = []
    /// The mapped fields that occurred.
    package private(set) var mapped: Set<String> = []

    package init(_ entity: SchemaEntity, in schema: Schema, mapping: FieldMapping = FieldMapping())
    {
        self.entity = entity
        self.schema = schema
        self.mapping = mapping
    }

    package func use(of field: FieldTable.Field) -> FieldUse {
        let target = mapping.target(of: field.name)
        if target != nil { mapped.insert(field.name) }
        let name = target ?? field.parent.map { "\(names[$0]).\(field.key)" } ?? field.name
        names.append(name)
        if target == "" {
            targets.append(.none)
            return .dropped
        }
        if let index = relationship(name) { return bind(field, toRelationship: index) }
        if let point = name.firstIndex(of: "."),
            let index = relationship(String(name[..<point]))
        {
            return bind(field, toPart: String(name[name.index(after: point)...]), of: index)
        }
        if let index = entity.columnIndex(named: name) { return bind(field, to: index) }
        if let columns = entity.compositeColumns(name) {
            targets.append(.composite(columns))
            return .parts
        }
        return refuse(field, reason(name, isMapped: target != nil))
    }

    private func bind(_ field: FieldTable.Field, to index: Int) -> FieldUse {
        let column = entity.columns[index]
        guard case .attribute(let type) = column.kind, let attribute = column.attribute else {
            preconditionFailure("a relationship's column has its name")
        }
        guard !column.isDerived else {
            return refuse(field, "\(column.name) is derived: the store computes it")
        }
        if let owner = owners[index] {
            return refuse(field, "\(column.name) already takes its value from \(owner)")
        }
        owners[index] = field.name
        targets.append(
            .column(index, type, keepsNested: attribute.userInfo[ModelInference.jsonMark] != nil))
        return .value
    }

    // MARK: Relationships

    /// Returns the index in `related` of a stored relationship.
    private func relationship(_ name: String) -> Int? {
        if let known = relatedIndexes[name] { return known }
        guard let index = entity.relationshipIndex(named: name),
            let field = RelatedField(index, of: entity, in: schema)
        else { return nil }
        relatedIndexes[name] = related.count
        related.append(field)
        return related.count - 1
    }

    private func bind(_ field: FieldTable.Field, toRelationship index: Int) -> FieldUse {
        let name = related[index].name
        if let owner = partOwners[index] {
            return refuse(field, "\(owner) is already mapped to \(name)")
        }
        if let owner = relatedOwners.updateValue(field.name, forKey: name) {
            return refuse(field, "\(name) already takes its value from \(owner)")
        }
        targets.append(.related(index))
        return related[index].isToMany ? .value : .parts
    }

    private func bind(_ field: FieldTable.Field, toPart part: String, of index: Int) -> FieldUse {
        let relationship = related[index]
        let name = "\(relationship.name).\(part)"
        guard !relationship.isToMany else {
            return refuse(
                field,
                "\(relationship.name) is to-many: put the keys of its objects in one field, as a list"
            )
        }
        // An object is the relationship's own field; a separate column is not.
        if field.parent == nil, let owner = relatedOwners[relationship.name] {
            return refuse(field, "\(relationship.name) already takes its value from \(owner)")
        }
        switch relationship.attribute(part) {
        case .failure(let reason): return refuse(field, reason.description)
        case .success(let attribute):
            if let owner = relatedOwners.updateValue(field.name, forKey: name) {
                return refuse(field, "\(name) already takes its value from \(owner)")
            }
            if field.parent == nil, partOwners[index] == nil { partOwners[index] = field.name }
            targets.append(.part(index, attribute))
            return .value
        }
    }

    /// Returns the model's name for a member of a relationship's objects; nil if the member is dropped.
    package func attributeName(_ member: String, of field: RelatedField) -> String? {
        if mapping.isEmpty { return member }
        let name = fieldName(member, of: field)
        guard let target = mapping.target(of: name) else { return member }
        mapped.insert(name)
        if target.isEmpty { return nil }
        let prefix = field.name + "."
        return target.hasPrefix(prefix) ? String(target.dropFirst(prefix.count)) : target
    }

    /// Returns the name of a relationship's member in mappings: the list's name, as everywhere.
    func fieldName(_ member: String, of field: RelatedField) -> String {
        "\(relatedOwners[field.name] ?? field.name).\(member)"
    }

    private func refuse(_ field: FieldTable.Field, _ reason: String) -> FieldUse {
        unknown.append(Unknown(field: field.name, reason: reason))
        targets.append(.none)
        return .dropped
    }

    private func reason(_ name: String, isMapped: Bool) -> String {
        if entity.attributeIndex(named: name) != nil {
            return "\(name) is transient: it is not stored"
        }
        if entity.relationshipIndex(named: name) != nil {
            return "\(name) is transient: it is not stored"
        }
        return isMapped
            ? "\(entity.name) has no attribute \(name)"
            : "\(entity.name) has no attribute or relationship of this name"
    }
}
