// Lists that follow their context, told by a delegate.

import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Fetched results controllers")
struct FetchedResultsTests {
    /// Products by note and name, of whom those without a price are not asked for.
    private func products(
        _ context: ManagedObjectContext, sectioned: Bool = true, _ format: String? = nil,
        sort: [String] = ["note", "name"]
    ) throws -> FetchedResultsController<ManagedObject> {
        var request = FetchRequest(entityName: "Product")
        if let format { request.predicate = try PredicateNode(format: format) }
        request.sortDescriptors = sort.map { SortKey($0) }
        return FetchedResultsController(
            fetchRequest: request, managedObjectContext: context,
            sectionNameKeyPath: sectioned ? "note" : nil)
    }

    /// What a view's model would be: no word of isolation but that it is on the main actor.
    @MainActor
    private final class MainList: MainFetchedResultsControllerDelegate {
        var words: [String] = []

        func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
            words.append("will")
        }
        func controller(
            _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject,
            at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            words.append("\(type) \(object.string("name") ?? "")")
        }
        func controller(
            _ controller: FetchedResultsController<ManagedObject>,
            didChangeContentWith snapshot: FetchedResultsSnapshot
        ) {
            words.append("\(snapshot.itemIdentifiers.count)")
        }
        func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
            words.append("did")
        }
        func controller(
            _ controller: FetchedResultsController<ManagedObject>,
            sectionIndexTitleForSectionName name: String
        ) -> String? { "-\(name)" }
    }

    @Test("A class on the main actor is told as any other, and no longer than it lives")
    @MainActor func mainDelegates() throws {
        let stack = try Stack(Models.shop, .log)
        _ = try fill(stack)
        let context = stack.context()
        let controller = try products(context)
        var list: MainList? = MainList()
        controller.mainDelegate = list
        try controller.performFetch()
        #expect(controller.sectionIndexTitles == ["-x", "-y", "-z"])
        context.make("Product", ["name": "new", "note": "x"])
        context.processPendingChanges()
        #expect(list?.words == ["will", "insert new", "6", "did"])
        list = nil
        #expect(controller.mainDelegate == nil)
        context.make("Product", ["name": "newer", "note": "x"])
        context.processPendingChanges()
        controller.mainDelegate = nil
        #expect(controller.delegate == nil)
    }

    private func fill(_ stack: Stack) throws -> [ObjectID] {
        try stack.store { context in
            [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "z")].map {
                context.make("Product", ["name": $0.0, "note": $0.1, "price": 5.0])
            }
        }
    }

    private func shown(_ controller: FetchedResultsController<ManagedObject>) -> [String] {
        (controller.sections ?? []).map { section in
            section.name + ":" + section.objects.map { $0.string("name") ?? "" }.joined()
        }
    }

    @Test(
        "B130: a change to the section key moves the object between sections; an edit that leaves the predicate is a delete, one that enters it an insert; unrelated changes are not reported",
        arguments: Backend.allCases)
    func b130(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try fill(stack)
        let context = stack.context()
        let copy = try ListCopy(try products(context, "price > 1"))
        #expect(shown(copy.controller) == ["x:ab", "y:cd", "z:e"])
        let objects = ids.map { context.object(with: $0) }
        objects[1]["note"] = "y"
        context.processPendingChanges()
        #expect(copy.words == ["move 0.1 1.0"])
        #expect(shown(copy.controller) == ["x:a", "y:bcd", "z:e"])
        objects[3]["price"] = 0.5
        context.processPendingChanges()
        #expect(copy.words == ["delete 1.2"])
        objects[3]["price"] = 9.0
        context.processPendingChanges()
        #expect(copy.words == ["insert 1.2"])
        // In a property that neither the order nor the predicate is about, it is told as shown otherwise.
        objects[0]["stock"] = 3
        context.processPendingChanges()
        #expect(copy.words == ["update 0.0"])
        #expect(copy.lastSnapshot?.reconfiguredItemIdentifiers == [ids[0]])
        let changes = copy.changes
        context.make("Tag", ["label": "new"])
        context.make("Product", ["name": "cheap", "note": "x"])
        context.processPendingChanges()
        try context.save()
        #expect(copy.changes == changes && copy.errors.isEmpty)
    }

    @Test(
        "A save that only gives new objects their ids is told by the snapshot, and is no change",
        arguments: Backend.allCases, [true, false])
    func renaming(_ backend: Backend, _ sectioned: Bool) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try fill(stack)
        let context = stack.context()
        let copy = try ListCopy(try products(context, sectioned: sectioned))
        context.make("Product", ["name": "bb", "note": "x"])
        context.make("Product", ["name": "cc", "note": "y"])
        context.processPendingChanges()
        let changes = copy.changes
        #expect(copy.lastSnapshot?.itemIdentifiers.count { $0.isTemporary } == 2)
        // Of another entity.
        context.make("Shop", ["name": "s"])
        try context.save()
        #expect(copy.changes == changes && copy.errors.isEmpty)
        #expect(copy.lastSnapshot?.itemIdentifiers.contains { $0.isTemporary } == false)
        #expect(copy.lastSnapshot?.itemIdentifiers.count == 7)
        context.make("Shop", ["name": "t"])
        try context.save()
        #expect(copy.changes == changes)
        // It follows as before.
        let new = try context.find("Product", "name", .string("bb"))[0]
        new["name"] = "zz"
        context.processPendingChanges()
        #expect(copy.changes == changes + 1)
    }

    @Test(
        "Objects of descendants are in the list of their ancestor if they are asked for, and in their own",
        arguments: Backend.allCases)
    func descendants(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        try stack.store { context in
            [
                context.make("Car", ["numberPlate": "c1", "maker": "x"]),
                context.make("SportCar", ["numberPlate": "s1", "maker": "x", "team": "1"]),
                context.make("ExpensiveSportCar", ["numberPlate": "e1", "maker": "y"]),
                context.make("Truck", ["numberPlate": "t1", "maker": "y"]),
            ]
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        func list(
            _ entity: String, by key: String, _ format: String? = nil, alone: Bool = false
        ) throws -> ListCopy<ManagedObject> {
            var request = FetchRequest(entityName: entity)
            if let format { request.predicate = try PredicateNode(format: format) }
            request.includesSubentities = !alone
            request.sortDescriptors = [SortKey(key), SortKey("numberPlate")]
            return try ListCopy(
                FetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: key))
        }
        let all = try list("Car", by: "maker")
        let plain = try list("Car", by: "maker", alone: true)
        let racing = try list("SportCar", by: "team", "team != nil")
        func plates(_ copy: ListCopy<ManagedObject>) -> [String] {
            copy.sections.map { section in
                section.name + ":"
                    + section.objects.map { $0.string("numberPlate") ?? "" }.joined(separator: " ")
            }
        }
        func expect(
            _ cars: [String], _ alone: [String], _ teams: [String],
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            context.processPendingChanges()
            #expect(plates(all) == cars, sourceLocation: sourceLocation)
            #expect(plates(plain) == alone, sourceLocation: sourceLocation)
            #expect(plates(racing) == teams, sourceLocation: sourceLocation)
            for copy in [all, plain, racing] {
                #expect(copy.errors.isEmpty, sourceLocation: sourceLocation)
                copy.forget()
            }
        }
        expect(["x:c1 s1", "y:e1 t1"], ["x:c1"], ["1:s1"])
        // Unsaved, with a property that the ancestor lacks.
        context.make("Truck", ["numberPlate": "t0", "maker": "x", "permit": "p"])
        context.make("ExpensiveSportCar", ["numberPlate": "e0", "team": "1", "maker": "y"])
        expect(["x:c1 s1 t0", "y:e0 e1 t1"], ["x:c1"], ["1:e0 s1"])
        try context.save()
        // By others: a batch of a descendant, one that updates the whole family, one that deletes a part of it.
        try stack.context().execute(
            BatchInsertRequest(
                entityName: "SportCar",
                objects: [
                    ["numberPlate": "s2", "maker": "x", "team": "2"],
                    ["numberPlate": "s3", "maker": "z", "team": "3"],
                ]))
        expect(["x:c1 s1 s2 t0", "y:e0 e1 t1", "z:s3"], ["x:c1"], ["1:e0 s1", "2:s2", "3:s3"])
        var update = BatchUpdateRequest(entityName: "Car", propertiesToUpdate: ["maker": "w"])
        update.predicate = try PredicateNode(format: "maker == 'y' OR numberPlate == 'c1'")
        try stack.context().execute(update)
        expect(
            ["w:c1 e0 e1 t1", "x:s1 s2 t0", "z:s3"], ["w:c1"], ["1:e0 s1", "2:s2", "3:s3"])
        try stack.context().execute(BatchDeleteRequest(entityName: "SportCar"))
        expect(["w:c1 t1", "x:t0"], ["w:c1"], [])
    }

    @Test("Sections come and go with their objects", arguments: Backend.allCases)
    func sections(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try fill(stack)
        let context = stack.context()
        let copy = try ListCopy(try products(context))
        let objects = ids.map { context.object(with: $0) }
        objects[4]["note"] = "w"
        context.processPendingChanges()
        #expect(copy.deletedSections == [2] && copy.insertedSections.map(\.index) == [0])
        #expect(copy.words == ["move 2.0 0.0"])
        #expect(shown(copy.controller) == ["w:e", "x:ab", "y:cd"])
        context.delete(objects[0])
        context.delete(objects[1])
        context.processPendingChanges()
        #expect(copy.deletedSections == [1] && copy.words == ["delete 1.0", "delete 1.1"])
        let new = context.make("Product", ["name": "n", "note": nil])
        context.processPendingChanges()
        #expect(copy.insertedSections.map(\.name) == [""] && shown(copy.controller)[0] == ":n")
        let changes = copy.changes
        try context.save()
        #expect(copy.changes == changes, "a save that only gives ids changes nothing")
        #expect(copy.controller.indexPath(forObject: new) == IndexPath(item: 0, section: 0))
        #expect(copy.controller.object(at: IndexPath(item: 1, section: 2)) == objects[3])
        #expect(copy.controller.indexPath(forObject: objects[0]) == nil)
        #expect(copy.controller.indexPath(forObjectID: ids[2]) == IndexPath(item: 0, section: 2))
    }

    @Test(
        "An object moves if its order among the others changes, and is updated if only its key does"
    )
    func moves() throws {
        let stack = try Stack(Models.shop, .dictionary)
        let ids = try fill(stack)
        let context = stack.context()
        let copy = try ListCopy(try products(context, sectioned: false, sort: ["name"]))
        let objects = ids.map { context.object(with: $0) }
        objects[1]["name"] = "bb"
        context.processPendingChanges()
        #expect(copy.words == ["update 0.1"])
        objects[0]["name"] = "z"
        context.processPendingChanges()
        #expect(copy.words == ["move 0.0 0.4"])
        // Two change places: one of them stays.
        objects[2]["name"] = "dd"
        objects[3]["name"] = "cc"
        context.processPendingChanges()
        #expect(copy.words.count == 2 && copy.words.count { $0.hasPrefix("move") } == 1)
        #expect(copy.words.count { $0.hasPrefix("update") } == 1)
    }

    @Test("Index titles are first letters, or what somebody says")
    func titles() throws {
        let stack = try Stack(Models.shop, .dictionary)
        try stack.store { context in
            ["apple", "Avocado", "bean", "élan"].map {
                context.make("Product", ["name": $0, "note": $0])
            }
        }
        let controller = try products(stack.context())
        #expect(controller.sections == nil && controller.fetchedObjects == nil)
        #expect(controller.numberOfObjects == 0 && controller.sectionIndexTitles.isEmpty)
        try controller.performFetch()
        #expect(controller.sectionIndexTitles == ["A", "B", "É"])
        #expect(controller.sections?.map(\.name) == ["Avocado", "apple", "bean", "élan"])
        #expect(controller.sections?[1].indexTitle == "A")
        #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 2)
        final class Titled: FetchedResultsController<ManagedObject> {
            override func sectionIndexTitle(forSectionName name: String) -> String? {
                "\(name.count)"
            }
        }
        let titled = Titled(
            fetchRequest: controller.fetchRequest, managedObjectContext: stack.context(),
            sectionNameKeyPath: "note")
        try titled.performFetch()
        #expect(titled.sectionIndexTitles == ["7", "5", "4"])
    }

    @Test(
        "Sections that the order does not keep together are refused, and no such key",
        arguments: Backend.allCases)
    func refused(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try fill(stack)
        let context = stack.context()
        let wrong = try products(context, sort: ["name"])
        // Here it happens to fit, until it does not.
        let copy = try ListCopy(wrong)
        context.object(with: ids[0])["note"] = "z"
        context.processPendingChanges()
        #expect(copy.errors.map(\.code) == [.invalidRequest] && wrong.fetchedObjects == nil)
        #expect { try wrong.performFetch() } throws: {
            ($0 as? StoreError)?.code == .invalidRequest
        }
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("name")]
        let unknown = FetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "shade")
        #expect { try unknown.performFetch() } throws: {
            ($0 as? StoreError)?.code == .invalidRequest
        }
    }

    @Test("Rollback, undo, refreshing and reset are followed", arguments: Backend.allCases)
    func goingBack(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try fill(stack)
        let context = stack.context()
        context.undoHistory = UndoHistory()
        let copy = try ListCopy(try products(context))
        let objects = ids.map { context.object(with: $0) }
        context.delete(objects[2])
        objects[0]["note"] = "z"
        context.make("Product", ["name": "n", "note": "n"])
        context.processPendingChanges()
        #expect(shown(copy.controller) == ["n:n", "x:b", "y:d", "z:ae"])
        context.undo()
        context.processPendingChanges()
        #expect(shown(copy.controller) == ["x:ab", "y:cd", "z:e"])
        context.redo()
        context.processPendingChanges()
        #expect(shown(copy.controller) == ["n:n", "x:b", "y:d", "z:ae"])
        context.rollback()
        #expect(shown(copy.controller) == ["x:ab", "y:cd", "z:e"])
        let other = stack.context()
        other.object(with: ids[1])["note"] = "y"
        try other.save()
        context.refresh(objects[1], mergeChanges: true)
        context.processPendingChanges()
        #expect(shown(copy.controller) == ["x:a", "y:bcd", "z:e"])
        let changes = copy.changes
        context.reset()
        #expect(copy.changes == changes && copy.controller.fetchedObjects == nil)
        context.make("Product", ["name": "m", "note": "m"])
        context.processPendingChanges()
        #expect(copy.changes == changes)
        try copy.controller.performFetch()
        copy.begin()
        #expect(shown(copy.controller) == ["m:m", "x:a", "y:bcd", "z:e"])
        context.make("Product", ["name": "k", "note": "m"])
        context.processPendingChanges()
        #expect(copy.words == ["insert 0.0"])
    }

    @Test(
        "One merge of what others have written is one change, with objects that the context did not have",
        arguments: Backend.allCases)
    func merging(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try fill(stack)
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let copy = try ListCopy(try products(context, "price > 1"))
        let cheap = try stack.store {
            [$0.make("Product", ["name": "f", "note": "z", "price": 0.5])]
        }
        context.processPendingChanges()
        #expect(copy.changes == 0)
        let other = stack.context()
        other.object(with: cheap[0])["price"] = 3.0
        other.object(with: ids[0])["stock"] = 1
        other.delete(other.object(with: ids[2]))
        other.make("Product", ["name": "g", "note": "y", "price": 2.0])
        try other.save()
        context.processPendingChanges()
        #expect(copy.changes == 1)
        #expect(Set(copy.words) == ["delete 1.0", "insert 1.1", "insert 2.1", "update 0.0"])
        #expect(shown(copy.controller) == ["x:ab", "y:dg", "z:ef"])
        // Batch requests, its own among them.
        let rows: [[String: Any]] = [["name": "h", "note": "x", "price": 7.0]]
        _ = try context.execute(BatchInsertRequest(entityName: "Product", objects: rows))
        context.processPendingChanges()
        #expect(copy.words == ["insert 0.2"] && copy.changes == 2)
        let entity = context.entity(named: "Product").index
        _ = try stack.store.execute(BatchDeleteRequest(.ids([ids[4], ids[0]], entity: entity)))
        context.processPendingChanges()
        #expect(shown(copy.controller) == ["x:bh", "y:dg", "z:f"] && copy.changes == 3)
    }

    @Test(
        "Objects that the order or the predicate leads to are followed when they are stored",
        arguments: Backend.allCases)
    func related(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let shops = try stack.store { context in
            ["north", "south"].map { context.make("Shop", ["name": $0]) }
        }
        try stack.store { context in
            (0..<6).map { number in
                let product = context.make("Product", ["name": "\(number)"])
                product["shop"] = context.object(with: shops[number % 2])
                return product
            }
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("shop.name"), SortKey("name")]
        let copy = try ListCopy(
            FetchedResultsController(
                fetchRequest: request, managedObjectContext: context,
                sectionNameKeyPath: "shop.name"))
        var asked = FetchRequest(
            entityName: "Product", predicate: .compare("shop.name", .equal, .string("east")))
        asked.sortDescriptors = [SortKey("name")]
        let matching = try ListCopy(
            FetchedResultsController(fetchRequest: asked, managedObjectContext: context))
        #expect(shown(copy.controller) == ["north:024", "south:135"])
        let south = context.object(with: shops[1])
        south["name"] = "east"
        context.processPendingChanges()
        #expect(copy.changes == 0 && matching.changes == 0)
        try context.save()
        #expect(shown(copy.controller) == ["east:135", "north:024"])
        #expect(copy.deletedSections == [1] && copy.insertedSections.map(\.index) == [0])
        #expect(shown(matching.controller) == [":135"] && matching.changes == 1)
        // By somebody else, and of a shop that this context does not have.
        let other = stack.context()
        other.object(with: shops[0])["name"] = "down"
        try other.save()
        context.processPendingChanges()
        #expect(shown(copy.controller) == ["down:024", "east:135"])
        other.delete(try #require(other.find("Shop", "name", .string("east")).first))
        try other.save()
        context.processPendingChanges()
        #expect(shown(copy.controller) == [":135", "down:024"])
        #expect(shown(matching.controller) == [":"])
    }

    @Test("Work for a change does not grow with the list", arguments: Backend.allCases)
    func work(_ backend: Backend) throws {
        var reads: [Int] = []
        for count in [200, 6_000] {
            let store = CountingStore(try backend.makeStore(Schema(Models.shop)))
            let stack = Stack(store: store)
            let ids = try stack.products(count)
            let context = stack.context()
            context.automaticallyMergesChangesFromParent = true
            var request = FetchRequest(entityName: "Product")
            request.sortDescriptors = [SortKey("name")]
            let follower = ResultsFollower(
                request.terms, sectionKey: nil, holdsObjects: count == 200)
            try follower.load(context)
            follower.observe(context, isOwn: false)
            let before = store.reads
            context.object(with: ids[7])["name"] = "zzz"
            context.processPendingChanges()
            #expect(follower.list?.position(of: ids[7])?.index == count - 1)
            try context.save()
            let other = stack.context()
            other.object(with: ids[100])["name"] = "!"
            try other.save()
            context.processPendingChanges()
            #expect(follower.list?.position(of: ids[100])?.index == 0)
            reads.append(store.reads - before)
            #expect(follower.fetches == 1 && follower.looks <= 4)
            #expect((follower.list?.order.comparisons ?? 0) <= 60)
        }
        #expect(reads[0] <= 12 && reads[1] <= 12, "\(reads)")
    }

    @Test(
        "Without anybody who listens nothing is followed, and somebody who comes later is told what was missed"
    )
    func nobody() throws {
        let stack = try Stack(Models.shop, .dictionary)
        let ids = try fill(stack)
        let context = stack.context()
        let controller = try products(context)
        try controller.performFetch()
        #expect(context.observers.isEmpty)
        context.object(with: ids[0])["note"] = "z"
        context.processPendingChanges()
        #expect(shown(controller) == ["x:ab", "y:cd", "z:e"])
        final class Delegate: FetchedResultsControllerDelegate {
            typealias Result = ManagedObject
            var changes = 0
            func controllerDidChangeContent(_: FetchedResultsController<ManagedObject>) {
                changes += 1
            }
        }
        let delegate = Delegate()
        controller.delegate = delegate
        context.object(with: ids[1])["stock"] = 1
        context.processPendingChanges()
        #expect(delegate.changes == 1 && shown(controller) == ["x:b", "y:cd", "z:ae"])
        controller.delegate = nil
        context.object(with: ids[1])["note"] = "z"
        context.processPendingChanges()
        #expect(delegate.changes == 1 && context.observers.isEmpty)
    }

    @Test("With a batch size only what is asked for is read", arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try stack.products(500)
        let context = stack.context()
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("name")]
        request.fetchBatchSize = 20
        let controller = FetchedResultsController(
            fetchRequest: request, managedObjectContext: context)
        try controller.performFetch()
        #expect(controller.numberOfObjects == 500 && context.registeredObjects.isEmpty)
        let object = controller.object(at: IndexPath(item: 33, section: 0))
        #expect(object.string("name") == "128" && context.registeredObjects.count == 20)
        #expect(controller.sections?[0].objectIDs.count == 500)
        #expect(context.registeredObjects.count == 20)
    }

    @Test("The store cannot be read: the list stays, and follows when it can be read again")
    func failing() throws {
        let store = FailingStore(try Backend.log.makeStore(Schema(Models.shop)))
        let stack = Stack(store: store)
        let ids = try fill(stack)
        let context = stack.context()
        let copy = try ListCopy(try products(context))
        let other = stack.context()
        other.object(with: ids[0])["note"] = "y"
        try other.save()
        let object = context.object(with: ids[0])
        store.isFailing = true
        context.refresh(object, mergeChanges: false)
        context.processPendingChanges()
        #expect(copy.errors.map(\.code) == [.damaged])
        #expect(copy.controller.numberOfObjects == 5)
        store.isFailing = false
        _ = try? context.fetch(FetchRequest(entityName: "Tag"))
        context.refresh(object, mergeChanges: false)
        context.processPendingChanges()
        #expect(shown(copy.controller) == ["x:b", "y:acd", "z:e"])
    }

    @Test("Places that are not there are mistakes of the program")
    func misuse() async {
        await #expect(processExitsWith: .failure) {
            let context = try Stack(Models.shop, .dictionary).context()
            let controller = FetchedResultsController(
                fetchRequest: FetchRequest(entityName: "Product"), managedObjectContext: context)
            _ = controller.object(at: IndexPath(item: 0, section: 0))
        }
        await #expect(processExitsWith: .failure) {
            let context = try Stack(Models.shop, .dictionary).context()
            let controller = FetchedResultsController(
                fetchRequest: FetchRequest(entityName: "Product"), managedObjectContext: context)
            try controller.performFetch()
            _ = controller.object(at: IndexPath(item: 0, section: 0))
        }
    }
}
