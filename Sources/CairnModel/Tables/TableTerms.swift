// What a table of values is made of: columns, groups, and which groups and rows are wanted.
//
// Threads: a value.

/// The terms of a table: what its columns say of the objects that match.
///
/// Without groups and aggregates there is a row for each object. With `groupBy` there is a row for each group; with an
/// aggregate and no `groupBy` there is one row for all.
///
/// An aggregate is a statistical function (`count:`, `sum:`, `min:`, `max:`, `average:`, `median:`, `mode:`, `stddev:`) of
/// one argument that leads through no to-many relationship, or `@count`, `@sum`, `@avg`, `@min`, `@max` of such a path.
/// Through a to-many relationship a function is about the members of each object. Nil counts for nothing.
public struct TableTerms: Sendable, Hashable {
    /// A column of the table.
    public struct Column: Sendable, Hashable {
        /// What the column is called.
        public var name: String
        /// What is in it.
        public var expression: ExpressionNode

        /// A column with the values of an expression.
        public init(_ name: String, _ expression: ExpressionNode) {
            self.name = name
            self.expression = expression
        }

        /// A column with the values at a path.
        public init(_ path: String) { self.init(path, .keyPath(path)) }
    }

    /// The columns.
    public var columns: [Column]
    /// What is equal in all objects of a group; nil is a value like others here.
    public var groupBy: [ExpressionNode] = []
    /// Which groups are wanted: a condition on what they are grouped by, on aggregates, and on columns by their names, as
    /// keys or as variables.
    public var having: PredicateNode?
    /// Whether rows that are equal are given once.
    public var isDistinct = false

    /// A table with columns.
    public init(columns: [Column]) { self.columns = columns }
}
