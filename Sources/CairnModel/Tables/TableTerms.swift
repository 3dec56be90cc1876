// The definition of a table of values: columns, groups, and conditions on groups and rows.
//
// Threads: a value.

/// The definition of a table: what its columns contain for the objects that match.
///
/// Without groups and aggregates there is a row for each object. With `groupBy` there is a row for each group; with an
/// aggregate and no `groupBy` there is one row for all.
///
/// An aggregate is a statistical function (`count:`, `sum:`, `min:`, `max:`, `average:`, `median:`, `mode:`, `stddev:`) of
/// one argument that passes through no to-many relationship, or `@count`, `@sum`, `@avg`, `@min`, `@max` of such a key
/// path. Through a to-many relationship a function applies to the members of each object; in a group, `@count`, `@sum`,
/// `@min` and `@max` of a key path that begins with a to-many relationship apply to the members of all its objects, where a
/// member of two objects counts twice. Nil is ignored.
public struct TableTerms: Sendable, Hashable {
    /// A column of the table.
    public struct Column: Sendable, Hashable {
        /// The column's name.
        public var name: String
        /// Its values.
        public var expression: ExpressionNode

        /// A column with the values of an expression.
        public init(_ name: String, _ expression: ExpressionNode) {
            self.name = name
            self.expression = expression
        }

        /// A column with the values at a key path.
        public init(_ path: String) { self.init(path, .keyPath(path)) }
    }

    /// The columns.
    public var columns: [Column]
    /// What the objects of a group have in common; nil is a value like any other here.
    public var groupBy: [ExpressionNode] = []
    /// Which groups to include: a condition on the group keys, on aggregates, and on columns by their names, as keys or as
    /// variables.
    public var having: PredicateNode?
    /// Whether rows are distinct.
    public var isDistinct = false

    /// Creates a table with columns.
    public init(columns: [Column]) { self.columns = columns }
}
