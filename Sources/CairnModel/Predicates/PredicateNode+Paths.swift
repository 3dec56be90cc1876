// Replaces key paths that start at the evaluated object by others.
//
// What a SUBQUERY asks of its members, and what is asked of the members of a collection by an operator, begins elsewhere: it stays.

extension PredicateNode {
    /// The same predicate with the object's key paths replaced; nil if one of them has no replacement.
    package func replacingPaths(_ replace: (String) -> String?) -> PredicateNode? {
        // What is too deep to be walked is refused by whoever asks it.
        guard let node = try? walkable() else { return self }
        return try? node.replaced(replace)
    }

    fileprivate func replaced(_ replace: (String) -> String?) throws(NoPath) -> PredicateNode {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.replaced(replace)
            comparison.right = try comparison.right.replaced(replace)
            return .comparison(comparison)
        case .and(let parts):
            return .and(try parts.map { part throws(NoPath) in try part.replaced(replace) })
        case .or(let parts):
            return .or(try parts.map { part throws(NoPath) in try part.replaced(replace) })
        case .not(let part): return .not(try part.replaced(replace))
        }
    }
}

private struct NoPath: Error {}

extension ExpressionNode {
    fileprivate func replaced(_ replace: (String) -> String?) throws(NoPath) -> ExpressionNode {
        switch self {
        case .constant, .list, .evaluatedObject, .variable, .anyKey: return self
        case .keyPath(let path):
            guard let path = replace(path) else { throw NoPath() }
            return .keyPath(path)
        case .path(let base, let path): return .path(of: try base.replaced(replace), path)
        case .collection(let operation, let base, let path):
            return .collection(operation, of: try base.replaced(replace), path: path)
        case .index(let base, .at(let place)):
            return .index(of: try base.replaced(replace), .at(try place.replaced(replace)))
        case .index(let base, let index): return .index(of: try base.replaced(replace), index)
        case .function(let function, let parts):
            return .function(function, try Self.replaced(parts, replace))
        case .call(let target, let selector, let parts):
            return .call(
                of: try target.replaced(replace), selector: selector,
                try Self.replaced(parts, replace))
        case .cast(let base, let type): return .cast(try base.replaced(replace), to: type)
        case .conditional(let test, let one, let other):
            return .conditional(
                try test.replaced(replace), try one.replaced(replace),
                try other.replaced(replace))
        case .subquery(let collection, let variable, let condition):
            return .subquery(
                try collection.replaced(replace), variable: variable,
                try condition.replaced(replace))
        case .set(let operation, let left, let right):
            return .set(operation, try left.replaced(replace), try right.replaced(replace))
        case .aggregate(let members): return .aggregate(try Self.replaced(members, replace))
        case .assignment(let name, let base):
            return .assignment(name, try base.replaced(replace))
        case .fetch(let request, let context, let countsOnly):
            return .fetch(
                request: try request.replaced(replace), context: try context.replaced(replace),
                countsOnly: countsOnly)
        }
    }

    private static func replaced(_ parts: [ExpressionNode], _ replace: (String) -> String?)
        throws(NoPath) -> [ExpressionNode]
    {
        try parts.map { part throws(NoPath) in try part.replaced(replace) }
    }
}
