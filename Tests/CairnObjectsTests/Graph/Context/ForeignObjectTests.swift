// Objects of ids that are of no store of the context.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("Objects of foreign ids")
struct ForeignObjectTests {
    @Test(
        "An id of a former store gives a fault that turns out to be gone",
        arguments: Backend.allCases)
    func formerStore(_ backend: Backend) throws {
        let former = try Stack(Models.shop, backend)
        let id = try former.products(1)[0]
        let stack = try Stack(Models.shop, backend)
        let own = try stack.products(1)[0]
        let context = stack.context()
        let mine = context.object(with: own)
        let object = context.object(with: id)
        #expect(object !== mine && object.objectID == id && object.isFault)
        #expect(context.object(with: id) === object && object.managedObjectContext === context)
        #expect(object["name"] == nil && object.isDeleted && !object.isFault)
        #expect(object.members("tags").isEmpty && object["shop"] == nil)
        #expect(mine.string("name") == "0")
        #expect(storeError { _ = try context.existingObject(with: id) }?.code == .objectNotFound)
        #expect(!context.hasChanges)
        try context.save()
    }

    @Test(
        "An id of another context's new object gives a fault that turns out to be gone",
        arguments: Backend.allCases)
    func otherContext(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let new = stack.context().make("Person", ["name": "new"])
        let context = stack.context()
        let object = context.object(with: new.objectID)
        #expect(object.entity.name == "Person" && object.objectID == new.objectID)
        try context.obtainPermanentIDs(for: [object])
        #expect(object.objectID.isTemporary)
        #expect(
            object.members("children").isEmpty && object.mutableSetValue(forKey: "friends").isEmpty)
        #expect(storeError { _ = try context.existingObject(with: new.objectID) } != nil)
        let child = context.newChildContext()
        #expect(child.object(with: new.objectID)["name"] == nil)
        // A hierarchy that the model does not have.
        let unknown = context.object(
            with: ObjectID(store: UUID(), hierarchy: 4_000_000_000, reference: 7))
        #expect(unknown.string("name") == nil && unknown.isDeleted)
        let great = context.object(
            with: ObjectID(store: UUID(), hierarchy: 1, reference: .max))
        #expect(great.isFault && !great.isDeleted)
        #expect(great.snapshotOfName == nil)
    }

    @Test(
        "Setting, relating, deleting and refreshing such an object writes nothing",
        arguments: Backend.allCases, [true, false])
    func using(_ backend: Backend, _ deletes: Bool) throws {
        let id = try Stack(Models.people, backend).store { [$0.make("Person", ["name": "x"])] }[0]
        let stack = try Stack(Models.people, backend)
        let own = try stack.store { [$0.make("Person", ["name": "own"])] }[0]
        let fresh = { () -> (ManagedObjectContext, ManagedObject, ManagedObject) in
            let context = stack.context()
            context.shouldDeleteInaccessibleFaults = deletes
            return (context, context.object(with: id), context.object(with: own))
        }
        typealias Use = (ManagedObjectContext, ManagedObject, ManagedObject) -> Void
        let edits: [Use] = [
            { _, object, _ in object["name"] = "y" },
            { _, object, mine in object["parent"] = mine },
            { _, object, mine in object["friends"] = Set([mine]) },
            { _, object, mine in object.mutableSetValue(forKey: "children").insert(mine) },
        ]
        let others: [Use] = [
            { context, object, _ in context.delete(object) },
            { context, object, _ in context.refresh(object, mergeChanges: true) },
            { context, object, _ in context.detectConflicts(for: object) },
            { context, object, _ in
                context.undoHistory = UndoHistory()
                object["name"] = "z"
                context.undo()
            },
        ]
        let uses = edits + others
        for (number, use) in uses.enumerated() {
            let (context, foreign, mine) = fresh()
            use(context, foreign, mine)
            // It may be thrown that there is none, once.
            _ = storeError { try context.save() }
            try context.save()
            #expect(stack.context().object(with: own).object("parent") == nil, "\(number)")
            #expect(stack.context().object(with: own).members("friends").isEmpty, "\(number)")
            #expect(try stack.context().count("Person") == 1, "\(number)")
        }
        // What leads to it is refused.
        for key in ["parent", "mentor"] {
            let (context, foreign, mine) = fresh()
            mine[key] = foreign
            #expect(storeError { try context.save() }?.context.key == key)
        }
    }
}

extension ManagedObject {
    /// The name by a snapshot.
    fileprivate var snapshotOfName: String? { snapshot(including: [])["name"] as? String }
}
