// One save after which derived attributes of many others are computed anew.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Testing

@Suite("Many that are computed anew")
struct ManyRecomputedTests {
    private static let count = 30

    /// A publisher with authors, in a store of small blocks.
    private struct Scene {
        let store: LogStore
        let publisher: ObjectID

        init() throws {
            var options = LogStoreOptions()
            options.fileSystem = MemoryFileSystem()
            options.durability = .relaxed
            options.sizes.rowsPerBlock = 4
            store = try LogStore.open(at: "/store", schema: Schema(Models.press), options: options)
            let context = ManagedObjectContext(store: store)
            let publisher = context.make("Publisher", ["name": "P", "city": "Bern"])
            for index in 0..<ManyRecomputedTests.count {
                context.make("Author", ["name": "A\(index)", "publisher": publisher])
            }
            try context.save()
            self.publisher = publisher.objectID
        }

        func cities(_ context: ManagedObjectContext) throws -> Set<String?> {
            Set(try context.all("Author").map { $0.string("city") })
        }
    }

    @Test("A store gives the rows of as many as a block has, and of the others the ids")
    func result() throws {
        let scene = try Scene()
        let row = try #require(try scene.store.snapshot().rows([scene.publisher])[0])
        let column = try #require(
            scene.store.schema.entities[row.entity].columnIndex(named: "city"))
        var request = SaveRequest()
        request.updated = [
            .init(
                id: row.id, entity: row.entity, base: row, changes: [(column, .string("Genf"))])
        ]
        guard case .saved(let result) = try scene.store.save(request) else {
            Issue.record("the save is in conflict")
            return
        }
        #expect(result.rows.count == 1 + 4 && result.rows[row.id] != nil)
        #expect(result.recomputed.count == Self.count - 4)
        let ids = Set(result.rows.keys).union(result.recomputed)
        #expect(ids.count == 1 + Self.count)
        let author = try #require(scene.store.schema.entity(named: "Author"))
        let city = try #require(author.columnIndex(named: "city"))
        let identity = scene.store.identity
        let authors = try scene.store.snapshot().rows(Array(ids.subtracting([row.id])))
        for stored in authors {
            let stored = try #require(stored)
            #expect(stored.cells.value(city, of: author, in: identity) == .string("genf"))
            #expect(stored.version == 2)
            if let told = result.rows[stored.id] {
                #expect(told.version == 2)
                #expect(told.cells.value(city, of: author, in: identity) == .string("genf"))
            }
        }
        #expect(try scene.store.check().findings.isEmpty)
        try scene.store.close()
    }

    @Test("A context that has them shows what they are after its save, edits go on from that")
    func context() throws {
        let scene = try Scene()
        let context = ManagedObjectContext(store: scene.store)
        #expect(try scene.cities(context) == ["bern"])
        let authors = try context.all("Author")
        context.object(with: scene.publisher)["city"] = "Genf"
        try context.save()
        #expect(Set(authors.map { $0.string("city") }) == ["genf"])
        for author in authors { author["age"] = 40 }
        try context.save()
        #expect(authors.allSatisfy { $0.string("city") == "genf" && $0.int("age") == 40 })
        #expect(try scene.cities(ManagedObjectContext(store: scene.store)) == ["genf"])
        try scene.store.close()
    }
}
