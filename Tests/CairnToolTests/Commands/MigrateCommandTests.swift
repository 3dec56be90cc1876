// cairn migrate: a store follows its model, or says why not.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn migrate")
struct MigrateCommandTests {
    /// A store of people, some of whom are there twice.
    private static func makeStore(_ work: borrowing Workplace) throws {
        let imported = try work.importing(
            "people.json",
            #"""
            [{"code":"1","email":"a","name":"Ann","visits":1},
             {"code":"2","email":"b","name":"Bob","visits":2},
             {"code":"3","email":"a","name":null,"visits":5},
             {"code":"4","email":"c","name":"Cid","visits":3},
             {"code":"5","email":"a","name":"Anne","visits":2},
             {"code":"6","name":"Nobody","visits":9}]
            """#)
        #expect(imported.code == 0, "\(imported.errors)")
    }

    private static func model(
        _ work: borrowing Workplace, _ change: (inout EntityDescription) -> Void
    ) throws -> String {
        let text = cairn("schema", work.store, "--json").output
        var model = try JSONDecoder().decode(ManagedObjectModel.self, from: Data(text.utf8))
        change(&model.entities[0])
        return try work.list("new-\(text.hashValue).json", try model.json())
    }

    @Test("what can be inferred happens, and the objects are those they were")
    func inferred() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let model = try Self.model(work) { entity in
            entity.attributes.append(.init("age", .integer16, default: .integer(30)))
            entity.attributes.removeAll { $0.name == "visits" }
        }
        let dry = cairn("migrate", work.store, "--to", model, "--dry-run")
        #expect(dry.code == 0 && dry.output.contains("metadata only"), "\(dry.errors)")
        let before = cairn("count", work.store, "Thing").output
        let run = cairn("migrate", work.store, "--to", model)
        #expect(run.code == 0 && run.output.contains("migrated, 2 changes, metadata only"))
        #expect(cairn("count", work.store, "Thing").output == before)
        #expect(cairn("count", work.store, "Thing", "--where", "age == 30").output == before)
        #expect(cairn("check", work.store).code == 0)
        let again = cairn("migrate", work.store, "--to", model)
        #expect(again.code == 0 && again.output.contains("already has this model"))
        let json = cairn("migrate", work.store, "--to", model, "--json")
        #expect(try json.json[0]["migrated"] as? Bool == false)
    }

    @Test("duplicates are refused and shown, and a rule makes one of them; old ids lead to it")
    func duplicates() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let model = try Self.model(work) { $0.uniquenessConstraints.append(["email"]) }
        let refused = cairn("migrate", work.store, "--to", model)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("constraint violation"))
        #expect(refused.errors.contains("1 key is shared by 3 objects"))
        let dry = cairn("migrate", work.store, "--to", model, "--dry-run")
        #expect(dry.code == 1 && dry.output.contains("Thing(email): 1 key is shared by 3 objects"))
        #expect(dry.output.contains("a: p1 p3 p5"))
        let run = cairn(
            "migrate", work.store, "--to", model, "--deduplicate", "Thing:email:newest:visits",
            "--merge")
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output.contains("2 objects merged into others"))
        #expect(cairn("count", work.store, "Thing").output == "4\n")
        // The newest had no name, and took one.
        let got = cairn("get", work.store, "Thing", "p1")
        #expect(got.code == 0 && got.output.contains("p3"), "\(got.output)\(got.errors)")
        #expect(
            cairn("count", work.store, "Thing", "--where", "email == 'a' AND visits == 5").output
                == "1\n")
        #expect(cairn("check", work.store).code == 0)
        let upsert = try work.importing(
            "again.json", #"[{"code":"3","email":"a","name":"Other","visits":1}]"#)
        #expect(upsert.output.contains("0 inserted, 1 updated"), "\(upsert.errors)")
    }

    @Test("A dry run says what rules would make one of others, and changes nothing")
    func dryRun() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let model = try Self.model(work) { $0.uniquenessConstraints.append(["email"]) }
        let hash = cairn("hash", work.store).output
        let rule = "Thing:email:newest:visits"
        let dry = cairn(
            "migrate", work.store, "--to", model, "--dry-run", "--deduplicate", rule, "--merge")
        #expect(dry.code == 0, "\(dry.errors)")
        #expect(
            dry.output.contains(
                "Thing: 1 key of 3 objects by email, 2 objects would be merged into others\n"),
            "\(dry.output)")
        #expect(dry.output.contains("a      3        p3     p5 p1\n"), "\(dry.output)")
        #expect(!dry.output.contains("is shared by"))
        let json = try cairn(
            "migrate", work.store, "--to", model, "--dry-run", "--deduplicate", rule, "--json"
        ).json
        #expect(json.last?["folded"] as? Int == 2 && json.last?["keys"] as? Int == 1)
        let cleared = cairn(
            "migrate", work.store, "--to", model, "--dry-run", "--deduplicate",
            "Thing:email:nullKey")
        #expect(cleared.code == 0 && cleared.output.contains("2 objects would lose the key"))
        // A constraint that no rule is about stands against it still.
        let two = try Self.model(work) {
            $0.uniquenessConstraints += [["email"], ["visits"]]
        }
        let left = cairn("migrate", work.store, "--to", two, "--dry-run", "--deduplicate", rule)
        #expect(left.code == 1 && left.output.contains("Thing(visits): 1 key is shared by 2"))
        #expect(!left.output.contains("Thing(email): 1 key is"))
        #expect(cairn("hash", work.store).output == hash)
    }

    @Test("What no constraint asks for is not folded, and names the command that does")
    func unneeded() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let model = try Self.model(work) { $0.attributes.append(.init("age", .integer16)) }
        let hash = cairn("hash", work.store).output
        for more in [[], ["--dry-run"]] {
            let run = CairnToolTests.run(
                ["migrate", work.store, "--to", model, "--deduplicate", "Thing:email:first"] + more)
            #expect(run.code == 1 && run.errors.contains("cairn duplicates"), "\(run.errors)")
            #expect(run.errors.contains("Nothing was migrated"))
        }
        let unknown = cairn(
            "migrate", work.store, "--to", model, "--deduplicate", "Thng:email:last")
        #expect(unknown.code == 1 && unknown.errors.contains("no entity of this name"))
        #expect(cairn("hash", work.store).output == hash)
        for text in ["Thing:email", "Thing:email:newest", "Thing:email,:first"] {
            let run = cairn("migrate", work.store, "--to", model, "--deduplicate", text)
            #expect(run.code == 2 && run.errors.contains("Usage: cairn migrate"), "\(run.errors)")
            #expect(run.errors.contains("--deduplicate"))
        }
    }

    @Test("Of an entity that goes it is said how many objects go with it")
    func going() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let model = try Self.model(work) { $0.name = "Other" }
        let dry = cairn("migrate", work.store, "--to", model, "--dry-run")
        #expect(dry.code == 0 && dry.output.contains("lost: its 6 objects"), "\(dry.output)")
        let json = try cairn("migrate", work.store, "--to", model, "--dry-run", "--json").json
        #expect(json.contains { $0["lostObjects"] as? Int == 6 })
        // A model alone does not know.
        let old = try work.list("old.json", cairn("schema", work.store, "--json").output)
        let models = cairn("model", old, "--to", model)
        #expect(models.output.contains("lost: its objects"), "\(models.output)\(models.errors)")
    }

    /// A model in which visits are a text and names are called otherwise, and the file of a mapping model.
    private static func mapping(
        _ work: borrowing Workplace, _ change: (inout MappingText) -> Void = { _ in }
    ) throws -> (model: String, file: String) {
        let model = try Self.model(work) { entity in
            for index in entity.attributes.indices {
                switch entity.attributes[index].name {
                case "visits": entity.attributes[index].type = .string
                case "name": entity.attributes[index].name = "title"
                default: break
                }
            }
        }
        var text = MappingText([
            .init(
                from: "Thing", to: "Thing",
                [
                    .attribute("code"), .attribute("email"),
                    .attribute("title", .function("uppercase:", [.source("name")])),
                    .attribute(
                        "visits",
                        .function(
                            "castObject:toType:",
                            [.source("visits"), .constant(.text("NSString"))])),
                ], ["sourcefilterpredicatestring": "visits > 1 && name != nil"])
        ])
        change(&text)
        return (model, try work.list("things.xml", text.xml))
    }

    @Test("a mapping model of Xcode says what becomes of objects, and a dry run shows it")
    func mappings() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let (model, file) = try Self.mapping(work)
        let hash = cairn("hash", work.store).output
        let dry = cairn("migrate", work.store, "--to", model, "--mapping", file, "--dry-run")
        #expect(
            dry.output == """
                mapping       type       from   to     where
                ────────────  ─────────  ─────  ─────  ───────────────────────────
                ThingToThing  transform  Thing  Thing  visits > 1 AND name != NULL

                """, "\(dry.errors)")
        let json = try cairn(
            "migrate", work.store, "--to", model, "--mapping", file, "--dry-run", "--json"
        ).json[0]
        #expect(
            (json["properties"] as? [String: Any])?["title"] as? String
                == "uppercase:($source.name)")
        #expect(cairn("hash", work.store).output == hash)
        let run = cairn("migrate", work.store, "--to", model, "--mapping", file)
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output == "\(work.store): migrated by 1 entity mapping\n")
        #expect(cairn("count", work.store, "Thing").output == "4\n")
        #expect(
            cairn("count", work.store, "Thing", "--where", "title == 'CID' AND visits == '3'")
                .output == "1\n")
        #expect(cairn("check", work.store).code == 0)
        let again = cairn("migrate", work.store, "--to", model, "--mapping", file, "--json")
        #expect(try again.json[0]["migrated"] as? Bool == false)
        // The file is read, though nothing is left for it to say.
        for (file, word) in [
            (work.folder.path("none.xcmappingmodel"), "there is no such file or folder"),
            (model, "the XML is broken"),
        ] {
            let none = cairn("migrate", work.store, "--to", model, "--mapping", file)
            #expect(none.code == 1 && none.errors.contains(word), "\(none.errors)")
        }
    }

    @Test("a mapping model that names code, or does not fit, is refused, and changes nothing")
    func badMappings() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let hash = cairn("hash", work.store).output
        var (model, file) = try Self.mapping(work) {
            $0.entities[0].texts["migrationpolicyclassname"] = "Shop.ThingPolicy"
        }
        func errors(_ more: String...) -> String {
            let run = CairnToolTests.run(
                ["migrate", work.store, "--to", model, "--mapping", file] + more)
            #expect(run.code != 0)
            return run.errors
        }
        #expect(
            errors().contains(
                "things.xml: ThingToThing: the policy Shop.ThingPolicy is code of an app, which cairn cannot run"
            ))
        #expect(errors("--dry-run").contains("is code of an app"))
        (model, file) = try Self.mapping(work) {
            $0.entities[0].properties[2].expression = .source("nom")
        }
        #expect(
            errors().contains("ThingToThing.title: Thing of the old model has no property nom"))
        #expect(errors("--deduplicate", "Thing:email:newest:visits").contains("cannot be combined"))
        file = work.folder.path("none.xcmappingmodel")
        #expect(errors().contains("there is no such file or folder"))
        #expect(cairn("hash", work.store).output == hash)
    }

    @Test("what no entity mapping brings over is said, and a mapping of nothing is refused")
    func lossyMappings() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let hash = cairn("hash", work.store).output
        var (model, file) = try Self.mapping(work) { $0.entities = [] }
        for more in [[], ["--dry-run"]] {
            let empty = run(["migrate", work.store, "--to", model, "--mapping", file] + more)
            #expect(empty.code == 1)
            #expect(
                empty.errors.contains(
                    "things.xml: it has no entity mappings: all 6 objects of \(work.store) would be lost"
                ), "\(empty.errors)")
        }
        #expect(cairn("hash", work.store).output == hash)
        (model, file) = try Self.mapping(work) { $0.entities = [.init(from: "Thing")] }
        let command = ["migrate", work.store, "--to", model, "--mapping", file]
        let dry = run(command + ["--dry-run"])
        #expect(
            dry.code == 0
                && dry.lines.last
                    == "6 objects of Thing would be deleted: no entity mapping migrates them",
            "\(dry.output)\(dry.errors)")
        #expect(
            try run(command + ["--dry-run", "--json"]).json.last?["lostObjects"] as? Int == 6)
        let real = run(command)
        #expect(
            real.lines.last == "6 objects of Thing were deleted: no entity mapping migrates them",
            "\(real.output)\(real.errors)")
    }

    @Test("new objects that stand against a constraint are said with the store")
    func duplicatesOfMappings() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let (model, file) = try Self.mapping(work) { $0.entities[0].texts = [:] }
        var changed = try ManagedObjectModel(json: String(contentsOfFile: model, encoding: .utf8))
        changed.entities[0].uniquenessConstraints.append(["email"])
        let path = try work.list("unique.json", changed.json())
        let run = cairn("migrate", work.store, "--to", path, "--mapping", file)
        #expect(run.code == 1 && run.errors.hasPrefix("cairn: \(work.store): "), "\(run.errors)")
    }

    @Test("a rule over a key that is new is refused for what it is")
    func newKey() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        for isUnique in [false, true] {
            let model = try Self.model(work) { entity in
                entity.attributes.append(.init("k", .integer16, default: .integer(1)))
                if isUnique { entity.uniquenessConstraints.append(["k"]) }
            }
            for more in [[], ["--dry-run"]] {
                let refused = run(
                    ["migrate", work.store, "--to", model, "--deduplicate", "Thing:k:first"] + more)
                #expect(refused.code == 1)
                #expect(
                    refused.errors.contains(
                        "Thing.k is new, and all objects have its default, 1: there is no way to tell"
                    ),
                    "\(refused.errors)")
            }
        }
    }

    @Test("JSON of something else is no model, and leads no store anywhere")
    func otherJSON() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let hash = cairn("hash", work.store).output
        for (text, word) in [
            (#"{"name": "shop", "dependencies": {}}"#, "there is no such key"),
            ("{}", "the key entities is missing"),
            (#"{"entities": [], "entitys": []}"#, "entitys: there is no such key"),
            (
                #"{"entities": [{"name": "A", "atributes": []}]}"#,
                "entities.0.atributes: there is no such key"
            ),
            (
                #"{"entities": [{"name": "A", "attributes": [{"name": "b", "type": "string", "optional": true}]}]}"#,
                "entities.0.attributes.0.optional: there is no such key"
            ),
        ] {
            let file = try work.list("package.json", text)
            for command in [["model", file], ["migrate", work.store, "--to", file]] {
                let refused = run(command)
                #expect(refused.code == 1, "\(text) \(refused.output)")
                #expect(refused.errors.contains(word), "\(refused.errors)")
                #expect(refused.errors.contains("package.json: this is not a model in JSON"))
            }
        }
        #expect(cairn("hash", work.store).output == hash)
    }

    @Test("bad models, rules and stores are said, and change nothing")
    func bad() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let hash = cairn("hash", work.store).output
        let model = try Self.model(work) { entity in
            for index in entity.attributes.indices where entity.attributes[index].name == "name" {
                entity.attributes[index].type = .date
            }
        }
        let mapping = cairn("migrate", work.store, "--to", model)
        #expect(mapping.code == 1 && mapping.errors.contains("cannot be inferred"))
        #expect(cairn("migrate", work.store, "--to", model, "--dry-run").code == 1)
        #expect(cairn("migrate", work.store, "--to", "nothing.json").code != 0)
        #expect(cairn("migrate", "nothing.cairn", "--to", model).code == 1)
        #expect(cairn("migrate", work.store, "--to", model, "--deduplicate", "Thing").code == 2)
        #expect(cairn("migrate", work.store, "--to", model, "--merge").code == 2)
        #expect(cairn("hash", work.store).output == hash)
    }
}
