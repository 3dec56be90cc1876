// Random predicates over a schema: nearly all of what its binder takes.

import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials

struct RandomCondition {
    let schema: Schema
    let ids: [ObjectID]

    // MARK: Logic

    func predicate(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> PredicateNode
    {
        switch depth == 0 ? 9 : Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            return .and(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    predicate(entity, depth: depth - 1, &random)
                })
        case 2, 3:
            return .or(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    predicate(entity, depth: depth - 1, &random)
                })
        case 4, 5: return .not(predicate(entity, depth: depth - 1, &random))
        case 6 where random.oneIn(8): return .constant(random.oneIn(2))
        default: return comparison(entity, depth: depth, &random)
        }
    }

    private typealias Relation = PredicateNode.Comparison.Operator

    private func comparison(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> PredicateNode
    {
        switch Int.random(in: 0..<16, using: &random) {
        case 14, 15: return indexed(entity, &random)
        case 0: return identity(entity, &random)
        case 1, 2: return collection(entity, &random)
        case 3: return counted(entity, depth: depth, &random)
        case 4: return calculated(entity, depth: depth, &random)
        case 5: return named(entity, depth: depth, &random)
        case 6: return twoPaths(entity, &random)
        default:
            guard let (left, type) = path(entity, toMany: false, &random) else {
                return identity(entity, &random)
            }
            return simple(left, type, .direct, &random)
        }
    }

    /// Compares a path with another one, or with itself, which what is no number does not equal.
    private func twoPaths(_ entity: SchemaEntity, _ random: inout RandomSource) -> PredicateNode {
        guard let (one, type) = path(entity, toMany: false, &random),
            let (another, _) = path(entity, toMany: false, of: type, &random)
        else { return identity(entity, &random) }
        let other = random.oneIn(4) ? one : another
        if random.oneIn(5) {
            let constant = ExpressionNode.constant(RandomValue.constant(type, &random))
            return .compare(
                one, random.oneIn(2) ? .in : .between, .braces([other, constant]))
        }
        let texts: [Relation] = [.contains, .beginsWith, .endsWith, .like, .in]
        let relation =
            type == .string && random.oneIn(2)
            ? RandomValue.pick(texts, &random) : relation(&random)
        return .compare(one, relation, other, options: options(type, &random))
    }

    func relation(_ random: inout RandomSource) -> PredicateNode.Comparison.Operator {
        RandomValue.pick(
            [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual], &random)
    }

    private func options(_ type: AttributeType, _ random: inout RandomSource)
        -> PredicateNode.Comparison.Options
    {
        guard type == .string, !random.oneIn(3) else { return [] }
        return .init(rawValue: UInt8.random(in: 0..<16, using: &random))
    }

    /// Compares something of a type with constants.
    func simple(
        _ left: ExpressionNode, _ type: AttributeType,
        _ modifier: PredicateNode.Comparison.Modifier, _ random: inout RandomSource
    ) -> PredicateNode {
        let options = options(type, &random)
        func value() -> Value { RandomValue.constant(type, &random) }
        if type == .transformable {
            return .compare(
                left, random.oneIn(2) ? .equal : .notEqual, .constant(.null), modifier: modifier)
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let count =
                random.oneIn(4)
                ? RandomValue.pick([40, 300], &random) : Int.random(in: 0...4, using: &random)
            return .compare(
                left, .in, .list((0..<count).map { _ in value() }), modifier: modifier,
                options: options)
        case 2:
            return .compare(
                left, .between, .list([value(), value()]), modifier: modifier, options: options)
        case 3...5 where type == .string:
            let relations: [Relation] = [
                .contains, .contains, .beginsWith, .endsWith, .like, .matches, .in,
            ]
            let relation = RandomValue.pick(relations, &random)
            let text =
                switch relation {
                case .like: RandomValue.pattern(&random)
                case .matches: RandomValue.expression(&random)
                default: RandomValue.text(&random)
                }
            return .compare(
                left, relation, .constant(.string(text)), modifier: modifier, options: options)
        case 6 where modifier == .direct:
            return .compare(
                .constant(value()), relation(&random), left, options: options)
        default:
            return .compare(
                left, relation(&random), .constant(value()), modifier: modifier, options: options)
        }
    }

    func identity(_ entity: SchemaEntity, _ random: inout RandomSource) -> PredicateNode {
        var lefts: [ExpressionNode] = [.evaluatedObject, .keyPath("objectID")]
        for relationship in entity.relationships where !relationship.description.isToMany {
            let name = relationship.description.name
            lefts += [.keyPath(name), .keyPath(name + ".objectID")]
            for next in schema.entities[relationship.destination].relationships
            where !next.description.isToMany {
                lefts.append(.keyPath("\(name).\(next.description.name)"))
            }
        }
        let left = RandomValue.pick(lefts, &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let count = random.oneIn(6) ? 300 : Int.random(in: 0...5, using: &random)
            return .compare(left, .in, .list((0..<count).map { _ in id(&random) }))
        case 1:
            let names = schema.entities.map(\.name) + ["e0", "E"]
            return .compare(
                .keyPath(random.oneIn(2) ? "entity" : "entity.name"),
                RandomValue.pick([.equal, .notEqual, .beginsWith, .contains], &random),
                .constant(.string(RandomValue.pick(names, &random))),
                options: random.oneIn(2) ? .caseInsensitive : [])
        case 2:
            return .compare(
                left, random.oneIn(2) ? .equal : .notEqual, RandomValue.pick(lefts, &random))
        default:
            return .compare(
                left, random.oneIn(2) ? .equal : .notEqual,
                .constant(random.oneIn(4) ? .null : id(&random)))
        }
    }

    /// A condition on what an index or a constraint is of, or on the first of it.
    private func indexed(_ entity: SchemaEntity, _ random: inout RandomSource) -> PredicateNode {
        var lists: [[String]] = []
        var ancestor: SchemaEntity? = entity
        while let current = ancestor {
            lists += current.description.indexes.map { $0.elements.compactMap(\.propertyName) }
            lists += current.description.uniquenessConstraints
            ancestor = current.parent.map { schema.entities[$0] }
        }
        guard let names = lists.randomElement(using: &random) else {
            return identity(entity, &random)
        }
        let parts = names.prefix(Int.random(in: 1...max(1, names.count), using: &random)).map {
            name -> PredicateNode in
            let left = ExpressionNode.keyPath(name)
            guard let column = entity.columnIndex(named: name),
                case .attribute(let type) = entity.columns[column].kind
            else { return .compare(left, .equal, .constant(id(&random))) }
            func value() -> Value { RandomValue.constant(type, &random) }
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let count = random.oneIn(3) ? 300 : Int.random(in: 1...5, using: &random)
                return .compare(left, .in, .list((0..<count).map { _ in value() }))
            case 1 where type == .string:
                return .compare(left, .beginsWith, .constant(.string(RandomValue.text(&random))))
            case 2: return .compare(left, .between, .list([value(), value()]))
            case 3: return .compare(left, relation(&random), .constant(value()))
            default: return .compare(left, .equal, .constant(value()))
            }
        }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    func id(_ random: inout RandomSource) -> Value {
        ids.isEmpty ? .null : .objectID(RandomValue.pick(ids, &random))
    }

    // MARK: Calculating

    private func number(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> ExpressionNode
    {
        if depth > 0, !random.oneIn(3) {
            let functions: [ExpressionNode.Function] = [
                .add, .subtract, .multiply, .divide, .modulus, .bitwiseAnd, .bitwiseOr, .shiftLeft,
                .onesComplement, .absolute, .floor, .ceiling, .truncate, .squareRoot, .noindex,
                .sum, .minimum, .maximum, .average, .median, .standardDeviation, .count,
            ]
            let function = RandomValue.pick(functions, &random)
            let count = max(function.arity.lowerBound, min(function.arity.upperBound, 2))
            return .function(
                function, (0..<count).map { _ in number(entity, depth: depth - 1, &random) })
        }
        if random.oneIn(2), let (path, _) = path(entity, toMany: false, ofNumbers: true, &random) {
            return path
        }
        return .constant(RandomValue.constant(.double, &random))
    }

    private func calculated(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> PredicateNode
    {
        let left = number(entity, depth: 2, &random)
        return .compare(left, relation(&random), number(entity, depth: 1, &random))
    }

    /// Choices, casts, functions of texts, any key, names for values.
    private func named(_ entity: SchemaEntity, depth: Int, _ random: inout RandomSource)
        -> PredicateNode
    {
        let (text, _) =
            path(entity, toMany: false, of: .string, &random) ?? (.keyPath("entity.name"), .string)
        let constant = ExpressionNode.constant(.string(RandomValue.text(&random)))
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            return .compare(
                .function(
                    RandomValue.pick([.uppercase, .lowercase, .canonical], &random), [text]),
                relation(&random), constant)
        case 1:
            return .compare(
                .function(.length, [text]), relation(&random),
                .constant(.integer(Int64.random(in: 0..<8, using: &random))))
        case 2:
            return .compare(
                .conditional(
                    predicate(entity, depth: 0, &random), text, constant), relation(&random),
                constant)
        case 3:
            guard let (path, _) = path(entity, toMany: false, &random) else { fallthrough }
            return .compare(.cast(path, to: .string), relation(&random), constant)
        case 4: return .compare(.anyKey, .equal, constant)
        case 5:
            return .and([
                .compare(.assignment("n", text), .notEqual, constant),
                .compare(.variable("n"), relation(&random), constant),
            ])
        case 6:
            return .compare(constant, random.oneIn(2) ? .contains : .in, text)
        default:
            return .compare(text, .in, .braces([constant, text, .keyPath("entity")]))
        }
    }

    // MARK: Paths

    /// A path to an attribute, its type with it: through to-one relationships, or also through to-many ones.
    func path(
        _ entity: SchemaEntity, toMany: Bool, of wanted: AttributeType? = nil,
        ofNumbers: Bool = false, _ random: inout RandomSource
    ) -> (ExpressionNode, AttributeType)? {
        var entity = entity
        var names: [String] = []
        var isThroughMany = false
        for _ in 0..<3 {
            let steps = entity.relationships.filter {
                !$0.description.isToMany || (toMany && (!isThroughMany || random.oneIn(3)))
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
            if ofNumbers { return numbers.contains(type) }
            return wanted.map { $0 == type || (numbers.contains($0) && numbers.contains(type)) }
                ?? true
        }
        guard let column = columns.randomElement(using: &random),
            case .attribute(let type) = column.kind
        else { return nil }
        return (.keyPath((names + [column.name]).joined(separator: ".")), type)
    }
}
