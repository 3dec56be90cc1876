// A query on a snapshot whose result is a table of values: dictionary results of a fetch request.

public import CairnModel

/// Which objects a table covers, and what it contains.
public struct StoreTableFetch: Sendable {
    /// The objects. `sort`, `limit` and `offset` apply to the rows of the table, which is sorted by key paths of the
    /// objects, or by group keys, and by names of columns.
    public var fetch: StoreFetch
    /// The columns and groups of the table.
    public var terms: TableTerms

    /// Requests a table.
    public init(_ fetch: StoreFetch, _ terms: TableTerms) {
        self.fetch = fetch
        self.terms = terms
    }
}

/// The result of a `StoreTableFetch`.
public struct StoreTable: Sendable {
    /// The names of the columns.
    public var columns: [String]
    /// The rows, in order, with a value for each column. Objects are represented by their ids.
    public var rows: [[Value]]
    /// The query plan as text: an index or a scan.
    public var plan: String

    /// Creates a result.
    public init(columns: [String], rows: [[Value]], plan: String) {
        self.columns = columns
        self.rows = rows
        self.plan = plan
    }
}
