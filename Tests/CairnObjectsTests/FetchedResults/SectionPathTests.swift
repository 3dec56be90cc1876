// What sections of a list can be named after, and what is said of what they cannot.

import Cairn
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("What sections are named after")
struct SectionPathTests {
    private func fill(_ backend: Backend) throws -> Stack {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            return ["apple", "avocado", "bean"].map {
                context.make("Product", ["name": $0, "shop": shop])
            } + [context.make("Shop", ["name": "empty"])]
        }
        return stack
    }

    private func controller(
        _ stack: Stack, _ key: String, entity: String = "Product", sort: String = "name"
    ) -> FetchedResultsController<ManagedObject> {
        var request = FetchRequest(entityName: entity)
        request.sortDescriptors = [SortKey(sort)]
        return FetchedResultsController(
            fetchRequest: request, managedObjectContext: stack.context(), sectionNameKeyPath: key)
    }

    @Test(
        "A path through an attribute is an error that says the way out", arguments: Backend.allCases
    )
    func throughAttribute(_ backend: Backend) throws {
        let stack = try fill(backend)
        for key in ["name.firstLetter", "shop.name.firstLetter", "shop.nothing", "nothing"] {
            let error = try #require(storeError { try controller(stack, key).performFetch() })
            #expect(error.code == .invalidRequest && error.context.key == key)
            #expect(error.context.entity == "Product")
            #expect(error.message.contains("sectionName: { object in"), "\(error.message)")
            let following = storeError {
                _ = try stack.context().results(
                    of: FetchRequest(entityName: "Product"), sectionedBy: key)
            }
            #expect(following?.context.key == key)
        }
    }

    @Test("A to-many relationship names no section", arguments: Backend.allCases)
    func toMany(_ backend: Backend) throws {
        let stack = try fill(backend)
        for key in ["tags", "shop.products", "tags.label", "tags.@unionOfObjects.label"] {
            let error = try #require(storeError { try controller(stack, key).performFetch() })
            #expect(error.code == .invalidRequest && error.context.key == key, "\(key)")
        }
        // One value of many is a name.
        let counted = controller(stack, "products.@count", entity: "Shop")
        try counted.performFetch()
        #expect(counted.sections?.map(\.name) == ["3", "0"])
    }

    @Test("A composite attribute names none, its elements do", arguments: Backend.allCases)
    func composite(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        try stack.store { context in
            ["red", "blue"].map { context.make("Thing", ["color": ["color.primary": $0]]) }
        }
        let whole = controller(stack, "color", entity: "Thing", sort: "color.primary")
        #expect(storeError { try whole.performFetch() }?.message.contains("elements") == true)
        let none = controller(stack, "color.tint", entity: "Thing", sort: "color.primary")
        #expect(storeError { try none.performFetch() }?.code == .invalidRequest)
        let element = controller(stack, "color.primary", entity: "Thing", sort: "color.primary")
        try element.performFetch()
        #expect(element.sections?.map(\.name) == ["blue", "red"])
        let transient = controller(stack, "cache", entity: "Thing", sort: "color.primary")
        try transient.performFetch()
        #expect(transient.sections?.map(\.name) == ["empty"])
    }

    @Test("A closure names sections, which follow the objects", arguments: Backend.allCases)
    func closure(_ backend: Backend) throws {
        let stack = try fill(backend)
        let context = stack.context()
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("name")]
        let controller = FetchedResultsController(
            fetchRequest: request, managedObjectContext: context,
            sectionName: { String(($0.string("name") ?? "").prefix(1)) })
        let copy = ListCopyOfNames()
        controller.delegate = copy
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["a", "b"])
        try #require(controller.fetchedObjects?.first)["name"] = "cherry"
        context.processPendingChanges()
        #expect(controller.sections?.map(\.name) == ["a", "b", "c"])
        #expect(copy.told == 1)
    }

    @Test("A sequence of snapshots has sections by a closure", arguments: Backend.allCases)
    func sequence(_ backend: Backend) async throws {
        let stack = try fill(backend)
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("name")]
        let context = stack.context()
        let results = try context.results(
            of: request, sectionName: { String(($0.string("name") ?? "").prefix(1)) })
        for try await snapshot in results.inTime() {
            #expect(snapshot.sectionIdentifiers == ["a", "b"])
            break
        }
    }
}

/// Counts how often a list has changed.
private final class ListCopyOfNames: FetchedResultsControllerDelegate {
    var told = 0

    func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
        told += 1
    }
}
