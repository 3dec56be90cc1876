// Loops that read one by one are named, with what would cure them.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Advice")
struct AdviceTests {
    private func watched(_ backend: Backend) throws -> (
        EventRecorder, ManagedObjectContext, any PersistentStore
    ) {
        let recorder = EventRecorder(.advice)
        let store = try Kitchen.store(backend)
        return (recorder, ManagedObjectContext(store: store, instruments: [recorder]), store)
    }

    private func showTypes(_ recipes: some Sequence<ManagedObject>) {
        for recipe in recipes { _ = recipe.object("type")?["name"] }
    }

    @Test(
        "A to-one relationship that a loop reads is named once, however often the loop runs",
        arguments: Backend.allCases)
    func toOne(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend)
        for _ in 0..<3 { showTypes(try context.fetch(.recipes)) }
        #expect(recorder.advice.count == 1)
        let advice = try #require(recorder.advice.first)
        #expect(advice.keyPath == "type" && advice.relationship == "type")
        #expect(advice.entity == "Recipe" && advice.count == 20)
        #expect(
            advice.sentence
                == "Recipe.type queried the store 20 times for objects of one fetch (Recipe sorted by title): "
                + "add relationshipKeyPathsForPrefetching = [\"type\"] to it")
        // It is the values that differ, not the shape.
        for source in ["web", "book"] {
            var request = FetchRequest.recipes
            request.predicate = .compare("source", .equal, .string(source))
            showTypes(try context.fetch(request))
        }
        #expect(recorder.advice.count == 2)
        #expect(
            recorder.advice[1].request?.text(showsValues: false)
                == "Recipe where source == $value sorted by title")
        #expect(
            recorder.advice[1].request?.text(showsValues: true)
                == "Recipe where source == $value sorted by title", "no value is kept")
    }

    @Test("Pages of one list are one list", arguments: Backend.allCases)
    func pages(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend)
        var request = FetchRequest.recipes
        request.fetchLimit = 30
        for page in 0..<2 {
            request.fetchOffset = page * 30
            showTypes(try context.fetch(request))
        }
        #expect(recorder.advice.map(\.keyPath) == ["type"])
    }

    @Test(
        "What is read ahead already is not advised, though it was let go before it was used",
        arguments: Backend.allCases)
    func readAheadInVain(_ backend: Backend) throws {
        let recorder = EventRecorder([.advice, .faultMisses])
        let context = ManagedObjectContext(
            store: try Kitchen.store(backend), instruments: [recorder])
        var request = FetchRequest.recipes
        request.relationshipKeyPathsForPrefetching = ["type"]
        request.fetchBatchSize = 1
        // Each batch drops what was read ahead for the one before.
        showTypes(Array(try context.fetchLazily(request)))
        #expect(recorder.misses.count > 20 && recorder.advice.isEmpty)
        _ = recorder.take()
        request.relationshipKeyPathsForPrefetching = ["ingredients.unit"]
        let recipes = try context.fetch(request)
        context.rollback()
        for recipe in recipes {
            for ingredient in recipe.members("ingredients") {
                _ = ingredient.object("unit")?["name"]
            }
        }
        #expect(recorder.misses.count > 60 && recorder.advice.isEmpty)
    }

    @Test(
        "Rows that were read and let go of are not advised to be read", arguments: Backend.allCases)
    func refreshed(_ backend: Backend) throws {
        let recorder = EventRecorder([.advice, .faultMisses])
        let context = ManagedObjectContext(
            store: try Kitchen.store(backend), instruments: [recorder])
        var request = FetchRequest.recipes
        for isLazy in [false, true] {
            request.fetchBatchSize = 8
            let recipes =
                isLazy ? Array(try context.fetchLazily(request)) : try context.fetch(request)
            context.refreshAllObjects()
            for recipe in recipes { _ = recipe["title"] }
        }
        // What a fetch in batches gave is read a batch at a time, also again.
        #expect(!recorder.misses.isEmpty && recorder.advice.isEmpty)
    }

    /// Persons keep animals and treat dogs.
    private static let kennel: ManagedObjectModel = {
        let animal = EntityDescription(
            "Animal", attributes: [AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("keeper", to: "Person", inverse: "pets")])
        var dog = EntityDescription(
            "Dog",
            relationships: [RelationshipDescription("vet", to: "Person", inverse: "patients")])
        dog.superentityName = "Animal"
        let person = EntityDescription(
            "Person", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("pets", to: "Animal", toMany: true, inverse: "keeper"),
                RelationshipDescription("patients", to: "Dog", toMany: true, inverse: "vet"),
            ])
        return ManagedObjectModel(entities: [animal, dog, person])
    }()

    @Test(
        "A path that the request cannot read ahead along is not advised: a subentity has it",
        arguments: Backend.allCases)
    func subentities(_ backend: Backend) throws {
        let stack = try Stack(Self.kennel, backend)
        try stack.store { context in
            for number in 10..<35 {
                let keeper = context.make("Person", ["name": "keeper \(number)"])
                let vet = context.make("Person", ["name": "vet \(number)"])
                context.make("Dog", ["name": "dog \(number)", "keeper": keeper, "vet": vet])
            }
            return []
        }
        let recorder = EventRecorder([.advice, .faultMisses])
        func context() -> ManagedObjectContext {
            ManagedObjectContext(store: stack.store, instruments: [recorder])
        }
        func showVets(_ dogs: some Sequence<ManagedObject>) {
            for dog in dogs { _ = dog.object("vet")?["name"] }
        }
        showVets(try context().all("Animal"))
        #expect(recorder.misses.count == 25 && recorder.advice.isEmpty)
        _ = recorder.take()

        // The same at a later step.
        var keepers = FetchRequest(entityName: "Person")
        keepers.sortDescriptors = [SortKey("name")]
        keepers.fetchLimit = 25
        func showPets(_ context: ManagedObjectContext) throws {
            for keeper in try context.fetch(keepers) { showVets(keeper.members("pets")) }
        }
        try showPets(context())
        #expect(recorder.misses.count >= 50 && recorder.advice.map(\.keyPath) == ["pets"])
        keepers.relationshipKeyPathsForPrefetching = recorder.advice[0].prefetchedKeyPaths
        _ = recorder.take()
        try showPets(context())
        #expect(recorder.misses.count == 25 && recorder.advice.isEmpty)
        _ = recorder.take()

        // Its own fetch can.
        showVets(try context().all("Dog"))
        #expect(recorder.advice.map(\.prefetchedKeyPaths) == [["vet"]])
        var dogs = FetchRequest(entityName: "Dog")
        dogs.relationshipKeyPathsForPrefetching = ["vet"]
        _ = recorder.take()
        showVets(try context().fetch(dogs))
        #expect(recorder.events.isEmpty)
    }

    @Test("What is known of where objects came from goes with who wants advice, and with a reset")
    func forgets() throws {
        let board = InstrumentBoard([EventRecorder(.advice)])
        let context = ManagedObjectContext(
            store: try Kitchen.store(.log), classes: ObjectClasses(), board: board)
        for others in [[], [EventRecorder(.fetches)]] {
            _ = try context.fetch(.recipes)
            #expect(context.advisor != nil)
            let wanted = board.instruments
            board.set(others)
            _ = try context.fetch(.recipes)
            #expect(context.advisor == nil)
            board.set(wanted)
        }
        _ = try context.fetch(.recipes)
        #expect(context.advisor != nil)
        context.reset()
        #expect(context.advisor == nil)
    }

    @Test("What is followed is cured", arguments: Backend.allCases)
    func cured(_ backend: Backend) throws {
        let (recorder, context, store) = try watched(backend)
        showTypes(try context.fetch(.recipes))
        var request = FetchRequest.recipes
        request.relationshipKeyPathsForPrefetching = try #require(
            recorder.take().compactMap {
                if case .advice(let advice) = $0 { advice.prefetchedKeyPaths } else { nil }
            }.first)
        let fresh = ManagedObjectContext(store: store, instruments: [recorder])
        showTypes(try fresh.fetch(request))
        #expect(recorder.advice.isEmpty)
    }

    @Test("The members of each object, and what these lead to, are named by their whole paths")
    func nested() throws {
        let (recorder, context, _) = try watched(.log)
        func cook(_ request: FetchRequest<ManagedObject>) throws {
            for recipe in try context.fetch(request) {
                _ = recipe.object("type")?["name"]
                for ingredient in recipe.members("ingredients") {
                    _ = ingredient.object("unit")?["name"]
                }
            }
        }
        var request = FetchRequest.recipes
        try cook(request)
        // Members, their rows and their units, in the order in which they came to twenty.
        #expect(
            Set(recorder.advice.map(\.keyPath)) == ["type", "ingredients", "ingredients.unit"])
        #expect(recorder.advice.map(\.count) == [20, 20, 20])
        let unit = try #require(recorder.advice.first { $0.keyPath == "ingredients.unit" })
        #expect(unit.entity == "Ingredient" && unit.relationship == "unit")
        _ = recorder.take()

        // Objects that were read ahead know the way to them.
        request.relationshipKeyPathsForPrefetching = ["ingredients", "type"]
        request.fetchLimit = 50
        try cook(request)
        #expect(recorder.advice.map(\.keyPath) == ["ingredients.unit"])
        #expect(
            recorder.advice.first?.prefetchedKeyPaths == ["type", "ingredients.unit"],
            "the longer path has the shorter one in it")
        _ = recorder.take()
        request.relationshipKeyPathsForPrefetching = ["type", "ingredients.unit"]
        request.fetchLimit = 40
        try cook(request)
        #expect(recorder.advice.isEmpty)
    }

    @Test("Faults here and there are no loop", arguments: Backend.allCases)
    func single(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend)
        // Few of many.
        showTypes(try context.fetch(.recipes).prefix(19))
        // One of each of many fetches.
        for number in 0..<60 {
            var request = FetchRequest.recipes
            request.fetchOffset = number
            request.fetchLimit = 1
            showTypes(try context.fetch(request))
        }
        // The ingredients of one recipe.
        for ingredient in try context.fetch(.recipes)[0].members("ingredients") {
            _ = ingredient["name"]
        }
        #expect(recorder.advice.isEmpty)
    }

    @Test("The members of one object that came from no fetch", arguments: Backend.allCases)
    func byItself(_ backend: Backend) throws {
        let (recorder, context, store) = try watched(backend)
        let type = try ManagedObjectContext(store: store).all("Type")[0].objectID
        for recipe in context.object(with: type).members("recipes") { _ = recipe["title"] }
        #expect(recorder.advice.isEmpty, "they are ten")
        let unit = try ManagedObjectContext(store: store).all("Unit")[0].objectID
        for ingredient in context.object(with: unit).members("ingredients") {
            _ = ingredient["name"]
        }
        // Stores that programs use read the members' rows along with them.
        let expected =
            "Unit.ingredients queried the store 20 times for one object: fetch it with "
            + "relationshipKeyPathsForPrefetching = [\"ingredients\"]"
        #expect(recorder.advice.map(\.sentence) == (backend == .dictionary ? [expected] : []))
    }

    @Test("Objects that were fetched without their rows", arguments: Backend.allCases)
    func withoutRows(_ backend: Backend) throws {
        let (recorder, context, _) = try watched(backend)
        var request = FetchRequest.recipes
        request.includesPropertyValues = false
        for recipe in try context.fetch(request) { _ = recipe["title"] }
        #expect(
            recorder.advice.map(\.sentence) == [
                "20 objects from one fetch of Recipe were read one by one: "
                    + "a fetch with includesPropertyValues reads them all at once"
            ])
    }

    @Test(
        "A lazy fetch is advised as well, and reads ahead batch by batch",
        arguments: Backend.allCases)
    func lazy(_ backend: Backend) throws {
        let (recorder, context, store) = try watched(backend)
        var request = FetchRequest.recipes
        request.fetchBatchSize = 8
        showTypes(try context.fetchLazily(request))
        #expect(recorder.advice.map(\.keyPath) == ["type"])
        let fresh = EventRecorder()
        let other = ManagedObjectContext(store: store, instruments: [fresh])
        request.relationshipKeyPathsForPrefetching = ["type"]
        showTypes(try other.fetchLazily(request))
        #expect(fresh.advice.isEmpty && fresh.misses.isEmpty)
        #expect(fresh.fetches.count { $0.kind == .batch } == 8)
        #expect(fresh.fetches.count { $0.kind == .prefetch } == 8)
        let wrong = storeError {
            request.relationshipKeyPathsForPrefetching = ["colour"]
            _ = try other.fetchLazily(request)
        }
        #expect(wrong?.code == .invalidRequest)
    }

    @Test("A fetch beside the caller is advised as well", arguments: Backend.allCases)
    func asynchronous(_ backend: Backend) async throws {
        let (recorder, context, _) = try watched(backend)
        var request = FetchRequest.recipes
        request.relationshipKeyPathsForPrefetching = ["ingredients"]
        showTypes(try await context.fetchAsynchronously(request))
        #expect(recorder.advice.map(\.prefetchedKeyPaths) == [["ingredients", "type"]])
    }
}
