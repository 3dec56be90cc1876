// The definition of a table, checked against an entity and ready for execution.
//
//   1. If there are groups or aggregates, each column, the condition on groups and the sort keys are taken apart: what the
//      groups are made by becomes a variable, each aggregate becomes a variable, and a column's name stands for what is in it.
//   2. What is left of a column may name no property: it would be one of many objects.
//   3. The expressions inside aggregates and the keys of the groups are about an object, and are bound to the entity.
//
// Whoever answers makes the groups, gives the variables their values, and evaluates the rest for each group.
//
// Threads: a value.

/// A table that can be computed.
package struct TablePlan: Sendable {
    /// What rows are sorted by.
    package struct SortTerm: Sendable {
        /// Of a row by its variables, or of an object.
        package let expression: ExpressionNode
        package let isAscending: Bool
        /// How texts are compared.
        package let comparison: SortKey.Comparison
        /// Where nil comes.
        package let nulls: SortKey.NullsPosition?
        package let nilIsGreatest: Bool
    }

    package let entity: SchemaEntity
    /// What groups are made by, of an object.
    package let keys: [ExpressionNode]
    /// The figures of each group, of its objects.
    package let aggregates: [TableAggregate]
    /// The columns: of the variables of a group, or of an object if there are no groups.
    package let columns: [ExpressionNode]
    package let names: [String]
    /// Which groups are wanted, by their variables.
    package let having: PredicateNode?
    /// What the variables in ``having`` stand for, as people write it: the name of a column, or an expression.
    private let written: [String: ExpressionNode]
    package let sort: [SortTerm]
    /// Whether a row is a group.
    package let isGrouped: Bool
    package let isDistinct: Bool

    /// The variable of a key of the groups.
    package static func variable(ofKey index: Int) -> String { "key \(index)" }
    /// The variable of an aggregate.
    package static func variable(ofAggregate index: Int) -> String { "aggregate \(index)" }

    /// Makes a plan.
    ///
    /// - Parameter nullSemantics: what conditions say of nil: the one on groups, and those in expressions.
    /// - Throws: `PredicateFormatError` naming the key or the part that does not fit.
    package init(
        _ terms: TableTerms, sort: [SortKey], of entity: SchemaEntity, in schema: Schema,
        nullSemantics: NullSemantics = .twoValued
    ) throws(PredicateFormatError) {
        self.entity = entity
        names = terms.columns.map(\.name)
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw PredicateFormatError("two columns are called \(name)", key: name)
        }
        if terms.columns.isEmpty {
            throw PredicateFormatError("a table has at least one column", key: nil)
        }
        for column in terms.columns { try column.expression.checkNesting() }
        for key in terms.groupBy { try key.checkNesting() }
        var terms = terms
        if let having = terms.having { terms.having = try having.walkable() }
        for key in sort { try ExpressionNode.keyPath(key.key).checkNesting() }
        var lifting = TableLifting(terms, entity, schema, nullSemantics)
        try lifting.bindKeys()
        isDistinct = terms.isDistinct
        isGrouped =
            !terms.groupBy.isEmpty || terms.columns.contains { lifting.hasAggregate($0.expression) }
        var columns: [ExpressionNode] = []
        var sortTerms: [SortTerm] = []
        if isGrouped {
            for column in terms.columns { columns.append(try lifting.lifted(column.expression)) }
            having = try terms.having.map { having throws(PredicateFormatError) in
                try lifting.lifted(having)
            }
            written = having == nil ? [:] : lifting.written
            for key in sort {
                // One row for all has no order, so that objects may be sorted by what has many values in it.
                if terms.groupBy.isEmpty {
                    try lifting.checkSortKey(key.key)
                    continue
                }
                sortTerms.append(
                    try lifting.sortTerm(key, try lifting.lifted(.keyPath(key.key))))
            }
        } else {
            if terms.having != nil {
                throw PredicateFormatError(
                    "a condition on groups needs something to group by", key: nil)
            }
            having = nil
            written = [:]
            for column in terms.columns {
                columns.append(try lifting.single(column.expression))
            }
            for key in sort {
                let index = terms.columns.firstIndex { $0.name == key.key }
                let expression = index.map { columns[$0] } ?? .keyPath(key.key)
                sortTerms.append(try lifting.sortTerm(key, try lifting.single(expression)))
            }
        }
        self.columns = columns
        self.sort = sortTerms
        keys = lifting.keys
        aggregates = lifting.aggregates
    }

    /// What groups are asked, for people: as it was checked, and with the nil of SQL in two values.
    package var havingInWords: String? {
        having.map { "\((try? $0.substituting(variables: written)) ?? $0)" }
    }
}
