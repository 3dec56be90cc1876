// Attributes that the store computes.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Derived attributes")
struct DerivedTests {
    @Test(
        "They follow the object's own values, and what is given for them is not looked at",
        arguments: Backend.everyStore)
    func own(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.insert("Item", ["code": "a", "name": "Ünder", "folded": "wrong"])
            #expect(try subject.text("Item", "a", "folded") == "under")
            try subject.update("Item", "a", ["name": "ÉCOLE", "folded": "wrong"])
            #expect(try subject.text("Item", "a", "folded") == "ecole")
            try subject.update("Item", "a", ["name": nil])
            #expect(try subject.text("Item", "a", "folded") == "nil")
        }
    }

    @Test("They follow members that come, change, move and go", arguments: Backend.everyStore)
    func members(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            func figures() throws -> String {
                try ["Ada", "Bob", "Dot"].map {
                    try subject.text("Person", $0, "itemCount", "total")
                }.joined(separator: ", ")
            }
            #expect(try figures() == "2 10, 2 27, 0 0")
            let ada = try subject.id("Person", "Ada")
            let result = try subject.save {
                try $0.insert("Item", ["code": "x", "amount": 100, "owner": ada])
            }
            #expect(result.rows[ada] != nil || result.recomputed.contains(ada))
            #expect(try figures() == "3 110, 2 27, 0 0")
            try subject.update("Item", "x", ["amount": nil])
            #expect(try figures() == "3 10, 2 27, 0 0")
            let dot = try subject.id("Person", "Dot")
            try subject.update("Item", "b", ["owner": dot])
            #expect(try figures() == "3 10, 1 7, 1 20")
            try subject.delete("Item", "a")
            #expect(try figures() == "2 0, 1 7, 1 20")
            try subject.update("Item", "b", ["owner": nil, "amount": 5])
            #expect(try figures() == "2 0, 1 7, 0 0")
        }
    }

    @Test("They follow what a reference leads to", arguments: Backend.everyStore)
    func ways(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            #expect(try subject.text("Item", "e", "ownerCity") == "BERN")
            try subject.update("Person", "Ada", ["city": "Basel"])
            #expect(try subject.text("Item", "e", "ownerCity") == "BASEL")
            #expect(try subject.names("Item", "ownerCity == 'BASEL'") == "a e")
            let bob = try subject.id("Person", "Bob")
            try subject.update("Item", "e", ["owner": bob])
            #expect(try subject.text("Item", "e", "ownerCity") == "ULM")
            try subject.delete("Person", "Bob")
            #expect(try subject.text("Item", "e", "ownerCity") == "nil")
        }
    }

    @Test("Batches keep them right", arguments: Backend.everyStore)
    func batches(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            _ = try subject.store.execute(
                BatchInsertRequest(
                    entityName: "Item",
                    objects: [
                        ["code": "x", "name": "ÄÖ", "amount": 1, "owner": "Dot"],
                        ["code": "y", "amount": 2, "owner": "Dot"],
                    ]))
            #expect(try subject.text("Person", "Dot", "itemCount", "total") == "2 3")
            #expect(try subject.text("Item", "x", "folded", "ownerCity") == "ao BERN")
            var update = BatchUpdateRequest(
                entityName: "Item", propertiesToUpdate: ["amount": 10],
                predicate: try PredicateNode(format: "owner.name == 'Dot'"))
            _ = try subject.store.execute(update)
            #expect(try subject.text("Person", "Dot", "itemCount", "total") == "2 20")
            update = BatchUpdateRequest(
                entityName: "Person", propertiesToUpdate: ["city": "Chur"],
                predicate: try PredicateNode(format: "name == 'Dot'"))
            _ = try subject.store.execute(update)
            #expect(try subject.text("Item", "y", "ownerCity") == "CHUR")
            _ = try subject.store.execute(
                BatchDeleteRequest(
                    entityName: "Item", predicate: try PredicateNode(format: "code == 'x'")))
            #expect(try subject.text("Person", "Dot", "itemCount", "total") == "1 10")
        }
    }
}
