// A table of groups that the server computes.
//
//   SELECT * FROM (SELECT r."kind" AS c0, count(*) AS c1 FROM … WHERE … GROUP BY 1) AS g
//   WHERE g.c1 > $1 ORDER BY g.c0 ASC NULLS FIRST LIMIT …
//
//   1. What is equal for the server is equal for groups: both zeros are one, and all that is no number.
//   2. Figures are the server's where its arithmetic is exact: counts, extremes, sums of whole numbers. Sums of decimals are made
//      in more digits than a decimal has; where that could make a difference, the server's are not taken (`isExact`).
//      Figures of numbers with fractions are not made here at all: see `ValueQuery`.
//   3. Groups are asked their condition here as well, unless the server has the whole of it.
//
// Threads: owned by one call.

import CairnModel
import CairnStore
import FoundationEssentials

struct GroupQuery {
    /// How an aggregate is computed from the columns of the result.
    private enum Figure {
        case count(Int)
        case wholeSum(Int)
        case wholeAverage(sum: Int, count: Int)
        case decimalSum(sum: Int, size: Int)
        case decimalAverage(sum: Int, size: Int, count: Int)
        case extreme(Int, SQLKind)
    }

    private let plan: TablePlan
    private let fetch: StoreFetch
    private let layout: TableLayout
    private let identity: StoreIdentity
    private let keys: [SQLKind]
    private let figures: [Figure]
    /// Whether the server has asked the groups their condition, and has sorted and cut them.
    private let isWhole: Bool
    let statement: Statement
    /// In words, what is done where.
    let words: String

    /// Nil if the server cannot make the groups or a figure.
    ///
    /// - Parameter query: the objects; its condition needs no second look.
    init?(_ plan: TablePlan, _ query: FetchQuery, _ fetch: StoreFetch) {
        self.plan = plan
        self.fetch = fetch
        let translator = query.translator
        layout = translator.layout
        identity = translator.identity
        var select = Select()
        var named: [String: SQLValue] = [:]
        var keys: [SQLKind] = []
        for (index, key) in plan.keys.enumerated() {
            guard let value = translator.value(key) else { return nil }
            keys.append(value.kind)
            named[TablePlan.variable(ofKey: index)] = Self.value(
                select.add(value.text), value.kind)
        }
        var figures: [Figure] = []
        for (index, aggregate) in plan.aggregates.enumerated() {
            guard let (figure, value) = Self.figure(aggregate, translator, &select) else {
                return nil
            }
            figures.append(figure)
            named[TablePlan.variable(ofAggregate: index)] = value
        }
        self.keys = keys
        self.figures = figures
        var text: SQLText = "SELECT \(select.list) \(query.found)"
        if !keys.isEmpty {
            text =
                "\(text) GROUP BY \(raw: keys.indices.map { "\($0 + 1)" }.joined(separator: ", "))"
        }
        let having = plan.having.map { translator.condition($0, of: named) }
        let order = Self.order(plan, named)
        isWhole = (having?.isExact ?? true) && order != nil && !plan.isDistinct
        var parts = query.hasCondition ? ["condition", "groups"] : ["groups"]
        var rest: [String] = []
        if having != nil || (isWhole && order?.isEmpty == false) {
            text = "SELECT * FROM (\(text)) AS g"
            if let condition = having?.text { text = "\(text) WHERE \(condition)" }
        }
        if let having {
            if having.text != nil {
                parts.append(
                    having.isExact ? "condition on groups" : "part of the condition on groups")
            }
            if !having.isExact { rest.append("groups filtered") }
        }
        if isWhole, let order {
            if !order.isEmpty { text = "\(text) ORDER BY \(.joined(order, ", "))" }
            text = "\(text)\(FetchQuery.cut(fetch))"
            if !plan.sort.isEmpty { parts.append("order") }
            if fetch.limit != nil || fetch.offset > 0 { parts.append("limit") }
        } else {
            if !plan.sort.isEmpty { rest.append("sorted") }
            if plan.isDistinct { rest.append("told apart") }
        }
        statement = Statement(of: text)
        words =
            "in the server: \(parts.joined(separator: ", "))"
            + (rest.isEmpty ? "" : "; \(rest.joined(separator: ", ")) here")
    }

    // MARK: The question

    /// What is selected of each group.
    private struct Select {
        private var texts: [SQLText] = []

        /// The place of a text in the answer.
        mutating func add(_ text: SQLText) -> Int {
            texts.append(text)
            return texts.count - 1
        }

        var list: SQLText {
            let named = texts.enumerated().map { place, text -> SQLText in
                "\(text) AS \(raw: GroupQuery.name(place))"
            }
            return named.isEmpty ? "TRUE" : .joined(named, ", ")
        }
    }

    private static func name(_ place: Int) -> String { "c\(place)" }

    private static func value(_ place: Int, _ kind: SQLKind, isNullable: Bool = true) -> SQLValue {
        SQLValue(text: SQLText(raw: "g.\(name(place))"), kind: kind, isNullable: isNullable)
    }

    /// A figure, and its value for conditions and orders, if it is one.
    private static func figure(
        _ aggregate: TableAggregate, _ translator: ConditionTranslator, _ select: inout Select
    ) -> (Figure, SQLValue?)? {
        guard let argument = aggregate.argument else {
            let place = select.add("count(*)")
            return (.count(place), value(place, .integer, isNullable: false))
        }
        guard let of = translator.value(argument) else { return nil }
        switch (aggregate.function, of.kind) {
        case (.count, _):
            let place = select.add("count(\(of.text))")
            return (.count(place), value(place, .integer, isNullable: false))
        case (.sum, .integer), (.sum, .boolean):
            let place = select.add(wholeSum(of))
            return (.wholeSum(place), value(place, .decimal, isNullable: false))
        case (.average, .integer), (.average, .boolean):
            return (
                .wholeAverage(
                    sum: select.add(wholeSum(of)), count: select.add("count(\(of.text))")),
                nil
            )
        case (.sum, .decimal):
            let (sum, size) = decimalSum(of, &select)
            return (.decimalSum(sum: sum, size: size), nil)
        case (.average, .decimal):
            let (sum, size) = decimalSum(of, &select)
            return (
                .decimalAverage(sum: sum, size: size, count: select.add("count(\(of.text))")), nil
            )
        case (.minimum, _), (.maximum, _):
            guard let extreme = extreme(of, isLeast: aggregate.function == .minimum) else {
                return nil
            }
            let place = select.add(extreme)
            return (.extreme(place, of.kind), value(place, of.kind))
        default: return nil
        }
    }

    private static func wholeSum(_ value: SQLValue) -> SQLText {
        let number: SQLText =
            value.kind == .boolean ? "CAST(\(value.text) AS integer)" : value.text
        return "CAST(coalesce(sum(\(number)), 0) AS numeric)"
    }

    /// The sum, and that of the sizes.
    private static func decimalSum(_ value: SQLValue, _ select: inout Select) -> (Int, Int) {
        (select.add("sum(\(value.text))"), select.add("sum(abs(\(value.text)))"))
    }

    /// The least or the greatest value; nil if the server has no such function, or another order.
    private static func extreme(_ value: SQLValue, isLeast: Bool) -> SQLText? {
        let function = SQLText(raw: isLeast ? "min" : "max")
        switch value.kind {
        case .integer, .decimal, .text, .uri: return "\(function)(\(value.text))"
        case .single, .double, .date:
            let no = value.kind.notANumber ?? ""
            return "\(function)(\(value.text)) FILTER (WHERE \(value.text) <> \(raw: no))"
        case .boolean: return "\(raw: isLeast ? "bool_and" : "bool_or")(\(value.text))"
        case .uuid, .bytes, .opaque, .object: return nil
        }
    }

    /// What groups are sorted by: the terms, then the keys. Nil if a term is none of their values.
    private static func order(_ plan: TablePlan, _ named: [String: SQLValue]) -> [SQLText]? {
        var order: [SQLText] = []
        for term in plan.sort {
            guard term.comparison == .binary, case .variable(let name) = term.expression,
                let value = named[name]
            else { return nil }
            order.append(
                SQLOrder.term(value.text, term.isAscending, nilIsGreatest: term.nilIsGreatest))
        }
        for index in plan.keys.indices {
            guard let value = named[TablePlan.variable(ofKey: index)] else { return nil }
            order.append(SQLOrder.term(value.text, true, nilIsGreatest: false))
        }
        return order
    }

    // MARK: The answer

    /// The rows of the table; nil if the server's sums say another thing than those of decimals might.
    func rows(_ result: PostgresResult) throws(StoreError) -> [[Value]]? {
        var groups: GroupRows
        do throws(PredicateFormatError) {
            groups = try GroupRows(plan, asksHaving: !isWhole, inOrder: isWhole)
        } catch {
            throw StoreError(error, entity: plan.entity)
        }
        groups.reserve(result.rowCount)
        for row in 0..<result.rowCount {
            var values: [Value] = []
            var made: [EvaluatedValue] = []
            do throws(SQLFailure) {
                for (index, kind) in keys.enumerated() {
                    values.append(
                        try kind.value(result, row, index, layout, identity).asGroupKey)
                }
                for figure in figures {
                    guard let value = try value(of: figure, result, row) else { return nil }
                    made.append(.value(value))
                }
            } catch {
                throw StoreError(error)
            }
            groups.add(key: { values[$0] }, figure: { made[$0] })
        }
        return isWhole
            ? groups.rows.values : plan.arranged(groups.rows, fetch.offset, fetch.limit)
    }

    private func value(of figure: Figure, _ result: PostgresResult, _ row: Int)
        throws(SQLFailure) -> Value?
    {
        switch figure {
        case .count(let place): return .integer(try result.int64(row, place))
        case .extreme(let place, let kind):
            return try kind.value(result, row, place, layout, identity)
        case .wholeSum(let place):
            return TableAggregate.sum(try whole(result, row, place))
        case .wholeAverage(let sum, let count):
            let count = Int(try result.int64(row, count))
            if count == 0 { return .null }
            return TableAggregate.average(try whole(result, row, sum), of: count)
        case .decimalSum(let sum, let size):
            if result.isNull(row, sum) { return .integer(0) }
            return try exact(result, row, sum, size).map { .decimal($0) }
        case .decimalAverage(let sum, let size, let count):
            if result.isNull(row, sum) { return .null }
            let count = Int(try result.int64(row, count))
            return try exact(result, row, sum, size).map { TableAggregate.average($0, of: count) }
        }
    }

    private func whole(_ result: PostgresResult, _ row: Int, _ place: Int) throws(SQLFailure)
        -> Int128
    {
        guard let whole = Int128(try result.numeric(row, place)) else {
            throw SQLFailure(.unreadable, "a sum of integers is not an integer")
        }
        return whole
    }

    /// A sum of decimals; nil if one on the way to it may have had more digits than a decimal holds.
    private func exact(_ result: PostgresResult, _ row: Int, _ sum: Int, _ size: Int)
        throws(SQLFailure) -> Decimal?
    {
        // The sum of the sizes shows as many places as the number with the most of them.
        let digits = try result.numeric(row, size).utf8.count {
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
        }
        guard digits <= Self.mostDigits else { return nil }
        return Decimal(exactText: try result.numeric(row, sum))
    }

    /// Every number of so many digits is a decimal.
    private static let mostDigits = 38
}
