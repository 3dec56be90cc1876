// Rows that say where relationships lead.

import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("Targets of rows")
struct BatchTargetTests {
    @Test(
        "A target is named by its id, by the value of a key, or by several values",
        arguments: Backend.everyStore)
    func toOne(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let dot = try subject.id("Person", "Dot")
            try subject.batch(
                "Item",
                [
                    ["code": "p", "owner": dot], ["code": "q", "owner": "Bob"],
                    ["code": "r", "owner": ["name": "Cyd"]], ["code": "s", "owner.name": "Bob"],
                    ["code": "t", "owner": NSNull()], ["code": "u"],
                    ["code": "v", "owner": RowTarget.key("Dot")],
                    ["code": "w", "whole": ["series": "s", "number": 2] as [String: Any]],
                ])
            let owners = try "pqrstuv".map { try subject.text("Item", "\($0)", "owner") }
            #expect(owners == ["Dot", "Bob", "Cyd", "Bob", "nil", "nil", "Dot"])
            #expect(try subject.text("Item", "w", "whole") == "b")
            // What a row does not name stays.
            try subject.batch(
                "Item",
                [["code": "p"], ["code": "q", "owner": NSNull()], ["code": "r", "owner": "Dot"]],
                .mergeByPropertyObjectTrump)
            #expect(try subject.members("Person", "Dot", "items") == "p r v")
            #expect(try subject.text("Item", "q", "owner") == "nil")
        }
    }

    @Test("Rows may name each other, whichever comes first", arguments: Backend.everyStore)
    func eachOther(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.batch(
                "Item",
                [
                    ["code": "a", "rival": "c"], ["code": "b", "whole": "a"],
                    ["code": "c", "rival": "c"],
                ])
            #expect(try subject.text("Item", "a", "rival") == "c")
            #expect(try subject.text("Item", "b", "whole") == "a")
            #expect(try subject.text("Item", "c", "rival") == "c")
        }
    }

    @Test(
        "To-many relationships get all of their members, or some more",
        arguments: Backend.membersOfRows)
    func toMany(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let tags = try ["red", "blue", "old"].map { try subject.id("Tag", $0) }
            let (red, blue, old) = (tags[0], tags[1], tags[2])
            func upsert(_ rows: [[String: Any]]) throws {
                try subject.batch("Item", rows, .mergeByPropertyObjectTrump) { $0.setOnly = true }
            }
            try upsert([["code": "x", "tags": [red, blue]], ["code": "a", "tags": [old]]])
            #expect(try subject.members("Item", "x", "tags") == "blue red")
            #expect(try subject.members("Item", "a", "tags") == "old")
            try upsert([
                ["code": "x", "tags": RowTargets.adding([.id(old)])],
                ["code": "a", "tags": RowTargets.replacing([])], ["code": "b", "note": "other"],
            ])
            #expect(try subject.members("Item", "x", "tags") == "blue old red")
            #expect(try subject.members("Item", "a", "tags") == "")
            #expect(try subject.members("Item", "b", "tags") == "red")
            try upsert([["code": "a", "parts": ["g", "x"], "mates": ["c", "d"], "fans": ["Cyd"]]])
            #expect(try subject.members("Item", "a", "parts") == "g x")
            #expect(try subject.text("Item", "b", "whole") == "nil")
            #expect(try subject.members("Item", "d", "mates") == "a")
            #expect(try subject.members("Item", "b", "mates") == "")
            #expect(try subject.members("Item", "a", "fans") == "Cyd")
        }
    }

    @Test("Ordered members come in the order that a row says", arguments: Backend.membersOfRows)
    func ordered(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.insert("Route", ["name": "r"])
            try subject.batch("Stop", ["a", "b", "c"].map { ["name": $0, "route": "r"] })
            try subject.batch("Sight", ["x", "y", "z"].map { ["name": $0] })
            func upsert(_ row: [String: Any]) throws {
                try subject.batch("Route", [row], .mergeByPropertyObjectTrump)
            }
            try upsert(["name": "r", "stops": ["c", "a", "b"], "sights": ["z", "x"]])
            #expect(try subject.members("Route", "r", "stops") == "c a b")
            #expect(try subject.members("Route", "r", "sights") == "z x")
            try upsert(["name": "r", "sights": RowTargets.adding([.key("y")])])
            #expect(try subject.members("Route", "r", "sights") == "z x y")
        }
    }

    @Test(
        "A target that is not there may be left out, or be made", arguments: Backend.membersOfRows)
    func missing(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let rows: [[String: Any]] = [
                ["code": "x", "owner": "Eve", "fans": ["Ada", "Eve"]],
                ["code": "y", "owner": ["name": "Fay"]],
            ]
            try subject.batch("Item", rows) { $0.ignoresMissingTargets = true }
            #expect(try subject.text("Item", "x", "owner") == "nil")
            #expect(try subject.members("Item", "x", "fans") == "Ada")
            let made: [[String: Any]] = [
                ["code": "y", "owner": ["name": "Fay", "city": "Thun"]],
                ["code": "z", "owner": ["name": "Fay", "city": "Biel"]],
                ["code": "a", "owner": ["name": "Ada", "city": "Chur"]],
            ]
            let result = try subject.batch("Item", rows + made, .mergeByPropertyObjectTrump) {
                $0.createsTargets = true
            }
            #expect(result.createdTargetCount == 2)
            #expect(try subject.members("Item", "x", "fans") == "Ada Eve")
            #expect(try subject.members("Person", "Eve", "items") == "x")
            #expect(try subject.members("Person", "Fay", "items") == "y z")
            // The first row that names a target says what it is; one that is there stays as it is.
            #expect(try subject.text("Person", "Fay", "city") == "nil")
            #expect(try subject.text("Person", "Ada", "city") == "Bern")
        }
    }

    @Test("A target in another store is refused", arguments: Backend.everyStore)
    func foreign(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            try backend.withSubject(sample: true) { other in
                let ada = try other.id("Person", "Ada")
                let error = try subject.refusal {
                    try subject.batch("Item", [["code": "x"], ["code": "y", "owner": ada]])
                }
                #expect(error?.code == .foreignObject)
                #expect(error?.context.row == 1 && error?.context.key == "owner")
            }
        }
    }

    // MARK: What no row names

    @Test(
        "A list that is all there is says what becomes of the rest", arguments: Backend.everyStore)
    func rest(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            func upsert(_ rows: [[String: Any]], _ change: (inout BatchInsertRequest) -> Void)
                throws
                -> BatchInsertResult
            {
                try subject.batch("Item", rows, .mergeByPropertyObjectTrump) {
                    $0.setOnly = true
                    change(&$0)
                }
            }
            let scope = try PredicateNode(format: "owner.name == 'Bob'")
            let marked = try upsert([["code": "b"], ["code": "x"]]) {
                $0.missing = .mark(["state": .string("gone")])
                $0.scope = scope
            }
            #expect(marked.markedCount == 1 && marked.insertedCount == 1)
            #expect(try subject.names("Item", "state == 'gone'") == "h")
            let error = try subject.refusal { _ = try upsert([]) { $0.prunesMissing = true } }
            #expect(error?.code == .invalidRequest)
            let pruned = try upsert(["a", "b", "x"].map { ["code": $0] }) {
                $0.prunesMissing = true
            }
            #expect(pruned.deletedCount == 8)
            #expect(try subject.names("Item") == "a b x")
            let all = try upsert([]) {
                $0.prunesMissing = true
                $0.allowsEmpty = true
            }
            #expect(all.deletedCount == 3)
            #expect(try subject.names("Item") == "")
        }
    }
}
