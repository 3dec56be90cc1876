// Saves of many new objects, which a store may take as columns: whatever way they go, the same is stored and the objects
// show the same; so it is behind a coordinator of one store.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Saving many new objects at once")
struct NewObjectsTests {
    @Test(
        "goes by columns if there is nothing else to be saved, and by the planner if there is",
        arguments: [false, true])
    func ways(isCoordinated: Bool) throws {
        let store = CountingStore(try Backend.log.makeStore(Schema(Models.shop)))
        let stack = try Stack(store: store, isCoordinated: isCoordinated)
        let context = stack.context()
        func make(_ range: Range<Int>) -> [ManagedObject] {
            range.map { context.make("Product", ["serialCode": "\($0)"]) }
        }
        let shop = context.make("Shop", ["name": "shop"])
        for product in make(0..<40) { product["shop"] = shop }
        try context.save()
        #expect(store.columnSaves == 1 && store.saves == 0)
        // The shop has new members, but nothing of it is written.
        for product in make(40..<80) { product["shop"] = shop }
        try context.save()
        #expect(store.columnSaves == 2 && store.saves == 0)
        _ = make(80..<82)
        try context.save()
        #expect(store.columnSaves == 2 && store.saves == 1)
        shop["name"] = "other"
        _ = make(100..<140)
        try context.save()
        #expect(store.columnSaves == 2 && store.saves == 2)
        let tag = context.make("Tag", ["label": "tag"])
        for product in make(140..<180) { product["tags"] = [tag] as Set }
        try context.save()
        #expect(store.columnSaves == 2 && store.saves == 3)
        #expect(shop.members("products").count == 80 && tag.members("products").count == 40)
        // A key that is taken: the planner says so.
        _ = make(179..<220)
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        #expect(store.columnSaves == 2)
    }

    @Test(
        "stores every kind of value, set or not, and the objects show it before and after",
        arguments: [false, true])
    func values(isCoordinated: Bool) throws {
        let stack = try Stack(Models.values, .log, isCoordinated: isCoordinated)
        let context = stack.context()
        var random = RandomSource()
        var expected: [[String: any Hashable & Sendable]] = []
        var things: [ManagedObject] = []
        for number in 0..<3000 {
            let thing = context.insert("Thing")
            var values: [String: any Hashable & Sendable] = ["large": number]
            func maybe(_ key: String, _ value: any Hashable & Sendable) {
                if Bool.random(using: &random) { values[key] = value }
            }
            maybe("small", number % 1000 - 500)
            maybe("exact", Decimal(number) / 8)
            maybe("ratio", Double(number) / 3)
            maybe("short", Float(number) / 4)
            maybe("flag", number % 3 == 0)
            maybe("bytes", Data(repeating: UInt8(number & 255), count: number % 90))
            maybe("uuid", UUID())
            maybe("link", URL(string: "https://example.org/\(number)")!)
            maybe("needed", String(repeating: "n", count: number % 40))
            maybe("day", Date(timeIntervalSinceReferenceDate: Double(number % 1000)))
            maybe("color.primary", "blue \(number)")
            for (key, value) in values { thing[key] = value }
            values["needed"] = values["needed"] ?? "x"
            expected.append(values)
            things.append(thing)
        }
        func check(_ thing: ManagedObject, _ values: [String: any Hashable & Sendable]) {
            for key in [
                "large", "small", "exact", "ratio", "short", "flag", "bytes", "uuid", "link",
                "needed", "day", "color.primary", "color.shade", "size",
            ] {
                let found = (thing[key] as? any Hashable).map { AnyHashable($0) }
                #expect(found == values[key].map { AnyHashable($0) }, "\(key), seed \(random.seed)")
            }
        }
        for (thing, values) in zip(things, expected) { check(thing, values) }
        try context.save()
        #expect(!context.hasChanges)
        for (thing, values) in zip(things, expected) {
            #expect(!thing.objectID.isTemporary && !thing.hasChanges)
            #expect(thing.changedValues().isEmpty && !thing.hasPersistentChangedValues)
            check(thing, values)
        }
        let other = stack.context()
        let stored = try other.all("Thing")
        #expect(stored.map(\.objectID) == things.map(\.objectID))
        for (thing, values) in zip(stored, expected) { check(thing, values) }
    }

    @Test(
        "keeps references among the new ones, and to those that are stored",
        arguments: Backend.allCases, [false, true])
    func references(_ backend: Backend, isCoordinated: Bool) throws {
        let stack = try Stack(Models.shop, backend, isCoordinated: isCoordinated)
        let first = try stack.store { [$0.make("Shop", ["name": "first"])] }[0]
        let context = stack.context()
        let old = context.object(with: first)
        var shops = [old]
        for number in 0..<100 {
            // Some products lead to shops that are made after them.
            let product = context.make("Product", ["serialCode": "\(number)"])
            if number % 10 == 0 { shops.append(context.make("Shop", ["name": "\(number)"])) }
            product["shop"] = shops[number % shops.count]
        }
        let names = try context.all("Product").map { $0.object("shop")?.string("name") }
        try context.save()
        let temporary = context.registeredObjects.filter { $0.objectID.isTemporary }
        #expect(temporary.isEmpty)
        #expect(try context.all("Product").map { $0.object("shop")?.string("name") } == names)
        #expect(
            old.members("products").count == names.count { $0 == "first" })

        let other = stack.context()
        let products = try other.all("Product")
        #expect(products.map { $0.object("shop")?.string("name") } == names)
        for shop in try other.all("Shop") {
            #expect(shop.members("products").count == names.count { $0 == shop.string("name") })
        }
    }

    @Test("an object is edited, deleted and refreshed after it as if it had been read")
    func afterwards() throws {
        let stack = try Stack(Models.shop, .log)
        let context = stack.context()
        let products = (0..<50).map {
            context.make("Product", ["serialCode": "\($0)", "price": Double($0)])
        }
        try context.save()
        products[3]["price"] = 99.0
        #expect(products[3].committedValues(forKeys: ["price"])["price"] as? Double == 3)
        #expect(products[3].changedValues().keys.sorted() == ["price"])
        products[3]["price"] = 3.0
        #expect(!products[3].hasPersistentChangedValues)
        products[4]["price"] = 44.0
        products[4]["note"] = "a"
        context.delete(products[5])
        context.refresh(products[6], mergeChanges: false)
        #expect(products[6].isFault && products[6]["price"] as? Double == 6)
        try context.save()
        let other = stack.context()
        #expect(try other.count("Product") == 49)
        #expect(try other.find("Product", "serialCode", .string("4"))[0]["price"] as? Double == 44)

        // The version that the object knows is the stored one.
        let same = try other.find("Product", "serialCode", .string("7"))[0]
        same["price"] = 70.0
        try other.save()
        products[7]["price"] = 71.0
        #expect(storeError { try context.save() }?.code == .mergeConflict)
        context.rollback()
        #expect(products[7]["price"] as? Double == 70)
    }

    @Test(
        "a key that is stored, or that two of them have, fails the save and loses nothing",
        arguments: [false, true])
    func conflicts(isCoordinated: Bool) throws {
        let stack = try Stack(Models.shop, .log, isCoordinated: isCoordinated)
        try stack.store { [$0.make("Product", ["serialCode": "7"])] }
        let context = stack.context()
        let products = (0..<40).map { context.make("Product", ["serialCode": "\($0)"]) }
        let error = storeError { try context.save() }
        #expect(error?.code == .constraintConflict)
        #expect(error?.violations.map(\.objects) == [[products[7].objectID]])
        #expect(context.insertedObjects == products)
        products[7]["serialCode"] = "39"
        #expect(storeError { try context.save() }?.violations.map(\.objects.count) == [2])
        products[7]["serialCode"] = "forty"
        try context.save()
        #expect(try stack.context().count("Product") == 41)
    }

    @Test("a mandatory value that is missing is named, and nothing is stored")
    func mandatory() throws {
        let stack = try Stack(Models.shop, .log)
        let context = stack.context()
        let products = (0..<40).map { context.make("Product", ["serialCode": "\($0)"]) }
        products[20]["name"] = nil
        let error = storeError { try context.save() }
        #expect(error?.code == .missingMandatory && error?.context.key == "name")
        #expect(error?.context.objectID == products[20].objectID)
        #expect(try stack.context().count("Product") == 0)
    }

    @Test(
        "a reference to an object that somebody else has deleted leads nowhere",
        arguments: Backend.allCases, [false, true])
    func deletedTarget(_ backend: Backend, isCoordinated: Bool) throws {
        let stack = try Stack(Models.shop, backend, isCoordinated: isCoordinated)
        let id = try stack.store { [$0.make("Shop", ["name": "gone"])] }[0]
        let context = stack.context()
        let shop = context.object(with: id)
        let products = (0..<40).map {
            context.make("Product", ["serialCode": "\($0)", "shop": shop])
        }
        let other = stack.context()
        other.delete(other.object(with: id))
        try other.save()
        context.shouldDeleteInaccessibleFaults = true
        try context.save()
        #expect(products.allSatisfy { $0.object("shop") == nil })
        #expect(try stack.context().all("Product").allSatisfy { $0.object("shop") == nil })
    }

    @Test("values of more than a block's bytes, and texts with frames of their own")
    func large() throws {
        let stack = try Stack(Models.shop, .log)
        let context = stack.context()
        for number in 0..<200 {
            context.make(
                "Product",
                [
                    "serialCode": "\(number)",
                    "note": String(repeating: "é\(number)", count: number * 37),
                ])
        }
        try context.save()
        for product in try stack.context().all("Product") {
            let number = Int(product.string("serialCode") ?? "") ?? 0
            #expect(product.string("note") == String(repeating: "é\(number)", count: number * 37))
        }
    }

    @Test(
        "objects of several entities of one hierarchy keep the order of their creation in their ids",
        arguments: [false, true])
    func hierarchy(isCoordinated: Bool) throws {
        let stack = try Stack(Models.vehicles, .log, isCoordinated: isCoordinated)
        let context = stack.context()
        let entities = ["Car", "SportCar", "ExpensiveSportCar", "Truck"]
        let cars = (0..<60).map {
            context.make(entities[$0 * 7 % 4], ["numberPlate": "\($0)"])
        }
        try context.save()
        #expect(cars.map(\.objectID.reference) == cars.map(\.objectID.reference).sorted())
        let stored = try stack.context().all("Car")
        #expect(stored.map(\.entity.name) == cars.map(\.entity.name))
        // The parent's constraint holds over all of them.
        for entity in entities { context.make(entity, ["numberPlate": "12"]) }
        for number in 100..<120 { context.make("Car", ["numberPlate": "\(number)"]) }
        #expect(storeError { try context.save() }?.code == .constraintConflict)
    }

    @Test(
        "random graphs: both backends store the same, also behind a coordinator", arguments: 0..<20)
    func random(_ round: UInt64) throws {
        var random = RandomSource()
        var contents: [[String]] = []
        var steps: [(UInt8, Int, Int)] = []
        for _ in 0..<120 {
            steps.append(
                (
                    UInt8.random(in: 0..<9, using: &random), Int.random(in: 0..<40, using: &random),
                    Int.random(in: 0..<60, using: &random)
                ))
        }
        let stacks =
            try Backend.allCases.map { try Stack(Models.shop, $0) }
            + [Stack(Models.shop, .log, isCoordinated: true)]
        for stack in stacks {
            let context = stack.context(.mergeByPropertyObjectTrump)
            var shops: [ManagedObject] = []
            var products: [ManagedObject] = []
            for (kind, one, other) in steps {
                switch kind {
                case 0: shops.append(context.make("Shop", ["name": "\(one)"]))
                case 1...5:
                    let shop = shops.isEmpty ? nil : shops[one % shops.count]
                    let usable = shop.flatMap { $0.managedObjectContext == nil ? nil : $0 }
                    products.append(
                        context.make("Product", ["serialCode": "\(other)", "shop": usable]))
                case 6 where !products.isEmpty:
                    let product = products[other % products.count]
                    if product.managedObjectContext != nil { product["price"] = Double(one) }
                case 7 where one < 4 && !products.isEmpty:
                    let product = products.remove(at: other % products.count)
                    if product.managedObjectContext != nil { context.delete(product) }
                case 8 where one < 6: try context.save()
                default: continue
                }
            }
            try context.save()
            let reader = stack.context()
            contents.append(
                try reader.all("Product", sortedBy: "serialCode").map {
                    "\($0.string("serialCode") ?? "") \($0["price"] ?? "") \($0.object("shop")?.string("name") ?? "-")"
                }
                    + reader.all("Shop", sortedBy: "name").map {
                        "\($0.string("name") ?? "") \($0.members("products").count)"
                    })
        }
        for other in contents.dropFirst() {
            #expect(other == contents[0], "seed \(random.seed)")
        }
    }

    @Test("a hook that sets a value in didSave makes a new change")
    func didSave() throws {
        final class Noting: ManagedObject {
            override func didSave() {
                if self["note"] == nil { self["note"] = "saved" }
            }
        }
        let stack = try Stack(Models.shop, .log, classes: ObjectClasses(["Product": Noting.self]))
        let context = stack.context()
        let products = (0..<30).map { context.make("Product", ["serialCode": "\($0)"]) }
        try context.save()
        #expect(context.updatedObjects.count == 30 && products[0].changedValues().count == 1)
        try context.save()
        #expect(try stack.context().find("Product", "note", .string("saved")).count == 30)
    }
}
