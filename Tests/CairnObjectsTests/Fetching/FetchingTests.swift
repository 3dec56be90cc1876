// Fetching from the store and from what is not saved.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Fetching")
struct FetchingTests {
    /// Products with stock 0 to 9 and a context in which some are changed: 2 is deleted, 7 has become 1, and
    /// there is a new one of 5.
    private func prepare(_ backend: Backend) throws -> (Stack, ManagedObjectContext) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<10).map { context.make("Product", ["stock": $0, "name": "stored"]) }
        }
        let context = stack.context()
        context.delete(context.object(with: ids[2]))
        context.object(with: ids[7])["stock"] = 1
        context.make("Product", ["stock": 5, "name": "new"])
        return (stack, context)
    }

    private func request(_ predicate: PredicateNode? = nil, descending: Bool = false)
        -> FetchRequest<ManagedObject>
    {
        var request = FetchRequest(entityName: "Product", predicate: predicate)
        request.sortDescriptors = [SortKey("stock", ascending: !descending)]
        return request
    }

    @Test("Unsaved changes are seen, in order", arguments: Backend.allCases)
    func overlay(_ backend: Backend) throws {
        let (_, context) = try prepare(backend)
        #expect(
            try context.fetch(request()).map { $0.int("stock") } == [0, 1, 1, 3, 4, 5, 5, 6, 8, 9])
        #expect(
            try context.fetch(request(descending: true)).map { $0.int("stock") }
                == [9, 8, 6, 5, 5, 4, 3, 1, 1, 0])
        let low = request(.compare("stock", .less, .integer(3)))
        #expect(try context.fetch(low).map { $0.int("stock") } == [0, 1, 1])
        #expect(try context.count(for: low) == 3)
    }

    @Test("Limit and offset count after the unsaved changes", arguments: Backend.allCases)
    func limits(_ backend: Backend) throws {
        let (_, context) = try prepare(backend)
        let all = try context.fetchObjectIDs(request())
        for offset in 0..<11 {
            for limit in 1..<11 {
                var cut = request()
                cut.fetchOffset = offset
                cut.fetchLimit = limit
                let expected = Array(all.dropFirst(offset).prefix(limit))
                #expect(try context.fetchObjectIDs(cut) == expected)
                #expect(try context.count(for: cut) == expected.count)
            }
        }
    }

    @Test(
        "Without pending changes the stored membership is given, with pending values (B082)",
        arguments: Backend.allCases)
    func storedOnly(_ backend: Backend) throws {
        let (_, context) = try prepare(backend)
        var stored = request(.compare("stock", .greaterOrEqual, .integer(7)))
        stored.includesPendingChanges = false
        #expect(try context.fetch(stored).map { $0.int("stock") } == [1, 8, 9])
        stored.predicate = nil
        #expect(try context.count(for: stored) == 10)
    }

    @Test(
        "Ids follow the unsaved changes; a new object has its temporary one (B085)",
        arguments: Backend.allCases)
    func ids(_ backend: Backend) throws {
        let (_, context) = try prepare(backend)
        let ids = try context.fetchObjectIDs(request(.compare("name", .equal, .string("new"))))
        #expect(ids == context.insertedObjects.map(\.objectID) && ids[0].isTemporary)
        #expect(try context.fetchObjectIDs(request()).count == 10)
    }

    @Test(
        "Subentities are left out on request, stored and unsaved (B086)",
        arguments: Backend.allCases)
    func subentities(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let entities = ["Car", "SportCar", "ExpensiveSportCar", "Truck"]
        try stack.store { context in entities.map { context.make($0) } }
        let context = stack.context()
        for entity in entities { context.make(entity) }
        for (entity, all) in [("Car", 8), ("SportCar", 4), ("ExpensiveSportCar", 2), ("Truck", 2)] {
            var request = FetchRequest(entityName: entity)
            #expect(try context.fetch(request).count == all)
            request.includesSubentities = false
            #expect(try context.fetch(request).allSatisfy { $0.entity.name == entity })
            #expect(try context.count(for: request) == 2)
        }
    }

    @Test("A predicate has the same answer in memory as in the store", arguments: Backend.allCases)
    func agreement(_ backend: Backend) throws {
        let values: [[String: Any?]] = [
            ["name": "a", "price": 1.0, "stock": 1, "note": "x", "isFavorite": true],
            ["name": "b", "price": 2.5, "stock": nil, "note": nil],
            ["name": "B", "price": -1.0, "stock": -3, "note": ""],
            ["name": "\u{e9}", "price": 0.0, "stock": 7, "note": "e\u{301}"],
            ["name": "zz", "price": 1e300, "stock": 1, "note": "\u{e9}"],
        ]
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in values.map { context.make("Product", $0) } }
        let saved = stack.context()
        let unsaved = try Stack(Models.shop, backend).context()
        for value in values { unsaved.make("Product", value) }
        var predicates: [PredicateNode] = [.constant(true), .constant(false), .and([]), .or([])]
        let operands: [(String, [Value])] = [
            ("name", [.string("b"), .string("\u{e9}"), .string("")]),
            ("price", [.double(1), .integer(0)]),
            ("stock", [.integer(1), .null, .integer(5_000_000_000)]),
            ("note", [.null, .string("x"), .string("\u{e9}")]), ("isFavorite", [.boolean(true)]),
        ]
        for (key, list) in operands {
            for value in list {
                let operators: [PredicateNode.Comparison.Operator] = [
                    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
                ]
                for op in operators {
                    predicates.append(.compare(key, op, value))
                }
            }
            predicates.append(.comparison(.init(.key(key), .in, list)))
            predicates.append(.comparison(.init(.key(key), .in, [])))
            predicates.append(
                .comparison(.init(.key(key), .between, [list[0], list[list.count - 1]])))
        }
        predicates += predicates.map { .not($0) }
        predicates.append(.or([predicates[5], .and([predicates[9], predicates[12]])]))
        for predicate in predicates {
            for key in ["name", "price", "stock", "note", "isFavorite"] {
                for ascending in [true, false] {
                    var request = FetchRequest(entityName: "Product", predicate: predicate)
                    request.sortDescriptors = [SortKey(key, ascending: ascending)]
                    let stored = try saved.fetch(request).map { $0.string("name") }
                    let pending = try unsaved.fetch(request).map { $0.string("name") }
                    #expect(stored == pending, "\(predicate) by \(key)")
                }
            }
        }
    }

    @Test("nil is equal to nil and to nothing else", arguments: Backend.allCases)
    func nils(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["note": nil]), $0.make("Product", ["note": "x"])] }
        let context = stack.context()
        func count(_ op: PredicateNode.Comparison.Operator, _ value: Value) throws -> Int {
            try context.count(
                for: FetchRequest(entityName: "Product", predicate: .compare("note", op, value)))
        }
        #expect(try count(.equal, .null) == 1 && count(.notEqual, .null) == 1)
        #expect(try count(.notEqual, .string("a")) == 2, "nil is not equal to a")
        #expect(try count(.less, .string("z")) == 1 && count(.lessOrEqual, .null) == 0)
    }

    @Test("Objects are found by relationship and by id", arguments: Backend.allCases)
    func references(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "s"])
            return [shop] + (0..<3).map { context.make("Product", ["shop": $0 == 0 ? nil : shop]) }
        }
        let context = stack.context()
        let new = context.make("Product", ["shop": context.object(with: ids[0])])
        let shop = PredicateNode.compare("shop", .equal, .objectID(ids[0]))
        let found = try context.fetch(FetchRequest(entityName: "Product", predicate: shop))
        #expect(found.map(\.objectID) == [ids[2], ids[3], new.objectID])
        let list = PredicateNode.comparison(
            .init(.objectID, .in, [.objectID(ids[1]), .objectID(new.objectID), .objectID(ids[0])]))
        #expect(
            try context.fetch(FetchRequest(entityName: "Product", predicate: list)).map(\.objectID)
                == [ids[1], new.objectID])
        let none = PredicateNode.compare("shop", .equal, .null)
        #expect(
            try context.fetch(FetchRequest(entityName: "Product", predicate: none)).map(\.objectID)
                == [ids[1]])
    }

    @Test("What does not fit is refused, naming the key", arguments: Backend.allCases)
    func refusals(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let bad: [PredicateNode] = [
            .compare("nme", .equal, .null), .compare("price", .less, .string("cheap")),
            .compare("shop", .less, .null),
            .comparison(.init(.key("price"), .between, [.double(1)])),
            .comparison(.init(.key("price"), .equal, [])),
        ]
        for predicate in bad {
            let error = storeError {
                _ = try context.fetch(FetchRequest(entityName: "Product", predicate: predicate))
            }
            #expect(error?.code == .invalidRequest && error?.context.key != nil, "\(predicate)")
        }
        var sorted = FetchRequest(entityName: "Product")
        sorted.sortDescriptors = [SortKey("tags")]
        #expect(storeError { _ = try context.fetch(sorted) }?.code == .invalidRequest)
        let unknown = FetchRequest(entityName: "Prodct")
        #expect(storeError { _ = try context.fetch(unknown) }?.code == .invalidRequest)
    }

    @Test("The greatest limit means all, also with changes", arguments: Backend.allCases)
    func greatestLimit(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            ["A", "B"].map { context.make("Product", ["serialCode": $0]) }
        }
        let context = stack.context()
        var request = FetchRequest(entityName: "Product")
        request.fetchLimit = .max
        for _ in 0..<2 {
            for (offset, count) in [(0, 2), (1, 1), (.max, 0)] {
                request.fetchOffset = offset
                #expect(try context.fetch(request).count == count)
                #expect(try context.count(for: request) == count)
            }
            request.fetchOffset = 0
            for object in try context.fetch(request) { object["note"] = "changed" }
        }
    }

    @Test("What is no number is found and sorted with changes as it is without")
    func notANumber() throws {
        let stack = try Stack(Models.shop, .log)
        let prices: [Double] = [1, .nan, -.infinity, 3, -0.0, 0, .nan]
        try stack.store { context in
            prices.enumerated().map {
                context.make("Product", ["serialCode": "\($0)", "price": $1])
            }
        }
        let clean = stack.context()
        let changed = stack.context()
        for object in try changed.all("Product") where object.string("serialCode") != "1" {
            object["note"] = "changed"
        }
        for isAscending in [true, false] {
            var request = FetchRequest(entityName: "Product")
            request.sortDescriptors = [SortKey("price", ascending: isAscending)]
            #expect(try clean.fetchObjectIDs(request) == changed.fetchObjectIDs(request))
        }
        let operators: [PredicateNode.Comparison.Operator] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in,
        ]
        for relation in operators {
            for price in prices {
                let request = FetchRequest(
                    entityName: "Product", predicate: .compare("price", relation, .double(price)))
                #expect(
                    try Set(clean.fetchObjectIDs(request)) == Set(changed.fetchObjectIDs(request)),
                    "\(relation) \(price)")
            }
        }
    }
}

@Suite("Batches through a context")
struct ContextBatchTests {
    @Test(
        "A batch insert takes the context's policy unless it has its own",
        arguments: Backend.allCases)
    func policy(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let rows: [[String: Any]] = [["serialCode": "A", "price": 1.0], ["serialCode": "B"]]
        let context = stack.context(.mergeByPropertyObjectTrump)
        var result = try context.execute(BatchInsertRequest(entityName: "Product", objects: rows))
        #expect(result.insertedCount == 2)
        let newer: [[String: Any]] = [["serialCode": "A", "price": 2.0], ["serialCode": "C"]]
        result = try context.execute(BatchInsertRequest(entityName: "Product", objects: newer))
        #expect(result.insertedCount == 1 && result.updatedCount == 1)
        var skipping = BatchInsertRequest(entityName: "Product", objects: rows)
        skipping.mergePolicy = .error
        result = try context.execute(skipping)
        #expect(result.skippedCount == 2)
        #expect(
            try context.find("Product", "serialCode", .string("A")).first?["price"] as? Double == 2)
    }

    @Test("A batch delete goes by a fetch request", arguments: Backend.allCases)
    func deletion(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in (0..<5).map { context.make("Product", ["stock": $0]) } }
        let context = stack.context()
        let low = FetchRequest(
            entityName: "Product", predicate: .compare("stock", .less, .integer(3)))
        #expect(try context.executeBatchDelete(low).deletedCount == 3)
        #expect(try context.count("Product") == 2)
    }
}
