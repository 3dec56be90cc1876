// cairn past: how far back a store can be read as it was.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnStore

/// Says which past states a store keeps, and changes that.
struct PastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "past",
        abstract: "Print which past states of a store can be read, or change which are kept.",
        discussion: """
            A store that keeps past states can be read as it was after a commit: with --at of \
            query, count, get, find and export. For that it keeps files that compaction would \
            remove. It begins with --keep, and from then on programs keep them too. What is given \
            up with --purge, or by keeping less, gives its space back.
            """)

    @OptionGroup var place: FolderArgument

    @Option(
        help: ArgumentHelp(
            "Keep states from now on: all, off, those of so many last commits (20), or of so long a time (30d, 12h, 90m, 10s).",
            valueName: "all|off|n|time"),
        transform: { try PastCommand.retention($0) })
    var keep: PastStateRetention?

    @Option(
        help: ArgumentHelp(
            "Give up the states before that after the commit of that number, or at that time.",
            valueName: "commit|time"))
    var purge: String?

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if keep == .off, purge != nil {
            throw ValidationError("--keep off gives up all states: there is nothing to --purge.")
        }
    }

    func run() throws {
        let folder = try place.folder(for: .pastStates)
        let bounds: PastStateBounds?
        if keep == nil, purge == nil {
            bounds = try StoreSession.reading(folder) { try $0.pastStore().pastStateBounds() }
        } else {
            bounds = try StoreSession.writing(folder, turn, pastStates: keep) { session in
                let store = try session.pastStore()
                let bounds = try store.pastStateBounds()
                guard let purge else { return bounds }
                let number = try session.commit(purge, option: "--purge")
                // A number with a figure too many would give all of them up.
                if let bounds, number > bounds.last {
                    throw StoreError(
                        .pastStateUnavailable,
                        "commit \(number) is still to come: the last one is \(bounds.last)")
                }
                try store.purgePastStates(before: number)
                return try store.pastStateBounds()
            }
        }
        Console.current.print(
            output.json ? Self.json(folder, bounds).line : Self.line(folder, bounds))
    }

    // MARK: Retention

    private static let units: [Character: (seconds: Double, name: String)] = [
        "s": (1, "second"), "m": (60, "minute"), "h": (3600, "hour"), "d": (86_400, "day"),
    ]

    private static func retention(_ text: String) throws -> PastStateRetention {
        switch text {
        case "all": return .all
        case "off": return .off
        default: break
        }
        if let count = Int(text), count >= 0 { return .transactions(count) }
        if let unit = text.last.flatMap({ units[$0] }), let count = UInt32(text.dropLast()) {
            return .seconds(Double(count) * unit.seconds)
        }
        throw ValidationError(
            "--keep must be all, off, a number of commits, or a time such as 30d, 12h, 90m or 10s.")
    }

    /// A time in the largest unit that it is a multiple of.
    private static func time(_ seconds: Double) -> String {
        let unit =
            units.values.sorted { $0.seconds > $1.seconds }
            .first { seconds.truncatingRemainder(dividingBy: $0.seconds) == 0 } ?? (1, "second")
        return PlainText.count(UInt64(seconds / unit.seconds), unit.name)
    }

    // MARK: Output

    private static func line(_ path: String, _ bounds: PastStateBounds?) -> String {
        guard let bounds else { return "\(path): no past states are kept" }
        let kept =
            switch bounds.retention {
            case .off, .all: "all are kept from then on"
            case .transactions(let count):
                "those of the last \(PlainText.count(count, "commit")) are kept, at least"
            case .seconds(let seconds): "those of the last \(time(seconds)) are kept, at least"
            }
        return
            "\(path): states can be read from the one after commit \(bounds.horizon) up to commit \(bounds.last); "
            + "\(kept); \(PlainText.bytes(bounds.bytes)) of files are there for them alone"
    }

    private static func json(_ path: String, _ bounds: PastStateBounds?) -> JSONValue {
        var members: [JSONValue.Member] = [.init(key: "store", value: .string(path))]
        func add(_ key: String, _ value: JSONValue) {
            members.append(.init(key: key, value: value))
        }
        guard let bounds else {
            add("keep", .string("off"))
            return .object(members)
        }
        switch bounds.retention {
        case .off, .all: add("keep", .string("all"))
        case .transactions(let count):
            add("keep", .string("transactions"))
            add("transactions", .count(count))
        case .seconds(let seconds):
            add("keep", .string("seconds"))
            add("seconds", .count(UInt64(seconds)))
        }
        add("horizon", .count(bounds.horizon))
        add("last", .count(bounds.last))
        add("bytes", .count(bounds.bytes))
        return .object(members)
    }
}
