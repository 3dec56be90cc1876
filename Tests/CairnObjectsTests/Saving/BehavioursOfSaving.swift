// Behaviours of saving that have no better place, by their ids.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Behaviours of saving")
struct BehavioursOfSaving {
    /// Refuses whatever it is told to.
    private final class Stubborn: ManagedObject {
        var refuses: Set<String> = []

        struct Refusal: Error, Equatable { let what: String }

        private func refuse(_ what: String) throws {
            if refuses.contains(what) { throw Refusal(what: what) }
        }
        override func validateForInsert() throws {
            try super.validateForInsert()
            try refuse("insert")
        }
        override func validateForUpdate() throws {
            try super.validateForUpdate()
            try refuse("update")
        }
        override func validateForDelete() throws {
            try super.validateForDelete()
            try refuse("delete")
        }
    }

    @Test(
        "A validation that is overridden blocks the save: nothing is stored, and the object stays pending (B061)",
        arguments: Backend.allCases)
    func validation(_ backend: Backend) throws {
        let stack = try Stack(
            Models.shop, backend, classes: ObjectClasses(["Product": Stubborn.self]))
        let context = stack.context()
        let object = try #require(context.make("Product", ["name": "n"]) as? Stubborn)
        let shop = context.make("Shop", ["name": "s"])
        func attempt(_ what: String) throws {
            let commit = try stack.store.snapshot().commit
            object.refuses = [what]
            // Our rule: what a class throws comes as the cause of an error that names the object.
            let error = try #require(storeError { try context.save() })
            #expect(error.code == .validation && error.context.objectID == object.objectID)
            #expect(error.cause as? Stubborn.Refusal == Stubborn.Refusal(what: what))
            #expect(try stack.store.snapshot().commit == commit, "nothing is stored")
            #expect(object.managedObjectContext === context && object.hasChanges)
            object.refuses = []
        }
        try attempt("insert")
        #expect(context.insertedObjects == [object, shop])
        #expect(try stack.context().count("Shop") == 0)
        try context.save()
        object["name"] = "changed"
        try attempt("update")
        #expect(context.updatedObjects == [object] && object.string("name") == "changed")
        #expect(try stack.context().all("Product").first?.string("name") == "n")
        try context.save()
        context.delete(object)
        try attempt("delete")
        #expect(context.deletedObjects == [object])
        #expect(try stack.context().count("Product") == 1)
        try context.save()
        #expect(try stack.context().count("Product") == 0)
    }

    @Test(
        "A save without changes succeeds, and the store is not even asked (B067)",
        arguments: Backend.allCases)
    func nothing(_ backend: Backend) throws {
        let counting = CountingStore(try Stack(Models.shop, backend).store)
        let context = Stack(store: counting).context()
        try context.save()
        #expect(counting.saves == 0 && counting.columnSaves == 0 && counting.reads == 0)
        let object = context.make("Product", ["name": "n"])
        try context.save()
        let saves = counting.saves + counting.columnSaves
        #expect(saves == 1)
        // An edit that changes nothing is a change of the context, but nothing to write.
        object["name"] = "n"
        #expect(context.hasChanges)
        try context.save()
        #expect(!context.hasChanges)
        #expect(counting.saves + counting.columnSaves == saves)
    }
}
