// A predicate compiled for the columns of one entity.
//
// Conditions on one column and constants are evaluated on whole blocks, column by column; conditions across
// relationships are evaluated on the objects at the other end, once for each; all others are evaluated row by
// row, as the evaluator evaluates them on objects in memory. All three have the meaning that the evaluator
// defines.
//
// Logic is two-valued: a comparison with a nil cell is false, "not equal" is the negation of "equal" and so
// true for nil, and the tests for nil are exact.
//
// Threads: immutable, so any.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// A compiled condition. Columns are by index of the entity.
indirect enum Filter: Sendable {
    /// The order of a cell relative to a constant.
    enum Order: Sendable { case equal, less, lessOrEqual, greater, greaterOrEqual }

    case constant(Bool)
    case isNull(Int)
    case integer(Int, Order, Int64)
    /// One of a list of integers, Booleans or object numbers.
    case integers(Int, WordSet)
    case double(Int, Order, Double)
    /// One of a list of doubles by their bits, with a single zero.
    case doubles(Int, WordSet)
    case float(Int, Order, Float)
    case bytes(Int, Order, [UInt8])
    /// One of a list of byte strings.
    case keys(Int, BytesSet)
    case text(Int, TextTest)
    case decimal(Int, Order, Decimal)
    /// The evaluator decides, based on the value alone.
    case value(Int, ValueTest)
    /// A comparison of two columns of one kind.
    case columns(Int, Order, Int)
    case number(Set<UInt32>)
    /// The row's own entity.
    case entity(Set<Int>)
    /// A condition on the target of a to-one relationship.
    case through(ThroughFilter)
    /// A condition on any of the members of a to-many relationship.
    case members(MembersFilter)
    /// The evaluator decides, based on the row.
    case row(RowTest)
    case and([Filter])
    case or([Filter])
    case not(Filter)

    /// The cost class of the condition: whole blocks, across relationships, row by row.
    var cost: Int {
        switch self {
        case .constant, .isNull, .integer, .integers, .double, .doubles, .float, .bytes, .keys,
            .decimal, .columns, .number, .entity:
            0
        case .text, .value: 1
        case .through(let filter): max(2, filter.inner.cost)
        case .members: 3
        case .row: 4
        case .and(let filters), .or(let filters): filters.reduce(0) { max($0, $1.cost) }
        case .not(let filter): filter.cost
        }
    }

    /// Whether it is only evaluated on the rows that need it, and requires more than the block.
    var isGeneral: Bool { cost >= 2 }

    /// All of them, cheap ones first.
    static func all(_ filters: [Filter]) -> Filter { .and(inOrderOfCost(filters)) }

    /// Any of them, cheap ones first.
    static func any(_ filters: [Filter]) -> Filter { .or(inOrderOfCost(filters)) }

    private static func inOrderOfCost(_ filters: [Filter]) -> [Filter] {
        let costs = filters.map(\.cost)
        guard costs.contains(where: { $0 > 0 }) else { return filters }
        return filters.indices.sorted { (costs[$0], $0) < (costs[$1], $1) }.map { filters[$0] }
    }
}

/// A condition on the value of one column that only the evaluator can evaluate.
final class ValueTest: Sendable {
    let type: AttributeType
    private let evaluator: PredicateEvaluator

    /// - Throws: `PredicateFormatError` for an invalid regular expression.
    init(
        _ type: AttributeType, _ relation: PredicateNode.Comparison.Operator, _ value: Value
    ) throws(PredicateFormatError) {
        self.type = type
        evaluator = try PredicateEvaluator(.compare(.evaluatedObject, relation, .constant(value)))
    }

    func holds(_ value: Value) -> Bool { evaluator.matches(.value(value)) }
}

/// A condition that is evaluated row by row.
final class RowTest: Sendable {
    let evaluator: PredicateEvaluator

    init(_ evaluator: PredicateEvaluator) { self.evaluator = evaluator }
}
