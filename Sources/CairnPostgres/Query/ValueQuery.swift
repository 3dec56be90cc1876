// A table whose values the server returns: those of each object's columns, or those that are grouped here.
//
//   SELECT r."name", t1."name", … FROM … WHERE … ORDER BY 1 ASC NULLS FIRST, r."_id" LIMIT …
//
//   1. Each column is said by the server, or made here of what it says (`ValueLifting`).
//   2. If the order is one of values that the server says, it sorts and cuts, and leaves out rows that are equal.
//   3. Else rows come by number, and are sorted, grouped, told apart and cut here. Sums of numbers with fractions depend on their
//      order, which a server does not promise: they are made here.
//
// Threads: owned by one call.

import CairnModel
import CairnStore

struct ValueQuery {
    private let plan: TablePlan
    private let fetch: StoreFetch
    private let layout: TableLayout
    private let identity: StoreIdentity
    private let kinds: [SQLKind]
    /// Sources of the columns, or of the keys if there are groups.
    private let columns: [ValueLifting.Source]
    /// Of what rows are sorted by; of the arguments of figures if there are groups.
    private let others: [ValueLifting.Source]
    /// Whether the rows of the server are those of the table.
    private let isWhole: Bool
    let statement: Statement
    /// In words, what is done where.
    let words: String

    /// Nil if the server cannot say all that is needed.
    ///
    /// - Parameter query: the objects; its condition needs no second look.
    init?(_ plan: TablePlan, _ query: FetchQuery, _ fetch: StoreFetch) {
        self.plan = plan
        self.fetch = fetch
        let translator = query.translator
        layout = translator.layout
        identity = translator.identity
        var lifting = ValueLifting(translator)
        let arguments = plan.aggregates.map { $0.argument ?? .constant(.boolean(true)) }
        guard let columns = lifting.sources(plan.isGrouped ? plan.keys : plan.columns),
            let others = lifting.sources(
                plan.isGrouped ? arguments : plan.sort.map(\.expression))
        else { return nil }
        self.columns = columns
        self.others = others
        kinds = lifting.values.map(\.kind)
        let list = lifting.values.map(\.text)
        let id = SQLText(raw: translator.root.id)
        var parts = query.hasCondition ? ["condition", "values"] : ["values"]
        var rest: [String] = []
        let isCalculated = (columns + others).contains { $0.place == nil }
        if isCalculated { rest.append("calculated") }
        let select: SQLText = list.isEmpty ? "TRUE" : .joined(list, ", ")
        if let order = Self.order(plan, others, columns, kinds) {
            isWhole = true
            var text: SQLText
            if plan.isDistinct {
                let all = SQLText(raw: list.indices.map { "\($0 + 1)" }.joined(separator: ", "))
                text =
                    "SELECT \(select), min(\(id)) \(query.found) GROUP BY \(all) ORDER BY \(.joined(order + [SQLText(raw: "\(list.count + 1)")], ", "))"
            } else {
                text =
                    "SELECT \(select) \(query.found) ORDER BY \(.joined(order + [id], ", "))"
            }
            text = "\(text)\(FetchQuery.cut(fetch))"
            statement = Statement(of: text)
            if !order.isEmpty { parts.append("order") }
            if plan.isDistinct { parts.append("equal rows once") }
            if fetch.limit != nil || fetch.offset > 0 { parts.append("limit") }
        } else {
            isWhole = false
            statement = Statement(of: "SELECT \(select) \(query.found) ORDER BY \(id)")
            if plan.isGrouped { rest.append("grouped") }
            if !plan.sort.isEmpty { rest.append("sorted") }
            if plan.isDistinct { rest.append("told apart") }
        }
        words =
            "in the server: \(parts.joined(separator: ", "))"
            + (rest.isEmpty ? "" : "; \(rest.joined(separator: ", ")) here")
    }

    /// What the server sorts by, if it can sort, tell apart and cut the rows by itself.
    private static func order(
        _ plan: TablePlan, _ sort: [ValueLifting.Source], _ columns: [ValueLifting.Source],
        _ kinds: [SQLKind]
    ) -> [SQLText]? {
        if plan.isGrouped { return nil }
        let shown = columns.map(\.place)
        if plan.isDistinct {
            // Both zeros are one for groups, and the first row says which of them is shown.
            for place in shown {
                guard let place, ![.double, .single, .date].contains(kinds[place]) else {
                    return nil
                }
            }
        }
        var order: [SQLText] = []
        for (term, source) in zip(plan.sort, sort) {
            guard term.comparison == .binary, let place = source.place,
                !plan.isDistinct || shown.contains(place)
            else { return nil }
            order.append(
                SQLOrder.term(
                    SQLText(raw: "\(place + 1)"), term.isAscending,
                    nilIsGreatest: term.nilIsGreatest))
        }
        return order
    }

    /// The rows of the table, of an answer that is handed over some rows at a time.
    func rows(
        _ stream: ((PostgresResult) throws(StoreError) -> Bool) throws(StoreError) -> Void
    ) throws(StoreError) -> [[Value]] {
        var rows = TablePlan.Rows()
        var keys: [[Value]] = []
        var figures: [[EvaluatedValue]] = []
        try stream { result throws(StoreError) in
            for row in 0..<result.rowCount {
                let said = try said(result, row)
                let shown = columns.map { $0.value(said).plain }
                if plan.isGrouped {
                    keys.append(shown)
                    figures.append(others.map { $0.value(said) })
                } else {
                    rows.add(
                        shown, order: isWhole ? [] : others.map { $0.value(said).plain })
                }
            }
            return true
        }
        if isWhole { return rows.values }
        if plan.isGrouped {
            do throws(PredicateFormatError) {
                rows = try plan.groups(ofKeys: keys, values: figures)
            } catch {
                throw StoreError(error, entity: plan.entity)
            }
        }
        return plan.arranged(rows, fetch.offset, fetch.limit)
    }

    private func said(_ result: PostgresResult, _ row: Int) throws(StoreError) -> [Value] {
        var said: [Value] = []
        said.reserveCapacity(kinds.count)
        do throws(SQLFailure) {
            for (column, kind) in kinds.enumerated() {
                said.append(try kind.value(result, row, column, layout, identity))
            }
        } catch {
            throw StoreError(error)
        }
        return said
    }
}
