// Duplicates that lead to one another, that delete rules delete, and that others change meanwhile.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

@testable import CairnObjects

@Suite("Entangled duplicates")
struct EntangledDuplicatesTests {
    private func request(_ rule: DeduplicationRule = .smallest(by: "mark")) -> DeduplicationRequest
    {
        DeduplicationRequest(entityName: "Person", by: ["email"], keeping: rule)
    }

    /// People by their marks, which are in no order of their making.
    private func people(_ context: ManagedObjectContext, _ people: [(String, String)])
        -> [String: ManagedObject]
    {
        Dictionary(
            uniqueKeysWithValues: people.map { mark, email in
                (mark, context.make("Person", ["mark": mark, "email": email]))
            })
    }

    private func marks(_ stack: Stack) throws -> [String] {
        try stack.context().all("Person", sortedBy: "mark").compactMap { $0.string("mark") }
    }

    @Test(
        "A winner that somebody deletes meanwhile takes nobody with it",
        arguments: Backend.allCases, [DeduplicationRule.smallest(by: "mark"), .nullKey])
    func winnerGoes(_ backend: Backend, _ rule: DeduplicationRule) throws {
        let stack = try Stack(EntangledDuplicates.model(), backend)
        let ids = try stack.store { context in
            (1...3).map { context.make("Person", ["mark": "m\($0)", "email": "x"]) }
        }
        let questions = Atomic(0)
        let store = CountingStore(
            stack.store,
            onQuestion: { _ in
                guard questions.add(1, ordering: .relaxed).newValue == 2 else { return }
                let context = stack.context()
                context.delete(context.object(with: ids[0]))
                #expect(throws: Never.self) { try context.save() }
            })
        let result = try ManagedObjectContext(store: store).execute(request(rule))
        #expect(store.saves == 2 && result.groups.map(\.losers.count) == [1])
        let emails = try stack.context().all("Person", sortedBy: "mark").map { $0.string("email") }
        #expect(emails == (rule == .nullKey ? ["x", nil] : ["x"]))
    }

    @Test(
        "Duplicates are an error that names both if what leads to the loser cannot lead to the winner",
        arguments: Backend.allCases)
    func entities(_ backend: Backend) throws {
        let stack = try Stack(EntangledDuplicates.model(), backend)
        try stack.store { context in
            let people = people(context, [("a1", "a"), ("a2", "a"), ("p1", "p"), ("c", "c")])
            let worker = context.make("Worker", ["mark": "p2", "email": "p"])
            people["a1"]?["manager"] = worker
            people["c"]?["manager"] = worker
            return Array(people.values) + [worker]
        }
        let error = try #require(storeError { _ = try stack.context().execute(request()) })
        #expect(error.code == .constraintConflict)
        for words in ["Worker", "Person", "Person.manager"] {
            #expect(error.message.contains(words), "\(error)")
        }
        let left = try stack.context().all("Person", sortedBy: "mark")
        #expect(left.map { $0.string("mark") } == ["a1", "a2", "c", "p1", "p2"])
        #expect(left.filter { $0.object("manager") != nil }.count == 2, "nothing is lost")
    }

    @Test(
        "Delete rules of losers do not leave a key without anybody",
        arguments: Backend.allCases)
    func cascades(_ backend: Backend) throws {
        let stack = try Stack(EntangledDuplicates.model(childrenRule: .cascade), backend)
        try stack.store { context in
            let people = people(
                context,
                [
                    ("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("c", "c"), ("d1", "d"),
                    ("d2", "d"), ("e1", "e"), ("e2", "e"), ("f", "f"),
                ])
            // The winner of `a` has an heir, so that of the loser goes with it: the winner of `b`.
            people["a1"]?["heir"] = people["c"]
            people["a2"]?["heir"] = people["b1"]
            // A child of a loser whose children are kept out of it: one that has duplicates leads to the winner.
            people["e1"]?["parent"] = people["d2"]
            people["f"]?["parent"] = people["d2"]
            return Array(people.values)
        }
        let before = try marks(stack)
        let changes = ChangeRecorder(stack.store)
        let context = stack.context()
        context.undoHistory = UndoHistory()
        var request = request(.merge(["children": .keep], into: .smallest(by: "mark")))
        request.isDryRun = true
        // Whoever listens to all contexts learns nothing of what is not done.
        let posted = Atomic(0)
        let store = stack.store.identity.identifier
        let token = NotificationCenter.default.addObserver(
            forName: ManagedObjectContext.didChangeObjectsNotification, object: nil, queue: nil
        ) { notification in
            let objects = [
                ManagedObjectContext.NotificationKey.insertedObjects, .updatedObjects,
                .deletedObjects, .refreshedObjects, .invalidatedAllObjects,
            ].flatMap { notification.objects($0) }
            if objects.contains(where: { $0.objectID.store == store }) {
                posted.add(1, ordering: .relaxed)
            }
        }
        let planned = try context.execute(request)
        NotificationCenter.default.removeObserver(token)
        #expect(posted.load(ordering: .relaxed) == 0)
        #expect(planned.deletedCount == 4 && planned.cascadedCount == 1)
        #expect(try marks(stack) == before && changes.take().isEmpty)
        #expect(!context.hasChanges && context.undoHistory?.canUndo == false)
        request.isDryRun = false
        let result = try context.execute(request)
        #expect(result == planned)
        #expect(try marks(stack) == ["a1", "b2", "c", "d1", "e1"])
        #expect(result.deletedCount == 4 && result.cascadedCount == 1)
    }

    @Test(
        "A winner stays with its owner and its partner, in how many steps it may be done",
        arguments: Backend.allCases, [1, 20_000])
    func owners(_ backend: Backend, _ step: Int) throws {
        let stack = try Stack(EntangledDuplicates.model(), backend)
        try stack.store { context in
            let people = people(
                context,
                [
                    ("p1", "p"), ("p2", "p"), ("m1", "m"), ("m2", "m"), ("q", "q"), ("n1", "n"),
                    ("n2", "n"), ("c", "c"), ("b1", "b"), ("b2", "b"), ("o", "o"),
                ])
            people["m1"]?["parent"] = people["q"]
            people["m2"]?["parent"] = people["p2"]
            people["n2"]?["parent"] = people["p2"]
            people["o"]?["parent"] = people["p2"]
            // The one in the place of b's boss has an assistant already.
            people["c"]?["boss"] = people["p1"]
            people["b1"]?["boss"] = people["p2"]
            return Array(people.values)
        }
        let result = try Deduplicator.execute(request(), on: stack.store, keysAtATime: step)
        #expect(result.deletedCount == 4)
        let left = try stack.context().all("Person", sortedBy: "mark")
        #expect(left.compactMap { $0.string("mark") } == ["b1", "c", "m1", "n1", "o", "p1", "q"])
        let parents = left.map { $0.object("parent")?.string("mark") }
        #expect(parents == [nil, nil, "q", "p1", "p1", nil, nil])
        #expect(left[1].object("boss") === left[5] && left[0].object("boss") == nil)
    }

    @Test("Objects of several entities have one order", arguments: [false, true])
    func order(_ isTurned: Bool) throws {
        let stack = try Stack(EntangledDuplicates.model(), .dictionary)
        try stack.store { context in
            var people: [ManagedObject] = []
            let kinds: [(String, [String: Any?])] = [
                ("Worker", ["badge": "7", "email": "x", "visits": 2]),
                ("Person", ["email": "x", "visits": 1]),
            ]
            for (entity, values) in isTurned ? kinds.reversed() : kinds {
                people.append(context.make(entity, values))
                try? context.save()
            }
            return people
        }
        let result = try stack.context().execute(request(.mostComplete))
        #expect(result.deletedCount == 1)
        #expect(try stack.context().all("Person").map { $0.int("visits") } == [2])
        // With as much in each the values decide: those that both have come first.
        let other = try Stack(EntangledDuplicates.model(), .dictionary)
        try other.store { context in
            (isTurned ? [1, 2] : [2, 1]).map { visits in
                context.make(
                    visits == 1 ? "Person" : "Worker",
                    ["email": "x", "visits": visits, "mark": "m"])
            }
        }
        _ = try other.context().execute(request(.smallest(by: "mark")))
        #expect(try other.context().all("Person").map { $0.int("visits") } == [1])
    }

    @Test("Stores have duplicates of their own", arguments: Backend.allCases)
    func stores(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        for store in [stores.first, stores.second] {
            for number in 0..<2 {
                try context.make(
                    "Product", in: store, ["name": "twice", "note": "\(number)"])
            }
        }
        try context.make("Product", in: stores.first, ["name": "once"])
        try context.make("Product", in: stores.second, ["name": "once"])
        try context.save()
        let request = DeduplicationRequest(
            entityName: "Product", by: ["name"], keeping: .smallest(by: "note"))
        let result = try stores.context().execute(request)
        #expect(result.groups.count == 2 && result.deletedCount == 2)
        #expect(try stores.counts("Product") == [2, 2])
    }

    @Test("A key that is derived cannot be taken away")
    func derived() throws {
        var canonical = AttributeDescription("canonical", .string)
        canonical.derivationExpression = "canonical:(name)"
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Person", attributes: [AttributeDescription("name", .string), canonical])
        ])
        let stack = try Stack(model, .dictionary)
        let error = storeError {
            try stack.context().execute(
                DeduplicationRequest(
                    entityName: "Person", by: ["canonical"], keeping: .nullKey))
        }
        #expect(error?.code == .invalidRequest && error?.context.key == "canonical")
    }
}
