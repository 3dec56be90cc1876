// What leads from one object to another: references, pairs and lists.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Relationships")
struct RelationshipTests {
    @Test("Both ends of a relationship agree", arguments: Backend.everyStore)
    func ends(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            #expect(try subject.members("Person", "Ada", "items") == "a e")
            #expect(try subject.members("Item", "a", "owner") == "Ada")
            #expect(try subject.members("Item", "a", "parts") == "b c")
            #expect(try subject.members("Item", "g", "tags") == "blue old red")
            #expect(try subject.members("Tag", "red", "items") == "a b g")
            #expect(try subject.members("Item", "b", "mates") == "a")
            #expect(try subject.members("Item", "a", "mates") == "b")
            #expect(try subject.members("Item", "e", "fans") == "Ada Bob")
            #expect(try subject.members("Person", "Ada", "staff") == "Bob")
            #expect(try subject.text("Person", "Ada", "desk") == "1")
            let cyd = try subject.id("Person", "Cyd")
            try subject.update("Item", "a", ["owner": cyd])
            #expect(try subject.members("Person", "Ada", "items") == "e")
            #expect(try subject.members("Person", "Cyd", "items") == "a f")
        }
    }

    @Test("Pairs are added and removed, from either end", arguments: Backend.everyStore)
    func pairs(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let (a, d) = (try subject.id("Item", "a"), try subject.id("Item", "d"))
            let (red, old) = (try subject.id("Tag", "red"), try subject.id("Tag", "old"))
            try subject.save { draft in
                try draft.pair(a, "tags", old)
                try draft.pair(red, "items", d)
                try draft.pair(red, "items", a, isAddition: false)
                try draft.pair(d, "mates", a)
            }
            #expect(try subject.members("Item", "a", "tags") == "blue old")
            #expect(try subject.members("Item", "d", "tags") == "red")
            #expect(try subject.members("Item", "a", "mates") == "b d")
            try subject.save { try $0.pair(a, "mates", d, isAddition: false) }
            #expect(try subject.members("Item", "d", "mates") == "")
            // What is there already, and what is not.
            let content = try subject.content()
            try subject.save { draft in
                try draft.pair(a, "tags", old)
                try draft.pair(a, "tags", red, isAddition: false)
            }
            #expect(try subject.content() == content)
        }
    }

    @Test(
        "Ends of a one-to-one relationship agree: a free end is led back, one that is taken must be told",
        arguments: Backend.everyStore)
    func oneToOne(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let (ada, bob) = (try subject.id("Person", "Ada"), try subject.id("Person", "Bob"))
            let second = try subject.id("Desk", "2")
            try subject.insert("Desk", ["number": 3, "person": bob])
            #expect(try subject.text("Person", "Bob", "desk") == "3")
            // Ada has a desk already, and nobody said that she leaves it.
            try subject.update("Desk", "2", ["person": ada])
            #expect(try subject.text("Person", "Ada", "desk") == "1")
            #expect(try subject.text("Desk", "2", "person") == "nil")
            try subject.save { draft in
                try draft.update(second, ["person": ada])
                try draft.update(ada, ["desk": second])
            }
            #expect(try subject.text("Person", "Ada", "desk") == "2")
            #expect(try subject.text("Desk", "2", "person") == "Ada")
            #expect(try subject.text("Desk", "1", "person") == "nil")
        }
    }

    @Test("Whatever led to a deleted object leads nowhere", arguments: Backend.everyStore)
    func cleared(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let (a, c) = (try subject.id("Item", "a"), try subject.id("Item", "c"))
            let result = try subject.delete("Item", "a")
            #expect(try subject.text("Item", "b", "whole") == "nil")
            #expect(try subject.text("Item", "c", "whole", "rival") == "nil nil")
            #expect(try subject.members("Item", "b", "mates") == "")
            #expect(try subject.members("Tag", "red", "items") == "b g")
            #expect(try subject.members("Person", "Ada", "items") == "e")
            // Rows that the save has written so are part of its result.
            #expect(result.rows[c]?.version == 2 && result.rows[a] == nil)
            #expect(try subject.row("Item", "c").version == 2)
            try subject.delete("Person", "Ada")
            #expect(try subject.text("Item", "e", "owner") == "nil")
            #expect(try subject.members("Item", "e", "fans") == "Bob")
            #expect(try subject.text("Desk", "1", "person") == "nil")
            #expect(try subject.text("Person", "Bob", "boss") == "nil")
        }
    }

    @Test("Objects of one save may lead to each other", arguments: Backend.everyStore)
    func circle(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.save { draft in
                let a = try draft.insert("Item", ["code": "a"])
                let b = try draft.insert("Item", ["code": "b", "rival": a, "mates": [a]])
                draft.request.inserted[0].values[try rival(subject)] = .objectID(b)
                draft.request.inserted[0].assigned.insert(try rival(subject))
                try draft.pair(b, "mates", b)
            }
            #expect(try subject.text("Item", "a", "rival") == "b")
            #expect(try subject.text("Item", "b", "rival") == "a")
            #expect(try subject.members("Item", "b", "mates") == "a b")
        }
    }

    private func rival(_ subject: Subject) throws -> Int {
        try #require(subject.entity("Item").columnIndex(named: "rival"))
    }

    // MARK: Redirects

    @Test(
        "The id of an object that was folded into another leads there",
        arguments: Backend.everyStore)
    func redirects(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let ids = try ["a", "b", "c"].map { try subject.id("Item", $0) }
            #expect(!subject.store.hasRedirects)
            func fold(_ id: ObjectID, into survivor: ObjectID) throws {
                try subject.save { draft in
                    try draft.delete(id)
                    draft.request.redirects = [.init(id: id, survivor: survivor)]
                }
            }
            try fold(ids[2], into: ids[1])
            #expect(subject.store.hasRedirects)
            let before = try subject.store.snapshot()
            #expect(try before.redirectedObjectID(for: ids[2]) == ids[1])
            #expect(try before.redirectedObjectID(for: ids[1]) == nil)
            // Who still has the id means the one that is in its place.
            try subject.save { draft in
                try draft.insert("Item", ["code": "late", "rival": ids[2]])
            }
            #expect(try subject.text("Item", "late", "rival") == "b")
            try subject.delete("Item", "late")
            try fold(ids[1], into: ids[0])
            #expect(try subject.store.redirectedObjectID(for: ids[2]) == ids[0])
            #expect(try subject.store.redirectedObjectID(for: ids[1]) == ids[0])
            #expect(try before.redirectedObjectID(for: ids[2]) == ids[1])
            try subject.delete("Item", "a")
            #expect(try subject.store.redirectedObjectID(for: ids[2]) == nil)
        }
    }
}
