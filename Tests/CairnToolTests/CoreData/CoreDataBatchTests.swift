// Objects come over some at a time, and the result is the same whatever their number.

import CairnCoreData
import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Batches of an import from Core Data")
struct CoreDataBatchTests {
    /// A random store: people who lead to each other in all directions, and notes that must lead to people.
    private func fill(_ file: CoreDataFile, _ random: inout RandomSource) throws {
        try file.run("BEGIN")
        let people = Int64(30)
        for key in 1...3 as ClosedRange<Int64> {
            try ClubStore.add("ZTEAM", key, 6, ["ZNAME": "'team \(key)'"], to: file)
        }
        for key in 1...people where !random.oneIn(6) || key == people {
            var values = ["ZNAME": "'person \(key)'"]
            if random.oneIn(20) { values["ZNAME"] = nil }
            if random.oneIn(2) {
                values["ZBUDDY"] = "\(Int64.random(in: 1...people, using: &random))"
            }
            if random.oneIn(2) {
                values["ZTEAM"] = "\(Int.random(in: 1...3, using: &random))"
                values["Z_FOK_TEAM"] = "\(Int.random(in: 1...9_999, using: &random))"
            }
            try ClubStore.add(
                "ZPERSON", key, Int.random(in: 3...5, using: &random), values, to: file)
        }
        for key in 1...20 as ClosedRange<Int64> {
            let author = Int64.random(in: 1...people, using: &random)
            try ClubStore.add("ZNOTE", key, 2, ["ZAUTHOR": "\(author)", "Z1ITEMS": "1"], to: file)
        }
        try ClubStore.add("ZBAG", 1, 1, [:], to: file)
        for _ in 0..<40 {
            let (one, other) = (
                Int64.random(in: 1...people, using: &random),
                Int64.random(in: 1...people, using: &random)
            )
            try file.run("INSERT OR IGNORE INTO Z_3FRIENDS VALUES (\(one), \(other))")
            let keys = (0..<2).map { _ in Int.random(in: 1...999, using: &random) }
            try file.run(
                "INSERT OR IGNORE INTO Z_3FAVORITES VALUES (\(one), \(other % 3 + 1), \(keys[0]), \(keys[1]))"
            )
        }
        try file.run("COMMIT")
    }

    @Test("any number of objects at a time gives the same store")
    func sizes() throws {
        let schema = try Schema(ClubStore.model)
        try Rounds.run(#function, everyDay: 2, whole: 400) { random in
            let work = try CoreDataWorkplace()
            let file = try ClubStore.make(work.old)
            try fill(file, &random)
            file.finish()
            var results: [String] = []
            for rows in [1, 2, 7, 4096] {
                let path = work.folder.path("\(rows).cairn")
                var job = CoreDataImport(
                    from: work.old, to: path,
                    candidates: [.init(name: "club", schema: schema)])
                job.rowsPerSave = rows
                let report = try job.run()
                #expect(cairn("check", path).code == 0)
                let losses = report.losses.map {
                    "\($0.kind) \($0.place) \($0.message) \($0.count)"
                }
                results.append(
                    try describe(path) + "\n" + losses.sorted().joined(separator: "\n"))
            }
            for result in results.dropFirst() { #expect(result == results[0]) }
        }
    }

    /// All that is in a store, and the order of its lists.
    private func describe(_ path: String) throws -> String {
        let store = try ImportedStore(path)
        var lines: [String] = []
        for entity in store.schema.entities {
            for row in try store.rows(entity.name) {
                var line = "\(entity.name) \(row.id.reference)"
                for column in entity.columns { line += " \(try store.value(row, column.name))" }
                for relationship in entity.relationships where relationship.description.isToMany {
                    let name = relationship.description.name
                    let members = try store.members(entity.name, row.id.reference, name)
                    line += " \(relationship.description.isOrdered ? members : members.sorted())"
                }
                lines.append(line)
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test("lists have the order of the source, which asks SQLite itself")
    func order() throws {
        try Rounds.run(#function, everyDay: 2, whole: 400) { random in
            let work = try CoreDataWorkplace()
            let file = try ClubStore.make(work.old)
            try fill(file, &random)
            file.finish()
            _ = work.bring()
            let store = try ImportedStore(work.new)
            let people = Set(
                try ["Person", "Student", "Teacher"].flatMap { try store.numbers($0) })
            for team in 1...3 as ClosedRange<UInt64> {
                let members = try SQLiteRows(
                    work.old,
                    "SELECT Z_PK AS K FROM ZPERSON WHERE ZTEAM = \(team) ORDER BY Z_FOK_TEAM, Z_PK")
                #expect(try store.members("Team", team, "members") == members.keys(in: people))
                let fans = try SQLiteRows(
                    work.old,
                    "SELECT Z_3FANS AS K FROM Z_3FAVORITES WHERE Z_6FAVORITES = \(team) ORDER BY Z_FOK_3FANS, Z_3FANS"
                )
                #expect(try store.members("Team", team, "fans") == fans.keys(in: people))
            }
            for person in people.sorted() {
                let favorites = try SQLiteRows(
                    work.old,
                    "SELECT Z_6FAVORITES AS K FROM Z_3FAVORITES WHERE Z_3FANS = \(person) ORDER BY Z_FOK_6FAVORITES, Z_6FAVORITES"
                )
                #expect(
                    try store.members("Person", person, "favorites")
                        == favorites.keys(in: [1, 2, 3]))
            }
        }
    }

    @Test("chains of objects that must lead to each other come together, whatever their order")
    func chains() throws {
        var next = RelationshipDescription("next", to: "Link", inverse: "previous")
        next.isOptional = false
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Link", attributes: [.init("name", .string)],
                relationships: [
                    next, .init("previous", to: "Link", toMany: true, inverse: "next"),
                ])
        ])
        let work = try CoreDataWorkplace()
        let file = try CoreDataFile(work.old, entities: [(1, "Link", 0, 100)])
        try file.run(
            "CREATE TABLE ZLINK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNEXT INTEGER, ZNAME VARCHAR)"
        )
        // A ring of 1 to 50, and a chain from 51 on whose end leads nowhere.
        for key in 1...60 as ClosedRange<Int64> {
            let target = key <= 50 ? key % 50 + 1 : key + 1
            try ClubStore.add("ZLINK", key, 1, ["ZNEXT": "\(target)"], to: file)
        }
        file.finish()
        var job = CoreDataImport(
            from: work.old, to: work.new,
            candidates: [.init(name: "links", schema: try Schema(model))])
        job.rowsPerSave = 8
        let report = try job.run()
        #expect(report.imported == 50)
        #expect(
            report.losses.map { "\($0.message) \($0.count)" } == [
                "next is required: it refers to an object that was left out 9",
                "next is required: there is no such object 1",
            ])
        let store = try ImportedStore(work.new)
        for key in 1...50 as ClosedRange<UInt64> {
            #expect(try store.target("Link", key, "next") == key % 50 + 1)
        }
    }
}

extension SQLiteRows {
    /// The numbers in the column K that are among some.
    func keys(in known: Set<UInt64>) -> [UInt64] {
        rows.compactMap { row in
            guard case .integer(let number)? = row["K"] else { return nil }
            return UInt64(exactly: number).flatMap { known.contains($0) ? $0 : nil }
        }
    }
}
