// Batch deletes that go block by block, held against the same ones by ids.
//
// Two stores get the same rows and the same deletions: one by conditions that no index answers, with helpers that read ahead,
// the other by the ids of what they find, object by object with all rules. After each step both must hold the same, history and
// answers of their indexes too.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Deletions that go block by block")
struct ScannedDeletionTests {
    private static func model(isIndexed: Bool) -> ManagedObjectModel {
        var shelf = EntityDescription(
            "Shelf", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        shelf.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "shelf")
        ]
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("serial", .integer64), .init("code", .string), .init("small", .integer16),
            ],
            uniquenessConstraints: [["serial"], ["code"], ["small", "code"]])
        item.relationships = [RelationshipDescription("shelf", to: "Shelf", inverse: "items")]
        if isIndexed {
            item.indexes = [FetchIndexDescription("bySmall", elements: [.init("small")])]
        }
        var special = EntityDescription("Special", attributes: [.init("extra", .integer32)])
        special.superentityName = "Item"
        return ManagedObjectModel(entities: [shelf, item, special])
    }

    private final class Subject {
        let schema: Schema
        let options: LogStoreOptions
        private(set) var store: LogStore
        var item: Int { schema.entity(named: "Item")?.index ?? 0 }

        init(threads: Int, isIndexed: Bool, _ sizes: StoreSizes, cache: Int) throws {
            schema = try Schema(model(isIndexed: isIndexed))
            var options = LogStoreOptions()
            options.fileSystem = MemoryFileSystem()
            options.durability = .relaxed
            options.persistentHistoryTracking = true
            options.scanThreads = threads
            options.sizes = sizes
            options.cacheBytes = cache
            self.options = options
            store = try LogStore.open(at: "/store", schema: schema, options: options)
        }

        func reopen() throws {
            try store.close()
            store = try LogStore.open(at: "/store", schema: schema, options: options)
        }

        func lines() throws -> [String] {
            var fetch = StoreFetch(entity: item)
            fetch.includesRows = true
            let snapshot = try store.snapshot()
            return try snapshot.fetch(fetch).rows.map { row in
                let entity = schema.entities[row.entity]
                let values = entity.columns.indices.map {
                    "\(row.cells.value($0, of: entity, in: snapshot.identity).words)"
                }
                return "\(row.id.reference) \(entity.name) v\(row.version) "
                    + values.joined(separator: " ")
            }.sorted()
        }

        func ids(_ fetch: StoreFetch) throws -> [ObjectID] { try store.snapshot().fetch(fetch).ids }
    }

    private static let conditions = [
        nil, "small < 25", "small != nil AND serial > 40", "code BEGINSWITH 'c1'",
        "modulus:by:(serial, 3) == 0",
        "shelf != nil AND small > 10", "shelf.name == 's2' OR small == 4", "extra != nil",
    ]

    @Test("They leave what deletions by ids leave")
    func random() throws {
        try Rounds.run("scanned deletions", everyDay: 2, whole: 400) { random in
            var sizes = StoreSizes()
            sizes.rowsPerBlock = [2, 4, 64].randomElement(using: &random) ?? 4
            sizes.hashBits = [5, 10, 32].randomElement(using: &random) ?? 32
            let cache = random.oneIn(3) ? 0 : 1 << 20
            let isIndexed = random.oneIn(3)
            let scanning = try Subject(threads: 3, isIndexed: isIndexed, sizes, cache: cache)
            let naming = try Subject(threads: 1, isIndexed: isIndexed, sizes, cache: cache)
            var serial = 0
            for subject in [scanning, naming] {
                let rows = (0..<5).map { ["name": "s\($0)"] }
                _ = try subject.store.execute(
                    BatchInsertRequest(entityName: "Shelf", objects: rows))
            }
            let shelves = try scanning.store.snapshot().fetch(StoreFetch(entity: 0)).ids
            for _ in 0..<10 {
                if serial == 0 || random.oneIn(3) {
                    let count = [40, 400].randomElement(using: &random) ?? 40
                    let entity = random.oneIn(3) ? "Special" : "Item"
                    let rows = (0..<count).map { index -> [String: Any] in
                        var row: [String: Any] = ["serial": serial + index]
                        if !random.oneIn(5) {
                            row["small"] = Int.random(in: 0..<50, using: &random)
                        }
                        if !random.oneIn(5) { row["code"] = "c\(serial + index)" }
                        if entity == "Special", random.oneIn(2) { row["extra"] = index }
                        return row
                    }
                    let places = rows.map { _ in
                        random.oneIn(4) ? nil : Int.random(in: 0..<5, using: &random)
                    }
                    serial += count
                    for subject in [scanning, naming] {
                        let own = try subject.store.snapshot().fetch(StoreFetch(entity: 0)).ids
                        #expect(own.map(\.reference) == shelves.map(\.reference))
                        let placed = zip(rows, places).map { row, place in
                            var row = row
                            if let place { row["shelf"] = own[place] }
                            return row
                        }
                        _ = try subject.store.execute(
                            BatchInsertRequest(entityName: entity, objects: placed))
                    }
                }
                var fetch = StoreFetch(entity: scanning.item)
                if let condition = Self.conditions.randomElement(using: &random) ?? nil {
                    let entity = condition.contains("extra") ? "Special" : "Item"
                    fetch = StoreFetch(entity: scanning.schema.entity(named: entity)?.index ?? 0)
                    fetch.predicate = try PredicateNode(format: condition)
                        .boundForStore(
                            to: scanning.schema.entities[fetch.entity], in: scanning.schema,
                            nullSemantics: .twoValued)
                }
                fetch.includesSubentities = !random.oneIn(4)
                if random.oneIn(5) { fetch.limit = 7 }
                let ids = try naming.ids(fetch)
                var request = BatchDeleteRequest(.fetch(fetch))
                request.resultType = random.oneIn(2) ? .objectIDs : .count
                let result = try scanning.store.execute(request)
                #expect(result.deletedCount == ids.count)
                #expect(result.cascadedCount == 0)
                if request.resultType == .objectIDs {
                    #expect(result.objectIDs.map(\.reference) == ids.map(\.reference))
                }
                _ = try naming.store.execute(BatchDeleteRequest(.ids(ids, entity: naming.item)))
                if random.oneIn(3) {
                    for subject in [scanning, naming] { try subject.reopen() }
                }
                #expect(try scanning.lines() == naming.lines())
                #expect(try scanning.store.check().findings.isEmpty)
            }
            #expect(
                try HistoryText.lines(scanning.store) == HistoryText.lines(naming.store))
            for subject in [scanning, naming] { try subject.store.close() }
        }
    }
}

extension Value {
    /// The value; of an object its number, as two stores have different ids.
    fileprivate var words: String {
        if case .objectID(let id) = self { "p\(id.reference)" } else { "\(self)" }
    }
}
