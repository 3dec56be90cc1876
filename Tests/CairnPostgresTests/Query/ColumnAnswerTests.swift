import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Answers of the server about values at the edges", .enabled(if: PostgresServer.isInstalled))
struct ColumnAnswerTests {
    private static let attributes: [(name: String, type: AttributeType)] = [
        ("whole", .integer64), ("small", .integer16), ("one", .double), ("other", .double),
        ("single", .float), ("exact", .decimal), ("flag", .boolean), ("made", .date),
        ("ended", .date), ("text", .string), ("part", .string), ("link", .uri), ("key", .uuid),
        ("data", .binary),
    ]
    private static let wholes: [Int64?] = [
        nil, 0, 1, -1, 9_007_199_254_740_993, .max, .min, 9_007_199_254_740_992,
    ]
    private static let doubles: [Double?] = [
        nil, .nan, 0, -0.0, 1, 0.5, 0.1, 9_007_199_254_740_992, 0x1p63, -0x1p63, .infinity,
        -.infinity,
    ]
    private static let texts: [String?] = [
        nil, "", "a", "ab", "b", "%", "a%b", "\u{FFFF}", "\u{10FFFF}", "e\u{301}", "e", "A",
    ]

    /// Each value of one kind beside each of the others.
    private static var rows: [[Value]] {
        (0..<96).map { row in
            let whole = wholes[row % wholes.count]
            // Different steps, so that all pairs come.
            let one = doubles[row / wholes.count]
            let other = doubles[(row + row / 12) % doubles.count]
            let text = texts[row % texts.count]
            let part = texts[(row / texts.count + row) % texts.count]
            return [
                whole.map { .integer($0) } ?? .null,
                whole.map { .integer(Int64(Int16(truncatingIfNeeded: $0))) } ?? .null,
                one.map { .double($0) } ?? .null, other.map { .double($0) } ?? .null,
                one.map { .float(Float($0)) } ?? .null,
                other.flatMap { $0.isFinite ? .decimal(Decimal($0)) : nil } ?? .null,
                row % 3 == 0 ? .null : .boolean(row % 3 == 1),
                one.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null,
                other.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null,
                text.map { .string($0) } ?? .null, part.map { .string($0) } ?? .null,
                URL(string: "https://example.org/\(row % 4)").map { .uri($0) } ?? .null,
                row % 5 == 0
                    ? .null
                    : .uuid(
                        UUID(
                            uuid: (
                                UInt8(125 + row % 5), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
                            ))),
                text.map { .binary(Data($0.utf8)) } ?? .null,
            ]
        }
    }

    private func fill(_ store: some PersistentStore) throws -> [ObjectID: Int] {
        let rows = Self.rows
        let ids = try store.obtainPermanentIDs(forEntities: rows.map { _ in 0 })
        var request = SaveRequest()
        for (id, row) in zip(ids, rows) {
            request.inserted.append(
                .init(id: id, entity: 0, values: row, assigned: ColumnSet(row.indices)))
        }
        _ = try store.save(request)
        return Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
    }

    /// Runs a closure with what asks both stores the same question and compares their answers; the name of an answer's way.
    private func withBoth(_ body: ((StoreFetch) throws -> String) throws -> Void) throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Edge", attributes: Self.attributes.map { .init($0.name, $0.type) })
            ]))
        let server = try PostgresServer.shared()
        let name = server.newName("edges")
        let store = try PostgresStore.open(server.url(["cairn_schema": name]), schema: schema)
        defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
        let memory = try LogStore.inMemory(schema: schema)
        let (places, expectedPlaces) = (try fill(store), try fill(memory))
        let (asked, known) = (try store.snapshot(), try memory.snapshot())
        try body { fetch in
            var bound = fetch
            bound.predicate = try fetch.predicate?.boundForStore(
                to: schema.entities[0], in: schema)
            let found = try asked.fetch(fetch)
            let expected = try known.fetch(bound).ids.map { expectedPlaces[$0] }
            #expect(
                found.ids.map { places[$0] } == expected,
                "\(fetch.predicate?.description ?? "") by \(fetch.sort.map(\.outline)) \(found.plan)"
            )
            return found.plan
        }
        try store.close()
        try memory.close()
    }

    @Test("Each two columns are compared in each way as in memory")
    func columns() throws {
        try withBoth { ask in
            var exact = 0
            let relations: [PredicateNode.Comparison.Operator] = [
                .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .contains,
                .beginsWith, .endsWith, .in,
            ]
            for (left, type) in Self.attributes {
                for (right, otherType) in Self.attributes {
                    for relation in relations {
                        let isOfText = relation.isOfText || relation == .contains || relation == .in
                        guard !isOfText || (type == .string && otherType == .string) else {
                            continue
                        }
                        let node = PredicateNode.compare(
                            .keyPath(left), relation, .keyPath(right))
                        let fetch = StoreFetch(
                            entity: 0, predicate: relation == .lessOrEqual ? .not(node) : node)
                        // Most pairs of types cannot be compared at all.
                        guard let plan = try? ask(fetch) else { continue }
                        if plan == "in the server: condition" { exact += 1 }
                    }
                }
            }
            #expect(exact > 200)
        }
    }

    @Test("Each column is compared with numbers and texts of each kind as in memory")
    func constants() throws {
        var constants: [Value] = Self.wholes.map { $0.map { .integer($0) } ?? .null }
        constants += Self.doubles.compactMap { $0.map { .double($0) } }
        constants += Self.doubles.compactMap { $0.map { .float(Float($0)) } }
        constants += [-0.5, 1.5, 9.3e18, -9.3e18, 1e300].map { .double($0) }
        constants += Self.texts.compactMap { $0.map { .string($0) } }
        for text in [
            "0", "0.5", "-0.5", "9007199254740992.5", "9223372036854775807.5",
            "-9223372036854775808.5", "1e30", "-1e30",
        ] {
            if let number = Decimal(string: text) { constants.append(.decimal(number)) }
        }
        constants += [.boolean(true)] + ["a\u{0}", "e*", "?", "*b", "\\%"].map { .string($0) }
        try withBoth { ask in
            for (name, _) in Self.attributes {
                for constant in constants {
                    for relation in [
                        .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
                        .contains, .beginsWith, .endsWith, .like,
                    ] as [PredicateNode.Comparison.Operator] {
                        let node = PredicateNode.compare(
                            .keyPath(name), relation, .constant(constant))
                        _ = try? ask(StoreFetch(entity: 0, predicate: node))
                    }
                    let list = PredicateNode.compare(
                        .keyPath(name), .in, .list([constant, .null]))
                    _ = try? ask(StoreFetch(entity: 0, predicate: .not(list)))
                }
            }
        }
    }

    @Test("Texts are compared with each set of options as in memory")
    func options() throws {
        try withBoth { ask in
            for options in (0..<16).map({ PredicateNode.Comparison.Options(rawValue: $0) }) {
                for text in Self.texts.compactMap(\.self) + ["E", "\u{E9}", "AB"] {
                    for relation in [
                        .equal, .notEqual, .less, .greaterOrEqual, .contains, .beginsWith,
                        .endsWith, .like,
                    ] as [PredicateNode.Comparison.Operator] {
                        let node = PredicateNode.compare(
                            .keyPath("text"), relation, .constant(.string(text)), options: options)
                        _ = try ask(StoreFetch(entity: 0, predicate: node))
                    }
                    let list = PredicateNode.compare(
                        .keyPath("text"), .in, .list([.string(text)]), options: options)
                    _ = try ask(StoreFetch(entity: 0, predicate: list))
                }
                let columns = PredicateNode.compare(
                    .keyPath("text"), .equal, .keyPath("part"), options: options)
                _ = try ask(StoreFetch(entity: 0, predicate: columns))
            }
        }
    }

    @Test("Each column sorts as in memory, nil at either end")
    func orders() throws {
        try withBoth { ask in
            for (name, _) in Self.attributes {
                for isAscending in [true, false] {
                    for nulls in [nil, .first, .last] as [SortKey.NullsPosition?] {
                        var fetch = StoreFetch(entity: 0)
                        fetch.sort = [SortKey(name, ascending: isAscending, nulls: nulls)]
                        let plan = try ask(fetch)
                        #expect(plan == "in the server: order")
                    }
                }
            }
        }
    }
}
