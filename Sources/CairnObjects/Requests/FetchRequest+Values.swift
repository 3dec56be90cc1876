// What a request for values says beside what every request does.

public import CairnModel

extension FetchRequest {
    /// The values of each row of a dictionary result, in order; empty: all attributes, or the group keys.
    ///
    /// A name is a key path, through to-one relationships; a to-one relationship gives an `ObjectID`, and a to-many one is
    /// rejected. A composite attribute is named by its leaves: `color.primary`. If the results are objects, it has no
    /// effect, since an object's row is always read as a whole, and expressions are rejected.
    ///
    /// ```swift
    /// var request = FetchRequest<DictionaryResult>(entityName: "Person")
    /// request.propertiesToFetch = [
    ///     "email", .expression(try ExpressionDescription("count", "count:(SELF)")),
    /// ]
    /// request.propertiesToGroupBy = ["email"]
    /// request.havingPredicate = try PredicateNode(format: "count > 1")
    /// ```
    public var propertiesToFetch: [PropertyToFetch] {
        get { terms.rarer.propertiesToFetch }
        set { terms.rarer.propertiesToFetch = newValue }
    }

    /// What is equal in the objects that one row is about. The name of an expression in ``propertiesToFetch`` means that
    /// expression. For dictionary results only; no path may lead through a to-many relationship.
    public var propertiesToGroupBy: [PropertyToFetch] {
        get { terms.rarer.propertiesToGroupBy }
        set { terms.rarer.propertiesToGroupBy = newValue }
    }

    /// The condition on groups: on their keys, on aggregates such as `count:(SELF)`, and on the values of
    /// ``propertiesToFetch`` by their names or as variables (`$count > 1`). For dictionary results only.
    public var havingPredicate: PredicateNode? {
        get { terms.rarer.havingPredicate }
        set { terms.rarer.havingPredicate = newValue }
    }

    /// Whether results are distinct. For dictionary results only.
    public var returnsDistinctResults: Bool {
        get { terms.rarer.returnsDistinctResults }
        set { terms.rarer.returnsDistinctResults = newValue }
    }
}
