// Batch updates: what they find, what they write, what they refuse.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Batch updates")
struct BatchUpdateTests {
    private func update(
        _ entity: String, _ properties: [String: UpdatedValue], where format: String? = nil,
        _ change: (inout BatchUpdateRequest) -> Void = { _ in }
    ) throws -> BatchUpdateRequest {
        var request = BatchUpdateRequest(entityName: entity, propertiesToUpdate: properties)
        request.predicate = try format.map { try PredicateNode(format: $0) }
        change(&request)
        return request
    }

    private func expression(_ format: String) throws -> UpdatedValue {
        .expression(try ExpressionNode(format: format))
    }

    /// Ten products called "0" to "9", the even ones of a shop.
    private func products(_ backend: Backend) throws -> (stack: Stack, shop: ObjectID) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            let products = (0..<10).map { number -> ManagedObject in
                let values: [String: Any?] = [
                    "serialCode": String(number), "price": Double(number), "stock": number,
                ]
                let product = context.make("Product", values)
                if number % 2 == 0 { product["shop"] = shop }
                return product
            }
            return [shop] + products
        }
        return (stack, ids[0])
    }

    private func values<T>(_ stack: Stack, _ key: String, _ type: T.Type = T.self) throws -> [T?] {
        try stack.context().all("Product", sortedBy: "serialCode").map { $0[key] as? T }
    }

    @Test(
        "Constants and expressions of the row are set where the condition holds, and versions rise",
        arguments: Backend.allCases)
    func values(_ backend: Backend) throws {
        let (stack, _) = try products(backend)
        let context = stack.context()
        let before = try context.all("Product", sortedBy: "serialCode").map(\.objectID)
        var request = try update(
            "Product",
            [
                "note": "cheap", "isFavorite": true, "stock": try expression("stock * 2 + 1"),
                "price": try expression("price / 4"), "name": try expression("serialCode"),
            ], where: "price < 4")
        request.resultType = .objectIDs
        let result = try context.execute(request)
        #expect(result.updatedCount == 4 && result.unchangedCount == 0)
        #expect(result.objectIDs == Array(before[..<4]))
        #expect(result.commit == (try stack.store.snapshot().commit))
        #expect(try values(stack, "stock", Int.self) == [1, 3, 5, 7, 4, 5, 6, 7, 8, 9])
        #expect(try values(stack, "price", Double.self)[..<5] == [0, 0.25, 0.5, 0.75, 4])
        #expect(
            try values(stack, "note", String.self)[..<5] == [
                "cheap", "cheap", "cheap", "cheap", nil,
            ])
        #expect(try values(stack, "name", String.self)[3...4] == ["3", ""])
        let rows = try stack.store.snapshot().rows(before).map { $0?.version }
        #expect(rows == [2, 2, 2, 2, 1, 1, 1, 1, 1, 1])
    }

    @Test(
        "An object that has the values already is not written, and a request that changes nothing makes no commit",
        arguments: Backend.allCases)
    func unchanged(_ backend: Backend) throws {
        let (stack, _) = try products(backend)
        let changes = ChangeRecorder(stack.store)
        let request = try update("Product", ["stock": 3])
        let first = try stack.store.execute(request)
        #expect(first.updatedCount == 9 && first.unchangedCount == 1)
        #expect(try changes.one().updatedObjectIDs().count == 9)
        let second = try stack.store.execute(request)
        #expect(second.updatedCount == 0 && second.unchangedCount == 10 && second.commit == nil)
        let none = try stack.store.execute(update("Product", ["stock": 4], where: "price > 99"))
        #expect(none.updatedCount == 0 && none.unchangedCount == 0 && none.commit == nil)
        #expect(changes.take().isEmpty)
    }

    @Test(
        "The condition leads across relationships, and says of nil what is asked",
        arguments: Backend.allCases)
    func conditions(_ backend: Backend) throws {
        let (stack, shop) = try products(backend)
        let inShop = try stack.store.execute(
            update("Product", ["note": "here"], where: "shop.name == \"corner\" AND stock > 2"))
        #expect(inShop.updatedCount == 3)
        let byID = try stack.store.execute(
            update("Product", ["name": try expression("shop.name")]) {
                $0.predicate = .compare("shop", .equal, .objectID(shop))
            })
        #expect(byID.updatedCount == 5)
        #expect(try values(stack, "name", String.self)[0] == "corner")
        let swift = try stack.store.execute(
            update("Product", ["isFavorite": true], where: "note != \"here\""))
        #expect(swift.updatedCount == 7)
        let sql = try stack.store.execute(
            update("Product", ["isFavorite": false], where: "note != \"here\"") {
                $0.nullSemantics = .sql
            })
        #expect(sql.updatedCount == 0)
    }

    @Test(
        "Order, limit and offset choose objects, whose ids come in that order",
        arguments: Backend.allCases)
    func limits(_ backend: Backend) throws {
        let (stack, _) = try products(backend)
        let result = try stack.store.execute(
            update("Product", ["note": "top"]) {
                $0.sortDescriptors = [SortKey("price", ascending: false)]
                $0.fetchOffset = 1
                $0.fetchLimit = 3
                $0.resultType = .objectIDs
            })
        let context = stack.context()
        #expect(
            result.objectIDs.map { context.object(with: $0).string("serialCode") }
                == ["8", "7", "6"])
        #expect(try values(stack, "note", String.self).compactMap(\.self).count == 3)
        // An offset alone leaves out the first ones.
        let rest = try stack.store.execute(
            update("Product", ["name": "rest"]) { $0.fetchOffset = 4 })
        #expect(rest.updatedCount == 6)
        #expect(try values(stack, "name", String.self).filter { $0 == "rest" }.count == 6)
    }

    @Test(
        "Objects of descendants are updated, unless they are not to be",
        arguments: Backend.allCases)
    func inheritance(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        try stack.store { context in
            [
                context.make("Car", ["numberPlate": "a"]),
                context.make("SportCar", ["numberPlate": "b", "racingNumber": 1]),
                context.make("ExpensiveSportCar", ["numberPlate": "c", "racingNumber": 2]),
                context.make("Truck", ["numberPlate": "d"]),
            ]
        }
        let cars = try stack.store.execute(
            update("Car", ["maker": "A"]) { $0.includesSubentities = false })
        #expect(cars.updatedCount == 1)
        let sport = try stack.store.execute(
            update("SportCar", ["maker": "B", "racingNumber": try expression("racingNumber + 1")]))
        #expect(sport.updatedCount == 2)
        let makers = try stack.context().all("Car", sortedBy: "numberPlate").map {
            $0.string("maker")
        }
        #expect(makers == ["A", "B", "B", nil])
        #expect(throws: StoreError.self) {
            try stack.store.execute(update("Car", ["team": "x"]))
        }
    }

    @Test(
        "B115: a batch update that gives several rows the same unique value throws, lists them and changes nothing",
        arguments: Backend.allCases)
    func shared(_ backend: Backend) throws {
        let (stack, _) = try products(backend)
        let changes = ChangeRecorder(stack.store)
        let error = try #require(
            storeError {
                _ = try stack.store.execute(
                    update("Product", ["serialCode": "same", "note": "x"], where: "stock > 6"))
            })
        #expect(error.code == .constraintConflict)
        #expect(error.details.count == 2)
        #expect(error.details.allSatisfy { $0.context.key == "serialCode" })
        #expect(error.affectedObjectIDs.count == 2)
        #expect(!"\(error)".contains("same"))
        // One that is stored and stays stands against it as well.
        let single = storeError {
            _ = try stack.store.execute(
                update("Product", ["serialCode": "1"], where: "serialCode == \"2\""))
        }
        #expect(single?.code == .constraintConflict && single?.context.key == "serialCode")
        #expect(changes.take().isEmpty)
        #expect(try values(stack, "serialCode", String.self) == (0..<10).map { "\($0)" })
        #expect(try values(stack, "note", String.self).allSatisfy { $0 == nil })
    }

    @Test(
        "B115: keys that are shifted, or exchanged, are judged as they are in the end",
        arguments: Backend.allCases)
    func shifted(_ backend: Backend) throws {
        let stack = try Stack(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Seat",
                    attributes: [
                        AttributeDescription("number", .integer32),
                        AttributeDescription("letter", .string),
                    ], uniquenessConstraints: [["number"]])
            ]), backend)
        try stack.store { context in
            (1...40).map { number in
                context.make("Seat", ["number": number, "letter": String(number)])
            }
        }
        func seats() throws -> [Int?] {
            try stack.context().all("Seat").map { seat in
                (Int(seat.string("letter") ?? "") ?? 0, seat.int("number"))
            }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        let up = try stack.store.execute(
            update("Seat", ["number": try expression("number + 1")]))
        #expect(up.updatedCount == 40)
        #expect(try seats() == Array(2...41))
        // 41 has the place of 2, and the other way round: what is in the middle stays.
        let turned = try stack.store.execute(
            update("Seat", ["number": try expression("43 - number")]))
        #expect(turned.updatedCount == 40)
        #expect(try seats() == Array((2...41).reversed()))
        let error = storeError {
            _ = try stack.store.execute(
                update("Seat", ["number": try expression("number + 1")], where: "number < 20"))
        }
        #expect(error?.code == .constraintConflict)
        #expect(try seats() == Array((2...41).reversed()))
        // Found by their new keys, and by the old ones no more.
        #expect(try stack.context().find("Seat", "number", .integer(41)).count == 1)
        #expect(try stack.context().find("Seat", "number", .integer(1)).isEmpty)
    }

    @Test(
        "B116: a required attribute set to nil is refused, whether by a constant or by what an expression gives",
        arguments: Backend.allCases)
    func mandatory(_ backend: Backend) throws {
        let (stack, _) = try products(backend)
        let constant = storeError {
            _ = try stack.store.execute(update("Product", ["price": nil]))
        }
        #expect(constant?.code == .missingMandatory && constant?.context.key == "price")
        var computed = try update(
            "Product", ["price": try expression("stock / 0")], where: "stock == 3")
        let error = storeError { _ = try stack.store.execute(computed) }
        #expect(error?.code == .missingMandatory && error?.context.key == "price")
        #expect(error?.context.objectID != nil)
        computed.validatesValues = false
        #expect(
            storeError { _ = try stack.store.execute(computed) }?.code == .missingMandatory)
        #expect(try values(stack, "price", Double.self) == (0..<10).map { Double($0) })
        try #expect(stack.store.execute(update("Product", ["stock": nil])).updatedCount == 10)
    }

    @Test(
        "Limits, lengths, patterns and ranges of the model hold for new values, unless they are not to",
        arguments: Backend.allCases)
    func rules(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        try stack.store { context in
            (1...3).map { number in
                context.make("Thing", ["size": number, "code": "abc", "large": number])
            }
        }
        func code(_ properties: [String: UpdatedValue], validates: Bool = true) throws
            -> StoreError?
        {
            let request = try update("Thing", properties) { $0.validatesValues = validates }
            return storeError { _ = try stack.store.execute(request) }
        }
        #expect(try code(["size": 11])?.code == .numberTooLarge)
        #expect(try code(["size": try expression("size - 1")])?.code == .numberTooSmall)
        #expect(try code(["code": "x"])?.code == .stringTooShort)
        #expect(try code(["code": "XYZ"])?.code == .stringPattern)
        let several = try code(["size": try expression("size + 9")])
        #expect(several?.code == .multiple && several?.details.count == 2)
        #expect(several?.details.allSatisfy { $0.code == .numberTooLarge } == true)
        #expect(try code(["small": try expression("large * 2000000000")])?.code == .multiple)
        #expect(try code(["size": .value(.string("x"))])?.code == .invalidRequest)
        #expect(try code(["large": try expression("large / 2.5")])?.code == .multiple)
        #expect(try code(["size": 100_000], validates: false)?.code == .invalidRequest)
        #expect(try code(["size": 11, "code": "XYZ"], validates: false) == nil)
        #expect(try stack.context().all("Thing").allSatisfy { $0.int("size") == 11 })
    }

    @Test(
        "Values become those of the attribute's type, elements of composite attributes too",
        arguments: Backend.allCases)
    func types(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        try stack.store { [$0.make("Thing", ["large": 3, "ratio": 0.5, "exact": Decimal(2)])] }
        let moment = Date(timeIntervalSinceReferenceDate: 10)
        let uuid = UUID()
        _ = try stack.store.execute(
            update(
                "Thing",
                [
                    "exact": try expression("exact * 1.5"),
                    "short": try expression("ratio + large"),
                    "ratio": try expression("large"), "flag": 1, "day": .value(.date(moment)),
                    "uuid": .value(.uuid(uuid)), "bytes": .value(.binary(Data([1, 2]))),
                    "color.shade": 2, "color.primary": "red", "large": 7.0,
                    "needed": try expression("TERNARY(flag == YES, 'yes', 'no')"),
                ]))
        let thing = try stack.context().all("Thing")[0]
        #expect(thing["exact"] as? Decimal == 3 && thing["short"] as? Float == 3.5)
        #expect(thing["ratio"] as? Double == 3 && thing["flag"] as? Bool == true)
        #expect(thing["day"] as? Date == moment && thing["uuid"] as? UUID == uuid)
        #expect(thing["bytes"] as? Data == Data([1, 2]) && thing.int("large") == 7)
        #expect(thing["needed"] as? String == "no")
        #expect(
            (thing["color"] as? [String: Any])?["color.primary"] as? String == "red"
                || (thing["color"] as? [String: Any])?["primary"] as? String == "red")
        _ = try stack.store.execute(update("Thing", ["color": nil]))
        let plain = try stack.store.execute(update("Thing", ["color.shade": nil]))
        #expect(plain.unchangedCount == 1)
    }

    @Test("What cannot be set is refused with its name", arguments: Backend.allCases)
    func refusals(_ backend: Backend) throws {
        let (stack, shop) = try products(backend)
        func key(_ properties: [String: UpdatedValue], entity: String = "Product") throws
            -> String?
        {
            let error = storeError { _ = try stack.store.execute(update(entity, properties)) }
            #expect(error?.code == .invalidRequest)
            return error?.context.key
        }
        #expect(try key(["colour": 1]) == "colour")
        #expect(try key(["tags": nil]) == "tags")
        #expect(try key(["shop": "corner"]) == "shop")
        #expect(try key(["shop": try expression("shop")]) == "shop")
        #expect(try key(["stock": try expression("stock + colour")]) == "colour")
        #expect(try key([:]) == nil)
        #expect(try key(["name": "x"], entity: "Nothing") == nil)
        let foreign = storeError {
            _ = try stack.store.execute(
                update("Product", ["shop": .value(.objectID(try products(backend).shop))]))
        }
        #expect(foreign?.code == .foreignObject)
        let tag = try stack.store { [$0.make("Tag", ["label": "t"])] }[0]
        let other = storeError {
            _ = try stack.store.execute(update("Product", ["shop": .value(.objectID(tag))]))
        }
        #expect(other?.code == .foreignObject)
        let context = stack.context()
        context.delete(context.object(with: shop))
        try context.save()
        let gone = storeError {
            _ = try stack.store.execute(update("Product", ["shop": .value(.objectID(shop))]))
        }
        #expect(gone?.code == .objectNotFound)
    }

    @Test(
        "A to-one relationship is set by an id, and the other side follows",
        arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let (stack, shop) = try products(backend)
        let other = try stack.store { [$0.make("Shop", ["name": "mall"])] }[0]
        let moved = try stack.store.execute(
            update("Product", ["shop": .value(.objectID(other))], where: "stock < 5"))
        #expect(moved.updatedCount == 5)
        func members(_ id: ObjectID) -> Int {
            stack.context().object(with: id).members("products").count
        }
        #expect(members(other) == 5 && members(shop) == 2)
        let cleared = try stack.store.execute(
            update("Product", ["shop": nil], where: "shop.name == \"corner\""))
        #expect(cleared.updatedCount == 2 && members(shop) == 0)
        // Deleting follows the same references.
        let entity = try #require(stack.store.schema.entity(named: "Shop"))
        _ = try stack.store.execute(BatchDeleteRequest(.ids([other], entity: entity.index)))
        #expect(try stack.context().all("Product").allSatisfy { $0.object("shop") == nil })
        let people = try Stack(Models.people, backend)
        try people.store { [$0.make("Person", ["name": "a"])] }
        let oneToOne = storeError {
            _ = try people.store.execute(update("Person", ["passport": nil]))
        }
        #expect(oneToOne?.code == .invalidRequest && oneToOne?.context.key == "passport")
    }

    @Test(
        "Contexts that loaded an updated object before conflict at their save, and merge told changes",
        arguments: Backend.allCases)
    func contexts(_ backend: Backend) throws {
        let (stack, _) = try products(backend)
        let context = stack.context()
        let product = try #require(try context.find("Product", "serialCode", .string("1")).first)
        #expect(product.int("stock") == 1)
        let other = stack.context()
        other.transactionAuthor = "feed"
        other.name = "updates"
        let changes = ChangeRecorder(stack.store)
        try other.execute(update("Product", ["stock": try expression("stock + 100")]))
        let told = try changes.one()
        #expect(told.author == "feed" && told.contextName == "updates")
        #expect(Set(try told.updatedObjectIDs()).count == 10)
        product["note"] = "mine"
        #expect(storeError { try context.save() }?.code == .mergeConflict)
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        #expect(product.int("stock") == 101 && product.string("note") == "mine")
    }
}

@Suite("Batch updates in the engine")
struct LargeBatchUpdateTests {
    private static let model: ManagedObjectModel = {
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("code", .integer64, optional: false, default: .integer(0)),
                .init("key", .string), .init("value", .integer32), .init("price", .double),
                .init("text", .string), .init("other", .string),
            ], uniquenessConstraints: [["code"], ["key"]])
        item.relationships = [RelationshipDescription("box", to: "Box", inverse: "items")]
        var box = EntityDescription("Box", attributes: [.init("name", .string)])
        box.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "box")
        ]
        return ManagedObjectModel(entities: [item, box])
    }()

    private func open(_ count: Int) throws -> LogStore {
        let store = try LogStore.inMemory(schema: try Schema(Self.model))
        let rows = (0..<count).map { number in
            var row: [String: Any] = ["code": number, "key": "key \(number)"]
            row["value"] = number % 100
            row["price"] = Double(number) / 4
            if number % 3 != 0 { row["text"] = "text \(number % 50)" }
            return row
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Item", objects: rows))
        return store
    }

    private func values<T: AttributeValue>(_ store: LogStore, _ key: String, as type: T.Type)
        throws -> [T]
    {
        let entity = try #require(store.schema.entity(named: "Item"))
        let (code, column) = (
            try entity.column("code", as: Int64.self), try entity.column(key, as: type)
        )
        var values: [(Int64, T)] = []
        try store.snapshot().read(StoreRead(entity)) { row in
            values.append((row[code], row[column]))
        }
        return values.sorted { $0.0 < $1.0 }.map(\.1)
    }

    @Test("Whole blocks are written anew with all that does not change in them")
    func wholeBlocks() throws {
        let store = try open(3000)
        var request = BatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = [
            "value": .expression(try ExpressionNode(format: "value * 2 + 1")), "other": "new",
            "price": .expression(try ExpressionNode(format: "price * 2")),
        ]
        #expect(try store.execute(request).updatedCount == 3000)
        #expect(try values(store, "value", as: Int32.self) == (0..<3000).map { $0 % 100 * 2 + 1 })
        #expect(try values(store, "price", as: Double.self) == (0..<3000).map { Double($0) / 2 })
        #expect(try values(store, "other", as: String?.self).allSatisfy { $0 == "new" })
        #expect(
            try values(store, "text", as: String?.self)
                == (0..<3000).map { $0 % 3 == 0 ? nil : "text \($0 % 50)" })
        // To nil the column goes out of the blocks, and comes back.
        request.propertiesToUpdate = ["other": nil, "text": nil]
        #expect(try store.execute(request).updatedCount == 3000)
        request.propertiesToUpdate = ["text": .expression(try ExpressionNode(format: "key"))]
        #expect(try store.execute(request).updatedCount == 3000)
        #expect(try values(store, "other", as: String?.self).allSatisfy { $0 == nil })
        #expect(
            try values(store, "text", as: String?.self) == (0..<3000).map { "key \($0)" })
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("Keys of whole blocks move, and a key for all is refused at once")
    func keys() throws {
        let store = try open(5000)
        var request = BatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = [
            "code": .expression(try ExpressionNode(format: "code + 1"))
        ]
        #expect(try store.execute(request).updatedCount == 5000)
        #expect(try values(store, "code", as: Int64.self) == Array(1...5000))
        request.propertiesToUpdate = ["key": "one", "value": 3]
        let error = storeError { _ = try store.execute(request) }
        #expect(error?.code == .constraintConflict && error?.details.count == 100)
        #expect(try values(store, "key", as: String?.self) == (0..<5000).map { "key \($0)" })
        // Two keys in turn, and a few keys in turn.
        let few = try ExpressionNode(format: "value")
        for properties in [["key": "one", "code": 7], ["code": .expression(few)]]
            as [[String: UpdatedValue]]
        {
            request.propertiesToUpdate = properties
            let error = storeError { _ = try store.execute(request) }
            #expect(error?.code == .constraintConflict && error?.details.count == 100)
            #expect(try values(store, "code", as: Int64.self) == Array(1...5000))
        }
        request.propertiesToUpdate = ["key": nil]
        #expect(try store.execute(request).updatedCount == 5000)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("Values that are kept apart stay where they are, or get places of their own")
    func largeValues() throws {
        let store = try open(1500)
        let long = String(repeating: "long ", count: 5000)
        var request = BatchUpdateRequest(entityName: "Item")
        request.predicate = try PredicateNode(format: "value == 7")
        request.propertiesToUpdate = ["text": .value(.string(long))]
        #expect(try store.execute(request).updatedCount == 15)
        request.predicate = nil
        request.propertiesToUpdate = ["price": 1.0]
        #expect(try store.execute(request).updatedCount == 1499)
        request.predicate = try PredicateNode(format: "value == 7")
        request.propertiesToUpdate = [
            "other": .expression(try ExpressionNode(format: "uppercase:(text)"))
        ]
        #expect(try store.execute(request).updatedCount == 15)
        let texts = try values(store, "text", as: String?.self)
        let others = try values(store, "other", as: String?.self)
        #expect(texts[107] == long && others[107] == long.uppercased() && others[108] == nil)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }
}
