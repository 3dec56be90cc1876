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
            let found = try snapshot.fetch(fetch)
            if explain {
                console.print(
                    output.json
                        ? JSONValue.object([
                            "plan": .string(found.plan), "objects": .count(found.ids.count),
                        ]).line : "\(found.plan), \(PlainText.count(found.ids.count, "object"))")
                return
            }
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

/// Which columns of an entity are printed, and how.
struct RowColumns {
    private let session: StoreSession
    private let indexes: [Int]
    private let names: [String]
    private let showsID: Bool
    private let showsEntity: Bool
    private let alignments: [TextTable.Alignment]

    /// The columns of these names; all of them if there are none. `objectID` and `entity` are columns too.
    init(_ wanted: [String], _ entity: SchemaEntity, _ session: StoreSession) throws {
        self.session = session
        let own = wanted.filter {
            $0 != "objectID" && $0 != "entity" || entity.columnIndex(named: $0) != nil
        }
        showsID = wanted.isEmpty || wanted.contains("objectID")
        showsEntity =
            wanted.isEmpty
            ? entity.family.count > 1 : own.count < wanted.filter { $0 != "objectID" }.count
        indexes =
            wanted.isEmpty
            ? Array(entity.columns.indices) : try own.map { try session.column($0, of: entity) }
        names = indexes.map { entity.columns[$0].name }
        alignments = indexes.map { index in
            switch entity.columns[index].kind {
            case .attribute(.integer16), .attribute(.integer32), .attribute(.integer64),
                .attribute(.double), .attribute(.float), .attribute(.decimal):
                .right
            default: .left
            }
        }
    }

    /// An empty table for the columns.
    func table(widest: Int) -> TextTable {
        TextTable(
            (showsID ? ["objectID"] : []) + (showsEntity ? ["entity"] : []) + names,
            alignments: (showsID ? [.left] : []) + (showsEntity ? [.left] : []) + alignments,
            widest: widest)
    }

    /// A row of the table.
    func cells(_ row: Row) -> [String] {
        var cells: [String] = []
        if showsID { cells.append("p\(row.id.reference)") }
        if showsEntity { cells.append(session.schema.entities[row.entity].name) }
        for index in indexes { cells.append(PlainText.value(session.value(index, row))) }
        return cells
    }

    /// A row as an object.
    func json(_ row: Row) -> JSONValue {
        var members: [JSONValue.Member] = []
        if showsID {
            members.append(.init(key: "objectID", value: .string("p\(row.id.reference)")))
        }
        if showsEntity {
            members.append(
                .init(key: "entity", value: .string(session.schema.entities[row.entity].name)))
        }
        for (index, name) in zip(indexes, names) {
            members.append(.init(key: name, value: JSONValue(session.value(index, row))))
        }
        return .object(members)
    }
}
