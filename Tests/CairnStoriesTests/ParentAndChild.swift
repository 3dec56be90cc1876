// The examples of the article of this name, as code that runs.

import Cairn
import StoreBackends
import Testing

@Entity
final class Subscriber: ManagedObject {
    #Unique<Subscriber>([\.email])

    var email: String = ""
    var name: String = ""
}

@Suite("Parent and child")
struct ParentAndChild {
    @MainActor
    private func prepare(_ backend: Backend) async throws -> PersistentContainer {
        let container = try backend.container(for: Subscriber.self)
        try await container.performBackgroundTask { context in
            let subscriber = context.insert(Subscriber.self)
            subscriber.email = "ada@example.org"
            subscriber.name = "Ada"
            try context.save()
        }
        return container
    }

    @MainActor
    @Test(
        "A draft is saved into the view context, and from there into the store",
        arguments: Backend.compared)
    func draft(_ backend: Backend) async throws {
        let container = try await prepare(backend)
        // ParentAndChild 1 begins
        let context = container.viewContext
        let draft = context.newChildContext()
        let request = try FetchRequest<Subscriber>(#Predicate { $0.email == "ada@example.org" })
        let subscriber = try draft.fetch(request)[0]
        subscriber.name = "Ada Lovelace"  // nobody else sees this yet
        try draft.save()  // changed in the view context
        try context.save()  // and in the store
        // ParentAndChild 1 ends
        let id = subscriber.objectID
        let stored = try await container.performBackgroundTask { context in
            try context.existingObject(with: id)["name"] as? String
        }
        #expect(stored == "Ada Lovelace")
    }

    @MainActor
    @Test("A draft that is dropped leaves nothing behind", arguments: Backend.compared)
    func dropped(_ backend: Backend) async throws {
        let container = try await prepare(backend)
        let context = container.viewContext
        // ParentAndChild 2 begins
        let draft = context.newChildContext()
        draft.insert(Subscriber.self).email = "nobody@example.org"
        draft.rollback()
        // ParentAndChild 2 ends
        #expect(!draft.hasChanges && !context.hasChanges)
        #expect(try context.count(for: FetchRequest<Subscriber>()) == 1)
    }

    @MainActor
    @Test(
        "The child's save never fails on uniqueness; the parent's does what its policy says, and the child learns of it",
        arguments: Backend.compared)
    func unique(_ backend: Backend) async throws {
        let container = try await prepare(backend)
        let context = container.viewContext
        // ParentAndChild 3 begins
        let draft = context.newChildContext()
        let twin = draft.insert(Subscriber.self)
        twin.email = "ada@example.org"  // somebody has that already
        twin.name = "Countess of Lovelace"
        try draft.save()  // no store is asked, so nothing fails

        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()  // here the keys are compared
        let survivor = twin.absorbedInto  // what became of the draft's object
        // ParentAndChild 3 ends
        let all = try context.fetch(FetchRequest<Subscriber>())
        #expect(all.map(\.name) == ["Countess of Lovelace"])
        #expect(survivor == all.first?.objectID && twin.isDeleted)
    }
}
