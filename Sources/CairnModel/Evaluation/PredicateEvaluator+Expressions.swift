// Evaluates expressions for one object.
//
// Nothing throws and nothing traps: what has no result is nil. A collection to which no way leads, because a to-one relationship
// before it is nil, is nil itself and not empty: so are its count, and the members that meet a condition. Integers that overflow
// go on as decimals and doubles (see `Number`); what is divided by zero is nil; what is asked of the wrong kind of value is nil.

import FoundationEssentials

extension PredicateEvaluator {
    func evaluate(_ node: ExpressionNode, _ scope: inout EvaluationScope) -> EvaluatedValue {
        switch node {
        case .constant(let value): return .value(value)
        case .list(let values): return .collection(values.map { .value($0) })
        case .evaluatedObject: return scope.object
        case .keyPath(let path): return scope.object.value(at: path)
        case .variable(let name): return scope.variables[name] ?? .null
        case .anyKey:
            guard case .object(let object) = scope.object else { return .null }
            let columns = object.evaluatedEntity.columns
            return .collection(
                columns.indices.filter { columns[$0].relationship == nil }
                    .map { .value(object.evaluatedColumn($0)) })
        case .path(let base, let path): return evaluate(base, &scope).value(at: path)
        case .collection(let operation, let base, let path):
            return collect(operation, evaluate(base, &scope), path)
        case .index(let base, let index): return self.index(index, base, &scope)
        case .function(let function, let arguments):
            return call(function, arguments.map { evaluate($0, &scope) })
        case .cast(let base, let type):
            return .value(Self.cast(evaluate(base, &scope).plain, to: type))
        case .conditional(let test, let one, let other):
            return evaluate(holds(test, &scope) ? one : other, &scope)
        case .subquery(let collection, let variable, let condition):
            let whole = evaluate(collection, &scope)
            if whole.isNull { return .null }
            var inner = scope
            return .collection(
                whole.members.filter { member in
                    inner.variables[variable] = member
                    return holds(condition, &inner)
                })
        case .set(let operation, let left, let right):
            return combine(operation, evaluate(left, &scope), evaluate(right, &scope))
        case .aggregate(let members):
            return .flat(members.map { evaluate($0, &scope) })
        case .assignment(let name, let base):
            let value = evaluate(base, &scope)
            scope.variables[name] = value
            return value
        // A predicate with these cannot be bound; unbound it finds nothing.
        case .call(let target, let function, let arguments):
            guard let calls = scope.calls else { return .null }
            return calls(target, function, arguments.map { evaluate($0, &scope) })
        case .fetch: return .null
        }
    }

    // MARK: Collections

    private func index(
        _ index: ExpressionNode.Index, _ base: ExpressionNode, _ scope: inout EvaluationScope
    ) -> EvaluatedValue {
        let whole = evaluate(base, &scope)
        if whole.isNull { return .null }
        let members = whole.members
        switch index {
        case .first: return members.first ?? .null
        case .last: return members.last ?? .null
        case .size: return .value(.integer(Int64(members.count)))
        case .at(let place):
            guard let number = Number(evaluate(place, &scope).plain)?.wholeNumber,
                let index = Int(exactly: number), members.indices.contains(index)
            else { return .null }
            return members[index]
        }
    }

    private func collect(
        _ operation: ExpressionNode.CollectionOperator, _ base: EvaluatedValue, _ path: String?
    ) -> EvaluatedValue {
        if base.isNull { return .null }
        let counted = path.map { base.value(at: $0) } ?? base
        let members = counted.members
        switch operation {
        case .count: return .value(.integer(Int64(members.count)))
        case .sum: return .value(Self.sum(members))
        case .average: return .value(Self.average(members))
        case .minimum: return Self.extreme(members, isLeast: true)
        case .maximum: return Self.extreme(members, isLeast: false)
        case .unionOfObjects, .unionOfArrays: return .collection(members.filter { !$0.isNull })
        case .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets:
            return .collection(distinct(members.filter { !$0.isNull }))
        }
    }

    private static let plain = ValueComparison(operator: .equal)

    /// The distinct members. Equal numbers of different types are the same member, as in groups.
    private func distinct(_ members: [EvaluatedValue]) -> [EvaluatedValue] {
        var seen: Set<Value> = []
        return zip(members, Self.identities(members))
            .filter { seen.insert($0.1).inserted }.map(\.0)
    }

    /// What members are told apart by.
    private static func identities(_ members: [EvaluatedValue]) -> [Value] {
        let values = members.map(\.plain)
        return Value.hasMixedNumbers(values)
            ? values.map(\.groupIdentity) : values.map(\.asGroupKey)
    }

    private func combine(
        _ operation: ExpressionNode.SetOperator, _ left: EvaluatedValue, _ right: EvaluatedValue
    ) -> EvaluatedValue {
        let one = left.members.filter { !$0.isNull }
        let other = right.members.filter { !$0.isNull }
        if operation == .union { return .collection(distinct(one + other)) }
        let identities = Self.identities(one + other)
        let known = Set(identities[one.count...])
        var seen: Set<Value> = []
        let kept = zip(one, identities).filter {
            known.contains($0.1) == (operation == .intersect) && seen.insert($0.1).inserted
        }
        return .collection(kept.map(\.0))
    }

    // MARK: Statistics

    /// The sum of the numbers; 0 if there are none.
    static func sum(_ members: [EvaluatedValue]) -> Value {
        let numbers = members.compactMap { Number($0.plain) }
        var whole: Int128 = 0
        for number in numbers {
            guard case .integer(let integer) = number else {
                return numbers.reduce(Number.integer(0), +).value
            }
            whole += Int128(integer)
        }
        return TableAggregate.sum(whole)
    }

    /// The average of the numbers that are there.
    static func average(_ members: [EvaluatedValue]) -> Value {
        let numbers = members.compactMap { Number($0.plain) }
        guard let sum = Number(sum(members)), !numbers.isEmpty else { return .null }
        if case .decimal = sum {
            return (sum / .integer(Int64(numbers.count)))?.value ?? .null
        }
        return .double(sum.double / Double(numbers.count))
    }

    /// The least or the greatest; nil counts for nothing.
    static func extreme(_ members: [EvaluatedValue], isLeast: Bool) -> EvaluatedValue {
        var best: EvaluatedValue?
        for member in members where !member.isNull {
            guard let current = best else {
                // What has no order with itself is no number.
                if plain.order(member.plain, member.plain) != nil { best = member }
                continue
            }
            guard let order = plain.order(member.plain, current.plain) else { continue }
            if isLeast ? order < 0 : order > 0 { best = member }
        }
        return best ?? .null
    }

    // MARK: Casting

    private static func cast(_ value: Value, to type: ExpressionNode.CastType) -> Value {
        if value.isNull { return .null }
        switch type {
        case .date:
            if case .date = value { return value }
            return value.literalCast(to: .date) ?? .null
        case .number:
            if let number = Number(value) { return number.value }
            switch value {
            case .date(let date): return .double(date.timeIntervalSinceReferenceDate)
            case .string(let text):
                if let number = Int64(text) { return .integer(number) }
                return Decimal(exactText: text).map { .decimal($0) }
                    ?? value.literalCast(to: .number) ?? .null
            default: return .null
            }
        case .decimalNumber:
            if case .string(let text) = value {
                return Decimal(exactText: text).map { .decimal($0) } ?? .null
            }
            return value.literal(of: .decimal) ?? .null
        case .string, .class:
            switch value {
            case .string: return value
            case .boolean(let truth): return .string(truth ? "1" : "0")
            case .objectID(let id): return .string(id.uriRepresentation.absoluteString)
            case .binary(let bytes): return .string(bytes.base64EncodedString())
            default: return .string(value.description)
            }
        case .uuid: return value.literal(of: .uuid) ?? .null
        case .url: return value.literal(of: .uri) ?? .null
        case .data: return value.literal(of: .binary) ?? .null
        case .objectID:
            if case .objectID = value { return value }
            return value.literalCast(to: .objectID) ?? .null
        }
    }
}
