// A container of a store that is opened for reading alone.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Testing

@Suite("Containers that only read")
struct ReadOnlyContainerTests {
    @Test("Objects can be read and changed; saving them says why not, and nothing is lost")
    func reading() throws {
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        let schema = try Schema(Models.shop)
        let writer = try LogStore.open(at: "/store", schema: schema, options: options)
        let ids = try Stack(store: writer).store { context in
            let shop = context.make("Shop", ["name": "corner"])
            return [shop, context.make("Product", ["name": "stored", "shop": shop])]
        }
        try writer.close()

        options.isReadOnly = true
        let store = try LogStore.open(at: "/store", schema: schema, options: options)
        let context = Stack(store: store).context()
        let product = context.object(with: ids[1])
        #expect(product.string("name") == "stored")
        #expect(product.object("shop")?.members("products") == [product])
        // Nothing to save is saved.
        try context.save()
        product["name"] = "changed"
        let new = context.make("Product", ["name": "new"])
        let error = storeError { try context.save() }
        #expect(error?.code == .readOnly)
        #expect(product.string("name") == "changed" && product.isUpdated && new.isInserted)
        #expect(storeError { try context.obtainPermanentIDs(for: [new]) }?.code == .readOnly)
        let batch = BatchInsertRequest(entityName: "Product", objects: [["name": "batch"]])
        #expect(storeError { _ = try context.execute(batch) }?.code == .readOnly)
        context.rollback()
        #expect(product.string("name") == "stored" && !context.hasChanges)
        #expect(try context.count("Product") == 1)
        try store.close()
    }
}
