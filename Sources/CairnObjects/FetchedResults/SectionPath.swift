// What sections can be named after by asking objects along a key path: one value of each object.
//
//   1. Along to-one relationships to a property: an attribute, also a transient one, or a to-one relationship.
//   2. Across a to-many relationship only to one value of many: `products.@count`, `products.@max.price`.
//
// Threads: a value.

import CairnModel
import CairnStore

/// A key path that sections are to be named after, held against an entity.
struct SectionPath {
    private let path: String
    private let root: SchemaEntity
    private let schema: Schema

    /// - Throws: `StoreError` with `.invalidRequest`, entity and key, if objects have no such value: what is wrong, and what
    ///   can be done.
    static func check(_ path: String, of entity: SchemaEntity, in schema: Schema) throws(StoreError)
    {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try SectionPath(path: path, root: entity, schema: schema).check(names[...], of: entity)
    }

    private func check(_ names: ArraySlice<String>, of entity: SchemaEntity) throws(StoreError) {
        guard let first = names.first else { return }
        let rest = names.dropFirst()
        if let index = entity.relationshipIndex(named: first) {
            let relationship = entity.relationships[index]
            let destination = schema.entities[relationship.destination]
            guard relationship.description.isToMany else {
                return try check(rest, of: destination)
            }
            guard let operation = rest.first, operation.hasPrefix("@") else {
                throw refused(
                    "\(first) of \(entity.name) is a to-many relationship, which cannot name a section"
                )
            }
            return try check(operation, rest.dropFirst(), of: destination)
        }
        for count in stride(from: names.count, to: 0, by: -1) {
            let name = names.prefix(count).joined(separator: ".")
            let isLast = count == names.count
            if entity.columnIndex(named: name) != nil {
                if isLast { return }
            } else if let index = entity.attributeIndex(named: name) {
                let isComposite = entity.attributes[index].description.type == .composite
                if isLast, !isComposite { return }
                if isComposite {
                    throw refused(
                        isLast
                            ? "\(name) of \(entity.name) is composite: use one of its elements"
                            : "\(name) of \(entity.name) has no element \(names.dropFirst(count).joined(separator: "."))"
                    )
                }
            } else {
                continue
            }
            throw refused(
                "\(name) of \(entity.name) is an attribute, so \(names.dropFirst(count).joined(separator: ".")) cannot follow it"
            )
        }
        if first == "objectID" || first == "self", rest.isEmpty { return }
        throw refused("\(entity.name) has no property named \(first)")
    }

    /// An operator on the many objects of a relationship.
    private func check(
        _ operation: String, _ rest: ArraySlice<String>, of entity: SchemaEntity
    ) throws(StoreError) {
        switch operation {
        case "@count" where rest.isEmpty: return
        case "@sum", "@avg", "@min", "@max":
            if !rest.isEmpty { return try check(rest, of: entity) }
            throw refused("\(operation) needs an attribute after it")
        default:
            throw refused("\(operation) is not an operator that gives one value for many objects")
        }
    }

    private func refused(_ message: String) -> StoreError {
        StoreError(
            .invalidRequest,
            "\(message). For other section names, use a closure, sectionName: { object in … }, or a transient or computed property of the class",
            context: .init(entity: root.name, key: path))
    }
}
