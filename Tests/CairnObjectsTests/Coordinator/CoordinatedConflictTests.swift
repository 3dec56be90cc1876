// What stands against saves that more than one store takes part in.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Conflicts of saves to several stores")
struct CoordinatedConflictTests {
    /// Products of two stores, read by a context, after which somebody else may have changed them.
    private struct Scene {
        let stores: TwoStores
        let context: ManagedObjectContext
        let products: [ManagedObject]

        init(_ backend: Backend, _ policy: MergePolicy = .error) throws {
            stores = try TwoStores(backend)
            context = stores.context(policy)
            var products: [ManagedObject] = []
            for (index, store) in stores.stores.enumerated() {
                products.append(
                    try context.make(
                        "Product", in: store, ["serialCode": "\(index)", "name": "old"]))
            }
            try context.save()
            self.products = products
        }

        func change(_ index: Int, _ key: String = "name", _ value: Any = "theirs") throws {
            let other = stores.context()
            other.object(with: products[index].objectID)[key] = value
            try other.save()
        }

        func delete(_ index: Int) throws {
            let other = stores.context()
            other.delete(other.object(with: products[index].objectID))
            try other.save()
        }

        func stored() throws -> [String?] {
            try stores.context().all("Product", sortedBy: "serialCode").map { $0.string("name") }
        }
    }

    @Test(
        "If somebody has changed an object of either store nothing is written",
        arguments: Backend.allCases, [0, 1])
    func versions(_ backend: Backend, _ index: Int) throws {
        let scene = try Scene(backend)
        try scene.change(index)
        for product in scene.products { product["name"] = "mine" }
        let error = storeError { try scene.context.save() }
        #expect(error?.code == .mergeConflict && error?.affectedStores == [])
        #expect(error?.versions.map(\.id) == [scene.products[index].objectID])
        #expect(error?.versions.first?.stored?.id == scene.products[index].objectID)
        #expect(scene.context.updatedObjects == scene.products)
        #expect(try scene.stored() == (index == 0 ? ["theirs", "old"] : ["old", "theirs"]))
    }

    @Test("Nothing is written if what is to be deleted was changed", arguments: Backend.allCases)
    func deletions(_ backend: Backend) throws {
        let scene = try Scene(backend)
        try scene.change(1)
        scene.products[0]["name"] = "mine"
        scene.context.delete(scene.products[1])
        let error = storeError { try scene.context.save() }
        #expect(error?.versions.map(\.isDeletion) == [true])
        #expect(try scene.stored() == ["old", "theirs"])
        // Who deletes what is deleted has what he wants.
        try scene.delete(1)
        try scene.context.save()
        #expect(try scene.stored() == ["mine"] && !scene.context.hasChanges)
    }

    @Test(
        "An object of one store that must be unchanged stands against a save to the other",
        arguments: Backend.allCases, [0, 1])
    func locked(_ backend: Backend, _ index: Int) throws {
        let scene = try Scene(backend)
        scene.context.detectConflicts(for: scene.products[index])
        try scene.change(index)
        scene.products[1 - index]["name"] = "mine"
        let error = storeError { try scene.context.save() }
        #expect(error?.versions.map(\.id) == [scene.products[index].objectID])
        #expect(try scene.stored().contains("mine") == false)
        scene.context.refresh(scene.products[index], mergeChanges: false)
        try scene.context.save()
        #expect(try Set(scene.stored()) == ["mine", "theirs"])
    }

    @Test(
        "An object of a store that cannot be written can be one that must be unchanged",
        arguments: Backend.allCases)
    func sealed(_ backend: Backend) throws {
        let coordinator = try PersistentStoreCoordinator(Models.shop)
        let base = try backend.makeStore(coordinator.schema)
        let writer = ManagedObjectContext(store: base)
        let theirs = writer.make("Shop", ["name": "old"])
        try writer.save()
        try coordinator.add(SealedStore(base))
        try coordinator.add(try backend.makeStore(coordinator.schema))
        let context = ManagedObjectContext(store: coordinator)
        let shop = context.object(with: theirs.objectID)
        context.detectConflicts(for: shop)
        context.make("Product", ["name": "first"])
        try context.save()
        context.detectConflicts(for: shop)
        theirs["name"] = "new"
        try writer.save()
        let product = context.make("Product", ["name": "second"])
        let error = storeError { try context.save() }
        #expect(error?.code == .mergeConflict)
        #expect(error?.versions.map(\.id) == [theirs.objectID])
        #expect(product.isInserted)
        // A policy that has nothing to decide about it saves.
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        #expect(try context.count("Product") == 2)
    }

    @Test("Derived values that change meanwhile are no conflict", arguments: Backend.allCases)
    func derived(_ backend: Backend) throws {
        let stores = try TwoStores(Models.press, backend, [nil, nil])
        let context = stores.context()
        var authors: [ManagedObject] = []
        for (index, store) in stores.stores.enumerated() {
            authors.append(try context.make("Author", in: store, ["name": "a\(index)"]))
        }
        try context.save()
        let other = stores.context()
        let article = try other.make(
            "Article", in: stores.second, ["name": "b", "wordCount": 10])
        article["author"] = other.object(with: authors[1].objectID)
        try other.save()
        for author in authors { author["age"] = 40 }
        try context.save()
        #expect(authors[1].int("words") == 10 && authors[1].int("age") == 40)
        // What a save computes anew in other objects of its store is shown.
        let far = context.object(with: article.objectID)
        far["wordCount"] = 25
        authors[0]["age"] = 41
        try context.save()
        #expect(authors[1].int("words") == 25)
        #expect(stores.alone(1).object(with: authors[1].objectID).int("words") == 25)
    }

    @Test(
        "What only a later store can refuse leaves the earlier ones written, and says which are not",
        arguments: Backend.allCases)
    func partial(_ backend: Backend) throws {
        let stores = try TwoStores(Models.shop, backend, [nil, nil, nil])
        let first = stores.context()
        try first.make("Shop", in: stores.second, ["name": "taken"])
        try first.save()
        let context = stores.context()
        let near = context.make("Shop", ["name": "near"])
        let far = try context.make("Shop", in: stores.second, ["name": "taken"])
        let last = try context.make("Shop", in: stores.stores[2], ["name": "last"])
        let error = storeError { try context.save() }
        #expect(error?.code == .incompleteSave)
        #expect(error?.details.map(\.code) == [.constraintConflict])
        #expect(error?.affectedStores == stores.stores[1...].map(\.identity.identifier))
        #expect(error?.violations.first?.objects == [far.objectID])
        #expect(!near.isInserted && !near.objectID.isTemporary)
        #expect(context.insertedObjects == [far, last])
        #expect(try stores.counts("Shop") == [1, 1, 0])
        far["name"] = "free"
        try context.save()
        #expect(try stores.counts("Shop") == [1, 2, 1] && !context.hasChanges)
    }

    /// Gives new objects whose key is taken another one.
    private final class Renaming: MergePolicy {
        var asked = 0

        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            asked += list.count
            for conflict in list {
                for object in conflict.conflictingObjects where object.isInserted {
                    object["name"] = "free"
                }
            }
        }
    }

    @Test(
        "A policy of one's own resolves what a later store reports when others are written",
        arguments: Backend.allCases)
    func renaming(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let first = stores.context()
        let taken = try first.make("Shop", in: stores.second, ["name": "taken"])
        try first.save()
        let policy = Renaming(merge: .error)
        let context = stores.context(policy)
        let near = context.make("Shop", ["name": "near"])
        let far = try context.make("Shop", in: stores.second, ["name": "taken"])
        let product = try context.make("Product", in: stores.second, ["shop": far])
        try context.save()
        #expect(policy.asked == 1 && !context.hasChanges)
        #expect(far.string("name") == "free" && far.objectID != taken.objectID)
        #expect(product.object("shop") === far && !near.objectID.isTemporary)
        #expect(try stores.counts("Shop") == [1, 2])
    }

    @Test("Undoing goes on after a save that is only partly done", arguments: Backend.allCases)
    func undoing(_ backend: Backend) throws {
        let scene = try Scene(backend)
        scene.context.undoHistory = UndoHistory()
        let other = scene.stores.context()
        try other.make("Product", in: scene.stores.second, ["serialCode": "taken"])
        try other.save()
        scene.products[0]["name"] = "mine"
        scene.products[1]["serialCode"] = "taken"
        scene.context.processPendingChanges()
        #expect(storeError { try scene.context.save() }?.code == .incompleteSave)
        #expect(scene.context.updatedObjects == [scene.products[1]])
        scene.context.undo()
        #expect(scene.products.map { $0.string("name") } == ["old", "old"])
        #expect(scene.products[1].string("serialCode") == "1")
        try scene.context.save()
        #expect(try scene.stored() == ["old", "old", ""])
        scene.context.redo()
        #expect(scene.products[1].string("serialCode") == "taken")
    }

    @Test(
        "The order of a list in either store is saved, and put together with that of others",
        arguments: Backend.allCases)
    func orders(_ backend: Backend) throws {
        let stores = try TwoStores(Models.ordered, backend, [nil, nil])
        let context = stores.context()
        var folders: [ManagedObject] = []
        var lists: [ManagedObject] = []
        for store in stores.stores {
            let folder = try context.make("Folder", in: store, ["name": "f"])
            let items = try "abcdef".map {
                try context.make("Item", in: store, ["name": String($0)])
            }
            folder["items"] = items
            folders.append(folder)
            lists.append(try context.make("Playlist", in: store, ["items": items]))
        }
        try context.save()
        func order(_ object: ManagedObject, _ names: String) {
            let items = object.list("items")
            object["items"] = names.compactMap { name in
                items.first { $0.string("name") == String(name) }
            }
        }
        func names(_ context: ManagedObjectContext, _ objects: [ManagedObject]) -> [String] {
            objects.map { context.object(with: $0.objectID).names("items").joined() }
        }
        order(folders[1], "fedcba")
        order(lists[1], "badcfe")
        lists[0]["name"] = "untouched"
        try context.save()
        #expect(names(context, folders) == ["abcdef", "fedcba"])
        #expect(names(stores.context(), folders) == ["abcdef", "fedcba"])
        #expect(names(stores.context(), lists) == ["abcdef", "badcfe"])
        // Two change one list: whose policy wins keeps his order, and the other one sees what has come of it.
        let other = stores.context(.mergeByPropertyStoreTrump)
        // Somebody holds them, with what was read of them.
        let held = (folders + lists).map { other.object(with: $0.objectID) }
        _ = names(other, held)
        for object in folders + lists { order(object, "cbafed") }
        try context.save()
        for object in held { order(object, "efabcd") }
        try other.save()
        #expect(names(other, held) == Array(repeating: "cbafed", count: 4))
        #expect(names(stores.context(), held) == names(other, held))
        // New members stand where they were put.
        let new = try context.make("Item", in: stores.second, ["name": "x"])
        folders[1]["items"] = [new] + folders[1].list("items")
        try context.save()
        #expect(names(stores.alone(1), [folders[1]]) == ["xcbafed"])
    }
}
