// cairn query: which objects there are.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore

/// Prints objects as a table or as JSON lines.
struct QueryCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print the objects that match a condition, or a table about them.",
        discussion: """
            A condition compares attributes with values: price < 10 AND (category IN {'toys', \
            'food'} OR NOT sold == YES). Text stands in quotes, nil is NULL. An object is named as it \
            is printed, or by its URI, as a text: shop == 'p3', SELF IN {'p1', 'p2'}.

            Columns are attributes, objectID and entity; or expressions of the same language, with \
            a name in front if you like: shop.name, tags.@count, half=price / 2. An expression \
            that sums up, as sum:(price) or @count, is about each group of --group-by, or about \
            all objects. With --group-by and without --columns the keys and count are printed. \
            --having is a condition on groups, by keys, names of columns and sums.
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @OptionGroup var which: ConditionOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The order; - puts large values first. 'nulls first' or 'nulls last' behind a key says where objects without a value come.",
            valueName: "key,-key"))
    var sort: String?

    @Option(parsing: .unconditional, help: "The greatest number of objects.")
    var limit: Int?

    @Option(parsing: .unconditional, help: "How many are left out first.")
    var offset = 0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("What is printed of each object or group.", valueName: "key,name=expr"))
    var columns: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Print a row for each group of objects.", valueName: "key,key"))
    var groupBy: String?

    @Option(parsing: .unconditional, help: "Which groups are printed: a condition on them.")
    var having: String?

    @Flag(help: "Print rows that are equal once.")
    var distinct = false

    @Flag(help: "Say how the objects are found instead.")
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
        let sort = try TermList.parts(sort, option: "--sort").map(Self.sortKey)
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
            // A path leads on to other entities; the store says what is wrong with it.
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
            // In portions, so that the rows of a large store are not in memory all at once.
            for start in stride(from: 0, to: found.ids.count, by: 1024) {
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

    private static func sortKey(_ part: String) throws -> SortKey {
        var name = part[...]
        var nulls: SortKey.NullsPosition?
        let words = part.split(separator: " ")
        if words.count > 2, words[words.count - 2].lowercased() == "nulls",
            let position = SortKey.NullsPosition(rawValue: words[words.count - 1].lowercased())
        {
            nulls = position
            name = part[..<words[words.count - 3].endIndex]
        }
        guard name.hasPrefix("-") else { return SortKey(String(name), nulls: nulls) }
        guard name != "-" else {
            throw Failure("--sort: a key is missing after the -", code: .usage)
        }
        return SortKey(String(name.dropFirst()), ascending: false, nulls: nulls)
    }
}

extension JSONValue {
    /// How a fetch was answered.
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
