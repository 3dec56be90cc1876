// Computes a table from objects in memory: the reference for what a store must return, in the simplest form.
//
//   1. Without groups: the expressions of each object. With groups: objects are put into groups by the values of the keys,
//      each aggregate is made of the collected values, and the expressions are asked with these as variables.
//   2. Rows are sorted, groups first by their keys, so that the order is the same wherever the rows lie. Of equal rows the
//      first stays if each is wanted once.
//
// Threads: immutable, so any.

extension TablePlan {
    /// Rows with their sort keys, which are empty if the rows are not sorted.
    package struct Rows {
        package private(set) var values: [[Value]] = []
        fileprivate var orders: [[Value]] = []

        package init() {}

        package mutating func reserve(_ count: Int) { values.reserveCapacity(count) }

        package mutating func add(_ row: [Value], order: [Value]) {
            values.append(row)
            if !order.isEmpty { orders.append(order) }
        }

        mutating func reverse() {
            values.reverse()
            orders.reverse()
        }
    }

    /// The rows of the table for objects in the order of their ids; conditions on objects have been met.
    package func rows(
        of objects: [any EvaluatedObject], offset: Int = 0, limit: Int? = nil
    ) throws(PredicateFormatError) -> [[Value]] {
        arranged(try isGrouped ? groups(of: objects) : plainRows(of: objects), offset, limit)
    }

    private func plainRows(of objects: [any EvaluatedObject]) throws(PredicateFormatError) -> Rows {
        let columns = try Self.evaluators(columns)
        let order = try Self.evaluators(sort.map(\.expression))
        var rows = Rows()
        for object in objects {
            rows.add(
                columns.map { $0.value(for: object).plain },
                order: order.map { $0.value(for: object).plain })
        }
        return rows
    }

    private func groups(of objects: [any EvaluatedObject]) throws(PredicateFormatError) -> Rows {
        let keys = try Self.evaluators(keys)
        let arguments = try Self.evaluators(
            aggregates.map { $0.argument ?? .evaluatedObject })
        return try groups(
            ofKeys: objects.map { object in keys.map { $0.value(for: object).plain } },
            values: objects.map { object in arguments.map { $0.value(for: object) } })
    }

    /// The groups of objects of which the keys and the arguments of the aggregates are known.
    package func groups(
        ofKeys found: [[Value]], values: [[EvaluatedValue]]
    ) throws(PredicateFormatError) -> Rows {
        var indices: [[Value]: Int] = [:]
        var groups: [(key: [Value], values: [[EvaluatedValue]])] = []
        if keys.isEmpty { groups.append(([], aggregates.map { _ in [] })) }
        let isMixed = Self.hasMixedNumbers(found)
        for (key, values) in zip(found, values) {
            let identity = isMixed ? key.map(\.groupIdentity) : key.map(\.asGroupKey)
            let index = keys.isEmpty ? 0 : indices[identity] ?? groups.count
            if index == groups.count {
                indices[identity] = index
                groups.append((key.map(\.asGroupKey), aggregates.map { _ in [] }))
            }
            for (aggregate, value) in values.enumerated() where !value.isNull {
                groups[index].values[aggregate].append(value)
            }
        }
        var answer = try GroupRows(self)
        for (key, values) in groups {
            let figures = zip(aggregates, values).map {
                TableAggregate.value(of: $0.function, $1)
            }
            answer.add(key: { key[$0] }, figure: { figures[$0] })
        }
        return answer.rows
    }

    /// The paths on which the expressions about an object lead to other objects.
    package var objectPaths: Set<String> {
        let expressions =
            isGrouped
            ? keys + aggregates.compactMap(\.argument) : columns + sort.map(\.expression)
        return expressions.reduce(into: []) { $0.formUnion($1.objectPaths) }
    }

    static func evaluators(_ expressions: [ExpressionNode]) throws(PredicateFormatError)
        -> [ExpressionEvaluator]
    {
        var evaluators: [ExpressionEvaluator] = []
        for expression in expressions { evaluators.append(try ExpressionEvaluator(expression)) }
        return evaluators
    }

    /// Rows in order, each once if that is wanted, within offset and limit.
    ///
    /// - Parameter inOrder: whether groups come in the order of their keys.
    package func arranged(
        _ rows: Rows, _ offset: Int, _ limit: Int?, inOrder: Bool = false
    ) -> [[Value]] {
        var values = rows.values
        if !sort.isEmpty || isGrouped && !inOrder, !rows.orders.isEmpty {
            let keys = rows.orders.map(sortKeys)
            let order = values.indices.sorted { left, right in
                for (index, value) in keys[left].enumerated() {
                    let term = index < sort.count ? sort[index] : nil
                    let order = SortingOrder.compare(
                        value, keys[right][index], nilIsGreatest: term?.nilIsGreatest ?? false)
                    if order != 0 { return (order < 0) == (term?.isAscending ?? true) }
                }
                return left < right
            }
            values = order.map { values[$0] }
        }
        if isDistinct { values = Self.distinct(values) }
        if offset <= 0, limit == nil { return values }
        let rest = values.dropFirst(max(0, offset))
        return Array(limit.map { rest.prefix(max(0, $0)) } ?? rest)
    }

    /// The first of rows that are equal, as groups are.
    package static func distinct(_ rows: [[Value]]) -> [[Value]] {
        // Most columns have values of one type, which are told apart as they are.
        let isMixed = hasMixedNumbers(rows)
        var seen: Set<[Value]> = []
        return rows.filter { row in
            if isMixed { return seen.insert(row.map(\.groupIdentity)).inserted }
            let hasOther = row.contains { $0 == .double(-0.0) || $0 == .float(-0.0) }
            return seen.insert(hasOther ? row.map(\.asGroupKey) : row).inserted
        }
    }

    /// Whether numbers of several types are in one column.
    private static func hasMixedNumbers(_ rows: [[Value]]) -> Bool {
        var types = [UInt8](repeating: 0, count: rows.first?.count ?? 0)
        for row in rows {
            for column in types.indices { types[column] |= row[column].numberType }
        }
        return types.contains { $0.nonzeroBitCount > 1 }
    }

    /// What a row is sorted by, texts as they are compared.
    private func sortKeys(_ order: [Value]) -> [Value] {
        if sort.allSatisfy({ $0.comparison == .binary }) { return order }
        return order.enumerated().map { index, value in
            index < sort.count ? sort[index].comparison.ordered(value) : value
        }
    }
}
