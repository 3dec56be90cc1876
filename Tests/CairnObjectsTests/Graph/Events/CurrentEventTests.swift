// What an object was before the run of edits that is under way.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("What an object was before the present event")
struct CurrentEventTests {
    @Test(
        "The values are those from before the run, whatever was edited in earlier ones",
        arguments: Backend.allCases)
    func earlierValues(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "stored", "price": 1.0])] }[0]
        let context = stack.context()
        let object = context.object(with: id)
        #expect(object.changedValuesForCurrentEvent().isEmpty)
        #expect(object.isFault)
        object["name"] = "first"
        object["name"] = "second"
        object["note"] = "note"
        var changes = object.changedValuesForCurrentEvent()
        #expect(changes.keys.sorted() == ["name", "note"])
        #expect(changes["name"] as? String == "stored")
        #expect((changes["note"] ?? 1) == nil)
        context.processPendingChanges()
        #expect(object.changedValuesForCurrentEvent().isEmpty)
        object["name"] = "third"
        changes = object.changedValuesForCurrentEvent()
        #expect(changes.keys.sorted() == ["name"])
        #expect(changes["name"] as? String == "second")
        // Back to what is stored: a change of this run, though none since the object was read.
        object["name"] = "stored"
        #expect(object.changedValuesForCurrentEvent()["name"] as? String == "second")
        object["name"] = "second"
        #expect(object.changedValuesForCurrentEvent().isEmpty)
        object["note"] = nil
        #expect(object.changedValuesForCurrentEvent()["note"] as? String == "note")
        #expect(object.changedValues().keys.sorted() == ["name"])
    }

    @Test(
        "They are there while the run is told of, and gone with that", arguments: Backend.allCases)
    func whileTold(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<2).map { context.make("Product", ["name": "stored \($0)"]) }
        }
        let context = stack.context()
        let seen = Mutex<[String: String]>([:])
        let recorder = NotificationRecorder(context) { kind, notification in
            guard kind == .didChange else { return }
            for object in notification.objects(.updatedObjects) {
                // An edit by the observer is seen too, but does not hide what was there before.
                object["note"] = "observed"
                let old = object.changedValuesForCurrentEvent()["name"] as? String
                let present = object.string("name") ?? ""
                seen.withLock { $0[present] = old ?? "nothing" }
            }
        }
        let objects = ids.map { context.object(with: $0) }
        objects[0]["name"] = "a"
        context.processPendingChanges()
        #expect(seen.withLock { $0 } == ["a": "stored 0"])
        seen.withLock { $0 = [:] }
        objects[0]["name"] = "b"
        objects[1]["name"] = "c"
        context.processPendingChanges()
        #expect(seen.withLock { $0 } == ["b": "a", "c": "stored 1"])
        #expect(recorder.take().count == 2)
        // What the observer has set is the next run.
        #expect(objects[0].changedValuesForCurrentEvent().isEmpty)
        #expect(objects[1].changedValuesForCurrentEvent().keys.sorted() == ["note"])
    }

    @Test(
        "What was set on a new object was nothing before; later it is what it was",
        arguments: Backend.allCases)
    func newObjects(_ backend: Backend) throws {
        let stack = try Stack(
            ManagedObjectModel(for: [TypedProduct.self, TypedTag.self, TypedMaker.self]), backend,
            classes: ObjectClasses(for: TypedProduct.self, TypedTag.self, TypedMaker.self))
        let context = stack.context()
        let product = TypedProduct(context: context)
        product.name = "first"
        product.stock = 1
        var changes = product.changedValuesForCurrentEvent()
        #expect(changes.keys.contains("name") && changes.keys.contains("stock"))
        #expect(changes.values.allSatisfy { $0 == nil })
        context.processPendingChanges()
        #expect(product.changedValuesForCurrentEvent().isEmpty)
        // The way of accessors of new objects.
        product.stock = 2
        product.stock = 3
        product.name = "second"
        product.price = 5
        changes = product.changedValuesForCurrentEvent()
        #expect(changes.keys.sorted() == ["name", "price", "stock"])
        #expect(changes["stock"] as? Int == 1)
        #expect(changes["name"] as? String == "first")
        #expect(changes["price"] as? Double == 0)
        context.processPendingChanges()
        product.name = "third"
        #expect(product.changedValuesForCurrentEvent()["name"] as? String == "second")
        product.serialCode = "s"
        try context.save()
        #expect(product.changedValuesForCurrentEvent().isEmpty)
        product.name = "fourth"
        #expect(product.changedValuesForCurrentEvent()["name"] as? String == "third")
        #expect(product.name == "fourth")
    }

    @Test("Relationships are what they led to before", arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shops = ["a", "b"].map { context.make("Shop", ["name": $0]) }
            let tags = ["x", "y", "z"].map { context.make("Tag", ["label": $0]) }
            let product = context.make(
                "Product", ["shop": shops[0], "tags": Set(tags[..<2])])
            return [product] + shops + tags
        }
        let context = stack.context()
        let objects = ids.map { context.object(with: $0) }
        let (product, first, second) = (objects[0], objects[1], objects[2])
        let tags = Array(objects[3...])
        product["shop"] = second
        product["tags"] = Set(tags[1...])
        var changes = product.changedValuesForCurrentEvent()
        #expect(changes.keys.sorted() == ["shop", "tags"])
        #expect(changes["shop"] as? ManagedObject === first)
        #expect(changes["tags"] as? Set<ManagedObject> == Set(tags[..<2]))
        #expect(
            second.changedValuesForCurrentEvent()["products"] as? Set<ManagedObject> == [])
        #expect(
            first.changedValuesForCurrentEvent()["products"] as? Set<ManagedObject> == [product])
        #expect(tags[1].changedValuesForCurrentEvent().isEmpty)
        context.processPendingChanges()
        product["shop"] = nil
        product.remove(tags[2], from: "tags")
        changes = product.changedValuesForCurrentEvent()
        #expect(changes["shop"] as? ManagedObject === second)
        #expect(changes["tags"] as? Set<ManagedObject> == Set(tags[1...]))
        #expect(
            second.changedValuesForCurrentEvent()["products"] as? Set<ManagedObject> == [product])
        #expect(first.changedValuesForCurrentEvent().isEmpty)
    }

    @Test(
        "Of transient properties and primitive values nothing is said", arguments: Backend.allCases)
    func unsaid(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        let id = try stack.store { [$0.make("Thing")] }[0]
        let context = stack.context()
        let object = context.object(with: id)
        object["cache"] = "full"
        object.setPrimitiveValue(7, forKey: "small")
        #expect(object.changedValuesForCurrentEvent().isEmpty)
        object["large"] = 8
        #expect(object.changedValuesForCurrentEvent().keys.sorted() == ["large"])
        context.processPendingChanges()
        object["cache"] = "fuller"
        object.setPrimitiveValue(9, forKey: "small")
        #expect(object.changedValuesForCurrentEvent().isEmpty)
    }

    @Test(
        "A related object that got its permanent id, or never came to be, is what it was before",
        arguments: Backend.allCases)
    func renamed(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let (first, second) = (context.make("Shop"), context.make("Shop"))
        let tag = context.make("Tag")
        let product = context.make("Product", ["shop": first, "tags": Set([tag])])
        context.processPendingChanges()
        product["shop"] = second
        product["tags"] = Set<ManagedObject>()
        try context.obtainPermanentIDs(for: [first, tag, second])
        var changes = product.changedValuesForCurrentEvent()
        #expect(changes.keys.sorted() == ["shop", "tags"])
        #expect(changes["shop"] as? ManagedObject === first)
        #expect(changes["tags"] as? Set<ManagedObject> == [tag])
        context.processPendingChanges()
        let third = context.make("Shop")
        product["shop"] = third
        context.processPendingChanges()
        product["shop"] = first
        context.delete(third)
        changes = product.changedValuesForCurrentEvent()
        #expect(changes["shop"] as? ManagedObject === third)
        context.delete(first)
        #expect(product.changedValuesForCurrentEvent().keys.sorted() == ["shop"])
        context.rollback()
        #expect(product.changedValuesForCurrentEvent().isEmpty)
    }

    @Test(
        "Random runs tell each object's values as they were before the run",
        arguments: Backend.allCases)
    func randomly(_ backend: Backend) throws {
        for seed in RandomSource.seeds(4) {
            var random = RandomSource(seed: seed)
            let stack = try Stack(Models.shop, backend)
            let ids = try stack.store { context in
                (0..<4).map { (number: Int) in
                    context.make("Product", ["name": "\(number)", "stock": number])
                }
            }
            let context = stack.context()
            var objects = ids.map { context.object(with: $0) }
            let keys = ["name", "note", "stock", "price"]
            func state(_ object: ManagedObject) -> [String: String] {
                Dictionary(
                    uniqueKeysWithValues: keys.map { ($0, object[$0].map { "\($0)" } ?? "nil") })
            }
            func text(_ value: Any??) -> String { (value ?? nil).map { "\($0)" } ?? "nil" }
            var before = objects.map(state)
            for step in 0..<200 {
                switch random.below(12) {
                case 0:
                    context.processPendingChanges()
                    before = objects.map(state)
                case 1 where random.chance(30):
                    try context.save()
                    before = objects.map(state)
                case 2 where objects.count < 8:
                    // New ones are compared from the run after theirs on.
                    objects.append(context.make("Product", ["name": "new"]))
                    context.processPendingChanges()
                    before = objects.map(state)
                default:
                    let object = objects[random.below(objects.count)]
                    switch random.below(4) {
                    case 0: object["name"] = "n\(random.below(3))"
                    case 1: object["note"] = random.chance(40) ? nil : "t\(random.below(2))"
                    case 2: object["stock"] = random.below(3)
                    default: object["price"] = Double(random.below(3))
                    }
                }
                for (object, old) in zip(objects, before) {
                    let now = state(object)
                    let expected = old.filter { $0.value != now[$0.key] }
                    let told = object.changedValuesForCurrentEvent().mapValues { text($0) }
                    #expect(told == expected, "seed \(seed), step \(step)")
                }
            }
        }
    }
}
