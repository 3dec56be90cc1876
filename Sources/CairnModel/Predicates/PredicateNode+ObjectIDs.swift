// Replaces ids of objects by others.

extension PredicateNode {
    /// Whether it contains an object id.
    package var namesObjects: Bool {
        var isAny = false
        _ = replacingObjectIDs { _ in
            isAny = true
            return nil
        }
        return isAny
    }

    /// The same predicate with other ids in the place of those that have one.
    package func replacingObjectIDs(_ body: (ObjectID) -> ObjectID?) -> PredicateNode {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = comparison.left.replacingObjectIDs(body)
            comparison.right = comparison.right.replacingObjectIDs(body)
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map { $0.replacingObjectIDs(body) })
        case .or(let parts): return .or(parts.map { $0.replacingObjectIDs(body) })
        case .not(let part): return .not(part.replacingObjectIDs(body))
        }
    }
}

extension ExpressionNode {
    /// The same expression with other ids in the place of those that have one.
    package func replacingObjectIDs(_ body: (ObjectID) -> ObjectID?) -> ExpressionNode {
        func replaced(_ node: ExpressionNode) -> ExpressionNode { node.replacingObjectIDs(body) }
        switch self {
        case .constant(.objectID(let id)): return body(id).map { .constant(.objectID($0)) } ?? self
        case .list(let values): return Self.replaced(values, body).map { .list($0) } ?? self
        case .constant, .evaluatedObject, .keyPath, .variable, .anyKey: return self
        case .path(let base, let path): return .path(of: replaced(base), path)
        case .collection(let operation, let base, let path):
            return .collection(operation, of: replaced(base), path: path)
        case .index(let base, .at(let place)):
            return .index(of: replaced(base), .at(replaced(place)))
        case .index(let base, let index): return .index(of: replaced(base), index)
        case .function(let function, let parts): return .function(function, parts.map(replaced))
        case .call(let target, let selector, let parts):
            return .call(of: replaced(target), selector: selector, parts.map(replaced))
        case .cast(let base, let type): return .cast(replaced(base), to: type)
        case .conditional(let test, let one, let other):
            return .conditional(test.replacingObjectIDs(body), replaced(one), replaced(other))
        case .subquery(let collection, let variable, let condition):
            return .subquery(
                replaced(collection), variable: variable, condition.replacingObjectIDs(body))
        case .set(let operation, let left, let right):
            return .set(operation, replaced(left), replaced(right))
        case .aggregate(let members): return .aggregate(members.map(replaced))
        case .assignment(let name, let base): return .assignment(name, replaced(base))
        case .fetch(let request, let context, let countsOnly):
            return .fetch(
                request: replaced(request), context: replaced(context), countsOnly: countsOnly)
        }
    }

    /// The values of a list with other ids, each once; nil if there is nothing to replace.
    private static func replaced(_ values: [Value], _ body: (ObjectID) -> ObjectID?) -> [Value]? {
        guard
            values.contains(where: {
                if case .objectID(let id) = $0 { body(id) != nil } else { false }
            })
        else { return nil }
        var known: Set<ObjectID> = []
        return values.compactMap { value in
            guard case .objectID(let id) = value else { return value }
            let meant = body(id) ?? id
            return known.insert(meant).inserted ? .objectID(meant) : nil
        }
    }
}
