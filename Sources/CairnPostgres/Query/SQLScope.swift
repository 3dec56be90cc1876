// The contents of one FROM clause: the queried rows, and the rows that their references point to.
//
//   FROM "cairn"."Item" AS r LEFT JOIN "cairn"."Shop" AS t1 ON t1."_id" = r."shop" WHERE …
//
// A reference is followed by one LEFT JOIN, however often it is asked: by the key of a table, so that it adds no rows, and the
// server leaves out those that nothing is asked of in the end.
//
// Threads: owned by one call.

final class SQLScope {
    private let source: SQLText
    private var joins: [SQLText] = []
    private var aliases: [String: String] = [:]
    /// The conditions that connect the rows with those outside.
    private var links: [SQLText] = []

    init(_ source: SQLText) { self.source = source }

    /// The name under which the row is joined that a reference leads to, if it is.
    func alias(of reference: String) -> String? { aliases[reference] }

    func join(_ table: String, as alias: String, along reference: String) {
        aliases[reference] = alias
        joins.append(
            "LEFT JOIN \(raw: table) AS \(raw: alias) ON \(raw: alias).\(raw: TableLayout.Fixed.id.quoted) = \(raw: reference)"
        )
    }

    /// Adds rows for each row there is.
    func multiply(by source: SQLText, where link: SQLText) {
        joins.append("JOIN \(source) ON \(link)")
    }

    func restrict(_ link: SQLText) { links.append(link) }

    /// FROM and WHERE.
    func sql(_ condition: SQLText? = nil) -> SQLText {
        let from = SQLText.joined([source] + joins, " ")
        let conditions = links + (condition.map { [$0] } ?? [])
        return conditions.isEmpty
            ? "FROM \(from)" : "FROM \(from) WHERE \(.joined(conditions, " AND "))"
    }
}
