// What is written to the store of a container, as a sequence and as a notification.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("Remote changes of a store")
struct RemoteChangeTests {
    @Test(
        "Saves, batches and what others write beside the container are one element each",
        arguments: Backend.allCases)
    func sequence(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let changes = stack.container.remoteChanges
        let saves = stack.container.saves
        let ids = try await stack.container.performBackgroundTask { context in
            context.name = "task"
            context.transactionAuthor = "me"
            let objects = (0..<20).map { context.make("Tag", ["label": "\($0)"]) }
            try context.save()
            try context.execute(
                BatchInsertRequest(entityName: "Tag", objects: [["label": "batch"]]))
            return objects.map(\.objectID)
        }
        // A context by hand belongs to no container.
        let other = stack.context()
        other.object(with: ids[0])["label"] = "changed"
        other.delete(other.object(with: ids[1]))
        try other.save()
        var iterator = changes.inTime().makeAsyncIterator()
        let first = try #require(await iterator.next(isolation: #isolation))
        #expect(first.number == 1 && first.contextName == "task" && first.author == "me")
        #expect(Set(first.insertedObjectIDs) == Set(ids) && !first.isFromAnotherProcess)
        #expect(first.storeIdentifier == stack.store.identity.identifier)
        let second = try #require(await iterator.next(isolation: #isolation))
        #expect(second.number == 2 && second.insertedObjectIDs.count == 1)
        #expect(second.commits.lowerBound > first.commits.upperBound)
        let third = try #require(await iterator.next(isolation: #isolation))
        #expect(third.updatedObjectIDs == [ids[0]] && third.deletedObjectIDs == [ids[1]])
        // The save of the container says the same commit.
        var told = saves.inTime().makeAsyncIterator()
        let save = try #require(await told.next(isolation: #isolation))
        #expect(save.commit == first.commits.upperBound)
    }

    @Test(
        "The notification is posted for each commit, by the container", arguments: Backend.allCases)
    func notification(_ backend: Backend) throws {
        let before = try Stack(Models.shop, backend)
        let posted = Mutex<[(RemoteChange, UUID?)]>([])
        let tokens = [before.container].map { container in
            NotificationCenter.default.addObserver(
                forName: PersistentContainer.storeRemoteChangeNotification, object: container,
                queue: nil
            ) { notification in
                let key = PersistentContainer.NotificationKey.storeUUID.rawValue
                let store = notification.userInfo?[key] as? UUID
                if let change = notification.remoteChange {
                    posted.withLock { $0.append((change, store)) }
                }
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        let ids = try before.store { [$0.make("Tag", ["label": "a"])] }
        // Of another container's store nothing is told here.
        try Stack(Models.shop, backend).store { [$0.make("Tag", ["label": "a"])] }
        let context = before.context()
        try context.execute(
            BatchDeleteRequest(.ids(ids, entity: before.store.schema.entity(named: "Tag")!.index)))
        let seen = posted.withLock { $0 }
        #expect(seen.map(\.0.insertedObjectIDs) == [ids, []])
        #expect(seen.map(\.0.deletedObjectIDs) == [[], ids])
        #expect(seen.allSatisfy { $0.1 == before.store.identity.identifier })
    }

    @Test("A container that is let go ends its sequences and is told of nothing more")
    func over() async throws {
        var stack: Stack? = try Stack(Models.shop, .log)
        let store = try #require(stack?.store)
        let changes = try #require(stack?.container.remoteChanges)
        stack = nil
        let context = ManagedObjectContext(store: store)
        context.make("Tag", ["label": "a"])
        try context.save()
        var iterator = changes.inTime().makeAsyncIterator()
        #expect(await iterator.next(isolation: #isolation) == nil)
    }
}
