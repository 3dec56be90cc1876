// Many-to-many relationships in stores whose tables and columns are numbered in every way, and what is done about one that cannot be
// read.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Tables of many-to-many relationships on the way from Core Data")
struct CoreDataJoinTests {
    /// One side of a relationship: the entity that declares it, and its name.
    private typealias Side = (entity: String, name: String)

    private static let entities = [
        (1, "Label", 0, 8), (2, "Party", 0, 12), (3, "Contact", 2, 0), (4, "Company", 2, 0),
        (5, "Tag", 0, 8), (6, "Kind", 5, 0),
    ]

    /// Relationships of one name, of one and of several entities, through inheritance and with themselves.
    private static let cases: [(String, [(Side, Side)])] = [
        (
            "two entities, one name",
            [
                (("Contact", "tags"), ("Tag", "contacts")),
                (("Company", "tags"), ("Tag", "companies")),
            ]
        ),
        (
            "one name on both sides",
            [
                (("Contact", "links"), ("Tag", "links")),
                (("Company", "links"), ("Label", "links")),
            ]
        ),
        ("siblings with each other", [(("Contact", "peers"), ("Company", "peers"))]),
        (
            "with oneself",
            [
                (("Contact", "friends"), ("Contact", "friends")),
                (("Company", "friends"), ("Company", "friends")),
                (("Contact", "follows"), ("Contact", "followers")),
            ]
        ),
        (
            "names that are beginnings of others",
            [
                (("Contact", "tag"), ("Tag", "contact")),
                (("Contact", "tag1"), ("Tag", "contact1")),
                (("Company", "tag"), ("Label", "company")),
            ]
        ),
        (
            "ancestors and descendants",
            [
                (("Party", "marks"), ("Tag", "parties")),
                (("Contact", "kinds"), ("Kind", "contacts")),
                (("Company", "kinds"), ("Kind", "companies")),
            ]
        ),
        (
            "one name, inverses of one name",
            [
                (("Contact", "tags"), ("Tag", "owners")),
                (("Company", "tags"), ("Label", "owners")),
            ]
        ),
    ]

    /// How tables and columns are numbered.
    enum Numbering: String, CaseIterable, Sendable {
        /// As Core Data does it when a store is made.
        case plain
        /// The table is named after the other side.
        case otherSide
        /// A number follows where a name is there already, in other tables too.
        case suffixes
        /// The table has the number of the entity that its column leads to, and numbers follow.
        case ofTarget
        /// The numbers are those of an older model.
        case stale
    }

    private static func model(_ relationships: [(Side, Side)]) -> ManagedObjectModel {
        var model = ManagedObjectModel(
            entities: entities.map { _, name, parent, _ in
                var entity = EntityDescription(name)
                if parent == 0 { entity.attributes = [.init("name", .string)] }
                entity.superentityName = entities.first { $0.0 == parent }?.1
                return entity
            })
        func add(_ side: Side, _ other: Side) {
            let place = model.entities.firstIndex { $0.name == side.entity } ?? 0
            model.entities[place].relationships.append(
                .init(side.name, to: other.entity, toMany: true, inverse: other.name))
        }
        for (one, other) in relationships {
            add(one, other)
            if one != other { add(other, one) }
        }
        return model
    }

    private static func number(_ entity: String) -> Int {
        entities.first { $0.1 == entity }?.0 ?? 0
    }

    /// The keys of the objects of an entity and its descendants.
    private static func keys(_ entity: String) -> [Int] {
        switch entity {
        case "Label": Array(1...8)
        case "Party": Array(1...12)
        case "Contact": Array(1...6)
        case "Company": Array(7...12)
        case "Tag": Array(1...8)
        default: Array(5...8)
        }
    }

    /// A store with objects of all entities and without relationships.
    private static func store(_ path: String) throws -> CoreDataFile {
        let file = try CoreDataFile(path, entities: entities)
        for (table, leaves) in [
            ("ZLABEL", [("Label", "Label")]),
            ("ZPARTY", [("Contact", "Contact"), ("Company", "Company")]),
            ("ZTAG", [("Tag", "Tag"), ("Kind", "Kind")]),
        ] {
            try file.run(
                "CREATE TABLE \(table) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)"
            )
            for (entity, name) in leaves {
                let own = entity == "Tag" ? Array(1...4) : keys(entity)
                for key in own {
                    try ClubStore.add(
                        table, Int64(key), number(entity), ["ZNAME": "'\(name) \(key)'"], to: file)
                }
            }
        }
        return file
    }

    /// Makes the table of a relationship and gives its pairs.
    private static func addTable(
        _ one: Side, _ other: Side, _ numbering: Numbering, counts: inout [String: Int],
        to file: CoreDataFile, _ random: inout RandomSource
    ) throws -> Set<[Int]> {
        func number(_ entity: String) -> Int {
            numbering == .stale ? 20 - Self.number(entity) : Self.number(entity)
        }
        func column(_ leadingTo: String, _ name: String) -> String {
            let plain = "Z_\(number(leadingTo))\(name.uppercased())"
            guard numbering == .suffixes || numbering == .ofTarget else { return plain }
            defer { counts[name, default: 0] += 1 }
            let count = counts[name] ?? 0
            return count == 0 ? plain : "\(plain)\(count)"
        }
        let isReflexive = one == other
        let destination = column(other.entity, one.name)
        let source = isReflexive ? "REFLEXIVE" : column(one.entity, other.name)
        let table =
            switch numbering {
            case .otherSide: "Z_\(number(other.entity))\(other.name.uppercased())"
            case .ofTarget: "Z_\(number(other.entity))\(one.name.uppercased())"
            default: "Z_\(number(one.entity))\(one.name.uppercased())"
            }
        // Names that would be there twice in one store are numbered by Core Data too.
        var free = table
        while counts[free] != nil { free += "1" }
        counts[free] = 1
        try file.run(
            "CREATE TABLE \(free) (\(source) INTEGER, \(destination) INTEGER, PRIMARY KEY (\(source), \(destination)))"
        )
        var pairs: Set<[Int]> = []
        for _ in 0..<12 {
            guard let from = keys(one.entity).randomElement(using: &random),
                let to = keys(other.entity).randomElement(using: &random),
                !isReflexive || !pairs.contains([to, from]),
                pairs.insert([from, to]).inserted
            else { continue }
            try file.run("INSERT INTO \(free) (\(source), \(destination)) VALUES (\(from), \(to))")
        }
        return pairs
    }

    @Test(
        "relationships of one name, with oneself and through inheritance are found, however their tables are numbered",
        arguments: Numbering.allCases)
    func numberings(_ numbering: Numbering) throws {
        var source = RandomSource("\(numbering)")
        for (name, relationships) in Campaign.sample(Self.cases, oneIn: 4, using: &source) {
            var random = RandomSource(seed: 7)
            let work = try CoreDataWorkplace()
            let file = try Self.store(work.old)
            var counts: [String: Int] = [:]
            var expected: [Set<[Int]>] = []
            for (one, other) in relationships {
                expected.append(
                    try Self.addTable(one, other, numbering, counts: &counts, to: file, &random))
            }
            file.finish()
            try Data(try Self.model(relationships).json().utf8)
                .write(to: URL(fileURLWithPath: work.model))
            let run = work.bring()
            #expect(run.code == 0, "\(numbering), \(name): \(run.output)\(run.errors)")
            guard run.code == 0 else { continue }
            let store = try ImportedStore(work.new)
            for ((one, other), pairs) in zip(relationships, expected) {
                for key in Self.keys(one.entity) {
                    var members = Set(pairs.filter { $0[0] == key }.map { $0[1] })
                    if one == other {
                        members.formUnion(pairs.filter { $0[1] == key }.map { $0[0] })
                    }
                    let owner = try #require(try Self.entity(of: key, one.entity, store))
                    #expect(
                        try Set(store.members(owner, UInt64(key), one.name).map { Int($0) })
                            == members, "\(numbering), \(name): \(one.entity).\(one.name) of \(key)"
                    )
                }
            }
        }
    }

    private static func entity(of key: Int, _ entity: String, _ store: ImportedStore) throws
        -> String?
    {
        try store.rows(entity, subentities: true).first { $0.id.reference == UInt64(key) }
            .map { store.schema.entities[$0.entity].name }
    }

    @Test("the store of an address book whose tags are numbered comes over")
    func addressBook() throws {
        let work = try CoreDataWorkplace()
        let file = try CoreDataFile(
            work.old,
            entities: [(3, "Contact", 0, 2), (13, "Tag", 0, 2), (14, "Note", 0, 1)])
        for (table, number, keys) in [("ZCONTACT", 3, 2), ("ZTAG", 13, 2), ("ZNOTE", 14, 1)] {
            try file.run(
                "CREATE TABLE \(table) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)"
            )
            for key in 1...keys { try ClubStore.add(table, Int64(key), number, [:], to: file) }
        }
        try file.run(
            """
            CREATE TABLE Z_13TAGS (Z_3CONTACTS INTEGER, Z_13TAGS1 INTEGER, PRIMARY KEY (Z_3CONTACTS, Z_13TAGS1));
            CREATE TABLE Z_14TAGS (Z_14NOTES INTEGER, Z_13TAGS2 INTEGER, PRIMARY KEY (Z_14NOTES, Z_13TAGS2));
            INSERT INTO Z_13TAGS VALUES (1, 2), (2, 1), (2, 2);
            INSERT INTO Z_14TAGS VALUES (1, 1);
            """)
        file.finish()
        func entity(_ name: String, _ relationships: RelationshipDescription...)
            -> EntityDescription
        {
            EntityDescription(
                name, attributes: [.init("name", .string)], relationships: relationships)
        }
        let model = ManagedObjectModel(entities: [
            entity("Contact", .init("tags", to: "Tag", toMany: true, inverse: "contacts")),
            entity("Note", .init("tags", to: "Tag", toMany: true, inverse: "notes")),
            entity(
                "Tag", .init("contacts", to: "Contact", toMany: true, inverse: "tags"),
                .init("notes", to: "Note", toMany: true, inverse: "tags")),
        ])
        try Data(try model.json().utf8).write(to: URL(fileURLWithPath: work.model))
        let run = work.bring()
        #expect(run.code == 0, "\(run.output)\(run.errors)")
        let store = try ImportedStore(work.new)
        #expect(try store.members("Contact", 1, "tags") == [2])
        #expect(try Set(store.members("Contact", 2, "tags")) == [1, 2])
        #expect(try Set(store.members("Tag", 1, "contacts")) == [2])
        #expect(try store.members("Note", 1, "tags") == [1])
    }

    // MARK: What cannot be read

    private func change(
        _ work: borrowing CoreDataWorkplace, _ change: (inout ManagedObjectModel) -> Void
    ) throws {
        var model = ClubStore.model
        change(&model)
        try Data(try model.json().utf8).write(to: URL(fileURLWithPath: work.model))
    }

    @Test(
        "one relationship or property that the store has no place for loses nothing else with --skip, and is reported"
    )
    func skipping() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        try file.run("ALTER TABLE Z_3FRIENDS RENAME COLUMN REFLEXIVE TO ODD")
        file.finish()
        try change(work) { model in
            model.entities[2].attributes.append(.init("email", .string))
            model.entities[2].attributes.append(
                .init("score", .integer16, optional: false, default: .integer(3)))
            model.entities.append(EntityDescription("Lost", attributes: [.init("x", .string)]))
        }
        let refused = work.bring()
        #expect(refused.code == 1)
        for text in [
            "the model does not match the store", "Person.friends", "ZEMAIL for Person.email",
            "ZSCORE for Person.score", "--skip",
        ] { #expect(refused.errors.contains(text), "\(text): \(refused.errors)") }
        #expect(!FileManager.default.fileExists(atPath: work.new))
        let run = work.bring("--skip")
        #expect(run.code == 4, "\(run.errors)")
        for place in ["Person.friends", "Person.email", "Person.score"] {
            #expect(run.output.contains("\(place): it is left out:"), "\(run.output)")
        }
        #expect(
            run.output.contains(
                "Z_3FRIENDS: the model has no relationship for it; it has 3 pairs"))
        let store = try ImportedStore(work.new)
        #expect(try store.numbers("Person") == [2])
        #expect(try store.value("Person", 2, "name") == .string("Ann"))
        #expect(try store.value("Person", 2, "score") == .integer(3))
        #expect(try store.members("Person", 2, "favorites") == [3, 1])
        #expect(try store.members("Bag", 1, "items") == [4, 9])
        #expect(try store.members("Team", 1, "members") == [5, 6, 2])
    }

    @Test("what objects cannot be without is not skipped")
    func mandatory() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        try change(work) { model in
            model.entities[2].attributes.append(.init("email", .string, optional: false))
        }
        let run = work.bring("--skip")
        #expect(run.code == 1)
        #expect(run.errors.contains("ZEMAIL for Person.email") && !run.errors.contains("--skip"))
        #expect(!FileManager.default.fileExists(atPath: work.new))
    }

    @Test("objects that must lead to what the store has no table for are left out with --skip")
    func unreachable() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        try file.run("ALTER TABLE ZPERSON RENAME TO ZHUMAN")
        file.finish()
        try change(work) { _ in }
        let run = work.bring("--skip")
        #expect(run.code == 4, "\(run.errors)")
        #expect(run.output.contains("Person: it is left out:"), "\(run.output)")
        #expect(run.output.contains("author is required, but the store has no table"))
        let store = try ImportedStore(work.new)
        #expect(try store.numbers("Team") == [1, 3])
        #expect(try store.numbers("Note").isEmpty)
    }

    @Test("a model of another version says that it does not fit, and in what the two differ")
    func otherVersion() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        try change(work) { model in
            model.entities[2].attributes.removeAll { $0.name == "height" }
            model.entities[2].attributes.append(.init("size", .double))
            model.entities[5].attributes.append(.init("town", .string))
        }
        let run = work.bring()
        #expect(run.code == 1)
        for text in [
            "the model does not match the store", "ZSIZE for Person.size", "ZTOWN for Team.town",
            "no property for ZPERSON.ZHEIGHT",
        ] { #expect(run.errors.contains(text), "\(text): \(run.errors)") }
    }

    @Test("an index that repeats another one is said to be left out, and why")
    func repeatedIndexes() throws {
        let work = try CoreDataWorkplace()
        let file = try ClubStore.make(work.old)
        try ClubStore.fill(file)
        file.finish()
        try change(work) { model in
            model.entities[2].indexes = [
                FetchIndexDescription("name", elements: [.init("name")]),
                FetchIndexDescription("byName", elements: [.init("name")]),
            ]
        }
        let report = try work.report()
        #expect(
            report["remarks"] as? [String] == [
                "the index byName of Person is not kept: it repeats name"
            ])
        #expect(try ImportedStore(work.new).entity("Person").description.indexes.count == 2)
    }
}
