// A store whose rows lie everywhere they can: in blocks of every level, of two entities, some of them dead, with values
// that are kept apart; and what reads from it two ways.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation

@testable import CairnLog

/// A snapshot that has nothing but what a store must have: reading by columns falls back on fetching.
final class PlainSnapshot: StoreSnapshot {
    private let base: any StoreSnapshot

    init(_ base: any StoreSnapshot) { self.base = base }

    var commit: UInt64 { base.commit }
    var schema: Schema { base.schema }
    var identity: StoreIdentity { base.identity }

    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        try base.fetch(request)
    }
    func count(_ request: StoreFetch) throws(StoreError) -> Int { try base.count(request) }
    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] { try base.rows(ids) }
    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    { try base.members(ofRelationship: relationship, entity: entity, owners: owners) }
    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    { try base.referrers(toTarget: target, relationship: relationship, entity: entity) }
}

struct ReadableStore {
    let store: LogStore
    let disk: MemoryFileSystem
    let thing: SchemaEntity
    let special: SchemaEntity

    static let model: ManagedObjectModel = {
        let thing = EntityDescription(
            "Thing",
            attributes: [
                .init("key", .string), .init("small", .integer16), .init("count", .integer64),
                .init("price", .double), .init("factor", .float), .init("open", .boolean),
                .init("since", .date), .init("plan", .binary), .init("mark", .uuid),
                .init("link", .uri), .init("fee", .decimal), .init("category", .string),
                .init("group", .string), .init("place", .integer32),
            ], uniquenessConstraints: [["key"], ["group", "place"], ["mark"], ["count"]])
        var special = EntityDescription("Special", attributes: [.init("extra", .string)])
        special.superentityName = "Thing"
        return ManagedObjectModel(entities: [thing, special])
    }()

    /// All columns of a thing but its relationships, for which there are none.
    struct Columns {
        let key: Column<String?>
        let small: Column<Int16?>
        let count: Column<Int64?>
        let price: Column<Double?>
        let factor: Column<Float?>
        let open: Column<Bool?>
        let since: Column<Date?>
        let plan: Column<Data?>
        let mark: Column<UUID?>
        let link: Column<URL?>
        let fee: Column<Decimal?>
        let category: Column<String?>
        let group: Column<String?>
        let place: Column<Int32?>

        init(_ entity: SchemaEntity) throws {
            key = try entity.column("key", as: String?.self)
            small = try entity.column("small", as: Int16?.self)
            count = try entity.column("count", as: Int64?.self)
            price = try entity.column("price", as: Double?.self)
            factor = try entity.column("factor", as: Float?.self)
            open = try entity.column("open", as: Bool?.self)
            since = try entity.column("since", as: Date?.self)
            plan = try entity.column("plan", as: Data?.self)
            mark = try entity.column("mark", as: UUID?.self)
            link = try entity.column("link", as: URL?.self)
            fee = try entity.column("fee", as: Decimal?.self)
            category = try entity.column("category", as: String?.self)
            group = try entity.column("group", as: String?.self)
            place = try entity.column("place", as: Int32?.self)
        }

        /// What a row says, in words.
        func text(_ row: borrowing RowView) -> String {
            let values: [Any?] = [
                row[key], row[small], row[count], row[price], row[factor], row[open], row[since],
                row[plan]?.base64EncodedString(), row[mark], row[link], row[fee], row[category],
                row[group], row[place],
            ]
            let words = values.map { $0.map { "\($0)" } ?? "nil" }
            return "\(row.objectID) " + words.joined(separator: "|")
        }
    }

    init(cacheBytes: Int? = nil, hashBits: Int = 32) throws {
        disk = MemoryFileSystem()
        var options = SampleStore.options(on: disk, durability: .relaxed)
        options.sizes.largeValueBytes = 200
        options.cacheBytes = cacheBytes
        options.sizes.hashBits = hashBits
        let schema = try Schema(Self.model)
        store = try LogStore.open(at: "/store", schema: schema, options: options)
        thing = schema.entities[0]
        special = schema.entities[1]
    }

    /// One row as a batch takes it; nothing is left out, some of it is nil.
    static func row(_ number: Int, _ random: inout RandomSource) -> [String: Any] {
        func orNil(_ value: Any) -> Any { random.oneIn(8) ? NSNull() : value }
        let text = String(repeating: "long ", count: random.oneIn(20) ? 100 : 1)
        return [
            "key": number % 13 == 5 ? NSNull() : "key \(number)" as Any,
            "small": orNil(number % 1000), "count": number % 17 == 3 ? NSNull() : number as Any,
            "price": orNil(Double(number) / 7), "factor": orNil(Float(number) / 2),
            "open": orNil(number & 1 == 0),
            "since": orNil(Date(timeIntervalSinceReferenceDate: Double(number))),
            "plan": orNil(Data("plan \(text)\(number)".utf8)),
            "mark": number % 19 == 4 ? NSNull() : uuid(number) as Any,
            "link": orNil(URL(string: "https://example.org/\(number)")!),
            "fee": orNil(Decimal(number) / 4), "category": orNil("category \(number % 9)"),
            "group": number % 23 == 1 ? NSNull() : "group \(number % 50)" as Any,
            "place": number,
        ]
    }

    static func uuid(_ number: Int) -> UUID {
        var bytes = UUID().uuid
        withUnsafeMutableBytes(of: &bytes) { bytes in
            for index in 0..<16 {
                bytes[index] = UInt8(truncatingIfNeeded: number >> (index % 4 * 8))
            }
        }
        return UUID(uuid: bytes)
    }

    /// Writes rows in batches of all sizes, changes some and deletes some.
    func fill(_ random: inout RandomSource) throws {
        var next = 0
        for _ in 0..<Int.random(in: 3..<12, using: &random) {
            let count = [1, 2, 20, 200, 1100][Int.random(in: 0..<5, using: &random)]
            let rows = (next..<next + count).map { Self.row($0, &random) }
            next += count
            try upsert(rows, random.oneIn(3) ? special : thing)
            if random.oneIn(2) {
                let changed = (0..<count / 3).map { _ in
                    Self.row(Int.random(in: 0..<next, using: &random), &random)
                }.filter { !($0["key"] is NSNull) }
                try upsert(changed, thing)
            }
            if random.oneIn(3) {
                let limit = Int64.random(in: 0..<Int64(next), using: &random)
                let fetch = StoreFetch(
                    entity: thing.index,
                    predicate: .comparison(
                        .init(.key("count"), .between, [.integer(limit), .integer(limit + 40)])))
                _ = try store.execute(BatchDeleteRequest(.fetch(fetch)))
            }
        }
    }

    private func upsert(_ rows: [[String: Any]], _ entity: SchemaEntity) throws {
        var request = BatchInsertRequest(entityName: entity.name, objects: rows)
        request.mergePolicy = .overwrite
        _ = try store.execute(request)
    }
}
