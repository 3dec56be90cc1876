// What a store in PostgreSQL is and has, as text.

import CairnInspection
import CairnModel
import CairnPostgres
import CairnStore
import CairnTool
import FoundationEssentials

/// Prints what is known of a store in PostgreSQL.
struct InformationPrinter {
    let title: String
    let information: PostgresInformation
    /// Nil: it was not opened.
    let contents: PostgresInformation.Contents?

    func printout(_ failure: (any Error)?) -> StorePrintout {
        StorePrintout(lines: lines, json: json, failure: failure)
    }

    /// All tables together; nil if the server does not say how large they are.
    private var bytes: UInt64? {
        let sizes = information.tables.compactMap(\.bytes)
        return sizes.isEmpty ? nil : sizes.reduce(0, +)
    }

    // MARK: Text

    private var lines: [String] {
        var lines = [
            "\(title): \(information.head == nil ? "no store" : "a store") in \(information.server)"
        ]
        func add(_ name: String, _ text: String) {
            lines.append("  " + name + String(repeating: " ", count: 13 - name.count) + text)
        }
        if let head = information.head {
            add("id", head.identifier.uuidString)
            add(
                "last commit",
                "\(head.commit)"
                    + (head.time.map { " at \(PlainText.value(.date(rounded($0))))" } ?? "")
                    + (head.author.map { " by \($0)" } ?? ""))
        }
        add(
            "place",
            "the schema \(information.space) of the database \(information.database), as \(information.user)"
                + (information.isStandby ? ", on a standby server" : ""))
        add(
            "tables",
            PlainText.count(information.tables.count, "table")
                + (bytes.map { ", \(PlainText.bytes($0))" } ?? "")
                + (information.head.map { ", of layout \($0.version)" } ?? ""))
        if let history = contents?.history {
            add(
                "history",
                "\(PlainText.count(history.transactions, "transaction")), after commit \(history.bounds.horizon)"
            )
        }
        if let redirects = contents?.redirects, redirects > 0 {
            add(
                "redirects",
                PlainText.count(redirects, "object was", "objects were")
                    + " merged into others")
        }
        for connection in information.connections { add("connected", text(connection)) }
        if let contents { lines += [""] + objects(contents).lines }
        if bytes != nil { lines += [""] + sizes.lines }
        if let metadata = contents?.metadata, !metadata.values.isEmpty {
            var table = TextTable(["metadata", "value"], alignments: [.left, .left])
            for (key, value) in metadata.values.inKeyOrder() {
                table.add([key, PlainText.value(value)])
            }
            lines += [""] + table.lines
        }
        return lines
    }

    private func text(_ connection: PostgresInformation.Connection) -> String {
        "process \(connection.process)" + (connection.program.map { " (\($0))" } ?? "")
            + (connection.user.map { ", \($0)" } ?? "")
            + (connection.address.map { " from \($0)" } ?? "")
            + (connection.state.map { ", \($0)" } ?? "")
    }

    private func objects(_ contents: PostgresInformation.Contents) -> TextTable {
        var table = TextTable(
            ["entity", "objects", "table", "unique"], alignments: [.left, .right, .left, .left])
        for entity in contents.schema.entities {
            let keys = entity.constraints.map {
                // What they are is more than fits here: `cairn schema` says it.
                $0.names.joined(separator: ",") + ($0.options == nil ? "" : " (with options)")
            }
            table.add([
                entity.isAbstract ? "\(entity.name) (abstract)" : entity.name,
                PlainText.number(contents.objects[entity.index]), contents.tables[entity.index],
                keys.joined(separator: "; "),
            ])
        }
        for pairs in contents.pairs {
            table.add(["\(pairs.name) (pairs)", PlainText.number(pairs.count), pairs.table, ""])
        }
        return table
    }

    private var sizes: TextTable {
        var table = TextTable(["table", "size"], alignments: [.left, .right])
        for row in information.tables {
            table.add([row.name, row.bytes.map { PlainText.bytes($0) } ?? ""])
        }
        return table
    }

    /// To the second: nobody reads more here.
    private func rounded(_ date: Date) -> Date {
        Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
    }

    // MARK: JSON

    private var json: JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) {
            members.append(.init(key: key, value: value))
        }
        add("store", .string(title))
        add("id", .text(information.head?.identifier.uuidString))
        add("commit", information.head.map { .count($0.commit) } ?? .null)
        add(
            "lastCommitTime",
            information.head?.time.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null)
        add("lastAuthor", .text(information.head?.author))
        add("server", .string(information.server))
        add("database", .string(information.database))
        add("schema", .string(information.space))
        add("user", .string(information.user))
        add("standby", .boolean(information.isStandby))
        add("layout", information.head.map { .count($0.version) } ?? .null)
        add("bytes", bytes.map { .count($0) } ?? .null)
        add(
            "tables",
            .array(
                information.tables.map {
                    .object([
                        "name": .string($0.name), "bytes": $0.bytes.map { .count($0) } ?? .null,
                    ])
                }))
        add(
            "connections",
            .array(
                information.connections.map {
                    .object([
                        "process": .count($0.process), "program": .text($0.program),
                        "user": .text($0.user), "address": .text($0.address),
                        "state": .text($0.state),
                    ])
                }))
        if let contents { addContents(contents, add) }
        return .object(members)
    }

    private func addContents(
        _ contents: PostgresInformation.Contents, _ add: (String, JSONValue) -> Void
    ) {
        let entities: [JSONValue] = contents.schema.entities.map { entity in
            .object([
                "name": .string(entity.name), "objects": .count(contents.objects[entity.index]),
                "table": .string(contents.tables[entity.index]), "hidden": .boolean(false),
                "unique": .array(
                    entity.plainConstraints.map { .array($0.names.map { .string($0) }) }),
            ])
        }
        let pairs: [JSONValue] = contents.pairs.map {
            .object([
                "name": .string($0.name), "objects": .count($0.count), "table": .string($0.table),
                "hidden": .boolean(true), "unique": .array([]),
            ])
        }
        add("entities", .array(entities + pairs))
        add(
            "history",
            contents.history.map {
                .object([
                    "transactions": .count($0.transactions), "horizon": .count($0.bounds.horizon),
                    "last": .count($0.bounds.last),
                ])
            } ?? .null)
        add("redirects", .count(contents.redirects))
        add("called", .string(contents.metadata.identifier.uuidString))
        add(
            "metadata",
            .object(
                contents.metadata.values.inKeyOrder().map {
                    .init(key: $0.key, value: .string(PlainText.value($0.value)))
                }))
    }
}
