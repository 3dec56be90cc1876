// Chooses the access path of a fetch.
//
//   1. The outline of the fetch contains the terms that each fetch index executes; a shape that was planned
//      before has an outline. With the constants of the terms, the entries of an index are counted, not
//      estimated.
//   2. An entry costs a row read, which is as much as scanning some rows; the cheapest access path wins, and
//      a scan wins if the index would return a large part of the entity.
//   3. A sort order that an index returns needs no sorting, and with a limit no more entries than are wanted.
//   4. Two indexes that execute different terms are intersected if that saves row reads.
//
// Threads: lives in one call; the state is pinned by whoever made it.

import CairnModel
import CairnStore

final class QueryPlanner {
    /// The cost of reading one row through an index, in scanned rows.
    static let look = 12
    /// The cost of a number in a list, in the same unit.
    static let step = 1

    /// The number of rows that a scan would read.
    let rows: Int
    let outline: PlanOutline
    private let fetch: StoreFetch
    private let terms: [PlanTerm]
    private let catalog: Catalog
    private let contents: [FetchIndexContent]
    private let seed: UInt64
    /// Whether rows that are equal in the order of the fetch may come in any order.
    var takesAnyOfEqual = false
    /// The number of candidate rows of another access path, which include every match.
    var named: Int?
    /// Counted on first use: another access path may need no plan.
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

    /// A planner for a fetch that has not been analyzed; nil if there is no index to consider, or the fetch
    /// is not of the usual form.
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

    /// A planner for a fetch whose predicate is bound to a store, in two-valued logic.
    static func planner(
        _ fetch: StoreFetch, _ state: borrowing EngineState, _ identity: StoreIdentity
    ) -> QueryPlanner {
        prepared(fetch, state, identity) ?? anew(fetch, state, identity)
    }

    /// A planner that uses no cached outline.
    static func anew(
        _ fetch: StoreFetch, _ state: borrowing EngineState, _ identity: StoreIdentity
    ) -> QueryPlanner {
        var terms = PlanTerm.all(fetch.predicate)
        let outline = outline(fetch, &terms, state.catalog, identity, nil)
        return QueryPlanner(fetch, terms, outline, state)
    }

    /// Returns the outline for some terms; terms whose constants are invalid for their columns become
    /// `other`.
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

    /// Whether there is any index to consider.
    static func hasIndexes(_ catalog: Catalog, _ entity: Int) -> Bool {
        !catalog.fetchIndexesOfEntity[entity].isEmpty
    }

    // MARK: Choosing

    /// The chosen access path.
    enum Choice {
        case scan
        /// The rows of one index, in a required order or in none, intersected with others that select fewer.
        case index(IndexPath, order: OrderedCursor.Direction?, others: [IndexPath])
    }

    /// Returns the cheapest access path; `wantsOrder` if the rows are wanted in the order of the fetch,
    /// `inOrder` if an index may return it.
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
        // With a limit, a scan keeps few rows to sort; without a predicate, all rows are sorted.
        let sorted = wantsOrder && !fetch.sort.isEmpty && !hasLimit && terms.isEmpty
        return rows + (sorted ? sortCost(rows) : 0)
    }

    /// Returns the cost of reading some rows in no order, and sorting them.
    func price(of count: Int) -> Int { count * Self.look + sortCost(count) }

    /// Returns the cost of a chosen path.
    func price(of path: IndexPath, in order: OrderedCursor.Direction?) -> Int {
        order.map { orderedPrice(path, $0) } ?? price(of: path.count)
    }

    private func sortCost(_ count: Int) -> Int { fetch.sort.isEmpty ? 0 : count * 12 }

    /// Returns the number of entries read in order until there are enough rows.
    func looks(_ path: IndexPath, _ direction: OrderedCursor.Direction) -> Int {
        let all = min(path.count, wanted)
        if isWhole(path), isOfAll(path) {
            // The rows of the offset are skipped.
            if !isTied(path) { return all - min(all, offset) }
            return takesAnyOfEqual ? all : span(path, direction).ranks.count
        }
        var looks = all
        if !isWhole(path) {
            // Entries per row: as if no more rows matched than the smallest set of candidates, and at least
            // ten.
            let one = max(10, path.count / max(1, mostMatches))
            looks = all > path.count / one ? path.count : all * one
        }
        return isTied(path) && !takesAnyOfEqual ? max(looks, reach(path, direction)) : looks
    }

    /// The maximum number of matches: the smallest set of candidates.
    private var mostMatches: Int {
        paths.reduce(named ?? .max) { $1.answered.isEmpty ? $0 : min($0, $1.count) }
    }

    /// Returns the number of entries of a tied path up to the end of the last wanted row's tie.
    private func reach(_ path: IndexPath, _ direction: OrderedCursor.Direction) -> Int {
        guard let all = path.onlyRange, wanted > 0, wanted < all.count else { return path.count }
        return direction == .forward
            ? tie(path, all.lowerBound + wanted - 1).clamped(to: all).upperBound - all.lowerBound
            : all.upperBound
                - tie(path, all.upperBound - wanted).clamped(to: all).lowerBound
    }

    /// Returns the cost of a path's rows in its order. Of two paths with the same cost, the one that is not
    /// tied is chosen.
    private func orderedPrice(_ path: IndexPath, _ direction: OrderedCursor.Direction) -> Int {
        looks(path, direction) * Self.look + (isTied(path) ? 1 : 0)
    }

    private var offset: Int { max(0, fetch.offset) }

    /// The number of wanted rows, including those of the offset.
    var wanted: Int {
        guard let limit = fetch.limit else { return .max }
        let (sum, isTooMuch) = max(0, limit).addingReportingOverflow(offset)
        return isTooMuch ? .max : sum
    }

    /// Whether elements of a path's index follow those of the order, so that rows which are equal in it are
    /// unordered.
    func isTied(_ path: IndexPath) -> Bool {
        outline.ways[path.way].tied < outline.ways[path.way].parts.count
    }

    /// Returns the entries with the wanted rows of a tied path that executes the whole predicate: whole ties,
    /// as the order within a tie is another. Also returns the number of entries before them.
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

    /// Returns the entries that are equal to one in the order of the fetch.
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

    /// Returns how many bytes of the cursor's current key are common to all entries equal to it in the order
    /// of the fetch; all bytes if the key is truncated before the end of those.
    func tiedBytes(_ path: IndexPath, _ cursor: borrowing OrderedCursor) -> Int {
        let way = outline.ways[path.way]
        return cursor.key.withUnsafeBytes {
            IndexKey.length(of: way.parts[..<way.tied], in: $0) ?? $0.count
        }
    }

    /// Whether a path executes the whole predicate.
    func isWhole(_ path: IndexPath) -> Bool {
        (path.isExact ? path.answered.count : 0) == terms.count
    }

    /// Whether intersected paths execute the whole predicate.
    func areWhole(_ path: IndexPath, _ others: [IndexPath]) -> Bool {
        var answered = PlanOutline.TermSet()
        if path.isExact { answered = path.answered }
        for other in others where other.isExact { answered = answered.union(other.answered) }
        return answered.count == terms.count
    }

    /// Whether indexes alone execute the fetch: no filter is required.
    func isAnswer(wantsOrder: Bool) -> Bool {
        guard outline.isAlone,
            case .index(let path, let order, let others) = choice(wantsOrder: wantsOrder)
        else { return false }
        // In order, a scan may still take over if an index contains objects of other entities.
        return order == nil ? areWhole(path, others) : isWhole(path) && isOfAll(path)
    }

    /// Whether all objects of a path's index belong to the requested entities.
    func isOfAll(_ path: IndexPath) -> Bool { outline.ways[path.way].isOfAll }

    /// Returns the number of matches, if an index alone can count them: that takes two descents of the tree,
    /// however many match.
    func counted() -> Int? { countingPath?.count }

    /// A path whose entries are exactly the matches.
    var countingPath: IndexPath? { paths.first { isWhole($0) && isOfAll($0) } }

    /// Returns the paths worth intersecting with a path: they execute other terms, and save more row reads
    /// than they cost.
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

    /// Returns the path of a way with the constants; nil if the index has no such keys.
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
            // So many descents of the tree would cost more than a scan before a single row is read.
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

    /// Returns the path to the entries with one of a list of values.
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
            // Truncated keys are the same for many values.
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

    /// The paths that execute the whole predicate, each with an index that only contains objects of the
    /// requested entities.
    var wholePaths: [IndexPath] { paths.filter { isWhole($0) && isOfAll($0) } }

    // MARK: What a path leads to

    func definition(_ path: IndexPath) -> Catalog.FetchIndexDefinition {
        catalog.fetchIndexes[outline.ways[path.way].index]
    }

    /// Calls the body with each leaf that has entries of a path, in their order, and the range of these
    /// entries in the leaf, until it returns false.
    func forEachLeaf(_ path: IndexPath, _ body: (OrderedLeaf, Range<Int>) -> Bool) {
        let ordered = contents[outline.ways[path.way].index].ordered
        var isDone = false
        // A list may contain its values in any order.
        for ranks in path.list?.sorted(by: { $0.lowerBound < $1.lowerBound }) ?? [path.ranks] {
            ordered.forEachLeaf(ranks: ranks) { leaf, entries in
                isDone = !body(leaf, entries)
                return !isDone
            }
            if isDone { return }
        }
    }

    /// Returns a cursor over entries of a path's index.
    func cursor(
        _ path: IndexPath, _ ranks: Range<Int>, _ direction: OrderedCursor.Direction = .forward
    ) -> OrderedCursor {
        OrderedCursor(contents[outline.ways[path.way].index].ordered, ranks: ranks, direction)
    }

    /// Returns the numbers of a path's objects, ascending, if each element of its index has an equality and
    /// no other values have the same hash: the ordered index counts as many.
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

    /// Returns the name of a path in a query plan.
    func name(_ path: IndexPath) -> PlanName.Index {
        PlanName.Index(
            definition: definition(path), way: outline.ways[path.way], terms: terms,
            listed: path.listed)
    }
}

extension PlanName.Index {
    /// The conditions that the index executes on its columns.
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
