// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@Entity
final class Dish: ManagedObject {
    @Attribute(.unique) var name: String = ""
    var minutes: Int = 0
}

@Entity
final class Meal: ManagedObject {
    var guests: Int = 0
    var dish: URL?
}

@Suite("Several stores")
struct SeveralStores {
    private func model() -> ManagedObjectModel {
        // SeveralStores 1 begins
        var model = ManagedObjectModel(for: Dish.self, Meal.self)
        model.configurations = ["Cookbook": ["Dish"], "Diary": ["Dish", "Meal"]]
        // SeveralStores 1 ends
        return model
    }

    /// The cookbook that the program ships with.
    private func ship(_ path: String) throws {
        let container = try PersistentContainer(
            model: model(),
            stores: [PersistentStoreDescription(at: path, configuration: "Cookbook")],
            classes: ObjectClasses(for: Dish.self, Meal.self))
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        for (name, minutes) in [("soup", 30), ("stew", 90), ("toast", 5)] {
            let dish = context.insert(Dish.self)
            (dish.name, dish.minutes) = (name, minutes)
        }
        try context.save()
        try container.store.close()
    }

    /// How long pancakes take by the diary in a folder.
    private func minutes(_ path: String) throws -> Int? {
        let container = try PersistentContainer(
            at: path, model: model(), classes: ObjectClasses(for: Dish.self, Meal.self))
        defer { try? container.store.close() }
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        return try context.fetch(FetchRequest<Dish>()).first?.minutes
    }

    @MainActor
    @Test("A cookbook that cannot be written beside a diary that can")
    func cookbook() throws {
        let directory = try TemporaryDirectory()
        let (book, diary) = (directory.path("book.cairn"), directory.path("diary.cairn"))
        try ship(book)
        let model = model()
        // SeveralStores 2 begins
        var cookbook = PersistentStoreDescription(at: book, configuration: "Cookbook")
        cookbook.isReadOnly = true
        let container = try PersistentContainer(
            model: model,
            stores: [cookbook, PersistentStoreDescription(at: diary, configuration: "Diary")],
            classes: ObjectClasses(for: Dish.self, Meal.self))
        let context = container.viewContext

        let own = context.insert(Dish.self)
        own.name = "pancakes"
        own.minutes = 20
        try context.save()  // to the diary: the cookbook cannot be written

        let quick = try context.fetch(
            FetchRequest<Dish>(
                predicate: .compare("minutes", .lessOrEqual, .integer(30)),
                sortBy: [SortKey("minutes")]))
        // toast, pancakes and soup: of both stores, in one order
        // SeveralStores 2 ends
        #expect(quick.map(\.name) == ["toast", "pancakes", "soup"])
        let coordinator = try #require(container.persistentStoreCoordinator)
        #expect(own.objectID.store == coordinator.persistentStores[1].identity.identifier)
        // SeveralStores 3 begins
        let meal = context.insert(Meal.self)
        meal.guests = 4
        meal.dish = quick[0].objectID.uriRepresentation
        try context.save()

        if let uri = meal.dish, let id = coordinator.managedObjectID(forURIRepresentation: uri) {
            let dish = try context.existingObject(with: id)  // toast
            // SeveralStores 3 pauses
            #expect(dish === quick[0])
            // SeveralStores 3 goes on
        }
        // SeveralStores 3 ends
        // SeveralStores 4 begins
        let drafts = try coordinator.addPersistentStore(
            PersistentStoreDescription(inMemoryFor: "Diary"))
        let draft = context.insert(Meal.self)
        try context.assign(draft, to: drafts)
        try context.save()

        var request = FetchRequest<Meal>()
        request.affectedStores = [drafts]
        let unfinished = try context.fetch(request)  // the draft alone
        try coordinator.remove(drafts)
        let rest = try context.count(for: FetchRequest<Meal>())  // 1: the draft is gone
        // SeveralStores 4 ends
        #expect(unfinished == [draft] && rest == 1 && draft.isDeleted)
        let copy = directory.path("copy.cairn")
        // SeveralStores 5 begins
        if let store = coordinator.persistentStore(for: own.objectID) as? LogStore {
            _ = try store.backup(to: copy)
            try coordinator.setURL(URL(fileURLWithPath: copy), for: store)
        }
        own.minutes = 25
        try context.save()  // to the copy
        // SeveralStores 5 ends
        let summer = directory.path("summer.cairn")
        // SeveralStores 6 begins
        if let store = coordinator.persistentStore(for: own.objectID) {
            try coordinator.setMetadata(["title": .string("Summer")], for: store)
            let saved = try coordinator.migratePersistentStore(
                store, to: URL(fileURLWithPath: summer))
            let title = try coordinator.metadata(for: saved)["title"]  // Summer
            // SeveralStores 6 pauses
            #expect(title == .string("Summer"))
            // SeveralStores 6 goes on
        }
        own.minutes = 15
        try context.save()  // to the new folder
        // SeveralStores 6 ends
        try coordinator.close()
        #expect(try minutes(summer) == 15 && minutes(copy) == 25 && minutes(diary) == 20)
    }
}
