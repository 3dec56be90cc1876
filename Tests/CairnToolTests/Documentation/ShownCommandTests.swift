// That commands which README and the articles show print what they show.
//
// Each document is played in a folder of its own. Lists and stores are named as in the document; a place in a database is
// one of the tests' server.

import CairnModel
import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgresMain
@testable import CairnTool

@Suite("Commands that the documentation shows")
struct ShownCommandTests {
    /// A document whose commands run in a folder with what they need.
    struct Scene: CustomTestStringConvertible, Sendable {
        let article: String
        var needsCorpus = false
        /// Exit codes that are not 0, by a word of the command.
        var codes: [String: Int32] = [:]
        var prepare: @Sendable (borrowing Workplace) throws -> Void

        var testDescription: String { article }
        var isPossible: Bool { !needsCorpus || Corpus.isAvailable }
    }

    private static let scenes = [
        Scene(article: "README", prepare: airports),
        Scene(article: "TheTool", prepare: airports),
        Scene(article: "WhenTheModelChanges", codes: ["--dry-run": 1], prepare: people),
        Scene(article: "ComingFromCoreData", needsCorpus: true, prepare: books),
    ]

    @Sendable private static func airports(_ work: borrowing Workplace) throws {
        _ = try work.list("airports-2010.csv", AirportReleases.first)
        _ = try work.list("airports-2024.csv", AirportReleases.second)
        _ = try work.list(
            "products.csv",
            """
            code,name,price,changed
            A-1,Anchor,9.5,2026-03-01
            B-2,Basalt,19,2026-03-02
            A-7,Anchor,7.6,2026-05-04

            """)
    }

    /// A store of people, three of them with one address, and a model that allows that no longer.
    @Sendable private static func people(_ work: borrowing Workplace) throws {
        let list = try work.list(
            "people.json",
            #"""
            [{"code": "1", "email": "ann@example.org", "visits": 1}, {"code": "2", "email": "bob@example.org", "visits": 2},
             {"code": "3", "email": "ann@example.org", "visits": 5}, {"code": "4", "email": "cid@example.org", "visits": 3},
             {"code": "5", "email": "ann@example.org", "visits": 2}]
            """#)
        let store = work.folder.path("people.cairn")
        let imported = cairn(
            "import", store, list, "--entity", "Person", "--unique", "code", "--type",
            "visits=int32")
        #expect(imported.code == 0, "\(imported.errors)")
        let schema = cairn("schema", store, "--json").output
        var model = try JSONDecoder().decode(ManagedObjectModel.self, from: Data(schema.utf8))
        for index in model.entities[0].attributes.indices
        where model.entities[0].attributes[index].name == "visits" {
            model.entities[0].attributes[index].type = .integer64
        }
        model.entities[0].uniquenessConstraints.append(["email"])
        _ = try work.list("people-2.json", try model.json())
    }

    @Sendable private static func books(_ work: borrowing Workplace) throws {
        try FileManager.default.copyItem(
            at: Corpus.url("coredata-sqlite/SampleModel2_V2.sqlite"),
            to: work.folder.url("SampleModel2_V2.sqlite"))
    }

    private static func document(_ scene: Scene) throws -> Document {
        try #require(try Document.all().first { $0.path.hasSuffix("\(scene.article).md") })
    }

    @Test("they print what is shown", arguments: scenes.filter(\.isPossible))
    func printed(_ scene: Scene) throws {
        if scene.needsCorpus { Corpus.noteUse("\(scene.article)") }
        let work = try Workplace()
        try scene.prepare(work)
        let commands = try Self.document(scene).shown.filter { !Self.isOfDatabase($0) }
        #expect(!commands.isEmpty)
        for command in commands {
            let result = run(
                command.words.map { word in
                    // A model is easier to come by as JSON.
                    word.contains(/^[\w-]+\.(cairn|csv|html|sqlite|xcdatamodel)$/)
                        ? work.folder.path(word.replacing(".xcdatamodel", with: ".json")) : word
                })
            let line = command.words.joined(separator: " ")
            let code = scene.codes.first { command.words.contains($0.key) }?.value ?? 0
            #expect(result.code == code, "cairn \(line): \(result.errors)")
            guard !command.output.isEmpty else { continue }
            let shown = Self.timeless(command.output, work)
            var printed = Self.timeless(result.output, work)
            // How fast an import was says nothing to a reader.
            if command.words[0] == "import", printed.hasPrefix(shown) { printed = shown }
            #expect(printed == shown, "cairn \(line)")
        }
    }

    @Test(
        "those on a store in a database run", .enabled(if: PostgresServer.isInstalled),
        arguments: scenes)
    func database(_ scene: Scene) throws {
        let commands = try Self.document(scene).shown.filter(Self.isOfDatabase)
        guard !commands.isEmpty else { return }
        try withBothPlaces { places in
            try scene.prepare(places.work)
            for command in commands {
                let result = run(
                    command.words.map { word in
                        word.hasPrefix("postgresql:")
                            ? places.url
                            : word.hasSuffix(".csv") ? places.work.folder.path(word) : word
                    })
                #expect(
                    result.code == 0,
                    "cairn \(command.words.joined(separator: " ")): \(result.errors)")
            }
        }
    }

    @Test("every document that shows some is played here")
    func complete() throws {
        let showing = try Document.all().filter { !$0.shown.isEmpty }.map(\.path)
        let played = try Self.scenes.map { try Self.document($0).path }
        #expect(Set(showing) == Set(played))
    }

    private static func isOfDatabase(_ command: Document.ShownCommand) -> Bool {
        command.words.contains { $0.hasPrefix("postgresql:") }
    }

    /// An output without the folder's path, and without how long something took.
    private static func timeless(_ output: String, _ work: borrowing Workplace) -> String {
        output.replacing(work.folder.url.path + "/", with: "").replacing(
            /in [0-9.]+ m?s\b/, with: "in TIME")
    }
}
