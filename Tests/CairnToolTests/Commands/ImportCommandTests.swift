// cairn import: what it stores, what it says, and what it refuses.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn import")
struct ImportCommandTests {
    private static let first = "code,name,size\na,Anna,1\nb,Berta,2\nc,,3\n"
    private static let second = "code,name,size\na,Anna,1\nb,Bertha,2\nd,Dora,4\n"

    /// inserted, updated, unchanged, skipped, deleted
    private func counts(_ run: ToolRun) throws -> [Int?] {
        let line = try #require(try run.json.first)
        return ["inserted", "updated", "unchanged", "skipped", "deleted"].map { Int(line, $0) }
    }

    @Test("a list twice doubles nothing, and says what was new, changed and as before")
    func twice() throws {
        let work = try Workplace()
        #expect(try counts(work.importing("1.csv", Self.first, "--json")) == [3, 0, 0, 0, 0])
        #expect(try counts(work.importing("2.csv", Self.second, "--json")) == [1, 1, 1, 0, 0])
        let third = try work.importing("2.csv", Self.second, "--json")
        #expect(try counts(third) == [0, 0, 3, 0, 0])
        #expect(try third.json[0]["commit"] is NSNull)
        #expect(cairn("count", work.store, "Thing").output == "4\n")
    }

    @Test("people read one line of counts and one about the list")
    func text() throws {
        let work = try Workplace()
        let run = try work.importing("1.csv", Self.first)
        #expect(run.code == 0)
        #expect(
            run.lines.first == "Thing: 3 inserted, 0 updated, 0 unchanged, 0 skipped, 0 deleted")
        #expect(run.lines.count == 3)
        #expect(run.lines[2].hasPrefix("\(work.store) is new"))
        #expect(try work.importing("1.csv", Self.first).lines.count == 2)
        #expect(run.lines[1].hasPrefix("3 records from \(work.folder.path("1.csv")) (CSV) in "))
        #expect(run.errors.isEmpty)
    }

    @Test("--prune deletes what the list no longer has, but not everything for an empty list")
    func prune() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        let pruned = try work.importing("2.csv", Self.second, "--prune", "--json")
        #expect(try counts(pruned) == [1, 1, 1, 0, 1])
        let empty = try work.importing("3.csv", "code,name,size\n", "--prune")
        #expect(empty.code == 1 && empty.errors.contains("--allow-empty"), "\(empty.errors)")
        let unnamed = try work.importing("4.csv", "code,name,size\n", "--mark", "size=9")
        #expect(unnamed.code == 1 && unnamed.errors.contains("--allow-empty"), "\(unnamed.errors)")
        #expect(cairn("count", work.store, "Thing").output == "3\n")
        let allowed = try work.importing(
            "3.csv", "code,name,size\n", "--prune", "--allow-empty", "--json")
        #expect(try counts(allowed) == [0, 0, 0, 0, 3])
    }

    @Test("--mark gives values to what the list no longer has, --scope says what can be missing")
    func mark() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        let marked = try work.importing(
            "2.csv", "code,name,size\na,Anna,1\n", "--mark", "size=9", "--mark", "name=", "--scope",
            "size > 1", "--json")
        #expect(try counts(marked) == [0, 0, 1, 0, 0])
        #expect(try Int(marked.json[0], "marked") == 2)
        #expect(
            cairn("get", work.store, "Thing", "b", "--json").output.contains(
                #""name":null,"size":9"#))
        let again = try work.importing("2.csv", "code,name,size\na,Anna,1\n", "--mark", "size=9")
        #expect(again.lines.first?.contains("marked") == false)
        for (value, complaint) in [
            ("size=many", "“many” does not fit Thing.size"), ("colour=red", "no attribute colour"),
            ("size", "write attribute=value"),
        ] {
            let run = try work.importing("1.csv", Self.first, "--mark", value)
            #expect(run.code != 0 && run.errors.contains(complaint))
        }
        #expect(try work.importing("1.csv", Self.first, "--scope", "size > 1").code != 0)
        #expect(try work.importing("1.csv", Self.first, "--prune", "--mark", "size=1").code != 0)
    }

    @Test(
        "each policy does with known records what it says",
        arguments: [
            ("error", [1, 0, 0, 2, 0]), ("mergeByPropertyStoreTrump", [1, 0, 0, 2, 0]),
            ("mergeByPropertyObjectTrump", [1, 1, 1, 0, 0]), ("overwrite", [1, 1, 1, 0, 0]),
            ("rollback", [1, 0, 0, 2, 0]),
        ])
    func policies(policy: String, expected: [Int]) throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        let run = try work.importing("2.csv", Self.second, "--policy", policy, "--json")
        #expect(try counts(run) == expected)
    }

    @Test("--policy declared merges a record as the model's merge rules say")
    func declared() throws {
        let work = try Workplace()
        let model = try work.list(
            "contents.xml",
            """
            <model>
                <entity name="Thing">
                    <attribute name="code" attributeType="String" optional="YES"/>
                    <attribute name="name" attributeType="String" optional="YES">
                        <userInfo><entry key="cairn.mergeRule" value="fillNil"/></userInfo>
                    </attribute>
                    <attribute name="visits" attributeType="Integer 64" optional="YES">
                        <userInfo><entry key="cairn.mergeRule" value="sum"/></userInfo>
                    </attribute>
                    <attribute name="size" attributeType="Integer 64" optional="YES"/>
                    <uniquenessConstraints>
                        <uniquenessConstraint><constraint value="code"/></uniquenessConstraint>
                    </uniquenessConstraints>
                </entity>
            </model>
            """)
        try work.importing(
            "1.json",
            #"[{"code":"a","name":"Anna","visits":2,"size":1},{"code":"b","visits":1,"size":4}]"#,
            "--model", model)
        let run = try work.importing(
            "2.json",
            #"[{"code":"a","name":"Ann","visits":3},{"code":"b","name":"Bert","size":5}]"#,
            "--policy", "declared", "--json")
        #expect(try counts(run) == [0, 2, 0, 0, 0])
        let left = cairn("query", work.store, "Thing", "--sort", "code", "--json")
        #expect(left.lines.count == 2)
        #expect(left.lines[0].contains(#""name":"Anna""#) && left.lines[0].contains(#""size":1"#))
        #expect(left.lines[0].contains(#""visits":5"#))
        #expect(left.lines[1].contains(#""name":"Bert""#) && left.lines[1].contains(#""size":5"#))
        #expect(left.lines[1].contains(#""visits":1"#))
        #expect(cairn("import", "--help").output.contains("declared"))
    }

    @Test("--policy fail refuses the whole list")
    func fail() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        let run = try work.importing("2.csv", Self.second, "--policy", "fail")
        #expect(run.code == 1)
        #expect(run.errors.contains("record 1"))
        #expect(cairn("count", work.store, "Thing").output == "3\n")
    }

    @Test("--policy fail says which key is stored already, and whose it is, though it is blank")
    func failWithBlankKey() throws {
        let work = try Workplace()
        try work.importing("1.json", #"[{"code":"","name":"Anna"},{"code":"b"}]"#)
        let run = try work.importing("2.json", #"[{"code":""},{"code":"b"}]"#, "--policy", "fail")
        #expect(run.code == 1)
        for words in [#"code = "" belongs to p1"#, #"code = "b" belongs to p2"#] {
            #expect(run.errors.contains(words), "\(run.errors)")
        }
    }

    @Test("--set-only leaves what a record does not name as it is stored")
    func setOnly() throws {
        let work = try Workplace()
        try work.importing("1.json", #"[{"code":"a","name":"Anna","size":1}]"#)
        try work.importing("2.json", #"[{"code":"a","size":2}]"#, "--set-only")
        #expect(
            cairn("get", work.store, "Thing", "a", "--json").output.contains(
                #""name":"Anna","size":2"#))
        try work.importing("2.json", #"[{"code":"a","size":3}]"#)
        #expect(
            cairn("get", work.store, "Thing", "a", "--json").output.contains(
                #""name":null,"size":3"#))
    }

    @Test("the model of the first list rules over the second")
    func storedModel() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        let unknown = try work.importing("2.csv", "code,colour,weight\nx,red,5\n")
        #expect(unknown.code == 1)
        #expect(
            unknown.errors.contains("colour: Thing has no attribute or relationship of this name"))
        #expect(unknown.errors.contains("--map 'colour=,weight='"))
        let misfit = try work.importing("3.csv", "code,size\nx,2.5\ny,2.0\n", "--json")
        #expect(misfit.code == 1)
        let misfits = try #require(try misfit.error["misfits"] as? [[String: Any]])
        #expect(misfits.count == 1)
        #expect(misfits[0]["field"] as? String == "size")
        #expect(Int(misfits[0], "line") == 2)
        #expect(cairn("count", work.store, "Thing").output == "3\n")
        let mapped = try work.importing(
            "4.csv", "id,colour,size\nx,red,2.0\n", "--map", "id=code,colour=", "--json")
        #expect(try counts(mapped) == [1, 0, 0, 0, 0])
    }

    @Test("a mapping of a field that the list lacks is told, and does no harm")
    func unusedMapping() throws {
        let work = try Workplace()
        let run = try work.importing("1.csv", Self.first, "--map", "extra=")
        #expect(run.code == 0)
        #expect(run.errors.isEmpty || run.errors.contains("extra"))
        let again = try work.importing("1.csv", Self.first, "--map", "extra=")
        #expect(again.errors == "cairn: note: --map mentions extra, which is not in the list\n")
    }

    @Test("a new store needs a model or a key, and an import that fails leaves none behind")
    func newStore() throws {
        let work = try Workplace()
        let path = try work.list("1.csv", Self.first)
        let bare = cairn("import", work.store, path, "--entity", "Thing")
        #expect(bare.code == 2)
        #expect(bare.errors.contains("--unique"))
        let broken = try work.importing("2.json", #"[{"code":"a"},{"code":"b"}"#)
        #expect(broken.code == 1)
        let doubled = try work.importing(
            "3.csv", "code,x\n,1\n", "--policy", "fail", "--missing-key", "insert")
        #expect(doubled.code == 0)
        try FileManager.default.removeItem(atPath: work.store)
        let model = try work.list(
            "model.xml",
            """
            <model><entity name="Thing"><attribute name="code" attributeType="String"/>\
            </entity></model>
            """)
        let unknown = try work.importing("4.csv", "code,x\na,1\n", "--model", model)
        #expect(unknown.code == 1)
        #expect(unknown.errors.contains("x: Thing has no attribute or relationship of this name"))
        #expect(!FileManager.default.fileExists(atPath: work.store))
        let made = try work.importing("5.csv", "code\na\n", "--model", model)
        #expect(made.code == 0)
        #expect(cairn("count", work.store, "Thing").output == "1\n")
    }

    @Test("what is given for a model by mistake is called by its name")
    func noModel() throws {
        let work = try Workplace()
        for (name, bytes, words) in [
            ("m.zip", [0x50, 0x4B, 3, 4, 20, 0], "this is a zip archive, not a model: unpack it"),
            ("m.json", [0x1F, 0x8B, 8, 0], "this is compressed"),
            ("m.sqlite", Array("SQLite format 3\0".utf8), "database, not a model: a model is"),
        ] as [(String, [UInt8], String)] {
            let path = work.folder.path(name)
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let run = try work.importing("1.csv", Self.first, "--model", path)
            #expect(run.code == 1 && run.errors.contains("\(name): "), "\(run.errors)")
            #expect(run.errors.contains(words), "\(run.errors)")
            #expect(cairn("model", path).errors == run.errors)
        }
    }

    @Test("a store whose creation was interrupted is made anew by the same command")
    func unfinished() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(
            atPath: work.store, withIntermediateDirectories: false)
        _ = try work.list("things.cairn/lock", "")
        let list = try work.list("1.csv", Self.first)
        let command = ["import", work.store, list, "--entity", "Thing", "--json"]
        #expect(run(command).code == 1)
        #expect(try counts(run(command + ["--unique", "code"])) == [3, 0, 0, 0, 0])
    }

    @Test("an empty folder can become a store, and stays when the import fails")
    func emptyFolder() throws {
        let work = try Workplace()
        try FileManager.default.createDirectory(
            atPath: work.store, withIntermediateDirectories: false)
        let list = try work.list("1.json", #"[{"code":"a"},{"code":"b"},{"code":null}]"#)
        let command = [
            "import", work.store, list, "--entity", "Thing", "--unique", "code", "--missing-key",
            "insert",
        ]
        let model = try work.list(
            "m.xml",
            "<model><entity name=\"Thing\"><attribute name=\"x\" attributeType=\"String\"/></entity></model>"
        )
        #expect(run(["import", work.store, list, "--entity", "Thing", "--model", model]).code == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: work.store).isEmpty)
        #expect(run(command).code == 0)
    }

    @Test("properties of GeoJSON are named with or without their prefix, in keys and mappings")
    func features() throws {
        let work = try Workplace()
        let list = try work.list(
            "1.geojson",
            """
            {"type":"FeatureCollection","features":[{"type":"Feature","id":"x","properties":\
            {"code":"a","m":1.5,"junk":[]},"geometry":{"type":"Point","coordinates":[1,2]}}]}
            """)
        let command = ["import", work.store, list, "--entity", "Quake", "--json"]
        let first = run(
            command + ["--unique", "properties.code", "--map", "properties.m=magnitude,junk="])
        #expect(try counts(first) == [1, 0, 0, 0, 0])
        let second = run(
            command + ["--unique", "code", "--map", "m=magnitude,properties.junk="])
        #expect(try counts(second) == [0, 0, 1, 0, 0])
        #expect(
            cairn("query", work.store, "Quake", "--json").lines == [
                #"{"objectID":"p1","id":"x","code":"a","magnitude":1.5,"longitude":1,"latitude":2}"#
            ])
    }

    @Test("keys that the store does not have are refused, known ones may be repeated")
    func unique() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        #expect(try work.importing("1.csv", Self.first, "--unique", "code").code == 0)
        let other = try work.importing("1.csv", Self.first, "--unique", "name")
        #expect(other.code == 1)
        #expect(other.errors.contains("not unique on name but on code"))
    }

    @Test("a compound key and several keys are kept")
    func keys() throws {
        let work = try Workplace()
        let list = try work.list("1.csv", "a,b,c\n1,1,x\n1,2,y\n1,1,z\n")
        let run = cairn(
            "import", work.store, list, "--entity", "Pair", "--unique", "a,b", "--unique", "c",
            "--json")
        #expect(try counts(run) == [2, 1, 0, 0, 0])
        #expect(cairn("get", work.store, "Pair", "1", "2", "--json").output.contains(#""c":"y""#))
    }

    @Test("an entity that the store lacks is an error that names those it has")
    func entity() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        let run = cairn("import", work.store, work.folder.path("1.csv"), "--entity", "Other")
        #expect(run.code == 1)
        #expect(run.errors == "cairn: \(work.store) has no entity Other. It has: Thing\n")
    }

    @Test("a list that is missing, or a folder, is an error with its name")
    func missing() throws {
        let work = try Workplace()
        let run = cairn(
            "import", work.store, work.folder.path("none.csv"), "--entity", "T", "--unique", "a")
        #expect(run.code == 1)
        #expect(run.errors.contains("none.csv"))
        let folder = cairn("import", work.store, work.folder.path, "--entity", "T", "--unique", "a")
        #expect(folder.code == 1)
        #expect(folder.errors.contains("folder"))
    }

    @Test("an import that fails takes no store away that another one has made meanwhile")
    func raced() throws {
        let work = try Workplace()
        let store = work.store
        let good = try work.list("good.csv", "code,name\na,1\nb,2\n")
        // Long enough for a word about the progress, and refused at last.
        let bad = try work.list(
            "bad.csv", "code,name\n" + (0..<5000).map { "c\($0),x\n" }.joined() + "c1,y\n")
        var other: ToolRun?
        let console = Console(
            output: { _ in },
            errors: { _ in
                if other != nil { return }
                // The store was looked for, and there was none.
                other = cairn("import", store, good, "--entity", "Thing", "--unique", "code")
            }, showsProgress: true)
        let code = Tool.run(
            ["import", store, bad, "--entity", "Thing", "--unique", "code", "--policy", "fail"],
            console: console)
        #expect(code == 1)
        #expect(other?.code == 0)
        #expect(cairn("count", store, "Thing").output == "2\n")
    }

    @Test("--encoding says how the list is written, and a wrong name is refused")
    func encoding() throws {
        let work = try Workplace()
        let path = work.folder.path("1.csv")
        try Data(Array("code,name\na,K".utf8) + [0xF6] + Array("ln\n".utf8))
            .write(to: URL(fileURLWithPath: path))
        let command = ["import", work.store, path, "--entity", "Thing", "--unique", "code"]
        let plain = run(command)
        #expect(plain.code == 1 && plain.errors.contains("--encoding"), "\(plain.errors)")
        let wrong = run(command + ["--encoding", "klingon"])
        #expect(wrong.code == 2 && wrong.errors.contains("windows-1252"), "\(wrong.errors)")
        #expect(run(command + ["--encoding", "Latin1"]).code == 0)
        #expect(cairn("get", work.store, "Thing", "a", "--json").output.contains("Köln"))
    }

    @Test("--delimiter and --null say how the list is written")
    func delimiterAndNull() throws {
        let work = try Workplace()
        let list = "code;name;size\na;NA;1\nb;x,y;-\n"
        #expect(try work.importing("1.csv", list).errors.contains("--delimiter semicolon"))
        let refused = try work.importing("1.csv", list, "--delimiter", "::")
        #expect(
            refused.code == 2 && refused.errors.contains("is not a valid delimiter"),
            "\(refused.errors)")
        let options = ["--delimiter", ";", "--null", "NA", "--null", "-"]
        let path = try work.list("1.csv", list)
        let run = run(
            ["import", work.store, path, "--entity", "Thing", "--unique", "code", "--json"]
                + options)
        #expect(try counts(run) == [2, 0, 0, 0, 0])
        #expect(
            cairn("query", work.store, "Thing", "--json").lines == [
                #"{"objectID":"p1","code":"a","name":null,"size":1}"#,
                #"{"objectID":"p2","code":"b","name":"x,y","size":null}"#,
            ])
        let json = try work.importing("3.json", "[]", "--delimiter", ";")
        #expect(json.code == 1 && json.errors.contains("omit it"), "\(json.errors)")
        let tabs = try work.list("2.tsv", "code\tname\nc\td\n")
        #expect(cairn("import", work.store, tabs, "--entity", "Thing").code == 0)
    }

    @Test("--type says what attributes of a new store are, and is refused where others are stored")
    func types() throws {
        let work = try Workplace()
        let list = "code,delay,time,open\na,5,2024-05-01,yes\nb,,,no\n"
        let misfit = try work.importing("1.csv", list, "--type", "open=int16")
        #expect(misfit.code == 1 && misfit.errors.contains("does not fit"), "\(misfit.errors)")
        #expect(!FileManager.default.fileExists(atPath: work.store))
        for (type, message) in [
            ("delay", "--type: "), ("delay=x", "The types are"), ("x=date", "x"),
        ] {
            let run = try work.importing("1.csv", list, "--type", type)
            #expect(run.code != 0 && run.errors.contains(message), "\(run.errors)")
        }
        try work.importing(
            "1.csv", list, "--type", "delay=int16,time=string", "--type", "code=text")
        #expect(
            cairn("query", work.store, "Thing", "--json").lines == [
                #"{"objectID":"p1","code":"a","delay":5,"time":"2024-05-01","open":true}"#,
                #"{"objectID":"p2","code":"b","delay":null,"time":null,"open":false}"#,
            ])
        #expect(cairn("model", work.store).output.contains("integer16"))
        #expect(try work.importing("1.csv", list, "--type", "delay=int16").code == 0)
        let other = try work.importing("1.csv", list, "--type", "delay=double")
        #expect(other.code == 1 && other.errors.contains("has type integer16"), "\(other.errors)")
    }

    @Test("--sample shows what would be inferred from the first records, and writes nothing")
    func sample() throws {
        let work = try Workplace()
        let list = "code,size,open,junk\na,1,yes,\nb,,no,\nc,2.5,x,\n"
        let run = try work.importing("1.csv", list, "--sample", "2", "--map", "size=width,junk=")
        #expect(run.code == 0, "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: work.store))
        let words = run.lines.map { $0.split(separator: " ").map(String.init) }
        #expect(
            words[2...].prefix(4) == [
                ["code", "code", "string", "2", "a"], ["size", "width", "integer64", "1", "1"],
                ["open", "open", "boolean", "2", "yes"], ["junk", "dropped", "0"],
            ], "\(run.output)")
        #expect(run.lines.last?.hasPrefix("2 records, the first of ") == true)
        #expect(run.lines.last?.contains("nothing was written") == true)
        let whole = try work.importing("1.csv", list, "--sample", "3", "--json").json
        let fields = try #require(whole[0]["fields"] as? [[String: Any]])
        #expect(fields.map { $0["type"] as? String } == ["string", "double", "string", "string"])
        #expect(whole[0]["whole"] as? Bool == true)
        #expect(try work.importing("1.csv", list, "--sample", "0").code == 2)
        #expect(try work.importing("1.csv", list, "--sample", "1", "--model", "m").code == 2)
        try work.importing("2.csv", Self.first)
        let stored = cairn(
            "import", work.store, work.folder.path("1.csv"), "--entity", "Thing", "--sample", "9",
            "--type", "size=float", "--json")
        let known = try #require(try stored.json[0]["fields"] as? [[String: Any]])
        #expect(known.map { $0["stored"] as? String } == ["string", "integer64", nil, nil])
        #expect(known.map { $0["type"] as? String } == ["string", "float", "string", "string"])
        #expect(cairn("count", work.store, "Thing").output == "3\n")
    }

    @Test("--add-fields makes attributes of new fields, and says so")
    func addFields() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        let list = "code,name,size,colour,since,weight\nb,Berta,2,red,2024-05-01,1.5\nd,Dora,4,,,\n"
        #expect(try work.importing("2.csv", list).code == 1)
        let run = try work.importing("2.csv", list, "--add-fields", "--type", "weight=float")
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.lines.suffix(3) == [
                "Thing.colour was added, with type string", "Thing.since was added, with type date",
                "Thing.weight was added, with type float",
            ])
        #expect(
            cairn("query", work.store, "Thing", "--where", "code != 'c'", "--json").lines == [
                #"{"objectID":"p1","code":"a","name":"Anna","size":1,"colour":null,"since":null,"weight":null}"#,
                #"{"objectID":"p2","code":"b","name":"Berta","size":2,"colour":"red","since":"2024-05-01T00:00:00Z","weight":1.5}"#,
                #"{"objectID":"p4","code":"d","name":"Dora","size":4,"colour":null,"since":null,"weight":null}"#,
            ])
        let again = try work.importing("2.csv", list, "--add-fields", "--widen", "--json")
        #expect(try counts(again) == [0, 0, 2, 0, 0])
        #expect((try again.json[0]["changes"] as? [Any])?.isEmpty == true)
        #expect(cairn("check", work.store).code == 0)
    }

    @Test(
        "--widen gives the narrowest type that has the values of the store and of the list",
        arguments: [
            ("1,2", "2.5", "double", "1", "2.5"),
            ("9007199254740993,2", "2.5", "decimal", "9007199254740993", "2.5"),
            ("1,2", "x", "string", "1", "x"),
            ("1,2", "1234567890123456.78", "decimal", "1", "1234567890123456.78"),
            ("1.5,2", "99999999999999999999", "decimal", "1.5", "99999999999999999999"),
            ("0.5,1", "x", "string", "0.5", "x"), ("true,false", "7", "integer64", "1", "7"),
            ("yes,no", "maybe", "string", "true", "maybe"),
            ("2024-05-01,2024-05-02", "soon", "string", "2024-05-01T00:00:00Z", "soon"),
            ("99999999999999999999,1", "x", "string", "99999999999999999999", "x"),
        ])
    func widen(
        stored: String, value: String, type: String, first: String, second: String
    ) throws {
        let work = try Workplace()
        let (one, two) = (stored.split(separator: ",")[0], stored.split(separator: ",")[1])
        try work.importing("1.csv", "code,v\na,\(one)\nb,\(two)\n")
        let before = cairn("get", work.store, "Thing", "a", "--json").output
        let list = "code,v\nb,\(value)\nc,\n"
        #expect(try work.importing("2.csv", list).code == 1)
        let run = try work.importing("2.csv", list, "--widen")
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.lines.last?.hasSuffix(" to \(type)") == true, "\(run.output)")
        let rows = cairn("query", work.store, "Thing", "--columns", "code,v").lines.dropFirst(2)
        #expect(
            rows.map { $0.split(separator: " ").map(String.init) } == [
                ["a", first], ["b", second], ["c"],
            ])
        #expect(before.contains(#""objectID":"p1""#))
        #expect(
            cairn("get", work.store, "Thing", "a", "--json").output.contains(#""objectID":"p1""#))
        #expect(try counts(work.importing("2.csv", list, "--widen", "--json")) == [0, 0, 2, 0, 0])
        #expect(cairn("check", work.store).code == 0)
    }

    @Test("widening within whole numbers and from float is a lightweight migration")
    func widenLightly() throws {
        let work = try Workplace()
        let list = "code,small,share\na,1,0.5\n"
        try work.importing("1.csv", list, "--type", "small=int16,share=float")
        let wide = try work.importing(
            "2.csv", "code,small,share\nb,70000,16777217\n", "--widen")
        #expect(
            wide.lines.suffix(2) == [
                "Thing.small changed from type integer16 to integer32",
                "Thing.share changed from type float to double",
            ], "\(wide.errors)")
        let key = try work.importing(
            "3.csv", list, "--widen", "--type", "small=integer64", "--json")
        let changes = try #require(try key.json[0]["changes"] as? [[String: Any]])
        #expect(changes.map { $0["new"] as? String } == ["integer64"])
        #expect(changes.map { $0["old"] as? String } == ["integer32"])
        let narrow = try work.importing("3.csv", list, "--widen", "--type", "small=integer16")
        #expect(narrow.code == 1, "\(narrow.output)")
        #expect(narrow.errors.contains("small has type integer64"), "\(narrow.errors)")
        let none = try work.importing("3.csv", list, "--add-fields", "--type", "more=integer16")
        #expect(none.code == 1 && none.errors.contains("no attribute more"), "\(none.errors)")
    }

    @Test("a part that a composite attribute lacks does not become an attribute beside it")
    func noPart() throws {
        let work = try Workplace()
        let model = try work.list(
            "model.json",
            """
            {"entities": [{"name": "Thing", "uniquenessConstraints": [["code"]], "attributes": [
              {"name": "code", "type": "string"}, {"name": "place", "type": "composite",
               "elements": [{"name": "street", "type": "string"}]}]}]}
            """)
        try work.importing("1.csv", "code,place.street\na,x\n", "--model", model)
        let list = "code,place.street,place.town,more.or\na,x,y,z\n"
        let run = try work.importing("2.csv", list, "--add-fields")
        #expect(run.code == 1 && run.errors.contains("1 field:\n  place.town"), "\(run.errors)")
        let dropped = try work.importing("2.csv", list, "--add-fields", "--map", "place.town=")
        #expect(dropped.lines.last == "Thing.more.or was added, with type string")
    }

    @Test("what no wider type can help is an error that changes nothing")
    func noGrowth() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.first)
        let model = cairn("model", work.store).output
        let list = #"[{"code":"a","name":{"x":1},"size":"large"}]"#
        let nested = try work.importing("2.json", list, "--widen", "--add-fields")
        #expect(nested.code == 1 && nested.errors.contains("an object"), "\(nested.errors)")
        let unknown = try work.importing("3.csv", "code,size,more\nd,x,1\n", "--widen")
        #expect(unknown.code == 1)
        #expect(unknown.errors.contains("more: Thing has no"), "\(unknown.errors)")
        let narrow = try work.importing("3.csv", "code,size,more\nd,x,1\n", "--add-fields")
        #expect(narrow.code == 1 && narrow.errors.contains("does not fit"), "\(narrow.errors)")
        #expect(cairn("model", work.store).output == model)
        #expect(try work.importing("3.csv", "code\nx\n", "--widen", "--model", "m").code == 2)
    }
}
