// Candidate rows without a fetch index: by object ids, by unique keys, or by references. They include every
// match.
//
// Their number is known before they are looked up, so that the smallest set is used, and none if a scan is
// cheaper.
//
// Threads: one reading.

import CairnModel
import CairnStore

/// Rows that include every match.
struct RowCandidates {
    fileprivate enum Way {
        case ids(Set<UInt32>)
        case key(unique: Int, [Int: Value])
        case keys(KeyIndex, [Value])
        case sources(Set<UInt32>, reference: Int)
    }

    fileprivate let way: Way
    /// The maximum number of rows.
    let count: Int
}

extension FetchRunner {
    /// Reading this few rows costs less than considering a scan.
    private static let few = 1024

    /// The smallest set of candidate rows; nil for a scan.
    func candidates() -> RowCandidates? {
        guard let predicate = fetch.predicate, let filter else { return nil }
        let parts: [Filter] = if case .and(let parts) = filter { parts } else { [filter] }
        for part in parts {
            if case .number(let numbers) = part {
                return RowCandidates(way: .ids(numbers), count: numbers.count)
            }
        }
        var equal: [Int: Value] = [:]
        var lists: [PredicateNode.Comparison] = []
        collectEqualities(predicate, into: &equal, &lists)
        for unique in catalog.entities[fetch.entity].uniques
        where catalog.uniques[unique].isPlain
            && catalog.uniques[unique].columns.allSatisfy({ equal[$0] != nil })
        {
            return RowCandidates(way: .key(unique: unique, equal), count: 1)
        }
        if catalog.hasKeyRules, let found = ruled(predicate, equal) { return found }
        var all: [RowCandidates] = []
        for reference in catalog.entities[fetch.entity].references {
            guard let value = equal[catalog.references[reference].column] else { continue }
            if let found = sources(of: [value], reference) { all.append(found) }
        }
        all += lists.compactMap(listed)
        guard let best = all.min(by: { $0.count < $1.count }) else { return nil }
        return best.count > most ? nil : best
    }

    /// Reading more rows than this costs more than a scan.
    private var most: Int {
        let rows = family.reduce(0) { $0 + state.counts[$1] }
        // Conditions that are evaluated row by row require a lookup per row in a scan, too.
        return max(Self.few, objects == nil ? rows / QueryPlanner.look : rows)
    }

    /// The objects with one of several unique keys, or that refer to one of several objects.
    private func listed(_ comparison: PredicateNode.Comparison) -> RowCandidates? {
        guard case .list(let values) = comparison.right, values.count <= most else { return nil }
        if let keys = KeyIndex(comparison, entity: fetch.entity, catalog: catalog) {
            return RowCandidates(way: .keys(keys, values), count: values.count)
        }
        guard case .keyPath(let name) = comparison.left,
            let reference = catalog.entities[fetch.entity].references.first(where: {
                let column = catalog.references[$0].column
                return catalog.entities[fetch.entity].columns[column].name == name
            })
        else { return nil }
        return sources(of: values, reference)
    }

    private func sources(of values: [Value], _ reference: Int) -> RowCandidates? {
        let definition = catalog.references[reference]
        let root = catalog.schemaEntity(catalog.trees[definition.target].root)
        var targets: Set<UInt32> = []
        for value in values {
            // The table does not contain nil.
            guard case .objectID(let id) = value else { return nil }
            // Nothing refers to an object of another store.
            if reader.identity.owns(id, entity: root), let target = UInt32(exactly: id.reference) {
                targets.insert(target)
            }
        }
        let count = targets.reduce(0) { $0 + state.inverses[reference].count(of: $1) }
        return RowCandidates(way: .sources(targets, reference: reference), count: count)
    }

    /// The numbers of candidates, without duplicates.
    func numbers(_ candidates: RowCandidates) throws(StoreError) -> [UInt32] {
        switch candidates.way {
        case .ids(let numbers): return numbers.sorted()
        case .key(let unique, let equal): return try probe(unique, equal)
        case .keys(let keys, let values):
            return try KeyListSearch(self, keys, values).hits().map(\.number)
        case .sources(let targets, let reference):
            var sources: [UInt32] = []
            for target in targets {
                state.inverses[reference].sources(of: target, into: &sources)
            }
            // No order is required: this one mostly matches the order of rows in blocks.
            if targets.count > 1 { NumberSort.sort(&sources) { $0 } }
            return sources
        }
    }

    /// The name of the candidates in a query plan.
    func plan(_ candidates: RowCandidates) -> String {
        switch candidates.way {
        case .ids: return "object ids"
        case .key(let unique, _): return catalog.uniques[unique].plan
        case .keys(let keys, _): return catalog.uniques[keys.unique].plan
        case .sources(let targets, let reference):
            if targets.isEmpty { return "inverse table" }
            let column = catalog.references[reference].column
            return "inverse of \(catalog.entities[fetch.entity].columns[column].name)"
        }
    }

    /// Collects the columns that equal a value in every match, and the lists of which every match has one
    /// value.
    private func collectEqualities(
        _ node: PredicateNode, into equal: inout [Int: Value],
        _ lists: inout [PredicateNode.Comparison]
    ) {
        switch node {
        case .and(let nodes): for node in nodes { collectEqualities(node, into: &equal, &lists) }
        case .comparison(let comparison):
            if comparison.operator == .in {
                if comparison.modifier == .direct, comparison.options.isEmpty {
                    lists.append(comparison)
                }
                return
            }
            guard let simple = comparison.simple, simple.options.isEmpty,
                case .key(let key) = simple.subject, simple.operator == .equal,
                case .value(let value) = simple.operand, !value.isNull,
                let column = catalog.entities[fetch.entity].columns.firstIndex(where: {
                    $0.name == key
                }),
                // An index only contains keys of the column's type, although a number of another type may be
                // equal.
                isKey(value, of: column)
            else { return }
            equal[column] = value
        case .constant, .or, .not: break
        }
    }

    /// The object with a key of a constraint with options. The predicate must imply the constraint's own
    /// predicate, and must require each part of the key to equal a value, either exactly or folded as the
    /// constraint folds it.
    @inline(never)
    private func ruled(_ predicate: PredicateNode, _ equal: [Int: Value]) -> RowCandidates? {
        var parts: [PredicateNode] = []
        collectParts(predicate, into: &parts)
        for unique in catalog.entities[fetch.entity].uniques {
            let form = catalog.uniques[unique].form
            guard let rule = form.rule, rule.isImplied(by: parts) else { continue }
            var values = equal
            for (place, column) in form.columns.enumerated() where values[column] == nil {
                values[column] = part(
                    named: catalog.uniques[unique].names[place], folds: rule.folds[place],
                    rule.rule, among: parts)
            }
            guard form.columns.allSatisfy({ values[$0] != nil }) else { continue }
            return RowCandidates(way: .key(unique: unique, values), count: 1)
        }
        return nil
    }

    private func collectParts(_ node: PredicateNode, into parts: inout [PredicateNode]) {
        guard case .and(let nodes) = node else { return parts.append(node) }
        for node in nodes { collectParts(node, into: &parts) }
    }

    /// The value that a part of a key must equal ignoring case or accents; also nil, where nil is a value.
    private func part(
        named name: String, folds: Bool, _ rule: UniquenessRule, among parts: [PredicateNode]
    ) -> Value? {
        var options: PredicateNode.Comparison.Options = []
        if rule.isCaseInsensitive { options.insert(.caseInsensitive) }
        if rule.isDiacriticInsensitive { options.insert(.diacriticInsensitive) }
        for case .comparison(let comparison) in parts {
            guard let simple = comparison.simple, simple.operator == .equal,
                simple.subject == .key(name), case .value(let value) = simple.operand
            else { continue }
            switch value {
            case .null where rule.nilsAreEqual: return value
            case .string where folds && simple.options == options: return value
            default: continue
            }
        }
        return nil
    }

    private func isKey(_ value: Value, of column: Int) -> Bool {
        switch catalog.description(of: fetch.entity).columns[column].kind {
        case .reference: if case .objectID = value { true } else { false }
        case .attribute(let type): value.fits(type)
        }
    }

    private func probe(_ unique: Int, _ equal: [Int: Value]) throws(StoreError) -> [UInt32] {
        var key = KeyBuffer()
        let width = catalog.entities[fetch.entity].columns.count
        let values = (0..<width).map { equal[$0] ?? .null }
        let form = catalog.uniques[unique].form
        let isKey: Bool
        if let rule = form.rule {
            isKey = key.load(values, form, rule, number: { $0.number })
        } else {
            isKey = key.load(values, columns: form.columns, number: { $0.number })
        }
        guard isKey else { return [] }
        var cursor = state.uniques[unique].firstCandidate(hash: key.hash(seed: state.hashSeed))
        var numbers: [UInt32] = []
        while let number = cursor.next() { numbers.append(number) }
        return numbers
    }
}
