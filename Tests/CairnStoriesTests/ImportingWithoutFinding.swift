// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

// ImportingWithoutFinding 1 begins
@Entity
final class Recipe: ManagedObject {
    #Unique<Recipe>([\.source, \.externalID])
    var source: String
    var externalID: String
    var title: String = ""
    var note: String?
}

func importRecipes(
    _ feed: [(id: String, title: String)], _ context: ManagedObjectContext
) throws {
    for item in feed {
        let recipe = context.insert(Recipe.self)
        recipe.source = "web"
        recipe.externalID = item.id
        recipe.title = item.title
    }
    try context.save()
}
// ImportingWithoutFinding 1 ends

// ImportingWithoutFinding 6 begins
@Entity
final class Product: ManagedObject {
    @Attribute(.unique) var serialCode: String
    var price: Double = 0
    @Relationship(inverse: \Tag.products) var tags: Set<Tag>
    @Relationship(inverse: \Shop.products) var shop: Shop?
}

@Entity
final class Tag: ManagedObject {
    var label: String = ""
    var products: Set<Product>
}

@Entity
final class Shop: ManagedObject {
    var name: String = ""
    var products: Set<Product>
}
// ImportingWithoutFinding 6 ends

@Suite("Import without find-or-create")
struct ImportingWithoutFinding {
    private func titles(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Recipe>(sortBy: [SortKey("externalID")])).map(\.title)
    }

    @Test(
        "Under the error policy the second import says what stands against it, and changes nothing",
        arguments: Backend.compared)
    func refused(_ backend: Backend) async throws {
        let container = try backend.container(for: Recipe.self)
        try await container.performBackgroundTask { context in
            // ImportingWithoutFinding 2 begins
            let feed = [(id: "1", title: "Borscht"), (id: "2", title: "Pho")]
            try importRecipes(feed, context)

            var clashes: [String] = []
            do {
                try importRecipes([(id: "2", title: "Pho bo"), (id: "3", title: "Ramen")], context)
            } catch let error as StoreError where error.code == .constraintConflict {
                for case let conflict as ConstraintConflict in context.conflicts(in: error) {
                    let known = conflict.databaseObject as? Recipe
                    let new = conflict.conflictingObjects[0] as? Recipe
                    let key = conflict.constraintValues["externalID"] as? String
                    clashes.append("\(key ?? ""): \(known?.title ?? "") or \(new?.title ?? "")")
                }
                context.rollback()
            }
            // clashes is ["2: Pho or Pho bo"], and nothing of the second feed is stored.
            // ImportingWithoutFinding 2 ends
            #expect(clashes == ["2: Pho or Pho bo"])
            #expect(!context.hasChanges)
            #expect(try titles(context) == ["Borscht", "Pho"])
            try importRecipes([(id: "3", title: "Ramen")], context)
            #expect(try titles(context) == ["Borscht", "Pho", "Ramen"])
        }
    }

    @Test(
        "What stands against it can be dropped, and the rest of the import be saved",
        arguments: Backend.compared)
    func discarded(_ backend: Backend) async throws {
        let container = try backend.container(for: Recipe.self)
        try await container.performBackgroundTask { context in
            try importRecipes([(id: "1", title: "Borscht"), (id: "2", title: "Pho")], context)
            var titlesOfDropped: [String] = []
            // ImportingWithoutFinding 3 begins
            do {
                try importRecipes([(id: "2", title: "Pho bo"), (id: "3", title: "Ramen")], context)
            } catch let error as StoreError where error.code == .constraintConflict {
                let dropped = context.discard(error.conflicts)
                // The new Pho bo, which has left the context.
                // ImportingWithoutFinding 3 pauses
                titlesOfDropped = dropped.compactMap { ($0 as? Recipe)?.title }
                #expect(dropped.allSatisfy { $0.managedObjectContext == nil })
                // ImportingWithoutFinding 3 goes on
                try context.save()
            }
            // Borscht, Pho and Ramen are stored.
            // ImportingWithoutFinding 3 ends
            #expect(titlesOfDropped == ["Pho bo"])
            #expect(!context.hasChanges)
            #expect(try titles(context) == ["Borscht", "Pho", "Ramen"])
        }
    }

    @Test(
        "Five imports leave one object for each recipe, with the values of the last, also where they are nil",
        arguments: Backend.compared)
    func replaced(_ backend: Backend) async throws {
        let container = try backend.container(for: Recipe.self)
        try await container.performBackgroundTask { context in
            try importRecipes([(id: "1", title: "Borscht"), (id: "2", title: "Pho")], context)
            try context.fetch(FetchRequest<Recipe>())[0].note = "with beetroot"
            try context.save()
        }
        try await container.performBackgroundTask { context in
            // ImportingWithoutFinding 4 begins
            context.mergePolicy = .mergeByPropertyObjectTrump
            for round in 1...5 {
                try importRecipes(
                    [(id: "1", title: "Borscht \(round)"), (id: "2", title: "Pho \(round)")],
                    context)
            }
            let recipes = try context.fetch(FetchRequest<Recipe>(sortBy: [SortKey("externalID")]))
            // Two recipes: Borscht 5 and Pho 5. Whatever note they had is nil, as it is on the new ones.
            // ImportingWithoutFinding 4 ends
            #expect(recipes.map(\.title) == ["Borscht 5", "Pho 5"])
            #expect(recipes.map(\.note) == [nil, nil])
        }
    }

    @Test("With set-only a new object gives only what was set on it", arguments: Backend.compared)
    func setOnly(_ backend: Backend) async throws {
        let container = try backend.container(for: Recipe.self)
        try await container.performBackgroundTask { context in
            try importRecipes([(id: "1", title: "Borscht")], context)
            try context.fetch(FetchRequest<Recipe>())[0].note = "with beetroot"
            try context.save()
        }
        try await container.performBackgroundTask { context in
            // ImportingWithoutFinding 5 begins
            context.mergePolicy = MergePolicy(merge: .mergeByPropertyObjectTrump, setOnly: true)
            try importRecipes([(id: "1", title: "Borshch")], context)
            let recipe = try context.fetch(FetchRequest<Recipe>())[0]
            // Borshch, and the note is still "with beetroot": the import did not set it.
            // ImportingWithoutFinding 5 ends
            #expect(recipe.title == "Borshch" && recipe.note == "with beetroot")
            #expect(try context.count(for: FetchRequest<Recipe>()) == 1)
        }
    }

    @Test("Tags and shop survive the update of a price", arguments: Backend.compared)
    func tags(_ backend: Backend) async throws {
        let container = try backend.container(for: Product.self)
        let survived = try await container.performBackgroundTask { context in
            // ImportingWithoutFinding 7 begins
            let anchor = context.insert(Product.self)
            anchor.serialCode = "A-1"
            anchor.price = 9.5
            let tag = context.insert(Tag.self)
            tag.label = "heavy"
            anchor.tags = [tag]
            let shop = context.insert(Shop.self)
            shop.name = "Harbour"
            anchor.shop = shop
            try context.save()

            // The feed knows nothing of tags and shops.
            context.mergePolicy = .mergeByPropertyObjectTrump
            let update = context.insert(Product.self)
            update.serialCode = "A-1"
            update.price = 7.25
            try context.save()
            // anchor costs 7.25 and has its tag and its shop; update is deleted.
            // ImportingWithoutFinding 7 ends
            #expect(update.isDeleted && !anchor.isDeleted)
            #expect(anchor.tags == [tag] && tag.products == [anchor])
            #expect(anchor.shop == shop && shop.products == [anchor])
            return anchor.price == 7.25
        }
        #expect(survived)
        let products = try await container.performBackgroundTask { context in
            try context.fetch(FetchRequest<Product>()).map {
                "\($0.serialCode) \($0.price) \($0.tags.map(\.label)) \($0.shop?.name ?? "-")"
            }
        }
        #expect(products == ["A-1 7.25 [\"heavy\"] Harbour"])
    }

    @Test(
        "Of two new ones with the same key the one that was created first survives",
        arguments: Backend.compared)
    func twoNew(_ backend: Backend) async throws {
        let container = try backend.container(for: Product.self)
        try await container.performBackgroundTask { context in
            // ImportingWithoutFinding 8 begins
            context.mergePolicy = .mergeByPropertyObjectTrump
            let first = context.insert(Product.self)
            first.serialCode = "A-1"
            let second = context.insert(Product.self)
            second.serialCode = "A-1"
            let tag = context.insert(Tag.self)
            tag.products = [second]
            try context.save()
            // first is stored, second is deleted, and the tag is that of first.
            // ImportingWithoutFinding 8 ends
            #expect(!first.isDeleted && second.isDeleted)
            #expect(first.tags == [tag] && tag.products == [first])
            #expect(try context.count(for: FetchRequest<Product>()) == 1)
        }
    }
}
