// The writing requests: saves, imports, and undoing the last of them. They run serially.
//
// Threads: any; a change runs on the thread for changes.

import CairnInspection
import CairnModel
import CairnStore
import CairnStudio
import FoundationEssentials
import Synchronization

/// Responds to requests that change the store.
final class StudioWriting: Sendable {
    private let store: StudioStore
    private let commands: StudioCommands
    private let last = Mutex<StudioUndo?>(nil)

    init(_ store: StudioStore, _ commands: StudioCommands) {
        self.store = store
        self.commands = commands
    }

    /// The available undo, for a page.
    var undoable: JSONValue {
        guard let undo = last.withLock({ $0 }) else { return .null }
        return .object(["commit": .count(undo.commit), "objects": .count(undo.objects)])
    }

    /// Runs a change. Only one runs at a time.
    func answer(_ request: StudioRequest) throws -> StudioAnswer {
        guard store.isWritable else {
            throw StoreError(
                .readOnly, "the studio only reads this store: start it with --write to change it")
        }
        switch request.path {
        case "save": return try save(request)
        case "import": return try importList(request)
        default: return try undo(request)
        }
    }

    /// Runs a body that commits once, and remembers its undo.
    private func changing<Result>(
        _ session: StoreSession, commits: @escaping (Result) -> Bool, _ body: () throws -> Result
    ) throws -> (result: Result, commit: UInt64?) {
        let before = try session.store.snapshot()
        // A save without changes does not commit.
        let hasCommitted = { (result: Result) in
            commits(result) && (try? session.store.snapshot().commit) != before.commit
        }
        let (result, changes) = try StudioRecorder.recording(
            session.store, body, commits: hasCommitted)
        guard hasCommitted(result) else { return (result, nil) }
        // A change without an undo is made anyway.
        let undo = changes.flatMap { try? StudioUndo.of($0, before: before, session.store) }
        last.withLock { $0 = undo }
        return (result, changes?.commit)
    }

    private func save(_ request: StudioRequest) throws -> StudioAnswer {
        _ = try StudioParameters(request, known: [])
        guard case .bytes(let body) = request.body else {
            throw Failure("the body is missing", code: .usage)
        }
        let edits = try StudioEdit.read(body)
        return try store.session { session in
            let (inserted, commit) = try changing(session, commits: { _ in true }) {
                try StudioSave(edits, session).run()
            }
            return StudioAnswer(
                .object([
                    "commit": .count(try commit ?? session.store.snapshot().commit),
                    "inserted": .object(
                        inserted.map { .init(key: $0.name, value: .string("p\($0.id.reference)")) }),
                    "undo": undoable,
                ]))
        }
    }

    private func undo(_ request: StudioRequest) throws -> StudioAnswer {
        // The change that the page refers to, if it does: it may have shown an older one.
        let commit = try StudioParameters(request, known: ["commit"]).number(
            "commit", in: 0...Int.max, or: 0)
        guard let undo = last.withLock({ $0 }), commit == 0 || undo.commit == UInt64(commit) else {
            throw StudioConflict(
                message: "there is no change of this studio that could be taken back", entries: [])
        }
        return try store.session { session in
            let commit = try undo.run(session.store)
            last.withLock { $0 = nil }
            return StudioAnswer(
                .object([
                    "commit": .count(try commit ?? session.store.snapshot().commit),
                    "objects": .count(undo.objects),
                ]))
        }
    }

    // MARK: Lists

    private static let options = [
        "entity", "policy", "map", "encoding", "delimiter", "null", "separator", "missing-key",
        "scope", "mark",
    ]
    private static let flags = ["set-only", "create-targets", "prune", "allow-empty"]

    private func importList(_ request: StudioRequest) throws -> StudioAnswer {
        let parameters = try StudioParameters(
            request, known: Self.options + Self.flags + ["preview", "name"])
        guard case .file(let path) = request.body else {
            throw Failure("the list is missing", code: .usage)
        }
        let isPreview = try parameters.flag("preview")
        _ = try parameters.need("entity")
        var line = ["import", "--json"] + (isPreview ? ["--dry-run"] : [])
        for option in Self.options {
            line += parameters.values(option).filter { !$0.isEmpty }.map { "--\(option)=\($0)" }
        }
        for flag in Self.flags where try parameters.flag(flag) { line.append("--\(flag)") }
        // In messages the list has its original name, and its form may depend on the name.
        let folder = path + "-list"
        let list = "\(folder)/\(Self.plain(try parameters.text("name")))"
        let files = FileManager.default
        try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? files.removeItem(atPath: folder) }
        try files.moveItem(atPath: path, toPath: list)
        let arguments = line + ["--", store.place, list]
        let answer: StudioAnswer
        do {
            answer = try store.session { session in
                let report = try changing(
                    session, commits: { (report: Data) in !isPreview && Self.hasCommit(report) }
                ) { try commands.output(arguments) }.result
                return StudioAnswer(type: StudioAnswer.json, body: report)
            }
        } catch {
            answer = StudioAnswer(error) { store.kinds.hidingSecrets(of: [store.place], in: $0) }
        }
        var named = answer
        named.body = Data(
            String(decoding: answer.body, as: UTF8.self).replacing("\(folder)/", with: "").utf8)
        return named
    }

    /// Returns a name without a path.
    private static func plain(_ name: String?) -> String {
        let name = (name ?? "").filter { $0 != "/" && $0 != "\0" }
        return name.isEmpty || name.hasPrefix(".") || name.utf8.count > 200 ? "list" : name
    }

    /// Returns whether a report of an import contains a commit.
    private static func hasCommit(_ report: Data) -> Bool {
        guard case .object(let members)? = try? StudioJSON(report),
            case .number? = members["commit"]
        else { return false }
        return true
    }
}
