// The key paths on which a condition or an expression reaches other objects, so that these can be read together when it is
// evaluated for many objects.
//
//   ANY tags.name == 'a' AND SUBQUERY(items, $i, $i.owner.age > 3).@count > 0      tags.name, items, items.owner.age
//
// What begins at a value that no path leads to is left out: it is read when it is asked.

extension PredicateNode {
    /// The key paths that start at the evaluated object.
    package var objectPaths: Set<String> {
        var paths = ObjectPaths()
        paths.add(self)
        return paths.found
    }
}

extension ExpressionNode {
    /// The paths from the object that is asked about.
    package var objectPaths: Set<String> {
        var paths = ObjectPaths()
        paths.add(self)
        return paths.found
    }
}

private struct ObjectPaths {
    private(set) var found: Set<String> = []
    /// Where the objects of SUBQUERY come from.
    private var variables: [String: String] = [:]

    mutating func add(_ node: PredicateNode) {
        switch node {
        case .constant: break
        case .comparison(let comparison):
            add(comparison.left)
            add(comparison.right)
        case .and(let parts), .or(let parts): for part in parts { add(part) }
        case .not(let part): add(part)
        }
    }

    mutating func add(_ node: ExpressionNode) {
        if let path = path(to: node), !path.isEmpty { found.insert(path) }
        switch node {
        case .constant, .list, .evaluatedObject, .keyPath, .variable, .anyKey: break
        case .path(let base, _), .collection(_, let base, _), .cast(let base, _),
            .assignment(_, let base):
            add(base)
        case .index(let base, let index):
            add(base)
            if case .at(let place) = index { add(place) }
        case .function(_, let parts), .aggregate(let parts): for part in parts { add(part) }
        case .call(let target, _, let parts): for part in [target] + parts { add(part) }
        case .conditional(let test, let one, let other):
            add(test)
            add(one)
            add(other)
        case .subquery(let collection, let variable, let condition):
            add(collection)
            let outer = variables[variable]
            variables[variable] = path(to: collection)
            add(condition)
            variables[variable] = outer
        case .set(_, let left, let right):
            add(left)
            add(right)
        case .fetch(let request, let context, _):
            add(request)
            add(context)
        }
    }

    /// The path to what an expression gives, or to what that is made of.
    private func path(to node: ExpressionNode) -> String? {
        switch node {
        case .evaluatedObject: return ""
        case .keyPath(let path): return path
        case .variable(let name): return variables[name]
        case .path(let base, let path): return self.path(to: base).map { Self.joined($0, path) }
        case .collection(_, let base, let path):
            return self.path(to: base).map { Self.joined($0, path) }
        case .index(let base, _), .subquery(let base, _, _): return path(to: base)
        default: return nil
        }
    }

    private static func joined(_ path: String, _ rest: String?) -> String {
        guard let rest else { return path }
        return path.isEmpty ? rest : "\(path).\(rest)"
    }
}
