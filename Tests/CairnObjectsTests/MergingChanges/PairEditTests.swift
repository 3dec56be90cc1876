// Edits of pairs that are none any more, because others have stored the same meanwhile or because they were undone: should
// others store another thing later, both sides show that, and a save leaves it alone.
//
// In each of them one side knows its members, and nobody has asked for those of the other one.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Edits of pairs that are none any more")
struct PairEditTests {
    /// Two people in a context that merges by itself, and in another one.
    private struct Pair {
        let stack: Stack
        let mine: ManagedObjectContext
        let other: ManagedObjectContext
        let ids: [ObjectID]
        let one: ManagedObject
        let friend: ManagedObject

        init(_ backend: Backend, areFriends: Bool) throws {
            stack = try Stack(Models.people, backend)
            ids = try stack.store { context in
                let people = ["a", "b"].map { context.make("Person", ["name": $0]) }
                if areFriends { people[0]["friends"] = Set([people[1]]) }
                return people
            }
            (mine, other) = (stack.context(), stack.context())
            mine.automaticallyMergesChangesFromParent = true
            one = mine.object(with: ids[0])
            friend = mine.object(with: ids[1])
        }

        /// Whether they are friends here.
        func befriend(_ areFriends: Bool) { one["friends"] = Set(areFriends ? [friend] : []) }

        /// Whether they are friends, as somebody else stores it.
        func store(_ areFriends: Bool) throws {
            let people = ids.map { other.object(with: $0) }
            people[0]["friends"] = Set(areFriends ? [people[1]] : [])
            try other.save()
            other.reset()
            mine.processPendingChanges()
        }

        /// Expects that they are friends or not, on both sides and also behind a save.
        func expect(_ areFriends: Bool) throws {
            #expect(one.members("friends") == (areFriends ? [friend] : []))
            #expect(friend.members("friends") == (areFriends ? [one] : []))
            try expectStored(areFriends)
        }

        /// The same if nobody asks for the members before they are saved.
        func expectStored(_ areFriends: Bool) throws {
            #expect(!one.hasPersistentChangedValues && !friend.hasPersistentChangedValues)
            let commit = try stack.store.snapshot().commit
            try mine.save()
            #expect(try stack.store.snapshot().commit == commit)
            let (fresh, fellow) = (one.fresh(stack), friend.fresh(stack))
            #expect(fresh.members("friends").map(\.objectID) == (areFriends ? [ids[1]] : []))
            #expect(fellow.members("friends").map(\.objectID) == (areFriends ? [ids[0]] : []))
        }
    }

    @Test(
        "What was done here, then by others, and undone by them is undone on both sides",
        arguments: Backend.allCases, [true, false])
    func doneByOthers(_ backend: Backend, _ areFriends: Bool) throws {
        let pair = try Pair(backend, areFriends: !areFriends)
        pair.befriend(areFriends)
        try pair.store(areFriends)
        _ = pair.one.members("friends")
        try pair.store(!areFriends)
        _ = pair.one.members("friends")
        try pair.expect(!areFriends)
    }

    @Test(
        "What was undone here is done by others on both sides",
        arguments: Backend.allCases, [true, false])
    func undone(_ backend: Backend, _ areFriends: Bool) throws {
        let pair = try Pair(backend, areFriends: areFriends)
        pair.befriend(!areFriends)
        pair.befriend(areFriends)
        try pair.store(!areFriends)
        _ = pair.one.members("friends")
        try pair.expectStored(!areFriends)
        try pair.expect(!areFriends)
    }

    @Test(
        "A side that has read older members reads them again when its edit is none",
        arguments: Backend.allCases, [true, false])
    func older(_ backend: Backend, _ areFriends: Bool) throws {
        let pair = try Pair(backend, areFriends: !areFriends)
        pair.mine.automaticallyMergesChangesFromParent = false
        _ = pair.friend.members("friends")
        pair.befriend(areFriends)
        try pair.store(areFriends)
        pair.mine.refresh(pair.one, mergeChanges: true)
        #expect(pair.one.members("friends") == (areFriends ? [pair.friend] : []))
        try pair.expect(areFriends)
    }

    @Test(
        "What is taken back where nobody knows the members is no edit of either side",
        arguments: Backend.allCases, [true, false])
    func takenBack(_ backend: Backend, _ areFriends: Bool) throws {
        let pair = try Pair(backend, areFriends: areFriends)
        pair.befriend(!areFriends)
        pair.mine.refresh(pair.one, mergeChanges: true)
        pair.mine.refresh(pair.one, mergeChanges: false)
        try pair.store(!areFriends)
        try pair.expect(!areFriends)
    }
}
