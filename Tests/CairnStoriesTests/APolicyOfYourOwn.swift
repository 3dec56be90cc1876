// The examples of the article of this name, as code that runs.

import Cairn
import StoreBackends
import Testing

// APolicyOfYourOwn 1 begins
final class KeepWhatIsKnown: MergePolicy {
    override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
        for conflict in list {
            // Among objects of one save there is nothing stored to keep.
            guard let known = conflict.databaseObject else { continue }
            for new in conflict.conflictingObjects {
                for column in new.entity.columns where new[column.name] == nil {
                    new[column.name] = known[column.name]
                }
            }
        }
        try super.resolve(constraintConflicts: list)
    }
}
// APolicyOfYourOwn 1 ends

@Entity
final class Vase: ManagedObject {
    @Attribute(.unique) var serialCode: String
    var name: String?
    var note: String?
}

@Suite("A policy of one's own")
struct APolicyOfYourOwn {
    @Test("Stored values stay where the new object has nil", arguments: Backend.compared)
    func kept(_ backend: Backend) async throws {
        let container = try backend.container(for: Vase.self)
        let vases = try await container.performBackgroundTask { context in
            // APolicyOfYourOwn 2 begins
            let known = context.insert(Vase.self)
            known.serialCode = "V-1"
            known.name = "vase"
            known.note = "fragile"
            try context.save()

            context.mergePolicy = KeepWhatIsKnown(merge: .mergeByPropertyObjectTrump)
            let update = context.insert(Vase.self)
            update.serialCode = "V-1"
            update.name = "tall vase"
            try context.save()
            // known is a tall vase, and still fragile.
            // APolicyOfYourOwn 2 ends
            #expect(known.name == "tall vase" && known.note == "fragile" && update.isDeleted)
            return try context.count(for: FetchRequest<Vase>())
        }
        #expect(vases == 1)
    }
}
