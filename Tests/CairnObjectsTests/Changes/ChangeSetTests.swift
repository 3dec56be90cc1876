// What a store tells of its commits.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

/// Keeps the sets that a store tells.
final class ChangeRecorder: Sendable {
    private let kept = Mutex<[ChangeSet]>([])
    private let observation = Mutex<ChangeObservation?>(nil)

    init(_ store: any PersistentStore) {
        let observation = store.observeChanges { [weak self] set in
            self?.kept.withLock { $0.append(set) }
        }
        self.observation.withLock { $0 = observation }
    }

    /// What came since the last time.
    func take() -> [ChangeSet] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
    }

    /// The only one that came since the last time.
    func one() throws -> ChangeSet {
        let sets = take()
        #expect(sets.count == 1)
        return try #require(sets.first)
    }

    func end() { observation.withLock { $0?.cancel() } }
}

@Suite("Change sets of commits")
struct ChangeSetTests {
    @Test(
        "A save is told with its commit, who wrote, and the ids by kind",
        arguments: Backend.allCases)
    func saves(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let changes = ChangeRecorder(stack.store)
        let context = stack.context()
        context.transactionAuthor = "me"
        context.name = "mine"
        let shop = context.make("Shop", ["name": "corner"])
        let products = (0..<3).map {
            context.make("Product", ["serialCode": "\($0)", "shop": shop])
        }
        try context.save()
        let first = try changes.one()
        #expect(first.author == "me" && first.contextName == "mine" && !first.isFromAnotherProcess)
        #expect(first.commits == first.commit...first.commit)
        #expect(try stack.store.snapshot().commit == first.commit)
        #expect(Set(try first.insertedObjectIDs()) == Set((products + [shop]).map(\.objectID)))
        #expect(try first.updatedObjectIDs().isEmpty && first.deletedObjectIDs().isEmpty)
        let entities = try first.entities().map { stack.store.schema.entities[$0.entity].name }
        #expect(Set(entities) == ["Shop", "Product"])

        context.delete(products[0])
        products[1]["price"] = 2.0
        let new = context.make("Tag", ["label": "new"])
        try context.save()
        let second = try changes.one()
        #expect(second.commit > first.commit)
        #expect(try second.insertedObjectIDs() == [new.objectID])
        #expect(try second.updatedObjectIDs() == [products[1].objectID])
        #expect(try second.deletedObjectIDs() == [products[0].objectID])
        // Twice the same answer, though only the first time the states are there.
        #expect(try second.deletedObjectIDs() == [products[0].objectID])
    }

    @Test(
        "Both ends of a pair count as updated, new and deleted objects only as that",
        arguments: Backend.allCases)
    func pairs(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            [context.make("Tag", ["label": "a"]), context.make("Product", ["serialCode": "1"])]
                + [context.make("Tag", ["label": "b"])]
        }
        let changes = ChangeRecorder(stack.store)
        let context = stack.context()
        let product = context.object(with: ids[1])
        let new = context.make("Tag", ["label": "c"])
        product["tags"] = Set([context.object(with: ids[0]), new])
        try context.save()
        let linked = try changes.one()
        #expect(Set(try linked.updatedObjectIDs()) == [ids[0], ids[1]])
        #expect(try linked.insertedObjectIDs() == [new.objectID])
        context.delete(context.object(with: ids[0]))
        try context.save()
        let unlinked = try changes.one()
        #expect(try unlinked.deletedObjectIDs() == [ids[0]])
        #expect(try unlinked.updatedObjectIDs() == [ids[1]])
        product["tags"] = Set<ManagedObject>()
        try context.save()
        #expect(Set(try changes.one().updatedObjectIDs()) == [ids[1], new.objectID])
        // Nobody touched the third.
        #expect(!(try changes.take().contains { try $0.updatedObjectIDs().contains(ids[2]) }))
    }

    @Test(
        "Batches are told like saves, with what cascades and rules have done",
        arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let changes = ChangeRecorder(stack.store)
        var insert = BatchInsertRequest(
            entityName: "Person", objects: [["name": "a"], ["name": "b"], ["name": "c"]])
        insert.author = "feed"
        let result = try stack.store.execute(insert)
        let inserted = try changes.one()
        #expect(inserted.author == "feed" && inserted.commit == result.commit)
        #expect(try inserted.insertedObjectIDs().count == 3)
        let ids = try inserted.insertedObjectIDs()
        let context = stack.context()
        let people = ids.map { context.object(with: $0) }
        people[1]["parent"] = people[0]
        people[2]["mentor"] = people[1]
        try context.save()
        #expect(Set(try changes.one().updatedObjectIDs()) == [ids[1], ids[2]])
        var upsert = BatchInsertRequest(
            entityName: "Person", objects: [["name": "c"], ["name": "d"]])
        upsert.mergePolicy = .mergeByPropertyObjectTrump
        _ = try stack.store.execute(upsert)
        #expect(try changes.one().insertedObjectIDs().count == 1)
        let delete = BatchDeleteRequest(
            .ids([ids[0]], entity: stack.store.schema.entity(named: "Person")!.index))
        _ = try stack.store.execute(delete)
        let deleted = try changes.one()
        #expect(Set(try deleted.deletedObjectIDs()) == [ids[0], ids[1]])
        #expect(try deleted.updatedObjectIDs() == [ids[2]])
    }

    @Test(
        "Many objects in an empty store are told, and that they are gone",
        arguments: Backend.allCases)
    func large(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let changes = ChangeRecorder(stack.store)
        let rows: [[String: Any]] = (0..<1100).map { ["label": "\($0)"] }
        _ = try stack.store.execute(BatchInsertRequest(entityName: "Tag", objects: rows))
        let ids = try changes.one().insertedObjectIDs()
        #expect(Set(ids).count == 1100)
        let tag = stack.store.schema.entity(named: "Tag")!
        _ = try stack.store.execute(BatchDeleteRequest(.ids(ids, entity: tag.index)))
        #expect(Set(try changes.one().deletedObjectIDs()) == Set(ids))
    }

    @Test(
        "Commits of many threads are told in their order, each once, to each observer",
        arguments: Backend.allCases)
    func order(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let start = try stack.store.snapshot().commit
        let (one, other) = (ChangeRecorder(stack.store), ChangeRecorder(stack.store))
        TestThreads.run(4) { thread in
            for round in 0..<25 {
                do {
                    try stack.store { context in
                        [context.make("Product", ["serialCode": "\(thread) \(round)"])]
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        let end = try stack.store.snapshot().commit
        for recorder in [one, other] {
            let sets = recorder.take()
            #expect(sets.map(\.commit) == Array(start + 1...end))
            var ids: [ObjectID] = []
            for set in sets { ids += try set.insertedObjectIDs() }
            #expect(ids.count == 100 && Set(ids).count == 100)
        }
    }

    @Test(
        "An observer may commit; that is told when all have been told of the commit before",
        arguments: Backend.allCases)
    func nested(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let told = Mutex<[String]>([])
        let first = stack.store.observeChanges { set in
            told.withLock { $0.append("first \(set.author ?? "")") }
            guard set.author == nil else { return }
            do {
                let context = stack.context()
                context.transactionAuthor = "observer"
                context.make("Tag", ["label": "nested"])
                try context.save()
                told.withLock { $0.append("saved") }
            } catch {
                Issue.record(error)
            }
        }
        let second = stack.store.observeChanges { set in
            told.withLock { $0.append("second \(set.author ?? "")") }
        }
        try stack.store { [$0.make("Tag", ["label": "outer"])] }
        #expect(
            told.withLock { $0 } == [
                "first ", "saved", "second ", "first observer", "second observer",
            ])
        first.cancel()
        second.cancel()
        try stack.store { [$0.make("Tag", ["label": "last"])] }
        #expect(told.withLock { $0.count } == 5)
    }

    @Test(
        "Whoever begins to observe, and takes a snapshot then, is told of all that follows it",
        arguments: Backend.allCases)
    func gapless(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ends = Mutex<[(after: UInt64, recorder: ChangeRecorder)]>([])
        TestThreads.run(3) { thread in
            do {
                for round in 0..<20 {
                    if thread == 0 {
                        let recorder = ChangeRecorder(stack.store)
                        let commit = try stack.store.snapshot().commit
                        ends.withLock { $0.append((commit, recorder)) }
                    } else {
                        try stack.store { [$0.make("Tag", ["label": "\(thread) \(round)"])] }
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        // What others were telling is told by now, since a commit tells what waits.
        try stack.store { [$0.make("Tag", ["label": "last"])] }
        let last = try stack.store.snapshot().commit
        for (after, recorder) in ends.withLock({ $0 }) {
            let commits = recorder.take().map(\.commit)
            #expect(commits == commits.sorted())
            #expect(Set(commits).isSuperset(of: after + 1...last))
        }
    }

    @Test(
        "What a mirror makes of change sets alone is what the store holds",
        arguments: Backend.allCases, RandomSource.seeds(3))
    func mirror(_ backend: Backend, _ seed: UInt64) throws {
        print("mirror of change sets, CAIRN_SEED=\(seed)")
        var random = RandomSource(seed: seed)
        let stack = try Stack(Models.people, backend)
        let changes = ChangeRecorder(stack.store)
        let person = stack.store.schema.entity(named: "Person")!
        let friends = person.relationshipIndex(named: "friends")!
        /// By id: the version, and the members of a relationship that is kept as pairs.
        var mirror: [ObjectID: (version: UInt32, friends: Set<ObjectID>)] = [:]
        func read(_ ids: [ObjectID]) throws -> [ObjectID: (version: UInt32, friends: Set<ObjectID>)]
        {
            let state = try stack.store.snapshot()
            let rows = try state.rows(ids)
            let members = try state.members(
                ofRelationship: friends, entity: person.index, owners: ids)
            var read: [ObjectID: (version: UInt32, friends: Set<ObjectID>)] = [:]
            for (row, members) in zip(rows, members) {
                guard let row, row.entity == person.index else { continue }
                read[row.id] = (row.version, Set(members))
            }
            return read
        }
        var name = 0
        for _ in 0..<Campaign.count(60, whole: 100_000) {
            let context = stack.context(.mergeByPropertyObjectTrump)
            let people = try context.all("Person")
            switch random.below(10) {
            case 0:
                let count = random.below(40) + 1
                let rows: [[String: Any]] = (0..<count).map { ["name": "\(name + $0)"] }
                name += count
                try context.execute(BatchInsertRequest(entityName: "Person", objects: rows))
            case 1:
                let gone = people.filter { _ in random.chance(15) }.map(\.objectID)
                try context.execute(BatchDeleteRequest(.ids(gone, entity: person.index)))
            default:
                for _ in 0...random.below(6) {
                    guard let one = random.pick(people), !one.isDeleted else {
                        name += 1
                        context.make("Person", ["name": "\(name)"])
                        continue
                    }
                    switch random.below(5) {
                    case 0: context.delete(one)
                    case 1: one["parent"] = random.pick(people.filter { !$0.isDeleted })
                    case 2:
                        name += 1
                        one["name"] = "\(name)"
                    default:
                        one["friends"] = Set(
                            people.filter { !$0.isDeleted && random.chance(10) })
                    }
                    context.processPendingChanges()
                }
                try context.save()
            }
            for set in changes.take() {
                let (inserted, updated) = (
                    Set(try set.insertedObjectIDs()), Set(try set.updatedObjectIDs())
                )
                let deleted = Set(try set.deletedObjectIDs())
                #expect(inserted.isDisjoint(with: mirror.keys))
                #expect(updated.isSubset(of: mirror.keys) && deleted.isSubset(of: mirror.keys))
                for id in deleted { mirror[id] = nil }
                let now = try read(Array(inserted.union(updated)))
                for id in updated {
                    let (old, new) = (mirror[id], now[id])
                    #expect(old?.version != new?.version || old?.friends != new?.friends)
                }
                mirror.merge(now) { $1 }
            }
            let stored = try read(try context.all("Person").map(\.objectID))
            #expect(mirror.mapValues(\.version) == stored.mapValues(\.version))
            #expect(mirror.mapValues(\.friends) == stored.mapValues(\.friends))
        }
    }
}
