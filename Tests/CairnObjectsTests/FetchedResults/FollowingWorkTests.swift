// How much work a list has with one change of another context.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Lists that follow one change of another context")
struct FollowingWorkTests {
    @Test(
        "A list of many is told of one committed change, and looks at no other row",
        arguments: Backend.allCases, [true, false])
    func oneChange(_ backend: Backend, _ holdsObjects: Bool) throws {
        let store = CountingStore(try backend.makeStore(Schema(Models.shop)))
        let stack = Stack(store: store)
        let ids = try stack.store { context in
            (0..<3_000).map { context.make("Product", ["name": "\(10_000 + $0)", "price": 1]) }
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        var request = FetchRequest(
            entityName: "Product", predicate: .compare("price", .less, .double(10)))
        request.sortDescriptors = [SortKey("name")]
        let follower = ResultsFollower(
            request.terms, sectionKey: nil, holdsObjects: holdsObjects)
        try follower.load(context)
        follower.observe(context, isOwn: false)
        var told: [Int] = []
        follower.listener.didChange = { change, _ in
            let entries = change.deletes + change.inserts + change.moves + change.updates
            told.append(Set(entries.map(\.id)).count)
        }

        func follow(_ change: (ManagedObjectContext) -> Void) throws {
            let other = stack.context()
            change(other)
            try other.save()
            let (reads, rows, looks) = (store.reads, store.rows, follower.looks)
            told = []
            context.processPendingChanges()
            #expect(told == [1])
            #expect(follower.looks == looks + 1 && follower.fetches == 1)
            // Once by the context, if it has the object, and once by the list.
            #expect(store.rows - rows <= 2 && store.reads - reads <= 3)
        }
        // It stays where it is, moves, leaves, comes back, goes and comes.
        try follow { $0.object(with: ids[1_500])["note"] = "changed" }
        try follow { $0.object(with: ids[1_500])["name"] = "00000" }
        #expect(follower.list?.entry(at: 0).id == ids[1_500])
        try follow { $0.object(with: ids[1_500])["price"] = 50.0 }
        #expect(follower.list?.count == 2_999)
        try follow { $0.object(with: ids[1_500])["price"] = 5.0 }
        try follow { $0.delete($0.object(with: ids[7])) }
        try follow { $0.make("Product", ["name": "new"]) }
        #expect(follower.list?.count == 3_000)
    }
}
