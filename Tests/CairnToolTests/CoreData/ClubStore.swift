// A store with everything that Core Data stores: every type, inheritance, and every kind of relationship.
//
//   1 Bag        name, items ⇉ Note without an inverse
//   2 Note       text, author → Person, mandatory
//   3 Person     an attribute of every type; team → Team, friends ⇉ Person (its own inverse), favorites ⇉ Team
//   (ordered),
//                captainOf → Team, buddy → Person
//   4 Student    of Person: grade, title
//   5 Teacher    of Person: room, title, in a column of its own
//   6 Team       name (unique), members and fans ⇉ Person (both ordered), captain → Person

import CairnModel
import Foundation
import Testing

enum ClubStore {
    static let entities = [
        (1, "Bag", 0, 2), (2, "Note", 0, 9), (3, "Person", 0, 40), (4, "Student", 3, 0),
        (5, "Teacher", 3, 0), (6, "Team", 0, 3),
    ]

    static let model: ManagedObjectModel = {
        func ordered(_ name: String, _ target: String, _ inverse: String)
            -> RelationshipDescription
        {
            var relationship = RelationshipDescription(
                name, to: target, toMany: true, inverse: inverse)
            relationship.isOrdered = true
            return relationship
        }
        var author = RelationshipDescription("author", to: "Person", inverse: "notes")
        author.isOptional = false
        var photo = AttributeDescription("photo", .binary)
        photo.allowsExternalBinaryDataStorage = true
        var student = EntityDescription(
            "Student",
            attributes: [
                .init("grade", .integer64, optional: false, default: .integer(7)),
                .init("title", .string),
            ])
        student.superentityName = "Person"
        var teacher = EntityDescription(
            "Teacher", attributes: [.init("room", .string), .init("title", .string)])
        teacher.superentityName = "Person"
        return ManagedObjectModel(entities: [
            EntityDescription(
                "Bag", attributes: [.init("name", .string)],
                relationships: [.init("items", to: "Note", toMany: true)]),
            EntityDescription(
                "Note", attributes: [.init("text", .string)], relationships: [author]),
            EntityDescription(
                "Person",
                attributes: [
                    .init("age", .integer16), .init("born", .date), .init("code", .uuid),
                    .init("flag", .boolean), .init("height", .double),
                    .init("name", .string, optional: false), photo, .init("points", .integer32),
                    .init("price", .decimal), .init("site", .uri), .init("thumb", .binary),
                    .init("weight", .float),
                ],
                relationships: [
                    .init("buddy", to: "Person", inverse: "buddyOf"),
                    .init("buddyOf", to: "Person", toMany: true, inverse: "buddy"),
                    .init("captainOf", to: "Team", inverse: "captain"),
                    ordered("favorites", "Team", "fans"),
                    .init("friends", to: "Person", toMany: true, inverse: "friends"),
                    .init("notes", to: "Note", toMany: true, inverse: "author"),
                    .init("team", to: "Team", inverse: "members"),
                ]),
            student, teacher,
            EntityDescription(
                "Team", attributes: [.init("name", .string)],
                relationships: [
                    .init("captain", to: "Person", inverse: "captainOf"),
                    ordered("fans", "Person", "favorites"), ordered("members", "Person", "team"),
                ], uniquenessConstraints: [["name"]]),
        ])
    }()

    /// The model in a file, for the tool.
    static func modelFile(in folder: String) throws -> String {
        let path = folder + "/club.json"
        try Data(try model.json().utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// An empty store.
    static func make(
        _ path: String, keepsLog: Bool = false, entities: [(Int, String, Int, Int)] = entities,
        metadata: String = ""
    ) throws -> CoreDataFile {
        let file = try CoreDataFile(
            path, entities: entities, keepsLog: keepsLog, metadata: metadata)
        try file.run(
            """
            CREATE TABLE ZBAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
            CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z1ITEMS INTEGER,
                ZAUTHOR INTEGER, Z3_AUTHOR INTEGER, ZTEXT VARCHAR);
            CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER,
                ZFLAG INTEGER, ZPOINTS INTEGER, ZBUDDY INTEGER, Z3_BUDDY INTEGER, ZCAPTAINOF INTEGER,
                ZTEAM INTEGER, Z_FOK_TEAM INTEGER, ZGRADE INTEGER, ZBORN TIMESTAMP, ZHEIGHT FLOAT,
                ZWEIGHT FLOAT, ZPRICE DECIMAL, ZNAME VARCHAR, ZSITE VARCHAR, ZTITLE VARCHAR, ZROOM VARCHAR,
                ZTITLE1 VARCHAR, ZCODE BLOB, ZPHOTO BLOB, ZTHUMB BLOB);
            CREATE TABLE ZTEAM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCAPTAIN INTEGER,
                Z3_CAPTAIN INTEGER, ZNAME VARCHAR);
            CREATE TABLE Z_3FAVORITES (Z_3FANS INTEGER, Z_6FAVORITES INTEGER, Z_FOK_3FANS INTEGER,
                Z_FOK_6FAVORITES INTEGER, PRIMARY KEY (Z_3FANS, Z_6FAVORITES));
            CREATE TABLE Z_3FRIENDS (Z_3FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_3FRIENDS, REFLEXIVE));
            """)
        return file
    }

    /// Adds objects: values by column, as SQL has them.
    static func add(
        _ table: String, _ key: Int64, _ entity: Int, _ values: [String: String],
        to file: CoreDataFile
    ) throws {
        let pairs = values.sorted { $0.key < $1.key }
        let names = ["Z_PK", "Z_ENT", "Z_OPT"] + pairs.map(\.key)
        let texts = ["\(key)", "\(entity)", "1"] + pairs.map(\.value)
        try file.run(
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(texts.joined(separator: ", ")))"
        )
    }

    /// A few of everything.
    static func fill(_ file: CoreDataFile) throws {
        try add("ZTEAM", 1, 6, ["ZNAME": "'Reds'", "ZCAPTAIN": "5", "Z3_CAPTAIN": "4"], to: file)
        try add("ZTEAM", 3, 6, ["ZNAME": "'Blues'"], to: file)
        try add(
            "ZPERSON", 2, 3,
            [
                "ZNAME": "'Ann'", "ZAGE": "-32768", "ZBORN": "12345.5", "ZFLAG": "1",
                "ZHEIGHT": "1.75", "ZWEIGHT": "61.5", "ZPRICE": "19.99",
                "ZSITE": "'https://example.org/a?b=c'", "ZPOINTS": "2147483647",
                "ZCODE": "x'00112233445566778899aabbccddeeff'", "ZPHOTO": "x'01cafe'",
                "ZTHUMB": "x'01cafe'", "ZTEAM": "1", "Z_FOK_TEAM": "3072", "ZBUDDY": "5",
                "Z3_BUDDY": "4",
            ], to: file)
        try add(
            "ZPERSON", 5, 4,
            [
                "ZNAME": "'Bo Øre'", "ZGRADE": "9", "ZTITLE": "'head'", "ZBORN": "7",
                "ZPRICE": "3", "ZHEIGHT": "2", "ZTEAM": "1", "Z_FOK_TEAM": "1024",
                "ZCAPTAINOF": "1",
            ], to: file)
        try add(
            "ZPERSON", 6, 5,
            [
                "ZNAME": "''", "ZTITLE1": "'Dr'", "ZROOM": "'12'", "ZFLAG": "0", "ZTEAM": "1",
                "Z_FOK_TEAM": "2048", "ZBUDDY": "2", "Z3_BUDDY": "3",
            ], to: file)
        try add("ZBAG", 1, 1, ["ZNAME": "'bag'"], to: file)
        try add(
            "ZNOTE", 4, 2,
            ["ZTEXT": "'one'", "ZAUTHOR": "6", "Z3_AUTHOR": "5", "Z1ITEMS": "1"], to: file)
        try add("ZNOTE", 9, 2, ["ZTEXT": "NULL", "ZAUTHOR": "2", "Z1ITEMS": "1"], to: file)
        try file.run(
            """
            INSERT INTO Z_3FAVORITES VALUES (2, 1, 2048, 2048), (2, 3, 1024, 1024), (5, 1, 1024, 1024);
            INSERT INTO Z_3FRIENDS VALUES (2, 5), (5, 2), (6, 6);
            """)
    }
}
