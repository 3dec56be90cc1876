// The forms of batch requests that Core Data has: rows by closures that fill dictionaries or objects, deletions of what a fetch
// request finds, and of ids.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("Forms of batch requests")
struct BatchFormTests {
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }

        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }

    private struct Stop: Error {}

    @Test(
        "B106: the dictionary handler is called until it returns true, with an empty dictionary, however many rows it fills",
        arguments: Backend.allCases, [0, 3, 256, 257, 1_025])
    func dictionaries(_ backend: Backend, _ count: Int) throws {
        let stack = try Stack(Models.shop, backend)
        let calls = Counter()
        let wasEmpty = Mutex(true)
        var request = BatchInsertRequest(
            entityName: "Product",
            dictionaryHandler: { row in
                if !row.isEmpty { wasEmpty.withLock { $0 = false } }
                let number = calls.next()
                row["serialCode"] = "\(number)"
                row["price"] = Double(number)
                return number > count
            })
        request.resultType = .objectIDs
        request.allowsEmpty = true
        let result = try stack.store.execute(request)
        #expect(wasEmpty.withLock { $0 } && calls.value == count + 1)
        #expect(result.insertedCount == count && result.objectIDs.count == count)
        let context = stack.context()
        #expect(try context.count("Product") == count)
        if let last = result.objectIDs.last {
            #expect(try context.existingObject(with: last).string("serialCode") == "\(count)")
        }
    }

    @Test(
        "What a dictionary handler gives wrongly, or throws, names its row, and nothing is inserted",
        arguments: Backend.allCases)
    func mistakes(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        func error(
            _ body: @escaping @Sendable (Int, inout [String: Any]) throws -> Void
        ) -> StoreError? {
            let calls = Counter()
            return storeError {
                _ = try stack.store.execute(
                    BatchInsertRequest(
                        entityName: "Product",
                        dictionaryHandler: { row in
                            let number = calls.next()
                            row["serialCode"] = "\(number)"
                            try body(number, &row)
                            return number > 400
                        }))
            }
        }
        let thrown = error { number, _ in if number == 301 { throw Stop() } }
        #expect(thrown?.code == .rowsFailed && thrown?.context.row == 300)
        #expect(thrown?.cause is Stop)
        let value = error { number, row in if number == 7 { row["price"] = "dear" } }
        #expect(value?.code == .invalidRequest && value?.context.row == 6)
        #expect(value?.context.key == "price")
        let key = error { number, row in if number == 300 { row["nothing"] = 1 } }
        #expect(key?.context.row == 299 && key?.context.key == "nothing")
        #expect(try stack.context().count("Product") == 0)
    }

    @Test(
        "B107: the object handler works for a subentity, and what it has not set is as in a new object",
        arguments: Backend.allCases)
    func objects(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let calls = Counter()
        let result = try stack.store.execute(
            BatchInsertRequest(
                entityName: "ExpensiveSportCar",
                managedObjectHandler: { car in
                    car["numberPlate"] = "\(calls.next())"
                    car["insurance"] = "full"
                    return calls.value > 5
                }))
        #expect(result.insertedCount == 5)
        for name in ["ExpensiveSportCar", "SportCar", "Car"] {
            #expect(try stack.context().count(name) == 5)
        }
        // An upsert of what was set alone.
        let shop = try Stack(Models.shop, backend)
        try shop.store {
            [$0.make("Product", ["serialCode": "1", "note": "mine", "price": 5.0, "stock": 2])]
        }
        let rows = Counter()
        var request = BatchInsertRequest(
            entityName: "Product",
            managedObjectHandler: { product in
                product["serialCode"] = "\(rows.next())"
                product["note"] = nil
                return rows.value > 2
            })
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        let upsert = try shop.store.execute(request)
        #expect(upsert.insertedCount == 1 && upsert.updatedCount == 1)
        let products = try shop.context().all("Product", sortedBy: "serialCode")
        #expect(products[0]["note"] == nil && products[0]["price"] as? Double == 5)
        #expect(products[0].int("stock") == 2 && products[1]["price"] as? Double == 0)
    }

    @Test(
        "The object handler of an entity by its name gets objects of the context's classes",
        arguments: Backend.allCases)
    func objectsOfContext(_ backend: Backend) throws {
        let types: [any PersistentEntity.Type] = [RuledArticle.self, RuledTag.self]
        let stack = try Stack(
            ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
        func request() -> BatchInsertRequest {
            let calls = Counter()
            return BatchInsertRequest(
                entityName: "RuledArticle",
                managedObjectHandler: { object in
                    object["code"] = type(of: object) == RuledArticle.self ? "own" : "plain"
                    (object as? RuledArticle)?.visits = 7
                    object["modified"] = Date(timeIntervalSinceReferenceDate: 1)
                    return calls.next() > 1
                })
        }
        try stack.context().execute(request())
        let article = try #require(try stack.context().fetch(FetchRequest<RuledArticle>()).first)
        #expect(article.code == "own" && article.visits == 7)
        // Behind a coordinator as well.
        let coordinator = try PersistentStoreCoordinator(ManagedObjectModel(for: types))
        let store = try backend.makeStore(coordinator.schema)
        try coordinator.add(store)
        try ManagedObjectContext(store: coordinator, classes: ObjectClasses(for: types))
            .execute(request())
        // A store knows no classes.
        _ = try store.execute(request())
        let codes = try ManagedObjectContext(store: coordinator).all("RuledArticle")
            .map { $0.string("code") }
        #expect(Set(codes) == ["own", "plain"] && codes.count == 2)
    }

    @Test("The object handler of a class gets its objects, and relationships are refused")
    func typedObjects() throws {
        let types: [any PersistentEntity.Type] = [RuledArticle.self, RuledTag.self]
        let stack = try Stack(
            ManagedObjectModel(for: types), .log, classes: ObjectClasses(for: types))
        let calls = Counter()
        let result = try stack.store.execute(
            BatchInsertRequest(
                RuledArticle.self,
                managedObjectHandler: { article in
                    article.code = "\(calls.next())"
                    article.visits = calls.value
                    article.modified = Date(timeIntervalSinceReferenceDate: 1)
                    return calls.value > 3
                }))
        #expect(result.insertedCount == 3)
        let visits = try stack.context().fetch(FetchRequest<RuledArticle>()).map(\.visits)
        #expect(visits.sorted() == [1, 2, 3])
        let thrown = storeError {
            _ = try stack.store.execute(
                BatchInsertRequest(
                    RuledArticle.self, managedObjectHandler: { _ in throw Stop() }))
        }
        #expect(thrown?.code == .rowsFailed && thrown?.context.row == 0)
    }

    @Test(
        "A fetch request says what a batch delete is about: condition, order, limit, offset, subentities",
        arguments: Backend.allCases)
    func fetchRequests(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<8).map { context.make("Product", ["serialCode": "\($0)", "price": Double($0)]) }
        }
        var request = FetchRequest<ManagedObject>(
            entityName: "Product", predicate: .compare("price", .less, .double(7)))
        request.sortDescriptors = [SortKey("price", ascending: false)]
        (request.fetchLimit, request.fetchOffset) = (3, 1)
        var delete = BatchDeleteRequest(fetchRequest: request)
        delete.resultType = .objectIDs
        #expect(Set(try stack.context().execute(delete).objectIDs) == Set(ids[3...5]))
        let vehicles = try Stack(Models.vehicles, backend)
        try vehicles.store { context in
            [context.make("Car", ["numberPlate": "a"]), context.make("Truck")]
        }
        var cars = FetchRequest<ManagedObject>(entityName: "Car")
        cars.includesSubentities = false
        #expect(
            try vehicles.store.execute(BatchDeleteRequest(fetchRequest: cars)).deletedCount == 1)
        #expect(try vehicles.context().all("Car").map(\.entity.name) == ["Truck"])
    }

    @Test(
        "Ids alone say which objects go, of one hierarchy and of stores that are there",
        arguments: Backend.allCases)
    func ids(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<4).map { context.make("Product", ["serialCode": "\($0)"]) }
                + [context.make("Shop", ["name": "s"])]
        }
        let result = try stack.store.execute(BatchDeleteRequest(objectIDs: Array(ids[..<2])))
        #expect(result.deletedCount == 2)
        #expect(try stack.store.execute(BatchDeleteRequest(objectIDs: [])).commit == nil)
        #expect(try stack.store.execute(BatchDeleteRequest(objectIDs: [ids[0]])).commit == nil)
        let mixed = storeError {
            _ = try stack.store.execute(BatchDeleteRequest(objectIDs: [ids[2], ids[4]]))
        }
        #expect(mixed?.code == .invalidRequest && mixed?.context.objectID == ids[4])
        let other = try Stack(Models.shop, backend).products(1)
        let foreign = storeError {
            _ = try stack.store.execute(BatchDeleteRequest(objectIDs: [ids[2], other[0]]))
        }
        #expect(foreign?.code == .foreignObject && foreign?.context.objectID == other[0])
        #expect(try stack.context().count("Product") == 2)
        // Behind a coordinator each store deletes its own.
        let stores = try TwoStores(backend)
        let setup = stores.context()
        let made = try stores.stores.map { try setup.make("Product", in: $0) }
        try setup.save()
        let both = try stores.coordinator.execute(
            BatchDeleteRequest(objectIDs: made.map(\.objectID)))
        #expect(both.deletedCount == 2)
        #expect(try stores.counts("Product") == [0, 0])
    }
}
