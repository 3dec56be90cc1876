// Chooses how a fetch finds its rows.
//
//   1. The outline of the fetch says which of its terms each fetch index answers; a shape that was asked before has one. With
//      the constants of the terms, how many entries of an index that is is counted, not guessed.
//   2. An entry costs a look at the row, which is as much as scanning some rows; the cheapest way wins, and a scan wins where
//      the index would name much of the entity.
//   3. A sort that an index gives in its order needs no sorting, and with a limit no more entries than are wanted.
//   4. Two indexes that answer different parts are intersected where that spares looks at rows.
//
// Threads: lives in one call; the state is pinned by whoever made it.

import CairnModel
import CairnStore

final class QueryPlanner {
    /// The cost of reading one row through an index, in scanned rows.
    static let look = 12
    /// What a number in a list costs, in the same measure.
    static let step = 1

    /// How many rows a scan would look at.
    let rows: Int
    let outline: PlanOutline
    private let fetch: StoreFetch
    private let terms: [PlanTerm]
    private let catalog: Catalog
    private let contents: [FetchIndexContent]
    private let seed: UInt64
    /// Whether any row will do of those that are equal in the order of the fetch.
    var takesAnyOfEqual = false
    /// How many rows are named in another way, among which every match is.
    var named: Int?
    /// Counted when they are asked for: another way may need no plan.
    private lazy var paths = countedPaths()

    private init(
        _ fetch: StoreFetch, _ terms: [PlanTerm], _ outline: PlanOutline,
        _ state: borrowing EngineState
    ) {
        self.fetch = fetch
        self.terms = terms
        self.outline = outline
        catalog = state.catalog
        contents = state.fetchIndexes
        seed = state.hashSeed
        var rows = 0
        for entity in outline.family { rows += state.counts[entity] }
        self.rows = rows
    }

    /// A planner for a fetch, before anything is known of it; nil if there is no index to think of, or the fetch is not
    /// of the usual kind.
    static func prepared(
        _ fetch: StoreFetch, _ state: borrowing EngineState, _ identity: StoreIdentity
    ) -> QueryPlanner? {
        let catalog = state.catalog
        guard let predicate = fetch.predicate, fetch.nullSemantics == .twoValued,
            fetch.entity >= 0,
            fetch.entity < catalog.schema.entities.count, hasIndexes(catalog, fetch.entity),
            var terms = PlanTerm.usual(predicate)
        else { return nil }
        let outline = outline(fetch, &terms, catalog, identity, catalog.plans)
        return QueryPlanner(fetch, terms, outline, state)
    }

    /// A planner for a fetch whose condition is one of a store, in two values.
    static func planner(
        _ fetch: StoreFetch, _ state: borrowing EngineState, _ identity: StoreIdentity
    ) -> QueryPlanner {
        prepared(fetch, state, identity) ?? anew(fetch, state, identity)
    }

    /// A planner that knows no outline.
    static func anew(
        _ fetch: StoreFetch, _ state: borrowing EngineState, _ identity: StoreIdentity
    ) -> QueryPlanner {
        var terms = PlanTerm.all(fetch.predicate)
        let outline = outline(fetch, &terms, state.catalog, identity, nil)
        return QueryPlanner(fetch, terms, outline, state)
    }

    /// The outline for some terms, of which those become others whose constants are none of their columns.
    private static func outline(
        _ fetch: StoreFetch, _ terms: inout [PlanTerm], _ catalog: Catalog,
        _ identity: StoreIdentity, _ cache: PlanCache?
    ) -> PlanOutline {
        let outline =
            cache?.outline(fetch, terms, catalog) ?? PlanOutline(fetch, terms, catalog)
        var isUsable = true
        for index in terms.indices {
            guard let column = outline.columns[index],
                !terms[index].isUsable(column, identity)
            else { continue }
            terms[index] = .other
            isUsable = false
        }
        if isUsable { return outline }
        return cache?.outline(fetch, terms, catalog) ?? PlanOutline(fetch, terms, catalog)
    }

    /// Whether there is an index to think of at all.
    static func hasIndexes(_ catalog: Catalog, _ entity: Int) -> Bool {
        !catalog.fetchIndexesOfEntity[entity].isEmpty
    }

    // MARK: Choosing

    /// What was chosen.
    enum Choice {
        case scan
        /// The rows of one index, in a required order or in none, intersected with others that select fewer.
        case index(IndexPath, order: OrderedCursor.Direction?, others: [IndexPath])
    }

    /// The cheapest way; `wantsOrder` if the rows are wanted in the order of the fetch, `inOrder` if an index may give it.
    func choice(wantsOrder: Bool, inOrder: Bool = true) -> Choice {
        var best: Int?
        var order: OrderedCursor.Direction?
        var cost = scanCost(wantsOrder: wantsOrder)
        for (index, path) in paths.enumerated() where !path.answered.isEmpty {
            let price = path.count * Self.look + (wantsOrder ? sortCost(path.count) : 0)
            if price < cost {
                cost = price
                best = index
            }
        }
        if wantsOrder, inOrder, !fetch.sort.isEmpty {
            for (index, path) in paths.enumerated() {
                guard path.isNothing || path.onlyRange != nil,
                    let direction = outline.ways[path.way].direction
                else { continue }
                let price = orderedPrice(path, direction)
                if price <= cost {
                    cost = price
                    best = index
                    order = direction
                }
            }
        }
        guard let best else { return .scan }
        let path = paths[best]
        return .index(
            path, order: order, others: order == nil ? others(beside: path) : [])
    }

    private func scanCost(wantsOrder: Bool) -> Int {
        let hasLimit = fetch.limit != nil
        // With a limit a scan keeps few rows to sort; without a condition all are sorted.
        let sorted = wantsOrder && !fetch.sort.isEmpty && !hasLimit && terms.isEmpty
        return rows + (sorted ? sortCost(rows) : 0)
    }

    /// What it costs to look at some rows in no order, and to sort them.
    func price(of count: Int) -> Int { count * Self.look + sortCost(count) }

    /// What a path costs that was chosen.
    func price(of path: IndexPath, in order: OrderedCursor.Direction?) -> Int {
        order.map { orderedPrice(path, $0) } ?? price(of: path.count)
    }

    private func sortCost(_ count: Int) -> Int { fetch.sort.isEmpty ? 0 : count * 12 }

    /// How many entries are looked at in order until there are enough rows.
    func looks(_ path: IndexPath, _ direction: OrderedCursor.Direction) -> Int {
        let all = min(path.count, wanted)
        if isWhole(path), isOfAll(path) {
            // Those of the offset are passed over.
            if !isTied(path) { return all - min(all, offset) }
            return takesAnyOfEqual ? all : span(path, direction).ranks.count
        }
        var looks = all
        if !isWhole(path) {
            // As many entries to a row as if no more rows matched than are named otherwise, and at most one in ten.
            let one = max(10, path.count / max(1, mostMatches))
            looks = all > path.count / one ? path.count : all * one
        }
        return isTied(path) && !takesAnyOfEqual ? max(looks, reach(path, direction)) : looks
    }

    /// No more rows can match than the fewest that are named.
    private var mostMatches: Int {
        paths.reduce(named ?? .max) { $1.answered.isEmpty ? $0 : min($0, $1.count) }
    }

    /// How many entries of a tied path there are to the end of the tie of the last wanted row.
    private func reach(_ path: IndexPath, _ direction: OrderedCursor.Direction) -> Int {
        guard let all = path.onlyRange, wanted > 0, wanted < all.count else { return path.count }
        return direction == .forward
            ? tie(path, all.lowerBound + wanted - 1).clamped(to: all).upperBound - all.lowerBound
            : all.upperBound
                - tie(path, all.upperBound - wanted).clamped(to: all).lowerBound
    }

    /// What the rows of a path cost in its order. Of two that cost the same, the one that is not tied is taken.
    private func orderedPrice(_ path: IndexPath, _ direction: OrderedCursor.Direction) -> Int {
        looks(path, direction) * Self.look + (isTied(path) ? 1 : 0)
    }

    private var offset: Int { max(0, fetch.offset) }

    /// How many rows are wanted, those of the offset among them.
    var wanted: Int {
        guard let limit = fetch.limit else { return .max }
        let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(offset)
        return isTooMuch ? .max : sum
    }

    /// Whether elements of a path's index come behind those of the order, so that rows which are equal in it are in no order.
    func isTied(_ path: IndexPath) -> Bool {
        outline.ways[path.way].tied < outline.ways[path.way].parts.count
    }

    /// The entries that have the wanted rows of a path that is tied, and is all of the condition: whole ties, as the order
    /// within one is another. Says also how many come before them.
    func span(_ path: IndexPath, _ direction: OrderedCursor.Direction)
        -> (ranks: Range<Int>, skipped: Int)
    {
        guard let all = path.onlyRange else { return (0..<0, 0) }
        let isForward = direction == .forward
        func tie(_ position: Int) -> Range<Int> {
            let rank =
                isForward ? all.lowerBound + position : all.upperBound - 1 - position
            return self.tie(path, rank).clamped(to: all)
        }
        if offset >= all.count { return (all.upperBound..<all.upperBound, all.count) }
        if wanted == 0 { return (all.lowerBound..<all.lowerBound, 0) }
        let first = offset == 0 ? nil : tie(offset)
        let last = wanted >= all.count ? nil : tie(wanted - 1)
        if isForward {
            let start = first?.lowerBound ?? all.lowerBound
            let end = last?.upperBound ?? all.upperBound
            return (start..<max(start, end), start - all.lowerBound)
        }
        let end = first?.upperBound ?? all.upperBound
        let start = last?.lowerBound ?? all.lowerBound
        return (min(start, end)..<end, all.upperBound - end)
    }

    /// The entries that are equal to one in the order of the fetch.
    private func tie(_ path: IndexPath, _ rank: Int) -> Range<Int> {
        var cursor = cursor(path, rank..<rank + 1)
        guard cursor.next() != nil else { return rank..<rank }
        let bytes = Array(cursor.key.prefix(tiedBytes(path, cursor)))
        let ordered = contents[outline.ways[path.way].index].ordered
        return bytes.withUnsafeBytes {
            let first = ordered.rank($0)
            return first..<first + max(0, ordered.count(prefix: $0))
        }
    }

    /// How many bytes of the key that a cursor is at all have in common that are equal to it in the order of the fetch; all of
    /// it if it is cut before they end.
    func tiedBytes(_ path: IndexPath, _ cursor: borrowing OrderedCursor) -> Int {
        let way = outline.ways[path.way]
        return cursor.key.withUnsafeBytes {
            IndexKey.length(of: way.parts[..<way.tied], in: $0) ?? $0.count
        }
    }

    /// Whether a path answers all of the condition.
    func isWhole(_ path: IndexPath) -> Bool {
        (path.isExact ? path.answered.count : 0) == terms.count
    }

    /// Whether paths that are intersected answer all of the condition.
    func areWhole(_ path: IndexPath, _ others: [IndexPath]) -> Bool {
        var answered = PlanOutline.TermSet()
        if path.isExact { answered = path.answered }
        for other in others where other.isExact { answered = answered.union(other.answered) }
        return answered.count == terms.count
    }

    /// Whether the rows are what a way finds that an index alone goes: nobody need know the condition.
    func isAnswer(wantsOrder: Bool) -> Bool {
        guard outline.isAlone,
            case .index(let path, let order, let others) = choice(wantsOrder: wantsOrder)
        else { return false }
        // In order, a scan may yet take over where an index has objects of other entities.
        return order == nil ? areWhole(path, others) : isWhole(path) && isOfAll(path)
    }

    /// Whether all objects of a path's index are of the entities that are asked for.
    func isOfAll(_ path: IndexPath) -> Bool { outline.ways[path.way].isOfAll }

    /// How many rows match, if an index alone says it: that takes two ways down, however many they are.
    func counted() -> Int? { countingPath?.count }

    /// The entries of which each is a row that matches, and none is missing.
    var countingPath: IndexPath? { paths.first { isWhole($0) && isOfAll($0) } }

    /// The paths that are worth being intersected with one: they answer other parts, and spare more looks than they cost.
    private func others(beside path: IndexPath) -> [IndexPath] {
        guard path.count > 64, rows > 0 else { return [] }
        return paths.filter { other in
            if other.answered.isSubset(of: path.answered) || other.count == 0 { return false }
            if definition(other).name == definition(path).name { return false }
            let spared = Double(path.count) * (1 - Double(other.count) / Double(rows))
            return spared * Double(Self.look) > Double(other.count * Self.step) * 2
        }
    }

    // MARK: Paths

    private func countedPaths() -> [IndexPath] {
        var keys = IndexRangeKeys()
        var paths: [IndexPath] = []
        paths.reserveCapacity(outline.ways.count)
        for way in outline.ways.indices {
            if let path = path(way, &keys) { paths.append(path) }
        }
        return paths
    }

    /// The path that a way is with the constants; nil if the index has no such keys.
    private func path(_ index: Int, _ keys: inout IndexRangeKeys) -> IndexPath? {
        let way = outline.ways[index]
        keys.reopen()
        for (place, term) in way.equal.enumerated() {
            guard keys.append(terms[term].value, way.parts[place]) else { return nil }
        }
        var answered = way.answered
        switch way.last {
        case .none: keys.close()
        case .among(let term):
            let values = terms[term].values
            // So many ways down the tree cost more than a scan before a row is looked at.
            if values.count <= max(16, rows / Self.look) {
                return path(index, way, among: values, &keys)
            }
            answered = way.answeredByValues
            keys.close()
        case .beginning(let term):
            guard case .string(let text) = terms[term].value,
                keys.close(.beginning(text), way.parts[way.equal.count])
            else { return nil }
        case .between(let low, let high, _):
            let interval = IndexInterval.between(bound(low), bound(high))
            guard keys.close(interval, way.parts[way.equal.count]) else { return nil }
        }
        let ranks = keys.ranks(in: contents[way.index].ordered)
        return IndexPath(
            way: index, ranks: ranks, list: nil, count: ranks.count, answered: answered,
            isExact: keys.isExact, listed: nil)
    }

    /// The path to the entries with one of a list of values.
    private func path(
        _ index: Int, _ way: PlanOutline.Way, among values: [Value], _ keys: inout IndexRangeKeys
    ) -> IndexPath? {
        let part = way.parts[way.equal.count]
        let prefix = keys.count
        var list: [Range<Int>] = []
        var (count, listed, isExact) = (0, 0, true)
        var known: Set<Value> = []
        var knownRanks: Set<Int> = []
        for value in values where known.insert(value.asGroupKey).inserted {
            keys.reopen(at: prefix)
            guard keys.append(value, part) else { return nil }
            keys.close()
            listed += 1
            isExact = isExact && keys.isExact
            let ranks = keys.ranks(in: contents[way.index].ordered)
            // Keys that are cut are the same for many values.
            if !ranks.isEmpty, !knownRanks.insert(ranks.lowerBound).inserted { continue }
            list.append(ranks)
            count += ranks.count
        }
        return IndexPath(
            way: index, ranks: 0..<0, list: list, count: count, answered: way.answered,
            isExact: isExact, listed: listed)
    }

    private func bound(_ bound: PlanOutline.Bound?) -> IndexBound {
        guard let bound else { return .open }
        let value = Self.value(bound, terms)
        return bound.isIncluded ? .including(value) : .excluding(value)
    }

    fileprivate static func value(_ bound: PlanOutline.Bound, _ terms: [PlanTerm]) -> Value {
        switch terms[bound.term].operand {
        case .value(let value): value
        case .list(let values): values[bound.place]
        }
    }

    /// The paths that answer all of the condition, each of a whole index of the entities.
    var wholePaths: [IndexPath] { paths.filter { isWhole($0) && isOfAll($0) } }

    // MARK: What a path leads to

    func definition(_ path: IndexPath) -> Catalog.FetchIndexDefinition {
        catalog.fetchIndexes[outline.ways[path.way].index]
    }

    /// Calls the body with each leaf that has entries of a path, in their order, and which of the leaf's they are, until it
    /// returns false.
    func forEachLeaf(_ path: IndexPath, _ body: (OrderedLeaf, Range<Int>) -> Bool) {
        let ordered = contents[outline.ways[path.way].index].ordered
        var isDone = false
        // A list may name its values in any order.
        for ranks in path.list?.sorted(by: { $0.lowerBound < $1.lowerBound }) ?? [path.ranks] {
            ordered.forEachLeaf(ranks: ranks) { leaf, entries in
                isDone = !body(leaf, entries)
                return !isDone
            }
            if isDone { return }
        }
    }

    /// The entries of a path's index.
    func cursor(
        _ path: IndexPath, _ ranks: Range<Int>, _ direction: OrderedCursor.Direction = .forward
    ) -> OrderedCursor {
        OrderedCursor(contents[outline.ways[path.way].index].ordered, ranks: ranks, direction)
    }

    /// The numbers of the objects of a path, rising, if each element of its index has one value and no other values have the
    /// same hash: as many as the ordered index counts.
    func postings(_ path: IndexPath) -> PostingCursor? {
        let way = outline.ways[path.way]
        guard way.parts.count > 1, way.equal.count == way.parts.count else { return nil }
        var key = IndexKey()
        for (place, term) in way.equal.enumerated() {
            guard key.append(terms[term].value, way.parts[place]) else { return nil }
        }
        let (count, numbers) = contents[way.index].postings(key, seed: seed)
        return count == path.count ? numbers : nil
    }

    /// What a path is called in a plan.
    func name(_ path: IndexPath) -> PlanName.Index {
        PlanName.Index(
            definition: definition(path), way: outline.ways[path.way], terms: terms,
            listed: path.listed)
    }
}

extension PlanName.Index {
    /// What the index is asked of its columns.
    var conditions: [PlanName.Condition] {
        let names = definition.names
        var found: [PlanName.Condition] = []
        for (place, term) in way.equal.enumerated() {
            found.append(.equal(names[place], terms[term].value))
        }
        switch way.last {
        case .none: break
        case .among: if let listed { found.append(.among(names[way.equal.count], listed)) }
        case .beginning(let term):
            if case .string(let text) = terms[term].value {
                found.append(.beginning(names[way.equal.count], text))
            }
        case .between(let low, let high, let members):
            let name = names[way.equal.count]
            for term in members {
                if let low, low.term == term {
                    let value = QueryPlanner.value(low, terms)
                    found.append(.above(name, value, isIncluded: low.isIncluded))
                }
                if let high, high.term == term {
                    let value = QueryPlanner.value(high, terms)
                    found.append(.below(name, value, isIncluded: high.isIncluded))
                }
                if terms[term].kind == .isSome { found.append(.some(name)) }
            }
        }
        return found
    }
}
