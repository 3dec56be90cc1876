// What cannot be brought over from Core Data is named, and nothing traps.

import CairnCoreData
import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("What is lost on the way from Core Data")
struct CoreDataLossTests {
    private func made(
        _ work: borrowing CoreDataWorkplace, _ body: (CoreDataFile) throws -> Void
    ) throws {
        let file = try ClubStore.make(work.old)
        try body(file)
        file.finish()
    }

    @Test("values that do not fit their attributes")
    func misfits() throws {
        let work = try CoreDataWorkplace()
        let bad = [
            "ZAGE": "70000", "ZFLAG": "2", "ZPOINTS": "2147483648", "ZBORN": "'x'",
            "ZHEIGHT": "'tall'", "ZWEIGHT": "1e300", "ZPRICE": "1e300", "ZSITE": "'a b'",
            "ZCODE": "x'0011'", "ZTHUMB": "7",
        ]
        try made(work) { file in
            try ClubStore.add("ZPERSON", 1, 3, bad.merging(["ZNAME": "'a'"]) { $1 }, to: file)
            try ClubStore.add(
                "ZPERSON", 2, 3, ["ZNAME": "'b'", "ZAGE": "1.5", "ZBORN": "1e999"], to: file)
            try ClubStore.add(
                "ZPERSON", 3, 3,
                ["ZNAME": "'c'", "ZAGE": "-40000", "ZSITE": "CAST(x'ff' AS TEXT)"], to: file)
        }
        let run = work.bring()
        #expect(run.code == 4)
        #expect(run.errors.contains("not all of it could be imported"))
        let uri = "x-coredata://\(CoreDataFile.identifier)/Person"
        let lines = Set(run.lines)
        for line in [
            "  Person.age: it does not fit the type integer16: it is out of range (2 times): \(uri)/p1 (70000), \(uri)/p3 (-40000)",
            "  Person.age: it does not fit the type integer16: it is not a whole number: \(uri)/p2 (1.5)",
            "  Person.flag: it does not fit the type boolean: it is neither 0 nor 1: \(uri)/p1 (2)",
            "  Person.points: it does not fit the type integer32: it is out of range: \(uri)/p1 (2147483648)",
            "  Person.born: it does not fit the type date: it is a text: \(uri)/p1 (\"x\")",
            "  Person.born: it does not fit the type date: it is not a finite date: \(uri)/p2 (inf)",
            "  Person.height: it does not fit the type double: it is a text: \(uri)/p1 (\"tall\")",
            "  Person.weight: it does not fit the type float: it is out of the range of a float: \(uri)/p1 (1e+300)",
            "  Person.price: it does not fit the type decimal: it is not a decimal number: \(uri)/p1 (1e+300)",
            "  Person.site: it does not fit the type uri: it is not a URI: \(uri)/p1 (\"a b\")",
            "  Person.site: it does not fit the type uri: it is not UTF-8: \(uri)/p3 (1 bytes)",
            "  Person.code: it does not fit the type uuid: it does not have 16 bytes: \(uri)/p1 (2 bytes)",
            "  Person.thumb: it does not fit the type binary: it is a number: \(uri)/p1 (7)",
        ] { #expect(lines.contains(line), "\(line)\n\(run.output)") }
        let store = try ImportedStore(work.new)
        #expect(try store.numbers("Person") == [1, 2, 3])
        for name in ["age", "flag", "born", "height", "weight", "price", "site", "code", "thumb"] {
            #expect(try store.value("Person", 1, name) == .null, "\(name)")
        }
        #expect(cairn("check", work.new).code == 0)
    }

    @Test("an object that lacks what is mandatory is left out, with all that must lead to it")
    func mandatory() throws {
        let work = try CoreDataWorkplace()
        try made(work) { file in
            try ClubStore.add("ZPERSON", 1, 3, [:], to: file)
            try ClubStore.add("ZPERSON", 2, 4, ["ZNAME": "'b'", "ZBUDDY": "1"], to: file)
            try ClubStore.add("ZNOTE", 1, 2, ["ZAUTHOR": "1", "Z1ITEMS": "1"], to: file)
            try ClubStore.add("ZNOTE", 2, 2, ["ZAUTHOR": "2", "Z1ITEMS": "1"], to: file)
            try ClubStore.add("ZNOTE", 3, 2, ["ZAUTHOR": "77", "Z1ITEMS": "1"], to: file)
            try ClubStore.add("ZNOTE", 4, 2, ["Z1ITEMS": "1"], to: file)
            try ClubStore.add("ZBAG", 1, 1, [:], to: file)
            try file.run(
                "INSERT INTO Z_3FRIENDS VALUES (2, 1); INSERT INTO Z_3FAVORITES VALUES (2, 8, 1, 1)"
            )
        }
        let losses = try work.losses()
        #expect(
            losses == [
                "defaulted Student.grade: it is required, but nil: it got the default ×1",
                "object Person: name is required, but nil ×1",
                "object Note: author is required: it refers to an object that was left out ×1",
                "object Note: author is required: there is no such object ×1",
                "object Note: author is required, but its target does not exist ×1",
                "reference Student.buddy: it refers to an object that was left out ×1",
                "reference Bag.items: it refers to an object that was left out ×3",
                "reference Person.favorites: there is no such object ×1",
                "reference Person.friends: it refers to an object that was left out ×1",
            ])
        let store = try ImportedStore(work.new)
        #expect(try store.numbers("Person") == [])
        #expect(try store.numbers("Student") == [2])
        #expect(try store.value("Student", 2, "grade") == .integer(7))
        #expect(try store.numbers("Note") == [2])
        #expect(try store.members("Bag", 1, "items") == [2])
        #expect(cairn("check", work.new).code == 0)
    }

    @Test("references that lead nowhere, to another entity, or not back")
    func references() throws {
        let work = try CoreDataWorkplace()
        try made(work) { file in
            try ClubStore.add("ZTEAM", 1, 6, ["ZCAPTAIN": "1"], to: file)
            try ClubStore.add("ZTEAM", 2, 6, ["ZCAPTAIN": "1"], to: file)
            try ClubStore.add(
                "ZPERSON", 1, 3,
                ["ZNAME": "'a'", "ZTEAM": "9", "ZBUDDY": "-1", "ZCAPTAINOF": "1"], to: file)
            try ClubStore.add(
                "ZPERSON", 2, 3, ["ZNAME": "'b'", "ZTEAM": "'x'", "ZBUDDY": "9e18"], to: file)
        }
        #expect(
            try work.losses()
                == [
                    "reference Person.team: it is not the key of an object ×1",
                    "reference Person.buddy: there is no such object ×2",
                    "reference Person.team: there is no such object ×1",
                    "reference Team.captain: the inverse relationship does not match ×1",
                ])
        let store = try ImportedStore(work.new)
        #expect(try store.target("Person", 1, "captainOf") == 1)
        #expect(try store.target("Team", 1, "captain") == 1)
        #expect(try store.target("Team", 2, "captain") == nil)
        #expect(cairn("check", work.new).code == 0)
    }

    @Test("rows that are no objects of the model, and columns that nobody has")
    func rows() throws {
        let work = try CoreDataWorkplace()
        try made(work) { file in
            try ClubStore.add("ZBAG", 1, 1, [:], to: file)
            try ClubStore.add("ZBAG", 2, 6, [:], to: file)
            try ClubStore.add("ZBAG", 3, 99, [:], to: file)
            try ClubStore.add("ZBAG", -4, 1, [:], to: file)
            try ClubStore.add("ZBAG", 5_000_000_000, 1, [:], to: file)
            try file.run("ALTER TABLE ZBAG ADD COLUMN ZCOLOUR VARCHAR")
            try file.run("UPDATE ZBAG SET ZCOLOUR = 'red' WHERE Z_PK < 3")
        }
        let losses = try work.losses()
        #expect(
            losses == [
                "object ZBAG: its key is not the number of an object ×2",
                "object ZBAG: its Z_ENT does not name an entity of the table ×2",
                "column ZBAG.ZCOLOUR: the model has no property for it; it has 3 values ×1",
            ])
        #expect(try ImportedStore(work.new).numbers("Bag") == [1])
    }

    @Test("values in files of their own, and those whose files are missing")
    func externalValues() throws {
        let work = try CoreDataWorkplace()
        let files = work.folder.path("source") + "/.club_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(
            atPath: files, withIntermediateDirectories: true)
        let content = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let name = "0FA4C1B2-0000-4000-8000-00000000ABCD"
        try content.write(to: URL(fileURLWithPath: "\(files)/\(name)"))
        try Data("secret".utf8).write(to: URL(fileURLWithPath: work.folder.path("secret")))
        func reference(_ name: String) -> String {
            CoreDataFile.blob([2] + Array(name.utf8) + [0])
        }
        let names = [name, "0FA4C1B2-0000-4000-8000-00000000FFFF", "../../../secret", ""]
        try made(work) { file in
            for (index, name) in names.enumerated() {
                try ClubStore.add(
                    "ZPERSON", Int64(index + 1), 3, ["ZNAME": "'a'", "ZPHOTO": reference(name)],
                    to: file)
            }
        }
        let report = try work.report()
        #expect(Int(report, "externalValues") == 1)
        let losses = try #require(report["losses"] as? [[String: Any]])
        #expect(
            losses.map { "\($0["kind"] ?? "") \($0["message"] ?? "") \(Int($0, "count") ?? 0)" }
                == [
                    "externalValue its file is missing 2",
                    "value it does not fit the type binary: it does not name a file 1",
                ])
        let store = try ImportedStore(work.new)
        #expect(try store.value("Person", 1, "photo") == .binary(content))
        for number in 2...4 as ClosedRange<UInt64> {
            #expect(try store.value("Person", number, "photo") == .null)
        }
    }
}
