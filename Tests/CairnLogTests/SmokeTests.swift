import CairnModel
import CairnStore
import Testing

@testable import CairnLog

@Suite("A store from end to end")
struct SmokeTests {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Airport",
            attributes: [
                .init("icao", .string, optional: false), .init("iata", .string),
                .init("name", .string), .init("elevation", .integer32),
            ], uniquenessConstraints: [["icao"]])
    ])

    @Test(
        "Importing a list twice leaves one object for each row, and a third time writes nothing (BL4)"
    )
    func twice() throws {
        let schema = try Schema(Self.model)
        let store = try LogStore.inMemory(schema: schema)
        let entity = try #require(schema.entity(named: "Airport"))
        func rows(_ count: Int, elevation: Int) -> [[String: Any]] {
            (0..<count).map { ["icao": "A\($0)", "name": "Airport \($0)", "elevation": elevation] }
        }
        var request = BatchInsertRequest(entityName: "Airport", objects: rows(3000, elevation: 1))
        request.mergePolicy = .mergeByPropertyObjectTrump
        #expect(try store.execute(request).insertedCount == 3000)
        request = BatchInsertRequest(entityName: "Airport", objects: rows(3100, elevation: 2))
        request.mergePolicy = .mergeByPropertyObjectTrump
        let second = try store.execute(request)
        #expect(second.insertedCount == 100)
        #expect(second.updatedCount == 3000)
        let third = try store.execute(request)
        #expect(third.unchangedCount == 3100)
        #expect(third.commit == nil)
        let snapshot = try store.snapshot()
        var fetch = StoreFetch(
            entity: entity.index, predicate: .compare("icao", .equal, .string("A7")))
        fetch.includesRows = true
        let found = try snapshot.fetch(fetch)
        #expect(found.ids.count == 1)
        #expect(found.plan == "unique index (icao)")
        #expect(found.rows[0].cells.value(3, of: entity, in: store.identity) == .integer(2))
        #expect(try snapshot.count(StoreFetch(entity: entity.index)) == 3100)
        try store.close()
    }
}
