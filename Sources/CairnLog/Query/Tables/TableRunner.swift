// Executes a table request on one state.
//
//   1. The terms are checked and analyzed (`TablePlan`).
//   2. Without groups: the fetch finds and sorts the rows, and the columns of the remaining rows are read. If
//      expressions are sort keys, all rows are created first. For distinct rows, the first of equal rows are
//      found in the same way as groups.
//   3. With groups: a scan or an index returns the rows, and `GroupRunner` processes them block by block.
//   4. The minimum and maximum of all rows are the ends of an ordered index, if there is one
//      (`TableExtremes`).
//   5. Groups by the leading elements of an ordered index are counted in the index (`IndexGroups`).
//   6. No two objects have the same unique key. If only groups of two or more rows are wanted, and the group
//      keys include a unique key, only nil in the key can put two objects into one group: mostly the index
//      alone shows that there is none.
//
// Threads: one reading; the state is pinned by whoever made it.

import CairnFormat
import CairnModel
import CairnStore

struct TableRunner {
    let reader: StoreReader
    let state: EngineState
    private(set) var request: StoreTableFetch
    /// Records what is done, if requested.
    var trace: QueryTrace?

    private var catalog: Catalog { state.catalog }

    func table() throws(StoreError) -> StoreTable {
        let plan = try TablePlan(request, in: catalog.schema)
        trace?.groups = plan.isGrouped
        var runner = self
        runner.request.fetch = try request.fetch.bound(to: state, reader.identity)
        let (rows, how) = try plan.isGrouped ? runner.grouped(plan) : runner.plain(plan)
        // Rows that keep the order of objects are sorted where those are found.
        if let trace, plan.isGrouped || keys(plan) == nil { trace.sorts = !plan.sort.isEmpty }
        return StoreTable(columns: plan.names, rows: rows, plan: how)
    }

    private func checked<R: ~Copyable>(_ body: () throws(PredicateFormatError) -> R)
        throws(StoreError) -> R
    {
        do throws(PredicateFormatError) {
            return try body()
        } catch {
            throw StoreError(error, entity: catalog.description(of: request.fetch.entity))
        }
    }

    // MARK: A row for each object

    /// The source of a column: a stored column, or an expression.
    private enum Source {
        case column(Int)
        case expression(ExpressionEvaluator)
    }

    private func plain(_ plan: TablePlan) throws(StoreError) -> ([[Value]], String) {
        var fetch = request.fetch
        // Values of all found rows are read.
        fetch.includesRows = true
        let sort = keys(plan)
        fetch.sort = sort ?? []
        if sort == nil || plan.isDistinct {
            fetch.limit = nil
            fetch.offset = 0
        }
        let runner = try FetchRunner(reader: reader, state: state, bound: fetch, trace: trace)
        let (hits, found) = try runner.hits()
        let how = found.text
        let columns = try sources(plan.columns, plan)
        let order = sort == nil ? try sources(plan.sort.map(\.expression), plan) : []
        let objects = runner.storedObjects()
        let wanted =
            sort != nil && plan.isDistinct
            ? try cut(firsts(hits, plan, runner, objects)) : Array(hits.indices)
        var rows = TablePlan.Rows()
        rows.reserve(wanted.count)
        for (index, place) in wanted.enumerated() {
            if index & 1023 == 0 { try runner.checkCancelled() }
            let hit = hits[place]
            rows.add(try values(columns, hit, objects), order: try values(order, hit, objects))
        }
        return sort == nil
            ? (plan.arranged(rows, request.fetch.offset, request.fetch.limit), how)
            : (rows.values, how)
    }

    /// Applies the fetch's offset and limit.
    private func cut(_ places: [Int]) -> [Int] {
        let rest = places.dropFirst(max(0, request.fetch.offset))
        return Array(request.fetch.limit.map { rest.prefix(max(0, $0)) } ?? rest)
    }

    /// Returns the positions of the first of the hits with equal values.
    private func firsts(
        _ hits: [RowHit], _ plan: TablePlan, _ runner: FetchRunner,
        _ objects: StoredObjects
    ) throws(StoreError) -> [Int] {
        let keys = try checked { () throws(PredicateFormatError) in
            try GroupKeys(plan.columns, plan, objects)
        }
        var numbers = [UInt32](repeating: 0, count: hits.count)
        let found = UnsafeMutablePointer<UInt32>.allocate(capacity: FormatLimits.maximumRows)
        defer { found.deallocate() }
        try forEachBlock(of: hits, runner, objects) {
            block, entity, places, slots throws(StoreError) in
            try keys.number(block, of: entity, slots, into: found, objects)
            for (index, place) in places.enumerated() { numbers[place] = found[index] }
        }
        var isSeen = [Bool](repeating: false, count: keys.most)
        return hits.indices.filter { place in
            let number = Int(numbers[place])
            defer { isSeen[number] = true }
            return !isSeen[number]
        }
    }

    /// Returns the sort keys, if all of them are columns.
    private func keys(_ plan: TablePlan) -> [SortKey]? {
        var keys: [SortKey] = []
        for term in plan.sort {
            guard case .keyPath(let path) = term.expression,
                let column = plan.entity.columnIndex(named: path),
                case .attribute = plan.entity.columns[column].kind
            else { return nil }
            keys.append(
                SortKey(
                    path, ascending: term.isAscending, comparison: term.comparison,
                    nulls: term.nulls))
        }
        return keys
    }

    private func sources(_ expressions: [ExpressionNode], _ plan: TablePlan) throws(StoreError)
        -> [Source]
    {
        var sources: [Source] = []
        for expression in expressions {
            if case .keyPath(let path) = expression,
                let column = plan.entity.columnIndex(named: path)
            {
                sources.append(.column(column))
            } else {
                sources.append(
                    .expression(
                        try checked { () throws(PredicateFormatError) in
                            try ExpressionEvaluator(expression)
                        }))
            }
        }
        return sources
    }

    private func values(_ sources: [Source], _ hit: RowHit, _ objects: StoredObjects)
        throws(StoreError) -> [Value]
    {
        if sources.isEmpty { return [] }
        let block = try objects.block(hit.cell.handle)
        let entity = catalog.description(of: hit.entity)
        var values: [Value] = []
        values.reserveCapacity(sources.count)
        for source in sources {
            switch source {
            case .column(let column):
                values.append(try objects.value(column, of: entity, block, hit.cell.slot))
            case .expression(let evaluator):
                let object = objects.object(hit.number, hit.cell, of: hit.entity, in: block)
                values.append(evaluator.value(for: object).plain)
            }
        }
        try objects.rethrow()
        return values
    }

    // MARK: A row for each group

    private func grouped(_ plan: TablePlan) throws(StoreError) -> ([[Value]], String) {
        var fetch = request.fetch
        fetch.includesRows = false
        fetch.sort = []
        fetch.limit = nil
        fetch.offset = 0
        var how = ""
        if plan.rowsWanted.lowerBound > 1, let unique = unique(of: plan) {
            how = catalog.uniques[unique].plan
            if state.uniques[unique].count == liveRows(of: unique) {
                return ([], "\(how): no key of two objects")
            }
            let hole = PredicateNode.or(
                catalog.uniques[unique].columns.flatMap { column -> [PredicateNode] in
                    let path = ExpressionNode.keyPath(plan.entity.columns[column].name)
                    // NaN has no entry in the index either, and does not even equal itself.
                    return [
                        .compare(path, .equal, .constant(.null)),
                        .not(.compare(path, .equal, path)),
                    ]
                })
            fetch.predicate = fetch.predicate.map { .and([$0, hole]) } ?? hole
            how += ", "
        }
        if let extremes = try TableExtremes(plan, fetch, reader, state, trace).table() {
            let rows = plan.arranged(
                extremes.rows, request.fetch.offset, request.fetch.limit, inOrder: true)
            return (rows, extremes.plan)
        }
        let runner = try FetchRunner(reader: reader, state: state, bound: fetch, trace: trace)
        if let index = IndexGroups(plan, fetch, state, reader.identity) {
            let (offset, limit) = (request.fetch.offset, request.fetch.limit)
            // A cancellation may be reported only once, so it is remembered.
            var isCancelled = false
            let rows = try checked { () throws(PredicateFormatError) in
                try index.rows(offset: offset, limit: limit) {
                    isCancelled = fetch.isCancelled?() == true
                    return !isCancelled
                }
            }
            if isCancelled { throw runner.cancelled }
            if let rows {
                trace?.estimate = index.entries
                trace?.rows = index.entries
                return (rows, "groups of \(how)\(index.name)")
            }
        }
        let objects = runner.storedObjects()
        var groups = try checked { () throws(PredicateFormatError) in
            try GroupRunner(plan, objects)
        }
        if let found = try runner.indexed() {
            how += found.plan.text
            try take(found.hits, groups, runner, objects)
        } else {
            how += runner.scanPlan
            var isScattered = false
            try runner.scan { block, entity, slots throws(StoreError) in
                try groups.take(block, of: entity, UnsafeBufferPointer(slots))
                isScattered = runner.objects == nil && groups.isScattered
                return !isScattered
            }
            if isScattered { groups = try sifted(plan, runner, objects) }
        }
        return (try rows(groups), "groups of \(how)")
    }

    /// Groups a scan from its beginning, after excluding single rows.
    private func sifted(_ plan: TablePlan, _ runner: FetchRunner, _ objects: StoredObjects)
        throws(StoreError) -> GroupRunner
    {
        func fresh() throws(StoreError) -> GroupRunner {
            try checked { () throws(PredicateFormatError) in try GroupRunner(plan, objects) }
        }
        if let groups = try GroupSifting(runner, group: fresh).groups() { return groups }
        let groups = try fresh()
        try runner.scan { block, entity, slots throws(StoreError) in
            try groups.take(block, of: entity, UnsafeBufferPointer(slots))
            return true
        }
        return groups
    }

    private func rows(_ groups: GroupRunner) throws(StoreError) -> [[Value]] {
        try checked { () throws(PredicateFormatError) in
            try groups.rows(offset: request.fetch.offset, limit: request.fetch.limit)
        }
    }

    private func take(
        _ hits: [RowHit], _ groups: GroupRunner, _ runner: FetchRunner,
        _ objects: StoredObjects
    ) throws(StoreError) {
        try forEachBlock(of: hits, runner, objects) { block, entity, _, slots throws(StoreError) in
            try groups.take(block, of: entity, slots)
        }
    }

    /// Iterates over hits block by block.
    ///
    /// - Parameter body: receives the positions among the hits, and their slots.
    private func forEachBlock(
        of hits: [RowHit], _ runner: FetchRunner, _ objects: StoredObjects,
        _ body: (CachedBlock, Int, [Int], UnsafeBufferPointer<UInt16>) throws(StoreError) -> Void
    ) throws(StoreError) {
        func isBefore(_ one: Int, _ other: Int) -> Bool {
            (hits[one].cell.handle.raw, hits[one].cell.slot)
                < (hits[other].cell.handle.raw, hits[other].cell.slot)
        }
        var order = Array(hits.indices)
        // Without a sort order, objects mostly come in storage order.
        if !zip(order, order.dropFirst()).allSatisfy(isBefore) { order.sort(by: isBefore) }
        var places: [Int] = []
        var slots: [UInt16] = []
        for (index, place) in order.enumerated() {
            let hit = hits[place]
            places.append(place)
            slots.append(UInt16(hit.cell.slot))
            let next = index + 1 < order.count ? hits[order[index + 1]] : nil
            if next?.cell.handle == hit.cell.handle { continue }
            try runner.checkCancelled()
            let block = try objects.block(hit.cell.handle)
            try slots.withUnsafeBufferPointer { slots throws(StoreError) in
                try body(block, hit.entity, places, slots)
            }
            places.removeAll(keepingCapacity: true)
            slots.removeAll(keepingCapacity: true)
        }
    }

    // MARK: Unique keys

    /// Returns a constraint whose properties are all among the group keys.
    private func unique(of plan: TablePlan) -> Int? {
        let columns = Set(
            plan.keys.compactMap { key -> Int? in
                guard case .keyPath(let path) = key else { return nil }
                return plan.entity.columnIndex(named: path)
            })
        return catalog.entities[request.fetch.entity].uniques.first {
            catalog.uniques[$0].isPlain
                && catalog.uniques[$0].columns.allSatisfy(columns.contains)
        }
    }

    /// Returns the number of objects to which a constraint applies.
    private func liveRows(of unique: Int) -> Int {
        catalog.family(of: catalog.uniques[unique].entity).reduce(0) { $0 + state.counts[$1] }
    }
}
