// A sort key resolved against an entity: the columns on its key path.
//
//   1. A path that is the name of a column is one; leaves of composite attributes have points in their names.
//   2. Else its first part is a to-one relationship, and the rest is a path from there.
//
// Columns and relationships have the same indexes in all descendants of an entity, so one path is good for all of them.
//
// Threads: a value.

/// A sort key, ready for evaluation.
package struct SortPath: Sendable {
    /// A to-one relationship on the way.
    package struct Step: Sendable {
        /// Its index in the entity it starts from.
        package let relationship: Int
        /// Its column there.
        package let column: Int
        /// The entity it leads to.
        package let destination: Int
    }

    /// The relationships on the way.
    package let steps: [Step]
    /// The entity at the end of them.
    package let entity: Int
    /// The column of that entity.
    package let column: Int
    package let comparison: SortKey.Comparison
    package let isAscending: Bool
    /// Whether nil counts as greatest, and not as smallest.
    package let nilIsGreatest: Bool

    /// Follows a key.
    ///
    /// - Throws: `PredicateFormatError` naming the key, if there is no such property, it is not stored, a to-many relationship
    ///   is on the way, or the comparison is not of its kind.
    package init(_ key: SortKey, of entity: SchemaEntity, in schema: Schema)
        throws(PredicateFormatError)
    {
        try KeyStandIn.check(key.key)
        try ExpressionNode.keyPath(key.key).checkNesting()
        var steps: [Step] = []
        var current = entity
        var rest = key.key[...]
        while true {
            if let column = current.columnIndex(named: String(rest)) {
                try Self.check(key, current.columns[column])
                (self.steps, self.column) = (steps, column)
                break
            }
            let name = String(rest.prefix { $0 != "." })
            let relationship = try Self.relationship(name, of: current, on: key.key)
            let description = current.relationships[relationship]
            guard case .column(let column) = description.storage, name.count < rest.count else {
                throw Self.unknown(key.key, of: entity)
            }
            steps.append(
                Step(
                    relationship: relationship, column: column,
                    destination: description.destination))
            current = schema.entities[description.destination]
            rest = rest.dropFirst(name.count + 1)
        }
        self.entity = current.index
        comparison = key.comparison
        isAscending = key.isAscending
        nilIsGreatest = key.nilIsGreatest
    }

    /// Whether an object comes before another by their keys; nil if these are equal.
    package func precedes(_ left: Value, _ right: Value) -> Bool? {
        let order = SortingOrder.compare(left, right, nilIsGreatest: nilIsGreatest)
        return order == 0 ? nil : (order < 0) == isAscending
    }

    /// What an object is sorted by, to be compared by `SortingOrder`.
    package func key(of object: any EvaluatedObject) -> Value {
        var object = object
        for step in steps {
            guard let target = object.evaluatedTarget(step.relationship) else { return .null }
            object = target
        }
        return comparison.ordered(object.evaluatedColumn(column))
    }

    // MARK: Refusing

    private static func relationship(
        _ name: String, of entity: SchemaEntity, on path: String
    ) throws(PredicateFormatError) -> Int {
        guard let index = entity.relationshipIndex(named: name) else {
            guard let attribute = entity.attributeIndex(named: name) else {
                throw unknown(path, of: entity)
            }
            let description = entity.attributes[attribute].description
            if description.isTransient { throw transient(name, of: entity, on: path) }
            throw PredicateFormatError(
                description.type == .composite
                    ? "\(name) of \(entity.name) is composite: sort by one of its elements"
                    : "\(name) of \(entity.name) is an attribute: the path cannot continue",
                key: path)
        }
        if entity.relationships[index].description.isToMany {
            throw PredicateFormatError(
                "\(name) of \(entity.name) is to-many: it has no single value to sort by", key: path
            )
        }
        if entity.relationships[index].storage == .transient {
            throw transient(name, of: entity, on: path)
        }
        return index
    }

    private static func unknown(_ path: String, of entity: SchemaEntity) -> PredicateFormatError {
        PredicateFormatError(
            "\(entity.name) has no stored property of this name to sort by", key: path)
    }

    private static func transient(_ name: String, of entity: SchemaEntity, on path: String)
        -> PredicateFormatError
    {
        PredicateFormatError(
            "\(name) of \(entity.name) is transient: a store cannot sort by it", key: path)
    }

    private static func check(_ key: SortKey, _ column: SchemaColumn) throws(PredicateFormatError) {
        if key.comparison == .binary || column.kind == .attribute(.string) { return }
        throw PredicateFormatError(
            "the comparison \(key.comparison.rawValue) is only for strings, but \(key.key) is not a string",
            key: key.key)
    }
}
