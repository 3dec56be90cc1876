// cairn diff: schemas, counts, rows by key and by id, and what objects refer to.

import CairnLog
import CairnModel
import CairnObjects
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn diff")
struct DiffCommandTests {
    private func store(_ work: borrowing Workplace, _ name: String, _ list: String, _ key: String)
        throws -> String
    {
        let store = work.folder.path(name + ".cairn")
        let made = run([
            "import", store, try work.list(name + ".json", list), "--entity", "Thing", "--unique",
            key,
        ])
        #expect(made.code == 0, "\(made.errors)")
        return store
    }

    private static let first =
        #"[{"code":"a","name":"Anna","size":1},{"code":"b","name":null,"size":2},{"code":"c","name":"C","size":3}]"#

    @Test("stores with the same objects are equal, in whatever order they came")
    func equal() throws {
        let work = try Workplace()
        let a = try store(work, "a", Self.first, "code")
        let b = try store(
            work, "b",
            #"[{"code":"c","name":"C","size":3},{"code":"b","name":null,"size":2},{"code":"a","name":"Anna","size":1}]"#,
            "code")
        let run = cairn("diff", a, b)
        #expect(run.code == 0 && run.errors.isEmpty)
        #expect(run.output == "equal: 3 objects\n")
        #expect(try cairn("diff", a, a, "--json").json.map { $0["equal"] as? Bool } == [true])
    }

    @Test("texts are the same if their bytes are, as in the store")
    func composed() throws {
        let work = try Workplace()
        func list(_ name: String) -> String {
            #"[{"code":"\u00e9","name":"\#(name)"},{"code":"e\u0301","name":"x"},{"code":"z","name":null}]"#
        }
        let a = try store(work, "a", list(#"\u00e9"#), "code")
        #expect(cairn("count", a, "Thing").output == "3\n")
        #expect(cairn("diff", a, a).output == "equal: 3 objects\n")
        let b = try store(work, "b", list(#"e\u0301"#), "code")
        let run = cairn("diff", a, b)
        #expect(run.code == 1 && run.output.contains(": name "), "\(run.output)")
        #expect(run.output.hasSuffix("1 different\n"), "\(run.output)")
    }

    @Test(
        "rows are told apart by their key, with the properties that differ, and the exit code is 1")
    func rows() throws {
        let work = try Workplace()
        let a = try store(work, "a", Self.first, "code")
        let b = try store(
            work, "b",
            #"[{"code":"b","name":"B","size":20},{"code":"a","name":"Anna","size":1},{"code":"d","name":"D","size":4},{"code":"e","name":"E","size":4}]"#,
            "code")
        let run = cairn("diff", a, b)
        #expect(run.code == 1 && run.errors.isEmpty)
        #expect(
            run.output == """
                counts
                  Thing: 3 in A, 4 in B
                rows
                  Thing code "b": name nil in A, "B" in B; size 2 in A, 20 in B
                  Thing code "c": only in A
                  Thing code "d": only in B
                  Thing code "e": only in B
                0 differences of the schemas; 1 object only in A, 2 only in B, 1 different

                """)
        let json = cairn("diff", a, b, "--json", "--limit", "1")
        #expect(json.code == 1)
        #expect(
            json.lines == [
                #"{"kind":"count","entity":"Thing","a":3,"b":4}"#,
                #"{"kind":"row","entity":"Thing","key":{"code":"b"},"in":"both","properties":[{"name":"name","a":null,"b":"B"},{"name":"size","a":2,"b":20}]}"#,
                #"{"kind":"summary","equal":false,"objectsInA":3,"objectsInB":4,"schemaDifferences":0,"onlyInA":1,"onlyInB":2,"different":1}"#,
            ])
        #expect(cairn("diff", a, b, "--limit", "2").output.contains("\n  and 2 more\n"))
    }

    @Test("schemas differ in words, and rows without a common key are compared by id")
    func schemas() throws {
        let work = try Workplace()
        let a = try store(work, "a", #"[{"code":"a","name":"Anna","size":1}]"#, "code")
        let b = try store(work, "b", #"[{"code":"a","name":"Anna","weight":1.5}]"#, "name")
        let run = cairn("diff", a, b)
        #expect(run.code == 1)
        #expect(
            run.output == """
                schema
                  Thing: attribute code is string, required in A, string in B
                  Thing: attribute name is string in A, string, required in B
                  Thing: attribute size is in A only (integer64)
                  Thing: unique code is in A only
                  Thing: attribute weight is in B only (double)
                  Thing: unique name is in B only
                6 differences of the schemas; 0 objects only in A, 0 only in B, 0 different

                """)
        let other = try golden("everything", in: work)
        let strange = cairn("diff", a, other, "--limit", "0")
        #expect(strange.output.contains("  Thing is in A only\n  Airport is in B only\n"))
        #expect(strange.output.contains("  Heliport: 0 in A, 1 in B\n"))
        #expect(strange.output.contains("  and 72 more\n"))
        let one = cairn("diff", a, other, "--entity", "Country")
        #expect(one.output.hasPrefix("schema\n  Country is in B only\ncounts\n  Country: 0 in A"))
    }

    /// Things that refer to objects whose keys are bytes, two texts, and another object with a number.
    private func things(
        _ folder: TemporaryDirectory, _ name: String, from order: [Int] = [0, 1], target: Int = 0,
        person: Int = 0, group: Int = 0
    ) throws -> String {
        let path = folder.path(name)
        let store = try LogStore.open(at: path, schema: try Schema(Self.referring))
        let context = ManagedObjectContext(store: store)
        let thing = context.insert("Thing")
        thing["code"] = "t"
        for number in order {
            let owner = context.insert("Owner")
            owner["name"] = ["a", "b"][number]
            let found: [String: (ManagedObject, Bool)] = [
                "target": (context.insert("Target"), number == target),
                "person": (context.insert("Person"), number == person),
                "group": (context.insert("Group"), number == group),
            ]
            found["target"]?.0["key"] = Data([1, UInt8(number)])
            found["person"]?.0["first"] = ["Anna Maria", "Anna"][number]
            found["person"]?.0["last"] = ["Lee", "Maria Lee"][number]
            found["group"]?.0["number"] = 1
            found["group"]?.0["owner"] = owner
            for (key, (object, isTheirs)) in found where isTheirs { thing[key] = object }
        }
        try context.save()
        try store.close()
        return path
    }

    private static let referring: ManagedObjectModel = {
        var thing = EntityDescription(
            "Thing", attributes: [.init("code", .string)], uniquenessConstraints: [["code"]])
        thing.relationships = ["Target", "Person", "Group"].map {
            RelationshipDescription($0.lowercased(), to: $0)
        }
        var group = EntityDescription(
            "Group", attributes: [.init("number", .integer32)],
            uniquenessConstraints: [["owner", "number"]])
        group.relationships = [RelationshipDescription("owner", to: "Owner")]
        return ManagedObjectModel(entities: [
            thing, group,
            EntityDescription(
                "Owner", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]]),
            EntityDescription(
                "Target", attributes: [.init("key", .binary)], uniquenessConstraints: [["key"]]),
            EntityDescription(
                "Person", attributes: [.init("first", .string), .init("last", .string)],
                uniquenessConstraints: [["first", "last"]]),
        ])
    }()

    @Test("objects with different keys have different names, and the same object the same one")
    func names() throws {
        let folder = try TemporaryDirectory()
        let one = try things(folder, "one")
        #expect(cairn("diff", one, try things(folder, "same")).code == 0)
        let reversed = try things(folder, "reversed", from: [1, 0])
        #expect(cairn("diff", one, reversed).output == cairn("diff", one, one).output)
        for (name, other) in [
            ("target", try things(folder, "target", target: 1)),
            ("person", try things(folder, "person", person: 1)),
            ("group", try things(folder, "group", group: 1)),
        ] {
            let run = cairn("diff", one, other)
            #expect(run.code == 1 && run.output.contains(name), "\(name): \(run.output)")
        }
    }

    private static let folders: ManagedObjectModel = {
        var place = EntityDescription("Place", attributes: [.init("name", .string)])
        place.isAbstract = true
        var root = EntityDescription("Root", uniquenessConstraints: [["name"]])
        root.superentityName = "Place"
        var folder = EntityDescription("Folder", uniquenessConstraints: [["parent", "name"]])
        folder.superentityName = "Place"
        folder.relationships = [RelationshipDescription("parent", to: "Place")]
        var document = EntityDescription(
            "Document", attributes: [.init("title", .string)], uniquenessConstraints: [["title"]])
        document.relationships = [RelationshipDescription("folder", to: "Place")]
        return ManagedObjectModel(entities: [document, folder, place, root])
    }()

    /// Two trees of one branch each, made one after the other or level by level, and a document at the end of one of them;
    /// or two circles of as many folders.
    private func trees(
        _ work: borrowing Workplace, _ name: String, levels: Int, document: Int = 0,
        byLevel: Bool = false, areCircles: Bool = false
    ) throws -> String {
        let path = work.folder.path(name)
        let store = try LogStore.open(at: path, schema: try Schema(Self.folders))
        let context = ManagedObjectContext(store: store)
        let starts = ["1", "2"].map { name in
            let start = context.insert(areCircles ? "Folder" : "Root")
            start["name"] = areCircles ? "start" : name
            return start
        }
        var ends = starts
        let places =
            byLevel
            ? (0..<levels).flatMap { level in [(0, level), (1, level)] }
            : [0, 1].flatMap { tree in (0..<levels).map { (tree, $0) } }
        for (tree, level) in places {
            let folder = context.insert("Folder")
            folder["name"] = "folder \"\(level)\""
            folder["parent"] = ends[tree]
            ends[tree] = folder
        }
        if areCircles { for (start, end) in zip(starts, ends) { start["parent"] = end } }
        let letter = context.insert("Document")
        letter["title"] = "letter"
        letter["folder"] = ends[document]
        try context.save()
        try store.close()
        return path
    }

    @Test(
        "keys that lead to other objects tell trees of any depth apart, in whatever order they were made",
        arguments: [1, 4, 8, 60])
    func deep(levels: Int) throws {
        let work = try Workplace()
        let one = try trees(work, "one", levels: levels)
        let equal = "equal: \(3 + 2 * levels) objects\n"
        #expect(cairn("diff", one, one).output == equal)
        #expect(
            cairn("diff", one, try trees(work, "other", levels: levels, byLevel: true)).output
                == equal)
        let moved = cairn("diff", one, try trees(work, "moved", levels: levels, document: 1))
        #expect(moved.code == 1)
        #expect(moved.lines.last?.hasSuffix("0 only in B, 1 different") == true, "\(moved.output)")
        #expect(moved.output.contains("Document title \"letter\": folder"), "\(moved.output)")
        #expect(moved.output.utf8.count < 4000)
    }

    @Test("keys that lead round in a circle tell objects apart by id", arguments: [1, 7])
    func circles(length: Int) throws {
        let work = try Workplace()
        let one = try trees(work, "one", levels: length, areCircles: true)
        #expect(cairn("diff", one, one).output == "equal: \(3 + 2 * length) objects\n")
        let moved = try trees(work, "moved", levels: length, document: 1, areCircles: true)
        let run = cairn("diff", one, moved)
        #expect(run.code == 1 && run.output.contains("1 different"), "\(run.output)")
    }

    @Test("what objects refer to is named by its key, in columns and in pairs")
    func relationships() throws {
        let work = try Workplace()
        let a = try golden("everything", in: work)
        let b = try golden("everything", in: work, as: "copy")
        #expect(cairn("diff", a, b).code == 0)
        // A store that compaction has changed in every file has the same objects.
        #expect(cairn("diff", a, try golden("compacted", in: work)).code == 0)
        #expect(cairn("delete", b, "Country", "--where", "name == 'Österreich'").code == 0)
        #expect(cairn("delete", b, "Airport", "--where", "code == 'RJTT'").code == 0)
        let rows = try cairn("diff", a, b, "--json").json.filter { $0["kind"] as? String == "row" }
        func properties(_ code: String) -> [String: [String: Any]] {
            let row = rows.first { ($0["key"] as? [String: Any])?["code"] as? String == code }
            let found = row?["properties"] as? [[String: Any]] ?? []
            return Dictionary(uniqueKeysWithValues: found.map { ($0["name"] as? String ?? "", $0) })
        }
        #expect(properties("LOWW")["country"]?["a"] as? String == "Country p1")
        #expect(properties("LOWW")["country"]?["b"] is NSNull)
        let lost = rows.filter { $0["in"] as? String == "a" }
        #expect(lost.count == 2)
        let partners = try #require(properties("LOWW")["partners"])
        let before = try #require(partners["a"] as? [String])
        let after = try #require(partners["b"] as? [String])
        #expect(before.contains("Airport RJTT") && !after.contains("Airport RJTT"))
    }

    @Test("stores that cannot be compared end with 2, damaged ones with 3, and neither with 1")
    func failures() throws {
        let work = try Workplace()
        let a = try store(work, "a", Self.first, "code")
        let missing = cairn("diff", a, work.folder.path("none"), "--json")
        #expect(missing.code == 2)
        #expect(Int(try missing.error, "exit") == 2)
        #expect(try missing.error["path"] as? String == work.folder.path("none"))
        let broken = cairn("diff", a, try golden("everything.broken", in: work))
        #expect(broken.code == 3 && broken.errors.contains("everything.broken.cairn"))
        #expect(cairn("diff", a, a, "--entity", "Nope").code == 2)
        #expect(cairn("diff", a).code == 2)
        #expect(cairn("diff", a, a, "--limit", "-1").code == 2)
    }
}
