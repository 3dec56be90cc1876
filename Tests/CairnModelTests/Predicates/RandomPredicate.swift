// Random predicate trees, in the form in which a text is read.

import CairnModel
import CairnTestSupport
import Foundation

enum RandomPredicate {
    static func predicate(depth: Int, using random: inout RandomSource) -> PredicateNode {
        switch depth == 0 ? 0 : Int.random(in: 0..<7, using: &random) {
        case 1: return .not(predicate(depth: depth - 1, using: &random))
        case 2: return .and(some(2...3, depth, using: &random))
        case 3: return .or(some(2...3, depth, using: &random))
        case 4 where random.oneIn(3): return .constant(.random(using: &random))
        default: return comparison(depth: depth, using: &random)
        }
    }

    private static func some(
        _ count: ClosedRange<Int>, _ depth: Int, using random: inout RandomSource
    ) -> [PredicateNode] {
        (0..<Int.random(in: count, using: &random)).map { _ in
            predicate(depth: depth - 1, using: &random)
        }
    }

    static func comparison(depth: Int, using random: inout RandomSource) -> PredicateNode {
        let relation =
            PredicateNode.Comparison.Operator.allCases.randomElement(using: &random) ?? .equal
        let right: ExpressionNode
        switch relation {
        case .between:
            right = .braces((0..<2).map { _ in expression(depth: depth - 1, using: &random) })
        case .in:
            right =
                random.oneIn(2)
                ? list(depth: depth, using: &random) : path(using: &random)
        default: right = expression(depth: depth - 1, using: &random)
        }
        let modifiers: [PredicateNode.Comparison.Modifier] = [.direct, .direct, .any, .all]
        return .compare(
            expression(depth: depth - 1, using: &random), relation, right,
            modifier: modifiers.randomElement(using: &random) ?? .direct,
            options: random.oneIn(3)
                ? .init(rawValue: UInt8.random(in: 0..<16, using: &random)) : [])
    }

    static func expression(depth: Int, using random: inout RandomSource) -> ExpressionNode {
        func inner() -> ExpressionNode { expression(depth: depth - 1, using: &random) }
        guard depth > 0 else {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return .evaluatedObject
            case 1:
                return .variable(
                    ["x", "first name", "in", "_1"].randomElement(using: &random) ?? "x")
            case 2: return .anyKey
            case 3: return path(using: &random)
            default: return .constant(PredicateFormatTests.literal(using: &random))
            }
        }
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return .path(key(using: &random), of: inner())
        case 1, 2:
            let operation =
                ExpressionNode.CollectionOperator.allCases.randomElement(using: &random) ?? .count
            let node = ExpressionNode.collection(operation, of: inner(), path: nil)
            return random.oneIn(2) ? .path(key(using: &random), of: node) : node
        case 3:
            let indexes: [ExpressionNode.Index] = [.first, .last, .size, .at(inner())]
            return .index(of: inner(), indexes.randomElement(using: &random) ?? .first)
        case 4, 5, 6:
            let function =
                ExpressionNode.Function.allCases.randomElement(using: &random) ?? .add
            let arity = function.arity
            let count = min(
                arity.upperBound, arity.lowerBound + Int.random(in: 0...2, using: &random))
            return .function(function, (0..<count).map { _ in inner() })
        case 7:
            return .call(
                of: inner(), selector: "find:in:",
                (0..<Int.random(in: 0...2, using: &random)).map { _ in inner() })
        case 8:
            let type = ExpressionNode.CastType.allCases.randomElement(using: &random) ?? .date
            // The cast of a literal is a value at once.
            return .cast(path(using: &random), to: type)
        case 9:
            return .conditional(
                predicate(depth: depth - 1, using: &random), inner(), inner())
        case 10:
            return .subquery(
                inner(), variable: "v", predicate(depth: depth - 1, using: &random))
        case 11:
            let operation = ExpressionNode.SetOperator.allCases.randomElement(using: &random)
            return .set(operation ?? .union, inner(), inner())
        case 12: return list(depth: depth, using: &random)
        case 13: return .assignment("y", inner())
        case 14:
            return .fetch(
                request: inner(), context: inner(), countsOnly: .random(using: &random))
        default: return expression(depth: 0, using: &random)
        }
    }

    private static func list(depth: Int, using random: inout RandomSource) -> ExpressionNode {
        .braces(
            (0..<Int.random(in: 0...3, using: &random)).map { _ in
                expression(depth: random.oneIn(2) ? 0 : depth - 1, using: &random)
            })
    }

    private static func path(using random: inout RandomSource) -> ExpressionNode {
        let path = key(using: &random)
        return .keyPath(path)
    }

    private static func key(using random: inout RandomSource) -> String {
        [
            "a", "a.b", "in", "size.first", "first name", "x.", "objectID", "SELF", "é.true", "1st",
            "a'b\\\\", "-", "union", "cast", "anykey.x", "no",
        ].randomElement(using: &random) ?? "a"
    }
}
