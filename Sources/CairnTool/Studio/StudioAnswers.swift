// The responses under `/api/`: each path, and its handler.
//
// Threads: any.

import CairnInspection
import CairnStore
import CairnStudio
import FoundationEssentials

/// Responds to the studio page's requests about a store.
final class StudioAnswers: StudioAnswerer {
    private let store: StudioStore
    private let news: StudioNews
    private let threads = StudioThreads()
    private let commands: StudioCommands
    private let rows: StudioRows
    private let check: StudioCheck
    private let pictures: StudioPictures
    private let writing: StudioWriting
    private let version: String
    /// The maximum time to wait for news.
    private static let patience = Duration.seconds(25)

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - version: the tool's.
    ///   - run: runs a command line.
    init(
        _ place: String, _ access: StoreAccess, _ kinds: StoreKinds, version: String,
        run: @escaping @Sendable ([String]) throws -> Void
    ) throws {
        news = StudioNews()
        store = try StudioStore(place: place, access: access, kinds: kinds, news: news)
        commands = StudioCommands(run: run)
        rows = StudioRows(store: store, listings: StudioListings(threads), threads: threads)
        check = StudioCheck(store, threads)
        pictures = StudioPictures(store)
        writing = StudioWriting(store, commands)
        self.version = version
    }

    /// The store's title for output.
    var title: String { store.title }

    /// Ends all waits for news.
    func end() { news.end() }

    /// Waits for running work, and closes the store.
    func close() {
        threads.finish()
        store.close()
    }

    func answer(_ request: StudioRequest) async -> StudioAnswer {
        do {
            return request.isPost ? try await post(request) : try await get(request)
        } catch {
            return StudioAnswer(error) { store.kinds.hidingSecrets(of: [store.place], in: $0) }
        }
    }

    // MARK: Questions

    private func get(_ request: StudioRequest) async throws -> StudioAnswer {
        if let form = StudioCommandForm.all[request.path] {
            return try await threads.run { [store, commands] in
                let line = try form.commandLine(request.path, store.place, request)
                return StudioAnswer(
                    type: form.printsLines ? StudioAnswer.jsonLines : StudioAnswer.json,
                    body: try store.use { try commands.output(line) })
            }
        }
        let path = request.path.split(separator: "/")
        if path.count == 2, path[0] == "pictures", StudioPictures.names.contains(String(path[1])) {
            return try await threads.run { [pictures] in
                try pictures.answer(String(path[1]), request)
            }
        }
        switch request.path {
        case "store": return try await about(request)
        case "rows": return try await rows.answer(request)
        case "object":
            return try await threads.run { [store] in
                let parameters = try StudioParameters(request, known: ["entity", "id", "at"])
                return try store.session { try StudioObject(parameters, $0).answer() }
            }
        case "value":
            return try await threads.run { [store] in
                let parameters = try StudioParameters(
                    request, known: ["entity", "id", "property", "at"])
                let property = try parameters.need("property")
                return try store.session { try StudioObject(parameters, $0).value(of: property) }
            }
        case "object/history":
            return try await threads.run { [store, commands] in
                try StudioObjectHistory(store: store, commands: commands).answer(request)
            }
        case "news":
            let parameters = try StudioParameters(request, known: ["after"])
            let after = try parameters.number("after", in: 0...Int.max, or: 0)
            let commit = await news.wait(above: UInt64(after), for: Self.patience)
            return StudioAnswer(.object(["commit": .count(commit)]))
        case "check":
            _ = try StudioParameters(request, known: [])
            return check.answer()
        default: throw Self.unknown(request)
        }
    }

    private func about(_ request: StudioRequest) async throws -> StudioAnswer {
        _ = try StudioParameters(request, known: [])
        return try await threads.run { [store, writing, version] in
            let commit = try store.session { try $0.store.snapshot().commit }
            return StudioAnswer(
                .object([
                    "title": .string(store.title),
                    "kind": .string(DatabaseURL.isOne(store.place) ? "postgresql" : "folder"),
                    "writable": .boolean(store.isWritable), "commit": .count(commit),
                    "cairn": .string(version), "undo": writing.undoable,
                ]))
        }
    }

    private static func unknown(_ request: StudioRequest) -> Failure {
        .absent(
            "there is no /api/\(PlainText.visible(request.path)) to \(request.isPost ? "POST" : "GET")"
        )
    }

    // MARK: Changes

    private func post(_ request: StudioRequest) async throws -> StudioAnswer {
        switch request.path {
        case "check": return try check.begin(request)
        case "save", "import", "undo":
            return try await threads.run(.change) { [writing] in try writing.answer(request) }
        default: throw Self.unknown(request)
        }
    }
}
