// A small store with everything in it, made step by step.
//
// Every type of attribute with values at the edges and nil, an inheritance, a to-one with its inverse, pairs,
// deletions, updates, values that are kept apart, ids that are handed out early. Each step is one commit, and
// the same steps give the same bytes.

import CairnFileSystem
import CairnModel
import CairnStore
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

enum SampleStore {
    static let identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    static let model: ManagedObjectModel = {
        var airport = EntityDescription(
            "Airport",
            attributes: [
                .init("code", .string, optional: false), .init("small", .integer16),
                .init("elevation", .integer32), .init("big", .integer64), .init("fee", .decimal),
                .init("latitude", .double), .init("factor", .float), .init("open", .boolean),
                .init("since", .date), .init("plan", .binary), .init("key", .uuid),
                .init("link", .uri), .init("note", .string),
            ], uniquenessConstraints: [["code"]])
        airport.relationships = [
            RelationshipDescription("country", to: "Country", inverse: "airports"),
            RelationshipDescription("partners", to: "Airport", toMany: true),
        ]
        var heliport = EntityDescription("Heliport", attributes: [.init("pads", .integer16)])
        heliport.superentityName = "Airport"
        var country = EntityDescription("Country", attributes: [.init("name", .string)])
        country.relationships = [
            RelationshipDescription(
                "airports", to: "Airport", toMany: true, inverse: "country")
        ]
        return ManagedObjectModel(entities: [airport, heliport, country])
    }()

    static func schema() throws -> Schema { try Schema(model) }

    /// Fetch indexes over columns of each kind, up and down, and one over a descendant alone.
    static let indexes: [String: [FetchIndexDescription]] = [
        "Airport": [
            FetchIndexDescription("byNote", elements: [.init("note")]),
            FetchIndexDescription("byFee", elements: [.init("fee", ascending: false)]),
            FetchIndexDescription(
                "byPlace",
                elements: [
                    .init("country"), .init("latitude", ascending: false), .init("small"),
                    .init("open"),
                ]),
            FetchIndexDescription(
                "byRest",
                elements: [
                    .init("factor"), .init("since"), .init("key", ascending: false), .init("link"),
                    .init("plan"),
                ]),
        ],
        "Heliport": [FetchIndexDescription("byPads", elements: [.init("pads")])],
    ]

    /// The same model with these indexes.
    static func indexedSchema() throws -> Schema {
        var indexed = model
        for place in indexed.entities.indices {
            indexed.entities[place].indexes = indexes[indexed.entities[place].name] ?? []
        }
        return try Schema(indexed)
    }

    /// Options under which the steps give the same bytes whenever and wherever they run.
    static func options(
        on disk: any FileSystem, segmentBytes: UInt64 = 1 << 30,
        durability: LogStoreOptions.Durability = .full
    ) -> LogStoreOptions {
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.clock = ManualClock(800_000_000)
        options.storeIdentifier = identifier
        options.sizes.segmentBytes = segmentBytes
        options.durability = durability
        options.sizes.fillBytes = 0
        options.sizes.closingCheckpointBytes = .max
        options.sizes.leaseSeconds = .infinity
        return options
    }

    static func text(_ store: LogStore) throws -> String {
        var bytes: [UInt8] = []
        try store.export { bytes.append(contentsOf: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Steps

    /// Each makes one commit.
    static let steps: [@Sendable (LogStore) throws -> Void] = [
        firstObjects, manyRows, changedRows, deletedRows, earlyIDs, largeValue, secondRows,
    ]

    private static func temporary(_ number: Int, _ entity: SchemaEntity, _ store: LogStore)
        -> ObjectID
    {
        ObjectID(
            temporary: UInt64(number), hierarchy: store.identity.hierarchies[entity.index],
            context: store.identity.identifier)
    }

    /// Two countries, three airports and a heliport, partners of each other.
    @Sendable static func firstObjects(_ store: LogStore) throws {
        let airport = try #require(store.schema.entity(named: "Airport"))
        let heliport = try #require(store.schema.entity(named: "Heliport"))
        let country = try #require(store.schema.entity(named: "Country"))
        var request = SaveRequest()
        request.author = "Sample"
        for (index, name) in ["Österreich", "日本"].enumerated() {
            request.inserted.append(
                .init(
                    id: temporary(100 + index, country, store), entity: country.index,
                    values: [.string(name)], assigned: [0]))
        }
        let key = UUID(uuid: (0xff, 0, 0x7f, 0x80, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xfe))
        let rows: [[Value]] = [
            [
                .string("LOWW"), .integer(-32768), .integer(600), .integer(.max),
                .decimal(Decimal(string: "12345678901234567890.125")!), .double(48.110278),
                .float(0.1), .boolean(true), .date(Date(timeIntervalSinceReferenceDate: 0.5)),
                .binary(Data([0, 1, 2, 253, 254, 255])), .uuid(key),
                .uri(URL(string: "https://example.com/loww?a=b#c")!),
                .string("\"quoted\", \\, \u{1}, \u{7f}, 🛫"),
            ],
            [
                .string("RJTT"), .integer(32767), .integer(-2_147_483_648), .integer(.min),
                .decimal(Decimal(string: "-0.005")!), .double(-0.0), .float(.infinity),
                .boolean(false), .date(Date(timeIntervalSinceReferenceDate: -63_113_904_000)),
                .binary(Data()), .uuid(key), .uri(URL(string: "file:///tmp")!), .string(""),
            ],
            [.string("NILS")] + Array(repeating: .null, count: 12),
            [
                .string("HELI"), .integer(0), .integer(0), .integer(0), .decimal(0), .double(1e300),
                .float(-1.5e-7), .boolean(true), .date(Date(timeIntervalSinceReferenceDate: 1e9)),
                .null, .null, .null, .string("e\u{301} is not é"),
            ],
        ]
        for (index, row) in rows.enumerated() {
            let entity = index == 3 ? heliport : airport
            var values = Array(repeating: Value.null, count: entity.columns.count)
            for (position, value) in row.enumerated() {
                let name = model.entities[0].attributes[position].name
                values[try column(name, entity)] = value
            }
            values[try column("country", entity)] =
                index == 2 ? .null : .objectID(temporary(100 + index % 2, country, store))
            if index == 3 { values[try column("pads", entity)] = .integer(2) }
            request.inserted.append(
                .init(
                    id: temporary(index, entity, store), entity: entity.index, values: values,
                    assigned: []))
        }
        for (source, destination) in [(0, 1), (1, 0), (0, 3), (2, 2)] {
            request.pairChanges.append(
                .init(
                    pairs: 0, source: temporary(source, airport, store),
                    destination: temporary(destination, airport, store), isAddition: true))
        }
        _ = try store.save(request)
    }

    static func column(_ name: String, _ entity: SchemaEntity) throws -> Int {
        try #require(entity.columns.firstIndex { $0.name == name })
    }

    private static func upsert(
        _ store: LogStore, _ rows: Range<Int>, elevation: Int, note: String? = nil
    ) throws {
        var request = BatchInsertRequest(
            entityName: "Airport",
            objects: rows.map {
                var row: [String: Any] = [
                    "code": "A\($0)", "elevation": elevation + $0, "latitude": Double($0) / 7,
                ]
                if let note { row["note"] = note }
                return row
            })
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
    }

    @Sendable static func manyRows(_ store: LogStore) throws {
        try upsert(store, 0..<60, elevation: 0)
    }

    @Sendable static func changedRows(_ store: LogStore) throws {
        try upsert(store, 50..<70, elevation: 1000)
    }

    @Sendable static func deletedRows(_ store: LogStore) throws {
        _ = try store.execute(
            BatchDeleteRequest(
                .fetch(
                    try fetch(
                        store,
                        .and([
                            .compare("elevation", .less, .integer(10)),
                            .compare("code", .less, .string("B")),
                        ])))))
    }

    static func fetch(_ store: LogStore, _ predicate: PredicateNode) throws -> StoreFetch {
        StoreFetch(
            entity: try #require(store.schema.entity(named: "Airport")).index,
            predicate: predicate)
    }

    @Sendable static func earlyIDs(_ store: LogStore) throws {
        let country = try #require(store.schema.entity(named: "Country"))
        let ids = try store.obtainPermanentIDs(forEntities: [country.index, country.index])
        #expect(Set(ids).count == 2)
    }

    @Sendable static func largeValue(_ store: LogStore) throws {
        let note = (0..<1200).map { "\($0 &* 7919) " }.joined()
        try upsert(store, 20..<21, elevation: 5, note: note)
    }

    @Sendable static func secondRows(_ store: LogStore) throws {
        try upsert(store, 65..<75, elevation: 2000, note: "late")
    }
}
