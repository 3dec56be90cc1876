// Rows that were written when nobody computed derived attributes: they are nil there until the row is written again.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnLog

@Suite("Rows without derived values")
struct EarlierRowsTests {
    private static func derived(_ name: String, _ type: AttributeType, _ expression: String)
        -> AttributeDescription
    {
        var attribute = AttributeDescription(name, type)
        attribute.derivationExpression = expression
        return attribute
    }

    private static let model: ManagedObjectModel = {
        let author = EntityDescription(
            "Author",
            attributes: [
                .init("name", .string), .init("age", .integer64),
                derived("key", .string, "canonical:(name)"),
                derived("count", .integer64, "articles.@count"),
                derived("words", .integer64, "articles.words.@sum"),
            ],
            relationships: [.init("articles", to: "Article", toMany: true, inverse: "author")],
            uniquenessConstraints: [["name"]])
        let article = EntityDescription(
            "Article",
            attributes: [
                .init("words", .integer64), derived("authorName", .string, "author.name"),
            ],
            relationships: [.init("author", to: "Author", inverse: "articles")])
        return ManagedObjectModel(entities: [author, article])
    }()

    private let disk = MemoryFileSystem()

    private func open(_ model: ManagedObjectModel = model) throws -> LogStore {
        try LogStore.open(
            at: "/store", schema: Schema(model), options: SampleStore.options(on: disk))
    }

    /// Writes a row as it is.
    static func write(
        _ values: [Value], _ entity: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) -> UInt32 {
        let number = try builder.issueNumber(tree: builder.catalog.entities[entity].tree)
        var key = KeyBuffer()
        for unique in builder.catalog.entities[entity].uniques {
            let columns = builder.catalog.uniques[unique].columns
            if key.load(values, columns: columns, number: { $0.number }) {
                builder.insertKey(key.hash(seed: builder.seed), number: number, unique: unique)
            }
        }
        builder.moveReferences(entity: entity, number: number, from: nil, to: values)
        let row = PendingRows.Row(number: number, version: 1, values: values, kept: nil)
        try builder.write([row], entity: entity)
        return number
    }

    /// Two authors with two articles each, whose derived attributes are nil.
    private func fill(_ store: LogStore) throws {
        _ = try store.engine.commit(author: nil, contextName: nil) { builder throws(StoreError) in
            for name in ["Á", "B"] {
                let author = try Self.write(
                    [.string(name), .integer(1), .null, .null, .null], 0, &builder)
                let id = store.identity.id(UInt64(author), entity: 0)
                for words in [3, 4] {
                    _ = try Self.write(
                        [.integer(Int64(words)), .null, .objectID(id)], 1, &builder)
                }
            }
        }
    }

    private func rows(_ store: LogStore, _ entity: Int) throws -> [Row] {
        var fetch = StoreFetch(entity: entity)
        fetch.includesRows = true
        return try store.snapshot().fetch(fetch).rows
    }

    private func values(_ row: Row, _ store: LogStore) -> [Value] {
        let entity = store.schema.entities[row.entity]
        return entity.columns.indices.map { row.cells.value($0, of: entity, in: store.identity) }
    }

    private func save(_ store: LogStore, _ row: Row, _ column: Int, _ value: Value) throws {
        var request = SaveRequest()
        request.updated = [
            .init(id: row.id, entity: row.entity, base: row, changes: [(column, value)])
        ]
        guard case .saved = try store.save(request) else {
            Issue.record("the save is in conflict")
            return
        }
    }

    @Test("A store with such rows is whole, and each row is right as soon as it is written")
    func saved() throws {
        var store = try open()
        try fill(store)
        #expect(try store.check().findings.isEmpty)
        try store.close()
        store = try open()
        let authors = try rows(store, 0)
        #expect(values(authors[0], store) == [.string("Á"), .integer(1), .null, .null, .null])
        try save(store, authors[0], 1, .integer(2))
        #expect(
            try values(rows(store, 0)[0], store)
                == [.string("Á"), .integer(2), .string("a"), .integer(2), .integer(7)])
        #expect(values(try rows(store, 0)[1], store)[2...] == [.null, .null, .null])
        // A member is written: its owner's members are counted, and the member knows its owner.
        let article = try rows(store, 1)[2]
        try save(store, article, 0, .integer(10))
        #expect(try values(rows(store, 1)[2], store)[1] == .string("B"))
        #expect(try values(rows(store, 0)[1], store)[4] == .integer(14))
        #expect(try values(rows(store, 1)[0], store)[1] == .null)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("A batch that updates such a row computes all of it")
    func batch() throws {
        let store = try open()
        try fill(store)
        var request = BatchInsertRequest(
            entityName: "Author", objects: [["name": "B", "age": 5], ["name": "Á", "age": 1]])
        request.mergePolicy = .mergeByPropertyObjectTrump
        let result = try store.execute(request)
        #expect(result.updatedCount == 1 && result.unchangedCount == 1)
        let authors = try rows(store, 0)
        #expect(
            values(authors[1], store)
                == [.string("B"), .integer(5), .string("b"), .integer(2), .integer(7)])
        #expect(authors[1].version == 2)
        #expect(values(authors[0], store)[2] == .null && authors[0].version == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("A store is not opened with another derivation of what it holds")
    func otherDerivation() throws {
        try open().close()
        var model = Self.model
        model.entities[0].attributes[2].derivationExpression = "uppercase:(name)"
        let error = #expect(throws: StoreError.self) { try open(model) }
        #expect(error?.code == .incompatibleModel)
        model.entities[0].attributes[2].derivationExpression = nil
        #expect(throws: StoreError.self) { try open(model) }
    }
}
