// Lists of the real world: their form, how many records they have, and the model they give.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@testable import CairnInspection

@Suite("Lists of the real world", .enabled(if: Corpus.isAvailable))
struct CorpusListTests {
    private func source(_ path: String) throws -> ListSource {
        let name = path.hasSuffix(".gz") ? String(path.dropLast(3)) : path
        return ListSource(
            Array(try Corpus.data("data/\(path)")), name: path,
            ending: name.split(separator: ".").last.map(String.init) ?? "")
    }

    @Test(
        "the form is found and every record is read",
        arguments: [
            ("quakes/all_day_2014-04-14.geojson.gz", "GeoJSON features", 146),
            ("quakes/all_week_2014-04-15.geojson.gz", "GeoJSON features", 1513),
            ("airports/airports-20240415.csv.gz", "CSV", 28186),
            ("airports/airports-20260905.csv.gz", "CSV", 28298),
            ("maritime/modu.1.json.gz", "JSON object with the list modu", 779),
            ("maritime/epub.1.json.gz", "JSON array", 394),
            ("maritime/light114.json.gz", "JSON object with the list ngalol", 3002),
            ("maritime/light116.json.gz", "JSON object with the list ngalol", 4238),
            ("maritime/radioBeacon.json.gz", "JSON object with the list ngalol", 580),
            ("maritime/dgps.json", "JSON object with the list ngalol", 163),
            ("maritime/dfrs.json", "JSON object with the list radio-navaids", 125),
            ("iso/iso3166-1.json", "JSON object with the list 3166-1", 249),
            ("iso/iso3166-2.json.gz", "JSON object with the list 3166-2", 5046),
            ("iso/iso639-3.json.gz", "JSON object with the list 639-3", 7923),
        ] as [(String, String, Int)])
    func read(path: String, title: String, count: Int) throws {
        Corpus.noteUse()
        let source = try source(path)
        let form = try ListForm(of: source)
        #expect(form.title == title)
        let reader = try source.makeReader(form, plan: TakeAll())
        var record = ListRecord()
        while try reader.next(&record) {}
        #expect(record.number == count)
        #expect(reader.byteCount == source.byteCount)
    }

    @Test("records that are arrays are refused with the name of their list")
    func arrays() throws {
        Corpus.noteUse()
        let source = try source("maritime/dfrsAreas.json")
        let error = #expect(throws: ListError.self) { try ListForm(of: source) }
        #expect(error?.description.contains("the records of areas are arrays") == true)
    }

    @Test("airports and quakes give the models a person would write")
    func models() throws {
        Corpus.noteUse()
        let airports = try model("airports/airports-20240415.csv.gz", [["icao"], ["iata"]])
        #expect(
            airports == [
                "icao string", "iata string?", "name string?", "city string?", "subd string?",
                "country string?", "elevation double?", "lat double?", "lon double?",
                "tz string?", "lid string?",
            ])
        let quakes = try model("quakes/all_day_2014-04-14.geojson.gz", [["properties.code"]])
        #expect(quakes.contains("code string"))
        #expect(quakes.contains("mag double?"))
        #expect(quakes.contains("time integer64?"))
        #expect(quakes.contains("id string?"))
        #expect(
            quakes.suffix(4) == [
                "longitude double?", "latitude double?", "altitude double?", "id string?",
            ])
    }

    private func model(_ path: String, _ unique: [[String]]) throws -> [String] {
        let source = try source(path)
        let model = try ModelInference.model(
            of: source, form: try ListForm(of: source), entity: "Item", unique: unique,
            mapping: FieldMapping())
        return model.entities[0].attributes.map {
            "\($0.name) \($0.type.rawValue)\($0.isOptional ? "?" : "")"
        }
    }
}
