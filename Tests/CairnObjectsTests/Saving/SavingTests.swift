// Saving, rolling back, and what validation has to say.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Saving")
struct SavingTests {
    @Test(
        "Rolling back undoes an insert, an update and a delete (B065)", arguments: Backend.allCases)
    func rollback(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store {
            [$0.make("Product", ["name": "a"]), $0.make("Product", ["name": "b"])]
        }
        let context = stack.context()
        let (updated, deleted) = (context.object(with: ids[0]), context.object(with: ids[1]))
        let inserted = context.make("Product", ["name": "c"])
        updated["name"] = "changed"
        updated["tags"] = [context.make("Tag", ["label": "t"])]
        context.delete(deleted)
        context.processPendingChanges()
        context.rollback()
        #expect(!context.hasChanges)
        #expect(updated.string("name") == "a" && updated.members("tags").isEmpty)
        #expect(!deleted.isDeleted && deleted.string("name") == "b")
        #expect(inserted.managedObjectContext == nil && !inserted.isInserted)
        #expect(try context.all("Product", sortedBy: "name") == [updated, deleted])
        try context.save()
        #expect(try stack.context().count("Product") == 2)
    }

    @Test(
        "The sets of inserted, updated and deleted objects are in order",
        arguments: Backend.allCases)
    func sets(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in (0..<4).map { _ in context.make("Product") } }
        let context = stack.context()
        let objects = ids.map { context.object(with: $0) }
        let new = (0..<2).map { _ in context.make("Product") }
        objects[3]["name"] = "x"
        objects[1]["name"] = "x"
        context.delete(objects[0])
        #expect(context.insertedObjects == new)
        #expect(context.updatedObjects == [objects[3], objects[1]])
        #expect(context.deletedObjects == [objects[0]])
        #expect(context.registeredObjects == Set(objects + new))
    }

    @Test(
        "Inserted and deleted before the save, an object was never there (B062)",
        arguments: Backend.allCases)
    func annihilation(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let counting = CountingStore(stack.store)
        let context = Stack(store: counting).context()
        let parent = context.make("Person", ["name": "p"])
        let child = context.make("Person", ["name": "c", "parent": parent])
        context.delete(parent)
        context.processPendingChanges()
        #expect(context.insertedObjects.isEmpty && context.updatedObjects.isEmpty)
        #expect(context.deletedObjects.isEmpty && !context.hasChanges)
        #expect(child.isDeleted && parent.managedObjectContext == nil)
        try context.save()
        #expect(counting.saves == 0)
    }

    @Test(
        "What pointed at such an object reads nil and is no change (B064)",
        arguments: Backend.allCases)
    func pointing(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let id = try stack.store { [$0.make("Person", ["name": "a"])] }[0]
        let context = stack.context()
        let person = context.object(with: id)
        let gone = context.make("Person", ["name": "gone"])
        person["spouse"] = gone
        person["mentor"] = gone
        person["friends"] = [gone]
        person["heroes"] = [gone]
        context.delete(gone)
        context.processPendingChanges()
        for key in ["spouse", "mentor"] { #expect(person[key] == nil, "\(key)") }
        for key in ["friends", "heroes"] { #expect(person.members(key).isEmpty, "\(key)") }
        #expect(person.changedValues().isEmpty && !person.hasPersistentChangedValues)
        try context.save()
    }

    @Test("A save that fails in the store keeps all changes", arguments: Backend.allCases)
    func failure(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let object = context.make("Product", ["name": "a"])
        try stack.store.close()
        #expect(storeError { try context.save() }?.code == .unusable)
        #expect(context.insertedObjects == [object] && object.objectID.isTemporary)
    }

    @Test("Objects of one context cannot be put into another")
    func foreign() async {
        await #expect(processExitsWith: .failure) {
            let stack = try Stack(Models.shop, .dictionary)
            let (one, other) = (stack.context(), stack.context())
            one.make("Product")["shop"] = other.make("Shop")
        }
    }

    @Test("An unknown key is a mistake of the program")
    func unknownKey() async {
        await #expect(processExitsWith: .failure) {
            _ = try Stack(Models.shop, .dictionary).context().make("Product")["nme"]
        }
    }

    @Test("A value of another type is a mistake of the program")
    func wrongType() async {
        await #expect(processExitsWith: .failure) {
            try Stack(Models.shop, .dictionary).context().make("Product")["price"] = "cheap"
        }
    }
}

@Suite("Validation")
struct ValidationTests {
    private func error(_ backend: Backend, _ values: [String: Any?]) throws -> StoreError? {
        let context = try Stack(Models.values, backend).context()
        context.make("Thing", values)
        return storeError { try context.save() }
    }

    @Test(
        "A mandatory property that is nil fails with 1570 and names the key (B056)",
        arguments: Backend.allCases)
    func mandatory(_ backend: Backend) throws {
        let error = try error(backend, ["needed": nil])
        #expect(error?.code == .missingMandatory)
        #expect(error?.context.entity == "Thing" && error?.context.key == "needed")
        #expect(error?.context.objectID != nil)
    }

    @Test(
        "Limits have their codes", arguments: Backend.allCases,
        [
            ("size", "0", 1620), ("size", "11", 1610), ("code", "a", 1670), ("code", "abcde", 1660),
            ("code", "aB", 1680), ("code", "a1b", 1680), ("day", "-1", 1640), ("day", "1001", 1630),
            ("day", "nan", 1650), ("day", "inf", 1650),
        ])
    func limits(_ backend: Backend, _ bad: (key: String, text: String, code: Int)) throws {
        let value: Any =
            switch bad.key {
            case "size": Int(bad.text) ?? 0
            case "day": Date(timeIntervalSinceReferenceDate: Double(bad.text) ?? 0)
            default: bad.text
            }
        let error = try error(backend, [bad.key: value])
        #expect(error?.code.rawValue == bad.code && error?.context.key == bad.key)
    }

    @Test("Several errors come as one of 1560 with details", arguments: Backend.allCases)
    func several(_ backend: Backend) throws {
        let context = try Stack(Models.values, backend).context()
        context.make("Thing", ["needed": nil, "size": 99])
        context.make("Thing", ["code": "x"])
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .multiple)
        #expect(Set(error.details.map(\.code.rawValue)) == [1570, 1610, 1670])
    }

    @Test(
        "Members over the greatest and under the least number fail (B058)",
        arguments: Backend.allCases)
    func counts(_ backend: Backend) throws {
        let context = try Stack(Models.values, backend).context()
        let box = context.make("Box")
        try context.save()
        box["parts"] = Set((0..<3).map { context.make("Part", ["name": "\($0)"]) })
        let error = storeError { try context.save() }
        #expect(error?.code == .tooManyMembers && error?.context.key == "parts")
        box.remove(try #require(box.members("parts").first), from: "parts")
        try context.save()
        box["parts"] = nil
        try context.save()
        var strict = Models.values
        strict.entities[1].relationships[0].minimumCount = 2
        let other = try Stack(strict, backend).context()
        other.make("Box", ["parts": [other.make("Part")]])
        #expect(storeError { try other.save() }?.code == .tooFewMembers)
    }

    @Test("Members that are gone do not count", arguments: Backend.allCases)
    func goneMembers(_ backend: Backend) throws {
        var model = Models.shop
        model.entities[1].relationships[1].minimumCount = 1
        model.entities[1].relationships[1].isOptional = false
        let stack = try Stack(model, backend)
        let ids = try stack.store { [$0.make("Tag", ["label": "a"]), $0.make("Tag")] }
        let context = stack.context()
        let tags = ids.map { context.object(with: $0) }
        let product = context.make("Product", ["tags": Set(tags[..<1])])
        let other = stack.context()
        other.delete(other.object(with: ids[0]))
        try other.save()
        #expect(tags[0].string("label") == nil && tags[0].isDeleted)
        #expect(storeError { try context.save() }?.code == .tooFewMembers)
        // Who adds one means nothing by the one that is gone since.
        product.add(tags[1], to: "tags")
        try context.save()
        #expect(stack.context().object(with: product.objectID).members("tags").count == 1)
    }

    @Test(
        "A mandatory to-many without a least number saves while it is empty (B059)",
        arguments: Backend.allCases)
    func emptyMandatory(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        let context = stack.context()
        context.make("Box", ["name": "no legs"])
        try context.save()
        #expect(try stack.context().count("Box") == 1)
    }

    @Test("A mandatory to-one that is nil fails with 1570", arguments: Backend.allCases)
    func mandatoryReference(_ backend: Backend) throws {
        let context = try Stack(Models.people, backend).context()
        context.make("Desk", ["number": 1])
        let error = storeError { try context.save() }
        #expect(error?.code == .missingMandatory && error?.context.key == "department")
    }
}
