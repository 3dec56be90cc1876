// The commands that read a store: query, count, get, info, frames, check, export, model; and delete.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Commands on a store")
struct ReadingCommandsTests {
    private func filled() throws -> Workplace {
        let work = try Workplace()
        try work.importing(
            "1.json",
            """
            [{"code":"a","name":"Anna","size":1,"price":1.5},\
            {"code":"b","name":"日本\\nx","size":20,"price":-0.25},\
            {"code":"c","name":null,"size":3,"price":1e21}]
            """)
        return work
    }

    @Test("query prints an aligned table")
    func table() throws {
        let work = try filled()
        #expect(
            cairn("query", work.store, "Thing").output == """
                objectID  code  name     size  price
                ────────  ────  ───────  ────  ─────
                p1        a     Anna        1    1.5
                p2        b     日本\\nx    20  -0.25
                p3        c                 3  1e+21

                """)
    }

    @Test("query prints JSON lines whose values are those of the canonical export")
    func json() throws {
        let work = try filled()
        #expect(
            cairn("query", work.store, "Thing", "--json", "--limit", "2").output == """
                {"objectID":"p1","code":"a","name":"Anna","size":1,"price":1.5}
                {"objectID":"p2","code":"b","name":"日本\\nx","size":20,"price":-0.25}

                """)
    }

    @Test("query selects, sorts, limits and chooses columns")
    func query() throws {
        let work = try filled()
        let run = cairn(
            "query", work.store, "Thing", "--where", "size > 1 OR name == 'Anna'", "--sort",
            "-size,code", "--columns", "code,size", "--json")
        #expect(
            run.lines == [
                #"{"code":"b","size":20}"#, #"{"code":"c","size":3}"#, #"{"code":"a","size":1}"#,
            ])
        let none = cairn(
            "query", work.store, "Thing", "--where", "name == NULL", "--columns", "code", "--json")
        #expect(none.lines == [#"{"code":"c"}"#])
        #expect(
            cairn("query", work.store, "Thing", "--sort", "-price", "--limit", "1", "--json").output
                .contains(#""c""#))
        #expect(cairn("query", work.store, "Thing", "--limit", "0", "--json").output.isEmpty)
        #expect(
            cairn("query", work.store, "Thing", "--where", "code == 'a'", "--explain").output
                .contains("unique index"))
    }

    @Test("A key may say where objects without a value come")
    func nullsPosition() throws {
        let work = try filled()
        func codes(_ sort: String) -> [String] {
            cairn("query", work.store, "Thing", "--sort", sort, "--columns", "code", "--json").lines
                .compactMap { $0.dropFirst(9).first.map(String.init) }
        }
        #expect(codes("name") == ["c", "a", "b"])
        #expect(codes("name nulls last") == ["a", "b", "c"])
        #expect(codes("-name NULLS FIRST,code") == ["c", "b", "a"])
    }

    @Test("An object is named in a condition as it is everywhere: by its number or a URI")
    func objectsInConditions() throws {
        let work = try filled()
        func codes(_ condition: String) -> [String] {
            let run = cairn(
                "query", work.store, "Thing", "--where", condition, "--columns", "code", "--json")
            return run.lines.compactMap { $0.dropFirst(9).first.map(String.init) }
        }
        #expect(codes("SELF == 'p2'") == ["b"])
        #expect(codes("SELF != 'p2'") == ["a", "c"])
        #expect(codes("SELF IN {'p1', 'p3'}") == ["a", "c"])
        #expect(codes("objectID == \"p3\" OR code == 'p1'") == ["c"])
        let identifier = try #require(
            try cairn("info", work.store, "--json").json.first?["id"] as? String)
        #expect(codes("SELF == 'x-coredata://\(identifier)/Thing/p2'") == ["b"])
        #expect(
            cairn("count", work.store, "Thing", "--where", "NOT SELF IN {'p1'}").output == "2\n")
        let table = cairn(
            "query", work.store, "Thing", "--columns",
            "code,is=TERNARY(SELF == 'p2', 'yes', 'no')", "--json")
        #expect(table.lines[1] == #"{"code":"b","is":"yes"}"#)
        let other = "x-coredata://\(UUID().uuidString)/Thing/p2"
        let refused = cairn("query", work.store, "Thing", "--where", "SELF == '\(other)'")
        #expect(
            refused.code == 1
                && refused.errors
                    == "cairn: the condition: \(other) is an object of another store\n"
        )
        #expect(
            cairn("query", work.store, "Thing", "--where", "SELF == 'x'").errors
                .contains("\"x\" is not an object id for SELF"))
    }

    @Test("count prints the number alone")
    func count() throws {
        let work = try filled()
        #expect(cairn("count", work.store, "Thing").output == "3\n")
        #expect(cairn("count", work.store, "Thing", "--where", "size < 10").output == "2\n")
        #expect(
            cairn("count", work.store, "Thing", "--json").output
                == "{\"entity\":\"Thing\",\"count\":3}\n")
    }

    @Test("get finds an object by key, by number and by URI")
    func get() throws {
        let work = try filled()
        let byKey = cairn("get", work.store, "Thing", "b", "--json")
        #expect(
            byKey.output
                == "{\"objectID\":\"p2\",\"code\":\"b\",\"name\":\"日本\\nx\",\"size\":20,\"price\":-0.25}\n"
        )
        #expect(cairn("get", work.store, "Thing", "p2", "--json").output == byKey.output)
        let id = try #require(try cairn("info", work.store, "--json").json[0]["id"] as? String)
        #expect(
            cairn("get", work.store, "Thing", "x-cairn://\(id)/h1/p2", "--json").output
                == byKey.output)
        let other = cairn("get", work.store, "Thing", "x-cairn://\(UUID().uuidString)/h1/p2")
        #expect(other.code == 1 && other.errors.contains("is an object of another store"))
        let nothing = cairn("get", work.store, "Thing", "x-cairn://\(id)/p2")
        #expect(nothing.code == 1 && nothing.errors.contains("is not the URI of an object"))
        #expect(
            cairn("get", work.store, "Thing", "c").output == """
                Thing p3, version 1
                  code   c
                  name   nil
                  size   3
                  price  1e+21

                """)
        #expect(cairn("get", work.store, "Thing", "z").code == 1)
        #expect(cairn("get", work.store, "Thing", "p99").code == 1)
        let many = cairn("get", work.store, "Thing", "a", "b")
        #expect(many.code == 1)
        #expect(many.errors.contains("the key of Thing is code"))
    }

    @Test("delete takes the objects of a condition, or all")
    func delete() throws {
        let work = try filled()
        #expect(
            cairn("delete", work.store, "Thing", "--where", "size > 2").output
                == "Thing: 2 deleted\n")
        #expect(cairn("count", work.store, "Thing").output == "1\n")
        #expect(
            cairn("delete", work.store, "Thing", "--all", "--json").output.contains("\"deleted\":1")
        )
        #expect(cairn("count", work.store, "Thing").output == "0\n")
        #expect(
            cairn("delete", work.store, "Thing", "--all", "--json").output.contains(
                "\"commit\":null"))
    }

    @Test("columns come in the order that is asked for, the id and the entity among them")
    func columns() throws {
        let work = try filled()
        let run = cairn(
            "query", work.store, "Thing", "--columns", "size,entity,objectID,code", "--json",
            "--limit", "1")
        #expect(run.lines == [#"{"size":1,"entity":"Thing","objectID":"p1","code":"a"}"#])
    }

    @Test("info tells entities, counts, keys and the last commit")
    func info() throws {
        let work = try filled()
        let info = try #require(try cairn("info", work.store, "--json").json.first)
        #expect(Int(info, "commit") == 2)
        #expect(info["lastAuthor"] as? String == "cairn import")
        #expect(Int(info, "bytesLeftBehind") == 0)
        let entities = try #require(info["entities"] as? [[String: Any]])
        #expect(entities.map { $0["name"] as? String } == ["Thing"])
        #expect(Int(entities[0], "objects") == 3)
        #expect(entities[0]["unique"] as? [[String]] == [["code"]])
        let text = cairn("info", work.store)
        #expect(text.output.contains("last commit  2 at 20"))
        #expect(text.output.contains("Thing         3"))
    }

    @Test("info and model tell the fetch indexes")
    func indexes() throws {
        let work = try Workplace()
        let model = try work.list(
            "m.xml",
            """
            <model><entity name="Thing"><attribute name="code" attributeType="String"/>\
            <attribute name="size" attributeType="Integer 64"/>\
            <fetchIndex name="bySize"><fetchIndexElement property="size" type="Binary" order="descending"/>\
            <fetchIndexElement property="code" type="Binary" order="ascending"/></fetchIndex>\
            <uniquenessConstraints><uniquenessConstraint><constraint value="code"/>\
            </uniquenessConstraint></uniquenessConstraints></entity></model>
            """)
        let imported = try work.importing(
            "1.json", #"[{"code":"a","size":1},{"code":"b","size":20}]"#, "--model", model)
        #expect(imported.code == 0, "\(imported.errors)")
        let info = try #require(try cairn("info", work.store, "--json").json.first)
        let indexes = try #require(info["fetchIndexes"] as? [[String: Any]])
        #expect(indexes.map { $0["name"] as? String } == ["bySize"])
        #expect(indexes.map { $0["entity"] as? String } == ["Thing"])
        #expect(indexes[0]["properties"] as? [String] == ["size", "code"])
        #expect(Int(indexes[0], "entries") == 2)
        // A leaf, and a hash table of one page with its header.
        #expect(Int(indexes[0], "bytes") == 1024 + 512 + 128)
        #expect(
            cairn("info", work.store).output.hasSuffix(
                """

                index   entity  entries      size  properties
                ──────  ──────  ───────  ────────  ──────────
                bySize  Thing         2  1.63 KiB  size,code

                """))
        #expect(cairn("model", work.store).output.contains("index      bySize  size ↓, code"))
        // A store without any says nothing of them.
        #expect(!cairn("info", try filled().store).output.contains("index"))
    }

    @Test("frames lists each frame with its place")
    func frames() throws {
        let work = try filled()
        let frames = try cairn("frames", work.store, "--json").json
        #expect(
            frames.map { $0["kind"] as? String }.prefix(5) == [
                "start", "schema", "commit", "block", "commit",
            ])
        #expect(Int(frames[0], "offset") == 4096)
        #expect(frames.allSatisfy { $0["problem"] is NSNull })
        #expect(cairn("frames", work.store).lines.count == frames.count + 1)
    }

    @Test("check says that a sound store is sound")
    func check() throws {
        let work = try filled()
        #expect(cairn("check", work.store).output.contains("sound"))
        let report = try #require(try cairn("check", work.store, "--json").json.first)
        #expect(Int(report, "rows") == 3)
        #expect(Int(report, "indexEntries") == 3)
    }

    @Test("export prints the canonical lines, the same for two stores of the same content")
    func export() throws {
        let work = try filled()
        let other = try filled()
        let text = cairn("export", work.store).output
        #expect(text == cairn("export", other.store).output)
        #expect(
            text == """
                {"cairn":"export","format":1,"schema":1}
                {"entity":"Thing","id":1,"version":1,"values":{"code":"a","name":"Anna","size":1,"price":1.5}}
                {"entity":"Thing","id":2,"version":1,"values":{"code":"b","name":"日本\\nx","size":20,"price":-0.25}}
                {"entity":"Thing","id":3,"version":1,"values":{"code":"c","name":null,"size":3,"price":1e+21}}

                """)
    }

    @Test("model prints a store's model, and one of a file")
    func model() throws {
        let work = try filled()
        let text = cairn("model", work.store)
        #expect(text.output.contains("entity Thing"))
        #expect(text.output.contains("unique"))
        #expect(cairn("model", work.store, "--json").output.contains("\"entities\""))
        let file = try work.list(
            "m.xml",
            "<model><entity name=\"A\"><attribute name=\"x\" attributeType=\"Nonsense\"/></entity></model>"
        )
        let broken = cairn("model", file)
        #expect(broken.code == 1)
        #expect(broken.errors.contains("m.xml:1"))
    }

    @Test("a changed byte in the middle is named with its place and ends with 3, in every command")
    func damaged() throws {
        let work = try filled()
        let segment = work.store + "/0000000001.segment"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
        let block = try #require(
            try cairn("frames", work.store, "--json").json.first {
                $0["kind"] as? String == "block"
            })
        let offset = try #require(Int(block, "offset"))
        bytes[offset + 80] ^= 1
        try bytes.write(to: URL(fileURLWithPath: segment))
        for arguments in [
            ["check", work.store], ["query", work.store, "Thing"], ["export", work.store],
            ["info", work.store],
        ] {
            let failed = run(arguments + ["--json"])
            #expect(failed.code == 3)
            #expect(Int(try failed.error, "segment") == 1)
            #expect(Int(try failed.error, "offset") == offset)
            // What the files say without being opened is told all the same.
            #expect(failed.output.isEmpty == (arguments[0] != "info"))
        }
        let text = cairn("check", work.store)
        #expect(text.errors.contains(work.store))
        #expect(text.errors.contains("offset \(offset)"))
        let frames = cairn("frames", work.store)
        #expect(frames.code == 0)
        #expect(frames.output.contains("!! "))
    }

    @Test("quickstart runs through in a folder of its own, and never over something that is there")
    func quickstart() throws {
        let work = try Workplace()
        let folder = work.folder.path("tour")
        let tour = cairn("quickstart", folder)
        #expect(tour.code == 0, "\(tour.errors)")
        #expect(tour.output.contains("Airport: 57 inserted, 0 updated, 0 unchanged"))
        #expect(tour.output.contains("Airport: 5 inserted, 17 updated, 37 unchanged"))
        #expect(tour.output.contains("Airport: 0 inserted, 0 updated, 59 unchanged"))
        #expect(tour.output.contains("sound"))
        let again = cairn("quickstart", folder)
        #expect(again.code == 1)
        #expect(again.errors.contains("already contains a tour"))
        let store = folder + "/quickstart.cairn"
        #expect(cairn("count", store, "Airport").output == "62\n")
        #expect(
            cairn("get", store, "Airport", "LTFM", "--json").output.contains("\"iata\":\"IST\""))
        let pruned = cairn(
            "import", store, "--entity", "Airport", "--prune", folder + "/airports-2024.csv",
            "--json")
        #expect(Int(try pruned.json[0], "deleted") == 3)
    }

    @Test("quickstart prints JSON alone if it is asked to")
    func quickstartAsJSON() throws {
        let work = try Workplace()
        let lines = try cairn("quickstart", work.folder.path("tour"), "--json").json
        #expect(lines.prefix(3).map { Int($0, "inserted") } == [57, 5, 0])
    }

    @Test("what quickstart proposes next works as it is printed")
    func proposals() throws {
        let work = try Workplace()
        let tour = cairn("quickstart", work.folder.path("tour"))
        let next = try #require(tour.output.range(of: "What to try next:"))
        var count = 0
        for line in tour.output[next.upperBound...].split(separator: "\n")
        where line.contains("  # ") {
            let words = try shellWords(String(line))
            #expect(run(Array(words.dropFirst())).code == 0, "\(line)")
            count += 1
        }
        #expect(count == 7)
    }

    /// The words of a line as a shell reads it, up to the comment.
    private func shellWords(_ line: String) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "printf '%s\\n' \(line)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = inTime(for: "the shell to end") {
            defer { process.waitUntilExit() }
            return pipe.fileHandleForReading.readDataToEndOfFile()
        }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
