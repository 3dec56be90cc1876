// Nonsense in every parameter: an error object, and the server goes on.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Bad input to the studio", .ahead)
struct StudioBadInputTests {
    private static let texts = [
        "", " ", "p", "p0", "p99999999999999999999", "-1", "99999999999999999999", "1.5", "NaN",
        "--help",
        "--version", "-h", "'", "\"", "\\", "((((", "name ==", "ä🧭", "a,,b", ",", "%@", "$x", "{",
        "\u{0}",
        "../..", "x-cairn://", "postgresql://anna:secret@127.0.0.1:1/x", "SELF", "@count",
        "2024-13-01",
    ]

    /// Expressions that are deeper than anybody writes them.
    private static let deep = [
        String(repeating: "(", count: 1000), String(repeating: "NOT ", count: 500) + "a == 1",
    ]

    private static let known: [(String, [String])] = [
        ("store", []), ("info", []), ("schema", ["entity"]), ("space", []), ("past", []),
        ("history", ["after", "author", "entity", "object", "type", "limit", "values"]),
        (
            "query",
            [
                "where", "sort", "limit", "offset", "columns", "group-by", "having", "at",
                "sql-nulls",
                "distinct", "explain", "entity",
            ]
        ),
        ("count", ["where", "at", "sql-nulls", "entity"]), ("get", ["key", "at", "entity"]),
        ("find", ["text", "entity", "limit", "at"]),
        (
            "duplicates",
            ["by", "where", "keep", "fold", "limit", "merge", "including-nil", "entity"]
        ),
        ("predicate", ["format", "argument"]),
        ("rows", ["where", "sort", "at", "from", "count", "columns", "sql-nulls", "entity"]),
        ("object", ["id", "at", "entity"]), ("value", ["id", "property", "at", "entity"]),
        ("object/history", ["id", "limit", "entity"]), ("news", ["after"]), ("check", []),
        ("pictures/space.svg", ["width"]), ("pictures/model.svg", ["against"]),
    ]

    /// What a request needs to make sense.
    private static let usual = [
        "entity": "Book", "by": "code", "key": "x", "text": "Ann", "format": "a == 1", "id": "p1",
        "property": "code",
    ]

    @Test("Every parameter takes nonsense", arguments: known.map(\.0))
    func parameters(path: String) async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        let names = try #require(Self.known.first { $0.0 == path }).1
        try await place.studio { client in
            let usual = names.compactMap { name in Self.usual[name].map { (name, $0) } }
            for name in names + ["nothing"] {
                let isExpression = ["where", "having", "columns", "format"].contains(name)
                for text in Self.texts + (isExpression ? Self.deep : []) {
                    // News of commits to come are waited for.
                    if path == "news", (Int(text) ?? 0) > 3 { continue }
                    let parameters = usual.filter { $0.0 != name } + [(name, text)]
                    let response = try await client.send(
                        "GET", StudioClient.target(path, parameters))
                    #expect(
                        [200, 400, 404].contains(response.status),
                        "\(path) \(name)=\(text.prefix(40)): \(response.status) \(response.text)")
                    if response.status != 200 {
                        let message = try response.error["message"] as? String
                        #expect(message?.isEmpty == false, "\(path) \(name)=\(text.prefix(40))")
                        #expect(try response.error["exit"] is Int)
                    }
                }
                // Twice, and not at all.
                for parameters in [
                    usual + [(name, "1"), (name, "1")], usual.filter { $0.0 != name },
                ] where path != "news" {
                    let response = try await client.send(
                        "GET", StudioClient.target(path, parameters))
                    #expect([200, 400, 404].contains(response.status), "\(path) \(name)")
                }
            }
            #expect(try await client.get("count", ["entity": "Book"]).status == 200)
        }
    }

    @Test("A condition that cannot be read says where it is wrong")
    func position() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio { client in
            for path in ["rows", "query", "count"] {
                let response = try await client.get(
                    path, ["entity": "Book", "where": "code === 'ä'"])
                #expect(response.status == 400)
                #expect(try response.error["position"] as? Int == 7)
                #expect(try response.error["exit"] as? Int == 2)
            }
            let unknown = try await client.get("rows", ["entity": "Books"])
            #expect(unknown.status == 404)
            #expect(try await client.get("nothing").status == 404)
            #expect(try await client.post("nothing").status == 404)
            #expect(try await client.get("save").status == 404)
        }
    }

    @Test("Bodies take nonsense")
    func bodies() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        try await place.studio(write: true) { client in
            let deep = String(repeating: "[", count: 100_000)
            let bodies = [
                "", " ", "null", "[]", "{}", "{", "\u{0}", "{\"changes\":[]}", "{\"changes\":{}}",
                "{\"changes\":[1]}", "{\"changes\":[{}]}", "{\"changes\":[{\"change\":\"x\"}]}",
                "{\"changes\":[{\"change\":\"insert\"}]}",
                "{\"changes\":[{\"change\":\"insert\",\"entity\":\"Nope\"}]}",
                "{\"changes\":[{\"change\":\"insert\",\"entity\":\"Thing\"}]}",
                "{\"changes\":[{\"change\":\"insert\",\"entity\":\"Book\",\"id\":\"p1\"}]}",
                "{\"changes\":[{\"change\":\"update\",\"entity\":\"Book\",\"id\":\"p1\"}]}",
                "{\"changes\":[{\"change\":\"update\",\"entity\":\"Book\",\"id\":\"p1\",\"version\":-1}]}",
                "{\"changes\":[{\"change\":\"update\",\"entity\":\"Book\",\"id\":\"x\",\"version\":1}]}",
                "{\"changes\":[{\"change\":\"update\",\"entity\":\"Book\",\"id\":\"p1\",\"version\":1,\"values\":[]}]}",
                "{\"changes\":[{\"change\":\"delete\",\"entity\":\"Book\",\"id\":\"p1\",\"version\":1,\"more\":1}]}",
                "{\"changes\":[],\"more\":1}", deep, "{\"changes\":\(deep)", "\u{FEFF}{}", "{} {}",
                "{\"changes\":[{\"change\":\"insert\",\"change\":\"insert\",\"entity\":\"Book\"}]}",
            ]
            for body in bodies {
                let response = try await client.post("save", body)
                #expect(
                    [400, 404].contains(response.status), "\(body.prefix(90)) \(response.text)")
                #expect(try response.error["message"] is String)
            }
            let latin = try await client.send(
                "POST", "/api/save", body: Data([0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x7D]))
            #expect(latin.status == 400)
            var random = RandomSource()
            for _ in 0..<50 {
                let bytes = Data(random.bytes(Int.random(in: 0..<300, using: &random)))
                #expect(try await client.send("POST", "/api/save", body: bytes).status == 400)
                let list = try await client.send(
                    "POST", "/api/import?entity=Book",
                    ["Content-Type": "application/octet-stream"], body: bytes)
                #expect([200, 400, 409].contains(list.status), "\(list.text)")
            }
            for (name, texts) in [
                ("entity", Self.texts), ("policy", Self.texts), ("map", Self.texts),
                ("encoding", Self.texts), ("delimiter", Self.texts), ("missing-key", Self.texts),
                ("scope", Self.texts), ("mark", Self.texts), ("preview", Self.texts),
                ("name", Self.texts), ("separator", Self.texts), ("widen", ["1"]), ("model", ["x"]),
            ] {
                for text in texts {
                    let parameters =
                        (name == "entity" ? [] : [("entity", "Book")])
                        + (name == "preview" ? [] : [("preview", "1")]) + [(name, text)]
                    let response = try await client.send(
                        "POST", StudioClient.target("import", parameters),
                        ["Content-Type": "application/octet-stream"], body: Data("code\nx\n".utf8))
                    #expect(
                        [200, 400, 404, 409].contains(response.status),
                        "\(name)=\(text.prefix(40)) \(response.text)")
                }
            }
        }
        try place.cairn("check", "STORE")
    }
}
