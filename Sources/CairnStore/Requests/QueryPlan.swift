// How a fetch was executed, for people.

import CairnModel

/// How a store executed a fetch: how it found the rows, how many it examined, and the results.
///
/// ```swift
/// print(try context.explain(request))
/// // index byCategoryAndPrice (category, price) for category = "toys", price < 10.0, in its order
/// //   estimated 120 of 1000000 rows; 120 examined, 120 results
/// //   9 blocks read, 969 skipped
/// //   0.21 ms
/// ```
public struct QueryPlan: Sendable, Hashable {
    /// The access path: a scan, or an index with the keys searched in it, and whether it provides the sort order. A
    /// covering index contains all requested values, so no row was examined.
    public var access: String
    /// The filter on rows beyond the access path; nil if there is none.
    public var condition: String?
    /// The group keys and aggregates; nil if rows were not grouped.
    public var groups: String?
    /// The filter on groups; nil if there is none.
    public var having: String?
    /// The sort keys of rows or groups that had to be sorted; nil if they did not.
    public var sort: String?
    /// Whether results are distinct.
    public var isDistinct: Bool
    /// The estimated number of rows. Estimates from indexes are exact.
    public var estimatedRows: Int
    /// The number of rows of the fetched entities.
    public var allRows: Int
    /// The number of rows examined, or counted in an index.
    public var rowsLooked: Int
    /// The number of results.
    public var results: Int
    /// The number of blocks read, from memory or from files.
    public var blocksRead: Int
    /// The number of the entities' blocks that were not read.
    public var blocksSkipped: Int
    /// The duration, in seconds.
    public var seconds: Double
    /// The statement that a store sent to its database, without values; nil if there is none.
    public var statement: String?
    /// The database's query plan for the statement, as lines.
    public var serverPlan: String?

    /// Creates a plan.
    public init(
        access: String, condition: String? = nil, groups: String? = nil, having: String? = nil,
        sort: String? = nil, isDistinct: Bool = false, estimatedRows: Int = 0, allRows: Int = 0,
        rowsLooked: Int = 0, results: Int = 0, blocksRead: Int = 0, blocksSkipped: Int = 0,
        seconds: Double = 0, statement: String? = nil, serverPlan: String? = nil
    ) {
        self.access = access
        self.condition = condition
        self.groups = groups
        self.having = having
        self.sort = sort
        self.isDistinct = isDistinct
        self.estimatedRows = estimatedRows
        self.allRows = allRows
        self.rowsLooked = rowsLooked
        self.results = results
        self.blocksRead = blocksRead
        self.blocksSkipped = blocksSkipped
        self.seconds = seconds
        self.statement = statement
        self.serverPlan = serverPlan
    }

    /// The steps without measurements: the same for every execution with the same plan.
    public var steps: String {
        var lines = [access]
        if let condition { lines.append("  filter: \(condition)") }
        if let groups { lines.append("  grouped \(groups)") }
        if let having { lines.append("  having: \(having)") }
        if let sort { lines.append("  sorted by \(sort)") }
        if isDistinct { lines.append("  distinct") }
        return lines.joined(separator: "\n")
    }
}

extension QueryPlan: CustomStringConvertible {
    /// Steps, rows, blocks and time, one per line.
    public var description: String {
        let microseconds = Int((seconds * 1e6).rounded())
        let time = "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst()) ms"
        guard let statement else {
            return """
                \(steps)
                  estimated \(estimatedRows) of \(allRows) rows; \(rowsLooked) examined, \(results) results
                  \(blocksRead) blocks read, \(blocksSkipped) skipped
                  \(time)
                """
        }
        let server = (serverPlan ?? "").split(separator: "\n").map { "\n    \($0)" }.joined()
        return """
            \(steps)
              \(statement)\(server)
              estimated \(estimatedRows) of \(allRows) rows; \(results) results
              \(time)
            """
    }
}

extension TableTerms {
    /// What rows are put into groups by, and what else is in the rows of the table, for people.
    package var groupsInWords: String {
        let keys = groupBy.map { "\($0)" }
        let others = columns.filter { column in
            !groupBy.contains(column.expression) && !keys.contains(column.name)
        }.map { column in
            let text = "\(column.expression)"
            return text == column.name ? text : "\(column.name) = \(text)"
        }
        let by = keys.isEmpty ? "all together" : "by \(keys.joined(separator: ", "))"
        return others.isEmpty ? by : "\(by), with \(others.joined(separator: ", "))"
    }
}
