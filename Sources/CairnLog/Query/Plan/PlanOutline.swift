// The part of a plan that does not depend on constants: which terms each fetch index can execute, and how.
//
//   1. From an index that contains all objects of the entity, the outline uses as many leading elements as
//      have an equality, then a list, a prefix or an interval of the next element.
//   2. The number of entries, and which index is cheapest, depends on the constants: `QueryPlanner` counts.
//
// An outline is valid for all fetches of one entity with terms of the same kinds and keys and the same sort,
// as long as each constant is valid for its column; a term with an invalid constant is planned as one to
// evaluate on the rows.
//
// Threads: immutable, so any.

import CairnModel
import CairnStore

final class PlanOutline: Sendable {
    /// One end of an interval: the constant of a term.
    struct Bound: Sendable {
        let term: Int
        /// The position of the constant in a list.
        let place: Int
        let isIncluded: Bool
    }

    /// The condition on the element after those with an equality.
    enum Last: Sendable {
        case none
        case among(Int)
        case beginning(Int)
        /// The terms for its lower and upper bounds, and those that only require a value, in their original
        /// order.
        case between(low: Bound?, high: Bound?, terms: [Int])
    }

    /// An access path through one index.
    struct Way: Sendable {
        /// As an index of the catalog's `fetchIndexes`.
        let index: Int
        let parts: [Catalog.IndexPart]
        /// By element with an equality: its term.
        let equal: [Int]
        let last: Last
        /// The terms that the equalities, and the condition on the next element, execute.
        let answeredByValues: TermSet
        let answered: TermSet
        /// The direction in which the index returns the sort order; nil if it does not.
        let direction: OrderedCursor.Direction?
        /// The number of elements that rows equal in that order have in common. If there are further
        /// elements, they define the order of those rows, although rows are wanted by number.
        let tied: Int
        /// Whether all objects of the index belong to the requested entities.
        let isOfAll: Bool
    }

    /// A subset of the first 64 terms; later terms are evaluated on the rows.
    struct TermSet: Sendable, Equatable {
        private(set) var bits: UInt64 = 0

        mutating func insert(_ term: Int) { if term < 64 { bits |= 1 << UInt64(term) } }
        func union(_ other: TermSet) -> TermSet { TermSet(bits: bits | other.bits) }
        func isSubset(of other: TermSet) -> Bool { bits & ~other.bits == 0 }
        var isEmpty: Bool { bits == 0 }
        var count: Int { bits.nonzeroBitCount }
    }

    private let entity: Int
    private let includesSubentities: Bool
    private let sort: [SortKey]
    private let terms: [(key: String, kind: PlanTerm.Kind)]
    /// By term: the type of its column; nil if the term is not used.
    let columns: [SchemaColumn.Kind?]
    /// The requested entities.
    let family: [Int]
    let ways: [Way]
    /// Whether the ways of the outline are the only access paths, and no term can be rejected: each compares
    /// a column with constants valid for it.
    let isAlone: Bool

    init(_ fetch: StoreFetch, _ terms: [PlanTerm], _ catalog: Catalog) {
        entity = fetch.entity
        includesSubentities = fetch.includesSubentities
        sort = fetch.sort
        self.terms = terms.map { ($0.key, $0.kind) }
        family = includesSubentities ? catalog.family(of: entity) : [entity]
        let description = catalog.description(of: entity)
        let places = terms.map {
            $0.kind == .other ? nil : description.columnIndex(named: $0.key)
        }
        columns = places.map { $0.map { description.columns[$0].kind } }
        let conditions = PlanConditions(terms, places, columns)
        let family = family
        ways = catalog.fetchIndexesOfEntity[entity].map { index in
            conditions.way(index, catalog.fetchIndexes[index], family, fetch.sort)
        }
        isAlone =
            zip(terms, columns).allSatisfy { term, column in
                switch column {
                case nil, .attribute(.transformable), .attribute(.composite): false
                case .reference: term.kind == .isNil || term.kind == .isSome
                case .attribute(.string): true
                case .attribute: term.kind != .beginning
                }
            } && !Self.hasKeys(conditions, catalog.entities[entity], catalog)
    }

    /// Whether uniqueness constraints may be an access path to the rows.
    private static func hasKeys(
        _ conditions: PlanConditions, _ entity: Catalog.StoredEntity, _ catalog: Catalog
    ) -> Bool {
        entity.uniques.contains {
            catalog.uniques[$0].form.isWhole
                && catalog.uniques[$0].columns.allSatisfy(conditions.asksFor)
        }
    }

    /// Whether it is the outline of a fetch.
    func fits(_ fetch: StoreFetch, _ terms: [PlanTerm]) -> Bool {
        guard entity == fetch.entity, includesSubentities == fetch.includesSubentities,
            self.terms.count == terms.count, sort.count == fetch.sort.count
        else { return false }
        for index in terms.indices {
            guard self.terms[index].kind == terms[index].kind,
                self.terms[index].key == terms[index].key
            else { return false }
        }
        for index in sort.indices where sort[index] != fetch.sort[index] { return false }
        return true
    }
}

/// The conditions of terms on columns.
private struct PlanConditions {
    /// A part of a term: for an interval, one end.
    private enum Condition {
        case equal
        case among
        case beginning
        case low(PlanOutline.Bound)
        case high(PlanOutline.Bound)
        case some
    }

    private struct Part {
        let column: Int
        let term: Int
        let condition: Condition
    }

    private var parts: [Part] = []

    init(_ terms: [PlanTerm], _ places: [Int?], _ kinds: [SchemaColumn.Kind?]) {
        for (term, (place, kind)) in zip(places, kinds).enumerated() {
            guard let place, let kind else { continue }
            for condition in Self.conditions(terms[term].kind, kind, term) {
                parts.append(Part(column: place, term: term, condition: condition))
            }
        }
    }

    private static func conditions(
        _ asked: PlanTerm.Kind, _ column: SchemaColumn.Kind, _ term: Int
    ) -> [Condition] {
        func bound(_ isIncluded: Bool, _ place: Int = 0) -> PlanOutline.Bound {
            PlanOutline.Bound(term: term, place: place, isIncluded: isIncluded)
        }
        var isReference = false
        if case .reference = column { isReference = true }
        switch asked {
        case .other: return []
        case .isNil, .equal: return [.equal]
        case .isSome: return hasOrderedValuesOnly(column) ? [.some] : []
        case .among: return [.among]
        case .beginning: return column == .attribute(.string) ? [.beginning] : []
        case .between: return isReference ? [] : [.low(bound(true)), .high(bound(true, 1))]
        case .less: return isReference ? [] : [.high(bound(false))]
        case .lessOrEqual: return isReference ? [] : [.high(bound(true))]
        case .greater: return isReference ? [] : [.low(bound(false))]
        case .greaterOrEqual: return isReference ? [] : [.low(bound(true))]
        }
    }

    /// Whether all values of a column lie between a first and a last one: NaN does not.
    private static func hasOrderedValuesOnly(_ column: SchemaColumn.Kind) -> Bool {
        guard case .attribute(let type) = column else { return false }
        return switch type {
        case .integer16, .integer32, .integer64, .boolean, .string, .uuid, .uri, .binary: true
        default: false
        }
    }

    /// Whether a column is tested for one or several values.
    func asksFor(_ column: Int) -> Bool {
        parts.contains { part in
            switch part.condition {
            case .equal, .among: part.column == column
            default: false
            }
        }
    }

    // MARK: Ways

    /// Returns the access path through an index; without an applicable term it has all entries.
    func way(
        _ index: Int, _ definition: Catalog.FetchIndexDefinition, _ family: [Int],
        _ sort: [SortKey]
    ) -> PlanOutline.Way {
        var equal: [Int] = []
        var answeredByValues = PlanOutline.TermSet()
        for part in definition.parts {
            guard let term = term(of: part.column) else { break }
            equal.append(term)
            answeredByValues.insert(term)
        }
        var answered = answeredByValues
        var last = PlanOutline.Last.none
        if equal.count < definition.parts.count {
            let column = definition.parts[equal.count].column
            last = self.last(parts.filter { $0.column == column }, &answered)
        }
        let order = Self.order(definition, fixed: equal.count, sort)
        return PlanOutline.Way(
            index: index, parts: definition.parts, equal: equal, last: last,
            answeredByValues: answeredByValues, answered: answered,
            direction: order?.direction, tied: order?.tied ?? definition.parts.count,
            isOfAll: definition.family.allSatisfy(Set(family).contains))
    }

    /// Returns the term with the equality on a column.
    private func term(of column: Int) -> Int? {
        for part in parts where part.column == column {
            if case .equal = part.condition { return part.term }
        }
        return nil
    }

    /// Combines the conditions on one column, and notes the terms that this executes.
    private func last(_ parts: [Part], _ answered: inout PlanOutline.TermSet) -> PlanOutline.Last {
        for part in parts {
            if case .among = part.condition {
                answered.insert(part.term)
                return .among(part.term)
            }
        }
        var low: PlanOutline.Bound?
        var high: PlanOutline.Bound?
        var terms: [Int] = []
        // Terms that are partly evaluated on the rows.
        var left: Set<Int> = []
        for part in parts {
            switch part.condition {
            case .beginning:
                answered.insert(part.term)
                return .beginning(part.term)
            // A second bound on one side is evaluated on the rows, and with it its whole term.
            case .low(let bound):
                if low == nil { low = bound } else { left.insert(part.term) }
            case .high(let bound):
                if high == nil { high = bound } else { left.insert(part.term) }
            case .some: break
            case .equal, .among: continue
            }
            if terms.last != part.term { terms.append(part.term) }
        }
        if terms.isEmpty { return .none }
        for term in terms where !left.contains(term) { answered.insert(term) }
        return .between(low: low, high: high, terms: terms)
    }

    private static func order(
        _ index: Catalog.FetchIndexDefinition, fixed: Int, _ sort: [SortKey]
    ) -> (direction: OrderedCursor.Direction, tied: Int)? {
        // An index sorts strings by their bytes, and nil before everything.
        guard !sort.isEmpty,
            sort.allSatisfy({ $0.comparison == .binary && !$0.nilIsGreatest })
        else { return nil }
        let fixedNames = Set(index.names.prefix(fixed))
        let keys = sort.filter { !fixedNames.contains($0.key) }
        let tied = fixed + keys.count
        guard tied <= index.parts.count else { return nil }
        let isAll = tied == index.parts.count
        // If all are equal, there is nothing to gain.
        if keys.isEmpty { return isAll ? (.forward, tied) : nil }
        var isForward: Bool?
        for (key, place) in zip(keys, fixed...) {
            guard key.key == index.names[place] else { return nil }
            let matches = key.isAscending == index.parts[place].isAscending
            if isForward == nil { isForward = matches }
            if isForward != matches { return nil }
        }
        if isForward == true { return (.forward, tied) }
        return (isAll ? .backwardByKeys : .backward, tied)
    }
}
