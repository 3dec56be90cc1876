// The notifications of contexts and containers as typed messages.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import Testing

@Suite("Typed messages")
struct TypedMessageTests {
    private typealias DidSave = ManagedObjectContext.DidSaveMessage
    private typealias DidMerge = ManagedObjectContext.DidMergeChangesMessage
    private typealias RemoteChanged = PersistentContainer.StoreRemoteChangeMessage

    /// What comes to an observer, one after the other.
    private struct Received<Message: Sendable>: Sendable {
        let stream: AsyncStream<Message>
        let send: @Sendable (Message) -> Void

        init() {
            let (stream, continuation) = AsyncStream<Message>.makeStream()
            self.stream = stream
            send = { continuation.yield($0) }
        }

        func next() async -> Message? {
            for await message in stream { return message }
            return nil
        }
    }

    @Test("A save tells whoever observes the context which objects it has written")
    func saves() async throws {
        let stack = try Stack(Models.shop, .dictionary)
        let context = stack.context()
        let received = Received<DidSave>()
        let token = NotificationCenter.default.addObserver(of: context, for: DidSave.self) {
            received.send($0)
        }
        let tags = ["a", "b"].map { context.make("Tag", ["label": $0]) }
        try context.save()
        let other = stack.context()
        other.make("Tag", ["label": "c"])
        try other.save()
        tags[0]["label"] = "d"
        context.delete(tags[1])
        try context.save()
        let first = await received.next()
        #expect(first?.insertedObjectIDs == Set(tags.map(\.objectID)))
        #expect(first?.updatedObjectIDs == [] && first?.deletedObjectIDs == [])
        let second = await received.next()
        #expect(second?.insertedObjectIDs == [])
        #expect(second?.updatedObjectIDs == [tags[0].objectID])
        #expect(second?.deletedObjectIDs == [tags[1].objectID])
        NotificationCenter.default.removeObserver(token)
    }

    @Test("A message that is posted comes as a notification, and the other way round")
    func bothWays() throws {
        let id = ObjectID(store: UUID(), hierarchy: 1, reference: 2)
        let notification = Notification(
            name: DidMerge.name,
            userInfo: [ManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue: Set([id])])
        let message = try #require(DidMerge.makeMessage(notification))
        #expect(message.refreshedObjectIDs == [id] && message.insertedObjectIDs == [])
        let back = DidMerge.makeNotification(message)
        #expect(back.name == ManagedObjectContext.didMergeChangesObjectIDsNotification)
        #expect(back.objectIDs(.refreshedObjectIDs) == [id] && back.userInfo?.count == 1)
        #expect(RemoteChanged.makeMessage(notification) == nil)
    }

    @Test("Merging and commits are told of as messages", arguments: Backend.allCases)
    func merges(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let merged = Received<DidMerge>()
        let written = Received<RemoteChanged>()
        let tokens = [
            NotificationCenter.default.addObserver(of: context, for: DidMerge.self) {
                merged.send($0)
            },
            NotificationCenter.default.addObserver(of: stack.container, for: RemoteChanged.self) {
                written.send($0)
            },
        ]
        let ids = try stack.store { [$0.make("Tag", ["label": "a"])] }
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.insertedObjectIDs: ids], into: [context])
        #expect(await merged.next()?.insertedObjectIDs == Set(ids))
        let change = await written.next()?.change
        #expect(change?.insertedObjectIDs == ids)
        #expect(change?.storeIdentifier == stack.store.identity.identifier)
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
}
