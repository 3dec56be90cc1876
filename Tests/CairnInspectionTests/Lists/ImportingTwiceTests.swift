// The main job on real lists: import a release, import the next one over it, and nothing doubles.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

/// A store in memory that lists of the corpus are imported into.
private struct Shelf {
    let store: LogStore
    let entity: String
    let mapping: FieldMapping

    init(
        _ first: String, entity: String, unique: [[String]] = [], map: [String] = [],
        model: String? = nil
    ) throws {
        self.entity = entity
        mapping = try FieldMapping(map)
        let schema: Schema
        if let model {
            schema = try ModelFile(contentsOfFile: Corpus.url("xcdatamodel/\(model)").path).schema
        } else {
            let source = try Self.source(first)
            schema = try Schema(
                ModelInference.model(
                    of: source, form: try ListForm(of: source), entity: entity, unique: unique,
                    mapping: mapping))
        }
        store = try LogStore.inMemory(schema: schema)
    }

    static func source(_ name: String) throws -> ListSource {
        ListSource(
            Array(try Corpus.data("data/\(name)")), name: name,
            ending: name.replacingOccurrences(of: ".gz", with: "").split(separator: ".").last
                .map(String.init) ?? "")
    }

    @discardableResult
    func add(
        _ name: String, policy: MergePolicyKind = .mergeByPropertyObjectTrump, prune: Bool = false,
        fail: Bool = false
    ) throws -> BatchInsertResult {
        let source = try Self.source(name)
        guard let described = store.schema.entity(named: entity) else { throw CancellationError() }
        var request = try ListImport(
            source, form: try ListForm(of: source), entity: described, in: store.schema,
            mapping: mapping
        ).makeRequest()
        request.mergePolicy = policy
        request.prunesMissing = prune
        request.failsOnConflict = fail
        return try store.execute(request)
    }

    func count() throws -> Int {
        guard let described = store.schema.entity(named: entity) else { return -1 }
        return try store.snapshot().count(StoreFetch(entity: described.index))
    }
}

@Suite("Importing two releases of a real list", .enabled(if: Corpus.isAvailable))
struct ImportingTwiceTests {
    private static let day = "quakes/all_day_2014-04-14.geojson.gz"
    private static let week = "quakes/all_week_2014-04-15.geojson.gz"
    private static let old = "airports/airports-20240415.csv.gz"
    private static let new = "airports/airports-20260905.csv.gz"
    private static let marlin = "ngageoint+marlin-ios__Marlin__Shared_5_My_Places.xml"

    @Test("Quakes: day then week inserts 1,371 and updates 50; once more writes nothing")
    func quakes() throws {
        Corpus.noteUse()
        let shelf = try Shelf(Self.week, entity: "Quake", unique: [["properties.code"]])
        #expect(try shelf.add(Self.day).insertedCount == 146)
        let week = try shelf.add(Self.week)
        #expect((week.insertedCount, week.updatedCount, week.unchangedCount) == (1371, 50, 92))
        #expect(try shelf.count() == 1517)
        let before = try shelf.store.statistics()
        let again = try shelf.add(Self.week)
        #expect((again.insertedCount, again.updatedCount, again.commit) == (0, 0, nil))
        #expect(try shelf.store.statistics().segments.map(\.bytes) == before.segments.map(\.bytes))
        let pruned = try shelf.add(Self.week, prune: true)
        #expect(pruned.deletedCount == 4)
        #expect(try shelf.count() == 1513)
        #expect(try shelf.store.check().findings.isEmpty)
    }

    @Test("Airports: 765 inserted, 12,798 updated, 28,951 in all, or 28,298 pruned")
    func airports() throws {
        Corpus.noteUse()
        let shelf = try Shelf(Self.old, entity: "Airport", unique: [["icao"]])
        #expect(try shelf.add(Self.old).insertedCount == 28_186)
        let second = try shelf.add(Self.new)
        #expect((second.insertedCount, second.updatedCount) == (765, 12_798))
        #expect(try shelf.count() == 28_951)
        #expect(try shelf.add(Self.new, prune: true).deletedCount == 653)
        #expect(try shelf.count() == 28_298)
        #expect(try shelf.store.check().findings.isEmpty)
    }

    @Test("Airports with a second constraint: pruned without a conflict, else 40 rows are named")
    func airportsByTwoKeys() throws {
        Corpus.noteUse()
        let shelf = try Shelf(Self.old, entity: "Airport", unique: [["icao"], ["iata"]])
        #expect(try shelf.add(Self.old).insertedCount == 28_186)
        let error = try #require(throws: StoreError.self) { try shelf.add(Self.new) }
        #expect(error.code == .constraintConflict)
        #expect(error.details.count == 40)
        #expect(error.details.allSatisfy { $0.context.key == "iata" && $0.context.row != nil })
        #expect(try shelf.count() == 28_186, "nothing is written")
        let pruned = try shelf.add(Self.new, prune: true)
        #expect(
            (pruned.insertedCount, pruned.updatedCount, pruned.deletedCount) == (765, 12_798, 653))
        #expect(try shelf.count() == 28_298)
        #expect(try shelf.store.check().findings.isEmpty)
    }

    @Test("Lights under their app's own constraint of three attributes: 2,983 from 3,002 rows")
    func lights() throws {
        Corpus.noteUse()
        let shelf = try Shelf(
            "maritime/light114.json.gz", entity: "Light",
            map: ["charNo=characteristicNumber", "heightFeetMeters="], model: Self.marlin)
        let result = try shelf.add("maritime/light114.json.gz")
        #expect(result.insertedCount == 2983)
        #expect(result.updatedCount + result.unchangedCount == 19)
        #expect(try shelf.count() == 2983)
    }

    @Test("Rigs: three lists in a row")
    func rigs() throws {
        Corpus.noteUse()
        let shelf = try Shelf("maritime/modu.1.json.gz", entity: "Modu", model: Self.marlin)
        #expect(try shelf.add("maritime/modu.1.json.gz").insertedCount == 779)
        let second = try shelf.add("maritime/modu.2.json.gz")
        #expect((second.insertedCount, second.updatedCount) == (3, 29))
        #expect(try shelf.count() == 782)
        let third = try shelf.add("maritime/modu.3.json.gz", prune: true)
        #expect((third.insertedCount, third.updatedCount) == (1, 80))
        #expect(try shelf.count() == 780)
    }

    @Test(
        "Each policy does what it says",
        arguments: [
            (MergePolicyKind.error, 0), (.mergeByPropertyStoreTrump, 0), (.rollback, 0),
            (.mergeByPropertyObjectTrump, 50), (.overwrite, 50),
        ])
    func policies(_ policy: MergePolicyKind, updated: Int) throws {
        Corpus.noteUse()
        let shelf = try Shelf(Self.week, entity: "Quake", unique: [["code"]])
        try shelf.add(Self.day)
        let result = try shelf.add(Self.week, policy: policy)
        #expect((result.insertedCount, result.updatedCount) == (1371, updated))
        #expect(result.skippedCount == (updated == 0 ? 142 : 0))
        #expect(try shelf.count() == 1517)
    }

    @Test("The fail option rejects the whole list")
    func fail() throws {
        Corpus.noteUse()
        let shelf = try Shelf(Self.week, entity: "Quake", unique: [["code"]])
        try shelf.add(Self.day)
        let error = try #require(throws: StoreError.self) {
            try shelf.add(Self.week, policy: .error, fail: true)
        }
        #expect(error.code == .constraintConflict)
        #expect(error.message.hasPrefix("142 rows"))
        #expect(try shelf.count() == 146)
    }
}
