// Random conditions and orders over a schema: what has SQL, and some of what has none.

import CairnModel
import CairnStore
import CairnTestSupport

struct RandomQuestion {
    private typealias Relation = PredicateNode.Comparison.Operator

    let schema: Schema
    /// The ids of all objects, those that are gone among them.
    let ids: [ObjectID]

    // MARK: Logic

    func condition(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> PredicateNode
    {
        func parts() -> [PredicateNode] {
            (0..<Int.random(in: 0...3, using: &random)).map { _ in
                condition(entity, depth: depth - 1, &random)
            }
        }
        switch depth == 0 ? 9 : Int.random(in: 0..<10, using: &random) {
        case 0, 1: return .and(parts())
        case 2, 3: return .or(parts())
        case 4: return .not(condition(entity, depth: depth - 1, &random))
        case 5 where random.oneIn(6): return .constant(random.oneIn(2))
        default: return comparison(entity, depth: depth, &random)
        }
    }

    private func comparison(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> PredicateNode
    {
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1: return identity(entity, &random)
        case 2, 3, 4: return collection(entity, &random)
        case 5, 6: return counted(entity, depth: depth, &random)
        case 7: return beyond(entity, &random)
        case 8, 9:
            guard let (one, type) = path(entity, toMany: false, &random),
                let (another, _) = path(entity, toMany: false, of: type, &random)
            else { return identity(entity, &random) }
            // What is no number does not equal itself.
            let other = random.oneIn(2) ? one : another
            if random.oneIn(5) {
                return .compare(
                    one, random.oneIn(2) ? .in : .between,
                    .braces([other, .constant(AskedValue.constant(type, &random))]))
            }
            let texts: [Relation] = [.contains, .beginsWith, .endsWith, .like, .in]
            let relation =
                type == .string && random.oneIn(2)
                ? AskedValue.pick(texts, &random) : relation(&random)
            return .compare(one, relation, other, options: options(type, &random))
        default:
            guard let (left, type) = path(entity, toMany: false, &random) else {
                return identity(entity, &random)
            }
            return simple(left, type, .direct, &random)
        }
    }

    private func relation(_ random: inout RandomSource) -> Relation {
        AskedValue.pick(
            [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual], &random)
    }

    private func options(_ type: AttributeType, _ random: inout RandomSource)
        -> PredicateNode.Comparison.Options
    {
        guard type == .string, random.oneIn(4) else { return [] }
        return .init(rawValue: UInt8.random(in: 0..<16, using: &random))
    }

    /// Compares something of a type with constants.
    private func simple(
        _ left: ExpressionNode, _ type: AttributeType,
        _ modifier: PredicateNode.Comparison.Modifier, _ random: inout RandomSource
    ) -> PredicateNode {
        let options = options(type, &random)
        func value() -> Value { AskedValue.constant(type, &random) }
        if type == .transformable {
            return .compare(
                left, random.oneIn(2) ? .equal : .notEqual, .constant(.null), modifier: modifier)
        }
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
            let count = Int.random(in: 0...4, using: &random)
            return .compare(
                left, .in, .list((0..<count).map { _ in value() }), modifier: modifier,
                options: options)
        case 2:
            return .compare(
                left, .between, .list([value(), value()]), modifier: modifier, options: options)
        case 3...5 where type == .string:
            let relations: [Relation] = [
                .contains, .beginsWith, .endsWith, .like, .like, .matches, .in,
            ]
            let relation = AskedValue.pick(relations, &random)
            let text =
                switch relation {
                case .like: AskedValue.pattern(&random)
                case .matches: "a.*"
                default: AskedValue.text(&random) + (random.oneIn(12) ? "\u{0}" : "")
                }
            return .compare(
                left, relation, .constant(.string(text)), modifier: modifier, options: options)
        case 6 where modifier == .direct:
            return .compare(.constant(value()), relation(&random), left, options: options)
        default:
            return .compare(
                left, relation(&random), .constant(value()), modifier: modifier, options: options)
        }
    }

    private func identity(_ entity: SchemaEntity, _ random: inout RandomSource) -> PredicateNode {
        var lefts: [ExpressionNode] = [.evaluatedObject, .keyPath("objectID")]
        for relationship in entity.relationships where !relationship.description.isToMany {
            let name = relationship.description.name
            lefts += [.keyPath(name), .keyPath(name), .keyPath(name + ".objectID")]
            for next in schema.entities[relationship.destination].relationships
            where !next.description.isToMany {
                lefts.append(.keyPath("\(name).\(next.description.name)"))
            }
        }
        let left = AskedValue.pick(lefts, &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let count = Int.random(in: 0...5, using: &random)
            return .compare(left, .in, .list((0..<count).map { _ in id(&random) }))
        case 1:
            return .compare(
                left, random.oneIn(2) ? .equal : .notEqual, AskedValue.pick(lefts, &random))
        default:
            return .compare(
                left, random.oneIn(2) ? .equal : .notEqual,
                .constant(random.oneIn(3) ? .null : id(&random)))
        }
    }

    private func id(_ random: inout RandomSource) -> Value {
        .objectID(AskedValue.pick(ids, &random))
    }

    // MARK: Collections

    /// A path that ends at a to-many relationship, and where it leads.
    private func members(_ entity: SchemaEntity, _ random: inout RandomSource)
        -> (String, SchemaEntity)?
    {
        var entity = entity
        var names: [String] = []
        while names.count < 2, random.oneIn(3),
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
        return (names.joined(separator: "."), schema.entities[last.destination])
    }

    private func collection(_ entity: SchemaEntity, _ random: inout RandomSource) -> PredicateNode {
        guard let (name, _) = members(entity, &random) else { return identity(entity, &random) }
        let members = ExpressionNode.keyPath(name)
        let modifier: PredicateNode.Comparison.Modifier = random.oneIn(2) ? .any : .all
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .compare(members, .contains, .constant(id(&random)))
        case 1: return .compare(.constant(id(&random)), .in, members)
        case 2:
            return .compare(
                members, AskedValue.pick([.equal, .notEqual], &random), .constant(id(&random)),
                modifier: modifier)
        case 3:
            return .compare(
                members, .in, .list((0..<4).map { _ in id(&random) }), modifier: modifier)
        case 4:
            guard let (path, type) = path(entity, toMany: true, &random),
                let (other, _) = self.path(entity, toMany: false, of: type, &random)
            else { return identity(entity, &random) }
            return random.oneIn(3)
                ? .compare(other, .in, path)
                : .compare(path, relation(&random), other, modifier: modifier)
        case 5: return .compare(.evaluatedObject, .in, members)
        default:
            guard let (path, type) = path(entity, toMany: true, &random) else {
                return identity(entity, &random)
            }
            return simple(path, type, modifier, &random)
        }
    }

    /// How many members there are, or of those that meet a condition.
    private func counted(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> PredicateNode
    {
        guard let count = count(entity, depth: depth, &random) else {
            return identity(entity, &random)
        }
        let value: Value = AskedValue.pick(
            [.integer(0), .integer(1), .integer(2), .double(1.5), .null, .integer(3)], &random)
        if random.oneIn(6) {
            return .compare(count, .in, .list([value, .integer(1)]))
        }
        return .compare(count, relation(&random), .constant(value))
    }

    /// The count itself; nil if the entity leads nowhere.
    func count(_ entity: SchemaEntity, depth: Int = 1, _ random: inout RandomSource)
        -> ExpressionNode?
    {
        guard let (name, inner) = members(entity, &random) else { return nil }
        var members = ExpressionNode.keyPath(name)
        if random.oneIn(2) {
            let condition = inVariable(
                "m", condition(inner, depth: max(0, depth - 1), &random), &random)
            members = .subquery(members, variable: "m", condition)
        } else if random.oneIn(5), let (path, _) = path(entity, toMany: true, &random) {
            members = path
        }
        return .collection(.count, of: members, path: nil)
    }

    /// The paths of a condition as paths of a variable; some stay those of the object, and are none then maybe.
    private func inVariable(_ name: String, _ node: PredicateNode, _ random: inout RandomSource)
        -> PredicateNode
    {
        switch node {
        case .constant: return node
        case .and(let nodes): return .and(nodes.map { inVariable(name, $0, &random) })
        case .or(let nodes): return .or(nodes.map { inVariable(name, $0, &random) })
        case .not(let node): return .not(inVariable(name, node, &random))
        case .comparison(let comparison):
            func of(_ node: ExpressionNode) -> ExpressionNode {
                if random.oneIn(20) { return node }
                return switch node {
                case .keyPath(let path): .path(path, of: .variable(name))
                case .evaluatedObject: .variable(name)
                case .collection(let operation, let base, let path):
                    .collection(operation, of: of(base), path: path)
                case .subquery(let base, let inner, let condition):
                    .subquery(of(base), variable: inner + "m", renamed(condition, inner))
                default: node
                }
            }
            return .compare(
                of(comparison.left), comparison.operator, of(comparison.right),
                modifier: comparison.modifier, options: comparison.options)
        }
    }

    /// A condition whose variable has another name, so that an outer one is seen beside it.
    private func renamed(_ node: PredicateNode, _ name: String) -> PredicateNode {
        switch node {
        case .constant: return node
        case .and(let nodes): return .and(nodes.map { renamed($0, name) })
        case .or(let nodes): return .or(nodes.map { renamed($0, name) })
        case .not(let node): return .not(renamed(node, name))
        case .comparison(var comparison):
            func other(_ node: ExpressionNode) -> ExpressionNode {
                switch node {
                case .variable(name): .variable(name + "m")
                case .path(let base, let path): .path(of: other(base), path)
                case .collection(let operation, let base, let path):
                    .collection(operation, of: other(base), path: path)
                default: node
                }
            }
            comparison.left = other(comparison.left)
            comparison.right = other(comparison.right)
            return .comparison(comparison)
        }
    }

    /// What has no SQL.
    private func beyond(_ entity: SchemaEntity, _ random: inout RandomSource) -> PredicateNode {
        let name = ExpressionNode.keyPath("name")
        let text = ExpressionNode.constant(.string(AskedValue.text(&random)))
        return switch Int.random(in: 0..<6, using: &random) {
        case 0: .compare(.function(.uppercase, [name]), relation(&random), text)
        case 1: .compare(.keyPath("name.length"), .greater, .constant(.integer(2)))
        case 2: .compare(.anyKey, .equal, text)
        case 3: .compare(.keyPath("entity.name"), .equal, .constant(.string("Leaf")))
        case 4: .compare(.cast(name, to: .string), relation(&random), text)
        default: .compare(text, random.oneIn(2) ? .contains : .in, name)
        }
    }

    // MARK: Paths

    /// A path to an attribute through to-one relationships.
    func path(
        _ entity: SchemaEntity, of wanted: AttributeType? = nil, _ random: inout RandomSource
    ) -> ExpressionNode? {
        path(entity, toMany: false, of: wanted, &random)?.0
    }

    /// A path to an attribute, its type with it: through to-one relationships, or also through to-many ones.
    private func path(
        _ entity: SchemaEntity, toMany: Bool, of wanted: AttributeType? = nil,
        _ random: inout RandomSource
    ) -> (ExpressionNode, AttributeType)? {
        var entity = entity
        var names: [String] = []
        var isThroughMany = false
        for _ in 0..<3 {
            let steps = entity.relationships.filter {
                !$0.description.isToMany || (toMany && (!isThroughMany || random.oneIn(2)))
            }
            let goesOn = toMany && !isThroughMany ? true : random.oneIn(3)
            guard goesOn, let step = steps.randomElement(using: &random) else { break }
            names.append(step.description.name)
            isThroughMany = isThroughMany || step.description.isToMany
            entity = schema.entities[step.destination]
        }
        if toMany && !isThroughMany { return nil }
        let numbers: Set<AttributeType> = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean,
        ]
        let columns = entity.columns.filter { column in
            guard case .attribute(let type) = column.kind else { return false }
            return wanted.map { $0 == type || (numbers.contains($0) && numbers.contains(type)) }
                ?? true
        }
        guard let column = columns.randomElement(using: &random),
            case .attribute(let type) = column.kind
        else { return nil }
        return (.keyPath((names + [column.name]).joined(separator: ".")), type)
    }

    // MARK: Orders

    func sort(_ entity: SchemaEntity, _ random: inout RandomSource) -> [SortKey] {
        (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in key(entity, &random) }
    }

    private func key(_ entity: SchemaEntity, _ random: inout RandomSource) -> SortKey? {
        var entity = entity
        var names: [String] = []
        for _ in 0..<2 where random.oneIn(3) {
            let steps = entity.relationships.filter { !$0.description.isToMany }
            guard let step = steps.randomElement(using: &random) else { break }
            names.append(step.description.name)
            entity = schema.entities[step.destination]
        }
        guard let column = entity.columns.randomElement(using: &random) else { return nil }
        var key = SortKey(
            (names + [column.name]).joined(separator: "."), ascending: random.oneIn(2),
            nulls: random.oneIn(3)
                ? AskedValue.pick(SortKey.NullsPosition.allCases, &random) : nil)
        if column.kind == .attribute(.string), random.oneIn(4) {
            key.comparison = AskedValue.pick(SortKey.Comparison.allCases, &random)
        }
        return key
    }
}
