// Translates a condition to SQL, as far as SQL has an equivalent.
//
//   1. The condition is one that was bound for a store in two values: its keys are there, its constants have the types of what
//      they are compared with, and nil needs no third value.
//   2. Parts for which there is no SQL, or none that says exactly the same, leave a superset or nothing: `SQLCondition`.
//   3. NOT is carried down to the comparisons, so that what is known of the others is not lost.
//
// A very large condition is not translated whole: the server would plan it longer than it takes to look at the rows.
//
// Threads: owned by one call.

import CairnModel
import CairnStore

final class ConditionTranslator {
    /// Joining this many rows along references, or this many comparisons, no longer pays off.
    private static let mostJoins = 24
    private static let mostComparisons = 400

    let layout: TableLayout
    let identity: StoreIdentity
    /// The objects that are asked about.
    let root: SQLPlace
    private var joins = 0
    private var comparisons = 0
    private var names = 0

    var schema: Schema { layout.schema }

    /// What the name of the objects' row is.
    static let rootName = "r"

    init(_ entity: SchemaEntity, _ layout: TableLayout, _ identity: StoreIdentity) {
        self.layout = layout
        self.identity = identity
        let table = layout.sql(layout.tables[layout.table(of: entity.index)].name)
        root = SQLPlace(
            scope: SQLScope("\(raw: table) AS \(raw: Self.rootName)"), alias: Self.rootName,
            entity: entity, id: "\(Self.rootName).\(TableLayout.Fixed.id.quoted)",
            isNullable: false, mayDangle: false)
    }

    /// What expressions name beside the object.
    struct Names {
        var variables: [String: SQLPlace] = [:]
        /// What stands for values.
        var values: [String: SQLValue] = [:]
    }

    /// A condition on the objects.
    func condition(_ node: PredicateNode) -> SQLCondition { condition(node, is: true, Names()) }

    /// A condition on values that have names, as those of a group do.
    func condition(_ node: PredicateNode, of values: [String: SQLValue]) -> SQLCondition {
        condition(node, is: true, Names(values: values))
    }

    /// What the server can say of each object for an expression; nil: nothing.
    func value(_ node: ExpressionNode) -> SQLValue? { operand(node, Names())?.value }

    /// That rows are of one of some entities; nil if all of their table are.
    func isOf(_ entities: [Int], _ alias: String) -> SQLText? {
        guard let first = entities.first,
            entities.count < schema.entities[schema.entities[first].root].family.count
        else { return nil }
        var codes = SQLArray(of: .int16)
        for entity in entities.sorted() { codes.append(number: layout.code(of: entity)) }
        return
            "\(raw: alias).\(raw: TableLayout.Fixed.entity.quoted) = ANY(\(.array(codes), as: "smallint[]"))"
    }

    func newName(_ letter: String) -> String {
        names += 1
        return "\(letter)\(names)"
    }

    /// Whether there may be one more join.
    func takeJoin() -> Bool {
        joins += 1
        return joins <= Self.mostJoins
    }

    func condition(_ node: PredicateNode, is truth: Bool, _ names: Names) -> SQLCondition {
        switch node {
        case .constant(let value): return .constant(value == truth)
        case .not(let part): return condition(part, is: !truth, names)
        case .and(let parts): return join(parts.map { condition($0, is: truth, names) }, truth)
        case .or(let parts): return join(parts.map { condition($0, is: truth, names) }, !truth)
        case .comparison(let comparison):
            comparisons += 1
            guard comparisons <= Self.mostComparisons else { return .everything }
            let condition = condition(comparison, names)
            return truth ? condition : !condition
        }
    }

    private func join(_ parts: [SQLCondition], _ isAnd: Bool) -> SQLCondition {
        isAnd ? .and(parts) : .or(parts)
    }

    // MARK: Comparisons

    private func condition(_ comparison: PredicateNode.Comparison, _ names: Names) -> SQLCondition {
        guard let left = operand(comparison.left, names),
            let right = operand(comparison.right, names)
        else { return .everything }
        let values = SQLComparison(
            relation: comparison.operator, options: comparison.options, layout: layout,
            identity: identity)
        switch (comparison.modifier, left) {
        case (.any, .members(let members)):
            return members.contain(values.condition(.value(members.element), right))
        case (.all, .members(let members)):
            return members.allMeet(values.condition(.value(members.element), right))
        case (.direct, _): return values.condition(left, right)
        default: return .everything
        }
    }

    // MARK: Expressions

    /// What there is in SQL for an expression; nil: nothing.
    private func operand(_ node: ExpressionNode, _ names: Names) -> SQLOperand? {
        switch node {
        case .constant(let value): return .constant(value)
        case .list(let values): return .list(values)
        case .aggregate(let members):
            var operands: [SQLOperand] = []
            for member in members {
                switch operand(member, names) {
                case .constant(let value): operands.append(.constant(value))
                case .value(let value): operands.append(.value(value))
                default: return nil
                }
            }
            return .values(operands)
        case .evaluatedObject: return .value(object(root))
        case .keyPath(let path): return operand(at: path, from: root)
        case .variable(let name):
            if let value = names.values[name] { return .value(value) }
            return names.variables[name].map { .value(object($0)) }
        case .path(.variable(let name), let path):
            return names.variables[name].flatMap { operand(at: path, from: $0) }
        case .collection(.count, let base, nil), .index(let base, .size):
            return count(base, names).map { .value($0) }
        default: return nil
        }
    }

    private func count(_ base: ExpressionNode, _ names: Names) -> SQLValue? {
        guard case .subquery(let collection, let variable, let node) = base else {
            guard case .members(let members)? = operand(base, names) else { return nil }
            return members.count()
        }
        guard case .members(let members)? = operand(collection, names), let place = members.place
        else { return nil }
        var inner = names
        inner.variables[variable] = place
        let condition = condition(node, is: true, inner)
        guard condition.isExact else { return nil }
        return members.count(condition.text)
    }
}
