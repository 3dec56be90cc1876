// A predicate without its values, which can be logged where users' data cannot.

extension PredicateNode {
    /// The shape of the predicate: each value except nil is replaced by the variable `$value`, and all values in braces,
    /// however many, by `$values`.
    ///
    /// ```swift
    /// let one = PredicateNode.compare("name", .equal, .string("Anchor"))
    /// print(one.withoutValues)  // name == $value
    /// ```
    public var withoutValues: PredicateNode {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = comparison.left.withoutValues
            comparison.right = comparison.right.withoutValues
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map(\.withoutValues))
        case .or(let parts): return .or(parts.map(\.withoutValues))
        case .not(let part): return .not(part.withoutValues)
        }
    }
}

extension ExpressionNode {
    /// The shape of the expression: each value except nil is replaced by the variable `$value`, and all values in braces,
    /// however many, by `$values`.
    public var withoutValues: ExpressionNode {
        switch self {
        case .constant(let value): value.isNull ? self : .variable("value")
        case .list: .variable("values")
        case .evaluatedObject, .keyPath, .variable, .anyKey: self
        case .path(let base, let path): .path(of: base.withoutValues, path)
        case .collection(let operation, let base, let path):
            .collection(operation, of: base.withoutValues, path: path)
        case .index(let base, .at(let place)):
            .index(of: base.withoutValues, .at(place.withoutValues))
        case .index(let base, let index): .index(of: base.withoutValues, index)
        case .function(let function, let parts):
            .function(function, parts.map(\.withoutValues))
        case .call(let target, let selector, let parts):
            .call(of: target.withoutValues, selector: selector, parts.map(\.withoutValues))
        case .cast(let base, let type): .cast(base.withoutValues, to: type)
        case .conditional(let test, let one, let other):
            .conditional(test.withoutValues, one.withoutValues, other.withoutValues)
        case .subquery(let collection, let variable, let condition):
            .subquery(collection.withoutValues, variable: variable, condition.withoutValues)
        case .set(let operation, let left, let right):
            .set(operation, left.withoutValues, right.withoutValues)
        case .aggregate(let members): .aggregate(Self.withoutValues(members))
        case .assignment(let name, let base): .assignment(name, base.withoutValues)
        case .fetch(let request, let context, let countsOnly):
            .fetch(
                request: request.withoutValues, context: context.withoutValues,
                countsOnly: countsOnly)
        }
    }

    /// What is in braces: one variable for all values in it.
    private static func withoutValues(_ members: [ExpressionNode]) -> [ExpressionNode] {
        var found: [ExpressionNode] = []
        for member in members {
            let isValue = if case .constant(let value) = member { !value.isNull } else { false }
            let part = isValue ? .variable("values") : member.withoutValues
            if part != .variable("values") || !found.contains(part) { found.append(part) }
        }
        return found
    }
}
