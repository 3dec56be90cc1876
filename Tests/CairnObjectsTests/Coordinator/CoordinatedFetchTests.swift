// Fetches whose objects are in several stores.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Fetches from several stores")
struct CoordinatedFetchTests {
    /// Products 0 to 9 by turns in two stores, each with a shop.
    private func filled(_ backend: Backend) throws -> TwoStores {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let shops = try stores.stores.enumerated().map { index, store in
            try context.make("Shop", in: store, ["name": "shop \(index)"])
        }
        for number in 0..<10 {
            try context.make(
                "Product", in: stores.stores[number % 2],
                [
                    "serialCode": "\(number)", "name": number < 5 ? "small" : "large",
                    "price": Double(number), "stock": number / 2, "shop": shops[number % 2],
                ])
        }
        try context.save()
        return stores
    }

    private func codes(_ objects: [ManagedObject]) -> [String] {
        objects.map { $0.string("serialCode") ?? "nil" }
    }

    @Test(
        "Results are in one order, also across relationships, and cut after that",
        arguments: Backend.allCases)
    func order(_ backend: Backend) throws {
        let context = try filled(backend).context()
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("price", ascending: false)]
        #expect(codes(try context.fetch(request)) == (0..<10).reversed().map { "\($0)" })
        request.fetchLimit = 3
        request.fetchOffset = 2
        #expect(codes(try context.fetch(request)) == ["7", "6", "5"])
        #expect(try context.fetchObjectIDs(request) == context.fetch(request).map(\.objectID))
        #expect(try context.count(for: request) == 3)
        request.fetchOffset = 8
        #expect(try context.count(for: request) == 2)
        request.fetchOffset = 80
        #expect(try context.count(for: request) == 0)
        request.fetchOffset = 0
        request.fetchLimit = 6
        request.sortDescriptors = [SortKey("shop.name", ascending: false), SortKey("price")]
        #expect(codes(try context.fetch(request)) == ["1", "3", "5", "7", "9", "0"])
        request.sortDescriptors = []
        let ids = try context.fetchObjectIDs(request)
        #expect(ids.map(\.reference) == ids.map(\.reference).sorted())
        request.predicate = try PredicateNode(format: "shop.name == 'shop 1' AND price > 4")
        #expect(Set(codes(try context.fetch(request))) == ["5", "7", "9"])
        #expect(try context.explain(request).access.hasPrefix("2 stores"))
    }

    @Test("A request for some stores sees no other", arguments: Backend.allCases)
    func affected(_ backend: Backend) throws {
        let stores = try filled(backend)
        let context = stores.context()
        var request = FetchRequest(entityName: "Product")
        request.affectedStores = [stores.second]
        #expect(request.affectedStores?.count == 1)
        #expect(try context.count(for: request) == 5)
        request.sortDescriptors = [SortKey("price")]
        #expect(codes(try context.fetch(request)) == ["1", "3", "5", "7", "9"])
        context.make("Product", ["serialCode": "a", "price": -1.0])
        try context.make("Product", in: stores.second, ["serialCode": "b", "price": -2.0])
        #expect(codes(try context.fetch(request)) == ["b", "1", "3", "5", "7", "9"])
        request.affectedStores = stores.stores
        #expect(try context.count(for: request) == 12)
        request.affectedStores = [stores.first]
        #expect(try context.count(for: request) == 6)
        context.rollback()
        #expect(try context.executeBatchDelete(request).deletedCount == 5)
        #expect(try stores.counts("Product") == [0, 5])
        let stranger = try backend.makeStore(stores.coordinator.schema)
        request.affectedStores = [stranger]
        #expect(storeError { _ = try context.fetch(request) }?.code == .invalidRequest)
        #expect(storeError { _ = try stores.alone(0).fetch(request) }?.code == .invalidRequest)
    }

    @Test(
        "What lies in a store that is not for its entity is not found, changed or not",
        arguments: Backend.allCases)
    func hidden(_ backend: Backend) throws {
        let stores = try TwoStores(Models.divided, backend, ["Goods", "Kitchen"])
        let alone = stores.alone(1)
        let stray = alone.make("Shop", ["name": "stray"])
        try alone.save()
        let context = stores.context()
        #expect(try context.count("Shop") == 0)
        let shop = try context.existingObject(with: stray.objectID)
        shop["name"] = "edited"
        #expect(try context.all("Shop").isEmpty && context.count("Shop") == 0)
        try context.save()
        #expect(try context.count("Shop") == 0)
    }

    @Test("Rows of values and groups are made of all stores", arguments: Backend.allCases)
    func tables(_ backend: Backend) throws {
        let stores = try filled(backend)
        let context = stores.context()
        var request = FetchRequest<DictionaryResult>(entityName: "Product")
        request.propertiesToFetch = [
            "name", .expression(try ExpressionDescription("count", "count:(SELF)")),
            .expression(try ExpressionDescription("total", "sum:(price)")),
        ]
        request.propertiesToGroupBy = ["name"]
        let rows = try context.fetch(request)
        #expect(rows.map { $0["name"] as? String } == ["large", "small"])
        #expect(rows.map { $0["count"] as? Int } == [5, 5])
        #expect(rows.map { $0["total"] as? Double } == [35, 10])
        request.affectedStores = [stores.first]
        #expect(try context.fetch(request).map { $0["total"] as? Double } == [14, 6])
        request.affectedStores = nil
        request.propertiesToGroupBy = []
        request.propertiesToFetch = ["serialCode", "shop", "shop.name"]
        request.sortDescriptors = [SortKey("serialCode", ascending: false)]
        request.fetchLimit = 2
        let plain = try context.fetch(request)
        #expect(plain.map { $0["shop.name"] as? String } == ["shop 1", "shop 0"])
        let shops = try context.all("Shop", sortedBy: "name")
        #expect(plain.map { $0["shop"] as? ObjectID } == [shops[1].objectID, shops[0].objectID])
    }

    @Test("Columns are read, looked up and followed in all stores", arguments: Backend.allCases)
    func columns(_ backend: Backend) throws {
        let stores = try filled(backend)
        let snapshot = try stores.coordinator.snapshot()
        let product = try #require(snapshot.schema.entity(named: "Product"))
        let shop = try #require(snapshot.schema.entity(named: "Shop"))
        let code = try product.column("serialCode", as: String?.self)
        var read: [ObjectID: String?] = [:]
        try snapshot.read(StoreRead(product)) { read[$0.objectID] = $0[code] }
        var expected: [ObjectID: String?] = [:]
        for index in 0..<2 {
            for object in try stores.alone(index).all("Product") {
                expected[object.objectID] = object.string("serialCode")
            }
        }
        #expect(read == expected && read.count == 10)
        var looked: [Int: ObjectID] = [:]
        try snapshot.lookUp(
            StoreLookup(product, by: ColumnSet(code)), code, ["3", "none", "4"]
        ) { looked[$0.position] = $0.objectID }
        #expect(looked.keys.sorted() == [0, 2])
        #expect(looked[0]?.store == stores.second.identity.identifier)
        #expect(looked[2]?.store == stores.first.identity.identifier)
        let shops = try stores.context().all("Shop", sortedBy: "name").map(\.objectID)
        var followed: [Int: Set<ObjectID>] = [:]
        try snapshot.read(
            StoreRelated(shop, "products", in: snapshot.schema), of: shops
        ) { followed[$0.position, default: []].insert($0.objectID) }
        #expect(followed[0]?.count == 5 && followed[1]?.count == 5)
        for (index, ids) in followed {
            #expect(ids.allSatisfy { $0.store == stores.stores[index].identity.identifier })
        }
        var count = 0
        try stores.context().enumerate(FetchRequest(entityName: "Product"), batchSize: 3) {
            if $0.string("serialCode") != nil { count += 1 }
        }
        #expect(count == 10)
    }

    @Test("A batch goes to one store, a batch delete to all", arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let stores = try filled(backend)
        let context = stores.context()
        var insert = BatchInsertRequest(
            entityName: "Product", objects: [["serialCode": "x"], ["serialCode": "y"]])
        insert.resultType = .objectIDs
        let ids = try context.execute(insert).objectIDs
        #expect(ids.allSatisfy { $0.store == stores.first.identity.identifier } && ids.count == 2)
        insert.affectedStores = [stores.second.identity.identifier]
        try context.execute(insert)
        #expect(try stores.counts("Product") == [7, 7])
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("price", ascending: false)]
        request.fetchLimit = 3
        let deleted = try context.executeBatchDelete(request)
        #expect(deleted.deletedCount == 3)
        #expect(try stores.counts("Product") == [6, 5], "9, 8 and 7 are gone")
        let rest = try context.fetchObjectIDs(FetchRequest(entityName: "Product"))
        var byID = BatchDeleteRequest(
            .ids(Array(rest.prefix(4)), entity: context.entity(named: "Product").index))
        byID.reportsIDs = true
        #expect(try Set(context.execute(byID).objectIDs) == Set(rest.prefix(4)))
        #expect(
            try context.executeBatchDelete(FetchRequest(entityName: "Product")).deletedCount == 7)
        #expect(try stores.counts("Product") == [0, 0])
    }

    @Test(
        "A batch request that names other stores is refused, and one for some of several acts in these alone",
        arguments: Backend.allCases)
    func batchesElsewhere(_ backend: Backend) throws {
        let stores = try filled(backend)
        let context = stores.context()
        let other = UUID()
        let identifiers = stores.stores.map(\.identity.identifier)
        let ids = try context.fetchObjectIDs(FetchRequest(entityName: "Product"))
        let entity = context.entity(named: "Product").index
        let targets: [BatchDeleteRequest.Target] = [
            .matching(nil, entityName: "Product"), .fetch(StoreFetch(entity: entity)),
            .ids(ids, entity: entity), .objectIDs(ids),
        ]
        /// What a context says of requests for some stores, one of each kind.
        func codes(_ context: ManagedObjectContext, _ named: [UUID]) -> [StoreError.Code?] {
            var insert = BatchInsertRequest(entityName: "Product", objects: [["serialCode": "x"]])
            insert.affectedStores = named
            var update = BatchUpdateRequest(
                entityName: "Product", propertiesToUpdate: ["name": "x"])
            update.affectedStores = named
            var fetch = StoreFetch(entity: entity)
            fetch.affectedStores = named
            return [
                storeError { try context.execute(insert) }?.code,
                storeError { try context.execute(update) }?.code,
                storeError { try context.execute(BatchDeleteRequest(.fetch(fetch))) }?.code,
            ]
                + targets.map { target in
                    var delete = BatchDeleteRequest(target)
                    delete.affectedStores = named
                    return storeError { try context.execute(delete) }?.code
                }
        }
        let refused = [StoreError.Code?](repeating: .invalidRequest, count: 7)
        #expect(codes(stores.alone(0), [other]) == refused)
        #expect(codes(stores.alone(0), [identifiers[1]]) == refused)
        #expect(codes(context, [other]) == refused)
        #expect(codes(context, identifiers + [other]) == refused)
        // Of no store there is nothing to be said, be it by two lists that have none in common.
        for one in [context, stores.alone(0)] {
            #expect(codes(one, []) == refused)
            var fetch = StoreFetch(entity: entity)
            fetch.affectedStores = [identifiers[0]]
            var delete = BatchDeleteRequest(.fetch(fetch))
            delete.affectedStores = [identifiers[1]]
            #expect(storeError { try one.execute(delete) }?.code == .invalidRequest)
        }
        #expect(try stores.counts("Product") == [5, 5])
        #expect(try context.find("Product", "name", .string("x")).isEmpty)
        // Ids of objects in stores that are not asked are passed over.
        var delete = BatchDeleteRequest(objectIDs: ids)
        delete.affectedStores = [identifiers[1]]
        #expect(try context.execute(delete).deletedCount == 5)
        #expect(try stores.counts("Product") == [5, 0])
        delete = BatchDeleteRequest(.fetch(StoreFetch(entity: entity)))
        delete.affectedStores = [identifiers[1]]
        #expect(try context.execute(delete).deletedCount == 0)
        delete.affectedStores = [identifiers[0]]
        #expect(try context.execute(delete).deletedCount == 5)
        // A context over one store may name it. What its ids say is not asked here: some are of the other store.
        #expect(codes(stores.alone(0), [identifiers[0]]).prefix(5).allSatisfy { $0 == nil })
    }

    @Test("Objects come asynchronously and lazily from all stores", arguments: Backend.allCases)
    func otherWays(_ backend: Backend) async throws {
        let stores = try filled(backend)
        let context = stores.context()
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("price")]
        request.fetchBatchSize = 3
        #expect(codes(Array(try context.fetchLazily(request))) == (0..<10).map { "\($0)" })
        #expect(codes(try await context.fetchAsynchronously(request)) == (0..<10).map { "\($0)" })
        request.includesPropertyValues = false
        let fresh = stores.context()
        #expect(codes(try fresh.fetch(request)) == (0..<10).map { "\($0)" })
    }

    /// What a product says, for the naive store.
    private struct Item {
        var code: String
        var price: Double
        var stock: Int?
        var isDear: Bool { price > 4 }
    }

    @Test("Fetches give what a naive merge of all stores gives", arguments: Backend.allCases)
    func random(_ backend: Backend) throws {
        var random = RandomSource()
        let stores = try TwoStores(Models.shop, backend, [nil, nil, nil])
        let context = stores.context()
        var items: [String: Item] = [:]
        var live: [String: ManagedObject] = [:]
        for round in 0..<60 {
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let key = "\(Int.random(in: 0..<60, using: &random))"
                if let object = live[key] {
                    if random.oneIn(3) {
                        context.delete(object)
                        live[key] = nil
                        items[key] = nil
                        continue
                    }
                    let price = Double(Int.random(in: 0..<9, using: &random))
                    object["price"] = price
                    items[key]?.price = price
                } else {
                    let item = Item(
                        code: key, price: Double(Int.random(in: 0..<9, using: &random)),
                        stock: random.oneIn(3) ? nil : Int.random(in: 0..<4, using: &random))
                    let object = context.make(
                        "Product",
                        ["serialCode": key, "name": key, "price": item.price, "stock": item.stock])
                    if !random.oneIn(3) {
                        let store = try #require(stores.stores.randomElement(using: &random))
                        try context.assign(object, to: store)
                    }
                    live[key] = object
                    items[key] = item
                }
            }
            if random.oneIn(2) { try context.save() }
            for reader in context.hasChanges ? [context] : [context, stores.context()] {
                var request = FetchRequest(entityName: "Product")
                let onlyDear = random.oneIn(2)
                if onlyDear { request.predicate = .compare("price", .greater, .double(4)) }
                let byStock = random.oneIn(2)
                let ascending = random.oneIn(2)
                request.sortDescriptors =
                    (byStock ? [SortKey("stock", ascending: ascending)] : [])
                    + [SortKey("price", ascending: false), SortKey("serialCode")]
                request.fetchLimit = random.oneIn(2) ? 0 : Int.random(in: 1..<12, using: &random)
                request.fetchOffset = random.oneIn(2) ? 0 : Int.random(in: 0..<12, using: &random)
                let sorted = items.values.filter { !onlyDear || $0.isDear }.sorted { left, right in
                    if byStock, left.stock != right.stock {
                        return ((left.stock ?? -1) < (right.stock ?? -1)) == ascending
                    }
                    if left.price != right.price { return left.price > right.price }
                    return Array(left.code.utf8).lexicographicallyPrecedes(Array(right.code.utf8))
                }
                let rest = sorted.dropFirst(request.fetchOffset)
                let expected =
                    (request.fetchLimit == 0 ? rest : rest.prefix(request.fetchLimit)).map(\.code)
                #expect(codes(try reader.fetch(request)) == expected, "round \(round)")
                #expect(try reader.count(for: request) == expected.count, "round \(round)")
                guard !context.hasChanges else { continue }
                var groups = FetchRequest<DictionaryResult>(entityName: "Product")
                groups.propertiesToFetch = [
                    "stock", .expression(try ExpressionDescription("total", "sum:(price)")),
                ]
                groups.propertiesToGroupBy = ["stock"]
                let totals = Dictionary(grouping: items.values, by: \.stock)
                    .mapValues { $0.reduce(0) { $0 + $1.price } }
                let rows = try reader.fetch(groups)
                #expect(rows.count == totals.count)
                for row in rows {
                    #expect(row["total"] as? Double == totals[row["stock"] as? Int])
                }
            }
        }
        try context.save()
        #expect(try stores.counts("Product").reduce(0, +) == items.count)
    }
}
