// A description of a store in a folder: from its files, and from its contents if it can be opened.
//
// Threads: one.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// The known facts about a store in a folder.
struct LogInformation {
    private let path: String
    private let status: StoreStatus
    private var contents: Contents?
    private var failure: (any Error)?

    /// - Parameter opens: whether to open the store to describe its contents.
    init(of path: String, opens: Bool) throws {
        self.path = path
        status = try LogStore.status(at: path)
        guard opens else { return }
        do {
            contents = try FolderKind().usingLog(path, .reading) { store in
                Contents(
                    schema: store.schema, statistics: try store.statistics(),
                    metadata: try store.metadata(),
                    history: try store.historyBounds().map {
                        History(bounds: $0, use: store.historyUse)
                    }, redirects: store.redirectCount, past: try store.pastStateBounds())
            }
        } catch {
            failure = error
        }
    }

    /// The description as text.
    var printout: StorePrintout {
        StorePrintout(
            lines: Self.lines(path, status) + (contents.map(Self.lines) ?? []),
            json: Self.json(path, status, contents), failure: failure)
    }

    /// The facts about a store that can be opened.
    private struct Contents {
        let schema: Schema
        let statistics: StoreStatistics
        let metadata: StoreMetadata
        /// nil if the store keeps none.
        let history: History?
        let redirects: Int
        /// nil if none are kept.
        let past: PastStateBounds?
    }

    /// The retained part of the history.
    private struct History {
        let bounds: PersistentHistoryBounds
        let use: (transactions: Int, bytes: UInt64)
    }

    // MARK: Text

    private static func lines(_ contents: Contents) -> [String] {
        var lines: [String] = []
        if let history = contents.history {
            lines.append(
                "  history      \(PlainText.count(history.use.transactions, "transaction")), "
                    + "\(PlainText.bytes(history.use.bytes)), after commit \(history.bounds.horizon)"
            )
        }
        if contents.redirects > 0 {
            lines.append(
                "  redirects    "
                    + PlainText.count(contents.redirects, "object was", "objects were")
                    + " merged into others")
        }
        if let past = contents.past {
            lines.append(
                "  past states  after commit \(past.horizon), "
                    + "\(PlainText.bytes(past.bytes)) retained for them")
        }
        return lines + [""] + space(contents.statistics)
            + table(contents.schema, contents.statistics).lines + indexes(contents.statistics)
            + metadata(contents.metadata)
    }

    private static func lines(_ path: String, _ status: StoreStatus) -> [String] {
        let bytes = status.segments.reduce(0) { $0 + $1.bytes }
        var lines = [
            "\(path): a store of format \(status.formatVersion)",
            "  id           \(status.identifier?.uuidString ?? "unknown")",
            "  last commit  \(status.commit)" + (time(status).map { " at \($0)" } ?? "")
                + (status.lastAuthor.map { " by \($0)" } ?? ""),
            "  log          \(PlainText.bytes(bytes)) in"
                + " \(PlainText.count(status.segments.count, "segment"))",
        ]
        for segment in status.segments {
            let made =
                segment.created.map { ", created \(PlainText.value(.date(rounded($0))))" } ?? ""
            lines.append(
                "    \(segment.number)  \(segment.kind.rawValue), \(PlainText.bytes(segment.bytes))\(made)"
                    + (segment.problem.map { ", \($0)" } ?? ""))
        }
        for checkpoint in status.checkpoints {
            lines.append(
                "  checkpoint   of commit \(checkpoint.commit), \(PlainText.bytes(checkpoint.bytes))"
                    + (checkpoint.problem.map { ", not usable: \($0)" } ?? ""))
        }
        lines.append("  mark         \(status.mark.map { "commit \($0.commit)" } ?? "none")")
        lines.append("  state        \(state(status))")
        if let host = status.host { lines.append("  open on      \(host), for writing") }
        for user in status.users {
            let started = user.started.map {
                ", running since \(PlainText.value(.date(rounded($0))))"
            }
            lines.append(
                "  open in      process \(user.process) (\(user.program)), "
                    + (user.mayWrite ? "for writing" : "for reading")
                    + (user.hasTurn ? ", holds the write lock" : "") + (started ?? ""))
        }
        lines.append(
            "  to open      \(PlainText.bytes(status.bytesToRead)) to read,"
                + " \(PlainText.count(status.commitsToRead, "commit"))"
                + (status.openingCheckpoint == nil ? "" : " after the checkpoint"))
        for damage in status.damage {
            lines.append("  damaged      \(Failure(damage)?.message ?? "\(damage)")")
        }
        return lines
    }

    /// Returns lines about the live part of the segments.
    private static func space(_ statistics: StoreStatistics) -> [String] {
        let bytes = statistics.segments.reduce(0) { $0 + $1.bytes }
        let live = statistics.segments.reduce(0) { $0 + $1.liveBytes }
        return [
            "\(PlainText.bytes(live)) of \(PlainText.bytes(bytes)) are live",
            "",
        ]
    }

    private static func state(_ status: StoreStatus) -> String {
        if let writer = status.writer { return "being written by process \(writer)" }
        if status.bytesLeftBehind > 0 {
            return
                "an interrupted write left \(PlainText.bytes(status.bytesLeftBehind)), which are ignored"
        }
        if status.wasClosed { return "closed" }
        return status.users.contains(where: \.mayWrite) ? "open" : "not closed"
    }

    private static func table(_ schema: Schema, _ statistics: StoreStatistics) -> TextTable {
        var table = TextTable(
            ["entity", "objects", "blocks", "dead rows", "unique"],
            alignments: [.left, .right, .right, .right])
        for entity in statistics.entities {
            let described = schema.entity(named: entity.name)
            let keys =
                described?.constraints.map {
                    // The details do not fit here: `cairn schema` prints them.
                    $0.names.joined(separator: ",") + ($0.options == nil ? "" : " (with options)")
                } ?? []
            let name =
                entity.isHidden
                ? "\(entity.name) (pairs)"
                : described?.isAbstract == true ? "\(entity.name) (abstract)" : entity.name
            table.add([
                name, PlainText.number(entity.objects), PlainText.number(entity.blocks),
                PlainText.number(entity.deadRows), keys.joined(separator: "; "),
            ])
        }
        return table
    }

    /// Returns lines about the fetch indexes that the store's own model declares; none if it declares none.
    private static func indexes(_ statistics: StoreStatistics) -> [String] {
        guard !statistics.fetchIndexes.isEmpty else { return [] }
        var table = TextTable(
            ["index", "entity", "entries", "size", "properties"],
            alignments: [.left, .left, .right, .right])
        for index in statistics.fetchIndexes {
            table.add([
                index.name, index.entity, PlainText.number(index.entries),
                PlainText.bytes(UInt64(index.bytes)), index.properties.joined(separator: ","),
            ])
        }
        return [""] + table.lines
    }

    /// Returns lines about the programs' metadata; none if there are none.
    private static func metadata(_ metadata: StoreMetadata) -> [String] {
        guard !metadata.values.isEmpty else { return [] }
        var table = TextTable(["metadata", "value"], alignments: [.left, .left])
        for (key, value) in metadata.values.inKeyOrder() {
            table.add([key, PlainText.value(value)])
        }
        return [""] + table.lines
    }

    // MARK: JSON

    private static func json(
        _ path: String, _ status: StoreStatus,
        _ contents: Contents?
    ) -> JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) {
            members.append(.init(key: key, value: value))
        }
        func date(_ date: Date?) -> JSONValue {
            date.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null
        }
        add("store", .string(path))
        add("id", .text(status.identifier?.uuidString))
        add("format", .count(status.formatVersion))
        add("commit", .count(status.commit))
        add("lastCommitTime", date(status.lastCommitTime))
        add("lastAuthor", .text(status.lastAuthor))
        add("closed", .boolean(status.wasClosed))
        add("writer", status.writer.map { .count($0) } ?? .null)
        if let host = status.host { add("host", .string(host)) }
        add(
            "users",
            .array(
                status.users.map {
                    .object([
                        "process": .count($0.process), "program": .string($0.program),
                        "started": date($0.started), "writes": .boolean($0.mayWrite),
                        "hasTurn": .boolean($0.hasTurn),
                    ])
                }))
        add("bytesLeftBehind", .count(status.bytesLeftBehind))
        add("bytes", .count(status.segments.reduce(0) { $0 + $1.bytes }))
        add(
            "segments",
            .array(
                status.segments.map {
                    .object([
                        "number": .count($0.number), "kind": .string($0.kind.rawValue),
                        "bytes": .count($0.bytes), "created": date($0.created),
                        "problem": .text($0.problem),
                    ])
                }))
        add(
            "checkpoints",
            .array(
                status.checkpoints.map {
                    .object([
                        "commit": .count($0.commit), "bytes": .count($0.bytes),
                        "problem": .text($0.problem),
                    ])
                }))
        add(
            "mark",
            status.mark.map {
                .object(["commit": .count($0.commit), "position": .count($0.position)])
            } ?? .null)
        add("needsRecovery", .boolean(status.needsRecovery))
        add("bytesToRead", .count(status.bytesToRead))
        add("framesToRead", .count(status.framesToRead))
        add("commitsToRead", .count(status.commitsToRead))
        add("damage", .array(status.damage.map { .string(Failure($0)?.message ?? "\($0)") }))
        if let contents {
            addContents(contents.schema, contents.statistics, add)
            add(
                "history",
                contents.history.map {
                    .object([
                        "transactions": .count($0.use.transactions),
                        "bytes": .count($0.use.bytes), "horizon": .count($0.bounds.horizon),
                        "last": .count($0.bounds.last),
                    ])
                } ?? .null)
            add("redirects", .count(contents.redirects))
            add(
                "pastStates",
                contents.past.map {
                    .object([
                        "horizon": .count($0.horizon), "last": .count($0.last),
                        "bytes": .count($0.bytes),
                    ])
                } ?? .null)
            add("called", .string(contents.metadata.identifier.uuidString))
            add(
                "metadata",
                .object(
                    contents.metadata.values.inKeyOrder().map {
                        .init(key: $0.key, value: .string(PlainText.value($0.value)))
                    }))
        }
        return .object(members)
    }

    private static func addContents(
        _ schema: Schema, _ statistics: StoreStatistics, _ add: (String, JSONValue) -> Void
    ) {
        add("indexEntries", .count(statistics.indexEntries))
        add(
            "entities",
            .array(
                statistics.entities.map { entity in
                    .object([
                        "name": .string(entity.name), "objects": .count(entity.objects),
                        "blocks": .count(entity.blocks), "deadRows": .count(entity.deadRows),
                        "hidden": .boolean(entity.isHidden),
                        "unique": .array(
                            schema.entity(named: entity.name)?.plainConstraints.map {
                                .array($0.names.map { .string($0) })
                            } ?? []),
                        "uniqueWithOptions": .array(
                            schema.entity(named: entity.name)?.constraints.compactMap {
                                constraint in
                                constraint.options.map { options in
                                    .object([
                                        "names": .array(constraint.names.map { .string($0) }),
                                        "options": .array(options.remarks.map { .string($0) }),
                                    ])
                                }
                            } ?? []),
                    ])
                }))
        add(
            "fetchIndexes",
            .array(
                statistics.fetchIndexes.map { index in
                    .object([
                        "name": .string(index.name), "entity": .string(index.entity),
                        "properties": .array(index.properties.map { .string($0) }),
                        "entries": .count(index.entries), "bytes": .count(index.bytes),
                    ])
                }))
    }

    private static func time(_ status: StoreStatus) -> String? {
        status.lastCommitTime.map { PlainText.value(.date(rounded($0))) }
    }

    /// Returns a date rounded down to the second: more precision is not useful here.
    private static func rounded(_ date: Date) -> Date {
        Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
    }
}
