// The logic of SQL in the plainest form: true, false and unknown. What conditions with the nil of SQL must be answered like.
//
// Predicates are walked as they are written. Of expressions only those are looked at that have predicates in them; all else,
// and comparisons of two values that are not nil, is left to the evaluator of two values.

import CairnModel

/// An answer of SQL; unknown is nil.
typealias Truth = Bool?

/// Answers predicates for objects in memory, in three values.
struct ThreeValues {
    private let object: any EvaluatedObject
    private var variables: [String: EvaluatedValue] = [:]
    private var count = 0

    private init(_ object: any EvaluatedObject) { self.object = object }

    /// What a predicate says of an object.
    static func answer(_ node: PredicateNode, _ object: any EvaluatedObject) throws -> Truth {
        var values = ThreeValues(object)
        return try values.answer(node)
    }

    private mutating func answer(_ node: PredicateNode) throws -> Truth {
        switch node {
        case .constant(let truth): return truth
        case .not(let part): return try answer(part).map { !$0 }
        case .and(let parts): return Self.and(try parts.map { try answer($0) })
        case .or(let parts): return Self.or(try parts.map { try answer($0) })
        case .comparison(let comparison): return try answer(comparison)
        }
    }

    private static func and(_ parts: [Truth]) -> Truth {
        parts.contains(false) ? false : parts.contains(nil) ? nil : true
    }

    private static func or(_ parts: [Truth]) -> Truth {
        parts.contains(true) ? true : parts.contains(nil) ? nil : false
    }

    // MARK: Comparisons

    private mutating func answer(_ comparison: PredicateNode.Comparison) throws -> Truth {
        let left = try value(comparison.left)
        let right = try value(comparison.right)
        let hasNull =
            comparison.left == .constant(.null) || comparison.right == .constant(.null)
        func ask(_ left: EvaluatedValue) throws -> Truth {
            if hasNull, comparison.operator == .equal { return left.isNull && right.isNull }
            if hasNull, comparison.operator == .notEqual { return !left.isNull || !right.isNull }
            return try compare(left, comparison, right)
        }
        switch comparison.modifier {
        case .direct where comparison.left != .anyKey: return try ask(left)
        case .direct, .any: return try left.members.contains { try ask($0) == true }
        case .all: return Self.and(try left.members.map(ask))
        }
    }

    private func compare(
        _ left: EvaluatedValue, _ comparison: PredicateNode.Comparison, _ right: EvaluatedValue
    ) throws -> Truth {
        func one(
            _ left: EvaluatedValue, _ relation: PredicateNode.Comparison.Operator,
            _ right: EvaluatedValue
        ) throws -> Truth {
            if left.isNull || right.isNull { return nil }
            return try PredicateEvaluator(
                .compare(
                    .variable("left"), relation, .variable("right"), options: comparison.options)
            ).matches(.value(.null), variables: ["left": left, "right": right])
        }
        func isIn(_ member: EvaluatedValue, _ members: [EvaluatedValue]) throws -> Truth {
            Self.or(try members.map { try one(member, .equal, $0) })
        }
        switch (comparison.operator, left, right) {
        case (.between, _, .collection(let ends)) where ends.count == 2:
            return Self.and([
                try one(left, .greaterOrEqual, ends[0]), try one(left, .lessOrEqual, ends[1]),
            ])
        case (.in, _, .collection(let members)): return try isIn(left, members)
        case (.contains, .collection(let members), _): return try isIn(right, members)
        default: return try one(left, comparison.operator, right)
        }
    }

    // MARK: Expressions

    private mutating func value(_ node: ExpressionNode) throws -> EvaluatedValue {
        let plain = try withoutPredicates(node)
        return try ExpressionEvaluator(plain).value(for: .object(object), variables: variables)
    }

    /// The same expression with variables in the place of what has a predicate in it, and of what is given a name.
    private mutating func withoutPredicates(_ node: ExpressionNode) throws -> ExpressionNode {
        switch node {
        case .conditional(let test, let one, let other):
            return try withoutPredicates(try answer(test) == true ? one : other)
        case .subquery(let collection, let variable, let condition):
            let outer = variables[variable]
            let whole = try value(collection)
            if whole.isNull { return .constant(.null) }
            let kept = try whole.members.filter { member in
                variables[variable] = member
                return try answer(condition) == true
            }
            variables[variable] = outer
            return named(.collection(kept))
        case .assignment(let name, let base):
            variables[name] = try value(base)
            return .variable(name)
        case .collection(let operation, let base, let path):
            return .collection(operation, of: try withoutPredicates(base), path: path)
        case .index(let base, let index): return .index(of: try withoutPredicates(base), index)
        case .path(let base, let path): return .path(of: try withoutPredicates(base), path)
        case .cast(let base, let type): return .cast(try withoutPredicates(base), to: type)
        case .function(let function, let parts):
            return .function(function, try parts.map { try withoutPredicates($0) })
        case .aggregate(let parts): return .aggregate(try parts.map { try withoutPredicates($0) })
        default: return node
        }
    }

    private mutating func named(_ value: EvaluatedValue) -> ExpressionNode {
        count += 1
        variables["value \(count)"] = value
        return .variable("value \(count)")
    }
}
