// The operands of a predicate's ANDs, as a planner sees them: the key, the operator and the constants of
// each.
//
//   1. The predicate is split at its ANDs.
//   2. An operand that compares a key with constants is recorded with them. Any other operand is only
//      counted: it must be evaluated on the rows.
//
// Keys and operators are the shape of the predicate, and all that an outline depends on; the constants are
// used when the entries of an index are counted.
//
// Threads: values.

import CairnModel
import CairnStore
import FoundationEssentials

/// An operand of the ANDs.
struct PlanTerm: Sendable {
    typealias Operand = PredicateNode.Comparison.Simple.Operand

    /// The kind of condition.
    enum Kind: UInt8, Sendable {
        /// Nothing that an index could execute.
        case other
        case isNil, isSome, equal, among, between, less, lessOrEqual, greater, greaterOrEqual
        case beginning
    }

    /// Its key; empty if the kind is `other`.
    let key: String
    let kind: Kind
    /// The constants; nil or a value for all kinds but lists.
    let operand: Operand

    static let other = PlanTerm(key: "", kind: .other, operand: .value(.null))

    /// The constant, unless it is a list.
    var value: Value { if case .value(let value) = operand { value } else { .null } }

    /// The constants of a list.
    var values: [Value] { if case .list(let values) = operand { values } else { [] } }

    // MARK: Taking apart

    /// The operands of a predicate's ANDs; nil if there are more of them, or more nested ANDs, than usual.
    static func usual(_ predicate: PredicateNode) -> [PlanTerm]? {
        var terms: [PlanTerm] = []
        return collect(predicate, &terms, levels: 8, most: 32) ? terms : nil
    }

    /// The operands of a predicate's ANDs. The caller has checked that it is not too deep.
    static func all(_ predicate: PredicateNode?) -> [PlanTerm] {
        var terms: [PlanTerm] = []
        if let predicate { _ = collect(predicate, &terms, levels: .max, most: .max) }
        return terms
    }

    private static func collect(
        _ node: PredicateNode, _ terms: inout [PlanTerm], levels: Int, most: Int
    ) -> Bool {
        switch node {
        case .and(let nodes):
            if levels == 0 { return false }
            if terms.isEmpty { terms.reserveCapacity(min(nodes.count, 32)) }
            for node in nodes {
                guard collect(node, &terms, levels: levels - 1, most: most) else { return false }
            }
        case .comparison(let comparison): terms.append(PlanTerm(comparison))
        case .constant, .or, .not: terms.append(.other)
        }
        return terms.count <= most
    }

    private init(key: String, kind: Kind, operand: Operand) {
        self.key = key
        self.kind = kind
        self.operand = operand
    }

    private init(_ comparison: PredicateNode.Comparison) {
        guard comparison.options.isEmpty, let simple = comparison.simple,
            case .key(let key) = simple.subject,
            let kind = Self.kind(simple.operator, simple.operand)
        else {
            self = .other
            return
        }
        self.init(key: key, kind: kind, operand: simple.operand)
    }

    private static func kind(_ relation: PredicateNode.Comparison.Operator, _ operand: Operand)
        -> Kind?
    {
        switch (relation, operand) {
        case (.equal, .value(let value)): value.isNull ? .isNil : .equal
        case (.notEqual, .value(.null)): .isSome
        case (.in, .list): .among
        case (.between, .list(let values)): values.count == 2 ? .between : nil
        case (.less, .value): .less
        case (.lessOrEqual, .value): .lessOrEqual
        case (.greater, .value): .greater
        case (.greaterOrEqual, .value): .greaterOrEqual
        case (.beginsWith, .value(.string)): .beginning
        default: nil
        }
    }

    // MARK: Constants

    /// Whether an index can execute the term with its constants: each is valid for the column, and equals
    /// itself. Nil only occurs in tests for nil and not nil.
    func isUsable(_ column: SchemaColumn.Kind, _ identity: StoreIdentity) -> Bool {
        switch operand {
        case .value(let value):
            kind == .isNil || kind == .isSome || Self.isKnown(value, column, identity)
        // An index only contains keys of the column's type, although a number of another type may be equal;
        // nil is evaluated on the rows.
        case .list(let values): values.allSatisfy { Self.isKnown($0, column, identity) }
        }
    }

    private static func isKnown(
        _ value: Value, _ column: SchemaColumn.Kind, _ identity: StoreIdentity
    ) -> Bool {
        switch (column, value) {
        case (.reference(let root), .objectID(let id)): identity.owns(id, entity: root)
        case (.reference, _): false
        case (.attribute, .double(let number)) where number.isNaN: false
        case (.attribute, .float(let number)) where number.isNaN: false
        case (.attribute, .decimal(let number)) where number.isNaN: false
        case (.attribute, .date(let date)) where date.timeIntervalSinceReferenceDate.isNaN:
            false
        case (.attribute(let type), _): value.fits(type)
        }
    }
}
