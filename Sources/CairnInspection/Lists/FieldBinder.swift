// Gives each field of a list its place in an entity.
//
//   1. A field that is mapped has the mapping's name; a part of another field has its name behind that one's
//      and a point; every other field has its own name.
//   2. A name of a stored attribute, of a composite one, or of a relationship is a place, and so is that of an attribute of a
//      to-one relationship's target, behind a point. Everything else is unknown: it is noted with the reason, and its values
//      are passed over.
//   3. Two fields for one place are refused.
//
// Threads: one reader.

package import CairnModel
import CairnStore

/// Finds the attributes that fields of a list belong to.
package final class FieldBinder: FieldPlan {
    /// Where the values of a field go.
    package enum Target: Sendable {
        /// Into a column of that type; whether objects and arrays go in as JSON text.
        case column(Int, AttributeType, keepsNested: Bool)
        /// Into the columns of a composite attribute.
        case composite(Range<Int>)
        /// The key of a relationship's target, or of several: which of `related`.
        case related(Int)
        /// An attribute of a to-one relationship's target: which of `related`, and what it is there.
        case part(Int, RelatedField.Part)
        /// Nowhere.
        case none
    }

    /// A field that has no place, and why.
    package struct Unknown: Sendable, Equatable {
        package let field: String
        package let reason: String
    }

    private let entity: SchemaEntity
    private let schema: Schema
    private let mapping: FieldMapping
    private var names: [String] = []
    private var owners: [Int: String] = [:]
    /// What relationships and parts of them have for an owner, by their names.
    private var relatedOwners: [String: String] = [:]
    /// By relationship: the first field beside others that is a part of it.
    private var partOwners: [Int: String] = [:]
    /// The relationships that fields name.
    package private(set) var related: [RelatedField] = []
    /// Their places by their names.
    private var relatedIndexes: [String: Int] = [:]
    /// By field: where its values go.
    package private(set) var targets: [Target] = []
    package private(set) var unknown: [Unknown] = []
    /// The mapped fields that were met.
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

    /// A relationship that is stored, as one of `related`.
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
        // An object is the relationship's own field; a column beside others is not.
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

    /// What the members of a relationship's objects are called in the model; nil for those that are dropped.
    package func attributeName(_ member: String, of field: RelatedField) -> String? {
        if mapping.isEmpty { return member }
        let name = fieldName(member, of: field)
        guard let target = mapping.target(of: name) else { return member }
        mapped.insert(name)
        if target.isEmpty { return nil }
        let prefix = field.name + "."
        return target.hasPrefix(prefix) ? String(target.dropFirst(prefix.count)) : target
    }

    /// What a mapping calls a member of a relationship's objects: as the list does, as everywhere.
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
