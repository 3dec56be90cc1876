// cairn duplicates: looked at first, then made one.

import Foundation
import Testing

@testable import CairnTool

@Suite("cairn duplicates")
struct DuplicatesCommandTests {
    private func filled() throws -> Workplace {
        let work = try Workplace()
        try work.importing(
            "1.json",
            """
            [{"code":"a","name":"Anna","visits":1,"rank":3},{"code":"b","name":"Anna","visits":2,"rank":1},
             {"code":"c","name":"Bert","visits":4,"rank":2},{"code":"d","name":"Anna","visits":8},
             {"code":"e","visits":16},{"code":"f","visits":32}]
            """)
        return work
    }

    @Test("without --delete it says what would stay, and changes nothing")
    func looking() throws {
        let work = try filled()
        let before = cairn("hash", work.store).output
        #expect(
            cairn("duplicates", work.store, "Thing", "--by", "name", "--keep", "smallest:rank")
                .output == """
                    name  objects  stays  others
                    ────  ───────  ─────  ──────
                    Anna  3        p2     p1 p4
                    Thing: 1 key of 3 objects by name, 2 would be deleted, 0 updated

                    """)
        #expect(
            cairn(
                "duplicates", work.store, "Thing", "--by", "name", "--keep", "first", "--json"
            ).lines == [
                #"{"key":{"name":"Anna"},"stays":"p1","others":["p2","p4"]}"#,
                #"{"entity":"Thing","dryRun":true,"keys":1,"objects":3,"deleted":2,"cascaded":0,"updated":0,"entangled":0}"#,
            ])
        // Without a rule nothing is said of what would become of them, in neither form.
        #expect(
            cairn("duplicates", work.store, "Thing", "--by", "name", "--json").lines == [
                #"{"key":{"name":"Anna"},"stays":"p1","others":["p2","p4"]}"#,
                #"{"entity":"Thing","dryRun":true,"keys":1,"objects":3,"deleted":null,"cascaded":null,"updated":null,"entangled":null}"#,
            ])
        #expect(
            cairn("duplicates", work.store, "Thing", "--by", "name").lines.last
                == "Thing: 1 key of 3 objects by name")
        #expect(
            cairn(
                "duplicates", work.store, "Thing", "--by", "name", "--where", "visits > 2",
                "--limit", "0"
            ).output == "Thing: 0 keys of 0 objects by name\n")
        #expect(cairn("hash", work.store).output == before)
    }

    @Test("--incoming looks at the groups of some objects alone")
    func incoming() throws {
        let work = try filled()
        try work.importing("2.json", #"[{"code":"g","name":"Bert"}]"#)
        func groups(_ ids: String...) throws -> [String] {
            let arguments = ["duplicates", work.store, "Thing", "--by", "name", "--json"]
            return try run(arguments + ["--incoming"] + ids).json.compactMap {
                ($0["key"] as? [String: Any])?["name"] as? String
            }
        }
        let id = try #require(try cairn("info", work.store, "--json").json[0]["id"] as? String)
        #expect(try groups("p7") == ["Bert"])
        #expect(try groups("p5", "x-cairn://\(id)/h1/p2") == ["Anna"])
        #expect(try groups("p1", "p3").count == 2)
        #expect(try groups("p5", "p99").isEmpty)
        for (text, code, words) in [
            ("seven", 2, "--incoming takes an id"),
            ("x-cairn://\(UUID().uuidString)/h1/p7", 1, "another store"),
        ] as [(String, Int32, String)] {
            let refused = cairn(
                "duplicates", work.store, "Thing", "--by", "name", "--incoming", text)
            #expect(refused.code == code && refused.errors.contains(words), "\(refused.errors)")
        }
    }

    @Test("with --delete one of each group stays, and takes what was said")
    func deleting() throws {
        let work = try filled()
        let run = cairn(
            "duplicates", work.store, "Thing", "--by", "name", "--keep", "last", "--fold",
            "visits=sum,code=keep", "--delete", "--limit", "0")
        #expect(run.output == "Thing: 1 key of 3 objects by name, 2 deleted, 1 updated\n")
        let left = cairn("query", work.store, "Thing", "--where", "name == 'Anna'", "--json")
        #expect(left.lines.count == 1 && left.output.contains(#""code":"d""#))
        #expect(left.output.contains(#""visits":11"#))
        #expect(left.output.contains(#""rank":"#) && !left.output.contains(#""rank":null"#))
        #expect(cairn("check", work.store).code == 0)
    }

    @Test(
        "what is wrong is named",
        arguments: [
            (["--by", "name", "--delete"], 2, "--keep"),
            (["--by", "name", "--keep", "newest"], 2, "newest"),
            (["--by", "name", "--keep", "newest:age"], 1, "Thing.age"),
            (["--by", "nickname"], 1, "Thing.nickname"),
            (["--by", "name", "--merge"], 2, "--keep"),
            (["--by", "name", "--fold", "visits=sum"], 2, "--keep"),
            (["--by", "name", "--keep", "last", "--fold", "visits"], 2, "visits"),
            (
                ["--by", "name", "--keep", "last", "--fold", "visits=sum,visits=keep"], 2,
                "visits"
            ),
            (["--by", "name", "--keep", "last", "--fold", "name=sum"], 1, "Thing.name"),
            (["--by", "name", "--limit", "-1"], 2, "--limit"),
            (["--by", "name", "--where", "name =="], 2, "name =="),
        ] as [([String], Int32, String)])
    func wrong(_ arguments: [String], _ code: Int32, _ word: String) throws {
        let work = try filled()
        let result = run(["duplicates", work.store, "Thing"] + arguments)
        #expect(result.code == code && result.errors.contains(word), "\(result.errors)")
    }
}
