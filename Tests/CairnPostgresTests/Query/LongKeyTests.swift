import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Long values in indexes", .enabled(if: PostgresServer.isInstalled))
struct LongKeyTests {
    /// An index has room for some 2,700 bytes an entry, after they were packed: what is random cannot be.
    private static func text(_ length: Int, _ random: inout RandomSource) -> String {
        String(
            String.UnicodeScalarView(
                (0..<length).compactMap { _ in
                    Unicode.Scalar(UInt32.random(in: 0x4E00...0x9FFF, using: &random))
                }))
    }

    private static func schema() throws -> Schema {
        var document = EntityDescription(
            "Document",
            attributes: [
                .init("name", .string), .init("part", .string), .init("third", .string),
                .init("fourth", .string), .init("body", .binary), .init("title", .string),
                .init("weight", .double),
            ],
            uniquenessConstraints: [
                ["name"], ["name", "part", "third", "fourth"], ["body"], ["title", "weight"],
            ])
        document.indexes = [
            .init("byTitle", elements: [.init("title"), .init("weight", ascending: false)]),
            .init(
                "byAll",
                elements: [.init("part"), .init("third"), .init("body"), .init("fourth")]),
        ]
        return try Schema(ManagedObjectModel(entities: [document]))
    }

    private func withStore(_ body: (PostgresStore, Schema) throws -> Void) throws {
        let schema = try Self.schema()
        let server = try PostgresServer.shared()
        let name = server.newName("long")
        let store = try PostgresStore.open(server.url(["cairn_schema": name]), schema: schema)
        defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
        try body(store, schema)
        try store.close()
    }

    private func row(_ text: String, _ tail: String) -> [Value] {
        [
            .string(text + tail), .string(text), .string(text), .string(text),
            .binary(Data((text + tail).utf8)), .string(text + tail), .double(1),
        ]
    }

    private func insert(_ rows: [[Value]], _ store: some PersistentStore) throws -> [ObjectID]? {
        let ids = try store.obtainPermanentIDs(forEntities: rows.map { _ in 0 })
        var request = SaveRequest()
        for (id, row) in zip(ids, rows) {
            request.inserted.append(
                .init(id: id, entity: 0, values: row, assigned: ColumnSet(row.indices)))
        }
        guard case .saved = try store.saving(request) else { return nil }
        return ids
    }

    @Test("Keys of any length are kept, and told apart by their ends", arguments: [5_000, 100_000])
    func keys(_ length: Int) throws {
        var random = RandomSource("long keys")
        let text = Self.text(length / 3, &random)
        try withStore { store, schema in
            let ids = try #require(
                try insert([row(text, "a"), row(text, "b"), row("short", "")], store))
            // The same key again is a conflict as ever, not a failure of the server.
            #expect(throws: StoreError.self) {
                do {
                    _ = try insert([row(text, "b")], store)
                } catch let error as StoreError where error.code == .constraintConflict {
                    throw error
                }
            }
            let snapshot = try store.snapshot()
            let entity = schema.entities[0]
            for (index, tail) in ["a", "b", "c"].enumerated() {
                let found = index < 2 ? [ids[index]] : []
                for predicate: PredicateNode in [
                    .compare("name", .equal, .string(text + tail)),
                    .compare(
                        .keyPath("title"), .in,
                        .list([.string(text + tail), .string("x")])),
                    .compare("body", .equal, .binary(Data((text + tail).utf8))),
                ] {
                    let answer = try snapshot.fetch(StoreFetch(entity: 0, predicate: predicate))
                    #expect(answer.ids == found)
                    #expect(answer.plan == "in the server: condition")
                }
            }
            let lookup = StoreLookup(entity, by: ColumnSet([0]))
            var positions: [Int] = []
            let column = try entity.column("name", as: String.self)
            try snapshot.lookUp(
                lookup, column, ["none", text + "b", text, text + "a", "short", "nul\u{0}"]
            ) { positions.append($0.position) }
            #expect(positions == [1, 3, 4])
        }
    }

    @Test("Ranges, beginnings and orders of long texts are as in memory")
    func ranges() throws {
        var random = RandomSource("ranges of long texts")
        let texts = [
            Self.text(150, &random), Self.text(200, &random), Self.text(201, &random),
            Self.text(2000, &random),
        ].flatMap { text in
            let beginning = String(text.prefix(199))
            return [text, text + "z", beginning, beginning + "\u{10FFFF}", beginning + "\u{D7FF}"]
        }
        let rows = Set(texts + ["", "a", "\u{10FFFF}\u{10FFFF}"]).sorted().map { row("", $0) }
            .enumerated().map { index, row in
                // The constraint over four parts wants one of its own.
                var row = row
                row[1] = .string("\(index)")
                return row
            }
        try withStore { store, schema in
            let memory = try LogStore.inMemory(schema: schema)
            let ids = try #require(try insert(rows, store))
            let known = try #require(try insert(rows, memory))
            let (asked, expected) = (try store.snapshot(), try memory.snapshot())
            var relations: [PredicateNode.Comparison.Operator] = [
                .less, .lessOrEqual, .greater, .greaterOrEqual, .equal, .notEqual, .beginsWith,
            ]
            relations.append(.contains)
            for text in texts + ["", "\u{10FFFF}"] {
                for relation in relations {
                    for end in [text, String(text.prefix(180)), text + "\u{10FFFF}"] {
                        var fetch = StoreFetch(
                            entity: 0, predicate: .compare("title", relation, .string(end)))
                        fetch.sort = [SortKey("title", ascending: random.oneIn(2))]
                        fetch.limit = random.oneIn(2) ? 4 : nil
                        let found = try asked.fetch(fetch)
                        #expect(found.plan.hasPrefix("in the server: condition, order"))
                        #expect(
                            found.ids.map { ids.firstIndex(of: $0) }
                                == (try expected.fetch(fetch).ids.map { known.firstIndex(of: $0) }),
                            "\(relation) \(end.unicodeScalars.count)")
                    }
                }
            }
            try memory.close()
        }
    }

    @Test("An index serves equality, ranges, beginnings and the first of an order")
    func plans() throws {
        try withStore { store, _ in
            let rows = (0..<3000).map { row("", "text \($0)") }.enumerated().map { index, row in
                var row = row
                row[1] = .string("\(index)")
                row[6] = .double(Double(index))
                return row
            }
            _ = try #require(try insert(rows, store))
            _ = try store.core.ask([
                Statement("ANALYZE \(store.core.layout.sql("Document"))", [], .once)
            ])
            let snapshot = try store.snapshot()
            func plan(_ predicate: PredicateNode?, _ change: (inout StoreFetch) -> Void = { _ in })
                throws -> String
            {
                var fetch = StoreFetch(entity: 0, predicate: predicate)
                change(&fetch)
                return try #require(try snapshot.explain(fetch).serverPlan)
            }
            #expect(
                try plan(.compare("name", .equal, .string("text 7")))
                    .contains("unique Document.name"))
            #expect(
                try plan(.compare("title", .beginsWith, .string("text 12")))
                    .contains("Document.byTitle"))
            #expect(
                try plan(.compare("title", .greater, .string("text 999")))
                    .contains("Document.byTitle"))
            #expect(
                try plan(nil) {
                    $0.sort = [SortKey("title")]
                    $0.limit = 5
                }.contains("Document.byTitle"))
        }
    }
}
