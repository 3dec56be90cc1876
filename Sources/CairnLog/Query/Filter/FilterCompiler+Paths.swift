// Comparisons across one or more relationships, if the condition on the destination can be evaluated for all
// objects there.
//
//   maker.name == 'x'           through `maker`: `name == 'x'`; where there is no maker, what holds of nil
//   ANY parts.price > 3         a member of `parts` with `price > 3`
//   ALL parts.price > 3         no member of `parts` with NOT `price > 3`
//   parts CONTAINS x            a member of `parts` that is x
//
// A path may have several steps through to-one relationships; it has at most one through a to-many
// relationship here, and no to-one step before it. All other paths are evaluated row by row.

import CairnModel
import CairnStore
import FoundationEssentials

extension FilterCompiler {
    /// Compiles a condition across a relationship; nil if it must be evaluated row by row.
    func relatedFilter(_ comparison: PredicateNode.Comparison) throws(StoreError) -> Filter? {
        guard case .keyPath(let path) = comparison.left,
            let (index, rest) = firstStep(of: path), comparison.right.operand != nil
        else { return nil }
        let relationship = description.relationships[index]
        let inner = compiler(of: relationship.destination)
        if relationship.description.isToMany {
            return try members(comparison, index, rest, inner)
        }
        guard let rest, comparison.modifier == .direct,
            case .column(let column) = relationship.storage,
            let tree = catalog.entities[entity].columns[column].target,
            isOfValues(rest, inner)
        else { return nil }
        let nothing = try evaluator(comparison.with(left: .constant(.null)))
        return .through(
            ThroughFilter(
                column: column, tree: tree,
                inner: try inner.filter(comparison.with(left: .keyPath(rest))),
                ifNil: nothing.matches(.value(.null))))
    }

    private func members(
        _ comparison: PredicateNode.Comparison, _ index: Int, _ rest: String?,
        _ inner: FilterCompiler
    ) throws(StoreError) -> Filter? {
        let condition: PredicateNode
        if let rest {
            guard comparison.modifier != .direct, isOfValues(rest, inner) else { return nil }
            condition = comparison.with(left: .keyPath(rest))
        } else {
            guard case .constant(let value) = comparison.right else {
                guard comparison.modifier != .direct, comparison.operator == .in else { return nil }
                return try members(
                    index, comparison, inner.filter(comparison.with(left: .evaluatedObject)))
            }
            guard !value.isNull else { return nil }
            switch comparison.operator {
            case .contains where comparison.modifier == .direct:
                condition = .compare(.evaluatedObject, .equal, comparison.right)
            case .equal where comparison.modifier != .direct,
                .notEqual where comparison.modifier != .direct:
                condition = comparison.with(left: .evaluatedObject)
            default: return nil
            }
        }
        return try members(index, comparison, inner.filter(condition))
    }

    private func members(
        _ index: Int, _ comparison: PredicateNode.Comparison, _ inner: Filter
    ) throws(StoreError) -> Filter {
        guard comparison.modifier == .all else {
            return .members(MembersFilter(relationship: index, of: entity, inner: inner))
        }
        // ALL: there is no member for which it does not hold.
        return .not(
            .members(MembersFilter(relationship: index, of: entity, inner: .not(inner))))
    }

    /// The first relationship of a path, and the rest of the path.
    private func firstStep(of path: String) -> (relationship: Int, rest: String?)? {
        if let index = description.relationshipIndex(named: path) { return (index, nil) }
        // Names of relationships contain no dot; composite attributes take precedence, as in the evaluator.
        guard description.columnIndex(named: path) == nil,
            description.attributeIndex(named: path) == nil,
            let dot = path.firstIndex(of: "."),
            let index = description.relationshipIndex(named: String(path[..<dot]))
        else { return nil }
        return (index, String(path[path.index(after: dot)...]))
    }

    /// Whether a path returns attribute values through to-one relationships alone.
    private func isOfValues(_ path: String, _ compiler: FilterCompiler) -> Bool {
        if let column = compiler.description.columnIndex(named: path) {
            if case .attribute = compiler.description.columns[column].kind { return true }
            return false
        }
        guard let (index, rest) = compiler.firstStep(of: path), let rest else { return false }
        let relationship = compiler.description.relationships[index]
        guard case .column = relationship.storage, !relationship.description.isToMany else {
            return false
        }
        return isOfValues(rest, compiler.compiler(of: relationship.destination))
    }
}

extension PredicateNode.Comparison {
    /// Returns the same comparison with another left side.
    fileprivate func with(left: ExpressionNode) -> PredicateNode {
        .compare(left, `operator`, right, options: options)
    }
}

extension ExpressionNode {
    /// True for a constant or a list of constants; nil otherwise.
    fileprivate var operand: Bool? {
        switch self {
        case .constant, .list: true
        default: nil
        }
    }
}
