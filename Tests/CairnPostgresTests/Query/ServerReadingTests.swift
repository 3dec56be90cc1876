import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

/// Counts how often a snapshot asks.
private final class CountedQuestions: Questions {
    private let questions: ReadTransaction
    private let asked = Mutex(0)
    var count: Int { asked.withLock { $0 } }
    var commit: UInt64 { questions.commit }

    init(_ core: StoreCore) throws { questions = try ReadTransaction(core, begins: true) }

    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        asked.withLock { $0 += 1 }
        return try questions.ask(statements)
    }

    func stream(
        _ statement: Statement, _ body: (PostgresResult) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try questions.stream(statement) { result throws(StoreError) in
            asked.withLock { $0 += 1 }
            return try body(result)
        }
    }
}

@Suite("Reading from a server", .enabled(if: PostgresServer.isInstalled))
struct ServerReadingTests {
    private func withBoth(
        _ test: String,
        _ body: (
            _ schema: Schema, _ asked: PostgresSnapshot, _ stored: AskedContent.Stored,
            _ known: any StoreSnapshot, _ expected: AskedContent.Stored
        ) throws -> Void
    ) throws {
        let server = try PostgresServer.shared()
        try Rounds.run(test, everyDay: 3, whole: 100) { random in
            let schema = try AskedModel.schema()
            let content = AskedContent(schema, &random)
            let memory = try LogStore.inMemory(schema: schema)
            let name = server.newName("read")
            let store = try PostgresStore.open(server.url(["cairn_schema": name]), schema: schema)
            defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
            let stored = try content.fill(store)
            let expected = try content.fill(memory)
            let asked = try #require(try store.snapshot() as? PostgresSnapshot)
            try body(schema, asked, stored, try memory.snapshot(), expected)
            try store.close()
            try memory.close()
        }
    }

    /// The values of a row in words, and its object by its place.
    private func words(
        _ row: borrowing RowView, _ entity: SchemaEntity, _ stored: AskedContent.Stored
    ) throws -> String {
        var words = "\(row.position) \(stored.places[row.objectID] ?? -1)"
        for column in entity.columns {
            guard case .attribute(let type) = column.kind else { continue }
            let value =
                switch type {
                case .integer16, .integer32, .integer64:
                    try cell(row, entity, column.name, Int?.self)
                case .decimal: try cell(row, entity, column.name, Decimal?.self)
                case .double: try cell(row, entity, column.name, Double?.self)
                case .float: try cell(row, entity, column.name, Float?.self)
                case .string: try cell(row, entity, column.name, String?.self)
                case .boolean: try cell(row, entity, column.name, Bool?.self)
                case .date: try cell(row, entity, column.name, Date?.self)
                case .binary: try cell(row, entity, column.name, Data?.self)
                case .uuid: try cell(row, entity, column.name, UUID?.self)
                case .uri: try cell(row, entity, column.name, URL?.self)
                case .transformable, .undefined, .objectID, .composite: ""
                }
            words += ", \(column.name) \(value)"
        }
        return words
    }

    private func cell<V: AttributeValue>(
        _ row: borrowing RowView, _ entity: SchemaEntity, _ name: String, _ type: V.Type
    ) throws -> String {
        "\(row[try entity.column(name, as: V.self)])"
    }

    @Test("Typed rows of objects are as in memory")
    func objects() throws {
        try withBoth("typed rows of the server") { schema, asked, stored, known, expected in
            for entity in schema.entities {
                var read = StoreRead(entity)
                read.fetch.sort = [SortKey("name"), SortKey("name", ascending: false)]
                var (found, wanted): ([String], [String]) = ([], [])
                try asked.read(read) { found.append(try words($0, entity, stored)) }
                try known.read(read) { wanted.append(try words($0, entity, expected)) }
                #expect(found == wanted)
                // A condition that is looked at again.
                read.fetch.predicate = try PredicateNode(format: "name ==[c] 'a' OR name == nil")
                (found, wanted) = ([], [])
                try asked.read(read) { found.append(try words($0, entity, stored)) }
                try known.read(read) { wanted.append(try words($0, entity, expected)) }
                #expect(found == wanted)
            }
        }
    }

    @Test("Typed rows of relationships are as in memory, and one question each")
    func related() throws {
        try withBoth("related rows of the server") { schema, asked, stored, known, expected in
            let counted = try CountedQuestions(asked.core)
            let snapshot = PostgresSnapshot(asked.core, counted)
            let rows = try asked.rows(stored.ids)
            for entity in schema.entities {
                let owners = expected.ids.indices.filter {
                    rows[$0].map { schema.entities[$0.entity].isKind(of: entity) } ?? false
                }
                let places = owners + owners.prefix(2)
                for relationship in entity.relationships {
                    let name = relationship.description.name
                    let request = try StoreRelated(entity, name, in: schema)
                    let destination = schema.entities[relationship.destination]
                    var (found, wanted): ([String], [String]) = ([], [])
                    let before = counted.count
                    try snapshot.read(request, of: places.map { stored.ids[$0] }) {
                        found.append(try words($0, destination, stored))
                    }
                    #expect(counted.count - before <= 1)
                    try known.read(request, of: places.map { expected.ids[$0] }) {
                        wanted.append(try words($0, destination, expected))
                    }
                    #expect(found == wanted, "\(entity.name).\(name)")
                }
            }
        }
    }

    @Test("What is looked at here is read for many objects together")
    func together() throws {
        try withBoth("objects looked at here") { schema, asked, stored, known, expected in
            let counted = try CountedQuestions(asked.core)
            let snapshot = PostgresSnapshot(asked.core, counted)
            let thing = try #require(schema.entity(named: "Thing"))
            // The objects, the members of each of four entities, and rows.
            for (format, most) in [
                ("ANY tags.name MATCHES 'a.*'", 6),
                (
                    "owner.boss.name MATCHES '.*a.*' OR SUBQUERY(likes, $l, $l.owner.name MATCHES '.*').@count > 1",
                    9
                ),
            ] {
                let fetch = StoreFetch(
                    entity: thing.index, predicate: try PredicateNode(format: format))
                let before = counted.count
                let found = try snapshot.fetch(fetch).ids.map { stored.places[$0] }
                #expect(counted.count - before <= most)
                #expect(found == (try known.fetch(fetch).ids.map { expected.places[$0] }))
            }
        }
    }

    @Test("A long answer comes some rows at a time, and other questions between them")
    func streamed() throws {
        let schema = try AskedModel.schema()
        let server = try PostgresServer.shared()
        let name = server.newName("stream")
        let store = try PostgresStore.open(server.url(["cairn_schema": name]), schema: schema)
        defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
        let tag = try #require(schema.entity(named: "Tag"))
        let count = 10_000
        let ids = try store.obtainPermanentIDs(
            forEntities: Array(repeating: tag.index, count: count))
        var request = SaveRequest()
        for (index, id) in ids.enumerated() {
            request.inserted.append(
                .init(
                    id: id, entity: tag.index,
                    values: [.string("tag \(index)"), .integer(Int64(index % 1000))],
                    assigned: [0, 1]))
        }
        _ = try store.save(request)
        let whole = try #require(try store.snapshot() as? PostgresSnapshot)
        let counted = try CountedQuestions(whole.core)
        let snapshot = PostgresSnapshot(whole.core, counted)
        var found: [ObjectID] = []
        var inner = 0
        var read = StoreRead(tag, columns: [0])
        read.fetch.predicate = .compare("rank", .greaterOrEqual, .integer(0))
        try snapshot.read(read) { row in
            found.append(row.objectID)
            guard found.count % 4000 == 0 else { return }
            inner += try snapshot.count(StoreFetch(entity: tag.index))
            var first = 0
            var narrow = read
            narrow.fetch.limit = 3
            try snapshot.read(narrow) { _ in first += 1 }
            #expect(first == 3)
        }
        #expect(found == ids)
        #expect(inner == 2 * count)
        #expect(counted.count < 12)
        // Who has seen enough leaves a cursor that is closed, and its name is free.
        for _ in 0..<3 {
            var seen = 0
            try snapshot.readBatches(read) { batch in
                seen += batch.count
                return seen < 500
            }
            #expect(seen >= 500 && seen < 1500)
        }
        let open = try counted.ask(
            Statement("SELECT count(*) FROM pg_cursors WHERE name LIKE 'cairn%'", [], .once))
        #expect(try open.int64(0, 0) == 0)
        try store.close()
    }
}
