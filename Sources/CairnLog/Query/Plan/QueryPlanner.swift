// Chooses how a fetch finds its rows.
//
//   1. Each fetch index that has all objects of the entity is held against the conditions on columns: as many of its first
//      elements as have one value, then an interval, a beginning or a list. How many entries that are is counted, not guessed.
//   2. An entry costs a look at the row, which is as much as scanning some rows; the cheapest way wins, and a scan wins where
//      the index would name much of the entity.
//   3. A sort that an index gives in its order needs no sorting, and with a limit no more entries than are wanted.
//   4. Two indexes that answer different parts are intersected where that spares looks at rows.
//
// Threads: lives in one call.

import CairnModel
import CairnStore

struct QueryPlanner {
    /// What a look at one row through an index costs, in rows that are scanned.
    static let look = 12
    /// What a number in a list costs, in the same measure.
    static let step = 1

    let state: EngineState
    let fetch: StoreFetch
    let conditions: ColumnConditions
    /// How many rows a scan would look at.
    let rows: Int
    let views: [FetchIndexView]

    init(_ runner: FetchRunner) {
        state = runner.state
        fetch = runner.fetch
        conditions = ColumnConditions(
            fetch.predicate, of: fetch.entity, runner.catalog, runner.engine.identity)
        rows = runner.family.reduce(0) { $0 + runner.state.counts[$1] }
        views = runner.state.fetchIndexViews(of: fetch.entity)
    }

    /// Whether there is an index to think of at all.
    static func hasIndexes(_ catalog: Catalog, _ entity: Int) -> Bool {
        !catalog.fetchIndexesOfEntity[entity].isEmpty
    }

    // MARK: Choosing

    /// What was chosen.
    enum Choice {
        case scan
        /// The rows of one index, in an order that is wanted or in none, and of others that name fewer.
        case index(IndexPath, order: OrderedCursor.Direction?, others: [IndexPath])
    }

    /// The cheapest way; `wantsOrder` if the rows are wanted in the order of the fetch.
    func choice(wantsOrder: Bool) -> Choice {
        let paths = views.compactMap(path)
        var best = Choice.scan
        var cost = scanCost(wantsOrder: wantsOrder)
        for path in paths where !path.answered.isEmpty {
            let price = path.count * Self.look + (wantsOrder ? sortCost(path.count) : 0)
            if price < cost {
                cost = price
                best = .index(path, order: nil, others: [])
            }
        }
        if wantsOrder, !fetch.sort.isEmpty {
            for path in paths {
                guard let order = path.direction(for: fetch.sort) else { continue }
                let price = min(path.count, wanted(path)) * Self.look
                if price <= cost {
                    cost = price
                    best = .index(path, order: order, others: [])
                }
            }
        }
        guard case .index(let path, nil, _) = best else { return best }
        return .index(path, order: nil, others: others(beside: path, paths))
    }

    private func scanCost(wantsOrder: Bool) -> Int {
        let hasLimit = fetch.limit != nil
        // With a limit a scan keeps few rows to sort; without a condition all are sorted.
        let sorted = wantsOrder && !fetch.sort.isEmpty && !hasLimit && conditions.members == 0
        return rows + (sorted ? sortCost(rows) : 0)
    }

    /// What it costs to look at some rows in no order, and to sort them.
    func price(of count: Int) -> Int { count * Self.look + sortCost(count) }

    /// What a path costs that was chosen.
    func price(of path: IndexPath, in order: OrderedCursor.Direction?) -> Int {
        order == nil ? price(of: path.count) : min(path.count, wanted(path)) * Self.look
    }

    private func sortCost(_ count: Int) -> Int { fetch.sort.isEmpty ? 0 : count * 12 }

    /// How many entries are looked at in order until there are enough rows; if a part of the condition is left, as many more
    /// as if one row in ten met it.
    private func wanted(_ path: IndexPath) -> Int {
        guard let limit = fetch.limit else { return path.count }
        let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(max(0, fetch.offset))
        if isTooMuch || sum > path.count { return path.count }
        return isWhole(path) ? sum : sum > Int.max / 10 ? path.count : sum * 10
    }

    /// Whether a path answers all of the condition.
    func isWhole(_ path: IndexPath) -> Bool { areWhole([path]) }

    /// Whether paths that are intersected answer all of the condition.
    func areWhole(_ paths: [IndexPath]) -> Bool {
        var answered: Set<Int> = []
        for path in paths where path.isExact { answered.formUnion(path.answered) }
        return answered.count == conditions.members
    }

    /// The paths that are worth being intersected with one: they answer other parts, and spare more looks than they cost.
    private func others(beside path: IndexPath, _ paths: [IndexPath]) -> [IndexPath] {
        guard path.count > 64, rows > 0 else { return [] }
        return paths.filter { other in
            if other.answered.isSubset(of: path.answered) || other.count == 0 { return false }
            if other.view.definition.name == path.view.definition.name { return false }
            let spared = Double(path.count) * (1 - Double(other.count) / Double(rows))
            return spared * Double(Self.look) > Double(other.count * Self.step) * 2
        }
    }

    // MARK: Paths

    /// The way through an index; without a condition that it answers all its entries.
    func path(_ view: FetchIndexView) -> IndexPath? {
        let definition = view.definition
        var equal: [Value] = []
        var answered: Set<Int> = []
        var words: [PlanName.Condition] = []
        for part in definition.parts {
            guard let (value, member) = conditions.value(of: part.column) else { break }
            equal.append(value)
            answered.insert(member)
            words.append(.equal(definition.names[equal.count - 1], value))
        }
        guard equal.count < definition.parts.count else {
            return made(view, [(equal, nil)], answered, equal.count, words)
        }
        let part = definition.parts[equal.count]
        let name = definition.names[equal.count]
        let parts = conditions.parts(of: part.column)
        for found in parts {
            if case .among(let values) = found.condition {
                // So many ways down the tree cost more than a scan before a row is looked at.
                if values.count > max(16, rows / Self.look) {
                    return made(view, [(equal, nil)], answered, equal.count, words)
                }
                var seen: Set<Value> = []
                let lists = values.filter { seen.insert($0.asGroupKey).inserted }
                    .map { (equal + [$0], IndexInterval?.none) }
                return made(
                    view, lists, answered.union([found.member]), equal.count,
                    words + [.among(name, lists.count)])
            }
        }
        guard let (interval, members, said) = interval(parts, name) else {
            return made(view, [(equal, nil)], answered, equal.count, words)
        }
        return made(
            view, [(equal, interval)], answered.union(members), equal.count, words + said)
    }

    private func made(
        _ view: FetchIndexView, _ wanted: [([Value], IndexInterval?)], _ answered: Set<Int>,
        _ fixed: Int, _ conditions: [PlanName.Condition]
    ) -> IndexPath? {
        var ranges: [IndexRange] = []
        var count = 0
        var isExact = true
        var seen: Set<[UInt8]> = []
        for (equal, interval) in wanted {
            guard let range = view.range(equal: equal, then: interval) else { return nil }
            isExact = isExact && range.isExact
            // Keys that are cut are the same for many values.
            if !range.isExact, wanted.count > 1, !seen.insert(range.lower).inserted { continue }
            ranges.append(range)
            count += view.count(range)
        }
        return IndexPath(
            view: view, ranges: ranges, count: count, answered: answered, isExact: isExact,
            fixed: fixed,
            equal: fixed == view.definition.parts.count && wanted.count == 1 ? wanted[0].0 : nil,
            conditions: conditions)
    }

    /// The interval that conditions on one column leave, and which of them it answers.
    private func interval(_ parts: [ColumnConditions.Part], _ name: String)
        -> (interval: IndexInterval, members: Set<Int>, words: [PlanName.Condition])?
    {
        var low = IndexBound.open
        var high = IndexBound.open
        var members: Set<Int> = []
        var words: [PlanName.Condition] = []
        for part in parts {
            switch part.condition {
            case .beginning(let text):
                return (.beginning(text), [part.member], [.beginning(name, text)])
            case .above(let value, let isIncluded):
                // A second bound on one side is left to the rows, and with it its whole member.
                guard case .open = low else { continue }
                low = isIncluded ? .including(value) : .excluding(value)
                words.append(.above(name, value, isIncluded: isIncluded))
                members.insert(part.member)
            case .below(let value, let isIncluded):
                guard case .open = high else { continue }
                high = isIncluded ? .including(value) : .excluding(value)
                words.append(.below(name, value, isIncluded: isIncluded))
                members.insert(part.member)
            case .some:
                words.append(.some(name))
                members.insert(part.member)
            case .equal, .among: continue
            }
        }
        if members.isEmpty { return nil }
        // Of BETWEEN both ends must have been taken for it to be answered.
        for member in members {
            let all = parts.filter { $0.member == member }.count
            let taken = taken(parts, member)
            if taken < all { members.remove(member) }
        }
        return (.between(low, high), members, words)
    }

    /// How many conditions of a member are the first on their side.
    private func taken(_ parts: [ColumnConditions.Part], _ member: Int) -> Int {
        var first: (low: Int?, high: Int?) = (nil, nil)
        // A column that has a value is a condition by itself.
        if case .some? = parts.first(where: { $0.member == member })?.condition { return 1 }
        for (index, part) in parts.enumerated() {
            switch part.condition {
            case .above where first.low == nil: first.low = index
            case .below where first.high == nil: first.high = index
            default: break
            }
        }
        return [first.low, first.high].compactMap { $0 }.filter { parts[$0].member == member }
            .count
    }
}
