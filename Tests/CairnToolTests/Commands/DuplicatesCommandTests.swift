// cairn duplicates: looked at first, then made one.

import CairnTestSupport
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

    @Test(
        "objects that cannot become one are listed, and what stands against it is said when they are to be made one"
    )
    func unlike() throws {
        let work = try Workplace()
        func model(unique: String) -> String {
            """
            {"entities":[
                {"name":"Animal","attributes":[{"name":"tag","type":"string"}]\(unique)},
                {"name":"Dog","superentityName":"Animal","attributes":[{"name":"trick","type":"string"}]},
                {"name":"Cat","superentityName":"Animal","attributes":[{"name":"lives","type":"integer16"}]}]}
            """
        }
        let plain = try work.list("plain.json", model(unique: ""))
        for (entity, list) in [
            ("Cat", #"[{"tag":"2","lives":9},{"tag":"3"},{"tag":"3"}]"#),
            ("Dog", #"[{"tag":"2","trick":"roll"}]"#),
        ] {
            let run = cairn(
                "import", work.store, "--entity", entity, "--model", plain,
                try work.list("\(entity).json", list))
            #expect(run.code == 0, "\(run.errors)")
        }
        let listed = cairn("duplicates", work.store, "Animal", "--by", "tag", "--json")
        #expect(
            listed.lines == [
                #"{"key":{"tag":"2"},"stays":"p1","others":["p4"]}"#,
                #"{"key":{"tag":"3"},"stays":"p2","others":["p3"]}"#,
                #"{"entity":"Animal","dryRun":true,"keys":2,"objects":4,"deleted":null,"cascaded":null,"updated":null,"entangled":null}"#,
            ], "\(listed.errors)")
        for deletes in [false, true] {
            let refused = run(
                ["duplicates", work.store, "Animal", "--by", "tag", "--keep", "first"]
                    + (deletes ? ["--delete"] : []))
            #expect(refused.code == 1)
            #expect(
                refused.errors.contains(
                    "the Dog p4@h1 and the Cat p1@h1 both have tag = \"2\", but cannot be merged, because Cat has no property trick: give one of them another key, or keep the other one"
                ), "\(refused.errors)")
        }
        let told = cairn("get", work.store, "Animal", "p4@h1", "--json")
        #expect(told.code == 0 && told.output.contains("roll"), "\(told.errors)")
        #expect(cairn("get", work.store, "Animal", "p4@h9").code == 1)
        // The same where a record is refused.
        let unique = try work.list(
            "unique.json", model(unique: #","uniquenessConstraints":[["tag"]]"#))
        let other = work.folder.path("other.cairn")
        cairn(
            "import", other, "--entity", "Cat", "--model", unique,
            try work.list("one.json", #"[{"tag":"2"}]"#))
        let refused = cairn(
            "import", other, "--entity", "Dog",
            try work.list("two.json", #"[{"tag":"2","trick":"roll"}]"#))
        #expect(refused.code == 1)
        #expect(
            refused.errors.contains(
                "record 1: Dog.trick: the new Dog and the Cat p1@h1 both have tag = \"2\", but cannot be merged, because Cat has no property trick: give the row another key, or delete the object"
            ), "\(refused.errors)")
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
