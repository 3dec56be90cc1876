// Answers a table from objects at hand: what a store has to give, said in the plainest way.
//
//   1. Without groups: the expressions of each object. With groups: objects are put into groups by the values of the keys,
//      each aggregate is made of the collected values, and the expressions are asked with these as variables.
//   2. Rows are sorted, groups first by their keys, so that the order is the same wherever the rows lie. Of equal rows the
//      first stays if each is wanted once.
//
// Threads: immutable, so any.

extension TablePlan {
    /// A row with what it is sorted by.
    package struct Row {
        package let values: [Value]
        package let order: [Value]

        package init(_ values: [Value], order: [Value]) {
            self.values = values
            self.order = order
        }
    }

    /// The rows of the table for objects in the order of their ids; conditions on objects have been met.
    package func rows(
        of objects: [any EvaluatedObject], offset: Int = 0, limit: Int? = nil
    ) throws(PredicateFormatError) -> [[Value]] {
        arranged(try isGrouped ? groups(of: objects) : plainRows(of: objects), offset, limit)
    }

    private func plainRows(of objects: [any EvaluatedObject]) throws(PredicateFormatError) -> [Row]
    {
        let columns = try Self.evaluators(columns)
        let order = try Self.evaluators(sort.map(\.expression))
        return objects.map { object in
            Row(
                columns.map { $0.value(for: object).plain },
                order: order.map { $0.value(for: object).plain })
        }
    }

    private func groups(of objects: [any EvaluatedObject]) throws(PredicateFormatError) -> [Row] {
        let keys = try Self.evaluators(keys)
        let arguments = try Self.evaluators(
            aggregates.map { $0.argument ?? .evaluatedObject })
        var indices: [[Value]: Int] = [:]
        var groups: [(key: [Value], values: [[EvaluatedValue]])] = []
        if keys.isEmpty { groups.append(([], aggregates.map { _ in [] })) }
        for object in objects {
            let key = keys.map { $0.value(for: object).plain.asGroupKey }
            let index = keys.isEmpty ? 0 : indices[key] ?? groups.count
            if index == groups.count {
                indices[key] = index
                groups.append((key, aggregates.map { _ in [] }))
            }
            for (aggregate, argument) in arguments.enumerated() {
                let value = argument.value(for: object)
                if !value.isNull { groups[index].values[aggregate].append(value) }
            }
        }
        var answer = try GroupRows(self)
        for (key, values) in groups {
            let figures = zip(aggregates, values).map {
                TableAggregate.value(of: $0.function, $1)
            }
            answer.add(key: key, figures: figures)
        }
        return answer.rows
    }

    static func evaluators(_ expressions: [ExpressionNode]) throws(PredicateFormatError)
        -> [ExpressionEvaluator]
    {
        var evaluators: [ExpressionEvaluator] = []
        for expression in expressions { evaluators.append(try ExpressionEvaluator(expression)) }
        return evaluators
    }

    /// Rows in order, each once if that is wanted, within offset and limit.
    package func arranged(_ rows: [Row], _ offset: Int, _ limit: Int?) -> [[Value]] {
        var rows = rows
        if !sort.isEmpty || isGrouped {
            let keys = rows.map(sortKeys)
            let order = rows.indices.sorted { left, right in
                for (index, value) in keys[left].enumerated() {
                    let order = SortingOrder.compare(value, keys[right][index])
                    if order != 0 {
                        return (order < 0) == (index < sort.count ? sort[index].isAscending : true)
                    }
                }
                return left < right
            }
            rows = order.map { rows[$0] }
        }
        if isDistinct {
            var seen: Set<[Value]> = []
            rows = rows.filter { seen.insert($0.values).inserted }
        }
        let rest = rows.dropFirst(max(0, offset))
        return (limit.map { rest.prefix(max(0, $0)) } ?? rest).map(\.values)
    }

    /// What a row is sorted by, texts as they are compared.
    private func sortKeys(_ row: Row) -> [Value] {
        if sort.allSatisfy({ $0.comparison == .binary }) { return row.order }
        return row.order.enumerated().map { index, value in
            index < sort.count ? sort[index].comparison.ordered(value) : value
        }
    }
}

/// The rows of groups whose keys and figures are known.
package struct GroupRows {
    private let plan: TablePlan
    private let columns: [ExpressionEvaluator]
    private let order: [ExpressionEvaluator]
    private let having: PredicateEvaluator?
    /// Where the values of columns and sort terms are, if each is a key or a figure as it is.
    private let places: (columns: [Place], order: [Place])?
    /// The rows so far.
    package private(set) var rows: [TablePlan.Row] = []

    /// Where a value is.
    private enum Place {
        case key(Int)
        case figure(Int)
    }

    /// - Parameter asksHaving: whether groups are asked the condition; not if whoever adds them has done so.
    package init(_ plan: TablePlan, asksHaving: Bool = true) throws(PredicateFormatError) {
        self.plan = plan
        let columnPlaces = plan.columns.compactMap { Self.place($0, plan) }
        let orderPlaces = plan.sort.compactMap {
            $0.comparison == .binary ? Self.place($0.expression, plan) : nil
        }
        places =
            columnPlaces.count == plan.columns.count && orderPlaces.count == plan.sort.count
            ? (columnPlaces, orderPlaces) : nil
        columns = try TablePlan.evaluators(plan.columns)
        order = try TablePlan.evaluators(plan.sort.map(\.expression))
        having = try (asksHaving ? plan.having : nil).map { having throws(PredicateFormatError) in
            try PredicateEvaluator(having)
        }
    }

    /// Adds the row of a group, if it is wanted.
    package mutating func add(key: [Value], figures: [EvaluatedValue]) {
        if having == nil, let places {
            func value(_ place: Place) -> Value {
                switch place {
                case .key(let index): key[index]
                case .figure(let index): figures[index].plain
                }
            }
            rows.append(
                TablePlan.Row(
                    places.columns.map(value), order: places.order.map(value) + key))
            return
        }
        var variables: [String: EvaluatedValue] = [:]
        for (index, value) in key.enumerated() {
            variables[TablePlan.variable(ofKey: index)] = .value(value)
        }
        for (index, value) in figures.enumerated() {
            variables[TablePlan.variable(ofAggregate: index)] = value
        }
        if let having, !having.matches(.value(.null), variables: variables) { return }
        rows.append(
            TablePlan.Row(
                columns.map { $0.value(for: .value(.null), variables: variables).plain },
                order: order.map { $0.value(for: .value(.null), variables: variables).plain }
                    + key))
    }
}

extension GroupRows {
    /// Where the value of an expression is, if it is a key or a figure as it is.
    private static func place(_ node: ExpressionNode, _ plan: TablePlan) -> Place? {
        guard case .variable(let name) = node else { return nil }
        if let key = plan.keys.indices.first(where: { TablePlan.variable(ofKey: $0) == name }) {
            return .key(key)
        }
        return plan.aggregates.indices.first { TablePlan.variable(ofAggregate: $0) == name }
            .map { .figure($0) }
    }
}

extension Value {
    /// The value as groups are made by it: both zeros are one.
    package var asGroupKey: Value {
        switch self {
        case .double(let value) where value == 0: .double(0)
        case .float(let value) where value == 0: .float(0)
        default: self
        }
    }
}
