// What every match of a predicate has in its columns: the part of a condition that an index can answer.
//
//   1. The predicate is taken apart at its ANDs.
//   2. A part that compares a column with a value of the column's own type is noted under the column; what is left has to be
//      asked of the rows.
//
// NaN equals nothing, and no value is noted that an index would find it by.
//
// Threads: a value.

import CairnModel
import CairnStore
import FoundationEssentials

/// The conditions on single columns that all must hold.
struct ColumnConditions {
    /// What is said of a column.
    enum Condition {
        /// It has a value, which may be nil.
        case equal(Value)
        /// It has one of some values.
        case among([Value])
        /// It lies above a value.
        case above(Value, isIncluded: Bool)
        /// It lies below a value.
        case below(Value, isIncluded: Bool)
        /// It is a text that begins so.
        case beginning(String)
        /// It has a value.
        case some
    }

    /// A part of the predicate.
    struct Part {
        let column: Int
        let condition: Condition
        /// Which of the ANDs' members it comes from.
        let member: Int
    }

    private(set) var parts: [Part] = []
    /// How many members the ANDs have.
    private(set) var members = 0

    private let catalog: Catalog
    private let identity: StoreIdentity
    private let entity: Int

    init(_ predicate: PredicateNode?, of entity: Int, _ catalog: Catalog, _ identity: StoreIdentity)
    {
        self.catalog = catalog
        self.identity = identity
        self.entity = entity
        if let predicate { collect(predicate) }
    }

    /// What is said of a column.
    func parts(of column: Int) -> [Part] { parts.filter { $0.column == column } }

    /// The value that a column must have.
    func value(of column: Int) -> (value: Value, member: Int)? {
        for part in parts where part.column == column {
            if case .equal(let value) = part.condition { return (value, part.member) }
        }
        return nil
    }

    private mutating func collect(_ node: PredicateNode) {
        if case .and(let nodes) = node {
            for node in nodes { collect(node) }
            return
        }
        let member = members
        members += 1
        guard case .comparison(let comparison) = node, let simple = comparison.simple,
            simple.options.isEmpty, case .key(let key) = simple.subject,
            let column = catalog.description(of: entity).columnIndex(named: key)
        else { return }
        for condition in conditions(simple, column) {
            parts.append(Part(column: column, condition: condition, member: member))
        }
    }

    private func conditions(_ simple: PredicateNode.Comparison.Simple, _ column: Int)
        -> [Condition]
    {
        switch (simple.operator, simple.operand) {
        case (.equal, .value(.null)): return [.equal(.null)]
        case (.equal, .value(let value)):
            return known(value, column) ? [.equal(value)] : []
        case (.notEqual, .value(.null)): return hasOrderedValuesOnly(column) ? [.some] : []
        case (.in, .list(let values)):
            // An index has no keys of other kinds, though a number of one may be equal; nil is left to the rows.
            let wanted = values.filter { !$0.isNull }
            guard wanted.count == values.count, wanted.allSatisfy({ known($0, column) }) else {
                return []
            }
            return [.among(wanted)]
        case (.between, .list(let values)):
            guard values.count == 2, isOrdered(values[0], column), isOrdered(values[1], column)
            else { return [] }
            return [
                .above(values[0], isIncluded: true), .below(values[1], isIncluded: true),
            ]
        case (.less, .value(let value)):
            return isOrdered(value, column) ? [.below(value, isIncluded: false)] : []
        case (.lessOrEqual, .value(let value)):
            return isOrdered(value, column) ? [.below(value, isIncluded: true)] : []
        case (.greater, .value(let value)):
            return isOrdered(value, column) ? [.above(value, isIncluded: false)] : []
        case (.greaterOrEqual, .value(let value)):
            return isOrdered(value, column) ? [.above(value, isIncluded: true)] : []
        case (.beginsWith, .value(.string(let text))):
            guard catalog.description(of: entity).columns[column].kind == .attribute(.string) else {
                return []
            }
            return [.beginning(text)]
        default: return []
        }
    }

    /// Whether a value is one that the column may have, and that equals itself.
    private func known(_ value: Value, _ column: Int) -> Bool {
        switch (catalog.description(of: entity).columns[column].kind, value) {
        case (.reference(let root), .objectID(let id)): return identity.owns(id, entity: root)
        case (.reference, _): return false
        case (.attribute, .double(let number)) where number.isNaN: return false
        case (.attribute, .float(let number)) where number.isNaN: return false
        case (.attribute, .decimal(let number)) where number.isNaN: return false
        case (.attribute, .date(let date)) where date.timeIntervalSinceReferenceDate.isNaN:
            return false
        case (.attribute(let type), _): return value.fits(type)
        }
    }

    /// Whether all that a column has lies between its first and its last value: what is no number lies outside.
    private func hasOrderedValuesOnly(_ column: Int) -> Bool {
        guard case .attribute(let type) = catalog.description(of: entity).columns[column].kind
        else { return false }
        return switch type {
        case .integer16, .integer32, .integer64, .boolean, .string, .uuid, .uri, .binary: true
        default: false
        }
    }

    private func isOrdered(_ value: Value, _ column: Int) -> Bool {
        if case .reference = catalog.description(of: entity).columns[column].kind { return false }
        return known(value, column)
    }
}
