// Containers, background contexts, and many at once.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Synchronization
import Testing

@Suite("Containers")
struct ContainerTests {
    @Test("A background context gives values, not objects", arguments: Backend.allCases)
    func perform(_ backend: Backend) async throws {
        let container = try Stack(Models.shop, backend).container
        let background = container.newBackgroundContext()
        let id = try await background.perform { context in
            let product = context.make("Product", ["name": "n"])
            try context.save()
            return product.objectID
        }
        let name = await background.perform { $0.object(with: id).string("name") }
        #expect(name == "n")
        let count = try await container.performBackgroundTask { context in
            try context.count("Product")
        }
        #expect(count == 1)
    }

    @Test("Deletions are propagated at the end of a turn", arguments: Backend.allCases)
    func turns(_ backend: Backend) async throws {
        let container = try Stack(Models.people, backend).container
        let background = container.newBackgroundContext()
        await background.perform { context in
            let parent = context.make("Person", ["name": "p"])
            context.make("Person", ["name": "c", "parent": parent])
            context.delete(parent)
        }
        #expect(await background.perform { $0.insertedObjects.count } == 0)
    }

    @Test("The view context belongs to the main actor", arguments: Backend.allCases)
    @MainActor func view(_ backend: Backend) throws {
        let container = try Stack(Models.shop, backend).container
        container.viewContext.make("Product")
        try container.viewContext.save()
        #expect(container.viewContext === container.viewContext)
        let count = try container.viewContext.performAndWait {
            try container.viewContext.count("Product")
        }
        #expect(count == 1)
    }

    @Test("A typed error passes through", arguments: Backend.allCases)
    func errors(_ backend: Backend) async throws {
        struct Failure: Error {}
        let container = try Stack(Models.shop, backend).container
        await #expect(throws: Failure.self) {
            try await container.performBackgroundTask { _ throws(Failure) in throw Failure() }
        }
    }

    @Test("An abandoned context lets go of its objects, saved or not")
    func abandoning() async throws {
        final class Mark: ManagedObject {
            let alive: Alive = .shared
            required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
                Alive.shared.count.add(1, ordering: .relaxed)
                super.init(entity: entity, insertInto: context)
            }
            deinit { alive.count.subtract(1, ordering: .relaxed) }
        }
        let stack = try Stack(
            Models.shop, .dictionary, classes: ObjectClasses(["Product": Mark.self]))
        for _ in 0..<10 {
            await stack.container.performBackgroundTask { context in
                for _ in 0..<10 { context.make("Product") }
            }
            let background = stack.container.newBackgroundContext()
            await background.perform { context in
                for _ in 0..<10 { context.make("Product") }
            }
        }
        // The last actor's deinit runs on its own executor, so it may be a moment late.
        for _ in 0..<10_000 where Alive.shared.count.load(ordering: .relaxed) != 0 {
            await Task.yield()
        }
        #expect(Alive.shared.count.load(ordering: .relaxed) == 0)
    }

    @Test(
        "Twenty contexts insert the same keys at once: no save fails, one row each remains",
        arguments: Backend.allCases)
    func twenty(_ backend: Backend) async throws {
        let stack = try Stack(Models.people, backend)
        let container = stack.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<20 {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        context.mergePolicy = .mergeByPropertyObjectTrump
                        func findOrMake(_ entity: String, _ key: String, _ value: Value) throws
                            -> ManagedObject
                        {
                            if let found = try context.find(entity, key, value).first {
                                return found
                            }
                            let any: Any =
                                switch value {
                                case .string(let text): text
                                case .integer(let number): Int(number)
                                default: value
                                }
                            return context.make(entity, [key: any])
                        }
                        let anna = try findOrMake("Person", "name", .string("Anna"))
                        let ben = try findOrMake("Person", "name", .string("Ben"))
                        let sales = try findOrMake("Department", "name", .string("Sales"))
                        let passport = try findOrMake("Passport", "number", .integer(7))
                        anna["department"] = sales
                        anna["passport"] = passport
                        anna.add(ben, to: "friends")
                        if round.isMultiple(of: 2) {
                            ben["parent"] = anna
                        } else {
                            ben["mentor"] = anna
                        }
                        try context.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        let context = stack.context()
        #expect(
            try context.all("Person", sortedBy: "name").map { $0.string("name") } == [
                "Anna", "Ben",
            ])
        #expect(try context.count("Department") == 1)
        #expect(try context.count("Passport") == 1)
        let anna = try #require(try context.find("Person", "name", .string("Anna")).first)
        #expect(anna.object("department")?.members("employees") == [anna])
        #expect(anna.object("passport")?.object("holder") === anna)
        #expect(anna.members("friends").count == 1)
        _ = try describePeople(context)
    }

    @Test("Objects may go on any thread: the table is empty in the end")
    @MainActor func deinitAnywhere() async throws {
        final class Holder {
            var objects: [ManagedObject]
            init(_ objects: [ManagedObject]) { self.objects = objects }
        }
        let stack = try Stack(Models.shop, .dictionary)
        try stack.store { context in (0..<200).map { context.make("Product", ["stock": $0]) } }
        let context = stack.container.viewContext
        for _ in 0..<20 {
            let model = ViewModel(try context.all("Product"))
            let task = Task.detached { _ = model }
            // Meanwhile the same objects are looked up again.
            for object in try context.all("Product") { _ = object["stock"] }
            await task.value
        }
        #expect(try context.count("Product") == 200)
    }
}

/// Holds objects on the main actor, and lets go of them wherever it is released.
@MainActor private final class ViewModel {
    let objects: [ManagedObject]
    init(_ objects: [ManagedObject]) { self.objects = objects }
}

/// Counts objects.
private final class Alive: Sendable {
    static let shared = Alive()
    let count = Atomic<Int>(0)
}
