// Stores whose model has a derivation that is refused: they were made when nobody read the expressions.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Refused derivations of a stored model")
struct RefusedDerivationTests {
    /// Words of articles that an author has; the attribute is computed as an expression says.
    private static func model(_ expression: String, isUnique: Bool = false)
        -> ManagedObjectModel
    {
        var words = AttributeDescription("words", .integer64)
        words.derivationExpression = expression
        let author = EntityDescription(
            "Author", attributes: [.init("name", .string), words],
            relationships: [.init("articles", to: "Article", toMany: true, inverse: "author")],
            uniquenessConstraints: [[isUnique ? "words" : "name"]])
        let article = EntityDescription(
            "Article", attributes: [.init("words", .integer64)],
            relationships: [.init("author", to: "Author", inverse: "articles")])
        return ManagedObjectModel(entities: [author, article])
    }

    @Test(
        "Such a store is read, checked and copied, but not written to",
        arguments: [
            model("articles.@sum.words"), model("articles.author.@count"),
            model("articles.@count", isUnique: true), model("no expression at all"),
        ])
    func reading(_ model: ManagedObjectModel) throws {
        #expect(throws: ModelError.self) { try Schema(model) }
        let disk = MemoryFileSystem()
        let options = SampleStore.options(on: disk)
        let earlier = try LogStore.open(
            at: "/store", schema: Schema(model, isStored: true), options: options)
        _ = try earlier.engine.commit(author: nil, contextName: nil) {
            builder throws(StoreError) in
            _ = try EarlierRowsTests.write([.string("A"), .integer(7)], 0, &builder)
        }
        let text = try SampleStore.text(earlier)
        try earlier.close()

        let store = try LogStore.open(at: "/store", options: options)
        #expect(store.schema.model == model)
        #expect(try store.check().findings.isEmpty)
        #expect(try SampleStore.text(store) == text)
        var fetch = StoreFetch(entity: 0, predicate: .compare("words", .equal, .integer(7)))
        fetch.includesRows = true
        let row = try #require(try store.snapshot().fetch(fetch).rows.first)
        #expect(row.version == 1)
        _ = try store.backup(to: "/copy", on: disk)
        #expect(try BackupTests.text(disk, "/copy") == text)

        var save = SaveRequest()
        save.updated = [
            .init(id: row.id, entity: 0, base: row, changes: [(0, .string("B"))])
        ]
        func code(_ body: () throws -> Void) -> StoreError? {
            #expect(throws: StoreError.self, performing: body)
        }
        let refused = code { _ = try store.save(save) }
        #expect(refused?.code == .incompatibleModel)
        #expect("\(refused!)".contains("Author"))
        #expect(
            code {
                _ = try store.execute(
                    BatchInsertRequest(entityName: "Article", objects: [["words": 1]]))
            }?.code == .incompatibleModel)
        #expect(
            code { _ = try store.execute(BatchDeleteRequest(.ids([row.id], entity: 0))) }?.code
                == .incompatibleModel)
        #expect(try SampleStore.text(store) == text)
        try store.close()

        // An application's model is judged as ever, and one without the fault is another model.
        let mended = try Schema(Self.model("articles.words.@sum"))
        #expect(
            code { _ = try LogStore.open(at: "/store", schema: mended, options: options) }?.code
                == .incompatibleModel)
    }
}
