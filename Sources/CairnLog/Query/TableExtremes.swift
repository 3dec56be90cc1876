// The least and the greatest values of all objects that match, from the ends of ordered indexes.
//
// Each is the first of a fetch that is sorted by the column, with a limit of one: if an index has that order, no more rows are
// looked at than it takes to find one that matches. If one of the figures has no such index, a scan gives them all.
//
// Threads: one reading.

import CairnModel
import CairnStore
import FoundationEssentials

struct TableExtremes {
    private let plan: TablePlan
    private let fetch: StoreFetch
    private let engine: Engine
    private let state: EngineState

    init(_ plan: TablePlan, _ fetch: StoreFetch, _ engine: Engine, _ state: EngineState) {
        self.plan = plan
        self.fetch = fetch
        self.engine = engine
        self.state = state
    }

    /// The one row of the table, and how it was found; nil if more is asked than ends of indexes say.
    func table() throws(StoreError) -> (rows: TablePlan.Rows, plan: String)? {
        guard plan.keys.isEmpty, !plan.aggregates.isEmpty,
            QueryPlanner.hasIndexes(state.catalog, fetch.entity)
        else { return nil }
        // Keys that are listed are looked up.
        if case .comparison(let comparison)? = fetch.predicate, comparison.operator == .in {
            return nil
        }
        var columns: [(column: Int, isLeast: Bool, floor: Value)] = []
        for aggregate in plan.aggregates {
            guard aggregate.function == .minimum || aggregate.function == .maximum,
                case .keyPath(let path)? = aggregate.argument,
                let column = plan.entity.columnIndex(named: path), let floor = floor(column)
            else { return nil }
            columns.append((column, aggregate.function == .minimum, floor))
        }
        var values: [Value] = []
        var words: [String] = []
        for (column, isLeast, floor) in columns {
            guard let (value, how) = try extreme(column, isLeast: isLeast, floor) else {
                return nil
            }
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

    /// What no value of a column is below; nil if what has none, or is no number, could not be told by it.
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

    private func extreme(_ column: Int, isLeast: Bool, _ floor: Value) throws(StoreError)
        -> (value: Value, plan: String)?
    {
        let name = plan.entity.columns[column].name
        var first = fetch
        let some = PredicateNode.compare(name, .greaterOrEqual, floor)
        first.predicate = fetch.predicate.map { .and([$0, some]) } ?? some
        first.sort = [SortKey(name, ascending: isLeast)]
        first.limit = 1
        first.offset = 0
        let planner = QueryPlanner.planner(first, state, engine.identity)
        let runner = try FetchRunner(
            engine: engine, state: state, fetch: first, planner: planner)
        // Another way may be cheaper, and is gone once for all figures.
        guard case .index(_, .some, _) = planner.choice(wantsOrder: true) else { return nil }
        guard let found = try runner.found(wantsOrder: true, beside: nil), found.isOrdered else {
            return nil
        }
        guard let hit = found.hits.first else { return (.null, found.plan.text) }
        let objects = StoredObjects(engine: engine, state: state)
        let block = try objects.block(hit.cell.handle)
        let entity = state.catalog.description(of: hit.entity)
        return (try objects.value(column, of: entity, block, hit.cell.slot), found.plan.text)
    }
}
