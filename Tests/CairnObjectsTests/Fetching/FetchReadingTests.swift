// How much a fetch reads, and when.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Dispatch
import FoundationEssentials
import StoreBackends
import Synchronization
import Testing

@Suite("What a fetch reads")
struct FetchReadingTests {
    /// Products 0 to 9 of three shops by turns, with two tags each; reads are counted.
    private func prepare(_ backend: Backend) throws -> (store: CountingStore, stack: Stack) {
        let store = CountingStore(try backend.makeStore(Schema(Models.shop)))
        let stack = Stack(store: store)
        try stack.store { context in
            let shops = (0..<3).map { context.make("Shop", ["name": "shop \($0)"]) }
            let tags = (0..<4).map { context.make("Tag", ["label": "tag \($0)"]) }
            return (0..<10).map { number in
                let product = context.make(
                    "Product", ["serialCode": "P\(number)", "stock": number, "price": 1.0])
                product["shop"] = shops[number % 3]
                product["tags"] = Set([tags[number % 4], tags[(number + 1) % 4]])
                return product
            }
        }
        return (store, stack)
    }

    private func request(_ change: (inout FetchRequest<ManagedObject>) -> Void)
        -> FetchRequest<ManagedObject>
    {
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("stock")]
        change(&request)
        return request
    }

    /// How often the store is read by what is done.
    private func reads(_ store: CountingStore, _ body: () throws -> Void) rethrows -> Int {
        let before = store.reads
        try body()
        return store.reads - before
    }

    // MARK: Batches

    @Test(
        "A lazy fetch reads the ids, and then the rows of a batch at a time",
        arguments: Backend.allCases, [(1, 10), (3, 4), (5, 2), (10, 1), (100, 1), (0, 1)])
    func batches(_ backend: Backend, _ size: (batch: Int, readings: Int)) throws {
        let (store, stack) = try prepare(backend)
        let context = stack.context()
        var found: LazyFetchResults<ManagedObject>?
        #expect(
            try reads(store) {
                found = try context.fetchLazily(request { $0.fetchBatchSize = size.batch })
            } == 1)
        let lazy = try #require(found)
        #expect(lazy.count == 10 && lazy.objectIDs.count == 10)
        let all = reads(store) { #expect(lazy.map { $0.int("stock") } == Array(0..<10)) }
        #expect(all == size.readings)
        #expect(reads(store) { _ = lazy[9]["stock"] } == 0, "the last batch is kept")
    }

    @Test("What is held is not read again by a lazy fetch", arguments: Backend.allCases)
    func heldObjects(_ backend: Backend) throws {
        let (store, stack) = try prepare(backend)
        let context = stack.context()
        let held = try context.fetch(request { $0.fetchLimit = 4 })
        for object in held { _ = object["stock"] }
        let lazy = try context.fetchLazily(request { $0.fetchBatchSize = 2 })
        let known = reads(store) { #expect(lazy[0] === held[0] && lazy[3] === held[3]) }
        let unknown = reads(store) { #expect(lazy[4].int("stock") == 4) }
        #expect(known == 0 && unknown == 1)
    }

    @Test("A lazy fetch keeps what it found, unsaved changes among it", arguments: Backend.allCases)
    func lazyChanges(_ backend: Backend) throws {
        let (_, stack) = try prepare(backend)
        let context = stack.context()
        let objects = try context.fetch(request { _ in })
        objects[9]["stock"] = -1
        context.delete(objects[0])
        let new = context.make("Product", ["stock": 5])
        let lazy = try context.fetchLazily(request { $0.fetchBatchSize = 3 })
        let expected = [-1, 1, 2, 3, 4, 5, 5, 6, 7, 8]
        #expect(lazy.map { $0.int("stock") } == expected)
        try context.save()
        #expect(lazy.map { $0.int("stock") } == expected)
        #expect(lazy[6] === new && !new.objectID.isTemporary && lazy.objectIDs[6].isTemporary)
        context.make("Product", ["stock": 3])
        #expect(lazy.count == 10)
    }

    @Test("A failure in a lazy fetch is thrown by the next fetch")
    func failures() throws {
        let failing = FailingStore(try Backend.log.makeStore(Schema(Models.shop)))
        let stack = Stack(store: failing)
        try stack.store { [$0.make("Product"), $0.make("Product")] }
        let context = stack.context()
        let lazy = try context.fetchLazily(FetchRequest(entityName: "Product"))
        failing.isFailing = true
        #expect(lazy[0].isFault)
        failing.isFailing = false
        #expect(storeError { _ = try context.count("Product") }?.code == .damaged)
        #expect(try context.count("Product") == 2)
    }

    // MARK: Reading ahead

    @Test(
        "Prefetching reads each step of a path once for all objects", arguments: Backend.allCases,
        [
            // The fetch itself, and for each step the rows; for a to-many the members before.
            (["shop"], 2), (["tags"], 3), (["shop", "tags"], 4), (["shop.products"], 3),
            (["tags.products.shop"], 5), (["shop", "shop.products"], 3), ([], 1),
        ])
    func prefetching(_ backend: Backend, _ given: (paths: [String], readings: Int)) throws {
        let (store, stack) = try prepare(backend)
        let context = stack.context()
        var products: [ManagedObject] = []
        let readings = try reads(store) {
            products = try context.fetch(
                request { $0.relationshipKeyPathsForPrefetching = given.paths })
        }
        #expect(readings == given.readings)
        let later = reads(store) {
            for product in products where given.paths.contains(where: { $0.hasPrefix("shop") }) {
                #expect(product.object("shop")?.string("name") != nil)
            }
            for product in products where given.paths.contains(where: { $0.hasPrefix("tags") }) {
                #expect(product.members("tags").count == 2)
                #expect(product.members("tags").allSatisfy { $0.string("label") != nil })
            }
            for product in products where given.paths.contains("shop.products") {
                let members = product.object("shop")?.members("products") ?? []
                #expect(members.contains(product) && members.allSatisfy { $0["price"] != nil })
            }
        }
        #expect(later == 0)
    }

    @Test(
        "What was read ahead is forgotten by refreshing and by saving", arguments: Backend.allCases)
    func forgetting(_ backend: Backend) throws {
        let (_, stack) = try prepare(backend)
        let ahead = request { $0.relationshipKeyPathsForPrefetching = ["shop", "tags"] }
        for step in 0..<3 {
            let context = stack.context()
            let products = try context.fetch(ahead)
            let other = stack.context()
            let name = "renamed \(step)"
            for shop in try other.all("Shop") { shop["name"] = name + (shop.string("name") ?? "") }
            let tag = try other.all("Tag", sortedBy: "label")[3]
            let product = try other.find("Product", "stock", .integer(0))[0]
            if step == 0 { product.add(tag, to: "tags") }
            try other.save()
            #expect(products[0].object("shop")?.string("name")?.hasPrefix(name) == false)
            switch step {
            case 0: context.refreshAllObjects()
            case 1:
                products[5]["note"] = "changed"
                try context.save()
            default: context.rollback()
            }
            #expect(products[0].object("shop")?.string("name")?.hasPrefix(name) == true)
            if step == 0 { #expect(products[0].members("tags").count == 3) }
        }
    }

    @Test("Own changes count in what is read ahead", arguments: Backend.allCases)
    func ownChanges(_ backend: Backend) throws {
        let (store, stack) = try prepare(backend)
        let context = stack.context()
        let first = try context.fetch(request { $0.fetchLimit = 1 })[0]
        let shop = context.make("Shop", ["name": "new"])
        first["shop"] = shop
        first["tags"] = Set([context.make("Tag", ["label": "new"])])
        let all = try context.fetch(
            request { $0.relationshipKeyPathsForPrefetching = ["shop", "tags"] })
        let later = reads(store) {
            #expect(all[0].object("shop") === shop)
            #expect(all[0].members("tags").map { $0.string("label") } == ["new"])
            #expect(all.dropFirst().allSatisfy { $0.members("tags").count == 2 })
        }
        #expect(later == 0)
    }

    @Test(
        "A path that is none is refused with its name",
        arguments: ["shp", "name", "shop.x", "shop."])
    func refusedPaths(_ path: String) throws {
        let (_, stack) = try prepare(.log)
        let error = storeError {
            _ = try stack.context().fetch(
                request { $0.relationshipKeyPathsForPrefetching = [path] })
        }
        #expect(error?.code == .invalidRequest && error?.context.key == path)
    }

    // MARK: Values

    @Test(
        "Without values only the ids are read; rows follow when they are touched",
        arguments: Backend.allCases)
    func withoutValues(_ backend: Backend) throws {
        let (store, stack) = try prepare(backend)
        let context = stack.context()
        let plain = try context.fetch(request { $0.includesPropertyValues = false })
        #expect(plain.count == 10 && plain.allSatisfy(\.isFault))
        let touched = reads(store) { #expect(plain[3].int("stock") == 3) }
        #expect(touched == 1)
        plain[3]["stock"] = 100
        let again = try context.fetch(request { $0.includesPropertyValues = false })
        #expect(again.last === plain[3] && again.count == 10)
    }

    @Test(
        "Objects that are fetched again show what is stored now, if that is asked, with own changes on top",
        arguments: Backend.allCases)
    func refreshing(_ backend: Backend) throws {
        let (_, stack) = try prepare(backend)
        let context = stack.context()
        let products = try context.fetch(request { _ in })
        for product in products { _ = product["note"] }
        products[1]["price"] = 5.0
        let shop = try #require(products[0].object("shop"))
        #expect(shop.members("products").count == 4)
        let other = stack.context()
        for product in try other.all("Product") {
            product["note"] = "newer"
            product["price"] = 2.0
        }
        try other.find("Product", "stock", .integer(3))[0]["shop"] = nil
        try other.save()
        let shops = FetchRequest(entityName: "Shop")

        _ = try context.fetch(request { _ in })
        #expect(products.allSatisfy { $0["note"] == nil }, "a plain fetch leaves them as they are")
        _ = try context.fetch(request { $0.shouldRefreshRefetchedObjects = true })
        #expect(products.allSatisfy { $0.string("note") == "newer" })
        #expect(products[0]["price"] as? Double == 2 && products[1]["price"] as? Double == 5)
        #expect(products[1].hasChanges && !products[0].hasChanges)
        var refreshed = shops
        refreshed.shouldRefreshRefetchedObjects = true
        _ = try context.fetch(refreshed)
        #expect(shop.members("products").count == 3)
        try context.save()
        let saved = try stack.context().find("Product", "stock", .integer(1))[0]
        #expect(saved["price"] as? Double == 5 && saved.string("note") == "newer")
    }

    @Test(
        "A lazy fetch that refreshes shows what is stored when a batch is read",
        arguments: Backend.allCases)
    func lazyRefreshing(_ backend: Backend) throws {
        let (store, stack) = try prepare(backend)
        let context = stack.context()
        let products = try context.fetch(request { _ in })
        for product in products { _ = product["note"] }
        products[1]["price"] = 5.0
        let other = stack.context()
        for product in try other.all("Product") { product["price"] = 2.0 }
        try other.save()
        let plain = try context.fetchLazily(request { $0.fetchBatchSize = 5 })
        #expect(plain.allSatisfy { $0["price"] as? Double != 2 })
        let lazy = try context.fetchLazily(
            request {
                $0.fetchBatchSize = 5
                $0.shouldRefreshRefetchedObjects = true
            })
        #expect(lazy[9]["price"] as? Double == 2 && lazy[9] === products[9])
        #expect(products[0]["price"] as? Double != 2, "its batch is not read yet")
        #expect(lazy.map { $0["price"] as? Double } == [2, 5] + Array(repeating: 2, count: 8))
        #expect(products[1].hasChanges && products.count { $0.hasChanges } == 1)
        let again = reads(store) { #expect(lazy[3]["price"] as? Double == 2) }
        #expect(again <= 1)
    }

    @Test("What a fetch over unsaved changes could not read is its error, and not an answer")
    func overlayFailures() throws {
        let failing = FailingStore(try Backend.log.makeStore(Schema(Models.shop)))
        let stack = Stack(store: failing)
        try stack.store { context in
            let product = context.make("Product", ["name": "p"])
            product["shop"] = context.make("Shop", ["name": "A"])
            return [product]
        }
        let isInShop = try PredicateNode(format: "shop.name == 'A'")
        let object = try stack.context().all("Product")[0]
        object["name"] = "changed"
        failing.isFailing = true
        #expect(storeError { _ = try isInShop.evaluate(with: object) }?.code == .damaged)
        #expect(storeError { _ = try isInShop.filter([object]) }?.code == .damaged)
        failing.isFailing = false
        #expect(try isInShop.evaluate(with: object))

        for kind in 0..<3 {
            let context = stack.context()
            let object = try context.all("Product")[0]
            object["name"] = "changed"
            // The store answers, and then its disk is gone.
            let counting = FetchRequest(entityName: "Product", predicate: isInShop)
            failing.failsAfter = 1
            let error = storeError {
                switch kind {
                case 0: _ = try context.fetch(counting)
                case 1: _ = try context.count(for: counting)
                default: _ = try context.fetchObjectIDs(counting)
                }
            }
            failing.failsAfter = nil
            #expect(error?.code == .damaged, "\(kind)")
            #expect(try context.count(for: counting) == 1, "\(kind)")
        }
    }

    @Test("Properties to fetch of objects are names that exist", arguments: Backend.allCases)
    func propertiesOfObjects(_ backend: Backend) throws {
        let (_, stack) = try prepare(backend)
        let context = stack.context()
        #expect(
            try context.fetch(request { $0.propertiesToFetch = ["stock", "shop"] }).count == 10)
        let unknown = storeError {
            _ = try context.fetch(request { $0.propertiesToFetch = ["size"] })
        }
        #expect(unknown?.code == .invalidRequest && unknown?.context.key == "size")
        let count = try ExpressionDescription("n", "count:(SELF)")
        let row = request { $0.propertiesToFetch = [.expression(count)] }
        #expect(storeError { _ = try context.fetch(row) }?.context.key == "n")
        #expect(storeError { _ = try context.count(for: row) }?.code == .invalidRequest)
    }

    // MARK: Beside the caller

    @Test(
        "An asynchronous fetch has the answer of a plain one, and tells how far it is",
        arguments: Backend.allCases)
    func asynchronous(_ backend: Backend) async throws {
        let (_, stack) = try prepare(backend)
        let context = stack.context()
        context.make("Product", ["stock": 4])
        context.delete(try context.find("Product", "stock", .integer(8))[0])
        let seen = Mutex<[Int]>([])
        let progress = FetchProgress { progress in
            seen.withLock { $0.append(progress.completedCount) }
        }
        for (limit, offset) in [(0, 0), (3, 0), (3, 4), (100, 9)] {
            let asked = request {
                $0.fetchLimit = limit
                $0.fetchOffset = offset
                $0.relationshipKeyPathsForPrefetching = ["shop"]
            }
            let found = try await context.fetchAsynchronously(asked, progress: progress)
            #expect(try found == context.fetch(asked))
        }
        #expect(seen.withLock { $0.prefix(2) } == [0, 10])
        #expect(progress.totalCount == progress.completedCount)
        var rows = FetchRequest<DictionaryResult>(entityName: "Product")
        rows.propertiesToFetch = ["stock"]
        #expect(try await context.fetchAsynchronously(rows) == context.fetch(rows))
    }

    @Test(
        "Ids, and objects of which nothing is read but the ids, come beside the caller as well",
        arguments: Backend.allCases)
    func asynchronousIDs(_ backend: Backend) async throws {
        let (_, stack) = try prepare(backend)
        let context = stack.context()
        func check() async throws {
            for (limit, offset) in [(0, 0), (3, 0), (3, 4)] {
                let asked = request {
                    $0.fetchLimit = limit
                    $0.fetchOffset = offset
                    $0.includesPropertyValues = false
                }
                var ids = FetchRequest<ObjectID>(entityName: "Product")
                ids.sortDescriptors = asked.sortDescriptors
                ids.fetchLimit = limit
                ids.fetchOffset = offset
                let progress = FetchProgress()
                let found = try await context.fetchAsynchronously(asked, progress: progress)
                #expect(try found == context.fetch(asked))
                #expect(progress.totalCount == progress.completedCount)
                #expect(try await context.fetchAsynchronously(ids) == found.map(\.objectID))
            }
        }
        try await check()
        let changed = try context.find("Product", "stock", .integer(8))[0]
        context.make("Product", ["stock": 4])
        context.delete(changed)
        try await check()
        // Rows are not read: counted are the reading of ids, and that of the row which is touched.
        let counting = CountingStore(stack.store)
        let other = ManagedObjectContext(store: counting)
        let faults = try await other.fetchAsynchronously(
            request { $0.includesPropertyValues = false })
        #expect(counting.reads == 1 && faults.allSatisfy(\.isFault))
        _ = faults[0]["stock"]
        #expect(counting.reads == 2)
    }

    @Test(
        "A fetch that is cancelled while the store reads ends there: the store is told between blocks"
    )
    func cancellingTheStore() async throws {
        let (_, stack) = try prepare(.log)
        let wanted = PredicateNode.compare("stock", .greaterOrEqual, .integer(0))
        var objects = FetchRequest(entityName: "Product", predicate: wanted)
        objects.includesPropertyValues = false
        let ids = FetchRequest<ObjectID>(entityName: "Product", predicate: wanted)
        var values = FetchRequest<DictionaryResult>(entityName: "Product", predicate: wanted)
        values.propertiesToFetch = [.expression(try ExpressionDescription("n", "count:(SELF)"))]
        for cancelsTask in [false, true] {
            for kind in 0..<3 {
                let progress = FetchProgress()
                let store = CountingStore(stack.store) { question in
                    #expect(question.isCancelled?() == false)
                    if cancelsTask {
                        withUnsafeCurrentTask { $0?.cancel() }
                    } else {
                        progress.cancel()
                    }
                    #expect(question.isCancelled?() == true)
                }
                let task = Task { [objects, values] () -> StoreError? in
                    let context = ManagedObjectContext(store: store)
                    do throws(StoreError) {
                        switch kind {
                        case 0:
                            _ = try await context.fetchAsynchronously(objects, progress: progress)
                        case 1: _ = try await context.fetchAsynchronously(ids, progress: progress)
                        default:
                            _ = try await context.fetchAsynchronously(values, progress: progress)
                        }
                        return nil
                    } catch {
                        return error
                    }
                }
                #expect(await task.value?.code == .cancelled)
                #expect(store.reads == 1 && progress.totalCount == nil)
            }
        }
        // Nobody can cancel what is fetched at once.
        let plain = CountingStore(stack.store) { #expect($0.isCancelled == nil) }
        #expect(try ManagedObjectContext(store: plain).fetchObjectIDs(ids).count == 10)
    }

    @MainActor
    @Test("What is changed while an asynchronous fetch reads is in its answer, where it belongs")
    func changedMeanwhile() async throws {
        let (_, stack) = try prepare(.log)
        for kind in 0..<3 {
            let (questions, begin) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            let store = CountingStore(stack.store) { _ in
                begin.yield()
                gate.wait(
                    for: "the object that is made meanwhile", within: OpenWait.patienceWithTasks)
            }
            let context = ManagedObjectContext(store: store)
            let asked = request {
                $0.fetchLimit = 3
                $0.includesPropertyValues = kind != 0
            }
            var ids = FetchRequest<ObjectID>(entityName: "Product")
            ids.sortDescriptors = asked.sortDescriptors
            ids.fetchLimit = 3
            let task = Task { @MainActor [ids] () -> [ObjectID] in
                if kind == 2 { return try await context.fetchAsynchronously(ids) }
                return try await context.fetchAsynchronously(asked).map(\.objectID)
            }
            var iterator = questions.inTime().makeAsyncIterator()
            await iterator.next()
            // The store reads, and waits for this.
            let first = context.make("Product", ["stock": -1])
            for _ in 0..<9 { gate.signal() }
            let found = try await task.value
            #expect(found.count == 3 && found.contains(first.objectID))
            #expect(try found == context.fetchObjectIDs(ids))
        }
    }

    @Test("An asynchronous fetch ends early when it is cancelled", arguments: Backend.allCases)
    func cancelling(_ backend: Backend) async throws {
        let (_, stack) = try prepare(backend)
        let context = stack.context()
        let progress = FetchProgress { $0.cancel() }
        do {
            _ = try await context.fetchAsynchronously(request { _ in }, progress: progress)
            Issue.record("it was cancelled")
        } catch {
            #expect(error.code == .cancelled)
        }
        #expect(progress.isCancelled && progress.completedCount == 0)
        let container = stack.container
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await container.performBackgroundTask { context throws(StoreError) in
                try await context.fetchAsynchronously(FetchRequest(entityName: "Product")).count
            }
        }
        await #expect(throws: StoreError.self) { try await task.value }
    }
}

@Suite("Templates of requests")
struct FetchTemplateTests {
    private static let model: ManagedObjectModel = {
        var cheap = FetchRequestTemplate(
            "cheap", entityName: "Product", predicateFormat: "price < $LIMIT AND name IN $NAMES")
        cheap.fetchLimit = 2
        cheap.fetchBatchSize = 10
        cheap.includesSubentities = false
        cheap.returnsObjectsAsFaults = false
        cheap.returnsDistinctResults = true
        var model = Models.shop
        model.fetchRequestTemplates = [
            cheap, FetchRequestTemplate("all", entityName: "Product", predicateFormat: nil),
        ]
        return model
    }()

    @Test("A template with values for its variables is a request", arguments: Backend.allCases)
    func templates(_ backend: Backend) throws {
        let stack = try Stack(Self.model, backend)
        try stack.store { context in
            (0..<6).map { context.make("Product", ["name": "n\($0)", "price": Double($0)]) }
        }
        let model = stack.store.schema.model
        let request = try model.fetchRequest(
            fromTemplate: "cheap",
            substitutionVariables: ["LIMIT": 4, "NAMES": ["n1", "n2", "n3", "n5"]])
        #expect(request.fetchLimit == 2 && request.fetchBatchSize == 10)
        #expect(!request.includesSubentities && !request.returnsObjectsAsFaults)
        #expect(try stack.context().fetch(request).map { $0.string("name") } == ["n1", "n2"])
        #expect(try stack.context().count(for: model.fetchRequest(fromTemplate: "all")) == 6)
        let rows = try FetchRequest<DictionaryResult>(
            template: "cheap", of: model, substitutionVariables: ["LIMIT": 9, "NAMES": ["n5"]])
        #expect(rows.returnsDistinctResults)
        #expect(try stack.context().fetch(rows).map { $0["name"] as? String } == ["n5"])
    }

    @Test("A missing template or value is refused with its name")
    func refusals() throws {
        let model = Self.model
        let missing = storeError { _ = try model.fetchRequest(fromTemplate: "dear") }
        #expect(missing?.code == .invalidRequest && missing?.message.contains("dear") == true)
        let value = storeError {
            _ = try model.fetchRequest(
                fromTemplate: "cheap", substitutionVariables: ["LIMIT": 4])
        }
        #expect(value?.code == .invalidRequest && value?.context.entity == "Product")
        #expect(value?.message.contains("NAMES") == true)
    }
}
