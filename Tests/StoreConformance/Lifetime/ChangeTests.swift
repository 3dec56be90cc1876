// What observers are told.

import CairnModel
import CairnStore
import StoreBackends
import Synchronization
import Testing

@Suite("Telling of changes")
struct ChangeTests {
    /// Notes what it is told.
    private final class Listener: Sendable {
        private let sets = Mutex<[ChangeSet]>([])
        private let observation = Mutex<ChangeObservation?>(nil)

        init(_ store: any PersistentStore) {
            let observation = store.observeChanges { [weak self] set in
                self?.sets.withLock { $0.append(set) }
            }
            self.observation.withLock { $0 = observation }
        }

        /// What came since it was last asked.
        func take() -> [ChangeSet] {
            sets.withLock { sets in
                defer { sets = [] }
                return sets
            }
        }

        func end() { observation.withLock { $0 }?.cancel() }
    }

    @Test(
        "Each commit is told with what it inserted, changed and deleted",
        arguments: Backend.everyStore)
    func content(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let listener = Listener(subject.store)
            let (a, b) = (try subject.id("Item", "a"), try subject.id("Item", "b"))
            let dot = try subject.id("Person", "Dot")
            func told() throws -> ChangeSet {
                let sets = listener.take()
                #expect(sets.count == 1)
                let set = try #require(sets.first)
                #expect(try set.commit == subject.store.snapshot().commit)
                return set
            }
            var draft = try subject.draft()
            draft.request.author = "me"
            draft.request.contextName = "here"
            let new = try draft.insert("Tool", ["code": "x"])
            try draft.update(a, ["note": "changed"])
            try draft.delete(b)
            let result = try subject.save(draft)
            let x = try #require(result.permanentIDs[new])
            let saved = try told()
            #expect(saved.author == "me" && saved.contextName == "here")
            #expect(!saved.isFromAnotherProcess && saved.commits.count == 1)
            #expect(try saved.insertedObjectIDs() == [x] && saved.deletedObjectIDs() == [b])
            let updated = try saved.updatedObjectIDs()
            let g = try subject.id("Item", "g")
            // Of g the reference to b was cleared; Bob has an item less, and red one.
            #expect(Set(updated).isSuperset(of: [a, g]))
            #expect(try subject.names(of: updated.filter { $0.hierarchy == a.hierarchy }) == "a g")
            let entities = try saved.entities().filter { !$0.inserted.isEmpty }
            #expect(try entities.map(\.entity) == [subject.entity("Tool").index])

            try subject.batch("Item", [["code": "y"], ["code": "z"]])
            #expect(try subject.names(of: told().insertedObjectIDs()) == "y z")
            try subject.batchUpdate("Item", "code == 'y'", ["note": "1"])
            #expect(try subject.names(of: told().updatedObjectIDs()) == "y")
            try subject.batchDelete("Item", "code IN {'y', 'z'}")
            #expect(try told().deletedObjectIDs().count == 2)
            try subject.save { try $0.pair(a, "fans", dot) }
            #expect(try Set(told().updatedObjectIDs()).contains(a))
        }
    }

    @Test(
        "Commits are told in their order; none is told that failed or wrote nothing",
        arguments: Backend.everyStore)
    func order(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let listeners = [Listener(subject.store), Listener(subject.store)]
            let first = try subject.store.snapshot().commit
            for number in 0..<5 { try subject.insert("Item", ["code": "\(number)"]) }
            #expect(storeError { try subject.insert("Item", ["code": "1"]) } != nil)
            try subject.save(subject.draft())
            try subject.batchUpdate("Item", "code == 'none'", ["note": nil])
            for listener in listeners {
                #expect(listener.take().map(\.commit) == (1...5).map { first + $0 })
            }
            listeners[0].end()
            try subject.insert("Item", ["code": "more"])
            #expect(listeners[0].take().isEmpty && listeners[1].take().count == 1)
        }
    }

    @Test("Who is told may ask, and commit itself", arguments: Backend.everyStore)
    func within(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let seen = Mutex<[String]>([])
            let observation = subject.store.observeChanges { set in
                do {
                    let snapshot = try subject.store.snapshot()
                    let names = try subject.names(of: set.insertedObjectIDs(), in: snapshot)
                    let isNew = seen.withLock { seen in
                        seen.append(names)
                        return seen.count == 1
                    }
                    if isNew { try subject.insert("Item", ["code": "second"]) }
                } catch {
                    Issue.record("\(error)")
                }
            }
            try subject.insert("Item", ["code": "first"])
            #expect(seen.withLock { $0 } == ["first", "second"])
            observation.cancel()
        }
    }

    @Test(
        "A set that is asked late says what it would have said at once",
        arguments: Backend.everyStore)
    func late(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let listener = Listener(subject.store)
            let a = try subject.id("Item", "a")
            try subject.update("Item", "a", ["note": "1"])
            try subject.update("Item", "b", ["note": "1"])
            try subject.delete("Item", "a")
            let sets = listener.take()
            #expect(sets.count == 3)
            #expect(try sets[0].updatedObjectIDs() == [a])
            #expect(try subject.names(of: sets[1].updatedObjectIDs()) == "b")
            #expect(try sets[2].deletedObjectIDs() == [a])
        }
    }
}
