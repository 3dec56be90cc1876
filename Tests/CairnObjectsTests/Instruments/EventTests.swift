// What instruments are told of: each event, with its figures.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

@Suite("Events")
struct EventTests {
    private func watched(_ backend: Backend, _ kinds: StoreEventKinds = .all) throws -> (
        EventRecorder, ManagedObjectContext, any PersistentStore
    ) {
        let recorder = EventRecorder(kinds)
        let store = try Kitchen.store(backend)
        return (recorder, ManagedObjectContext(store: store, instruments: [recorder]), store)
    }

    // MARK: Fetches

    @Test("Each way to fetch is one event with its number of results", arguments: Backend.allCases)
    func fetches(_ backend: Backend) async throws {
        let (recorder, context, _) = try watched(backend, .fetches)
        context.name = "list"
        let web = PredicateNode.compare("source", .equal, .string("web"))
        var request = FetchRequest.recipes
        request.predicate = web
        request.fetchLimit = 20
        request.fetchOffset = 5
        #expect(try context.fetch(request).count == 20)
        #expect(try context.fetchObjectIDs(request).count == 20)
        #expect(try context.count(for: request) == 20)
        var values = FetchRequest<DictionaryResult>(entityName: "Recipe", predicate: web)
        values.propertiesToFetch = ["title", "type.name"]
        #expect(try context.fetch(values).count == 30)
        #expect(try await context.fetchAsynchronously(request).count == 20)
        #expect(try await context.fetchAsynchronously(values).count == 30)
        let events = recorder.fetches
        #expect(
            events.map(\.kind) == [.objects, .objectIDs, .count, .values, .objects, .values])
        #expect(events.map(\.count) == [20, 20, 20, 30, 20, 30])
        #expect(events.map(\.isAsynchronous) == [false, false, false, false, true, true])
        #expect(events.allSatisfy { $0.contextName == "list" && $0.error == nil })
        #expect(events.allSatisfy { $0.duration > .zero })
        #expect(
            events[0].request.text(showsValues: true)
                == "Recipe where source == 'web' sorted by title limit 20 offset 5")
        #expect(
            events[0].request.text(showsValues: false)
                == "Recipe where source == $value sorted by title limit 20 offset 5")
        #expect(
            events[3].request.text(showsValues: false)
                == "title, type.name of Recipe where source == $value")
        for event in events { #expect(try event.plan() != nil) }
    }

    @Test("A fetch that fails says so", arguments: Backend.allCases)
    func failure(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend)
        let wrong = FetchRequest(
            entityName: "Recipe", predicate: .compare("colour", .equal, .string("red")))
        let error = storeError { _ = try context.fetch(wrong) }
        #expect(error?.code == .invalidRequest)
        #expect(recorder.events.count == 1)
        #expect(recorder.fetches.first?.error?.code == .invalidRequest)
        #expect(try recorder.fetches.first?.plan() == nil)
    }

    @Test("A fetch beside the caller that fails says so", arguments: Backend.allCases)
    func asynchronousFailure(_ backend: Backend) async throws {
        let (recorder, context, _) = try watched(backend)
        let colour = PredicateNode.compare("colour", .equal, .string("red"))
        await #expect(throws: StoreError.self) {
            _ = try await context.fetchAsynchronously(
                FetchRequest(entityName: "Recipe", predicate: colour))
        }
        await #expect(throws: StoreError.self) {
            _ = try await context.fetchAsynchronously(
                FetchRequest<DictionaryResult>(entityName: "Recipe", predicate: colour))
        }
        #expect(recorder.events.count == 2)
        #expect(recorder.fetches.map(\.kind) == [.objects, .values])
        #expect(recorder.fetches.allSatisfy { $0.isAsynchronous })
        #expect(recorder.fetches.map(\.error?.code) == [.invalidRequest, .invalidRequest])
    }

    @Test("What a plan says is of the state that was asked", arguments: [Backend.log])
    func plans(_ backend: Backend) throws {
        let (recorder, context, store) = try watched(backend, .fetches)
        _ = try context.all("Recipe", sortedBy: "title")
        try Kitchen.fill(store)
        let plan = try #require(try recorder.fetches.first?.plan())
        #expect(plan.steps == "scan of Recipe\n  sorted by title")
        #expect(plan.allRows == 60 && plan.results == 60 && plan.blocksRead == 1)
    }

    @Test("Each step that is read ahead is one event", arguments: Backend.allCases)
    func prefetches(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend, .fetches)
        var request = FetchRequest.recipes
        request.relationshipKeyPathsForPrefetching = ["type", "ingredients.unit"]
        let recipes = try context.fetch(request)
        #expect(
            recorder.fetches.map(\.kind) == [.prefetch, .prefetch, .prefetch, .objects])
        #expect(
            recorder.fetches.map(\.keyPath) == ["type", "ingredients", "ingredients.unit", nil])
        #expect(recorder.fetches.map(\.count) == [6, 540, 3, 60])
        _ = recorder.take()
        // What is known is not read again.
        withExtendedLifetime(recipes.map { $0.object("type")?.string("name") }) {}
        #expect(recorder.events.isEmpty)
    }

    // MARK: Faults

    @Test("A fault is a hit if its row has come along, else a miss", arguments: Backend.allCases)
    func faults(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend, .faults)
        let recipe = try context.fetch(.recipes)[0]
        #expect(recorder.events.isEmpty)
        _ = recipe["title"]
        _ = recipe["source"]
        #expect(recorder.faults.map(\.isMiss) == [false])
        #expect(recorder.faults[0].entity == "Recipe" && recorder.faults[0].duration == .zero)
        _ = recorder.take()

        let type = try #require(recipe.object("type"))
        #expect(recorder.events.isEmpty, "a to-one relationship is a column")
        _ = type["name"]
        #expect(recorder.misses.map(\.entity) == ["Type"])
        #expect(recorder.misses[0].relationship == nil && recorder.misses[0].count == 1)
        #expect(recorder.misses[0].objectID == type.objectID)
        #expect(recorder.misses[0].duration > .zero)
        _ = recorder.take()

        let ingredients = recipe.members("ingredients")
        #expect(recorder.faults.count == 1 && recorder.misses.count == 1)
        #expect(recorder.misses[0].relationship == "ingredients")
        #expect(recorder.misses[0].entity == "Recipe" && recorder.misses[0].count == 9)
        for ingredient in ingredients { _ = ingredient["name"] }
        // Stores that programs use read the members' rows along with them.
        #expect(recorder.misses.count == (backend == .dictionary ? 10 : 1))
        _ = recipe.members("ingredients").map { $0["name"] }
        #expect(recorder.faults.count == 10, "what was looked at is no fault any more")
    }

    @Test("Members that were read ahead are a hit", arguments: Backend.allCases)
    func readAhead(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend, .faults)
        var request = FetchRequest.recipes
        request.fetchLimit = 1
        request.relationshipKeyPathsForPrefetching = ["ingredients"]
        let recipe = try context.fetch(request)[0]
        for ingredient in recipe.members("ingredients") { _ = ingredient["name"] }
        #expect(recorder.misses.isEmpty)
        #expect(recorder.faults.count == 10)
        #expect(recorder.faults[0].relationship == "ingredients" && recorder.faults[0].count == 9)
    }

    @Test("Members are read with their rows, and take rows that were read ahead for others")
    func readAheadElsewhere() throws {
        let (recorder, context, _) = try watched(.log, .faults)
        var request = FetchRequest.recipes
        request.relationshipKeyPathsForPrefetching = ["type"]
        let recipes = try context.fetch(request)
        func showIngredients(_ recipes: some Sequence<ManagedObject>) {
            for recipe in recipes {
                for ingredient in recipe.members("ingredients") { _ = ingredient["name"] }
            }
        }
        showIngredients(recipes.prefix(2))
        #expect(recorder.misses.map(\.relationship) == ["ingredients", "ingredients"])
        // Their members are known, but nobody holds them.
        request.relationshipKeyPathsForPrefetching = ["ingredients"]
        _ = try context.fetch(request)
        _ = recorder.take()
        showIngredients(recipes)
        #expect(recorder.misses.isEmpty)
    }

    /// Looks at its type when it awakes.
    private final class Looking: ManagedObject {
        override func awakeFromFetch() {
            super.awakeFromFetch()
            _ = object("type")?["name"]
        }
    }

    @Test("A hit is told of when the object is awake", arguments: Backend.allCases)
    func awake(_ backend: Backend) throws {
        let recorder = EventRecorder(.faults)
        let context = ManagedObjectContext(
            store: try Kitchen.store(backend), classes: ObjectClasses(["Recipe": Looking.self]),
            instruments: [recorder])
        let recipes = try context.fetch(.recipes)
        _ = recipes[0]["title"]
        try recipes[1].fulfill()
        #expect(recorder.faults.map(\.entity) == ["Type", "Recipe", "Type", "Recipe"])
        #expect(recorder.faults.map(\.isMiss) == [true, false, true, false])
    }

    @Test("An object that is gone is a miss that finds nothing", arguments: Backend.allCases)
    func gone(_ backend: Backend) throws {
        let (recorder, context, store) = try watched(backend, .faults)
        let id = try context.fetchObjectIDs(.recipes)[0]
        let other = ManagedObjectContext(store: store)
        other.delete(other.object(with: id))
        try other.save()
        #expect(context.object(with: id)["title"] == nil)
        #expect(recorder.misses.map(\.count) == [0])
        #expect(storeError { _ = try context.existingObject(with: id) }?.code == .objectNotFound)
    }

    @Test("Objects of a hierarchy are read to know what they are", arguments: Backend.allCases)
    func hierarchy(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let id = try stack.store { [$0.make("SportCar", ["maker": "m"])] }[0]
        let recorder = EventRecorder(.faults)
        let context = ManagedObjectContext(store: stack.store, instruments: [recorder])
        #expect(context.object(with: id).entity.name == "SportCar")
        #expect(recorder.misses.map(\.entity) == ["SportCar"])
    }

    @Test("A store that fails is told of with the fault", arguments: Backend.allCases)
    func failingFault(_ backend: Backend) throws {
        let store = FailingStore(try Kitchen.store(backend))
        let recorder = EventRecorder(.faults)
        let context = ManagedObjectContext(store: store, instruments: [recorder])
        let recipe = try context.fetch(.recipes)[0]
        store.isFailing = true
        #expect(recipe.members("ingredients").isEmpty)
        _ = recipe.object("type")?["name"]
        #expect(recorder.misses.map(\.error?.code) == [.damaged, .damaged])
        #expect(recorder.misses.map(\.relationship) == ["ingredients", nil])
    }

    @Test(
        "A store that fails is told of by objects of a hierarchy, and by what is read ahead",
        arguments: Backend.allCases)
    func failingReads(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let id = try stack.store { [$0.make("SportCar", ["maker": "m"])] }[0]
        var store = FailingStore(stack.store)
        let recorder = EventRecorder([.faults, .fetches])
        var context = ManagedObjectContext(store: store, instruments: [recorder])
        store.isFailing = true
        _ = context.object(with: id)
        #expect(recorder.misses.map(\.error?.code) == [.damaged])
        #expect(recorder.misses.map(\.entity) == ["Car"] && recorder.misses[0].objectID == id)
        _ = recorder.take()

        store = FailingStore(try Kitchen.store(backend))
        context = ManagedObjectContext(store: store, instruments: [recorder])
        var request = FetchRequest.recipes
        let recipes = try context.fetch(request)
        request.fetchBatchSize = 8
        request.relationshipKeyPathsForPrefetching = ["type", "ingredients"]
        let lazy = try context.fetchLazily(request)
        _ = recorder.take()
        store.isFailing = true
        #expect(lazy[0] === recipes[0])
        #expect(recorder.fetches.map(\.kind) == [.prefetch])
        #expect(recorder.fetches.map(\.keyPath) == ["type"])
        #expect(recorder.fetches.map(\.error?.code) == [.damaged])
    }

    // MARK: Changes

    @Test("A save tells what it wrote", arguments: Backend.allCases)
    func saves(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend, .saves)
        context.name = "editor"
        try context.save()
        #expect(recorder.events.isEmpty, "nothing is no save")
        let recipes = try context.fetch(.recipes)
        for number in 0..<4 { context.make("Type", ["name": "new \(number)"]) }
        try context.save()
        context.make("Type", ["name": "one more"])
        for recipe in recipes.prefix(3) { recipe["title"] = "changed" }
        context.delete(recipes[5])
        try context.save()
        #expect(recorder.saves.count == 2)
        let (first, second) = (recorder.saves[0], recorder.saves[1])
        #expect([first.inserted, first.updated, first.deleted] == [4, 0, 0])
        // Its nine ingredients go with the recipe.
        #expect([second.inserted, second.updated, second.deleted] == [1, 3, 10])
        #expect(recorder.saves.allSatisfy { $0.contextName == "editor" && $0.error == nil })
        #expect(recorder.saves.allSatisfy { $0.duration > .zero && $0.conflicts == 0 })
    }

    @Test("A save tells of objects that became one, and of members", arguments: Backend.allCases)
    func absorbed(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A"])] }
        let recorder = EventRecorder(.saves)
        let context = ManagedObjectContext(store: stack.store, instruments: [recorder])
        context.mergePolicy = .mergeByPropertyObjectTrump
        context.make("Product", ["serialCode": "A", "name": "again"])
        context.make("Product", ["serialCode": "B"])
        try context.save()
        #expect(recorder.saves.map(\.inserted) == [2] && recorder.saves.map(\.absorbed) == [1])
        let product = try context.all("Product")[0]
        product["tags"] = [context.make("Tag", ["label": "red"])]
        try context.save()
        #expect(recorder.saves.map(\.memberChanges) == [0, 1])
    }

    /// Takes what is there, in two steps.
    private final class Yielding: MergePolicy {
        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            for conflict in list {
                for object in conflict.conflictingObjects { object["serialCode"] = "C" }
            }
        }
    }

    @Test("A save tells of conflicts and of what it failed by", arguments: Backend.allCases)
    func conflicts(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A"])] }
        let recorder = EventRecorder(.saves)
        let context = ManagedObjectContext(store: stack.store, instruments: [recorder])
        context.make("Product", ["serialCode": "A"])
        let error = storeError { try context.save() }
        #expect(error?.code == .constraintConflict)
        #expect(recorder.saves.count == 1 && recorder.saves[0].conflicts == 1)
        #expect((recorder.saves[0].error as? StoreError)?.code == .constraintConflict)
        context.mergePolicy = Yielding(merge: .error)
        try context.save()
        #expect(recorder.saves.count == 2 && recorder.saves[1].conflicts == 1)
        #expect(recorder.saves[1].error == nil && recorder.saves[1].inserted == 1)
    }

    private final class Strict: MergePolicy {}

    private final class Idle: MergePolicy {
        override func resolve(mergeConflicts list: [Any]) throws {}
    }

    @Test(
        "A conflict counts once, also if a policy of one's own gives it back",
        arguments: Backend.allCases)
    func conflictsOfPolicies(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A"])] }
        let recorder = EventRecorder(.saves)
        let context = ManagedObjectContext(store: stack.store, instruments: [recorder])
        context.make("Product", ["serialCode": "A"])
        for policy: MergePolicy in [.error, Strict(merge: .error), Idle(merge: .error)] {
            context.mergePolicy = policy
            #expect(storeError { try context.save() }?.code == .constraintConflict)
        }
        #expect(recorder.saves.map(\.conflicts) == [1, 1, 1])
    }

    @Test("A save that validation forbids is told of", arguments: Backend.allCases)
    func invalid(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        let recorder = EventRecorder()
        let context = ManagedObjectContext(store: stack.store, instruments: [recorder])
        context.make("Thing", ["needed": nil])
        #expect(storeError { try context.save() } != nil)
        #expect(recorder.events.count == 1 && recorder.saves.first?.error != nil)
    }

    @Test("Batch requests tell what they did", arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let recorder = EventRecorder(.batches)
        let context = ManagedObjectContext(store: stack.store, instruments: [recorder])
        context.mergePolicy = .mergeByPropertyObjectTrump
        for name in ["first", "second"] {
            try context.execute(
                BatchInsertRequest(
                    entityName: "Product",
                    objects: [["serialCode": "A", "name": name], ["serialCode": name]]))
        }
        try context.executeBatchDelete(FetchRequest(entityName: "Product"))
        let wrong = BatchInsertRequest(entityName: "Nothing", objects: [["a": 1]])
        #expect(storeError { try context.execute(wrong) } != nil)
        let events = recorder.batches
        #expect(events.map(\.kind) == [.insert, .insert, .delete, .insert])
        #expect(events.map(\.entity) == ["Product", "Product", "Product", "Nothing"])
        #expect(events.map(\.inserted) == [2, 1, 0, 0] && events.map(\.updated) == [0, 1, 0, 0])
        #expect(events.map(\.deleted) == [0, 0, 3, 0])
        #expect(events.map { $0.error == nil } == [true, true, true, false])
    }

    @Test("Refreshing tells how many objects", arguments: Backend.allCases)
    func refreshes(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend, .refreshes)
        let recipes = try context.fetch(.recipes)
        context.refresh(recipes[0], mergeChanges: false)
        recipes[1]["title"] = "changed"
        context.refreshAllObjects()
        #expect(recorder.refreshes.map(\.count) == [1, 60])
        _ = recorder.take()
        context.refresh(context.make("Recipe"), mergeChanges: true)
        context.rollback()
        context.reset()
        #expect(recorder.refreshes.isEmpty, "there is nothing to refresh a new object to")
    }

    // MARK: Off

    @Test("Without instruments nothing is told, and what is not wanted is not made")
    func off() async throws {
        let store = try Kitchen.store(.log)
        let recorder = EventRecorder()
        let container = PersistentContainer(store: store)
        func work() async throws {
            try await container.performBackgroundTask { context in
                for recipe in try context.fetch(.recipes) { _ = recipe.object("type")?["name"] }
                context.make("Type")
                try context.save()
            }
        }
        try await work()
        #expect(recorder.events.isEmpty)
        container.instruments = [recorder]
        #expect(container.instruments.count == 1)
        try await work()
        #expect(recorder.fetches.count == 1 && recorder.saves.count == 1)
        #expect(recorder.faults.count == 120 && recorder.advice.count == 1)
        _ = recorder.take()
        container.instruments = []
        try await work()
        #expect(recorder.events.isEmpty)
        let picky = EventRecorder(.saves)
        container.instruments = [picky]
        try await work()
        #expect(picky.events.count == 1 && picky.saves.count == 1)
        container.instruments = [EventRecorder([]), recorder]
        let background = container.newBackgroundContext()
        _ = try await background.perform { try $0.fetch(.recipes).count }
        #expect(recorder.fetches.count == 1)
    }

    @Test("Being watched asks the store nothing more", arguments: Backend.allCases)
    func asksNothingMore(_ backend: Backend) throws {
        let base = try Kitchen.store(backend)
        func reads(_ instruments: [any Instrument]) throws -> Int {
            let store = CountingStore(base)
            let context = ManagedObjectContext(store: store, instruments: instruments)
            var request = FetchRequest.recipes
            request.relationshipKeyPathsForPrefetching = ["ingredients"]
            for recipe in try context.fetch(request) {
                _ = recipe.object("type")?["name"]
                for ingredient in recipe.members("ingredients") {
                    _ = ingredient.object("unit")?["name"]
                }
            }
            for recipe in try context.fetchLazily(request) { _ = recipe["title"] }
            _ = try context.count("Recipe")
            return store.reads
        }
        let plain = try reads([])
        #expect(plain > 100)
        #expect(try reads([EventRecorder()]) == plain)
    }

    @Test("Contexts of many threads tell one instrument")
    func threads() throws {
        let store = try Kitchen.store(.log)
        let recorder = EventRecorder()
        let failures = Mutex<[String]>([])
        TestThreads.run(4) { number in
            do {
                for round in 0..<5 {
                    let context = ManagedObjectContext(store: store, instruments: [recorder])
                    context.name = "thread \(number)"
                    for recipe in try context.fetch(.recipes) {
                        _ = recipe.object("type")?["name"]
                    }
                    context.make("Unit", ["name": "\(number) \(round)"])
                    try context.save()
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(recorder.fetches.count == 20 && recorder.saves.count == 20)
        #expect(recorder.misses.count == 1200 && recorder.advice.count == 20)
        for number in 0..<4 {
            #expect(recorder.saves.count { $0.contextName == "thread \(number)" } == 5)
        }
    }

    @Test("Instruments change while contexts of a container work")
    func exchanged() async throws {
        let container = PersistentContainer(store: try Kitchen.store(.log))
        let recorder = EventRecorder()
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    await container.performBackgroundTask { context in
                        var found = 0
                        for _ in 0..<30 {
                            for recipe in (try? context.fetch(.recipes)) ?? [] {
                                if recipe.object("type")?["name"] != nil { found += 1 }
                            }
                        }
                        return found
                    }
                }
            }
            group.addTask {
                for round in 0..<1000 {
                    container.instruments = round % 2 == 0 ? [recorder] : []
                }
                return 0
            }
            var found = 0
            for await part in group { found += part }
            #expect(found == 3 * 30 * 60)
        }
        container.instruments = [recorder]
        _ = recorder.take()
        _ = await container.performBackgroundTask { try? $0.count("Recipe") }
        #expect(recorder.fetches.map(\.kind) == [.count])
    }
}
