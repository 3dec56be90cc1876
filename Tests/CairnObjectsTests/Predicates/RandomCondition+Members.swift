// Random conditions on members of relationships: any or all of them, how many there are, and what they come to.

import CairnModel
import CairnStore
import CairnTestSupport

extension RandomCondition {
    /// A path that ends at a to-many relationship, and where it leads.
    private func members(_ entity: SchemaEntity, _ random: inout RandomSource)
        -> (ExpressionNode, SchemaEntity)?
    {
        var entity = entity
        var names: [String] = []
        while names.count < 2, random.oneIn(4),
            let step = entity.relationships.randomElement(using: &random)
        {
            names.append(step.description.name)
            entity = schema.entities[step.destination]
        }
        guard
            let last = entity.relationships.filter(\.description.isToMany).randomElement(
                using: &random)
        else { return nil }
        names.append(last.description.name)
        return (.keyPath(names.joined(separator: ".")), schema.entities[last.destination])
    }

    /// A condition on any or all members, or on whether somebody is among them.
    func collection(_ entity: SchemaEntity, _ random: inout RandomSource) -> PredicateNode {
        guard let (members, _) = members(entity, &random) else { return identity(entity, &random) }
        let modifier: PredicateNode.Comparison.Modifier = random.oneIn(2) ? .any : .all
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .compare(members, .contains, .constant(id(&random)))
        case 1: return .compare(.constant(id(&random)), .in, members)
        case 2:
            return .compare(
                members, RandomValue.pick([.equal, .notEqual], &random), .constant(id(&random)),
                modifier: modifier)
        case 3:
            return .compare(
                members, .in, .list((0..<4).map { _ in id(&random) }), modifier: modifier)
        case 4: return .compare(.evaluatedObject, .in, members)
        case 5:
            guard let (path, type) = path(entity, toMany: true, &random),
                let (other, _) = self.path(entity, toMany: false, of: type, &random)
            else { return identity(entity, &random) }
            return random.oneIn(3)
                ? .compare(other, .in, path)
                : .compare(path, relation(&random), other, modifier: modifier)
        default:
            guard let (path, type) = path(entity, toMany: true, &random) else {
                return identity(entity, &random)
            }
            return simple(path, type, modifier, &random)
        }
    }

    /// Counts, sums and the like, of members or of those that meet a condition.
    func counted(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> PredicateNode
    {
        guard let (collection, inner) = members(entity, &random) else {
            return identity(entity, &random)
        }
        var members = collection
        if random.oneIn(2) {
            members = .subquery(
                members, variable: "m",
                inVariable("m", predicate(inner, depth: max(0, depth - 1), &random), &random))
        } else if random.oneIn(6), let (path, _) = path(entity, toMany: true, &random) {
            return .compare(
                .collection(.count, of: path, path: nil), relation(&random), .constant(.integer(1)))
        }
        let small: [Value] = [
            .integer(0), .integer(1), .integer(2), .integer(3), .double(1.5), .null,
        ]
        guard !random.oneIn(2),
            let (path, type) = path(inner, toMany: false, ofNumbers: true, &random),
            case .keyPath(let name) = path
        else {
            let count: ExpressionNode =
                random.oneIn(2)
                ? .collection(.count, of: members, path: nil) : .index(of: members, .size)
            let number = RandomValue.pick(small, &random)
            return random.oneIn(6)
                ? .compare(count, .in, .list([number, .integer(1)]))
                : .compare(count, relation(&random), .constant(number))
        }
        let operation = RandomValue.pick(
            [.sum, .average, .minimum, .maximum] as [ExpressionNode.CollectionOperator], &random)
        return .compare(
            .collection(operation, of: members, path: name), relation(&random),
            .constant(RandomValue.constant(type, &random)))
    }

    /// The paths of a condition as paths of a variable; some stay those of the object, and are none then maybe.
    private func inVariable(_ name: String, _ node: PredicateNode, _ random: inout RandomSource)
        -> PredicateNode
    {
        node.replacing { node in
            if random.oneIn(20) { return node }
            return switch node {
            case .keyPath(let path): .path(path, of: .variable(name))
            case .evaluatedObject: .variable(name)
            default: node
            }
        }
    }
}

extension PredicateNode {
    /// The same condition with other expressions at its ends, in collections that are counted and in those of subqueries. What a
    /// subquery asks of its own variable stays, under another name: an outer one is seen beside it.
    fileprivate func replacing(_ end: (ExpressionNode) -> ExpressionNode) -> PredicateNode {
        switch self {
        case .constant: return self
        case .and(let nodes): return .and(nodes.map { $0.replacing(end) })
        case .or(let nodes): return .or(nodes.map { $0.replacing(end) })
        case .not(let node): return .not(node.replacing(end))
        case .comparison(var comparison):
            func of(_ node: ExpressionNode) -> ExpressionNode {
                switch node {
                case .collection(let operation, let base, let path):
                    return .collection(operation, of: of(base), path: path)
                case .subquery(let base, let variable, let condition):
                    let other = variable + "m"
                    return .subquery(
                        of(base), variable: other,
                        condition.replacing { $0.renaming(variable, to: other) })
                default: return end(node)
                }
            }
            comparison.left = of(comparison.left)
            comparison.right = of(comparison.right)
            return .comparison(comparison)
        }
    }
}

extension ExpressionNode {
    /// The same path with another variable.
    fileprivate func renaming(_ name: String, to other: String) -> ExpressionNode {
        switch self {
        case .variable(name): .variable(other)
        case .path(let base, let path): .path(of: base.renaming(name, to: other), path)
        default: self
        }
    }
}
