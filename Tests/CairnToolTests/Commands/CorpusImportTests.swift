// Imports of real lists, release after release: the counts that the lists' own comparison gives.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Real lists, release after release", .enabled(if: Corpus.isAvailable))
struct CorpusImportTests {
    /// Unpacks a list into the workplace.
    private func unpack(_ path: String, _ work: borrowing Workplace) throws -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let target = work.folder.path(name.hasSuffix(".gz") ? String(name.dropLast(3)) : name)
        try Corpus.data("data/\(path)").write(to: URL(fileURLWithPath: target))
        return target
    }

    /// inserted, updated, unchanged, deleted, and all objects after it
    private func counts(
        _ list: String, _ entity: String, _ work: borrowing Workplace, _ more: [String] = []
    ) throws -> [Int?] {
        let run = run(["import", work.store, list, "--entity", entity, "--json"] + more)
        let line = try #require(try run.json.first, "\(run.errors)")
        let total = cairn("count", work.store, entity).output.dropLast()
        return ["inserted", "updated", "unchanged", "deleted"].map { Int(line, $0) } + [Int(total)]
    }

    @Test("quakes on properties.code: day, then week, then once more, then pruned")
    func quakes() throws {
        Corpus.noteUse()
        let work = try Workplace()
        let day = try unpack("quakes/all_day_2014-04-14.geojson.gz", work)
        let week = try unpack("quakes/all_week_2014-04-15.geojson.gz", work)
        let key = ["--unique", "properties.code"]
        #expect(try counts(day, "Quake", work, key) == [146, 0, 0, 0, 146])
        #expect(try counts(week, "Quake", work) == [1371, 50, 92, 0, 1517])
        let frames = try cairn("frames", work.store, "--json").json
        #expect(try counts(week, "Quake", work) == [0, 0, 1513, 0, 1517])
        let more = try cairn("frames", work.store, "--json").json.dropFirst(frames.count)
        #expect(more.allSatisfy { $0["kind"] as? String == "close" })
        #expect(try counts(week, "Quake", work, ["--prune"]) == [0, 0, 1513, 4, 1513])
        #expect(cairn("check", work.store).code == 0)
    }

    @Test("airports on icao: two releases, then pruned")
    func airports() throws {
        Corpus.noteUse()
        let work = try Workplace()
        let old = try unpack("airports/airports-20240415.csv.gz", work)
        let new = try unpack("airports/airports-20260905.csv.gz", work)
        #expect(try counts(old, "Airport", work, ["--unique", "icao"]) == [28186, 0, 0, 0, 28186])
        #expect(try counts(new, "Airport", work) == [765, 12798, 14735, 0, 28951])
        #expect(try counts(new, "Airport", work, ["--prune"]) == [0, 0, 28298, 653, 28298])
    }

    @Test(
        "airports on icao and iata: codes that moved are no conflict if their old owners are pruned"
    )
    func airportsWithTwoKeys() throws {
        Corpus.noteUse()
        let work = try Workplace()
        let old = try unpack("airports/airports-20240415.csv.gz", work)
        let new = try unpack("airports/airports-20260905.csv.gz", work)
        let keys = ["--unique", "icao", "--unique", "iata"]
        #expect(try counts(old, "Airport", work, keys) == [28186, 0, 0, 0, 28186])
        let refused = cairn("import", work.store, new, "--entity", "Airport", "--json")
        #expect(refused.code == 1)
        let error = try refused.error
        #expect((error["details"] as? [String])?.count == 40)
        #expect((error["message"] as? String)?.contains("40 rows") == true)
        #expect(cairn("count", work.store, "Airport").output == "28186\n")
        #expect(try counts(new, "Airport", work, ["--prune"]) == [765, 12798, 14735, 653, 28298])
        #expect(cairn("check", work.store).code == 0)
    }

    @Test("a shipped app's own data under its own model")
    func maritime() throws {
        Corpus.noteUse()
        let work = try Workplace()
        let model = Corpus.url("xcdatamodel/ngageoint+marlin-ios__Marlin__Shared.xml").path
        let modus = try (1...3).map { try unpack("maritime/modu.\($0).json.gz", work) }
        let expected = [[779, 0, 0, 0, 779], [3, 29, 748, 0, 782], [1, 80, 699, 0, 783]]
        for (list, counts) in zip(modus, expected) {
            #expect(try self.counts(list, "Modu", work, ["--model", model]) == counts)
        }
        let lights = try unpack("maritime/light114.json.gz", work)
        let map = ["--map", "charNo=characteristicNumber,heightFeetMeters="]
        #expect(try counts(lights, "Light", work, map).last == 2983)
        let stations = try unpack("maritime/dfrs.json", work)
        #expect(
            try counts(stations, "DFRS", work, ["--map", "stationNo=stationNumber"]).last == 125)
    }
}
