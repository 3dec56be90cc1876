// Objects by their keys, inserted where there are none: what is found, and what is asked for it.

import Cairn
import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Synchronization
import Testing

@testable import CairnObjects

@Suite("Finding objects by key, or inserting them")
struct FindingOrInsertingTests {
    private func find(_ context: ManagedObjectContext, _ code: String?) throws -> (
        object: ManagedObject, isNew: Bool
    ) {
        try context.findOrInsert(entityName: "Product", key: ["serialCode": code as Any])
    }

    @Test(
        "A stored object is found, another one inserted with its key and found from then on",
        arguments: Backend.allCases)
    func storedAndNew(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { [$0.make("Product", ["serialCode": "a", "name": "x"])] }
        let context = stack.context()
        let stored = try find(context, "a")
        #expect(stored.object.objectID == ids[0] && !stored.isNew)
        #expect(stored.object.string("name") == "x" && !context.hasChanges)
        let new = try find(context, "b")
        #expect(new.isNew && new.object.isInserted && new.object.string("serialCode") == "b")
        let again = try find(context, "b")
        #expect(again.object === new.object && !again.isNew)
        try context.save()
        #expect(try find(context, "b").object === new.object)
        #expect(try find(stack.context(), "b").object.objectID == new.object.objectID)
    }

    @Test(
        "Unsaved values count: who has taken a key is found by it, who has given it up or is deleted is not",
        arguments: Backend.allCases)
    func unsavedValues(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            ["a", "b", "c"].map { context.make("Product", ["serialCode": $0, "name": $0]) }
        }
        let context = stack.context()
        let a = try find(context, "a").object
        let b = try find(context, "b").object
        let c = try find(context, "c").object
        // The index is there before the edits, and after them.
        let other = try find(context, "other").object
        a["serialCode"] = "z"
        context.delete(b)
        #expect(try find(context, "z").object === a)
        let newA = try find(context, "a")
        let newB = try find(context, "b")
        #expect(newA.isNew && newA.object !== a && newB.isNew && newB.object !== b)
        #expect(try find(context, "c").object === c)
        other["serialCode"] = "y"
        other["serialCode"] = "x"
        #expect(try find(context, "x").object === other && find(context, "y").isNew)
        context.delete(newA.object)
        #expect(try find(context, "a").isNew)
        context.rollback()
        #expect(try find(context, "a").object === a && !find(context, "b").isNew)
        #expect(try find(context, "z").isNew)
    }

    @Test(
        "Values that come by undo, by a refresh and by a rollback of the object count",
        arguments: Backend.allCases)
    func otherWays(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "a", "name": "x"])] }
        let context = stack.context()
        context.undoHistory = UndoHistory()
        let a = try find(context, "a").object
        a["note"] = "changed"
        context.processPendingChanges()
        a["serialCode"] = "b"
        #expect(try find(context, "b").object === a)
        context.undo()
        #expect(try find(context, "a").object === a)
        context.redo()
        #expect(try find(context, "b").object === a && find(context, "a").isNew)
        context.refresh(a, mergeChanges: false)
        #expect(try find(context, "b").isNew)
    }

    @Test("Many keys: in their order, one object for one key", arguments: Backend.allCases)
    func many(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            ["a", "b"].map { context.make("Product", ["serialCode": $0]) }
                + [context.make("Product", ["name": "without"])]
        }
        let context = stack.context()
        let moved = try find(context, "b").object
        moved["serialCode"] = "d"
        let codes: [String?] = ["c", "a", "c", "d", "b", nil, "a", nil]
        let found = try context.findOrInsert(
            entityName: "Product", keys: codes.map { ["serialCode": $0 as Any] })
        #expect(found.map { $0.object.string("serialCode") } == codes)
        #expect(found.map(\.isNew) == [true, false, false, false, true, false, false, false])
        #expect(found[0].object === found[2].object && found[1].object === found[6].object)
        #expect(found[3].object === moved && found[5].object.string("name") == "without")
        #expect(found[5].object === found[7].object)
        #expect(try context.findOrInsert(entityName: "Product", keys: []).isEmpty)
    }

    @Test("Keys of several properties, a relationship among them", arguments: Backend.allCases)
    func compound(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            let shop = context.make("Shop", ["name": "one"])
            return [
                context.make("Recipe", ["source": "web", "externalID": "1", "title": "soup"]),
                context.make("Recipe", ["source": "book", "externalID": "2"]),
                context.make("Product", ["name": "x", "shop": shop]),
            ]
        }
        let context = stack.context()
        let keys: [[String: Any]] = [
            ["source": "web", "externalID": "1"], ["externalID": "2", "source": "web"],
            ["source": "book", "externalID": "2"], ["externalID": "2", "source": "web"],
        ]
        let recipes = try context.findOrInsert(entityName: "Recipe", keys: keys)
        #expect(recipes.map(\.isNew) == [false, true, false, false])
        #expect(recipes[0].object.string("title") == "soup")
        #expect(recipes[1].object === recipes[3].object)
        #expect(recipes[1].object.string("source") == "web")
        // No constraint is over these.
        let shop = try context.findOrInsert(entityName: "Shop", key: ["name": "one"]).object
        let newShop = try context.findOrInsert(entityName: "Shop", key: ["name": "two"]).object
        let products = try context.findOrInsert(
            entityName: "Product",
            keys: [
                ["name": "x", "shop": shop], ["name": "x", "shop": newShop],
                ["name": "y", "shop": shop.objectID], ["name": "x", "shop": ObjectID?.none as Any],
            ])
        #expect(products.map(\.isNew) == [false, true, true, true])
        #expect(products[1].object.object("shop") === newShop)
        #expect(newShop.members("products") == [products[1].object])
        #expect(products[2].object.object("shop") === shop)
        try context.save()
        let again = try context.findOrInsert(
            entityName: "Product", key: ["name": "x", "shop": newShop])
        #expect(again.object === products[1].object)
    }

    @Test(
        "Of several objects those with unsaved changes come first, then the least id, new ones last",
        arguments: Backend.allCases)
    func several(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<3).map { _ in context.make("Product", ["name": "x"]) }
        }
        let context = stack.context()
        func found() throws -> ManagedObject {
            try context.findOrInsert(entityName: "Product", key: ["name": "x"]).object
        }
        #expect(try found().objectID == ids[0])
        let new = context.make("Product", ["name": "x"])
        #expect(try found() === new)
        context.object(with: ids[2])["note"] = "changed"
        #expect(try found().objectID == ids[2])
        context.object(with: ids[1])["name"] = "y"
        context.delete(context.object(with: ids[2]))
        context.delete(new)
        #expect(try found().objectID == ids[0])
    }

    @Test("Objects of descendants are found; an abstract entity is not inserted")
    func descendants() throws {
        let stack = try Stack(Models.vehicles, .log)
        try stack.store { [$0.make("SportCar", ["numberPlate": "A"])] }
        let context = stack.context()
        let sport = try context.findOrInsert(entityName: "Car", key: ["numberPlate": "A"])
        #expect(!sport.isNew && sport.object.entity.name == "SportCar")
        let truck = context.make("Truck", ["numberPlate": "B"])
        let found = try context.findOrInsert(entityName: "Car", key: ["numberPlate": "B"])
        #expect(found.object === truck && !found.isNew)
        // A truck is no sport car.
        #expect(try context.findOrInsert(entityName: "SportCar", key: ["numberPlate": "B"]).isNew)
        var model = Models.vehicles
        model.entities[0].isAbstract = true
        let other = try Stack(model, .log).context()
        #expect(
            storeError {
                _ = try other.findOrInsert(entityName: "Car", key: ["numberPlate": "A"])
            }?.code == .invalidRequest)
        #expect(!other.hasChanges)
    }

    @Test(
        "Contexts over contexts: what is unsaved in the one below counts, and what is unsaved above comes before it",
        arguments: Backend.allCases)
    func families(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            ["a", "b", "c"].map { context.make("Product", ["serialCode": $0]) }
        }
        let parent = stack.context()
        let child = ManagedObjectContext(parent: parent)
        let new = try find(parent, "new").object
        parent.object(with: ids[0])["serialCode"] = "A"
        parent.delete(parent.object(with: ids[1]))
        #expect(try find(child, "new").object.objectID == new.objectID)
        #expect(try find(child, "A").object.objectID == ids[0])
        #expect(try find(child, "c").object.objectID == ids[2])
        #expect(try find(child, "a").isNew && find(child, "b").isNew)
        child.object(with: ids[0])["serialCode"] = "AA"
        #expect(try find(child, "AA").object.objectID == ids[0] && find(child, "A").isNew)
        #expect(try find(parent, "A").object.objectID == ids[0])
        try child.save()
        #expect(try !find(parent, "b").isNew && find(parent, "AA").object.objectID == ids[0])
        #expect(try find(parent, "A").object.objectID != ids[0])
        try parent.save()
    }

    @Test(
        "A constraint without regard to case, and about some of the objects only, says what the same key is",
        arguments: Backend.allCases)
    func rules(_ backend: Backend) throws {
        let rule = UniquenessRule(
            ["name"], format: "deletedAt == nil", nilsAreEqual: true, caseInsensitive: true)
        let stack = try Stack(AccountModel.model([rule]), backend)
        let ids = try stack.store { context in
            [
                context.make("Account", ["name": "Anna", "deletedAt": AccountModel.moment]),
                context.make("Account", ["name": "ANNA"]),
                context.make("Account", ["name": "bo", "deletedAt": AccountModel.moment]),
                context.make("Account"),
            ]
        }
        let context = stack.context()
        func found(_ name: String?) throws -> (object: ManagedObject, isNew: Bool) {
            try context.findOrInsert(entityName: "Account", key: ["name": name as Any])
        }
        #expect(try found("anna").object.objectID == ids[1])
        #expect(try found(nil).object.objectID == ids[3])
        let bo = try found("Bo")
        #expect(bo.isNew && bo.object.string("name") == "Bo")
        #expect(try found("bO").object === bo.object)
        // Who takes part is decided by values, too.
        bo.object["deletedAt"] = AccountModel.moment
        #expect(try found("bo").isNew)
        context.object(with: ids[1])["deletedAt"] = AccountModel.moment
        let names = ["ANNA", "bo", "anna", "c", "C"]
        let all = try context.findOrInsert(
            entityName: "Account", keys: names.map { ["name": $0] })
        #expect(all.map(\.isNew) == [true, false, false, true, false])
        #expect(all[0].object === all[2].object && all[3].object === all[4].object)
        try context.save()
    }

    @Test("Somebody else's object with the key is met at the save, by the merge policy")
    func meeting() throws {
        let stack = try Stack(Models.shop, .log)
        let context = stack.context(.mergeByPropertyObjectTrump)
        let (mine, isNew) = try find(context, "a")
        mine["name"] = "mine"
        let ids = try stack.store { [$0.make("Product", ["serialCode": "a", "stock": 3])] }
        // It goes on to be the object of that key here.
        #expect(try isNew && find(context, "a").object === mine)
        try context.save()
        let stored = try find(context, "a").object
        #expect(stored.objectID == ids[0] && stored.string("name") == "mine")
        #expect(stored.int("stock") == 3 || stored["stock"] == nil)
    }

    @Test("What cannot be a key is an error that names it, and nothing is inserted")
    func wrongKeys() throws {
        let context = try Stack(Models.shop, .log).context()
        func key(_ key: [String: Any], _ entity: String = "Product") -> String? {
            let error = storeError {
                _ = try context.findOrInsert(
                    entityName: entity, keys: [["serialCode": "new"], key].suffix(1))
            }
            #expect(error?.code == .invalidRequest)
            return error?.context.key
        }
        #expect(key(["colour": 1]) == "colour")
        #expect(key(["tags": 1]) == "tags")
        #expect(key(["stock": "many"]) == "stock")
        #expect(key(["price": Double.nan]) == "price")
        #expect(key(["shop": "one", "name": "x"]) == "shop")
        #expect(key([:]) == nil)
        #expect(key(["name": 1], "Nothing") == nil)
        let product = context.make("Product")
        #expect(key(["name": "x", "shop": product]) == "shop")
        context.delete(product)
        let mixed = storeError {
            _ = try context.findOrInsert(
                entityName: "Product", keys: [["serialCode": "a"], ["name": "b"]])
        }
        #expect(mixed?.code == .invalidRequest)
        context.processPendingChanges()
        #expect(!context.hasChanges)
    }

    @Test("Classes: by key path, by several, and many at once")
    func typed() throws {
        let container = try Self.container()
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let (tag, isNew) = try context.findOrInsert(TypedTag.self, \.label, "red")
        #expect(isNew && tag.label == "red")
        let tags = try context.findOrInsert(TypedTag.self, \.label, in: ["blue", "red", "blue"])
        #expect(tags.map(\.isNew) == [true, false, false])
        #expect(tags[1].object === tag && tags[0].object === tags[2].object)
        let product = try context.findOrInsert(
            TypedProduct.self, key: [\.name: "x", \.category: String?.none as Any])
        #expect(product.isNew && product.object.name == "x" && product.object.category == nil)
        product.object.serialCode = "1"
        let optional = try context.findOrInsert(TypedProduct.self, \.category, nil)
        #expect(optional.object === product.object)
        let maker = try context.findOrInsert(TypedMaker.self, \.name, "m").object
        let made = try context.findOrInsert(
            TypedProduct.self, keys: [[\.serialCode: "2", \.maker: maker]])
        #expect(made[0].isNew && made[0].object.maker === maker)
        try context.save()
        let other = ManagedObjectContext(store: container.store, classes: container.classes)
        #expect(
            try other.findOrInsert(TypedTag.self, \.label, "red").object.objectID == tag.objectID)
        let address = storeError {
            _ = try other.findOrInsert(TypedProduct.self, \.tags, [])
        }
        #expect(address?.code == .invalidRequest)
    }

    private static func container() throws -> PersistentContainer {
        try PersistentContainer(
            inMemoryFor: TypedProduct.self, TypedTag.self, TypedMaker.self)
    }

    // MARK: Work

    @Test(
        "The store is asked once for many keys, and the changed objects of the entity are looked at once, not for each key"
    )
    func work() throws {
        let store = CountingStore(try Backend.log.makeStore(Schema(Models.shop)))
        let stack = Stack(store: store)
        try stack.store { context in
            (0..<50).map { context.make("Product", ["serialCode": "\($0)"]) }
        }
        let context = stack.context()
        for number in 0..<100 { context.make("Product", ["serialCode": "new \(number)"]) }
        for number in 0..<40 { context.make("Tag", ["label": "\(number)"]) }
        var reads = store.reads
        _ = try context.findOrInsert(
            entityName: "Product", keys: (0..<70).map { ["serialCode": "\($0)"] })
        #expect(store.reads == reads + 1)
        #expect(context.changed.keys?.notes == 100)
        // Those that have come are looked at once; what is here is not asked for.
        reads = store.reads
        for number in 0..<100 {
            _ = try find(context, "new \(number)")
            _ = try find(context, "\(50 + number % 20)")
        }
        #expect(store.reads == reads)
        #expect(context.changed.keys?.notes == 120)
        // An edit costs one more look at its object, be it edited many times.
        let one = try find(context, "new 7").object
        for number in 0..<10 { one["serialCode"] = "moved \(number)" }
        #expect(try find(context, "moved 9").object === one)
        #expect(context.changed.keys?.notes == 121)
        // One question for each key that nothing here answers.
        reads = store.reads
        for number in 0..<10 { _ = try find(context, "unknown \(number)") }
        #expect(store.reads == reads + 10)
        #expect(context.changed.keys?.notes == 130)
        try context.save()
        #expect(context.changed.keys == nil)
    }

    @Test("Of many objects that have no key, or the same one, the first are enough")
    func manyWithOneKey() throws {
        let limits = Mutex<[Int?]>([])
        let store = CountingStore(try Backend.log.makeStore(Schema(Models.shop))) { question in
            limits.withLock { $0.append(question.limit) }
        }
        let stack = Stack(store: store)
        let ids = try stack.store { context in
            (0..<50).map { context.make("Product", ["name": "\($0)"]) }
                + [context.make("Product", ["serialCode": "a"])]
                + (0..<50).map { context.make("Recipe", ["source": "\($0)"]) }
        }
        let context = stack.context()
        limits.withLock { $0 = [] }
        let rows = store.rows
        // Nil among other keys: of one property, and of a constraint over several.
        let found = try context.findOrInsert(
            entityName: "Product",
            keys: [["serialCode": "a"], ["serialCode": String?.none as Any], ["serialCode": "b"]])
        #expect(found.map(\.isNew) == [false, false, true])
        #expect(found[1].object.objectID == ids[0])
        #expect(limits.withLock { $0 } == [nil, 1] && store.rows - rows == 2)
        limits.withLock { $0 = [] }
        _ = try context.findOrInsert(
            entityName: "Recipe",
            keys: ["1", "2"].map { ["source": $0, "externalID": String?.none as Any] })
        #expect(limits.withLock { $0 } == [2, 2])
        // Unsaved ones with one key are not put into order for the first of them.
        for _ in 0..<300 { context.make("Tag", ["label": "same"]) }
        let tag = try context.findOrInsert(entityName: "Tag", key: ["label": "same"])
        #expect(!tag.isNew && (context.changed.keys?.compares ?? .max) < 300)
    }

    @Test("Objects that leave the changed ones are not kept alive")
    func lifetimes() throws {
        let context = try Stack(Models.shop, .log).context()
        weak var weakly: ManagedObject?
        do {
            let new = try find(context, "a").object
            _ = try find(context, "b")
            new["serialCode"] = "c"
            context.delete(new)
            context.processPendingChanges()
            weakly = new
        }
        #expect(weakly == nil)
        do {
            weakly = try find(context, "b").object
            context.rollback()
        }
        #expect(weakly == nil)
    }
}
