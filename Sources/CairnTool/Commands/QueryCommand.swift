// cairn query: which objects there are.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnModel
import CairnStore

/// Prints objects as a table or as JSON lines.
struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Print the objects that match a condition.",
        discussion: """
            A condition compares attributes with values: price < 10 AND (category IN {'toys', \
            'food'} OR NOT sold == YES). Text stands in quotes, nil is NULL.
            """)

    @OptionGroup var place: StoreArgument

    @Argument(help: "The entity.")
    var entity: String

    @Option(name: .customLong("where"), help: "The condition.")
    var condition: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The order; - puts large values first.", valueName: "key,-key"))
    var sort: String?

    @Option(help: "The greatest number of objects.")
    var limit: Int?

    @Option(help: ArgumentHelp("What is printed of each object.", valueName: "key,key"))
    var columns: String?

    @Flag(help: "Say how the objects are found instead.")
    var explain = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number from 0 up.") }
    }

    func run() throws {
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            let entity = try session.entity(entity)
            var fetch = try session.fetch(entity, where: condition)
            fetch.limit = limit
            for key in Self.names(sort) {
                let isDescending = key.hasPrefix("-")
                let name = isDescending ? String(key.dropFirst()) : key
                _ = try session.column(name, of: entity)
                fetch.sort.append(SortKey(name, ascending: !isDescending))
            }
            let columns = try RowColumns(Self.names(columns), entity, session)
            let snapshot = try session.store.snapshot()
            if explain {
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

    private static func names(_ list: String?) -> [String] {
        list?.split(separator: ",").map(String.init) ?? []
    }
}

extension JSONValue {
    /// How a fetch was answered.
    fileprivate init(_ plan: QueryPlan) {
        self = .object([
            "access": .string(plan.access),
            "condition": plan.condition.map { .string($0) } ?? .null,
            "sort": plan.sort.map { .string($0) } ?? .null,
            "estimatedRows": .count(plan.estimatedRows), "allRows": .count(plan.allRows),
            "rowsLooked": .count(plan.rowsLooked), "results": .count(plan.results),
            "blocksRead": .count(plan.blocksRead), "blocksSkipped": .count(plan.blocksSkipped),
            "microseconds": .count(Int((plan.seconds * 1e6).rounded())),
        ])
    }
}
