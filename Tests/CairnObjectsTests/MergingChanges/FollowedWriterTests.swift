// Contexts and lists of a process that reads, beside one that writes.

import CairnFileSystem
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnLog
@testable import CairnObjects

@Suite("Contexts that follow another process")
struct FollowedWriterTests {
    @Test("Saves, batches and de-duplication of another process come into contexts and lists")
    func following() throws {
        let disk = MemoryFileSystem()
        var options = LogStoreOptions()
        options.fileSystem = disk
        let writer = try LogStore.open(
            at: "/store", schema: try Schema(DuplicatePeople.model), options: options)
        options.isReadOnly = true
        options.followsWriter = false
        let reader = try LogStore.open(at: "/store", options: options)
        let context = ManagedObjectContext(store: reader)
        context.automaticallyMergesChangesFromParent = true
        var request = FetchRequest<ManagedObject>(entityName: "Person")
        request.sortDescriptors = [SortKey("name")]
        let controller = FetchedResultsController(
            fetchRequest: request, managedObjectContext: context)
        let copy = try ListCopy(controller)
        func shown() throws -> [String] {
            #expect(try reader.refresh())
            context.processPendingChanges()
            let names = (controller.fetchedObjects ?? []).compactMap { $0.string("name") }
            #expect(copy.sections.flatMap(\.objects) == controller.fetchedObjects)
            let fresh = ManagedObjectContext(store: reader)
            #expect(try fresh.fetch(request).compactMap { $0.string("name") } == names)
            return names
        }
        // A save.
        let other = ManagedObjectContext(store: writer)
        let ann = other.make("Person", ["name": "ann", "email": "x"])
        let bob = other.make("Person", ["name": "bob", "email": "x"])
        try other.save()
        #expect(try shown() == ["ann", "bob"])
        let held = try context.existingObject(with: bob.objectID)
        #expect(held.string("email") == "x")
        // Batches.
        try other.execute(
            BatchInsertRequest(entityName: "Person", objects: [["name": "cid"], ["name": "dan"]]))
        #expect(try shown() == ["ann", "bob", "cid", "dan"])
        var update = BatchUpdateRequest(
            entityName: "Person", propertiesToUpdate: ["name": "aaa"],
            predicate: .compare("name", .equal, .string("dan")))
        update.author = "batch"
        try other.execute(update)
        #expect(try shown() == ["aaa", "ann", "bob", "cid"])
        try other.execute(
            BatchDeleteRequest(
                entityName: "Person", predicate: .compare("name", .equal, .string("cid"))))
        #expect(try shown() == ["aaa", "ann", "bob"])
        // De-duplication: the id that the reader has leads to the one that stayed.
        _ = try other.execute(
            DeduplicationRequest(
                entityName: "Person", by: ["email"], keeping: .smallest(by: "name")))
        #expect(try shown() == ["aaa", "ann"])
        #expect(held.isDeleted && held.absorbedInto == ann.objectID)
        #expect(try context.existingObject(with: bob.objectID).objectID == ann.objectID)
        try reader.close()
        try writer.close()
    }

    @Test(
        "What another process saves has those looked at that led to it or do now, not all that might"
    )
    func related() throws {
        let disk = MemoryFileSystem()
        var options = LogStoreOptions()
        options.fileSystem = disk
        let writer = try LogStore.open(
            at: "/store", schema: try Schema(Models.shop), options: options)
        options.isReadOnly = true
        options.followsWriter = false
        let other = ManagedObjectContext(store: writer)
        let shops = (0..<50).map { other.make("Shop", ["name": "\(100 + $0)"]) }
        let products = shops.map { shop in
            let product = other.make("Product", ["price": 9.0])
            product["shop"] = shop
            return product
        }
        try other.save()
        let reader = try LogStore.open(at: "/store", options: options)
        let context = ManagedObjectContext(store: reader)
        context.automaticallyMergesChangesFromParent = true
        var request = FetchRequest(
            entityName: "Shop", predicate: try PredicateNode(format: "ANY products.price > 5"))
        request.sortDescriptors = [SortKey("name")]
        let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
        try follower.load(context)
        follower.observe(context, isOwn: false)
        let held = try context.all("Shop")
        for shop in held { #expect(shop.members("products").count == 1) }
        func follow(_ count: Int, looks: Int, _ edit: () -> Void) throws {
            let before = follower.looks
            edit()
            try other.save()
            #expect(try reader.refresh())
            context.processPendingChanges()
            #expect(follower.list?.count == count)
            #expect(try context.fetch(request).count == count)
            #expect(follower.fetches == 1 && follower.looks - before <= looks)
            for shop in held {
                let stored = other.object(with: shop.objectID).objectIDs(
                    forRelationshipNamed: "products")
                #expect(shop.objectIDs(forRelationshipNamed: "products") == stored)
            }
        }
        try follow(50, looks: 0) { products[7]["note"] = "new" }
        try follow(49, looks: 1) { products[7]["price"] = 1.0 }
        try follow(49, looks: 2) { products[8]["shop"] = shops[7] }
        try follow(48, looks: 1) { other.delete(products[9]) }
        try follow(49, looks: 1) {
            other.make("Product", ["price": 7.0])["shop"] = shops[9]
        }
        try reader.close()
        try writer.close()
    }
}
