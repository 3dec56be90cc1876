// The examples of the article of this name, as code that runs.

import Cairn
import StoreBackends
import Testing

// LargeFamilies 1 begins
@Entity
final class Ancestor: ManagedObject {
    var name: String = ""
    @Relationship(inverse: \Descendant.ancestor) var descendants: Set<Descendant>
}

@Entity
final class Descendant: ManagedObject {
    var age: Int = 0
    var ancestor: Ancestor?
}
// LargeFamilies 1 ends

@Suite("Large families")
struct LargeFamilies {
    @Test(
        "A large relationship is walked by its ids, a hundred at a time, in the memory of a hundred",
        arguments: Backend.compared)
    func walked(_ backend: Backend) async throws {
        let container = try backend.container(for: Ancestor.self)
        try await container.performBackgroundTask { context in
            let ancestor = context.insert(Ancestor.self)
            ancestor.name = "Adam"
            for age in 0..<2_550 {
                let descendant = context.insert(Descendant.self)
                descendant.age = age
                descendant.ancestor = ancestor
            }
            try context.save()
        }
        try await container.performBackgroundTask { context in
            var most = 0
            // LargeFamilies 2 begins
            let ancestor = try context.fetch(FetchRequest<Ancestor>())[0]
            let ids = ancestor.objectIDs(forRelationshipNamed: "descendants")
            var total = 0
            for start in stride(from: 0, to: ids.count, by: 100) {
                let some = Array(ids[start..<min(start + 100, ids.count)])
                let request = try FetchRequest<Descendant>(
                    #Predicate { some.contains($0.objectID) })
                for descendant in try context.fetch(request) { total += descendant.age }
                // LargeFamilies 2 pauses
                most = max(most, context.registeredObjects.count)
                // LargeFamilies 2 goes on
            }
            // No more than a hundred descendants were in memory at any time.
            // LargeFamilies 2 ends
            #expect(total == 2_550 * 2_549 / 2)
            #expect(ids.count == 2_550)
            #expect(most <= 101)
        }
    }
}
