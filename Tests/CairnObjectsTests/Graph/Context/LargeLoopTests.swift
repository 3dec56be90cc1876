// Loops over more objects than anybody wants in memory: what nobody holds leaves the context.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Testing

@Suite("Loops over many objects")
struct LargeLoopTests {
    private static let count = Campaign.count(20_000, whole: 1_000_000)

    private func store() throws -> LogStore {
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        options.durability = .relaxed
        let store = try LogStore.open(at: "/store", schema: Schema(Models.shop), options: options)
        let rows = (0..<Self.count).map { ["serialCode": "\($0)", "stock": $0] as [String: Any] }
        _ = try store.execute(BatchInsertRequest(entityName: "Product", objects: rows))
        return store
    }

    @Test("A batch of objects at a time is in the context, however many the loop goes through")
    func batches() throws {
        let store = try store()
        let context = ManagedObjectContext(store: store)
        var request = FetchRequest<ManagedObject>(entityName: "Product")
        request.sortDescriptors = [SortKey("serialCode")]
        var most = 0
        var sum = 0
        var seen = 0
        try context.enumerate(request, batchSize: 500) { object in
            sum += object.int("stock") ?? 0
            seen += 1
            if seen % 4096 == 0 { most = max(most, context.registeredObjects.count) }
        }
        #expect(sum == Self.count * (Self.count - 1) / 2)
        #expect(most > 0 && most <= 1000)
        #expect(context.registeredObjects.isEmpty)
        try store.close()
    }

    @Test("Going through the ids keeps the object at hand and no other")
    func ids() throws {
        let store = try store()
        let context = ManagedObjectContext(store: store)
        let ids = try context.fetch(FetchRequest<ObjectID>(entityName: "Product"))
        var sum = 0
        var most = 0
        for (index, id) in ids.enumerated() {
            let object = context.object(with: id)
            sum += object.int("stock") ?? 0
            if index % 1024 == 0 { most = max(most, context.registeredObjects.count) }
        }
        #expect(sum == Self.count * (Self.count - 1) / 2)
        #expect(most == 1 && context.registeredObjects.isEmpty)
        try store.close()
    }

    @Test("Edits are held until they are saved, and leave then")
    func edits() throws {
        let store = try store()
        let context = ManagedObjectContext(store: store)
        var pending = 0
        try context.enumerate(
            FetchRequest<ManagedObject>(entityName: "Product"), batchSize: 500,
            allowEscapingMutations: true
        ) { object in
            object["note"] = "seen"
            pending += 1
            if pending % 2000 == 0 {
                #expect(context.updatedObjects.count <= 2000)
                try context.save()
            }
        }
        try context.save()
        #expect(context.registeredObjects.isEmpty)
        #expect(try context.find("Product", "note", .null).isEmpty)
        try store.close()
    }
}
