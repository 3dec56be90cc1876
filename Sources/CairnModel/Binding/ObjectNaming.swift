// Formats that name objects, for callers that identify objects by other names than their ids.
//
// A text is taken for a name where it stands beside an object: what a path leads to by relationships, SELF, the variable of a
// SUBQUERY. Everywhere else it is a text.

/// Replaces the names of objects by their ids.
package struct ObjectNaming {
    /// The id that a text is of an object of an entity; nil if it is none.
    package typealias Name = (_ text: String, _ entity: SchemaEntity) throws -> ObjectID?

    private var binder: PredicateBinder
    private let name: Name

    /// Names objects in conditions of an entity.
    package init(of entity: SchemaEntity, in schema: Schema, name: @escaping Name) {
        binder = PredicateBinder(schema: schema, entity: entity)
        self.name = name
    }

    /// The same condition with ids.
    ///
    /// - Throws: What the closure throws.
    package mutating func named(_ node: PredicateNode) throws -> PredicateNode {
        switch node {
        case .constant: return node
        case .comparison(var comparison):
            comparison.left = try named(comparison.left)
            comparison.right = try named(comparison.right)
            if let entity = entity(of: comparison.left) {
                comparison.right = try ids(comparison.right, of: entity)
            }
            if let entity = entity(of: comparison.right) {
                comparison.left = try ids(comparison.left, of: entity)
            }
            return .comparison(comparison)
        case .and(let parts): return .and(try parts.map { try named($0) })
        case .or(let parts): return .or(try parts.map { try named($0) })
        case .not(let part): return .not(try named(part))
        }
    }

    /// The same expression with ids in its conditions.
    ///
    /// - Throws: What the closure throws.
    package mutating func named(_ node: ExpressionNode) throws -> ExpressionNode {
        switch node {
        case .constant, .list, .evaluatedObject, .keyPath, .variable, .anyKey: return node
        case .path(let base, let path): return .path(of: try named(base), path)
        case .collection(let operation, let base, let path):
            return .collection(operation, of: try named(base), path: path)
        case .index(let base, .at(let place)):
            return .index(of: try named(base), .at(try named(place)))
        case .index(let base, let index): return .index(of: try named(base), index)
        case .function(let function, let parts):
            return .function(function, try parts.map { try named($0) })
        case .call(let target, let selector, let parts):
            return .call(
                of: try named(target), selector: selector, try parts.map { try named($0) })
        case .cast(let base, let type): return .cast(try named(base), to: type)
        case .conditional(let test, let one, let other):
            return .conditional(try named(test), try named(one), try named(other))
        case .subquery(let collection, let variable, let condition):
            let collection = try named(collection)
            let outer = binder.variables[variable]
            binder.variables[variable] = kind(of: collection)?.member
            let condition = try named(condition)
            binder.variables[variable] = outer
            return .subquery(collection, variable: variable, condition)
        case .set(let operation, let left, let right):
            return .set(operation, try named(left), try named(right))
        case .aggregate(let members): return .aggregate(try members.map { try named($0) })
        case .assignment(let name, let base): return .assignment(name, try named(base))
        case .fetch(let request, let context, let countsOnly):
            return .fetch(
                request: try named(request), context: try named(context), countsOnly: countsOnly)
        }
    }

    private func kind(of node: ExpressionNode) -> ExpressionKind? {
        // What cannot be bound is refused by whoever binds all of it.
        if node.isDeeper(than: PredicateNode.deepest) { return nil }
        var binder = binder
        return try? binder.bind(node).kind
    }

    /// The entity of the objects that an expression gives.
    private func entity(of node: ExpressionNode) -> SchemaEntity? {
        if case .object(let entity)? = kind(of: node)?.member { entity } else { nil }
    }

    private func ids(_ node: ExpressionNode, of entity: SchemaEntity) throws -> ExpressionNode {
        func id(_ value: Value) throws -> Value {
            guard case .string(let text) = value else { return value }
            return try name(text, entity).map { .objectID($0) } ?? value
        }
        switch node {
        case .constant(let value): return .constant(try id(value))
        case .list(let values): return .list(try values.map(id))
        case .aggregate(let members): return .aggregate(try members.map { try ids($0, of: entity) })
        default: return node
        }
    }
}
