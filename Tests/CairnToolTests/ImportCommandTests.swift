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
            ("size=many", "“many” is no"), ("colour=red", "no attribute colour"),
            ("size", "write name=value"),
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
        #expect(unknown.errors.contains("colour: no such attribute"))
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
        #expect(again.errors == "cairn: note: --map names extra, which the list does not have\n")
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
        let doubled = try work.importing("3.csv", "code,x\n,1\n", "--policy", "fail")
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
        #expect(unknown.errors.contains("x: no such attribute"))
        #expect(!FileManager.default.fileExists(atPath: work.store))
        let made = try work.importing("5.csv", "code\na\n", "--model", model)
        #expect(made.code == 0)
        #expect(cairn("count", work.store, "Thing").output == "1\n")
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
        let command = ["import", work.store, list, "--entity", "Thing", "--unique", "code"]
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
}
