// What the key paths of predicates lead to.

import CairnModel

/// What a key path leads to: objects of an entity, or an attribute of them.
struct KeyPathTarget {
    private(set) var entity: SchemaEntity
    /// The column of the attribute.
    private(set) var column: Int?
    /// Whether it passes a to-many relationship.
    private(set) var isMany = false

    /// The objects of an entity themselves.
    init(_ entity: SchemaEntity) { self.entity = entity }

    /// Where a key path leads from here; nil if it leads nowhere.
    func following(_ path: String, in schema: Schema) -> KeyPathTarget? {
        guard column == nil else { return nil }
        var target = self
        var rest = path[...]
        while !rest.isEmpty {
            // The name of a composite attribute's element has dots.
            if let column = target.entity.columnIndex(named: String(rest)) {
                target.column = column
                return target
            }
            let end = rest.firstIndex(of: ".") ?? rest.endIndex
            guard let index = target.entity.relationshipIndex(named: String(rest[..<end])) else {
                return nil
            }
            let relationship = target.entity.relationships[index]
            target.entity = schema.entities[relationship.destination]
            if relationship.description.isToMany { target.isMany = true }
            rest = rest[end...].dropFirst()
        }
        return target
    }
}
