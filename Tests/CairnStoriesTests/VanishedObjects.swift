// The examples of the article of this name, as code that runs.

import Cairn
import StoreBackends
import Testing

@Entity
final class Listing: ManagedObject {
    var title: String = ""
    var detail: String?
}

@Suite("The object that vanished")
struct VanishedObjects {
    private func prepare(_ backend: Backend) async throws -> (PersistentContainer, [ObjectID]) {
        let container = try backend.container(for: Listing.self)
        let ids = try await container.performBackgroundTask { context in
            let listings = (0..<2).map { _ in context.insert(Listing.self) }
            for (number, listing) in listings.enumerated() { listing.title = "listing \(number)" }
            try context.save()
            return listings.map(\.objectID)
        }
        return (container, ids)
    }

    private func delete(_ id: ObjectID, _ container: PersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            context.delete(try context.existingObject(with: id))
            try context.save()
        }
    }

    @MainActor
    @Test(
        "Touching a fault whose row is gone gives a deleted object with empty values",
        arguments: Backend.compared)
    func quiet(_ backend: Backend) async throws {
        let (container, ids) = try await prepare(backend)
        let context = container.viewContext
        // VanishedObjects 1 begins
        let shown = ids.map { context.object(with: $0) }
        // Meanwhile another context deletes the first.
        // VanishedObjects 1 pauses
        try await delete(ids[0], container)
        // VanishedObjects 1 goes on
        let titles = shown.map { $0["title"] as? String }
        // [nil, "listing 1"]: the first is deleted, and nothing crashed.
        // VanishedObjects 1 ends
        #expect(titles == [nil, "listing 1"])
        #expect(shown.map(\.isDeleted) == [true, false])
        try context.save()
    }

    @MainActor
    @Test("Or an error, for those who want one", arguments: Backend.compared)
    func loud(_ backend: Backend) async throws {
        let (container, ids) = try await prepare(backend)
        let context = container.viewContext
        var missing = false
        // VanishedObjects 2 begins
        context.shouldDeleteInaccessibleFaults = false
        let listing = context.object(with: ids[0])
        // VanishedObjects 2 pauses
        try await delete(ids[0], container)
        // VanishedObjects 2 goes on
        do {
            try listing.fulfill()
        } catch {
            missing = error.code == .objectNotFound
        }
        // VanishedObjects 2 ends
        #expect(missing && !listing.isDeleted)
    }
}
