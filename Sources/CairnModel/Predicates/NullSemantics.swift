// What conditions say of nil: the logic of Swift, or that of SQL.

/// What a condition says of nil.
///
/// With three objects whose `price` is 5, 20 and nil:
///
/// | Condition | ``twoValued`` | ``sql`` |
/// | --- | --- | --- |
/// | `price > 10` | 20 | 20 |
/// | `NOT price > 10` | 5, nil | 5 |
/// | `price != 5` | 20, nil | 20 |
/// | `NOT price IN {5, NULL}` | 20, nil | none |
/// | `price == NULL` | nil | nil |
/// | `price != NULL` | 5, 20 | 5, 20 |
public enum NullSemantics: String, Sendable, Hashable, Codable, CaseIterable {
    /// A comparison is true or false. Nil equals nil and nothing else, `!=` is the opposite of `==`, and every other comparison
    /// with nil is false. This is what Swift says, and Core Data in memory.
    case twoValued
    /// A comparison with a value that is nil is unknown, and so are its opposite and what depends on it; what is unknown is not
    /// found. This is what SQL says, and Core Data with its SQLite store.
    ///
    /// - `== NULL` and `!= NULL`, with the word itself or nil as an argument, stay exact tests.
    /// - AND and OR know what one part alone decides; NOT of what is unknown is unknown.
    /// - `IN` a list or a collection with nil in it is true or unknown. Nothing is in an empty one, not even nil. `CONTAINS` a
    ///   member is the same turned round. `BETWEEN` is two comparisons: one that is false decides.
    /// - A path whose way leads nowhere is nil, and so is what is calculated from nil.
    /// - `ANY`, `SOME` and `NONE` are SQL's EXISTS, which is never unknown: a member counts if what is asked of it is true. So
    ///   `NONE items.price > 10` finds an object whose items have no price.
    /// - `ALL` is SQL's ALL: true if it is true of every member, also if there are none; false if it is false of one; else
    ///   unknown.
    /// - SUBQUERY has the members for which its condition is true, and TERNARY takes the second value where its condition is
    ///   not, as CASE does. `ANYKEY` is as with ANY.
    /// - No value is given to a variable by `:=` in a condition: its parts are not asked one after the other.
    case sql
}
