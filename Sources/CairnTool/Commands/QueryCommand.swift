// cairn query: prints objects, or tables computed from them.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Prints objects as a table or as JSON lines.
struct QueryCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print the objects that match a condition, or a table computed from them.",
        discussion: """
            A condition compares attributes with values: price < 10 AND (category IN {'toys', \
            'food'} OR NOT sold == YES). Strings are quoted, nil is NULL. Refer to an object as it \
            is printed, or by its URI, as a string: shop == 'p3', SELF IN {'p1', 'p2'}.

            Columns are attributes, objectID and entity, or expressions in the same language, \
            optionally named: shop.name, tags.@count, half=price / 2. An aggregate such as \
            sum:(price) or @count applies to each group of --group-by, or to all objects. With \
            --group-by but without --columns, the keys and the count are printed. --having is a \
            condition on groups: on keys, column names and aggregates.

            Examples:
              cairn query shop.cairn Product --where "price < 10" --sort name
              cairn query shop.cairn Product --group-by category --having "@count > 1"
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @OptionGroup var which: ConditionOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The sort order; - sorts descending. 'nulls first' or 'nulls last' after a key places objects without a value.",
            valueName: "key,-key"))
    var sort: String?

    @Option(parsing: .unconditional, help: "Print at most this many objects.")
    var limit: Int?

    @Option(parsing: .unconditional, help: "Skip this many objects first.")
    var offset = 0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The columns of each object or group.", valueName: "key,name=expr"))
    var columns: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Print one row for each group of objects.", valueName: "key,key"))
    var groupBy: String?

    @Option(parsing: .unconditional, help: "Only print groups that match this condition.")
    var having: String?

    @Flag(help: "Print equal rows only once.")
    var distinct = false

    @Flag(help: "Print the query plan instead.")
    var explain = false

    @OptionGroup var moment: MomentOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
        if offset < 0 { throw ValidationError("--offset must be 0 or more.") }
    }

    func run() throws {
        let console = Console.current
        let columns = try TermList.parts(columns, option: "--columns")
        let options = TableQuery.Options(
            columns: columns, groupBy: try TermList.parts(groupBy, option: "--group-by"),
            having: having, isDistinct: distinct)
        let sort = try TermList.parts(sort, option: "--sort").map { try SortKey(argument: $0) }
        try StoreSession.reading(place.store) { session in
            let entity = try session.entity(entity)
            var fetch = try session.fetch(entity, which)
            fetch.limit = limit
            fetch.offset = offset
            fetch.sort = sort
            let snapshot = try session.snapshot(moment)
            if TableQuery.isNeeded(options, entity) {
                try TableQuery(options, fetch, entity, session)
                    .run(snapshot, json: output.json, explain: explain, to: console)
                return
            }
            // A path refers to other entities; the store reports its errors.
            for key in sort where !key.key.contains(".") {
                _ = try session.column(key.key, of: entity)
            }
            let columns = try RowColumns(columns, entity, session)
            if explain {
                fetch.includesRows = columns.needsRows
                let plan = try snapshot.explain(fetch)
                console.print(output.json ? JSONValue(plan).line : plan.description)
                return
            }
            let found = try snapshot.fetch(fetch)
            var table = columns.table(widest: console.isTerminal ? 40 : 60)
            // In portions, so that the rows of a large store are never all in memory.
            for start in stride(from: 0, to: found.ids.count, by: 1024)
            where console.outputError == nil {
                let part = Array(found.ids[start..<min(start + 1024, found.ids.count)])
                for row in try snapshot.rows(part) {
                    guard let row else { continue }
                    if output.json {
                        console.print(columns.json(row).line)
                    } else {
                        table.add(columns.cells(row))
                    }
                }
            }
            guard !output.json else { return }
            for line in table.lines { console.print(line) }
            if console.isTerminal { console.print(PlainText.count(found.ids.count, "object")) }
        }
    }
}

extension JSONValue {
    /// Describes a query plan.
    init(_ plan: QueryPlan) {
        self = .object([
            "access": .string(plan.access),
            "condition": plan.condition.map { .string($0) } ?? .null,
            "groups": plan.groups.map { .string($0) } ?? .null,
            "having": plan.having.map { .string($0) } ?? .null,
            "sort": plan.sort.map { .string($0) } ?? .null, "distinct": .boolean(plan.isDistinct),
            "estimatedRows": .count(plan.estimatedRows), "allRows": .count(plan.allRows),
            "rowsLooked": .count(plan.rowsLooked), "results": .count(plan.results),
            "blocksRead": .count(plan.blocksRead), "blocksSkipped": .count(plan.blocksSkipped),
            "microseconds": .count(Int((plan.seconds * 1e6).rounded())),
            "statement": plan.statement.map { .string($0) } ?? .null,
            "serverPlan": plan.serverPlan.map { .string($0) } ?? .null,
        ])
    }
}
