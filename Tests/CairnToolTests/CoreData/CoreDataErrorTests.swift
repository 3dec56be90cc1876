// What is no store of Core Data, or not one of the model, is refused with its place, and nothing is left behind.

import CairnCoreData
import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("What is refused on the way from Core Data")
struct CoreDataErrorTests {
    /// Runs the command, which is to fail, and gives what it says.
    private func refused(
        _ work: borrowing CoreDataWorkplace, _ reason: String, _ arguments: [String]? = nil
    ) throws -> String {
        let before = try work.source()
        let run = run(
            arguments ?? ["import-coredata", work.old, work.new, "--model", work.model, "--json"])
        #expect(run.code == 1, "\(run.output)\(run.errors)")
        let error = try run.error
        #expect(error["reason"] as? String == reason)
        #expect(try work.remnants() == [])
        #expect(!FileManager.default.fileExists(atPath: work.new))
        #expect(try work.source() == before)
        return try #require(error["message"] as? String)
            .replacingOccurrences(of: work.folder.path, with: "…")
    }

    @Test("files that are none, and folders")
    func noStore() throws {
        let work = try CoreDataWorkplace()
        #expect(try refused(work, "unreadable") == "…/source/club.sqlite: there is no such file")
        try Data("this is a text, and a long one at that".utf8)
            .write(to: URL(fileURLWithPath: work.old))
        #expect(try refused(work, "notAStore") == "…/source/club.sqlite: it is not an SQLite file")
        let folder = run(["import-coredata", work.folder.path, work.new, "--json"])
        #expect(folder.code == 1)
        #expect(try folder.error["reason"] as? String == "notAStore")
    }

    @Test("an SQLite file that is no store of Core Data")
    func otherFile() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try file.run("DROP TABLE Z_PRIMARYKEY")
        #expect(
            try refused(work, "notAStore")
                == "…/source/club.sqlite: it is not a Core Data store: it has no table Z_PRIMARYKEY"
        )
        try file.run("CREATE TABLE Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX)")
        try file.run("INSERT INTO Z_PRIMARYKEY VALUES ('one', 'Bag', 0, 0)")
        #expect(
            try refused(work, "damaged")
                == "…/source/club.sqlite, Z_PRIMARYKEY: a row lacks the number or the name of an entity"
        )
        try file.run("UPDATE Z_METADATA SET Z_PLIST = x'00'")
        #expect(try refused(work, "damaged").hasSuffix("its Z_PLIST is not a property list"))
        try file.run("UPDATE Z_METADATA SET Z_UUID = 'x'")
        #expect(
            try refused(work, "damaged")
                == "…/source/club.sqlite, Z_METADATA: its Z_UUID is not a UUID")
        try file.run("DELETE FROM Z_METADATA")
        #expect(try refused(work, "notAStore").hasSuffix("Z_METADATA: it has no row"))
    }

    @Test("a file whose pages are damaged")
    func damaged() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try file.run("BEGIN")
        for key in 1...2000 as ClosedRange<Int64> {
            try ClubStore.add("ZPERSON", key, 3, ["ZNAME": "'person number \(key)'"], to: file)
        }
        try file.run("COMMIT")
        file.finish()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: work.old))
        for index in bytes.count / 2..<bytes.count / 2 + 8192 { bytes[index] = 0xA5 }
        try bytes.write(to: URL(fileURLWithPath: work.old))
        #expect(try refused(work, "damaged").contains("the SQLite file is damaged"))
    }

    @Test("where something is already, or nothing can be")
    func destination() throws {
        let work = try CoreDataWorkplace()
        try ClubStore.make(work.old).finish()
        try FileManager.default.createDirectory(
            atPath: work.new, withIntermediateDirectories: false)
        let run = work.bring("--json")
        #expect(run.code == 1)
        #expect(try run.error["reason"] as? String == "destinationExists")
        #expect(try FileManager.default.contentsOfDirectory(atPath: work.new) == [])
        #expect(try work.remnants() == [])
        let nowhere = CairnToolTests.run([
            "import-coredata", work.old, work.folder.path("no/where.cairn"), "--model", work.model,
            "--json",
        ])
        #expect(try nowhere.error["reason"] as? String == "unwritable")
        let folder = work.folder.path("no")
        let reason = try #require(try nowhere.error["message"] as? String)
        #expect(
            reason
                == "\(folder)/where.cairn: no folder can be created in \(folder): No such file or directory"
        )
        #expect(cairn("import-coredata", work.old, work.new, "--version", "2").code == 2)
    }

    @Test("a store without a model, and one whose model cannot be read")
    func noModel() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        let plain = ["import-coredata", work.old, work.new, "--json"]
        #expect(
            try refused(work, "noModel", plain)
                == "…/source/club.sqlite: the store does not contain its model: provide the one that it was written with, with --model"
        )
        try file.run("INSERT INTO Z_MODELCACHE VALUES (x'0102030405')")
        #expect(
            try refused(work, "noModel", plain)
                == "…/source/club.sqlite, Z_MODELCACHE: the model in the store cannot be read: provide the one that it was written with, with --model"
        )
    }

    /// Gives another model than the store's.
    private func changed(
        _ work: borrowing CoreDataWorkplace, _ change: (inout ManagedObjectModel) -> Void
    ) throws {
        var model = ClubStore.model
        change(&model)
        try Data(try model.json().utf8).write(to: URL(fileURLWithPath: work.model))
    }

    private static let advice = "; --skip leaves it out and imports the rest"

    @Test("a model that is not the one that the store was written with")
    func wrongModel() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try changed(work) { $0.entities.removeAll { $0.name == "Teacher" } }
        #expect(
            try refused(work, "wrongModel")
                == "…/source/club.sqlite, Z_METADATA: the store was written with a model that has the entities Teacher, which this model does not have"
        )
        try changed(work) { $0.entities[2].attributes.append(.init("email", .string)) }
        #expect(
            try refused(work, "wrongModel")
                == "…/source/club.sqlite, ZPERSON: the table has no column ZEMAIL for Person.email\(Self.advice)"
        )
        try changed(work) { $0.entities[2].attributes[0] = .init("age", .string) }
        #expect(
            try refused(work, "wrongModel")
                == "…/source/club.sqlite, ZPERSON.ZAGE: the column is declared as INTEGER, but the model's Person.age is of type string\(Self.advice)"
        )
        try changed(work) { model in
            model.entities[0].relationships.append(
                .init("owners", to: "Person", toMany: true, inverse: "bags"))
            model.entities[2].relationships.append(
                .init("bags", to: "Bag", toMany: true, inverse: "owners"))
        }
        #expect(
            try refused(work, "wrongModel")
                == "…/source/club.sqlite: the many-to-many relationship Bag.owners: the store has no table for it\(Self.advice)"
        )
        try changed(work) { _ in }
        try file.run("ALTER TABLE ZTEAM RENAME TO ZGROUP")
        #expect(
            try refused(work, "wrongModel")
                == "…/source/club.sqlite: the store has no table ZTEAM for the entity Team\(Self.advice)"
        )
    }

    @Test("entities that the store does not have are said, and the rest comes over")
    func absentEntities() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        try changed(work) { $0.entities.append(EntityDescription("Extra")) }
        let report = try work.report()
        #expect(
            report["remarks"] as? [String] == [
                "the store has no objects of Extra: they are of another configuration, or newer than it"
            ])
        #expect(Int(report, "objects") == 8)
    }

    @Test("objects that the model wants to be unique and that are not")
    func notUnique() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        for key in 1...3 as ClosedRange<Int64> {
            try ClubStore.add("ZTEAM", key, 6, ["ZNAME": "'Reds'"], to: file)
        }
        #expect(
            try refused(work, "notUnique")
                == "…/source/club.sqlite, Team: objects have the same name, which must be unique in the model: \"Reds\""
        )
        // SQLite's rule, and Core Data's: nil is no value.
        try file.run("UPDATE ZTEAM SET ZNAME = NULL")
        #expect(work.bring().code == 0)
    }

    @Test("of several versions of a model the one that fits is taken")
    func versions() throws {
        let work = try CoreDataWorkplace()
        let file = try CoreDataFile(work.old, entities: [(1, "Thing", 0, 1)])
        try file.run(
            "CREATE TABLE ZTHING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)"
        )
        try ClubStore.add("ZTHING", 1, 1, ["ZNAME": "'a'"], to: file)
        file.finish()
        let folder = work.folder.path("source/Things.xcdatamodeld")
        for (version, attributes) in [
            ("Things", "name String"), ("Things 2", "name String,size Double"),
            ("Things 3", "name String,size Double,age Date"),
        ] {
            let path = "\(folder)/\(version).xcdatamodel"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
            let elements = attributes.split(separator: ",").map { text in
                let parts = text.split(separator: " ")
                return
                    "<attribute name=\"\(parts[0])\" optional=\"YES\" attributeType=\"\(parts[1])\"/>"
            }.joined()
            try Data("<model><entity name=\"Thing\">\(elements)</entity></model>".utf8)
                .write(to: URL(fileURLWithPath: "\(path)/contents"))
        }
        try Data(
            "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>Things 3.xcdatamodel</string></dict></plist>"
                .utf8
        ).write(to: URL(fileURLWithPath: "\(folder)/.xccurrentversion"))
        let wrong = run([
            "import-coredata", work.old, work.new, "--model", folder, "--version", "Things 2",
        ])
        #expect(wrong.code == 1)
        #expect(wrong.errors.contains("the table has no column ZSIZE for Thing.size"))
        let right = run(["import-coredata", work.old, work.new, "--model", folder])
        #expect(right.code == 0, "\(right.errors)")
        #expect(try ImportedStore(work.new).value("Thing", 1, "name") == .string("a"))
        // What calls one of them the current one matters to nobody who asks for another one, or for the one that fits.
        let current = URL(fileURLWithPath: "\(folder)/.xccurrentversion")
        try Data(
            "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>Gone.xcdatamodel</string></dict></plist>"
                .utf8
        ).write(to: current)
        let asked = run([
            "import-coredata", work.old, work.folder.path("two"), "--model", folder, "--version",
            "Things",
        ])
        #expect(asked.code == 0, "\(asked.errors)")
        #expect(cairn("model", folder, "--version", "Things 2").code == 0)
        #expect(cairn("model", folder).errors.contains("it names the version Gone"))
        #expect(
            cairn("model", folder, "--version", "Gone").errors.contains("there is no version Gone"))
        try FileManager.default.removeItem(at: current)
        let silent = run([
            "import-coredata", work.old, work.folder.path("three"), "--model", folder,
        ])
        #expect(silent.code == 0 && silent.errors.isEmpty, "\(silent.errors)")
    }

    @Test("bytes of a store that are changed give a store or an error, never a trap")
    func mutations() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        let original = Array(try Data(contentsOf: URL(fileURLWithPath: work.old)))
        let schema = try Schema(ClubStore.model)
        let words = ["ZPERSON", "Z_ENT", "Z_PK", "INTEGER", "bplist00", "Person"].map {
            Array($0.utf8)
        }
        var sound = 0
        try Rounds.run(#function, everyDay: 20, whole: 20_000) { random in
            var bytes = original
            random.mutate(&bytes, words: words, keepsLength: random.oneIn(2))
            try Data(bytes).write(to: URL(fileURLWithPath: work.old))
            let job = CoreDataImport(
                from: work.old, to: work.new, candidates: [.init(name: "club", schema: schema)])
            do {
                _ = try job.run()
                sound += 1
                #expect(cairn("check", work.new).code == 0)
                try FileManager.default.removeItem(atPath: work.new)
            } catch {
                #expect(!FileManager.default.fileExists(atPath: work.new))
            }
            #expect(try work.remnants() == [])
        }
        printLine("mutations: \(sound) could be brought over")
    }
}
