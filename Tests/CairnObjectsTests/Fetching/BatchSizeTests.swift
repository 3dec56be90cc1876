// Fetches whose rows are read in batches.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Fetches with a batch size")
struct BatchSizeTests {
    /// A store of products that says how many rows were read with each question.
    private struct Counted {
        let stack: Stack
        let recorder: EventRecorder
        let context: ManagedObjectContext

        init(_ backend: Backend, _ count: Int) throws {
            stack = try Stack(Models.shop, backend)
            _ = try stack.products(count)
            recorder = EventRecorder()
            context = ManagedObjectContext(store: stack.store, instruments: [recorder])
        }

        /// How many rows each batch had.
        var batches: [Int] { recorder.fetches.filter { $0.kind == .batch }.map(\.count) }
        var misses: Int { recorder.misses.count }
    }

    private func request(_ size: Int) -> FetchRequest<ManagedObject> {
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("name")]
        request.fetchBatchSize = size
        return request
    }

    @Test(
        "The rows of the first batch are read at once, those of another when it is touched",
        arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let counted = try Counted(backend, 10)
        let products = try counted.context.fetch(request(3))
        #expect(products.count == 10 && products.allSatisfy(\.isFault))
        #expect(counted.batches == [3])
        #expect(products[0].string("name") == "0" && products[2].string("name") == "2")
        #expect(counted.batches == [3])
        #expect(products[9].string("name") == "9")
        #expect(counted.batches == [3, 1])
        #expect(products[4].string("name") == "4" && products[3].string("name") == "3")
        #expect(products[5].string("name") == "5")
        #expect(counted.batches == [3, 1, 3])
        #expect(products.map { $0.string("name") } == (0..<10).map { "\($0)" })
        #expect(counted.batches == [3, 1, 3, 3] && counted.misses == 0)
        // What is known is not read again.
        _ = try counted.context.fetch(request(5))
        #expect(counted.batches == [3, 1, 3, 3])
    }

    @Test(
        "Objects of several entities are of their own, and those with changes have their places",
        arguments: Backend.allCases)
    func families(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        try stack.store { context in
            (0..<6).map {
                context.make($0 % 2 == 0 ? "Car" : "SportCar", ["numberPlate": "\($0)"])
            }
        }
        let context = stack.context()
        let new = context.make("Car", ["numberPlate": "4a"])
        var request = FetchRequest(entityName: "Car")
        request.sortDescriptors = [SortKey("numberPlate")]
        request.fetchBatchSize = 2
        let cars = try context.fetch(request)
        let entities = ["Car", "SportCar", "Car", "SportCar", "Car", "Car", "SportCar"]
        let plates = ["0", "1", "2", "3", "4", "4a", "5"]
        #expect(cars.map(\.entity.name) == entities && cars[5] === new)
        #expect(cars[3].isFault && cars.map { $0.string("numberPlate") } == plates)
        let child = context.newChildContext()
        let copies = try child.fetch(request)
        #expect(copies.map(\.entity.name) == entities)
        #expect(copies.map { $0.string("numberPlate") } == plates)
        // A row that is deleted meanwhile shows when it is touched.
        let other = stack.context()
        let late = try other.fetch(request)
        context.delete(cars[3])
        try context.save()
        #expect(late[2].string("numberPlate") == "2" && late[3]["numberPlate"] == nil)
        #expect(late[3].isDeleted)
    }

    @Test("What is read ahead is read for each batch", arguments: Backend.allCases)
    func ahead(_ backend: Backend) throws {
        let counted = try Counted(backend, 0)
        try counted.stack.store { context in
            (0..<6).map { number in
                context.make(
                    "Product",
                    [
                        "name": "\(number)",
                        "shop": context.make("Shop", ["name": "shop \(number)"]),
                    ])
            }
        }
        var request = self.request(2)
        request.relationshipKeyPathsForPrefetching = ["shop"]
        request.returnsObjectsAsFaults = false
        let products = try counted.context.fetch(request)
        func ahead() -> [Int] {
            counted.recorder.fetches.filter { $0.kind == .prefetch }.map(\.count)
        }
        #expect(counted.batches == [2] && ahead() == [2])
        #expect(!products[1].isFault && products[2].isFault)
        #expect(products[5].string("name") == "5" && !products[4].isFault)
        #expect(products[4].object("shop")?.string("name") == "shop 4")
        #expect(counted.batches == [2, 2] && ahead() == [2, 2] && counted.misses == 0)
    }

    @Test("A fetch beside the caller reads in batches too", arguments: Backend.allCases)
    func asynchronously(_ backend: Backend) async throws {
        let counted = try Counted(backend, 7)
        let products = try await counted.context.fetchAsynchronously(request(3))
        #expect(counted.batches == [3] && products.count == 7)
        #expect(products[6].string("name") == "6" && products[3].isFault)
        #expect(products.map { $0.string("name") } == (0..<7).map { "\($0)" })
        #expect(counted.batches == [3, 1, 3] && counted.misses == 0)
    }
}
