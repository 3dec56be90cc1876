// Hooks and states of objects from insertion to deletion.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

/// Notes what happens to it.
final class Witness: ManagedObject {
    var events: [String] = []
    var nameAtInsert: String?
    var sawShopAtDeletion: Bool?
    var setsOnSave: (key: String, value: Any)?
    var countsUp = false
    var refuses = false

    struct Refusal: Error {}

    override func awakeFromInsert() {
        super.awakeFromInsert()
        events.append("awakeFromInsert")
        nameAtInsert = self["name"] as? String
    }
    override func awakeFromFetch() {
        super.awakeFromFetch()
        events.append("awakeFromFetch")
        self["note"] = "awake"
    }
    override func willSave() {
        events.append("willSave")
        if let setsOnSave { self[setsOnSave.key] = setsOnSave.value }
        if countsUp { self["stock"] = (int("stock") ?? 0) + 1 }
    }
    override func didSave() { events.append("didSave") }
    override func prepareForDeletion() {
        events.append("prepareForDeletion")
        sawShopAtDeletion = self["shop"] != nil
    }
    override func willTurnIntoFault() { events.append("willTurnIntoFault") }
    override func didTurnIntoFault() { events.append("didTurnIntoFault") }
    override func validateForInsert() throws {
        try super.validateForInsert()
        if refuses { throw Refusal() }
    }
}

@Suite("The life of an object")
struct LifecycleTests {
    private func stack(_ backend: Backend) throws -> Stack {
        try Stack(Models.shop, backend, classes: ObjectClasses(["Product": Witness.self]))
    }

    @Test(
        "It awakes from insertion once, its defaults in place (B046)", arguments: Backend.allCases)
    func insertion(_ backend: Backend) throws {
        let context = try stack(backend).context()
        let object = Witness(context: context)
        #expect(object.events == ["awakeFromInsert"])
        #expect(object.nameAtInsert == "")
        #expect(object.isInserted && !object.isUpdated && object.hasChanges && !object.isFault)
        try context.save()
        #expect(object.events == ["awakeFromInsert", "willSave", "didSave"])
    }

    @Test(
        "One made without a context is inserted later and keeps its values",
        arguments: Backend.allCases)
    func late(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let object = Witness(entity: context.entity(named: "Product"), insertInto: nil)
        object["name"] = "early"
        #expect(!object.isInserted && object.managedObjectContext == nil)
        context.insert(object)
        #expect(object.isInserted && object.string("name") == "early")
        try context.save()
        #expect(try stack.context().all("Product").first?.string("name") == "early")
    }

    @Test("What willSave sets is stored (B047)", arguments: Backend.allCases)
    func willSave(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let object = Witness(context: context)
        object.setsOnSave = ("name", "from willSave")
        try context.save()
        #expect(object.events.filter { $0 == "didSave" }.count == 1)
        #expect(try stack.context().all("Product").first?.string("name") == "from willSave")
    }

    @Test("A willSave that never rests fails the save and says why", arguments: Backend.allCases)
    func restless(_ backend: Backend) throws {
        let context = try stack(backend).context()
        let object = Witness(context: context)
        object.countsUp = true
        let error = try #require(storeError { try context.save() })
        #expect(error.message.contains("willSave"))
        #expect(object.int("stock") == 1000)
        #expect(context.hasChanges)
    }

    @Test(
        "An overridden validation blocks the save with its own error",
        arguments: Backend.allCases)
    func validation(_ backend: Backend) throws {
        let context = try stack(backend).context()
        Witness(context: context).refuses = true
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .validation && error.cause is Witness.Refusal)
    }

    @Test("Awaking from a fetch may set values, which are no edits", arguments: Backend.allCases)
    func awakening(_ backend: Backend) throws {
        let stack = try stack(backend)
        let id = try stack.store { [$0.make("Product", ["note": "stored"])] }[0]
        let context = stack.context()
        let object = try #require(try context.existingObject(with: id) as? Witness)
        #expect(object.events == ["awakeFromFetch"])
        #expect(object.string("note") == "awake")
        #expect(!object.hasChanges && !object.hasPersistentChangedValues && !context.hasChanges)
        object["name"] = "edited"
        try context.save()
        let plain = ManagedObjectContext(store: stack.store)
        #expect(plain.object(with: id).string("note") == "stored")
    }

    @Test(
        "Deletion is prepared each time, with the relationships in place (B053)",
        arguments: Backend.allCases)
    func deletion(_ backend: Backend) throws {
        let stack = try stack(backend)
        let id = try stack.store {
            [$0.make("Product", ["shop": $0.make("Shop", ["name": "s"])])]
        }[0]
        let context = stack.context()
        let object = try #require(context.object(with: id) as? Witness)
        context.delete(object)
        #expect(object.sawShopAtDeletion == true && object.isDeleted)
        context.delete(object)
        #expect(object.events.filter { $0 == "prepareForDeletion" }.count == 2)
        context.processPendingChanges()
        #expect(object["shop"] == nil, "the relationships are empty now")
        #expect(object.string("name") == "", "the attributes are not")
        try context.save()
        #expect(object.managedObjectContext == nil && object.isDeleted)
        #expect(object.events.last == "didSave")
    }

    @Test("Turning into a fault is announced", arguments: Backend.allCases)
    func fault(_ backend: Backend) throws {
        let stack = try stack(backend)
        let id = try stack.store { [$0.make("Product")] }[0]
        let context = stack.context()
        let object = try #require(try context.existingObject(with: id) as? Witness)
        object.events = []
        context.refresh(object, mergeChanges: false)
        #expect(object.events == ["willTurnIntoFault", "didTurnIntoFault"])
    }

    @Test(
        "Temporary ids become permanent in the save, or before it on request",
        arguments: Backend.allCases)
    func ids(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let (one, other) = (Witness(context: context), Witness(context: context))
        other["shop"] = context.make("Shop", ["name": "s"])
        let shop = try #require(other.object("shop"))
        #expect(one.objectID.isTemporary)
        try context.obtainPermanentIDs(for: [one, shop])
        let id = one.objectID
        #expect(!id.isTemporary && one.isInserted)
        #expect(context.registeredObject(for: id) === one)
        #expect(other.object("shop") === shop && shop.members("products") == [other])
        try context.save()
        #expect(one.objectID == id && !other.objectID.isTemporary)
        let fresh = stack.context()
        #expect(fresh.object(with: shop.objectID).members("products").count == 1)
        #expect(try fresh.existingObject(with: id).objectID == id)
    }

    @Test(
        "An object that is named twice gets one permanent id, and who leads to it follows",
        arguments: Backend.allCases)
    func permanentIDsOfOne(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let shop = context.make("Shop", ["name": "S"])
        let product = context.make("Product", ["shop": shop])
        try context.obtainPermanentIDs(for: [shop, shop])
        #expect(product.object("shop") === shop)
        try context.save()
        let stored = try stack.context().all("Product")[0]
        #expect(stored.object("shop")?.string("name") == "S")
    }
}

@Suite("What really changed")
struct ChangeTrackingTests {
    @Test(
        "Setting the value a property has changes nothing and writes nothing",
        arguments: Backend.allCases)
    func equalValues(_ backend: Backend) throws {
        let base = try Stack(Models.shop, backend)
        let id = try base.store { context in
            [
                context.make(
                    "Product",
                    [
                        "name": "n", "shop": context.make("Shop", ["name": "s"]),
                        "tags": [context.make("Tag", ["label": "t"])],
                    ])
            ]
        }[0]
        let counting = CountingStore(base.store)
        let context = Stack(store: counting).context()
        let object = context.object(with: id)
        object["name"] = "n"
        object["shop"] = object["shop"]
        object["tags"] = object["tags"]
        #expect(object.isUpdated && context.hasChanges, "the object was touched")
        #expect(!object.hasPersistentChangedValues && object.changedValues().isEmpty)
        try context.save()
        #expect(counting.saves == 0)
        #expect(!object.isUpdated && !context.hasChanges)
        object["name"] = "x"
        object["name"] = "n"
        #expect(!object.hasPersistentChangedValues && object.isUpdated)
        object["shop"] = nil
        object["tags"] = nil
        #expect(Set(object.changedValues().keys) == ["shop", "tags"])
    }

    @Test(
        "Pending edits are listed, beside what is stored, until the save (B050, B052)",
        arguments: Backend.allCases)
    func listing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let object = context.make("Product", ["name": "old", "note": "n"])
        #expect(Set(object.changedValues().keys) == ["name", "note"])
        #expect(object.committedValues(forKeys: nil).isEmpty)
        try context.save()
        #expect(
            !object.isInserted && !object.isUpdated && !object.hasChanges && !context.hasChanges)
        #expect(object.changedValues().isEmpty)
        object["name"] = "new"
        object["note"] = nil
        #expect(object.changedValues()["name"] as? String == "new")
        let note = try #require(object.changedValues()["note"])
        #expect(note == nil)
        #expect(
            object.committedValues(forKeys: ["name", "note"]) as? [String: String] == [
                "name": "old", "note": "n",
            ])
        #expect(object.isUpdated && context.updatedObjects == [object])
        try context.save()
        #expect(object.changedValues().isEmpty && !object.isUpdated)
        #expect(
            object.committedValues(forKeys: ["name", "note"]) as? [String: String] == [
                "name": "new"
            ])
    }

    @Test(
        "A primitive value changes nothing by itself and is saved with the rest (B049)",
        arguments: Backend.allCases)
    func primitive(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let object = context.make("Product", ["name": "n"])
        try context.save()
        object.setPrimitiveValue("silent", forKey: "note")
        #expect(object.changedValues().isEmpty && !object.isUpdated && !context.hasChanges)
        #expect(object.primitiveValue(forKey: "note") as? String == "silent")
        object["name"] = "loud"
        #expect(Set(object.changedValues().keys) == ["name"])
        try context.save()
        #expect(try stack.context().all("Product").first?.string("note") == "silent")
    }

    @Test(
        "Transient values survive a save and return to their defaults on refresh and reset (B068)",
        arguments: Backend.allCases)
    func transient(_ backend: Backend) throws {
        let context = try Stack(Models.values, backend).context()
        let object = context.make("Thing", ["cache": "full"])
        try context.save()
        #expect(object.string("cache") == "full")
        object["cache"] = "fuller"
        #expect(object.isUpdated && !object.hasPersistentChangedValues)
        try context.save()
        #expect(object.string("cache") == "fuller")
        context.refreshAllObjects()
        #expect(object.string("cache") == "empty")
        object["cache"] = "again"
        context.reset()
        #expect(object.string("cache") == "empty")
    }

    @Test("Values of every type come back as they were", arguments: Backend.allCases)
    func types(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        let uuid = UUID()
        let values: [String: any Hashable & Sendable] = [
            "size": 7, "small": -5, "large": Int(Int64.min), "ratio": 0.1, "short": Float(0.5),
            "exact": Decimal(string: "12345678901234567890.123456789") ?? 0, "flag": true,
            "bytes": Data([0, 1, 255]), "uuid": uuid, "code": "abc", "needed": "naïve 🧭",
            "day": Date(timeIntervalSinceReferenceDate: 12.25),
        ]
        let id = try stack.store { context in
            let object = context.make("Thing", values)
            object["link"] = URL(string: "https://example.org/a?b#c")
            object["color"] = ["color.primary": "red", "color.shade": 0.25] as [String: Any]
            return [object]
        }[0]
        let context = stack.context()
        let object = context.object(with: id)
        for (key, value) in values {
            #expect(object[key] as? AnyHashable == AnyHashable(value), "\(key)")
        }
        #expect((object["link"] as? URL)?.absoluteString == "https://example.org/a?b#c")
        #expect(object["color.primary"] as? String == "red")
        #expect((object["color"] as? [String: Any])?["color.shade"] as? Double == 0.25)
        for (key, value) in values { object[key] = value }
        #expect(!object.hasPersistentChangedValues)
    }
}
