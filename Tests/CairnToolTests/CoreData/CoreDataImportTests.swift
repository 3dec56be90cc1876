// cairn import-coredata: everything that a store can hold comes over, and the source stays as it is.

import CairnCoreData
import CairnLog
import CairnModel
import CairnMoving
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

/// A folder with an old store, its model, and room for a new one.
struct CoreDataWorkplace: ~Copyable {
    let folder: TemporaryDirectory
    let old: String
    let new: String
    let model: String

    init() throws {
        // All of it is there before the parts are set: half a value that cannot be copied is none.
        let folder = try TemporaryDirectory()
        let source = folder.path("source")
        try FileManager.default.createDirectory(
            atPath: source, withIntermediateDirectories: true)
        let model = try ClubStore.modelFile(in: folder.path)
        self.folder = folder
        self.model = model
        old = source + "/club.sqlite"
        new = folder.path("new.cairn")
    }

    /// Runs the command.
    func bring(_ more: String...) -> ToolRun {
        run(["import-coredata", old, new, "--model", model] + more)
    }

    /// What became of the import, which may have lost something.
    func report() throws -> [String: Any] {
        let run = bring("--json")
        return try #require(try run.json.first, "\(run.errors)")
    }

    /// The losses of an import: kind, place, sentence, how often.
    func losses() throws -> [String] {
        let losses = try #require(try report()["losses"] as? [[String: Any]])
        return losses.map {
            "\($0["kind"] ?? "") \($0["place"] ?? ""): \($0["message"] ?? "") ×\(Int($0, "count") ?? 0)"
        }
    }

    /// The files beside the new store, but for what the tests put there.
    func remnants() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !["source", "club.json", "new.cairn"].contains($0) }
    }

    /// The files of the old store, with what is in them.
    func source() throws -> [String: Data] {
        let folder = self.folder.path("source")
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            files[name] = try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        return files
    }
}

@Suite("cairn import-coredata")
struct CoreDataImportTests {
    @Test("every type, inheritance and every kind of relationship come over")
    func everything() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        let before = try work.source()
        let run = work.bring()
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.lines.prefix(8) == [
                "entity   objects  imported", "───────  ───────  ────────",
                "Bag            1         1", "Note           2         2",
                "Person         1         1", "Student        1         1",
                "Teacher        1         1", "Team           2         2",
            ])
        #expect(try work.source() == before)
        #expect(try work.remnants() == [])
        #expect(cairn("check", work.new).code == 0)

        let store = try ImportedStore(work.new)
        #expect(store.store.identity.identifier.uuidString == CoreDataFile.identifier)
        try checkValues(store)
        try checkRelationships(store)
    }

    private func checkValues(_ store: ImportedStore) throws {
        let expected: [String: Value] = [
            "name": .string("Ann"), "age": .integer(-32768),
            "born": .date(Date(timeIntervalSinceReferenceDate: 12345.5)), "flag": .boolean(true),
            "height": .double(1.75), "weight": .float(61.5),
            "price": .decimal(try #require(Decimal(string: "19.99"))),
            "site": .uri(try #require(URL(string: "https://example.org/a?b=c"))),
            "points": .integer(2_147_483_647),
            "code": .uuid(try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))),
            // Of the one that may be in a file the first byte only says that it is not.
            "photo": .binary(Data([0xCA, 0xFE])), "thumb": .binary(Data([1, 0xCA, 0xFE])),
        ]
        for (name, value) in expected {
            #expect(try store.value("Person", 2, name) == value, "\(name)")
        }
        for name in ["age", "code", "flag", "photo", "points", "site", "thumb", "weight"] {
            #expect(try store.value("Student", 5, name) == .null, "\(name)")
        }
        #expect(
            try store.value("Student", 5, "born")
                == .date(Date(timeIntervalSinceReferenceDate: 7)))
        #expect(try store.value("Student", 5, "price") == .decimal(3))
        #expect(try store.value("Student", 5, "height") == .double(2))
        #expect(try store.value("Student", 5, "grade") == .integer(9))
        #expect(try store.value("Student", 5, "title") == .string("head"))
        #expect(try store.value("Teacher", 6, "title") == .string("Dr"))
        #expect(try store.value("Teacher", 6, "name") == .string(""))
        #expect(try store.value("Teacher", 6, "flag") == .boolean(false))
        #expect(try store.value("Note", 9, "text") == .null)
    }

    private func checkRelationships(_ store: ImportedStore) throws {
        #expect(try store.target("Person", 2, "buddy") == 5)
        #expect(try store.target("Teacher", 6, "buddy") == 2)
        #expect(try store.target("Person", 2, "team") == 1)
        #expect(try store.target("Note", 4, "author") == 6)
        #expect(try store.target("Team", 1, "captain") == 5)
        #expect(try store.target("Student", 5, "captainOf") == 1)
        #expect(try store.target("Team", 3, "captain") == nil)
        #expect(try store.members("Team", 1, "members") == [5, 6, 2])
        #expect(try store.members("Team", 1, "fans") == [5, 2])
        #expect(try store.members("Person", 2, "favorites") == [3, 1])
        #expect(try store.members("Student", 5, "favorites") == [1])
        #expect(try store.members("Person", 2, "friends") == [5])
        #expect(try store.members("Student", 5, "friends") == [2])
        #expect(try store.members("Teacher", 6, "friends") == [6])
        #expect(try store.members("Bag", 1, "items").sorted() == [4, 9])
    }

    @Test("what is only in the write-ahead log is read, and the log stays where it is")
    func writeAheadLog() throws {
        let work = try CoreDataWorkplace()
        let other = work.folder.path("open.sqlite")
        let file = try ClubStore.make(other, keepsLog: true)
        try ClubStore.fill(file)
        // As a program leaves it that has ended without closing it.
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: other + ending, toPath: work.old + ending)
        }
        file.finish()
        let before = try work.source()
        #expect(before.keys.sorted() == ["club.sqlite", "club.sqlite-wal"])
        let report = try work.report()
        #expect(Int(report, "objects") == 8)
        #expect(Int(report, "logBytes") == before["club.sqlite-wal"]?.count)
        #expect(try work.source() == before)
        let store = try ImportedStore(work.new)
        try checkValues(store)
        try checkRelationships(store)
    }

    @Test("a store in a folder that nobody may write to is read, and so is one that is open")
    func readOnlyFolder() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old, keepsLog: true)
        try ClubStore.fill(file)
        let folder = work.folder.path("source")
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
        defer { try? files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder) }
        let before = try work.source()
        #expect(Int(try work.report(), "objects") == 8)
        #expect(try work.source() == before)
        withExtendedLifetime(file) {}
    }

    @Test("numbers and URIs stay, and numbers of objects that are gone are not given again")
    func numbers() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        #expect(work.bring().code == 0)
        let uri = "x-coredata://\(CoreDataFile.identifier)/Person/p5"
        let found = cairn("get", work.new, "Person", uri)
        #expect(found.lines.first == "Student p5, version 1" || found.code == 0, "\(found.errors)")
        for (other, words) in [
            ("x-coredata://0/Person/p5", "is not the URI of an object"),
            ("x-coredata://\(UUID().uuidString)/Person/p5", "is an object of another store"),
            (
                "x-coredata://\(CoreDataFile.identifier)/Team/p3",
                "is an object of Team, not of Person"
            ),
            (
                "x-coredata://\(CoreDataFile.identifier)/Nobody/p5",
                "belongs to the entity Nobody, which the store does not have"
            ),
            (
                "x-coredata://\(CoreDataFile.identifier)/Person/p0",
                "is not the URI of a stored object"
            ),
        ] {
            let refused = cairn("get", work.new, "Person", other)
            #expect(refused.code == 1 && refused.errors == "cairn: \(other) \(words)\n")
        }
        let store = try ImportedStore(work.new).store
        let person = try #require(store.schema.entity(named: "Person"))
        let url = try #require(URL(string: uri))
        #expect(
            try store.objectID(forCoreDataURI: url) == store.identity.id(5, entity: person.index))
        for other in [
            "x-coredata://\(UUID().uuidString)/Person/p5",
            "x-coredata://\(CoreDataFile.identifier)/Nobody/p5",
            "x-coredata://\(CoreDataFile.identifier)/Person/p0",
            "x-coredata://\(CoreDataFile.identifier)/Person/t5",
            "x-cairn://\(CoreDataFile.identifier)/h1/p5",
        ] {
            let url = try #require(URL(string: other))
            #expect(try store.objectID(forCoreDataURI: url) == nil, "\(other)")
        }
        // Z_MAX of Person is 40.
        let list = try #require("[{\"name\":\"New\"}]".data(using: .utf8))
        let path = work.folder.path("list.json")
        try list.write(to: URL(fileURLWithPath: path))
        try store.close()
        #expect(cairn("import", work.new, path, "--entity", "Person").code == 0)
        #expect(try ImportedStore(work.new).numbers("Person") == [2, 41])
    }

    @Test("keys that lie far apart are kept, and an absurd highest key is not believed")
    func farApart() throws {
        let work = try CoreDataWorkplace()
        var entities = ClubStore.entities
        entities[5] = (6, "Team", 0, 1 << 40)
        entities[0] = (1, "Bag", 0, -7)
        let file = try ClubStore.make(work.old, entities: entities)
        try ClubStore.add("ZTEAM", 4_000_000_000, 6, ["ZNAME": "'far'"], to: file)
        try ClubStore.add("ZTEAM", 2, 6, ["ZNAME": "'near'"], to: file)
        try ClubStore.add("ZBAG", 3_000_000_000, 1, [:], to: file)
        file.finish()
        let run = work.bring()
        #expect(run.code == 0, "\(run.errors)")
        let store = try ImportedStore(work.new)
        #expect(try store.numbers("Team") == [2, 4_000_000_000])
        #expect(try store.numbers("Bag") == [3_000_000_000])
        #expect(cairn("check", work.new).code == 0)
    }

    @Test("a copy under another name finds its objects by their old URIs too")
    func renamedStore() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        #expect(work.bring().code == 0)
        let copy = work.folder.path("copy.cairn")
        let store = try ImportedStore(work.new).store
        try store.copy(to: copy)
        let url = try #require(URL(string: "x-coredata://\(CoreDataFile.identifier)/Team/p3"))
        let other = try ImportedStore(copy).store
        #expect(other.identity.identifier != store.identity.identifier)
        let id = try #require(try other.objectID(forCoreDataURI: url))
        #expect(id.store == other.identity.identifier && id.reference == 3)
    }

    @Test("metadata of the program comes over, and what has no form is named")
    func metadata() throws {
        let work = try CoreDataWorkplace()
        let own =
            "<key>token</key><string>abc</string><key>count</key><integer>3</integer>"
            + "<key>on</key><true/><key>list</key><array><string>a</string></array>"
        try ClubStore.make(work.old, metadata: own).finish()
        #expect(try work.losses() == ["metadata Z_METADATA: list is not a plain value ×1"])
        let values = try ImportedStore(work.new).store.metadata().values
        #expect(
            values == [
                "token": .string("abc"), "count": .integer(3), "on": .boolean(true),
                "NSStoreUUID": .string(CoreDataFile.identifier),
            ])
    }

    @Test("history and the tables of iCloud stay behind, and names of old are found")
    func leftBehind() throws {
        let work = try CoreDataWorkplace()
        let entities = [
            (1, "Bag", 0, 2), (2, "Note", 0, 9), (3, "Person", 0, 40), (4, "Pupil", 3, 0),
            (5, "Teacher", 3, 0), (6, "Team", 0, 3), (16_001, "CHANGE", 0, 1),
            (16_002, "TRANSACTION", 0, 1),
        ]
        let file = try ClubStore.make(work.old, entities: entities)
        try ClubStore.fill(file)
        try file.run(
            """
            CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
            INSERT INTO ATRANSACTION VALUES (1, 16002), (2, 16002);
            CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY);
            """)
        // The hashes have the new name, as after a migration in place.
        let list = try #require(
            try SQLiteRows(work.old, "SELECT Z_PLIST FROM Z_METADATA").rows[0]["Z_PLIST"])
        guard case .blob(let data) = list else {
            Issue.record("no property list")
            return
        }
        let renamed = String(decoding: data, as: UTF8.self)
            .replacingOccurrences(of: "Pupil", with: "Student")
        try file.run(
            "UPDATE Z_METADATA SET Z_PLIST = \(CoreDataFile.blob(Array(renamed.utf8)))")
        file.finish()
        let report = try work.report()
        #expect(
            report["remarks"] as? [String] == [
                "Core Data's history is not imported: it has 2 transactions",
                "Core Data's data about iCloud is not imported: 1 tables named ANSCK…",
            ])
        #expect(try ImportedStore(work.new).numbers("Student") == [5])
    }
}
