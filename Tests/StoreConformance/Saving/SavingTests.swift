// What a save writes, and that it writes all of it or nothing.

import CairnModel
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Saving")
struct SavingTests {
    @Test(
        "New objects have permanent ids, version 1, and the defaults of what was not set",
        arguments: Backend.everyStore)
    func inserting(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let before = try subject.store.snapshot().commit
            var draft = try subject.draft()
            let a = try draft.insert("Item", ["code": "a"])
            let b = try draft.insert("Tool", ["code": "b", "state": "used"])
            let result = try subject.save(draft)
            let ids = [a, b].compactMap { result.permanentIDs[$0] }
            #expect(Set(ids).count == 2 && ids.allSatisfy { !$0.isTemporary })
            #expect(ids.allSatisfy { $0.store == subject.store.identity.identifier })
            #expect(ids[0].reference < ids[1].reference)
            for id in ids { #expect(result.rows[id]?.version == 1) }
            #expect(
                try subject.content() == ["Item v1 code=a state=new", "Tool v1 code=b state=used"])
            let commit = try subject.store.snapshot().commit
            #expect(commit > before && result.commit == commit)
        }
    }

    @Test(
        "Every value is kept to the last bit", arguments: SampleObjects.items.indices,
        Backend.everyStore)
    func values(_ place: Int, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let (entity, given) = SampleObjects.items[place]
            let id = try subject.insert(entity, given)
            let description = try subject.entity(entity)
            let row = try #require(try subject.store.snapshot().rows([id])[0])
            #expect(row.entity == description.index)
            for (column, value) in try description.columnValues(given) {
                let stored = row.cells.value(column, of: description, in: subject.store.identity)
                #expect(stored == value, "\(description.columns[column].name)")
            }
        }
    }

    @Test("Large values are kept too", arguments: Backend.everyStore)
    func largeValues(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let text = String(repeating: "größer ", count: 30_000)
            let bytes = Data((0..<1_500_000).map { UInt8(truncatingIfNeeded: $0) })
            try subject.insert("Item", ["code": "a", "note": text, "plan": bytes])
            #expect(try subject.value("Item", "a", "note") == .string(text))
            #expect(try subject.value("Item", "a", "plan") == .binary(bytes))
            #expect(try subject.names("Item", "note == %@", [.string(text)]) == "a")
            #expect(try subject.names("Item", "note ENDSWITH 'größer '") == "a")
        }
    }

    @Test(
        "A change makes the next version, and leaves what it does not name",
        arguments: Backend.everyStore)
    func updating(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let id = try subject.insert("Item", ["code": "a", "note": "old", "amount": 1])
            let result = try subject.update("Item", "a", ["note": nil, "size.width": 2.5])
            #expect(result.rows[id]?.version == 2)
            #expect(
                try subject.content() == ["Item v2 code=a amount=1 size.width=2.5 state=new"])
            try subject.update("Item", "a", ["state": "used", "code": "b"])
            #expect(
                try subject.content() == ["Item v3 code=b amount=1 size.width=2.5 state=used"])
            #expect(try subject.id("Item", "b") == id)
        }
    }

    @Test(
        "Deleted objects are gone, and nobody else ever has their ids",
        arguments: Backend.everyStore)
    func deleting(_ backend: Backend) throws {
        try backend.withSubject { subject in
            var ids = [try subject.insert("Item", ["code": "a"])]
            for _ in 0..<3 {
                try subject.delete("Item", "a")
                #expect(try subject.store.snapshot().rows(ids).allSatisfy { $0 == nil })
                #expect(try subject.content().isEmpty)
                ids.append(try subject.insert("Item", ["code": "a"]))
            }
            #expect(Set(ids).count == 4)
            #expect(try subject.names("Item") == "a")
        }
    }

    @Test("A save of nothing writes nothing", arguments: Backend.everyStore)
    func nothing(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let commit = try subject.store.snapshot().commit
            #expect(try subject.save(subject.draft()).commit == nil)
            #expect(try subject.store.snapshot().commit == commit)
        }
    }

    @Test(
        "Insertions, changes and deletions of one save happen at once",
        arguments: Backend.everyStore)
    func mixed(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let (a, b) = (try subject.id("Item", "a"), try subject.id("Item", "b"))
            let before = try subject.store.snapshot().commit
            let result = try subject.save { draft in
                try draft.insert("Item", ["code": "x", "whole": a])
                try draft.update(a, ["note": "changed"])
                try draft.delete(b)
            }
            #expect(result.commit == before + 1)
            #expect(try subject.names("Item") == "a c d e f g h i j x")
            #expect(try subject.text("Item", "a", "note") == "changed")
            #expect(try subject.members("Item", "a", "parts") == "c x")
        }
    }

    @Test("Thousands of objects are saved at once", arguments: Backend.everyStore)
    func many(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let count = 2500
            let result = try subject.save { draft in
                for number in 0..<count {
                    try draft.insert("Item", ["code": "\(number)", "amount": number % 10])
                }
            }
            #expect(result.permanentIDs.count == count)
            let snapshot = try subject.store.snapshot()
            #expect(try snapshot.count(subject.fetch("Item")) == count)
            #expect(try snapshot.count(subject.fetch("Item", "amount == 3")) == count / 10)
            #expect(try subject.text("Item", "2499", "amount") == "9")
        }
    }

    // MARK: Ids

    @Test("An object may be given an id that was obtained before", arguments: Backend.everyStore)
    func obtained(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let item = try subject.entity("Item").index
            let id = try subject.store.obtainPermanentIDs(forEntities: [item])[0]
            #expect(try subject.store.snapshot().rows([id])[0] == nil)
            let result = try subject.save { try $0.insert("Item", ["code": "a"], id: id) }
            #expect(result.permanentIDs.isEmpty && result.rows[id]?.version == 1)
            #expect(try subject.id("Item", "a") == id)
        }
    }

    @Test(
        "An object that is created again keeps its id, and has another version than before",
        arguments: Backend.everyStore)
    func recreated(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let id = try subject.insert("Item", ["code": "a"])
            try subject.update("Item", "a", ["note": "second"])
            try subject.delete("Item", "a")
            try subject.save { try $0.insert("Item", ["code": "a"], id: id, version: 2) }
            #expect(try subject.id("Item", "a") == id)
            let version = try subject.row("Item", "a").version
            #expect(version > 2)
        }
    }

    // MARK: Mandatory properties

    @Test(
        "A mandatory attribute that is nil is refused with its name", arguments: Backend.everyStore)
    func mandatory(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let content = try subject.content()
            let commit = try subject.store.snapshot().commit
            let errors = [
                storeError { try subject.insert("Tool", ["code": "x", "state": nil]) },
                storeError { try subject.update("Item", "a", ["state": nil]) },
                storeError {
                    // What is right in such a save is not written either.
                    try subject.save { draft in
                        try draft.insert("Item", ["code": "y"])
                        try draft.update(subject.id("Item", "b"), ["note": "changed"])
                        try draft.insert("Item", ["code": "z", "state": nil])
                    }
                },
            ]
            for error in errors {
                #expect(error?.code == .missingMandatory && error?.context.key == "state")
            }
            #expect(try subject.content() == content)
            #expect(try subject.store.snapshot().commit == commit)
        }
    }

    @Test("A mandatory relationship that leads nowhere is refused", arguments: Backend.everyStore)
    func mandatoryRelationship(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let error = storeError { try subject.insert("Stop", ["name": "s"]) }
            #expect(error?.code == .missingMandatory && error?.context.key == "route")
            let route = try subject.insert("Route", ["name": "r"])
            try subject.insert("Stop", ["name": "s", "route": route])
            let content = try subject.content()
            let second = storeError { try subject.update("Stop", "s", ["route": nil]) }
            #expect(second?.code == .missingMandatory && second?.context.key == "route")
            // Nobody has applied the delete rules here, which would take the stop along.
            let third = storeError { try subject.delete("Route", "r") }
            #expect(third?.code == .missingMandatory)
            #expect(try subject.content() == content)
        }
    }
}
