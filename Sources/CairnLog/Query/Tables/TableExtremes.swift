// The minimum and maximum of all objects that match, from the ends of ordered indexes, and their number.
//
// Each extreme is the first row of a fetch that is sorted by the column, with a limit of one: if an index has
// that order, only the rows up to the first match are read. The count is the difference of two ranks in an
// index that executes the whole predicate. If one of the figures has no such index, a scan computes them all.
//
// Threads: one reading.

import CairnModel
import CairnStore
import FoundationEssentials

struct TableExtremes {
    private let plan: TablePlan
    private let fetch: StoreFetch
    private let reader: StoreReader
    private let state: EngineState
    private let trace: QueryTrace?

    init(
        _ plan: TablePlan, _ fetch: StoreFetch, _ reader: StoreReader, _ state: EngineState,
        _ trace: QueryTrace?
    ) {
        self.plan = plan
        self.fetch = fetch
        self.reader = reader
        self.state = state
        self.trace = trace
    }

    /// Returns the single row of the table, and its plan; nil if it needs more than the ends of indexes.
    func table() throws(StoreError) -> (rows: TablePlan.Rows, plan: String)? {
        guard plan.keys.isEmpty, !plan.aggregates.isEmpty else { return nil }
        // A list of keys is looked up instead.
        if case .comparison(let comparison)? = fetch.predicate, comparison.operator == .in {
            return nil
        }
        var figures: [Figure] = []
        for aggregate in plan.aggregates {
            guard let figure = figure(aggregate) else { return nil }
            figures.append(figure)
        }
        var values: [Value] = []
        var words: [String] = []
        for figure in figures {
            guard let (value, how) = try answer(figure) else { return nil }
            values.append(value)
            if !words.contains(how) { words.append(how) }
        }
        do throws(PredicateFormatError) {
            var rows = try GroupRows(plan, inOrder: true)
            rows.add(key: { _ in .null }, figure: { .value(values[$0]) })
            return (rows.rows, words.joined(separator: " and "))
        } catch {
            throw StoreError(error, entity: plan.entity)
        }
    }

    /// A figure of all objects.
    private enum Figure {
        case extreme(Int, isLeast: Bool, floor: Value)
        /// The number of rows, or of rows with a value in a column.
        case count(Int?)
    }

    private func figure(_ aggregate: TableAggregate) -> Figure? {
        var column: Int?
        if let argument = aggregate.argument {
            guard case .keyPath(let path) = argument else { return nil }
            column = plan.entity.columnIndex(named: path)
            if column == nil { return nil }
        }
        switch (aggregate.function, column) {
        case (.count, _): return .count(column)
        case (.minimum, let column?), (.maximum, let column?):
            guard let floor = floor(column) else { return nil }
            return .extreme(column, isLeast: aggregate.function == .minimum, floor: floor)
        default: return nil
        }
    }

    private func answer(_ figure: Figure) throws(StoreError) -> (value: Value, plan: String)? {
        switch figure {
        case .extreme(let column, let isLeast, let floor):
            try extreme(column, isLeast: isLeast, floor)
        case .count(let column): try count(column)
        }
    }

    private func count(_ column: Int?) throws(StoreError) -> (value: Value, plan: String)? {
        var all = fetch
        (all.sort, all.limit, all.offset) = ([], nil, 0)
        if let column {
            let some = PredicateNode.compare(
                plan.entity.columns[column].name, .notEqual, .null)
            all.predicate = Self.both(fetch.predicate, some)
        }
        guard let (count, how) = try self.runner(all)?.counted() else { return nil }
        return (.integer(Int64(count)), how.text)
    }

    /// Returns a runner for a fetch with an added condition; nil if the combination is rejected: the parts
    /// may be valid on their own.
    private func runner(_ fetch: StoreFetch) throws(StoreError) -> FetchRunner? {
        do throws(StoreError) {
            return try FetchRunner(reader: reader, state: state, fetch: fetch, trace: trace)
        } catch {
            guard error.code == .invalidRequest else { throw error }
            return nil
        }
    }

    /// The minimum value of a column's type; nil if comparing with it could not exclude nil and NaN.
    private func floor(_ column: Int) -> Value? {
        guard case .attribute(let type) = plan.entity.columns[column].kind else { return nil }
        return switch type {
        case .integer16: .integer(Int64(Int16.min))
        case .integer32: .integer(Int64(Int32.min))
        case .integer64: .integer(.min)
        case .double: .double(-.infinity)
        case .float: .float(-.infinity)
        case .date: .date(Date(timeIntervalSinceReferenceDate: -.infinity))
        case .string: .string("")
        default: nil
        }
    }

    /// Combines two conditions: adds the other one to an AND, so that ANDs are not nested.
    private static func both(_ one: PredicateNode?, _ other: PredicateNode) -> PredicateNode {
        switch one {
        case nil: other
        case .and(let parts)?: .and(parts + [other])
        case let one?: .and([one, other])
        }
    }

    private func extreme(_ column: Int, isLeast: Bool, _ floor: Value) throws(StoreError)
        -> (value: Value, plan: String)?
    {
        guard QueryPlanner.hasIndexes(state.catalog, fetch.entity) else { return nil }
        let name = plan.entity.columns[column].name
        var first = fetch
        let some = PredicateNode.compare(name, .greaterOrEqual, floor)
        first.predicate = Self.both(fetch.predicate, some)
        first.sort = [SortKey(name, ascending: isLeast)]
        first.limit = 1
        first.offset = 0
        guard var runner = try self.runner(first) else { return nil }
        let planner = QueryPlanner.planner(first, state, reader.identity)
        planner.takesAnyOfEqual = true
        runner.planner = planner
        // Another access path may be cheaper, and would then be executed once for all figures.
        let named = runner.candidates()?.count
        guard case .index(_, .some, _) = planner.choice(wantsOrder: true),
            let found = try runner.found(wantsOrder: true, beside: named), found.isOrdered
        else { return nil }
        guard let hit = found.hits.first else { return (.null, found.plan.text) }
        let objects = runner.storedObjects()
        let block = try objects.block(hit.cell.handle)
        let entity = state.catalog.description(of: hit.entity)
        return (try objects.value(column, of: entity, block, hit.cell.slot), found.plan.text)
    }
}
