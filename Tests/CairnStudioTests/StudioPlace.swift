// A store with a studio over it.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnPostgresMain
@testable import CairnStudio
@testable import CairnTool

/// A folder with stores, filled by the tool.
struct StudioPlace {
    let folder: TemporaryDirectory
    /// Where the store is.
    let store: String

    init(_ store: String? = nil) throws {
        folder = try TemporaryDirectory()
        self.store = store ?? folder.path("shop.cairn")
    }

    /// What a command line prints; `STORE` is the place of the store.
    ///
    /// - Throws: if it fails.
    @discardableResult
    func cairn(_ arguments: String...) throws -> String { try run(arguments) }

    /// The same.
    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        var (output, errors) = ([UInt8](), [UInt8]())
        let console = Console(
            output: { output.append(contentsOf: $0) }, errors: { errors.append(contentsOf: $0) })
        let code = Tool.run(
            arguments.map { $0 == "STORE" ? store : $0 }, StoreKinds([PostgresKind()]),
            console: console)
        try #require(code == 0, "\(arguments): \(String(decoding: errors, as: UTF8.self))")
        return String(decoding: output, as: UTF8.self)
    }

    /// A copy of the store as it is now.
    func copy() throws -> String {
        let path = folder.path("copy-\(UUID().uuidString).cairn")
        if DatabaseURL.isOne(store) {
            try cairn("copy", "STORE", path)
        } else {
            try FileManager.default.copyItem(atPath: store, toPath: path)
        }
        return path
    }

    /// How the store differs from a copy, versions of objects apart; empty: not at all.
    func difference(from copy: String) throws -> String {
        var output: [UInt8] = []
        let console = Console(
            output: { output.append(contentsOf: $0) }, errors: { output.append(contentsOf: $0) })
        let code = Tool.run(
            ["diff", store, copy, "--json"], StoreKinds([PostgresKind()]), console: console)
        return code == 0 ? "" : String(decoding: output, as: UTF8.self)
    }

    /// Writes a file and gives its path.
    func file(_ name: String, _ text: String) throws -> String {
        let path = folder.path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Runs a body with a client of a studio over the store.
    func studio(
        write: Bool = false, _ body: @escaping (StudioClient) async throws -> Void
    ) async throws {
        var access = StoreAccess()
        access.isReadOnly = !write
        access.stays = true
        let answers = try StudioAnswers(
            store, access, StoreKinds([PostgresKind()]), version: "1",
            run: StudioCommand.runCommand)
        do {
            try await withServer(answers) { client, _, _ in try await body(client) }
        } catch {
            answers.end()
            answers.close()
            throw error
        }
        answers.end()
        answers.close()
    }

    // MARK: What is in it

    private static let model = """
        {"entities": [
          {"name": "Author", "uniquenessConstraints": [["name"]],
           "attributes": [{"name": "name", "type": "string", "isOptional": false}, {"name": "photo", "type": "binary"}],
           "relationships": [
             {"name": "books", "destinationEntityName": "Book", "isToMany": true, "isOrdered": true,
              "inverseName": "author"}]},
          {"name": "Tag", "uniquenessConstraints": [["number"]],
           "attributes": [{"name": "number", "type": "integer32"}],
           "relationships": [
             {"name": "books", "destinationEntityName": "Book", "isToMany": true, "inverseName": "tags"}]},
          {"name": "Book", "uniquenessConstraints": [["code"]],
           "attributes": [{"name": "code", "type": "string", "isOptional": false}, {"name": "weight", "type": "double"},
             {"name": "text", "type": "string"}, {"name": "day", "type": "date"},
             {"name": "number", "type": "integer16"}, {"name": "isNew", "type": "boolean"}],
           "relationships": [
             {"name": "author", "destinationEntityName": "Author", "isToMany": false, "inverseName": "books"},
             {"name": "tags", "destinationEntityName": "Tag", "isToMany": true, "inverseName": "books"}]},
          {"name": "Thing", "isAbstract": true, "attributes": [{"name": "note", "type": "string"}]}
        ]}
        """

    /// The first bytes of a picture.
    static let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])

    /// Three books, their authors and tags.
    func fillShelf() throws {
        let model = try file("model.json", Self.model)
        let page = Data("<script>alert(1)</script>".utf8).base64EncodedString()
        try cairn(
            "import", "STORE", "--entity", "Author", "--model", model,
            try file(
                "a.csv",
                "name,photo\nAnn,\(Self.picture.base64EncodedString())\nBob,\(page)\n\"Zoë \"\"Z\"\"\",\n"
            ))
        try cairn("import", "STORE", "--entity", "Tag", try file("t.csv", "number\n1\n2\n3\n"))
        try cairn(
            "import", "STORE", "--entity", "Book",
            try file(
                "b.csv",
                "code,weight,author,tags,text,day,number,isNew\nx,1.5,Ann,1;3,<b>bold</b>,2024-05-01,7,true\n"
                    + "y,2,Bob,2,\(String(repeating: "long ä ", count: 400)),,,\nz,,Ann,3;2;1,,,-1,false\n"
            ))
    }

    /// Some thousand things with equal names, and sizes in no order.
    func fillThings(_ count: Int = 6000) throws {
        let rows = (0..<count).map { "c\($0),name \($0 * 31 % 97),\($0 * 7919 % 10_007)\n" }
            .joined()
        try cairn(
            "import", "STORE", "--entity", "Thing", "--unique", "code",
            try file("things.csv", "code,name,size\n" + rows))
    }
}
