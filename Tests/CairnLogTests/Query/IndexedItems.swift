// A store of items with an attribute of each type and random indexes over them, and random fetches of it.
//
// Values are drawn from pools: some at the edges, the others few enough that several items have the same and many enough
// that an index pays.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

struct IndexedItems {
    let disk = MemoryFileSystem()
    private let model: ManagedObjectModel
    private let schema: Schema
    private var options: LogStoreOptions
    private var owners: [ObjectID] = []
    /// How many values there are beside those at the edges.
    private let spread: Int

    static let types: [(name: String, type: AttributeType)] = [
        ("small", .integer16), ("rank", .integer32), ("serial", .integer64), ("fee", .decimal),
        ("weight", .double), ("ratio", .float), ("name", .string), ("text", .string),
        ("flag", .boolean), ("when", .date), ("bytes", .binary), ("tag", .uuid), ("link", .uri),
        ("place.lat", .double), ("place.city", .string),
    ]

    init(_ random: inout RandomSource) throws {
        var item = EntityDescription("Item")
        item.attributes = Self.types.filter { !$0.name.contains(".") }.map { .init($0, $1) }
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("lat", .double), .init("city", .string)]
        item.attributes.append(place)
        item.relationships = [RelationshipDescription("owner", to: "Owner", inverse: "items")]
        var special = EntityDescription("Special", attributes: [.init("extra", .integer64)])
        special.superentityName = "Item"
        var owner = EntityDescription("Owner", attributes: [.init("name", .string)])
        owner.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "owner")
        ]
        let names = Self.types.map(\.name) + ["owner"]
        item.indexes = Self.indexes(names, Int.random(in: 6...14, using: &random), &random)
        // Two that are intersected.
        item.indexes += [
            .init("byRank", elements: [.init("rank")]), .init("byWhen", elements: [.init("when")]),
        ]
        special.indexes = Self.indexes(names + ["extra", "extra"], 3, &random)
        model = ManagedObjectModel(entities: [item, special, owner])
        schema = try Schema(model)
        options = SampleStore.options(on: disk, durability: .relaxed)
        options.sizes.rowsPerBlock = [30, 1024].randomElement(using: &random) ?? 30
        options.sizes.largeValueBytes = [80, 4096].randomElement(using: &random) ?? 80
        options.sizes.closingCheckpointBytes = [1, 1 << 30].randomElement(using: &random) ?? 1
        // With fewer, indexes would not pay.
        options.sizes.hashBits = [10, 32].randomElement(using: &random) ?? 32
        options.makeScheduler = { ManualScheduler() }
        spread = [12, 12, 25, 60].randomElement(using: &random) ?? 12
        try fill(&random)
    }

    private static func indexes(_ names: [String], _ count: Int, _ random: inout RandomSource)
        -> [FetchIndexDescription]
    {
        (0..<count).map { number in
            var elements: [String] = []
            for name in names.shuffled(using: &random) where !elements.contains(name) {
                elements.append(name)
            }
            let length = [1, 1, 2, 2, 3, 4].randomElement(using: &random) ?? 1
            return FetchIndexDescription(
                "index\(number)",
                elements: elements.prefix(length).map { .init($0, ascending: !random.oneIn(3)) })
        }
    }

    /// The store, with the model's indexes for reading only. Who opens a store that is open shares its engine and its
    /// indexes, but for one that writes and those that only read.
    func open(hasIndexes: Bool) throws -> LogStore {
        var model = self.model
        if !hasIndexes {
            for index in model.entities.indices { model.entities[index].indexes = [] }
        }
        var options = self.options
        options.isReadOnly = hasIndexes
        options.followsWriter = false
        return try LogStore.open(at: "/store", schema: Schema(model), options: options)
    }

    // MARK: Rows

    private mutating func fill(_ random: inout RandomSource) throws {
        let store = try LogStore.open(at: "/store", schema: schema, options: options)
        _ = try store.execute(
            BatchInsertRequest(entityName: "Owner", objects: Array(repeating: [:], count: 30)))
        let owner = try #require(schema.entity(named: "Owner"))
        owners = try store.snapshot().fetch(StoreFetch(entity: owner.index)).ids
        var number: UInt64 = 0
        for _ in 0..<3 {
            var request = SaveRequest()
            for _ in 0..<([20, 200, 900, 900].randomElement(using: &random) ?? 20) {
                let entity = try #require(
                    schema.entity(named: random.oneIn(4) ? "Special" : "Item"))
                number += 1
                let id = ObjectID(
                    temporary: number, hierarchy: store.identity.hierarchies[entity.index],
                    context: SampleStore.identifier)
                let values = entity.columns.map { value(of: $0.name, &random) }
                request.inserted.append(
                    .init(
                        id: id, entity: entity.index, values: values,
                        assigned: ColumnSet(entity.columns.indices)))
            }
            _ = try store.save(request)
            // Some rows are dead.
            let item = try #require(schema.entity(named: "Item"))
            var dead = StoreFetch(
                entity: item.index,
                predicate: .compare("rank", .equal, value(of: "rank", &random)))
            dead.limit = 20
            _ = try store.execute(BatchDeleteRequest(.fetch(dead)))
        }
        try store.close()
    }

    /// A value for a property, or nil.
    private func value(of name: String, _ random: inout RandomSource) -> Value {
        if random.oneIn(10) { return .null }
        if name == "owner" {
            return owners.randomElement(using: &random).map { .objectID($0) } ?? .null
        }
        let type = Self.types.first { $0.name == name }?.type ?? .integer64
        return value(type, isLong: name == "text", &random)
    }

    private static let doubles = [
        0, -0.0, 1.5, -1.5, .infinity, -.infinity, .nan, 1e300, -1e-300, .leastNonzeroMagnitude,
    ]
    private static let integers: [Int64] = [
        0, 1, -1, 255, 256, -256, 32767, -32768, 2_147_483_647, -2_147_483_648, .max, .min,
    ]
    private static let decimals = [
        "0", "1", "-1", "0.1", "1e100", "-0.000001", "12345678901234567890.123", "-1e-100",
    ]
    private static let texts = [
        "", "a", "A", "ab", "a\u{0}", "a\u{1}b", "é", "e\u{301}", "日本", "日", "\u{10FFFF}", "name",
    ]

    private func value(_ type: AttributeType, isLong: Bool, _ random: inout RandomSource)
        -> Value
    {
        let isEdge = random.oneIn(3)
        let small = Int.random(in: 0..<spread, using: &random)
        func pick<T>(_ values: [T], _ other: T) -> T {
            isEdge ? values.randomElement(using: &random) ?? other : other
        }
        switch type {
        case .integer16:
            return .integer(Int64(Int16(truncatingIfNeeded: pick(Self.integers, Int64(small)))))
        case .integer32:
            return .integer(Int64(Int32(truncatingIfNeeded: pick(Self.integers, Int64(small)))))
        case .integer64: return .integer(pick(Self.integers, Int64(small) << 40))
        case .decimal:
            return .decimal(Decimal(string: pick(Self.decimals, "\(small)e\(small % 5 - 2)")) ?? 0)
        case .double: return .double(pick(Self.doubles, Double(small) / 8 - 3))
        case .float: return .float(Float(pick(Self.doubles, Double(small) / 8 - 3)))
        case .boolean: return .boolean(small & 1 == 0)
        case .date:
            return .date(
                Date(timeIntervalSinceReferenceDate: pick([-1e9, -0.0, 1e10], Double(small))))
        case .binary:
            return .binary(
                Data(repeating: UInt8(small % 3), count: pick([0, 1, 63, 64, 65, 100], small)))
        case .uuid:
            let byte = UInt8(small)
            return .uuid(UUID(uuid: (byte / 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte)))
        case .uri:
            let path = String(repeating: "x", count: pick([1, 60], 2))
            return .uri(
                URL(string: "https://example.org/\(path)/\(small)") ?? .temporaryDirectory)
        default:
            // Keys are cut at 64 bytes: two of these have the same one, or nearly.
            if isLong {
                let length = pick([60, 61, 62, 63, 64, 90, 300], 64)
                return .string(String(repeating: "x", count: length) + "\(small % 12)")
            }
            return .string(pick(Self.texts, "name \(small)"))
        }
    }

    // MARK: Fetches

    /// A fetch of items or of special ones.
    func fetch(_ random: inout RandomSource) throws -> StoreFetch {
        let entity = try #require(schema.entity(named: random.oneIn(5) ? "Special" : "Item"))
        var fetch = StoreFetch(entity: entity.index)
        fetch.includesSubentities = !random.oneIn(6)
        // Often what an index begins with, so that it is chosen.
        let index = entity.description.indexes.randomElement(using: &random)
        let other = random.oneIn(2) ? nil : entity.description.indexes.randomElement(using: &random)
        var keys = [index, other].flatMap { $0?.elements.compactMap(\.propertyName) ?? [] }
        if random.oneIn(4) { keys = [] }
        var terms: [PredicateNode] = []
        for key in keys where !random.oneIn(4) { terms.append(term(key, &random)) }
        while random.oneIn(3) {
            guard let column = entity.columns.randomElement(using: &random) else { break }
            terms.append(term(column.name, &random))
        }
        if random.oneIn(8) {
            terms = ["rank", "when"].map { .compare($0, .equal, value(of: $0, &random)) }
        }
        if random.oneIn(12), terms.count > 1 {
            terms = [.or(terms)]
        } else if random.oneIn(12), let first = terms.first {
            terms[0] = .not(first)
        } else if random.oneIn(6), terms.count > 2 {
            terms = [terms[0], .and(Array(terms[1...]))]
        }
        if !terms.isEmpty || random.oneIn(5) {
            fetch.predicate = terms.count == 1 ? terms[0] : .and(terms)
        }
        if !random.oneIn(3) { fetch.sort = sort(index, entity, &random) }
        if random.oneIn(2) {
            fetch.limit = [0, 1, 3, 20, 100, 5000, .max].randomElement(using: &random)
        }
        if random.oneIn(3) {
            fetch.offset = [1, 5, 50, 5000, .max].randomElement(using: &random) ?? 1
        }
        fetch.includesRows = random.oneIn(10)
        return fetch
    }

    /// Groups of what a fetch finds, mostly by what an index begins with.
    func groups(_ fetch: StoreFetch, _ random: inout RandomSource) -> StoreTableFetch {
        let entity = schema.entities[fetch.entity]
        var fetch = fetch
        if random.oneIn(2) { fetch.predicate = nil }
        let index = entity.description.indexes.randomElement(using: &random)
        var keys = index?.elements.compactMap(\.propertyName) ?? ["rank"]
        keys = Array(keys.prefix(Int.random(in: 1...keys.count, using: &random)))
        if random.oneIn(3) { keys.shuffle(using: &random) }
        if random.oneIn(6) { keys.removeFirst() }
        if keys.isEmpty || random.oneIn(8) {
            keys.append(["flag", "rank", "text"].first { !keys.contains($0) } ?? "small")
        }
        let count = ExpressionNode.function(.count, [.evaluatedObject])
        var columns = [TableTerms.Column("rows", count)]
        for key in keys where !random.oneIn(4) { columns.append(.init(key)) }
        if random.oneIn(4) {
            columns.append(.init("some", .function(.count, [.keyPath(keys[0])])))
        }
        var terms = TableTerms(columns: columns)
        terms.groupBy = keys.map { .keyPath($0) }
        if random.oneIn(2) {
            let limit = ExpressionNode.constant(.integer(random.oneIn(2) ? 1 : 3))
            terms.having = .compare(count, random.oneIn(3) ? .less : .greater, limit)
        }
        fetch.sort = random.oneIn(5) ? [SortKey("rows", ascending: random.oneIn(2))] : []
        if random.oneIn(2) { (fetch.limit, fetch.offset) = (nil, 0) }
        return StoreTableFetch(fetch, terms)
    }

    /// The order of an index or its reverse, perhaps but for something; or any order.
    private func sort(
        _ index: FetchIndexDescription?, _ entity: SchemaEntity, _ random: inout RandomSource
    ) -> [SortKey] {
        guard let index, !random.oneIn(4) else {
            return entity.columns.shuffled(using: &random)
                .prefix(Int.random(in: 1...3, using: &random))
                .map { SortKey($0.name, ascending: random.oneIn(2)) }
        }
        let isForward = random.oneIn(2)
        var keys = index.elements.map {
            SortKey($0.propertyName ?? "", ascending: $0.isAscending == isForward)
        }
        switch random.next() % 6 {
        case 0: keys.removeFirst()
        case 1: keys.removeLast()
        case 2:
            if let last = keys.popLast() {
                keys.append(SortKey(last.key, ascending: !last.isAscending))
            }
        default: break
        }
        return keys
    }

    /// A condition on a property.
    private func term(_ name: String, _ random: inout RandomSource) -> PredicateNode {
        func value() -> Value { self.value(of: name, &random) }
        let relations: [PredicateNode.Comparison.Operator] = [
            .less, .lessOrEqual, .greater, .greaterOrEqual,
        ]
        let type = Self.types.first { $0.name == name }?.type
        // No order is defined for these.
        let isOrdered = type != nil && type != .uuid && type != .uri && type != .boolean
        switch random.next() % 12 {
        case 0: return .compare(name, .notEqual, random.oneIn(2) ? .null : value())
        case 1, 2:
            var values = (0..<Int.random(in: 0...8, using: &random)).map { _ in value() }
            if random.oneIn(2), let first = values.first { values += [first, first] }
            return .compare(.keyPath(name), .in, .list(values))
        case 3,
            4 where isOrdered:
            return .compare(.keyPath(name), .between, .list([value(), value()]))
        case 5, 6,
            7 where isOrdered:
            return .compare(name, relations.randomElement(using: &random) ?? .less, value())
        case 8,
            9 where type == .string:
            guard case .string(let text) = value() else { return .compare(name, .equal, .null) }
            return .compare(
                .keyPath(name), .beginsWith,
                .constant(.string(String(text.prefix(Int.random(in: 0...70, using: &random))))),
                options: random.oneIn(6) ? .caseInsensitive : [])
        case 10 where type == .double || type == .float || type == .integer32:
            // A number of another kind.
            return .compare(name, .equal, .integer(Int64.random(in: -3...4, using: &random)))
        default: return .compare(name, .equal, value())
        }
    }

    /// A fetch in words.
    static func words(_ fetch: StoreFetch) -> String {
        let sort = fetch.sort.map { "\($0.isAscending ? "" : "-")\($0.key)" }
        return
            "\(fetch.predicate.map { "\($0)" } ?? "all") of \(fetch.entity)\(fetch.includesSubentities ? "" : " alone") by \(sort) limit \(fetch.limit ?? -1) offset \(fetch.offset)"
    }
}
