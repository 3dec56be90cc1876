// Gives each field of a list its place in an entity.
//
//   1. A field that is mapped has the mapping's name; a part of another field has its name behind that one's
//      and a point; every other field has its own name.
//   2. A name of a stored attribute, or of a composite one, is a place. Everything else is unknown: it is
//      noted with the reason, and its values are passed over.
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
        /// Nowhere.
        case none
    }

    /// A field that has no place, and why.
    package struct Unknown: Sendable, Equatable {
        package let field: String
        package let reason: String
    }

    private let entity: SchemaEntity
    private let mapping: FieldMapping
    private var names: [String] = []
    private var owners: [Int: String] = [:]
    /// By field: where its values go.
    package private(set) var targets: [Target] = []
    package private(set) var unknown: [Unknown] = []
    /// The mapped fields that were met.
    package private(set) var mapped: Set<String> = []

    package init(_ entity: SchemaEntity, mapping: FieldMapping = FieldMapping()) {
        self.entity = entity
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
            return refuse(
                field, "\(column.name) is a relationship, and a list sets attributes only")
        }
        guard !column.isDerived else {
            return refuse(field, "\(column.name) is computed by the store")
        }
        if let owner = owners[index] {
            return refuse(field, "\(owner) goes to \(column.name) already")
        }
        owners[index] = field.name
        targets.append(
            .column(index, type, keepsNested: attribute.userInfo[ModelInference.jsonMark] != nil))
        return .value
    }

    private func refuse(_ field: FieldTable.Field, _ reason: String) -> FieldUse {
        unknown.append(Unknown(field: field.name, reason: reason))
        targets.append(.none)
        return .dropped
    }

    private func reason(_ name: String, isMapped: Bool) -> String {
        if entity.attributeIndex(named: name) != nil {
            return "\(name) is transient: it has no place in a store"
        }
        if entity.relationshipIndex(named: name) != nil {
            return "\(name) is a relationship, and a list sets attributes only"
        }
        return isMapped ? "\(entity.name) has no attribute \(name)" : "no such attribute"
    }
}

extension SchemaEntity {
    /// The columns of a composite attribute, or of a composite element by its dotted name.
    fileprivate func compositeColumns(_ name: String) -> Range<Int>? {
        let first = String(name.prefix { $0 != "." })
        guard let index = attributeIndex(named: first),
            attributes[index].description.type == .composite
        else { return nil }
        let all = attributes[index].columns
        if first == name { return all }
        let inside = all.filter { columns[$0].name.hasPrefix(name + ".") }
        guard let low = inside.first, let high = inside.last else { return nil }
        return low..<high + 1
    }
}
