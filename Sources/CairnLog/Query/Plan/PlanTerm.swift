// The operands of a predicate's ANDs, as a planner sees them: the key, the operator and the constants of each.
//
//   1. The predicate is taken apart at its ANDs.
//   2. A member that compares a key with constants is noted with them. Any other is only counted: it has to be asked of the
//      rows.
//
// What is said of which keys is the shape of the predicate, and all that an outline depends on; the constants come in when the
// entries of an index are counted.
//
// Threads: values.

import CairnModel
import CairnStore
import FoundationEssentials

/// An operand of the ANDs.
struct PlanTerm: Sendable {
    typealias Operand = PredicateNode.Comparison.Simple.Operand

    /// What it says.
    enum Kind: UInt8, Sendable {
        /// Nothing that an index could execute.
        case other
        case isNil, isSome, equal, among, between, less, lessOrEqual, greater, greaterOrEqual
        case beginning
    }

    /// Of which key; empty if the kind is `other`.
    let key: String
    let kind: Kind
    /// The constants; nil or a value for all kinds but lists.
    let operand: Operand

    static let other = PlanTerm(key: "", kind: .other, operand: .value(.null))

    /// The constant, if it is no list.
    var value: Value { if case .value(let value) = operand { value } else { .null } }

    /// The constants of a list.
    var values: [Value] { if case .list(let values) = operand { values } else { [] } }

    // MARK: Taking apart

    /// The members of a predicate's ANDs; nil if there are more of them, or more ANDs in each other, than is usual.
    static func usual(_ predicate: PredicateNode) -> [PlanTerm]? {
        var terms: [PlanTerm] = []
        return collect(predicate, &terms, levels: 8, most: 32) ? terms : nil
    }

    /// The members of a predicate's ANDs. That it is not too deep has been seen before.
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

    /// Whether an index finds what it asks by its constants: each is a value that the column may have, and that equals itself.
    /// Nothing is said of nil, but that a column is nil or is not.
    func isUsable(_ column: SchemaColumn.Kind, _ identity: StoreIdentity) -> Bool {
        switch operand {
        case .value(let value):
            kind == .isNil || kind == .isSome || Self.isKnown(value, column, identity)
        // An index has no keys of other kinds, though a number of one may be equal; nil is left to the rows.
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
