// Saves of which one store has written its part when another refuses.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Saves that are partly done")
struct PartialSaveTests {
    /// A policy that does not know what to do.
    private final class Helpless: MergePolicy {
        struct Refusal: Error {}

        /// Whether it says so, or does nothing.
        let throwsRefusal: Bool

        init(throwsRefusal: Bool) {
            self.throwsRefusal = throwsRefusal
            super.init(merge: .error)
        }

        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            if throwsRefusal { throw Refusal() }
        }
    }

    /// A store with a shop whose name is taken, behind one that takes what is new.
    private func stores(_ backend: Backend) throws -> TwoStores {
        let stores = try TwoStores(backend)
        let first = stores.context()
        try first.make("Shop", in: stores.second, ["name": "taken"])
        try first.save()
        return stores
    }

    @Test(
        "Whatever comes up after a store was written, the save says that it is partly done",
        arguments: Backend.allCases, [false, true])
    func helpless(_ backend: Backend, throwsRefusal: Bool) throws {
        let stores = try stores(backend)
        let context = stores.context(Helpless(throwsRefusal: throwsRefusal))
        let near = context.make("Shop", ["name": "near"])
        let far = try context.make("Shop", in: stores.second, ["name": "taken"])
        let error = storeError { try context.save() }
        #expect(error?.code == .incompleteSave)
        #expect(error?.affectedStores == [stores.second.identity.identifier])
        #expect((error?.cause is Helpless.Refusal) == throwsRefusal)
        #expect(error?.details.map(\.code) == (throwsRefusal ? [] : [.constraintConflict]))
        #expect(!near.isInserted && far.isInserted)
        #expect(try stores.counts("Shop") == [1, 1])
        far["name"] = "free"
        try context.save()
        #expect(try stores.counts("Shop") == [1, 2])
    }

    /// Gives what is in the way another value that is refused.
    private final class Spoiling: MergePolicy {
        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            for object in list.flatMap(\.conflictingObjects) where object.isInserted {
                object["name"] = "free"
                object.managedObjectContext?.insertedObjects
                    .filter { $0.entity.name == "Product" }
                    .forEach { $0["price"] = nil }
            }
        }
    }

    @Test(
        "Also if validation refuses what a policy has done", arguments: Backend.allCases)
    func invalid(_ backend: Backend) throws {
        let stores = try stores(backend)
        let context = stores.context(Spoiling(merge: .error))
        context.make("Shop", ["name": "near"])
        try context.make("Shop", in: stores.second, ["name": "taken"])
        let product = try context.make("Product", in: stores.second)
        let error = storeError { try context.save() }
        #expect(error?.code == .incompleteSave)
        #expect(error?.details.map(\.code) == [.missingMandatory])
        product["price"] = 1.0
        try context.save()
        #expect(try stores.counts("Shop") == [1, 2])
    }

    @Test(
        "What the rest of a save relies on it still does when it is saved",
        arguments: Backend.allCases)
    func relying(_ backend: Backend) throws {
        let stores = try stores(backend)
        let maker = stores.context()
        let theirs = try maker.make(
            "Product", in: stores.second, ["name": "account", "price": 1.0])
        try maker.save()
        let context = stores.context()
        let account = try context.existingObject(with: theirs.objectID)
        context.detectConflicts(for: account)
        context.make("Shop", ["name": "near"])
        let far = try context.make("Shop", in: stores.second, ["name": "taken"])
        #expect(storeError { try context.save() }?.code == .incompleteSave)
        theirs["price"] = 2.0
        try maker.save()
        far["name"] = "free"
        let error = storeError { try context.save() }
        #expect(error?.code == .mergeConflict)
        #expect(error?.versions.map(\.id) == [account.objectID])
        context.refresh(account, mergeChanges: true)
        try context.save()
        #expect(try stores.counts("Shop") == [1, 2])
    }
}
