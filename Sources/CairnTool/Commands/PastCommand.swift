// cairn past: shows and changes the retention of past states.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnStore

/// Prints which past states a store keeps, and changes the retention.
struct PastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "past",
        abstract: "Show which past states a store keeps, or change that.",
        discussion: """
            A store that keeps past states can be read as it was after any commit, with --at of \
            query, count, get, find and export. To do so, it retains files that compaction would \
            delete. --keep turns this on, and from then on all programs keep past states. --purge, \
            or keeping less, frees the space.

            Example:
              cairn past shop.cairn --keep 30d
            """)

    @OptionGroup var place: FolderArgument

    @Option(
        help: ArgumentHelp(
            "Keep states from now on: all, off, those of the last n commits (20), or of some time (30d, 12h, 90m, 10s).",
            valueName: "all|off|n|time"),
        transform: { try PastCommand.retention($0) })
    var keep: PastStateRetention?

    @Option(
        help: ArgumentHelp(
            "Delete states older than this commit number or time.",
            valueName: "commit|time"))
    var purge: String?

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if keep == .off, purge != nil {
            throw ValidationError(
                "--keep off deletes all states: there is nothing left to --purge.")
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
                // A number with one digit too many would give up all of them.
                if let bounds, number > bounds.last {
                    throw StoreError(
                        .pastStateUnavailable,
                        "commit \(number) does not exist yet: the last one is \(bounds.last)")
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

    /// Returns a time in the largest unit that it is a multiple of.
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
            case .off, .all: "all later ones are kept"
            case .transactions(let count):
                "at least the last \(PlainText.count(count, "commit")) are kept"
            case .seconds(let seconds): "at least the last \(time(seconds)) are kept"
            }
        return
            "\(path): past states are available after commit \(bounds.horizon), up to commit \(bounds.last); "
            + "\(kept); they take \(PlainText.bytes(bounds.bytes)) of extra files"
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
