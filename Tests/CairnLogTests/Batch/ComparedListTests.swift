// Lists whose rows helpers compare before they are carried out, held against the same lists without helpers.
//
// Two stores get the same requests: one has helpers, the other has none. After each request both must have answered the same
// and hold the same, history and answers of their indexes too. Some lists meet commits of others, made while their rows are
// given: what was compared before must not count any more.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Lists that are compared ahead")
struct ComparedListTests {
    /// What a round's model has.
    private struct Shape {
        let keyIsText: Bool
        let hasReference: Bool
        let derives: Bool
        let isIndexed: Bool
        let hasRule: Bool

        init(_ random: inout RandomSource) {
            keyIsText = random.oneIn(2)
            hasReference = random.oneIn(3)
            derives = random.oneIn(4)
            isIndexed = random.oneIn(4)
            hasRule = random.oneIn(6)
        }

        var model: ManagedObjectModel {
            var item = EntityDescription(
                "Item",
                attributes: [
                    .init("code", keyIsText ? .string : .integer64), .init("text", .string),
                    .init("small", .integer16, default: .integer(3)), .init("value", .double),
                    .init("mark", .boolean), .init("data", .binary), .init("id", .uuid),
                    .init("part", .float),
                ], uniquenessConstraints: [["code"]])
            if hasRule {
                item.uniquenessConstraints = []
                item.uniquenessRules = [
                    UniquenessRule(["code"], where: .compare("small", .less, .integer(90)))
                ]
            }
            var entities: [EntityDescription] = []
            if hasReference {
                var shelf = EntityDescription(
                    "Shelf", attributes: [.init("name", .string)],
                    uniquenessConstraints: [["name"]])
                shelf.relationships = [
                    RelationshipDescription("items", to: "Item", toMany: true, inverse: "shelf")
                ]
                item.relationships = [
                    RelationshipDescription("shelf", to: "Shelf", inverse: "items")
                ]
                entities.append(shelf)
            }
            if derives {
                var title = AttributeDescription("title", .string)
                title.derivationExpression = "uppercase:(text)"
                item.attributes.append(title)
            }
            if isIndexed {
                item.indexes = [FetchIndexDescription("bySmall", elements: [.init("small")])]
            }
            var special = EntityDescription("Special", attributes: [.init("extra", .integer32)])
            special.superentityName = "Item"
            return ManagedObjectModel(entities: entities + [item, special])
        }
    }

    /// A row of a list: what is nil is not named; `.null` is nil.
    private struct Given {
        var values: [String: Value] = [:]
        var shelf: RowTarget?
    }

    private final class Subject {
        let schema: Schema
        let options: LogStoreOptions
        private(set) var store: LogStore
        var item: SchemaEntity { schema.entity(named: "Item") ?? schema.entities[0] }

        init(threads: Int, _ shape: Shape, _ sizes: StoreSizes, cache: Int) throws {
            schema = try Schema(shape.model)
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

        /// The objects in the order in which they were made, with what they hold.
        func rows() throws -> [(line: String, values: [String: Value])] {
            var fetch = StoreFetch(entity: item.index)
            fetch.includesRows = true
            let snapshot = try store.snapshot()
            return try snapshot.fetch(fetch).rows.sorted { $0.id.reference < $1.id.reference }
                .map { row in
                    let entity = schema.entities[row.entity]
                    var values: [String: Value] = [:]
                    for column in entity.columns.indices {
                        values[entity.columns[column].name] = row.cells.value(
                            column, of: entity, in: snapshot.identity)
                    }
                    let words = values.sorted { $0.key < $1.key }.map { name, value in
                        if case .objectID(let id) = value {
                            "\(name) p\(id.reference)"
                        } else {
                            "\(name) \(value)"
                        }
                    }
                    return (
                        "\(row.id.reference) \(entity.name) v\(row.version) "
                            + words.joined(separator: ", "), values
                    )
                }
        }

        /// A request of the rows; before row number `pause` something else is done.
        func request(
            _ rows: [Given], entity: String, pause: Int, _ body: @escaping (LogStore) throws -> Void
        ) throws -> BatchInsertRequest {
            let entity = try #require(schema.entity(named: entity))
            var next = 0
            let shelf = entity.columnIndex(named: "shelf")
            let columns = Dictionary(
                uniqueKeysWithValues: entity.columns.enumerated().map { ($1.name, $0) })
            // One thread at a time gives rows.
            nonisolated(unsafe) let give = { (row: borrowing RowWriter) throws -> Bool in
                if next == pause { try body(self.store) }
                if next == rows.count { return true }
                for (name, value) in rows[next].values {
                    guard let column = columns[name], row.set(column, value) else {
                        throw StoreError(.invalidRequest, "no such column \(name)")
                    }
                }
                if let shelf, let target = rows[next].shelf { row._setTarget(shelf, target) }
                next += 1
                return false
            }
            return BatchInsertRequest(entity: entity) { row in try give(row) }
        }
    }

    // MARK: Lists

    private static func fresh(_ number: Int, _ shape: Shape, _ random: inout RandomSource) -> Given
    {
        var given = Given()
        given.values["code"] = shape.keyIsText ? .string("c\(number)") : .integer(Int64(number))
        fill(&given, &random)
        return given
    }

    private static func fill(_ given: inout Given, _ random: inout RandomSource) {
        for name in ["text", "small", "value", "mark", "data", "id", "part"] where !random.oneIn(3)
        {
            given.values[name] = value(name, &random)
        }
    }

    private static func value(_ name: String, _ random: inout RandomSource) -> Value {
        if random.oneIn(8) { return .null }
        let number = Int.random(in: 0..<30, using: &random)
        return switch name {
        case "text": .string(String(repeating: "t\(number)", count: number % 7))
        case "small": .integer(Int64(number * 5))
        case "value":
            number == 7 ? .double(.nan) : number == 8 ? .double(-0.0) : .double(Double(number) / 4)
        case "mark": .boolean(number & 1 == 1)
        case "data": .binary(Data(repeating: UInt8(number), count: number == 3 ? 300 : number))
        case "id": .uuid(UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        default: .float(Float(number))
        }
    }

    /// A list made of what is stored: most of it the same, in its order.
    private static func list(
        _ stored: [[String: Value]], _ shape: Shape, _ next: inout Int, _ random: inout RandomSource
    ) -> [Given] {
        let share = [4, 30, 300, 5000].randomElement(using: &random) ?? 30
        let names = ["code", "text", "small", "value", "mark", "data", "id", "part"]
        var list: [Given] = []
        for row in stored {
            if random.oneIn(share) { continue }
            var given = Given()
            for name in names where !random.oneIn(share * 2) {
                given.values[name] = row[name] ?? .null
            }
            if random.oneIn(share) {
                let name = names[Int.random(in: 1..<names.count, using: &random)]
                given.values[name] = value(name, &random)
            }
            list.append(given)
            if random.oneIn(share) {
                list.append(fresh(next, shape, &random))
                next += 1
            }
            if random.oneIn(share * 3), let again = list.randomElement(using: &random) {
                var again = again
                if random.oneIn(2) { fill(&again, &random) }
                list.append(again)
            }
            if random.oneIn(share * 8) { list.append(Given(values: ["text": .string("no key")])) }
        }
        while list.count > 4, random.oneIn(3) {
            let (one, other) = (
                Int.random(in: 0..<list.count, using: &random),
                Int.random(in: 0..<list.count, using: &random)
            )
            list.swapAt(one, other)
        }
        if random.oneIn(12) { list.shuffle(using: &random) }
        if random.oneIn(12) { list.reverse() }
        return list
    }

    @Test("They leave and answer what lists without helpers do")
    func random() throws {
        try Rounds.run("compared lists", everyDay: 1, whole: 300) { random in
            let shape = Shape(&random)
            var sizes = StoreSizes()
            sizes.rowsPerBlock = [16, 40, 256].randomElement(using: &random) ?? 40
            sizes.largeValueBytes = 200
            // With fewer, each row has hundreds of others to be compared with.
            sizes.hashBits = [9, 32].randomElement(using: &random) ?? 32
            // What does not fit is filled in the turn, where nobody may use the store.
            let isStaged = random.oneIn(2)
            if !isStaged { sizes.stagingBytes = [1, 150_000].randomElement(using: &random) ?? 1 }
            let cache = random.oneIn(4) ? 0 : 1 << 20
            let helped = try Subject(threads: 3, shape, sizes, cache: cache)
            let alone = try Subject(threads: 1, shape, sizes, cache: cache)
            if shape.hasReference {
                for subject in [helped, alone] {
                    _ = try subject.store.execute(
                        BatchInsertRequest(
                            entityName: "Shelf", objects: (0..<5).map { ["name": "s\($0)"] }))
                }
            }
            var next = 0
            for step in 0..<(Campaign.isLong ? 6 : 3) {
                var rows: [Given]
                var entity = "Item"
                let isNew = next < 2000 || random.oneIn(8)
                if isNew {
                    let count = [900, 4000].randomElement(using: &random) ?? 900
                    rows = (next..<next + count).map { Self.fresh($0, shape, &random) }
                    next += count
                    if step > 0, random.oneIn(2) { entity = "Special" }
                } else {
                    rows = Self.list(try alone.rows().map(\.values), shape, &next, &random)
                }
                if shape.hasReference, random.oneIn(2) {
                    for row in rows.indices where random.oneIn(20) {
                        rows[row].shelf = .key("s\(Int.random(in: 0..<5, using: &random))")
                    }
                }
                let failing = random.oneIn(8)
                let writes = !failing && isStaged && !isNew && !random.oneIn(3)
                // Mostly so late that there is something that was compared before.
                let pause = Int.random(
                    in: (random.oneIn(3) ? 0 : rows.count / 2)...rows.count, using: &random)
                let divisor = Int64([2, 7, 90].randomElement(using: &random) ?? 7)
                let kind = Int.random(in: 0..<3, using: &random)
                func prepare(_ subject: Subject) throws -> BatchInsertRequest {
                    try subject.request(rows, entity: entity, pause: pause) { store in
                        if failing { throw StoreError(.invalidRequest, "the row is not there") }
                        if writes { try Self.write(store, kind, divisor) }
                    }
                }
                var requests = [try prepare(helped), try prepare(alone)]
                let policy =
                    [MergePolicyKind.overwrite, .mergeByPropertyObjectTrump, .overwrite, .declared]
                    .randomElement(using: &random)
                let missing: MissingObjects =
                    switch isNew ? 0 : Int.random(in: 0..<4, using: &random) {
                    case 0: .stay
                    case 1: .mark(["mark": .boolean(true)])
                    default: .delete
                    }
                let isScoped = missing != .stay && random.oneIn(4)
                let setOnly = random.oneIn(2)
                let (tells, lists) = (random.oneIn(5), random.oneIn(2))
                for index in requests.indices {
                    requests[index].mergePolicy = policy
                    requests[index].missing = missing
                    if isScoped { requests[index].scope = .compare("small", .less, .integer(60)) }
                    requests[index].setOnly = setOnly
                    requests[index].reportsOutcomes = tells
                    requests[index].resultType = lists ? .objectIDs : .count
                    requests[index].allowsEmpty = true
                }
                let answers = [Self.answer(helped, requests[0]), Self.answer(alone, requests[1])]
                #expect(answers[0] == answers[1])
                if random.oneIn(4) {
                    for subject in [helped, alone] { try subject.reopen() }
                }
                let (one, other) = (try helped.rows().map(\.line), try alone.rows().map(\.line))
                #expect(one == other)
                #expect(try helped.store.check().findings.isEmpty)
                if one != other || answers[0] != answers[1] { return }
            }
            #expect(try HistoryText.lines(helped.store) == HistoryText.lines(alone.store))
            for subject in [helped, alone] { try subject.store.close() }
        }
    }

    /// What somebody else commits while rows are given.
    private static func write(_ store: LogStore, _ kind: Int, _ divisor: Int64) throws {
        let item = try #require(store.schema.entity(named: "Item"))
        let condition = try PredicateNode(format: "modulus:by:(small, \(divisor)) == 0")
            .boundForStore(to: item, in: store.schema, nullSemantics: .twoValued)
        switch kind {
        case 0:
            _ = try store.execute(
                BatchDeleteRequest(.fetch(StoreFetch(entity: item.index, predicate: condition))))
        case 1:
            var update = BatchUpdateRequest(
                entityName: "Item",
                propertiesToUpdate: ["text": .value(.string("of somebody else"))])
            update.predicate = try PredicateNode(format: "modulus:by:(small, \(divisor)) == 0")
            _ = try store.execute(update)
        default:
            // All rows lie elsewhere then.
            _ = try store.execute(
                BatchUpdateRequest(
                    entityName: "Item", propertiesToUpdate: ["part": .value(.float(0.5))]))
        }
    }

    private static func answer(_ subject: Subject, _ request: BatchInsertRequest) -> String {
        do throws(StoreError) {
            let result = try subject.store.execute(request)
            func words(_ ids: [ObjectID]) -> String {
                ids.map { "\($0.reference)" }.joined(separator: " ")
            }
            return "\(result.insertedCount) inserted, \(result.updatedCount) updated, "
                + "\(result.unchangedCount) unchanged, \(result.skippedCount) skipped, "
                + "\(result.deletedCount) deleted, \(result.markedCount) marked; "
                + "\(words(result.objectIDs)); \(words(result.missingIDs)); \(result.outcomes); "
                + "\(result.commit == nil ? "no commit" : "a commit")"
        } catch {
            return "\(error.code) \(error.message) \(error.context.row ?? -1) "
                + "\(error.context.key ?? "") \(error.details.map { "\($0.context.row ?? -1)" })"
        }
    }
}
