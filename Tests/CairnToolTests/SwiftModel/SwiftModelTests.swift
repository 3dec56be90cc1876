// Models as Swift: the files of Tests/CairnGeneratedModels, which compile, are what the command writes.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

/// A model of Tests/Models, and how it becomes a file of Tests/CairnGeneratedModels.
struct GeneratedModel: Sendable, CustomTestStringConvertible {
    let model: String
    let file: String
    let options: [String]

    var testDescription: String { model }

    static let all = [
        GeneratedModel(model: "Library.xcdatamodeld", file: "Library.swift", options: []),
        GeneratedModel(model: "Names.xcdatamodel", file: "Names.swift", options: []),
        GeneratedModel(model: "Harbours.xcdatamodel", file: "Harbours.swift", options: []),
        GeneratedModel(model: "Inventory.json", file: "Inventory.swift", options: ["--public"]),
    ]

    /// The folder Tests.
    private static let tests = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func path(_ model: String) -> String {
        tests.appendingPathComponent("Models/\(model)").path
    }

    var arguments: [String] { ["model", Self.path(model), "--swift"] + options }
    var generated: URL { Self.tests.appendingPathComponent("CairnGeneratedModels/\(file)") }
}

@Suite("cairn model --swift")
struct SwiftModelTests {
    @Test("the command writes what is compiled with the tests", arguments: GeneratedModel.all)
    func same(_ model: GeneratedModel) throws {
        let made = run(model.arguments)
        #expect(made.code == 0 && made.errors.isEmpty, "\(made.errors)")
        let known = try String(contentsOf: model.generated, encoding: .utf8)
        #expect(
            made.output == known,
            "if the change is meant: cairn \(model.arguments.joined(separator: " ")) > \(model.generated.path)"
        )
    }

    @Test("one version of several can be asked for")
    func version() {
        let path = GeneratedModel.path("Library.xcdatamodeld")
        let run = cairn("model", path, "--swift", "--version", "Library")
        #expect(
            run.output == """
                // The entities of Library.xcdatamodeld, version Library, as classes.
                // Written by: cairn model Library.xcdatamodeld --swift --version Library
                //
                //     let container = try PersistentContainer(at: "library.cairn", for: Volume.self)
                //
                // swift-format-ignore-file

                import Cairn

                @Entity
                final class Volume: ManagedObject {
                    var title: String?
                    var pages: Int16 = 0
                    // Transient and untyped: it is kept in the object, which does not track its changes.
                    @Transient var opinion: Any? = nil
                }

                """)
        let missing = cairn("model", path, "--swift", "--version", "Library 3")
        #expect(missing.code == 1 && missing.output.isEmpty)
        #expect(missing.errors.contains("the versions are Library, Library 2"))
    }

    @Test("a store's model is as good as a file's")
    func store() throws {
        let work = try Workplace()
        let store = try golden("everything", in: work)
        let run = cairn("model", store, "--swift")
        #expect(run.code == 0)
        #expect(run.lines.contains("final class Heliport: Airport {"))
        #expect(run.lines.contains("    var code: String"))
        // It is opened as it is called.
        #expect(run.output.contains("\"everything.cairn\""))
        #expect(cairn("model", store, "--swift", "--version", "1").code == 2)
    }

    @Test("merge rules are said by marks, with the names that properties have in the class")
    func mergeRules() throws {
        let work = try Workplace()
        let model = try work.list(
            "m.json",
            """
            {"entities": [{
                "name": "Part", "userInfo": {"cairn.mergeRule": "newest(by: description)"},
                "attributes": [
                    {"name": "count", "type": "integer64", "userInfo": {"cairn.mergeRule": "sum", "a": "b"}},
                    {"name": "description", "type": "date"}],
                "relationships": [
                    {"name": "next", "destinationEntityName": "Part", "isToMany": false,
                        "maximumCount": 1, "userInfo": {"cairn.mergeRule": "fillNil"}}]}]}
            """)
        let lines = cairn("model", model, "--swift").lines
        #expect(lines.contains("@Entity(mergeRule: .newest(by: \"description_\"))"))
        #expect(lines.contains("    @Attribute(mergeRule: .sum) var count: Int64?"))
        #expect(lines.contains("    @Relationship(mergeRule: .fillNil) var next: Part?"))
        #expect(lines.contains("    // User info: a = b"))
    }

    @Test("a model without entities is a file without classes")
    func nothing() throws {
        let work = try Workplace()
        let model = try work.list("m.json", #"{"entities":[]}"#)
        let run = cairn("model", model, "--swift")
        #expect(run.code == 0)
        #expect(
            run.lines == [
                "// The entities of m.json, as classes.",
                "// Written by: cairn model m.json --swift", "//",
                "// The model has no entities.", "//", "// swift-format-ignore-file",
            ])
    }

    @Test("names that a shell would take apart are quoted in the head")
    func quoted() throws {
        let work = try Workplace()
        let model = try work.list("it's mine.json", #"{"entities":[]}"#)
        #expect(
            cairn("model", model, "--swift", "--public").lines[1]
                == #"// Written by: cairn model 'it'\''s mine.json' --swift --public"#)
    }

    @Test(
        "the head opens a store with its own model where the classes cannot say all that is stored")
    func storage() throws {
        let work = try Workplace()
        func usage(_ model: String) throws -> String {
            let file = try work.list("shop.json", model)
            let made = cairn("model", file, "--swift")
            #expect(made.code == 0, "\(made.errors)")
            return made.lines.prefix { !$0.hasPrefix("import") }.joined(separator: "\n")
        }
        func entity(_ attribute: String, _ more: String = "") -> String {
            #"{"entities":[{"name":"A","attributes":[\#(attribute)]\#(more)},{"name":"B","attributes":[]}]}"#
        }
        let same = [
            entity(#"{"name":"a","type":"string"}"#),
            entity(#"{"name":"a","type":"binary"}"#),
            entity(#"{"name":"a","type":"transformable","customClassName":"[Int]"}"#),
            entity(
                #"{"name":"a","type":"transformable","isOptional":false,"customClassName":"[Int]"}"#
            ),
            entity(
                #"{"name":"a","type":"composite","isOptional":false,"elements":[{"name":"b","type":"double","defaultValue":{"double":1}}]}"#
            ),
            entity(
                #"{"name":"a","type":"string"}"#,
                #","relationships":[{"name":"b","destinationEntityName":"B","isToMany":false}]"#),
        ]
        for model in same {
            let head = try usage(model)
            #expect(head.contains("(at: \"shop.cairn\", for: A.self, B.self)"), "\(head)")
            #expect(!head.contains("model:"), "\(model)")
        }
        let different = [
            entity(#"{"name":"description","type":"string"}"#),
            entity(#"{"name":"a","type":"transformable"}"#),
            entity(#"{"name":"a","type":"binary","defaultValue":{"binary":"AQID"}}"#),
            entity(
                #"{"name":"a","type":"composite","isOptional":true,"elements":[{"name":"b","type":"double","defaultValue":{"double":1}}]}"#
            ),
            entity(
                #"{"name":"a","type":"composite","isOptional":false,"elements":[{"name":"hashValue","type":"double"}]}"#
            ),
            entity(
                #"{"name":"a","type":"transformable","isOptional":false,"customClassName":"[Int]","defaultValue":{"binary":"W10="}}"#
            ),
        ]
        for (number, model) in different.enumerated() {
            let head = try usage(model)
            #expect(head.contains("is stored: A."), "\(head)")
            #expect(head.contains("model: ManagedObjectModel(json: "), "\(head)")
            let isRenamed = number == 0 || number == 4
            #expect(head.contains("value(forKey:)") == isRenamed, "\(head)")
        }
    }

    // MARK: Files

    @Test("--output writes a file, and replaces one that was made so")
    func output() throws {
        let work = try Workplace()
        let file = work.folder.path("Library.swift")
        let path = GeneratedModel.path("Library.xcdatamodeld")
        for version in ["Library", "Library 2"] {
            let run = cairn("model", path, "--swift", "--version", version, "--output", file)
            #expect(run.code == 0, "\(run.errors)")
            #expect(
                run.output
                    == (version == "Library"
                        ? "\(file): 1 class\n" : "\(file): 6 classes, 2 structs\n"))
            #expect(
                try String(contentsOfFile: file, encoding: .utf8)
                    == cairn("model", path, "--swift", "--version", version).output)
        }
    }

    @Test("--output replaces its own file also if an editor has made other line ends")
    func lineEnds() throws {
        let work = try Workplace()
        let path = GeneratedModel.path("Library.xcdatamodeld")
        let text = cairn("model", path, "--swift").output
        let file = try work.list(
            "Library.swift",
            text.split(separator: "\n", omittingEmptySubsequences: false)
                .joined(separator: "\r\n"))
        let run = cairn("model", path, "--swift", "-o", file)
        #expect(run.code == 0, "\(run.errors)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        #expect(cairn("help", "model").output.contains("is lost"))
    }

    @Test("--output keeps a file that somebody else wrote, and says what cannot be written")
    func kept() throws {
        let work = try Workplace()
        let path = GeneratedModel.path("Library.xcdatamodeld")
        for text in ["", "// Mine.\n// All mine.\n", "import Cairn\n"] {
            let file = try work.list("Mine.swift", text)
            let run = cairn("model", path, "--swift", "-o", file)
            #expect(run.code == 1 && run.output.isEmpty)
            #expect(run.errors.contains("was not generated by cairn model"))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        }
        let nowhere = cairn("model", path, "--swift", "-o", work.folder.path("no/where.swift"))
        #expect(nowhere.code == 1 && nowhere.errors.contains("cannot be written"))
    }

    // MARK: Mistakes

    @Test(
        "options that do not go together end with 2",
        arguments: [["--swift", "--json"], ["--public"], ["--output", "x.swift"]])
    func usage(_ options: [String]) {
        let result = run(["model", GeneratedModel.path("Library.xcdatamodeld")] + options)
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(result.errors.contains("--swift"))
    }

    @Test("a model that cannot be read ends with 1 and says where")
    func broken() throws {
        let work = try Workplace()
        let nothing = cairn("model", work.folder.path("none.xcdatamodeld"), "--swift")
        #expect(nothing.code == 1 && nothing.errors.contains("none.xcdatamodeld"))
        let wrong = try work.list(
            "m.xml",
            "<model><entity name=\"A\"><relationship name=\"b\" destinationEntity=\"B\"/></entity></model>"
        )
        let unknown = cairn("model", wrong, "--swift")
        #expect(unknown.code == 1 && unknown.output.isEmpty)
        #expect(unknown.errors.contains("m.xml:1") && unknown.errors.contains("entity B"))
    }

    @Test(
        "JSON that is no model ends with 1 and says where",
        arguments: [
            ("{", "this is not a model in JSON"),
            (#"{"entities":[{"attributes":[]}]}"#, "entities.0: the key name is missing"),
            (#"{"entities":[{"name":"A","isAbstract":1}]}"#, "entities.0.isAbstract"),
            (#"{"entities":[{"name":"A","superentityName":"B"}]}"#, "the parent entity B"),
        ])
    func brokenJSON(_ text: String, _ message: String) throws {
        let work = try Workplace()
        let file = try work.list("m.json", text)
        let run = cairn("model", file, "--swift")
        #expect(run.code == 1 && run.output.isEmpty)
        #expect(run.errors.contains("m.json") && run.errors.contains(message), "\(run.errors)")
    }

    @Test("a model's JSON can be printed like any model")
    func json() throws {
        let path = GeneratedModel.path("Inventory.json")
        #expect(cairn("model", path).lines.first == "2 entities, 16 attributes, 2 relationships")
        #expect(try cairn("model", path, "--json").json.count == 1)
        #expect(cairn("model", path, "--version", "1").code == 2)
    }
}
