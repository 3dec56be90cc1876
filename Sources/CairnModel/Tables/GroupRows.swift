// Creates the rows of groups whose keys and aggregates are known.
//
// Most columns are keys and figures as they are: their values are taken from where they are, and nothing is evaluated.
//
// Threads: a value.

/// The rows of groups whose keys and aggregates are known.
package struct GroupRows {
    private let plan: TablePlan
    private let columns: [ExpressionEvaluator]
    private let order: [ExpressionEvaluator]
    private let having: PredicateEvaluator?
    /// Where the values of columns and sort terms are, if each is a key or a figure as it is.
    private let places: (columns: [Place], order: [Place])?
    /// Whether rows are added in the order of their keys.
    private let inOrder: Bool
    /// The rows so far.
    package private(set) var rows = TablePlan.Rows()

    /// Where a value is.
    private enum Place {
        case key(Int)
        case figure(Int)
    }

    /// - Parameters:
    ///   - asksHaving: whether groups are asked the condition; not if whoever adds them has done so.
    ///   - inOrder: whether rows are added in the order of their keys.
    package init(_ plan: TablePlan, asksHaving: Bool = true, inOrder: Bool = false)
        throws(PredicateFormatError)
    {
        self.plan = plan
        self.inOrder = inOrder
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

    /// Makes room for so many rows.
    package mutating func reserve(_ count: Int) { rows.reserve(count) }

    /// Turns the rows so far around.
    package mutating func reverse() { rows.reverse() }

    /// Adds the row of a group, if it is wanted, by what is in its keys and its figures.
    package mutating func add(key: (Int) -> Value, figure: (Int) -> EvaluatedValue) {
        if having == nil, let places {
            func value(_ place: Place) -> Value {
                switch place {
                case .key(let index): key(index)
                case .figure(let index): figure(index).plain
                }
            }
            var order = places.order.map(value)
            if !inOrder { for index in plan.keys.indices { order.append(key(index)) } }
            rows.add(places.columns.map(value), order: order)
            return
        }
        var variables: [String: EvaluatedValue] = [:]
        for index in plan.keys.indices {
            variables[TablePlan.variable(ofKey: index)] = .value(key(index))
        }
        for index in plan.aggregates.indices {
            variables[TablePlan.variable(ofAggregate: index)] = figure(index)
        }
        if let having, !having.matches(.value(.null), variables: variables) { return }
        var order = order.map { $0.value(for: .value(.null), variables: variables).plain }
        if !inOrder { for index in plan.keys.indices { order.append(key(index)) } }
        rows.add(
            columns.map { $0.value(for: .value(.null), variables: variables).plain },
            order: order)
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
