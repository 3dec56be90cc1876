// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

/// A cookbook whose entities are called as those of other articles.
enum Cookbook {
    // UnwantedRecipes 1 begins
    @Entity
    final class Recipe: ManagedObject {
        var title: String = ""
        var rating: Int = 0
        @Relationship(deleteRule: .cascade, inverse: \Step.recipe) var steps: Set<Step>
        @Relationship(inverse: \Menu.recipes) var menus: Set<Menu>
    }

    @Entity
    final class Step: ManagedObject {
        var text: String = ""
        var recipe: Recipe?
    }

    @Entity
    final class Menu: ManagedObject {
        var name: String = ""
        var recipes: Set<Recipe>
    }
    // UnwantedRecipes 1 ends
}

@Suite("Thousands of unwanted recipes")
struct UnwantedRecipes {
    typealias Recipe = Cookbook.Recipe
    typealias Step = Cookbook.Step
    typealias Menu = Cookbook.Menu

    /// Takes the events of a container.
    private final class Events: Instrument {
        private let kept = Mutex<[StoreEventKinds]>([])

        func receive(_ event: StoreEvent) { kept.withLock { $0.append(event.kind) } }

        var all: [StoreEventKinds] { kept.withLock { $0 } }
    }

    /// 3,000 recipes with two steps each, every third of them unwanted, and a menu of the first six.
    private func prepare(_ container: PersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            let menu = context.insert(Menu.self)
            menu.name = "Sunday"
            for number in 0..<3_000 {
                let recipe = context.insert(Recipe.self)
                recipe.title = "recipe \(number)"
                recipe.rating = number % 3 == 0 ? 1 : 4
                for _ in 0..<2 { context.insert(Step.self).recipe = recipe }
                if number < 6 { menu.recipes.insert(recipe) }
            }
            try context.save()
        }
    }

    @Test(
        "One request deletes them, with what is theirs, and no object is made for it",
        arguments: Backend.compared)
    func deleted(_ backend: Backend) async throws {
        let container = try backend.container(for: Recipe.self)
        try await prepare(container)
        let events = Events()
        container.instruments = [events]
        try await container.performBackgroundTask { context in
            // UnwantedRecipes 2 begins
            let unwanted = try FetchRequest<Recipe>(#Predicate { $0.rating < 2 })
            let result = try context.executeBatchDelete(unwanted)
            // result.deletedCount is 1000; result.cascadedCount is 2000: the steps of these recipes.
            // UnwantedRecipes 2 ends
            #expect(result.deletedCount == 1_000 && result.cascadedCount == 2_000)
            #expect(context.registeredObjects.isEmpty && events.all == [.batches])
            #expect(try context.count(for: unwanted) == 0)
            #expect(try context.count(for: FetchRequest<Recipe>()) == 2_000)
            #expect(try context.count(for: FetchRequest<Step>()) == 4_000)
            let menu = try context.fetch(FetchRequest<Menu>())[0]
            #expect(
                menu.recipes.map(\.title).sorted()
                    == ["recipe 1", "recipe 2", "recipe 4", "recipe 5"])
        }
    }

    @MainActor
    @Test("Contexts that show some of them are told", arguments: Backend.compared)
    func told(_ backend: Backend) async throws {
        let container = try backend.container(for: Recipe.self)
        try await prepare(container)
        let wait = OpenWait(for: "the deletions to be shown")
        defer { wait.end() }
        // UnwantedRecipes 3 begins
        let view = container.viewContext
        view.automaticallyMergesChangesFromParent = true
        let menu = try view.fetch(FetchRequest<Menu>())[0]
        let shown = menu.recipes  // six, two of them unwanted
        let changes = view.changes

        try await container.performBackgroundTask { context in
            let unwanted = try FetchRequest<Recipe>(#Predicate { $0.rating < 2 })
            try context.executeBatchDelete(unwanted)
        }
        for await change in changes where !change.deletedObjectIDs.isEmpty {
            // The two that are shown. The others are not in this context, and cost it nothing.
            // UnwantedRecipes 3 pauses
            #expect(change.deletedObjectIDs.count == 2)
            // UnwantedRecipes 3 goes on
            break
        }
        // menu.recipes has four members, and two of shown are deleted.
        // UnwantedRecipes 3 ends
        #expect(menu.recipes.count == 4)
        #expect(shown.count == 6 && shown.filter(\.isDeleted).count == 2)
        try view.save()
        #expect(try view.count(for: FetchRequest<Recipe>()) == 2_000)
    }

    @Test(
        "Or the ids are asked for, and merged where they are wanted", arguments: Backend.compared)
    func reported(_ backend: Backend) async throws {
        let container = try backend.container(for: Recipe.self)
        try await prepare(container)
        try await container.performBackgroundTask { context in
            let recipes = try context.fetch(
                FetchRequest<Recipe>(predicate: PredicateNode(format: "title ENDSWITH '00'")))
            // UnwantedRecipes 4 begins
            let unwanted = try FetchRequest<Recipe>(#Predicate { $0.rating < 2 })
            let entity = context.entity(for: Recipe.self).index
            var request = BatchDeleteRequest(
                .fetch(StoreFetch(entity: entity, predicate: unwanted.predicate)))
            request.reportsIDs = true
            let result = try context.execute(request)
            ManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [.deletedObjectIDs: result.objectIDs], into: [context])
            // UnwantedRecipes 4 ends
            // The ids of recipes and of steps.
            #expect(result.objectIDs.count == 3_000)
            #expect(recipes.count == 29)
            #expect(recipes.filter(\.isDeleted).count == 9)
            #expect(recipes.allSatisfy { $0.isDeleted == ($0.rating == 1) })
        }
    }
}
