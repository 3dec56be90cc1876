// A small store with constraints of each kind of option.

import CairnModel
import CairnStore
import Foundation

@testable import CairnLog

/// Airports that are closed but never deleted, in countries.
enum ConstraintSample {
    static func model(_ rules: [UniquenessRule]? = nil) -> ManagedObjectModel {
        var airport = EntityDescription(
            "Airport",
            attributes: [
                .init("code", .string, optional: false), .init("name", .string),
                .init("rank", .integer16), .init("closed", .date), .init("plan", .binary),
            ], relationships: [.init("country", to: "Country", inverse: "airports")],
            uniquenessConstraints: [["code"]])
        airport.uniquenessRules =
            rules ?? [
                UniquenessRule(
                    ["name"], format: "closed == nil AND NOT rank IN {7, 8}",
                    caseInsensitive: true, diacriticInsensitive: true),
                UniquenessRule(
                    ["rank", "name"], format: "country != nil", nilsAreEqual: true),
                UniquenessRule(["name", "rank"], caseInsensitive: true),
            ]
        var heliport = EntityDescription("Heliport", attributes: [.init("pads", .integer16)])
        heliport.superentityName = "Airport"
        heliport.uniquenessRules = [UniquenessRule(["pads"], format: "pads > 4")]
        let country = EntityDescription(
            "Country", attributes: [.init("name", .string)],
            relationships: [.init("airports", to: "Airport", toMany: true, inverse: "country")])
        return ManagedObjectModel(entities: [airport, heliport, country])
    }

    static func schema() throws -> Schema { try Schema(model()) }

    static let moment = Date(timeIntervalSinceReferenceDate: 700_000_000)

    /// Some objects in four commits: names that differ in case alone where not both are in use, nils, large texts.
    static func fill(_ store: LogStore) throws {
        try insert(
            store, "Airport",
            [
                ["code": "LOWW", "name": "Wien", "rank": 1],
                ["code": "LOWS", "name": "WIEN", "rank": 2, "closed": moment],
                ["code": "LOWG", "name": "wien", "rank": 7],
                ["code": "LSZH", "name": "Zürich"], ["code": "LSZX", "rank": 3],
                ["code": "EDDF", "name": String(repeating: "Straße ", count: 2000), "rank": 4],
            ])
        try insert(
            store, "Heliport",
            [
                ["code": "XHA", "pads": 4], ["code": "XHB", "pads": 4, "rank": 8],
                ["code": "XHC", "pads": 5, "name": "École"],
            ])
        // One goes out of use as another comes in.
        try insert(
            store, "Airport",
            [
                ["code": "LOWW", "closed": moment], ["code": "LOWS", "closed": NSNull()],
                ["code": "XHC", "rank": 8], ["code": "NEW1", "name": "ecole"],
            ])
        try insert(store, "Country", [["name": "Austria"]])
    }

    @discardableResult
    static func insert(_ store: LogStore, _ entity: String, _ rows: [[String: Any]]) throws
        -> BatchInsertResult
    {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        return try store.execute(request)
    }

    /// Tries keys that are taken, and gives the number of rows that were refused or found what has the key.
    static func probe(_ store: LogStore) throws -> [String] {
        let rows: [[String: Any]] = [
            ["code": "A", "name": "WIEN", "rank": 5], ["code": "A", "name": "Zurich", "rank": 5],
            ["code": "A", "name": "ÉCOLE", "rank": 5],
            ["code": "A", "name": String(repeating: "STRASSE ", count: 2000), "rank": 5],
            ["code": "A", "name": "Linz", "rank": 5], ["code": "A", "name": "wien", "rank": 7],
            ["code": "A", "name": "wien", "rank": 5, "closed": moment],
        ]
        return try rows.map { row in
            var request = BatchInsertRequest(entityName: "Airport", objects: [row])
            request.mergePolicy = .mergeByPropertyStoreTrump
            request.resultType = .objectIDs
            let result = try store.execute(request)
            if let id = result.objectIDs.first {
                _ = try store.execute(
                    BatchDeleteRequest(
                        .ids([id], entity: store.schema.entity(named: "Airport")!.index)))
            }
            return "\(result.insertedCount)"
        }
    }

    static let answers = ["0", "0", "0", "0", "1", "0", "1"]
}
