// Evaluates a predicate for one object in memory: the reference for every other way to evaluate it.
//
//   1. Patterns that are constant are compiled once. What is no pattern is an error then. One that is given for each object
//      anew is kept for the next object; one that is none matches nothing.
//   2. Both sides of a comparison are evaluated, and compared as `ValueComparison` says; of a collection on
//      the left side, with ANY and ALL, member by member.
//   3. Logic is two-valued: every comparison is true or false.
//
// A predicate that was bound to an entity has keys that exist and values of their types. One that was not
// is answered all the same: what has no value is nil, and kinds that do not fit are not equal.
//
// Threads: immutable, so any; one evaluation in one thread.

package import FoundationEssentials
import Synchronization

/// A predicate, ready for evaluation.
package struct PredicateEvaluator: Sendable {
    /// The predicate.
    package let predicate: PredicateNode
    /// What `now()` gives in all of its answers.
    let moment: Date
    private let patterns: [PatternKey: StringPattern]
    private let calculated = CalculatedPatterns()

    fileprivate struct PatternKey: Hashable {
        let pattern: String
        let options: PredicateNode.Comparison.Options
    }

    /// Makes a predicate ready.
    ///
    /// - Throws: `PredicateFormatError` naming a regular expression that is none, or that no bounded time is enough for.
    package init(_ predicate: PredicateNode, now: Date = Date()) throws(PredicateFormatError) {
        self.predicate = predicate
        moment = now
        var patterns: [PatternKey: StringPattern] = [:]
        var failure: PredicateFormatError?
        predicate.forEachComparison { comparison in
            guard comparison.operator == .matches, failure == nil,
                case .constant(.string(let pattern)) = comparison.right
            else { return }
            do throws(PredicateFormatError) {
                patterns[PatternKey(pattern: pattern, options: comparison.options)] =
                    try Self.compile(pattern, comparison.options)
            } catch { failure = error }
        }
        if let failure { throw failure }
        self.patterns = patterns
    }

    /// Whether an object matches.
    package func matches(_ object: any EvaluatedObject) -> Bool {
        matches(.object(object))
    }

    /// Whether an object or a value matches.
    package func matches(_ value: EvaluatedValue) -> Bool {
        var scope = EvaluationScope(object: value)
        return holds(predicate, &scope)
    }

    // MARK: Logic

    func holds(_ node: PredicateNode, _ scope: inout EvaluationScope) -> Bool {
        switch node {
        case .constant(let truth): return truth
        case .comparison(let comparison): return holds(comparison, &scope)
        case .not(let node): return !holds(node, &scope)
        case .and(let nodes):
            for node in nodes where !holds(node, &scope) { return false }
            return true
        case .or(let nodes):
            for node in nodes where holds(node, &scope) { return true }
            return false
        }
    }

    private func holds(
        _ comparison: PredicateNode.Comparison, _ scope: inout EvaluationScope
    ) -> Bool {
        let asksMembers = comparison.modifier != .direct || comparison.operator == .contains
        let left =
            asksMembers ? members(comparison.left, &scope) : evaluate(comparison.left, &scope)
        let values = ValueComparison(
            operator: comparison.operator, options: comparison.options)
        if comparison.operator == .in, case .list(let list) = comparison.right {
            // The list is not made into members for every object.
            return each(left, comparison) { member in
                let value = member.plain
                return !value.isNull && list.contains { values.equals(value, $0) }
            }
        }
        let right =
            comparison.operator == .in
            ? members(comparison.right, &scope) : evaluate(comparison.right, &scope)
        return each(left, comparison) { compare($0, values, right) }
    }

    /// A side of a comparison that asks for some of its members, or for all, and not how many there are.
    private func members(_ side: ExpressionNode, _ scope: inout EvaluationScope) -> EvaluatedValue {
        switch side {
        case .keyPath(let path): scope.object.someValue(at: path)
        case .path(let base, let path): evaluate(base, &scope).someValue(at: path)
        default: evaluate(side, &scope)
        }
    }

    /// Asks the left side as a whole, or its members.
    private func each(
        _ left: EvaluatedValue, _ comparison: PredicateNode.Comparison,
        _ ask: (EvaluatedValue) -> Bool
    ) -> Bool {
        switch comparison.modifier {
        case .all: return left.members.allSatisfy(ask)
        case .any: return left.members.contains(where: ask)
        case .direct:
            // Any key at all: there is no other way to ask it.
            if case .anyKey = comparison.left { return left.members.contains(where: ask) }
            return ask(left)
        }
    }

    // MARK: Comparing

    private func compare(
        _ left: EvaluatedValue, _ comparison: ValueComparison, _ right: EvaluatedValue
    ) -> Bool {
        switch comparison.operator {
        case .equal: return equals(left, right, comparison)
        case .notEqual: return !equals(left, right, comparison)
        case .in: return isMember(left, of: right, comparison)
        case .contains: return isMember(right, of: left, comparison)
        case .between:
            guard case .collection(let ends) = right, ends.count == 2,
                let low = comparison.order(left.plain, ends[0].plain),
                let high = comparison.order(left.plain, ends[1].plain)
            else { return false }
            return low >= 0 && high <= 0
        case .like: return comparison.isLike(left.plain, right.plain)
        case .matches:
            guard case .string(let text) = left.plain, case .string(let pattern) = right.plain
            else { return false }
            return matches(text, pattern, comparison)
        default:
            if case .object = left { return false }
            return comparison.holds(left.plain, right.plain)
        }
    }

    func equals(
        _ left: EvaluatedValue, _ right: EvaluatedValue, _ comparison: ValueComparison
    ) -> Bool {
        switch (left, right) {
        case (.collection(let one), .collection(let other)):
            one.count == other.count
                && one.allSatisfy { member in
                    other.contains { equals(member, $0, comparison) }
                }
        case (.keyed(let one), .keyed(let other)): one.equals(other)
        case (.collection, _), (_, .collection), (.keyed, _), (_, .keyed): false
        default: comparison.equals(left.plain, right.plain)
        }
    }

    private func isMember(
        _ member: EvaluatedValue, of whole: EvaluatedValue, _ comparison: ValueComparison
    ) -> Bool {
        if member.isNull { return false }
        guard case .collection(let members) = whole else {
            return ValueComparison(operator: .contains, options: comparison.options)
                .holds(whole.plain, member.plain)
        }
        return members.contains { equals(member, $0, comparison) }
    }

    // MARK: Patterns

    private func matches(_ text: String, _ source: String, _ comparison: ValueComparison) -> Bool {
        let key = PatternKey(pattern: source, options: comparison.options)
        guard let pattern = patterns[key] ?? calculated.pattern(key) else { return false }
        // Case is the pattern's own concern: its letters may be part of what is no letter.
        return pattern.matchesWhole(Self.folded(text, comparison.options))
    }

    /// A pattern, or a text that is held against one.
    private static func folded(_ text: String, _ options: PredicateNode.Comparison.Options)
        -> String
    {
        options.isDisjoint(with: [.diacriticInsensitive, .localeSensitive])
            ? text
            : text.folded(case: false, diacritics: options.contains(.diacriticInsensitive))
    }

    fileprivate static func compile(
        _ source: String, _ options: PredicateNode.Comparison.Options
    ) throws(PredicateFormatError) -> StringPattern {
        do throws(PatternError) {
            return try StringPattern(
                folded(source, options), ignoresCase: options.contains(.caseInsensitive))
        } catch {
            throw PredicateFormatError(key: nil) {
                "\($0(source)) cannot be used as a regular expression"
                    + ($0.showsValues ? ": \(error)" : "")
            }
        }
    }
}

/// The last patterns that were not constant; nil for what is none.
private final class CalculatedPatterns: Sendable {
    private let known = Mutex<[PredicateEvaluator.PatternKey: StringPattern?]>([:])
    private static let most = 64

    func pattern(_ key: PredicateEvaluator.PatternKey) -> StringPattern? {
        known.withLock { known in
            if let pattern = known[key] { return pattern }
            let pattern = try? PredicateEvaluator.compile(key.pattern, key.options)
            if known.count >= Self.most { known.removeAll() }
            known[key] = .some(pattern)
            return pattern
        }
    }
}

/// What an evaluation knows beside the tree.
struct EvaluationScope {
    /// The object that is asked about.
    let object: EvaluatedValue
    /// The values of variables.
    var variables: [String: EvaluatedValue] = [:]
    /// What carries out calls of functions that an application brings; nil: they give nothing.
    var calls: FunctionCalls?
}

/// Carries out calls of functions that an application brings: with what the function is of, its name and its arguments.
package typealias FunctionCalls = (ExpressionNode, String, [EvaluatedValue]) -> EvaluatedValue

extension PredicateNode {
    /// Calls a closure with every comparison in the tree, also those inside expressions.
    package func forEachComparison(_ body: (Comparison) -> Void) {
        switch self {
        case .constant: break
        case .comparison(let comparison):
            body(comparison)
            comparison.left.forEachPredicate { $0.forEachComparison(body) }
            comparison.right.forEachPredicate { $0.forEachComparison(body) }
        case .and(let nodes), .or(let nodes): for node in nodes { node.forEachComparison(body) }
        case .not(let node): node.forEachComparison(body)
        }
    }
}

extension ExpressionNode {
    /// Calls a closure with every predicate that is part of it, but not with those inside these.
    package func forEachPredicate(_ body: (PredicateNode) -> Void) {
        switch self {
        case .constant, .list, .evaluatedObject, .keyPath, .variable, .anyKey: break
        case .path(let base, _), .collection(_, let base, _), .cast(let base, _),
            .assignment(_, let base):
            base.forEachPredicate(body)
        case .index(let base, let index):
            base.forEachPredicate(body)
            if case .at(let index) = index { index.forEachPredicate(body) }
        case .function(_, let parts), .aggregate(let parts):
            for part in parts { part.forEachPredicate(body) }
        case .call(let target, _, let parts):
            target.forEachPredicate(body)
            for part in parts { part.forEachPredicate(body) }
        case .conditional(let test, let one, let other):
            body(test)
            one.forEachPredicate(body)
            other.forEachPredicate(body)
        case .subquery(let collection, _, let condition):
            collection.forEachPredicate(body)
            body(condition)
        case .set(_, let left, let right):
            left.forEachPredicate(body)
            right.forEachPredicate(body)
        case .fetch(let request, let context, _):
            request.forEachPredicate(body)
            context.forEachPredicate(body)
        }
    }
}
