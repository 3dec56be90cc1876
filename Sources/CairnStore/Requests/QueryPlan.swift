// How a fetch was answered, for people.

import CairnModel

/// How a store answered a fetch: which way it found the rows, what it looked at, and what came of it.
///
/// ```swift
/// print(try context.explain(request))
/// // index byCategoryAndPrice (category, price) for category = "toys", price < 10.0, in its order
/// //   estimated 120 rows of 1,000,000; 120 looked at, 120 results
/// //   9 blocks read, 969 not
/// //   0.21 ms
/// ```
public struct QueryPlan: Sendable, Hashable {
    /// The way to the rows: a scan, or an index with what was looked for in it, and whether its order is the one wanted. Of a
    /// covering index no row was looked at: it says all that is asked.
    public var access: String
    /// What rows were asked beside that; nil if nothing.
    public var condition: String?
    /// What rows were put into groups by, and what was made of each group; nil if they were not.
    public var groups: String?
    /// What groups were asked; nil if nothing.
    public var having: String?
    /// What rows, or groups, were sorted by afterwards; nil if they were not.
    public var sort: String?
    /// Whether of rows that are equal only the first was kept.
    public var isDistinct: Bool
    /// How many rows the way was expected to lead to. Indexes count exactly.
    public var estimatedRows: Int
    /// How many rows there are of the entities that are asked for.
    public var allRows: Int
    /// How many rows were looked at, or counted in an index.
    public var rowsLooked: Int
    /// How many results there are.
    public var results: Int
    /// How many blocks were read, from memory or from files.
    public var blocksRead: Int
    /// How many blocks the entities have that were not read.
    public var blocksSkipped: Int
    /// How long it took, in seconds.
    public var seconds: Double
    /// What a store that asks a database asked it, its values left out; nil if there is none.
    public var statement: String?
    /// How that database says it carries the statement out, line by line.
    public var serverPlan: String?

    /// A plan.
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

    /// What was done, without what it took: the same whenever the same is done.
    public var steps: String {
        var lines = [access]
        if let condition { lines.append("  each row asked: \(condition)") }
        if let groups { lines.append("  grouped \(groups)") }
        if let having { lines.append("  each group asked: \(having)") }
        if let sort { lines.append("  sorted by \(sort)") }
        if isDistinct { lines.append("  equal rows once") }
        return lines.joined(separator: "\n")
    }
}

extension QueryPlan: CustomStringConvertible {
    /// Steps, rows, blocks and time, a line each.
    public var description: String {
        let microseconds = Int((seconds * 1e6).rounded())
        let time = "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst()) ms"
        guard let statement else {
            return """
                \(steps)
                  estimated \(estimatedRows) of \(allRows) rows; \(rowsLooked) looked at, \(results) results
                  \(blocksRead) blocks read, \(blocksSkipped) not
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
