// How conditions treat nil: with the logic of Swift, or that of SQL.

/// How a condition treats nil.
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
    /// Two-valued logic: a comparison is true or false. Nil equals only nil, `!=` is the opposite of `==`, and every other
    /// comparison with nil is false. This is what Swift does, and Core Data in memory.
    case twoValued
    /// Three-valued logic: a comparison with nil is unknown, and so are its negation and whatever depends on it. A fetch
    /// does not return objects for which the predicate is unknown. This is what SQL does, and Core Data with its SQLite
    /// store.
    ///
    /// - `== NULL` and `!= NULL`, with the literal or with nil as an argument, stay exact tests.
    /// - AND and OR are known when one operand decides them; NOT of unknown is unknown.
    /// - `IN` a list or a collection that contains nil is true or unknown. Nothing is in an empty one, not even nil.
    ///   `CONTAINS` a member is the same with the sides swapped. `BETWEEN` is two comparisons: one that is false decides.
    /// - A key path that passes through nil is nil, and so is what is computed from nil.
    /// - `ANY`, `SOME` and `NONE` are SQL's EXISTS, which is never unknown: a member counts if the comparison is true for
    ///   it. So `NONE items.price > 10` finds an object whose items have no price.
    /// - `ALL` is SQL's ALL: true if it is true for every member, also if there are none; false if it is false for one;
    ///   otherwise unknown.
    /// - SUBQUERY contains the members for which its condition is true, and TERNARY uses the second value unless its
    ///   condition is true, like CASE. `ANYKEY` behaves like ANY.
    /// - `:=` cannot assign to a variable in a condition: its parts are not evaluated in order.
    case sql
}
