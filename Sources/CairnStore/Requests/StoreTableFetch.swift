// A question to a snapshot whose answer is a table of values: dictionary results of a fetch request.

public import CairnModel

/// Which objects a table is about, and what it says of them.
public struct StoreTableFetch: Sendable {
    /// The objects. `sort`, `limit` and `offset` are about the rows of the table: it is sorted by paths of the objects, or
    /// of what they are grouped by, and by names of columns.
    public var fetch: StoreFetch
    /// What the table says.
    public var terms: TableTerms

    /// Asks for a table.
    public init(_ fetch: StoreFetch, _ terms: TableTerms) {
        self.fetch = fetch
        self.terms = terms
    }
}

/// The answer to a `StoreTableFetch`.
public struct StoreTable: Sendable {
    /// The names of the columns.
    public var columns: [String]
    /// The rows, in order: a value for each column. Objects are given as their ids.
    public var rows: [[Value]]
    /// How the answer was found, for people: an index or a scan.
    public var plan: String

    /// An answer.
    public init(columns: [String], rows: [[Value]], plan: String) {
        self.columns = columns
        self.rows = rows
        self.plan = plan
    }
}
