// Three contexts that merge by themselves, and everybody writes.
//
// Random edits, saves, rollbacks and batches go on in three contexts at once, each with objects that it holds and
// relationships that it has read. When a context has nothing unsaved and has merged what waited, everything it shows must be
// what a fresh context reads; and what others edit never gets lost or turns up twice.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Random contexts that merge by themselves")
struct RandomMergingTests {
    /// A person as a context shows it.
    private struct Person: Equatable {
        var name: String?
        var spouse: ObjectID?
        var mentor: ObjectID?
        var parent: ObjectID?
        var passport: ObjectID?
        var friends: [ObjectID] = []
        var heroes: [ObjectID] = []
        var children: [ObjectID] = []

        init(_ object: ManagedObject) {
            name = object.string("name")
            spouse = object.object("spouse")?.objectID
            mentor = object.object("mentor")?.objectID
            parent = object.object("parent")?.objectID
            passport = object.object("passport")?.objectID
            friends = object.objectIDs(forRelationshipNamed: "friends")
            heroes = object.objectIDs(forRelationshipNamed: "heroes")
            children = object.objectIDs(forRelationshipNamed: "children")
        }
    }

    /// A context with objects that somebody holds.
    private final class Worker {
        let context: ManagedObjectContext
        var held: [ManagedObject] = []

        init(_ context: ManagedObjectContext) {
            self.context = context
            context.automaticallyMergesChangesFromParent = true
        }
    }

    /// Walks that have ended otherwise once.
    private static let known: [UInt64] = [
        752_345_167, 895_823_932, 554_016_374, 734_762_984, 267_206_809, 543_286_656, 79_094_570,
        13_917_687,
    ]

    @Test(
        "A context without unsaved changes shows what a fresh one reads",
        arguments: Backend.allCases, known + RandomSource.seeds(2, whole: 8))
    func quiescence(_ backend: Backend, _ seed: UInt64) throws {
        print("random merging, CAIRN_SEED=\(seed)")
        var random = RandomSource(seed: seed)
        let stack = try Stack(Models.people, backend)
        let policies: [MergePolicy] = [
            .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .error,
        ]
        let workers = policies.map { Worker(stack.context($0)) }
        // Some watch, which makes them read members at once.
        let recorder = random.chance(50) ? NotificationRecorder(workers[0].context) : nil
        var number = 0
        for _ in 0..<Campaign.count(250, whole: 20_000) {
            let worker = workers[random.below(workers.count)]
            switch random.below(20) {
            case 0..<11: try edit(worker, &random, &number)
            case 11..<15: save(worker)
            case 15: worker.context.rollback()
            case 16: try batch(stack, &random, &number)
            case 17: worker.context.processPendingChanges()
            case 18: worker.held.removeAll { _ in random.chance(50) }
            default: try compare(worker, stack)
            }
        }
        for worker in workers { save(worker) }
        for worker in workers { try compare(worker, stack) }
        withExtendedLifetime(recorder) {}
    }

    private func edit(_ worker: Worker, _ random: inout RandomSource, _ number: inout Int) throws {
        let context = worker.context
        let people = try context.all("Person").filter { !$0.isDeleted }
        guard people.count > 4, let one = random.pick(people) else {
            for _ in 0..<5 {
                number += 1
                worker.held.append(context.make("Person", ["name": "\(number)"]))
            }
            return
        }
        if random.chance(60) { worker.held.append(one) }
        switch random.below(12) {
        case 0:
            context.delete(one)
            context.processPendingChanges()
        case 1:
            number += 1
            one["name"] = "\(number)"
        case 2: one["spouse"] = random.chance(70) ? random.pick(people) : nil
        case 3: one["mentor"] = random.pick(people)
        case 4, 5: one["parent"] = random.chance(80) ? random.pick(people) : nil
        case 6, 7: one["friends"] = Set(people.filter { _ in random.chance(15) })
        case 8: one["heroes"] = Set(people.filter { _ in random.chance(15) })
        case 9: one["passport"] = context.make("Passport", ["number": Int(number)])
        default: _ = Person(one)
        }
        number += 1
    }

    /// Saves, or gives up what is in conflict.
    private func save(_ worker: Worker) {
        do {
            try worker.context.save()
        } catch {
            worker.context.rollback()
        }
    }

    private func batch(_ stack: Stack, _ random: inout RandomSource, _ number: inout Int) throws {
        let person = stack.store.schema.entity(named: "Person")!
        if random.chance(50) {
            let rows: [[String: Any]] = (0..<3).map { ["name": "\(number + $0)"] }
            number += 3
            _ = try stack.store.execute(BatchInsertRequest(entityName: "Person", objects: rows))
        } else {
            let gone = try stack.context().all("Person").filter { _ in random.chance(10) }
            _ = try stack.store.execute(
                BatchDeleteRequest(.ids(gone.map(\.objectID), entity: person.index)))
        }
    }

    private func compare(_ worker: Worker, _ stack: Stack) throws {
        let context = worker.context
        context.processPendingChanges()
        // Saving what others have deleted stores nothing.
        guard context.insertedObjects.isEmpty,
            context.updatedObjects.allSatisfy({ !$0.hasPersistentChangedValues })
        else { return }
        guard context.deletedObjects.allSatisfy({ isGone($0, stack) }) else { return }
        let commit = try stack.store.snapshot().commit
        try context.save()
        #expect(try stack.store.snapshot().commit == commit)
        let fresh = stack.context()
        let stored = try fresh.all("Person")
        let shown = try context.all("Person")
        #expect(Set(shown.map(\.objectID)) == Set(stored.map(\.objectID)))
        for object in stored {
            let mine = context.object(with: object.objectID)
            #expect(Person(mine) == Person(object), "\(object.objectID)")
            #expect(!mine.isDeleted && !mine.hasChanges)
        }
        // What was held and is no more says so.
        let ids = Set(stored.map(\.objectID))
        for object in worker.held where object.managedObjectContext === context {
            let isThere = ids.contains(object.objectID)
            if !isThere { _ = object.string("name") }
            #expect(object.isDeleted != isThere)
        }
    }

    private func isGone(_ object: ManagedObject, _ stack: Stack) -> Bool {
        ((try? stack.store.snapshot().rows([object.objectID])) ?? [])[0] == nil
    }
}
