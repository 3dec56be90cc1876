// What users of batch inserts, upserts and batch deletes rely on, by number.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("Behaviours of batch requests")
struct BatchRequestBehaviours {
    private func upsert(
        _ entity: String, _ rows: [[String: Any]],
        _ change: (inout BatchInsertRequest) -> Void = { _ in }
    ) -> BatchInsertRequest {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        change(&request)
        return request
    }

    @Test(
        "B103: statusOnly gives a status and no ids, count gives the number, objectIDs the ids",
        arguments: Backend.allCases)
    func resultTypes(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        func insert(_ codes: [String], _ type: BatchInsertRequest.ResultType) throws
            -> BatchInsertResult
        {
            try stack.store.execute(
                upsert("Product", codes.map { ["serialCode": $0, "price": codes.count] }) {
                    $0.resultType = type
                })
        }
        let status = try insert(["a", "b"], .statusOnly)
        #expect(status.commit != nil && status.objectIDs.isEmpty)
        let count = try insert(["b", "c", "d"], .count)
        #expect(count.insertedCount == 2 && count.updatedCount == 1 && count.objectIDs.isEmpty)
        let ids = try insert(["d", "e"], .objectIDs)
        let context = stack.context()
        #expect(
            ids.objectIDs.map { context.object(with: $0).string("serialCode") } == ["d", "e"])
        var delete = BatchDeleteRequest(
            .ids(
                ids.objectIDs,
                entity: try #require(stack.store.schema.entity(named: "Product")).index))
        delete.resultType = .objectIDs
        #expect(Set(try stack.store.execute(delete).objectIDs) == Set(ids.objectIDs))
        delete.resultType = .count
        let none = try stack.store.execute(delete)
        #expect(none.deletedCount == 0 && none.objectIDs.isEmpty && none.commit == nil)
    }

    @Test(
        "B104: a dictionary that lacks a required attribute throws, and nothing is inserted",
        arguments: Backend.allCases)
    func required(_ backend: Backend) throws {
        var entity = EntityDescription(
            "Car", attributes: [.init("plate", .string), .init("maker", .string, optional: false)])
        entity.uniquenessConstraints = [["plate"]]
        let stack = try Stack(ManagedObjectModel(entities: [entity]), backend)
        let error = storeError {
            _ = try stack.store.execute(
                BatchInsertRequest(
                    entityName: "Car", objects: [["plate": "a", "maker": "m"], ["plate": "b"]]))
        }
        #expect(error?.code == .missingMandatory && error?.context.key == "maker")
        #expect(error?.context.row == 1)
        #expect(try stack.context().count("Car") == 0)
    }

    @Test(
        "B106: the row closure is called until it returns true, and that row is not inserted",
        arguments: Backend.allCases)
    func closure(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let entity = try #require(stack.store.schema.entity(named: "Shop"))
        let name = try entity.column("name", as: String.self)
        let calls = Counter()
        let result = try stack.store.execute(
            BatchInsertRequest(entity: entity) { row in
                row[name] = "shop \(calls.next())"
                return calls.value == 4
            })
        #expect(calls.value == 4 && result.insertedCount == 3)
        #expect(
            try stack.context().all("Shop", sortedBy: "name").map { $0.string("name") }
                == ["shop 1", "shop 2", "shop 3"])
    }

    @Test(
        "B107: rows of a subentity are of just that entity, and are counted under the parents too",
        arguments: Backend.allCases)
    func subentity(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let entity = try #require(stack.store.schema.entity(named: "ExpensiveSportCar"))
        let plate = try entity.column("numberPlate", as: String.self)
        let calls = Counter()
        _ = try stack.store.execute(
            BatchInsertRequest(entity: entity) { row in
                row[plate] = "\(calls.next())"
                return calls.value > 5
            })
        let context = stack.context()
        for name in ["ExpensiveSportCar", "SportCar", "Car"] {
            #expect(try context.count(name) == 5)
        }
        #expect(try context.count("Truck") == 0)
        #expect(try context.all("Car").allSatisfy { $0.entity.name == "ExpensiveSportCar" })
    }

    @Test(
        "B109, B172, B173: with set-only rows an upsert leaves what they do not name as it is stored, defaults or not",
        arguments: Backend.allCases)
    func setOnly(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            [
                context.make(
                    "Product",
                    [
                        "serialCode": "a", "isFavorite": true, "note": "mine", "stock": 7,
                        "price": 5.0, "name": "old",
                    ])
            ]
        }
        let kept = try stack.store.execute(
            upsert("Product", [["serialCode": "a", "name": "new"], ["serialCode": "b"]]) {
                $0.setOnly = true
            })
        #expect(kept.updatedCount == 1 && kept.insertedCount == 1)
        var products = try stack.context().all("Product", sortedBy: "serialCode")
        #expect(products[0].string("name") == "new" && products[0].string("note") == "mine")
        #expect(products[0]["isFavorite"] as? Bool == true && products[0].int("stock") == 7)
        #expect(products[0]["price"] as? Double == 5)
        // A new object has the model's defaults.
        #expect(products[1]["isFavorite"] as? Bool == false)
        // As Core Data does it: what is not named becomes the default, or nil.
        _ = try stack.store.execute(upsert("Product", [["serialCode": "a", "name": "new"]]))
        products = try stack.context().all("Product", sortedBy: "serialCode")
        #expect(products[0]["isFavorite"] as? Bool == false && products[0].string("note") == nil)
    }

    @Test(
        "B109: without a policy of its own a batch takes over what the context's says of what was not set",
        arguments: Backend.allCases)
    func policyOfContext(_ backend: Backend) throws {
        /// What it overrides is for objects, and a batch has none.
        final class Refusing: MergePolicy {
            override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
                Issue.record("a batch has no objects to resolve")
            }
        }
        let stack = try Stack(Models.shop, backend)
        let partial = ["serialCode": "a", "name": "new"]
        /// What is left of a stored note after a batch of rows that do not name it.
        func note(_ policy: MergePolicy, _ own: MergePolicyKind? = nil) throws -> String? {
            let context = stack.context(policy)
            try context.execute(
                upsert("Product", [["serialCode": "a", "name": "old", "note": "mine"]]))
            var request = BatchInsertRequest(entityName: "Product", objects: [partial])
            request.mergePolicy = own
            request.resultType = .count
            #expect(try context.execute(request).updatedCount == 1)
            let product = try #require(try stack.context().all("Product").first)
            #expect(product.string("name") == "new")
            return product.string("note")
        }
        let kind = MergePolicyKind.mergeByPropertyObjectTrump
        #expect(try note(MergePolicy(merge: kind, setOnly: true)) == "mine")
        #expect(try note(MergePolicy(merge: kind)) == nil)
        #expect(try note(Refusing(merge: kind, setOnly: true)) == "mine")
        #expect(try note(Refusing(merge: kind)) == nil)
        // A policy of the request's own says it alone.
        #expect(try note(MergePolicy(merge: kind, setOnly: true), kind) == nil)
    }

    @Test(
        "B110: rows set to-one relationships by id, by the value of a key, and by several values",
        arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let shops = try stack.store { context in
            [context.make("Shop", ["name": "corner"]), context.make("Shop", ["name": "mall"])]
        }
        let result = try stack.store.execute(
            upsert(
                "Product",
                [
                    ["serialCode": "a", "shop": shops[0]], ["serialCode": "b", "shop": "mall"],
                    ["serialCode": "c", "shop": ["name": "corner"]],
                    ["serialCode": "d", "shop.name": "mall"],
                    ["serialCode": "e", "shop": NSNull()], ["serialCode": "f"],
                    ["serialCode": "g", "shop": RowTarget.key("mall")],
                ]))
        #expect(result.insertedCount == 7)
        func names() throws -> [String?] {
            try stack.context().all("Product", sortedBy: "serialCode").map {
                $0.object("shop")?.string("name")
            }
        }
        #expect(try names() == ["corner", "mall", "corner", "mall", nil, nil, "mall"])
        func members(_ shop: Int) -> Int {
            stack.context().object(with: shops[shop]).members("products").count
        }
        #expect(members(0) == 2 && members(1) == 3)
        // An update moves what names another target, and leaves alone what names none.
        let changed = try stack.store.execute(
            upsert(
                "Product",
                [
                    ["serialCode": "a", "shop": "mall"], ["serialCode": "b"],
                    ["serialCode": "c", "shop": NSNull()], ["serialCode": "f", "shop": "corner"],
                    ["serialCode": "d", "shop": "mall"],
                ]))
        #expect(changed.updatedCount == 3 && changed.unchangedCount == 2)
        #expect(try names() == ["mall", "mall", nil, "mall", nil, "corner", "mall"])
        #expect(members(0) == 1 && members(1) == 4)
        let entity = try #require(stack.store.schema.entity(named: "Shop"))
        _ = try stack.store.execute(BatchDeleteRequest(.ids(shops, entity: entity.index)))
        #expect(try names().allSatisfy { $0 == nil })
    }

    @Test(
        "B110: values that encode themselves, and rows by columns, name targets as well",
        arguments: Backend.allCases)
    func otherForms(_ backend: Backend) throws {
        struct Key: Encodable { let name: String }
        struct Item: Encodable {
            let serialCode: String
            var shop: String?
        }
        struct Nested: Encodable {
            let serialCode: String
            let shop: Key
        }
        struct Exact: Encodable {
            let serialCode: String
            let shop: ObjectID
        }
        let stack = try Stack(Models.shop, backend)
        let shop = try stack.store { [$0.make("Shop", ["name": "corner"])] }[0]
        _ = try stack.store.execute(
            BatchInsertRequest(
                entityName: "Product",
                encodable: [Item(serialCode: "a", shop: "corner"), Item(serialCode: "b")]))
        _ = try stack.store.execute(
            BatchInsertRequest(
                entityName: "Product",
                encodable: [Nested(serialCode: "c", shop: Key(name: "corner"))]))
        _ = try stack.store.execute(
            BatchInsertRequest(
                entityName: "Product", encodable: [Exact(serialCode: "d", shop: shop)]))
        let entity = try #require(stack.store.schema.entity(named: "Product"))
        let code = try entity.column("serialCode", as: String.self)
        let target = try entity.targetColumn("shop")
        let calls = Counter()
        _ = try stack.store.execute(
            BatchInsertRequest(entity: entity) { row in
                let number = calls.next()
                row[code] = "e\(number)"
                row.set(target, number == 1 ? .id(shop) : number == 2 ? nil : .key("corner"))
                return number > 3
            })
        let names = try stack.context().all("Product", sortedBy: "serialCode").map {
            $0.object("shop")?.string("name")
        }
        #expect(names == ["corner", nil, "corner", "corner", "corner", nil, "corner"])
    }

    @Test(
        "B110: a target that is not there fails the batch with row and key, or leaves the relationship empty if asked",
        arguments: Backend.allCases)
    func missingTargets(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let rows: [[String: Any]] = [
            ["serialCode": "a"], ["serialCode": "b", "shop": "nowhere"],
        ]
        let error = storeError { _ = try stack.store.execute(upsert("Product", rows)) }
        #expect(error?.code == .objectNotFound && error?.context.row == 1)
        #expect(error?.context.key == "shop" && error?.context.entity == "Product")
        #expect(error?.fullDescription.contains("nowhere") == true)
        #expect(error.map { "\($0)" }?.contains("nowhere") == false)
        #expect(try stack.context().count("Product") == 0)
        let result = try stack.store.execute(
            upsert("Product", rows) { $0.ignoresMissingTargets = true })
        #expect(result.insertedCount == 2)
        func code(_ entity: String, _ row: [String: Any]) -> StoreError? {
            storeError { _ = try stack.store.execute(upsert(entity, [row])) }
        }
        let tag = try stack.store { [$0.make("Tag", ["label": "t"])] }[0]
        #expect(code("Product", ["serialCode": "c", "shop": tag])?.code == .foreignObject)
        #expect(code("Product", ["shop": ["label": "x"]])?.context.key == "shop")
        #expect(code("Product", ["shop": ["name": 5]])?.code == .invalidRequest)
        #expect(code("Product", ["shop": [String: Any]()])?.code == .invalidRequest)
        let unknown: StoreError.Code = backend == .dictionary ? .invalidRequest : .objectNotFound
        #expect(code("Product", ["tags": ["x"]])?.code == unknown)
        #expect(code("Tag", ["label": "x", "products": "a"])?.context.key == "products")
        let people = try Stack(Models.people, backend)
        let one = storeError {
            _ = try people.store.execute(upsert("Person", [["name": "a", "passport": 3]]))
        }
        #expect(one?.code == unknown && one?.context.key == "passport")
        let desk = storeError {
            _ = try people.store.execute(
                upsert("Desk", [["number": 1, "department": NSNull()]]))
        }
        #expect(desk?.code == .missingMandatory && desk?.context.key == "department")
    }

    @Test(
        "B112: the same object twice leaves one, and rows may name objects that come later in the batch",
        arguments: Backend.allCases)
    func later(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let changes = ChangeRecorder(stack.store)
        let result = try stack.store.execute(
            upsert(
                "Person",
                [
                    ["name": "child", "parent": "mother"], ["name": "self", "mentor": "self"],
                    ["name": "mother", "parent": "grandmother"], ["name": "child"],
                    ["name": "grandmother"], ["name": "other", "parent": "child"],
                    ["name": "other", "parent": "grandmother"],
                ]
            ) { $0.resultType = .objectIDs })
        #expect(result.insertedCount == 5 && result.objectIDs.count == 5)
        #expect(try changes.one().insertedObjectIDs().count == 5)
        func parents() throws -> [String?] {
            try stack.context().all("Person", sortedBy: "name").map {
                $0.object("parent")?.string("name")
            }
        }
        #expect(try parents() == ["mother", nil, "grandmother", "grandmother", nil])
        let me = try #require(try stack.context().find("Person", "name", .string("self")).first)
        #expect(me.object("mentor") === me)
        // Rows of stored objects that change in nothing but a target that comes later.
        let second = try stack.store.execute(
            upsert("Person", [["name": "grandmother", "parent": "new"], ["name": "new"]]) {
                $0.reportsOutcomes = true
            })
        #expect(second.outcomes == [.updated, .inserted])
        #expect(second.updatedCount == 1 && second.unchangedCount == 0)
        #expect(
            try stack.context().find("Person", "name", .string("new"))[0].members("children")
                .map { $0.string("name") } == ["grandmother"])
        let rows = try stack.store.snapshot().rows(result.objectIDs).compactMap { $0?.version }
        #expect(rows.reduce(0, +) == 6)
    }

    /// What a batch took, in counts.
    private struct Work {
        var writes = 0
        var bytesWritten = 0
        var reads = 0
        var bytesRead = 0
        var blocks = 0
        var keys = 0

        /// Each of them with its name.
        var counts: [(String, Int)] {
            [
                ("writes", writes), ("bytes written", bytesWritten), ("reads", reads),
                ("bytes read", bytesRead), ("blocks", blocks), ("keys", keys),
            ]
        }
    }

    /// The work of a batch that inserts so many products, and of one that updates them in a store that was opened anew.
    private func work(_ count: Int) throws -> [Work] {
        let disk = FaultInjectingFileSystem(over: MemoryFileSystem())
        let schema = try Schema(Models.shop)
        var options = LogStoreOptions()
        options.fileSystem = disk
        // What is done ahead, and in the background, comes in steps and at its own time.
        options.sizes.fillBytes = 0
        options.sizes.checkpointBytes = .max
        // Codes that are as long and as different whatever the number of rows, so that none are packed better than others.
        func code(_ number: Int) -> String {
            String(10_000_000_000 + (number &* 2_654_435_761) % 4_294_967_296)
        }
        func products(_ price: Double) -> BatchInsertRequest {
            upsert(
                "Product",
                (0..<count).map { ["serialCode": code($0), "price": price, "name": "n"] }
            ) { $0.resultType = .count }
        }
        var all: [Work] = []
        for price in [1.0, 2.0] {
            let store = try LogStore.open(at: "/store", schema: schema, options: options)
            let before = disk.history.count
            let result = try store.execute(products(price))
            #expect(result.insertedCount == (price == 1 ? count : 0))
            #expect(result.updatedCount == (price == 1 ? 0 : count))
            let calls = disk.history[before...]
            var work = Work()
            for call in calls where call.operation == .write {
                work.writes += 1
                work.bytesWritten += call.length ?? 0
            }
            for call in calls where call.operation == .read {
                work.reads += 1
                work.bytesRead += call.length ?? 0
            }
            let statistics = try store.statistics()
            work.blocks = statistics.entities.first { $0.name == "Product" }?.blocks ?? 0
            work.keys = statistics.indexEntries
            #expect(work.keys == count)
            all.append(work)
            try store.close()
        }
        return all
    }

    @Test(
        "B113: ten times as many objects are ten times the work: calls of the disk, bytes, blocks and keys, read and written"
    )
    func proportional() throws {
        let sizes = [1_000, 10_000, 100_000]
        let works = try sizes.map { try work($0) }
        for batch in 0..<2 {
            for (less, more) in zip(works, works.dropFirst()) {
                for ((name, small), (_, large)) in zip(less[batch].counts, more[batch].counts) {
                    // A call more, where what is begun is filled or a part is left over, is not ten times as much.
                    #expect(
                        large <= 10 * small * 5 / 4 + 16,
                        "\(name) of batch \(batch): \(small) become \(large)")
                }
                #expect(more[batch].bytesWritten >= 5 * less[batch].bytesWritten)
            }
        }
        // What is updated was read.
        #expect(works.allSatisfy { $0[1].bytesRead > 0 && $0[1].reads > 0 })
    }

    @Test(
        "B118: ids that a batch delete gives, merged into another context, remove the objects there",
        arguments: Backend.allCases)
    func mergedDeletion(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            (0..<4).map { number in
                context.make("Product", ["serialCode": String(number), "stock": number])
            }
        }
        let context = stack.context()
        let products = try context.all("Product", sortedBy: "serialCode")
        let entity = try #require(stack.store.schema.entity(named: "Product"))
        var request = BatchDeleteRequest(
            .fetch(
                StoreFetch(entity: entity.index, predicate: .compare("stock", .less, .integer(2)))))
        request.resultType = .objectIDs
        let result = try stack.context().execute(request)
        #expect(result.deletedCount == 2)
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.deletedObjectIDs: result.objectIDs], into: [context])
        #expect(Set(context.deletedObjects) == Set(products[..<2]))
        try context.save()
        #expect(try context.all("Product").count == 2)
    }

    @Test(
        "B119: a batch delete validates nothing, and what pointed at deleted rows is cleared or deleted with them",
        arguments: Backend.allCases)
    func deletionRules(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let people = ["parent", "child", "grandchild", "apprentice"].map {
                context.make("Person", ["name": $0])
            }
            people[1]["parent"] = people[0]
            people[2]["parent"] = people[1]
            people[3]["mentor"] = people[2]
            return people
        }
        let entity = try #require(stack.store.schema.entity(named: "Person"))
        let result = try stack.store.execute(
            BatchDeleteRequest(.ids([ids[0]], entity: entity.index)))
        #expect(result.deletedCount == 1 && result.cascadedCount == 2)
        let rest = try stack.context().all("Person")
        #expect(rest.map { $0.string("name") } == ["apprentice"])
        #expect(rest[0].object("mentor") == nil)
    }

    @Test(
        "B119: everything that forbids a batch delete is told before anything is deleted",
        arguments: Backend.allCases)
    func blockers(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let departments = ["a", "b", "c"].map { context.make("Department", ["name": $0]) }
            let people = (0..<4).map { number in
                context.make(
                    "Person", ["name": "\(number)", "department": departments[number / 3]])
            }
            let desks = (0..<2).map { number in
                context.make("Desk", ["number": number, "department": departments[2]])
            }
            return departments + people + desks
        }
        let entity = try #require(stack.store.schema.entity(named: "Department"))
        let changes = ChangeRecorder(stack.store)
        let all = BatchDeleteRequest(.ids(Array(ids[..<3]), entity: entity.index))
        let both = try #require(storeError { _ = try stack.store.execute(all) })
        #expect(both.code == .multiple && both.details.count == 6)
        for (code, blocked, blockers) in [
            (StoreError.Code.deleteDenied, ids[..<2], ids[3..<7]),
            (.missingMandatory, ids[7...], ids[2..<3]),
        ] {
            let details = both.details.filter { $0.code == code }
            #expect(Set(details.compactMap(\.context.objectID)) == Set(blocked))
            #expect(
                Set(details.compactMap(\.context.value)) == Set(blockers.map { .objectID($0) }))
        }
        let two = BatchDeleteRequest(.ids(Array(ids[..<2]), entity: entity.index))
        let denied = try #require(storeError { _ = try stack.store.execute(two) })
        #expect(denied.code == .deleteDenied && denied.details.count == 4)
        #expect(denied.details.allSatisfy { $0.context.key != nil })
        #expect(Set(denied.details.compactMap(\.context.objectID)) == Set(ids[..<2]))
        #expect(
            Set(denied.details.compactMap(\.context.value)) == Set(ids[3..<7].map { .objectID($0) })
        )
        let one = storeError {
            _ = try stack.store.execute(BatchDeleteRequest(.ids([ids[1]], entity: entity.index)))
        }
        #expect(one?.code == .deleteDenied && one?.context.objectID == ids[1])
        let mandatory = storeError {
            _ = try stack.store.execute(BatchDeleteRequest(.ids([ids[2]], entity: entity.index)))
        }
        #expect(mandatory?.code == .missingMandatory && mandatory?.details.count == 2)
        #expect(Set(mandatory?.details.compactMap(\.context.objectID) ?? []) == Set(ids[7...]))
        #expect(
            mandatory?.details.map(\.context.value)
                == [.objectID(ids[2]), .objectID(ids[2])])
        #expect(changes.take().isEmpty)
        #expect(try stack.context().count("Department") == 3)
    }

    @Test(
        "Deny holds in a batch of few and of many, and not among those that go together",
        arguments: Backend.allCases)
    func denials(_ backend: Backend) throws {
        let item = EntityDescription(
            "Item", attributes: [.init("name", .string)],
            relationships: [.init("box", to: "Box", inverse: "items", deleteRule: .deny)])
        let box = EntityDescription(
            "Box", attributes: [.init("name", .string)],
            relationships: [
                .init("items", to: "Item", toMany: true, inverse: "box"),
                .init("outer", to: "Box", inverse: "inner"),
                .init("inner", to: "Box", toMany: true, inverse: "outer", deleteRule: .deny),
            ])
        let stack = try Stack(ManagedObjectModel(entities: [item, box]), backend)
        let ids = try stack.store { context in
            let boxes = (0..<3).map { context.make("Box", ["name": "\($0)"]) }
            boxes[1]["outer"] = boxes[0]
            return boxes + (0..<16).map { _ in context.make("Item", ["box": boxes[2]]) }
        }
        func refusal(_ range: Range<Int>) -> StoreError.Code? {
            storeError {
                _ = try stack.store.execute(BatchDeleteRequest(objectIDs: Array(ids[range])))
            }?.code
        }
        #expect(refusal(0..<1) == .deleteDenied)
        #expect(refusal(0..<2) == nil)
        #expect(refusal(3..<4) == .deleteDenied)
        #expect(refusal(3..<19) == .deleteDenied)
        #expect(try stack.context().count("Item") == 16)
        #expect(try stack.context().count("Box") == 1)
    }

    @Test(
        "Limit and order of a batch delete choose what goes, and descendants go as asked",
        arguments: Backend.allCases)
    func limitedDeletion(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        try stack.store { context in
            (0..<6).map { number in
                context.make(
                    number % 2 == 0 ? "Car" : "Truck", ["numberPlate": "\(number)"])
            }
        }
        let entity = try #require(stack.store.schema.entity(named: "Car"))
        var fetch = StoreFetch(entity: entity.index)
        fetch.sort = [SortKey("numberPlate", ascending: false)]
        fetch.limit = 2
        fetch.offset = 1
        #expect(try stack.store.execute(BatchDeleteRequest(.fetch(fetch))).deletedCount == 2)
        func plates() throws -> [String?] {
            try stack.context().all("Car", sortedBy: "numberPlate").map { $0.string("numberPlate") }
        }
        #expect(try plates() == ["0", "1", "2", "5"])
        fetch = StoreFetch(entity: entity.index)
        fetch.includesSubentities = false
        #expect(try stack.store.execute(BatchDeleteRequest(.fetch(fetch))).deletedCount == 2)
        #expect(try plates() == ["1", "5"])
    }

    @Test(
        "B169: the same id twice in a list gives one object with the last one's values",
        arguments: Backend.allCases)
    func twice(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let result = try stack.store.execute(
            upsert(
                "Product",
                [
                    ["serialCode": "a", "price": 1.0], ["serialCode": "b", "price": 2.0],
                    ["serialCode": "a", "price": 3.0],
                ]))
        #expect(result.insertedCount == 2)
        let products = try stack.context().all("Product", sortedBy: "serialCode")
        #expect(products.map { $0["price"] as? Double } == [3, 2])
    }

    @Test(
        "B170: ids of imported objects come in the order of the list",
        arguments: Backend.allCases)
    func order(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let codes = ["k", "c", "x", "a", "m"]
        _ = try stack.store.execute(upsert("Product", [["serialCode": "a"], ["serialCode": "x"]]))
        let result = try stack.store.execute(
            upsert("Product", codes.map { ["serialCode": $0, "stock": 4] }) {
                $0.resultType = .objectIDs
            })
        let context = stack.context()
        #expect(
            result.objectIDs.map { context.object(with: $0).string("serialCode") } == codes)
    }

    @Test(
        "B175: a null key is no key, so that two upserts with null give two objects; one key if the constraint says so",
        arguments: Backend.allCases)
    func nullKeys(_ backend: Backend) throws {
        let plain = try Stack(Models.shop, backend)
        for _ in 0..<2 { _ = try plain.store.execute(upsert("Product", [["name": "x"]])) }
        #expect(try plain.context().count("Product") == 2)
        var entity = EntityDescription(
            "Thing", attributes: [.init("key", .string), .init("value", .integer64)])
        entity.uniquenessRules = [UniquenessRule(["key"], nilsAreEqual: true)]
        let stack = try Stack(ManagedObjectModel(entities: [entity]), backend)
        for value in 0..<2 {
            _ = try stack.store.execute(upsert("Thing", [["value": value, "key": NSNull()]]))
        }
        #expect(try stack.context().all("Thing").map { $0.int("value") } == [1])
    }

    @Test(
        "B176: an upsert that conflicts on id and name with two rows fails, on the same row it updates it",
        arguments: Backend.allCases)
    func contradiction(_ backend: Backend) throws {
        let entity = EntityDescription(
            "Player",
            attributes: [
                .init("id", .integer64), .init("name", .string), .init("score", .integer64),
            ], uniquenessConstraints: [["id"], ["name"]])
        let stack = try Stack(ManagedObjectModel(entities: [entity]), backend)
        func row(_ id: Int, _ name: String, _ score: Int) -> [String: Any] {
            ["id": id, "name": name, "score": score]
        }
        _ = try stack.store.execute(
            upsert("Player", [row(1, "Arthur", 10), row(2, "Barbara", 20)]))
        let same = try stack.store.execute(upsert("Player", [row(1, "Arthur", 100)]))
        #expect(same.updatedCount == 1)
        let error = storeError {
            _ = try stack.store.execute(upsert("Player", [row(1, "Barbara", 1000)]))
        }
        #expect(error?.code == .constraintConflict)
        let scores = try stack.context().all("Player", sortedBy: "id").map { $0.int("score") }
        #expect(scores == [100, 20])
    }

    @Test(
        "B178: importing list B after list A updates the common ones, inserts the new and deletes those missing",
        arguments: Backend.allCases)
    func lists(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        func list(_ numbers: Range<Int>, _ name: String) -> BatchInsertRequest {
            upsert("Product", numbers.map { ["serialCode": "\($0)", "name": "\(name) \($0)"] }) {
                $0.prunesMissing = true
            }
        }
        #expect(try stack.store.execute(list(0..<8, "A")).insertedCount == 8)
        let result = try stack.store.execute(list(4..<10, "B"))
        #expect(result.updatedCount == 4 && result.insertedCount == 2 && result.deletedCount == 4)
        let products = try stack.context().all("Product", sortedBy: "serialCode")
        #expect(products.map { $0.string("name") } == (4..<10).map { "B \($0)" })
    }

    @Test(
        "Limits, lengths and patterns of the model hold for batch inserts, unless they are not to",
        arguments: Backend.allCases)
    func validation(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        let rows: [[String: Any]] = [["size": 5], ["size": 11], ["code": "x"], ["code": "ABC"]]
        let error = try #require(storeError { _ = try stack.store.execute(upsert("Thing", rows)) })
        #expect(error.code == .multiple)
        #expect(
            error.details.map(\.code) == [.numberTooLarge, .stringTooShort, .stringPattern])
        #expect(error.details.map(\.context.row) == [1, 2, 3])
        #expect(error.details.map(\.context.key) == ["size", "code", "code"])
        #expect(try stack.context().count("Thing") == 0)
        let result = try stack.store.execute(
            upsert("Thing", rows) { $0.validatesValues = false })
        #expect(result.insertedCount == 4)
    }
}

/// Counts, from any thread.
private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
