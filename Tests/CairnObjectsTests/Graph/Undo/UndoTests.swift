// Taking back and doing again what was done in a context.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Undo and redo")
struct UndoTests {
    private func context(_ stack: Stack) -> ManagedObjectContext {
        let context = stack.context()
        context.undoHistory = UndoHistory()
        return context
    }

    /// A parent, its child, and a friend whom it advises, stored.
    private func family(_ stack: Stack) throws -> [ObjectID] {
        try stack.store { context in
            let parent = context.make("Person", ["name": "parent"])
            let child = context.make("Person", ["name": "child", "parent": parent])
            let friend = context.make(
                "Person", ["name": "friend", "friends": Set([parent]), "mentor": parent])
            return [parent, child, friend]
        }
    }

    @Test("Without a history nothing is taken back", arguments: Backend.allCases)
    func without(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        #expect(context.undoHistory == nil)
        let object = context.make("Product", ["name": "one"])
        context.undo()
        context.redo()
        #expect(object.string("name") == "one")
        #expect(object.isInserted)
    }

    @Test("Each run of edits is a step of its own", arguments: Backend.allCases)
    func steps(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "stored", "price": 1.0])] }[0]
        let context = context(stack)
        let history = try #require(context.undoHistory)
        let object = context.object(with: id)
        #expect(!history.canUndo)
        object["name"] = "first"
        object["price"] = 2.0
        #expect(history.canUndo)
        context.processPendingChanges()
        object["name"] = "second"
        object["note"] = "note"
        context.undo()
        #expect(object.string("name") == "first")
        #expect(object["note"] == nil)
        #expect(object["price"] as? Double == 2)
        #expect(context.hasChanges && object.isUpdated)
        #expect(history.canUndo && history.canRedo)
        context.undo()
        #expect(object.string("name") == "stored")
        #expect(object["price"] as? Double == 1)
        // As it is stored: there is nothing to save.
        #expect(!context.hasChanges && !object.isUpdated)
        #expect(!history.canUndo)
        context.undo()
        context.redo()
        #expect(object.string("name") == "first")
        #expect(context.hasChanges)
        context.redo()
        #expect(object.string("name") == "second")
        #expect(object.string("note") == "note")
        #expect(!history.canRedo)
        context.undo()
        // Something else was done: what was taken back cannot be done again.
        object["name"] = "third"
        context.redo()
        #expect(object.string("name") == "third")
        context.undo()
        #expect(object.string("name") == "first")
    }

    @Test(
        "A new object leaves and comes back with its values and relationships",
        arguments: Backend.allCases)
    func insertion(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Shop", ["name": "shop"])] }[0]
        let context = context(stack)
        let shop = context.object(with: id)
        let object = context.make("Product", ["name": "new", "shop": shop])
        let tag = context.make("Tag", ["label": "tag", "products": Set([object])])
        context.undo()
        #expect(object.managedObjectContext == nil && tag.managedObjectContext == nil)
        #expect(context.insertedObjects.isEmpty)
        #expect(shop.members("products").isEmpty)
        #expect(!context.hasChanges)
        #expect(try context.count("Product") == 0)
        context.redo()
        #expect(context.insertedObjects == [object, tag])
        #expect(object.string("name") == "new")
        #expect(object.object("shop") === shop)
        #expect(object.members("tags") == [tag])
        #expect(tag.members("products") == [object])
        #expect(shop.members("products") == [object])
        #expect(try context.count("Product") == 1)
        try context.save()
        #expect(try stack.context().count("Tag") == 1)
    }

    @Test(
        "A deletion is taken back with all that it brought about", arguments: Backend.allCases)
    func deletion(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try family(stack)
        let context = context(stack)
        let people = ids.map { context.object(with: $0) }
        context.delete(people[0])
        context.processPendingChanges()
        #expect(people[1].isDeleted)
        #expect(people[2].object("mentor") == nil)
        context.undo()
        #expect(people.allSatisfy { !$0.isDeleted && !$0.hasChanges })
        #expect(!context.hasChanges)
        #expect(people[1].object("parent") === people[0])
        #expect(people[0].members("children") == [people[1]])
        #expect(people[2].object("mentor") === people[0])
        #expect(people[2].members("friends") == [people[0]])
        context.redo()
        #expect(people[0].isDeleted && people[1].isDeleted)
        try context.save()
        #expect(try stack.context().count("Person") == 1)
    }

    @Test(
        "A deletion that was saved is taken back: the objects are inserted again under their ids",
        arguments: Backend.allCases)
    func savedDeletion(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try family(stack)
        let context = context(stack)
        let people = ids.map { context.object(with: $0) }
        context.delete(people[0])
        try context.save()
        #expect(try stack.context().count("Person") == 1)
        context.undo()
        #expect(people[0].isInserted && people[1].isInserted && !people[2].isInserted)
        #expect(people.map(\.objectID) == ids)
        try context.save()
        let fresh = stack.context()
        let again = ids.map { fresh.object(with: $0) }
        #expect(again[0].string("name") == "parent")
        #expect(again[0].members("children") == [again[1]])
        #expect(again[1].object("parent") === again[0])
        #expect(again[2].members("friends") == [again[0]])
        #expect(again[2].object("mentor") === again[0])
        context.redo()
        try context.save()
        #expect(try stack.context().count("Person") == 1)
    }

    @Test(
        "What was saved is taken back as a change to be saved", arguments: Backend.allCases)
    func afterSave(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = context(stack)
        let shop = context.make("Shop", ["name": "shop"])
        let object = context.make("Product", ["name": "first", "shop": shop])
        try context.save()
        object["name"] = "second"
        object["shop"] = nil
        try context.save()
        #expect(!context.hasChanges)
        context.undo()
        #expect(object.string("name") == "first")
        #expect(object.object("shop") === shop)
        #expect(context.updatedObjects.contains(object))
        try context.save()
        let stored = stack.context().object(with: object.objectID)
        #expect(stored.string("name") == "first")
        #expect(stored.object("shop")?.string("name") == "shop")
        context.undo()
        #expect(object.isDeleted && shop.isDeleted)
        try context.save()
        #expect(try stack.context().count("Product") == 0)
        context.redo()
        #expect(object.isInserted)
        #expect(object.string("name") == "first")
        #expect(object.object("shop") === shop)
        try context.save()
        #expect(try stack.context().count("Product") == 1)
    }

    @Test("A group is one step, and so are groups in it", arguments: Backend.allCases)
    func groups(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = context(stack)
        let history = try #require(context.undoHistory)
        let object = context.make("Product", ["name": "0"])
        history.beginUndoGrouping()
        object["name"] = "1"
        context.processPendingChanges()
        history.beginUndoGrouping()
        object["name"] = "2"
        history.endUndoGrouping()
        history.setActionName("Rename")
        #expect(history.groupingLevel == 1)
        object["note"] = "note"
        history.endUndoGrouping()
        // Nothing happens in it, so it is no step.
        history.beginUndoGrouping()
        history.endUndoGrouping()
        #expect(history.undoActionName == "Rename")
        context.undo()
        #expect(object.string("name") == "0")
        #expect(object["note"] == nil)
        #expect(object.isInserted)
        #expect(history.redoActionName == "Rename")
        context.redo()
        #expect(object.string("name") == "2")
        context.undo()
        context.undo()
        #expect(object.managedObjectContext == nil)
        #expect(!history.canUndo)
        // A group that is open is closed by taking it back.
        history.beginUndoGrouping()
        context.make("Product")
        context.processPendingChanges()
        context.make("Product")
        context.undo()
        #expect(history.groupingLevel == 0)
        #expect(context.insertedObjects.isEmpty)
    }

    @Test("Only so many steps are kept, and none while recording is off")
    func levels() throws {
        let context = context(try Stack(Models.shop, .dictionary))
        let history = try #require(context.undoHistory)
        history.levelsOfUndo = 2
        let object = context.make("Product", ["name": "0"])
        for number in 1...4 {
            context.processPendingChanges()
            object["name"] = "\(number)"
        }
        context.undo()
        context.undo()
        #expect(!history.canUndo)
        context.undo()
        #expect(object.string("name") == "2")
        history.disableUndoRegistration()
        object["name"] = "unrecorded"
        history.enableUndoRegistration()
        #expect(!history.canUndo)
        // What was taken back before can be done again, as nothing was recorded.
        context.redo()
        #expect(object.string("name") == "3")
    }

    @Test("Transient properties are taken back too")
    func transients() throws {
        let context = context(try Stack(Models.values, .dictionary))
        let thing = context.make("Thing", ["needed": "x"])
        context.processPendingChanges()
        thing["cache"] = "full"
        context.processPendingChanges()
        thing["cache"] = "fuller"
        context.undo()
        #expect(thing.string("cache") == "full")
        context.undo()
        #expect(thing.string("cache") == "empty")
        context.redo()
        #expect(thing.string("cache") == "full")
    }

    @Test("A rollback and a reset forget the steps", arguments: Backend.allCases)
    func forgetting(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "stored"])] }[0]
        let context = context(stack)
        let history = try #require(context.undoHistory)
        let object = context.object(with: id)
        object["name"] = "edited"
        context.processPendingChanges()
        context.rollback()
        #expect(!history.canUndo)
        object["name"] = "edited"
        context.undo()
        #expect(object.string("name") == "stored")
        context.reset()
        #expect(!history.canUndo && !history.canRedo)
        context.redo()
        #expect(!context.hasChanges)
    }

    final class Stamped: ManagedObject {
        override func willSave() {
            if string("note") != "stamped \(string("name") ?? "")" {
                self["note"] = "stamped \(string("name") ?? "")"
            }
        }
    }

    @Test(
        "What a save's hooks set belongs to the step before the save", arguments: Backend.allCases)
    func hooks(_ backend: Backend) throws {
        let stack = try Stack(
            Models.shop, backend, classes: ObjectClasses(["Product": Stamped.self]))
        let context = context(stack)
        let object = context.make("Product", ["name": "first"])
        try context.save()
        object["name"] = "second"
        try context.save()
        #expect(object.string("note") == "stamped second")
        context.undo()
        #expect(object.string("name") == "first")
        #expect(object.string("note") == "stamped first")
        #expect(try #require(context.undoHistory).canUndo)
        context.undo()
        #expect(object.isDeleted)
    }

    @Test("What somebody else has deleted stays away", arguments: Backend.allCases)
    func deletedElsewhere(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "stored"])] }[0]
        let context = context(stack)
        let object = context.object(with: id)
        let other = context.make("Product", ["name": "other"])
        object["name"] = "edited"
        try context.save()
        let elsewhere = stack.context()
        elsewhere.delete(elsewhere.object(with: id))
        try elsewhere.save()
        context.refresh(object, mergeChanges: false)
        context.undo()
        #expect(object.isDeleted)
        #expect(other.isDeleted)
        try context.save()
        #expect(try stack.context().count("Product") == 0)
    }

    @Test("Taking back is told as a run of edits, and records nothing")
    func told() throws {
        let stack = try Stack(Models.shop, .dictionary)
        let ids = try stack.store { [$0.make("Product", ["name": "a"]), $0.make("Product")] }
        let context = context(stack)
        let objects = ids.map { context.object(with: $0) }
        let recorder = NotificationRecorder(context)
        objects[0]["name"] = "b"
        context.delete(objects[1])
        context.make("Product")
        context.undo()
        context.redo()
        #expect(
            recorder.take() == [
                .init(kind: .didChange, inserted: 1, updated: 1, deleted: 1),
                .init(kind: .didChange, deleted: 1, refreshed: 2),
                .init(kind: .didChange, inserted: 1, updated: 1, deleted: 1),
            ])
        #expect(try #require(context.undoHistory).canUndo)
    }
}
