// A state stays as it was, whatever is written meanwhile.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Snapshots")
struct SnapshotTests {
    @Test(
        "A snapshot answers as before while others write, and after the store was closed",
        arguments: Backend.everyStore)
    func fixed(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let before = try subject.store.snapshot()
            let content = try subject.content(in: before)
            let a = try subject.id("Item", "a")
            let row = try #require(try before.rows([a])[0])
            try subject.update("Item", "a", ["note": "other", "owner": nil])
            try subject.insert("Item", ["code": "x"])
            try subject.delete("Item", "b")
            try subject.batchUpdate("Item", nil, ["state": "changed"])
            try subject.batchDelete("Item", "small > 5")
            let after = try subject.store.snapshot()
            let changed = try subject.content(in: after)
            #expect(try subject.content(in: before) == content && changed != content)
            #expect(before.commit < after.commit)
            #expect(try before.rows([a])[0]?.version == row.version)
            #expect(
                try subject.names(subject.fetch("Item", "state == 'changed'"), in: before) == "")
            #expect(try before.count(subject.fetch("Item")) == 10)
            try subject.store.close()
            #expect(try subject.content(in: before) == content)
            #expect(try subject.content(in: after) == changed)
        }
    }

    @Test(
        "A refused save changes no snapshot that is taken afterwards", arguments: Backend.everyStore
    )
    func refused(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let commit = try subject.store.snapshot().commit
            for _ in 0..<3 {
                #expect(storeError { try subject.insert("Item", ["code": "a"]) } != nil)
            }
            #expect(try subject.store.snapshot().commit == commit)
            try subject.insert("Item", ["code": "x"])
            #expect(try subject.store.snapshot().commit == commit + 1)
        }
    }

    @Test(
        "Rows are given in the order of the ids, and nil for those that are not there",
        arguments: Backend.everyStore)
    func rows(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let item = try subject.entity("Item").index
            let ids = try ["e", "a", "e"].map { try subject.id("Item", $0) }
            let person = try subject.id("Person", "Ada")
            let unused = try subject.store.obtainPermanentIDs(forEntities: [item])
            let snapshot = try subject.store.snapshot()
            #expect(try subject.names(of: ids + unused + [person], in: snapshot) == "e a e ? Ada")
            #expect(try snapshot.rows([]).isEmpty)
            let row = try #require(try snapshot.rows(ids)[0])
            #expect(row.id == ids[0])
            #expect(try row.entity == subject.entity("Tool").index)
        }
    }

    @Test(
        "Who leads to an object is found, with and without an inverse",
        arguments: Backend.everyStore)
    func referrers(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            for (entity, key, target, expected) in [
                ("Item", "owner", ("Person", "Ada"), "a e"), ("Item", "rival", ("Item", "a"), "c"),
                ("Item", "whole", ("Item", "a"), "b c"), ("Item", "fans", ("Person", "Bob"), "e"),
                ("Item", "tags", ("Tag", "old"), "g h"),
                ("Tag", "items", ("Item", "g"), "blue old red"),
                ("Item", "owner", ("Person", "Dot"), ""),
                ("Desk", "person", ("Person", "Ada"), "1"),
            ] {
                let description = try subject.entity(entity)
                let ids = try subject.store.snapshot().referrers(
                    toTarget: subject.id(target.0, target.1),
                    relationship: #require(description.relationshipIndex(named: key)),
                    entity: description.index)
                let names = try subject.names(of: ids).split(separator: " ").sorted()
                #expect(names.joined(separator: " ") == expected, "\(entity).\(key)")
            }
        }
    }

    @Test("Members are given owner by owner, by id", arguments: Backend.everyStore)
    func members(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let person = try subject.entity("Person")
            let owners = try ["Bob", "Dot", "Ada", "Bob"].map { try subject.id("Person", $0) }
            let members = try subject.store.snapshot().members(
                ofRelationship: #require(person.relationshipIndex(named: "items")),
                entity: person.index, owners: owners)
            #expect(try members.map { try subject.names(of: $0) } == ["b h", "", "a e", "b h"])
        }
    }
}
