// Fetching values: rows by name, groups, and what is refused.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Dictionary results")
struct DictionaryResultTests {
    /// Products 0 to 5 with price = number, in two shops by turns; the last is of no shop. Two are called "pear".
    private func prepare(_ backend: Backend) throws -> (stack: Stack, shops: [ObjectID]) {
        let stack = try Stack(Models.shop, backend)
        let shops = try stack.store { context in
            let shops = ["north", "south"].map { context.make("Shop", ["name": $0]) }
            for (number, name) in ["fig", "pear", "plum", "pear", "lime", "kiwi"].enumerated() {
                context.make(
                    "Product",
                    [
                        "serialCode": "P\(number)", "name": name, "price": Double(number),
                        "stock": number % 2, "shop": number == 5 ? nil : shops[number % 2],
                    ])
            }
            return shops
        }
        return (stack, shops)
    }

    private func request(_ properties: PropertyToFetch...) -> FetchRequest<DictionaryResult> {
        var request = FetchRequest<DictionaryResult>(entityName: "Product")
        request.propertiesToFetch = properties
        return request
    }

    private func expression(_ name: String, _ format: String, _ type: AttributeType = .undefined)
        throws -> PropertyToFetch
    {
        .expression(try ExpressionDescription(name, format, resultType: type))
    }

    private func error(_ context: ManagedObjectContext, _ request: FetchRequest<DictionaryResult>)
        -> StoreError?
    {
        storeError { _ = try context.fetch(request) }
    }

    // MARK: Rows of objects

    @Test(
        "Without names, all attributes are given, and no relationship", arguments: Backend.allCases)
    func allAttributes(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        var all = request()
        all.predicate = .compare("serialCode", .equal, .string("P1"))
        let row = try #require(try stack.context().fetch(all).first)
        #expect(row.names == ["serialCode", "name", "price", "isFavorite", "note", "stock"])
        #expect(row["name"] as? String == "pear" && row["stock"] as? Int == 1)
        #expect(row["note"] == nil && row.dictionary["note"] == nil)
        #expect(row.dictionary.count == 5 && row.value("price") == .double(1))
        #expect(row["shop"] == nil && row.value("shop") == .null, "a name that it does not have")
    }

    @Test(
        "Of a composite attribute the leaves are given, and of a transient one nothing",
        arguments: Backend.allCases)
    func composites(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        try stack.store { [$0.make("Thing", ["color": ["color.primary": "red"]])] }
        let row = try #require(
            try stack.context().fetch(FetchRequest<DictionaryResult>(entityName: "Thing")).first)
        #expect(row["color.primary"] as? String == "red" && row.names.contains("color.shade"))
        #expect(!row.names.contains("cache"))
        var transient = FetchRequest<DictionaryResult>(entityName: "Thing")
        transient.propertiesToFetch = ["cache"]
        #expect(error(stack.context(), transient)?.context.key == "cache")
    }

    @Test(
        "A to-one relationship is given as the id, and is followed by a path; a to-many is refused",
        arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let (stack, shops) = try prepare(backend)
        var asked = request("serialCode", "shop", "shop.name")
        asked.sortDescriptors = [SortKey("shop.name"), SortKey("serialCode", ascending: false)]
        asked.fetchLimit = 2
        let rows = try stack.context().fetch(asked)
        #expect(rows.map { $0["serialCode"] as? String } == ["P5", "P4"])
        #expect(rows.map { $0["shop"] as? ObjectID } == [nil, shops[0]])
        #expect(rows.map { $0["shop.name"] as? String } == [nil, "north"])
        for path in ["tags", "tags.label", "shop.products"] {
            let refused = error(stack.context(), request("name", .property(path)))
            #expect(refused?.code == .invalidRequest && refused?.context.key == path)
        }
    }

    @Test(
        "Expressions have names, and values of the type that is asked for",
        arguments: Backend.allCases)
    func expressions(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        var asked = request(
            "serialCode", try expression("half", "price / 2", .double),
            try expression("whole", "price / 2", .integer32),
            try expression("exact", "price / 2", .decimal),
            try expression("tags", "tags.@count"))
        asked.predicate = .compare("serialCode", .equal, .string("P3"))
        let row = try #require(try stack.context().fetch(asked).first)
        #expect(row.value("half") == .double(1.5) && row.value("whole") == .integer(1))
        #expect(row.value("exact") == .decimal(1.5) && row.value("tags") == .integer(0))
        let wrong = request(try expression("day", "name", .date))
        #expect(error(stack.context(), wrong)?.context.key == "day")
        let twice = request("name", try expression("name", "price"))
        #expect(error(stack.context(), twice)?.context.key == "name")
    }

    @Test(
        "Dictionary results never show unsaved changes, and neither does their number (B083)",
        arguments: Backend.allCases)
    func storedOnly(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        let context = stack.context()
        for product in try context.all("Product") { product["name"] = "changed" }
        context.delete(try context.all("Product")[0])
        context.make("Product", ["serialCode": "new"])
        var asked = request("name")
        asked.sortDescriptors = [SortKey("name")]
        #expect(
            try context.fetch(asked).map { $0["name"] as? String }
                == ["fig", "kiwi", "lime", "pear", "pear", "plum"])
        #expect(try context.count(for: asked) == 6)
        try context.save()
        #expect(try context.fetch(asked).map { $0["name"] as? String ?? "" }.contains("changed"))
    }

    // MARK: Groups

    @Test(
        "An aggregate alone gives one row; with groups there is one for each (B088)",
        arguments: Backend.allCases)
    func aggregates(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        let context = stack.context()
        let count = try expression("count", "count:(SELF)", .integer64)
        let total = try expression("total", "sum:(price)")
        let all = try context.fetch(request(count, total))
        #expect(all.map(\.values) == [[.integer(6), .double(15)]])
        #expect(all[0].names == ["count", "total"])
        var grouped = request("shop.name", count, total)
        grouped.propertiesToGroupBy = ["shop.name"]
        let rows = try context.fetch(grouped)
        #expect(rows.map { $0["shop.name"] as? String } == [nil, "north", "south"])
        #expect(rows.map { $0["count"] as? Int } == [1, 3, 2])
        #expect(rows.map { $0["total"] as? Double } == [5, 6, 4])
        #expect(try context.count(for: grouped) == 3)
        grouped.sortDescriptors = [SortKey("count", ascending: false)]
        grouped.fetchLimit = 1
        #expect(try context.fetch(grouped).map { $0["shop.name"] as? String } == ["north"])
        grouped.predicate = .compare("price", .greater, .double(100))
        #expect(try context.fetch(grouped).isEmpty)
    }

    @Test(
        "A condition on groups names an aggregate by its name, as a variable or directly (B088, B089)",
        arguments: Backend.allCases,
        ["count > 1", "$count > 1", "count:(SELF) > 1", "name.@count > 1", "NOT $count <= 1"])
    func having(_ backend: Backend, _ condition: String) throws {
        let (stack, _) = try prepare(backend)
        var asked = request("name", try expression("count", "count:(SELF)"))
        asked.propertiesToGroupBy = ["name"]
        asked.havingPredicate = try PredicateNode(format: condition)
        let rows = try stack.context().fetch(asked)
        #expect(rows.map(\.values) == [[.string("pear"), .integer(2)]])
    }

    @Test("Groups are made by expressions with names, too", arguments: Backend.allCases)
    func groupedExpressions(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        var asked = request("isDear", try expression("count", "count:(SELF)"))
        asked.propertiesToGroupBy = [try expression("isDear", "TERNARY(price > 3, 'yes', 'no')")]
        let rows = try stack.context().fetch(asked)
        #expect(
            rows.map(\.values) == [[.string("no"), .integer(4)], [.string("yes"), .integer(2)]])
        asked.propertiesToFetch = []
        #expect(try stack.context().fetch(asked).map(\.names) == [["isDear"], ["isDear"]])
    }

    @Test(
        "What is one of many in a group, or leads to many, is refused with its name",
        arguments: Backend.allCases)
    func refusedGroups(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        var asked = request("name", "price")
        asked.propertiesToGroupBy = ["name"]
        #expect(error(stack.context(), asked)?.context.key == "price")
        asked = request("name")
        asked.propertiesToGroupBy = ["tags.label"]
        #expect(error(stack.context(), asked)?.context.key == "tags.label")
        asked.propertiesToGroupBy = []
        asked.havingPredicate = .compare("name", .equal, .string("pear"))
        #expect(error(stack.context(), asked)?.code == .invalidRequest)
    }

    @Test("Of equal rows one is given, if that is asked (B091)", arguments: Backend.allCases)
    func distinct(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        var asked = request("name")
        asked.sortDescriptors = [SortKey("name")]
        #expect(try stack.context().fetch(asked).count == 6)
        asked.returnsDistinctResults = true
        let names = ["fig", "kiwi", "lime", "pear", "plum"]
        #expect(try stack.context().fetch(asked).map { $0["name"] as? String } == names)
        #expect(try stack.context().count(for: asked) == 5)
        asked.fetchOffset = 3
        #expect(try stack.context().fetch(asked).map { $0["name"] as? String } == ["pear", "plum"])
    }

    @Test("Rows that say the same are equal", arguments: Backend.allCases)
    func equality(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        var asked = request("name")
        asked.predicate = .compare("name", .equal, .string("pear"))
        let rows = try stack.context().fetch(asked)
        #expect(rows.count == 2 && rows[0] == rows[1] && Set(rows).count == 1)
        #expect(rows[0].description == "[name: 'pear']")
        #expect(try stack.context().fetch(asked) == rows)
        #expect(try stack.context().fetch(request("serialCode"))[0] != rows[0])
    }

    // MARK: Other kinds

    @Test("The type of a request says what it gives", arguments: Backend.allCases)
    func kinds(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        let context = stack.context()
        let cheap = PredicateNode.compare("price", .less, .double(2))
        let objects = FetchRequest(entityName: "Product", predicate: cheap)
        let ids = FetchRequest<ObjectID>(entityName: "Product", predicate: cheap)
        let number = FetchRequest<Int>(entityName: "Product", predicate: cheap)
        context.make("Product", ["price": 1.0])
        #expect(try context.fetch(ids) == context.fetch(objects).map(\.objectID))
        #expect(try context.fetch(number) == [3])
        #expect(objects.resultType == .managedObject && ids.resultType == .managedObjectID)
        #expect(number.resultType == .count && request().resultType == .dictionary)
        #expect(try context.fetch(FetchRequest(entityName: "Product")).count == 7)
    }

    @Test(
        "Groups and distinct rows are for values alone; names of properties do no harm",
        arguments: Backend.allCases)
    func refusedKinds(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        let context = stack.context()
        var objects = FetchRequest(entityName: "Product")
        objects.propertiesToFetch = ["name"]
        #expect(try context.fetch(objects).count == 6)
        var wrong: [FetchRequest<ManagedObject>] = [objects, objects, objects]
        wrong[0].returnsDistinctResults = true
        wrong[1].propertiesToGroupBy = ["name"]
        wrong[2].havingPredicate = .constant(true)
        for request in wrong {
            for ask in [
                { _ = try context.fetch(request) }, { _ = try context.count(for: request) },
                { _ = try context.fetchObjectIDs(request) },
                { _ = try context.fetchLazily(request) },
            ] as [() throws -> Void] {
                let error = storeError(ask)
                #expect(error?.code == .invalidRequest && error?.context.entity == "Product")
            }
        }
    }

    @Test(
        "A request gets its entity when it is executed; a name that the model lacks is refused (B092)",
        arguments: Backend.allCases)
    func entityNames(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        var ids = FetchRequest<ObjectID>(entityName: "Prodct")
        #expect(storeError { _ = try stack.context().fetch(ids) }?.context.entity == "Prodct")
        let rows = FetchRequest<DictionaryResult>(entityName: "Prodct")
        #expect(error(stack.context(), rows)?.context.entity == "Prodct")
        ids.entityName = "Product"
        #expect(try stack.context().fetch(ids).count == 6)
    }
}
