// cairn info: what a store is.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// Prints what a store is and has.
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Print what a store is and has.")

    @OptionGroup var place: StoreArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            let statistics = try session.store.statistics()
            if output.json {
                console.print(Self.json(session, statistics).line)
            } else {
                for line in Self.lines(session, statistics) { console.print(line) }
            }
        }
    }

    private static func lines(_ session: StoreSession, _ statistics: StoreStatistics) -> [String] {
        let recovery = session.store.recovery
        let bytes = statistics.segments.reduce(0) { $0 + $1.bytes }
        var lines = [
            "\(session.path): a store of format \(statistics.formatVersion)",
            "  id           \(session.store.identity.identifier.uuidString)",
            "  last commit  \(statistics.commit)" + (time(recovery).map { " at \($0)" } ?? "")
                + (recovery.lastAuthor.map { " by \($0)" } ?? ""),
            "  log          \(PlainText.bytes(bytes)) in"
                + " \(PlainText.count(statistics.segments.count, "segment"))",
        ]
        lines.append(
            recovery.bytesLeftBehind == 0
                ? "  state        \(recovery.wasClosed ? "closed" : "in use, or not closed")"
                : "  state        an interrupted write left"
                    + " \(PlainText.bytes(recovery.bytesLeftBehind)) behind, which do not count")
        var table = TextTable(
            ["entity", "objects", "blocks", "dead rows", "unique"],
            alignments: [.left, .right, .right, .right])
        for entity in statistics.entities {
            let schema = session.schema.entity(named: entity.name)
            let keys = schema?.constraints.map { $0.names.joined(separator: ",") } ?? []
            let name =
                entity.isHidden
                ? "\(entity.name) (pairs)"
                : schema?.isAbstract == true ? "\(entity.name) (abstract)" : entity.name
            table.add([
                name, PlainText.number(entity.objects), PlainText.number(entity.blocks),
                PlainText.number(entity.deadRows), keys.joined(separator: "; "),
            ])
        }
        return lines + [""] + table.lines
    }

    private static func json(_ session: StoreSession, _ statistics: StoreStatistics) -> JSONValue {
        let recovery = session.store.recovery
        return .object([
            "store": .string(session.path),
            "id": .string(session.store.identity.identifier.uuidString),
            "format": .count(statistics.formatVersion), "commit": .count(statistics.commit),
            "lastCommitTime": recovery.lastCommitTime.map { .date($0) } ?? .null,
            "lastAuthor": .text(recovery.lastAuthor), "closed": .boolean(recovery.wasClosed),
            "bytesLeftBehind": .count(recovery.bytesLeftBehind),
            "bytes": .count(statistics.segments.reduce(0) { $0 + $1.bytes }),
            "segments": .array(
                statistics.segments.map {
                    .object(["number": .count($0.number), "bytes": .count($0.bytes)])
                }), "indexEntries": .count(statistics.indexEntries),
            "entities": .array(
                statistics.entities.map { entity in
                    .object([
                        "name": .string(entity.name), "objects": .count(entity.objects),
                        "blocks": .count(entity.blocks), "deadRows": .count(entity.deadRows),
                        "hidden": .boolean(entity.isHidden),
                        "unique": .array(
                            session.schema.entity(named: entity.name)?.constraints.map {
                                .array($0.names.map { .string($0) })
                            } ?? []),
                    ])
                }),
        ])
    }

    private static func time(_ recovery: RecoveryReport) -> String? {
        recovery.lastCommitTime.map {
            // To the second: nobody reads more here.
            PlainText.value(.date(Date(timeIntervalSinceReferenceDate: $0.rounded(.down))))
        }
    }
}
