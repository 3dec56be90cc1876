// All objects that a condition finds, or a list names, are deleted by the delete rules of the model.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Batch deletes")
struct BatchDeleteTests {
    @Test("What is found goes, and what led to it leads nowhere", arguments: Backend.everyStore)
    func nullify(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let result = try subject.batchDelete("Item", "code IN {'a', 'e'}") {
                $0.resultType = .objectIDs
            }
            #expect(result.deletedCount == 2 && result.cascadedCount == 0)
            #expect(result.objectIDs.count == 2)
            #expect(try subject.names(of: result.objectIDs) == "? ?")
            #expect(try result.commit == subject.store.snapshot().commit)
            #expect(try subject.names("Item") == "b c d f g h i j")
            #expect(try subject.text("Item", "b", "whole") == "nil")
            #expect(try subject.text("Item", "c", "whole", "rival") == "nil nil")
            #expect(try subject.members("Item", "f", "mates") == "")
            #expect(try subject.members("Tag", "blue", "items") == "g")
            #expect(try subject.text("Person", "Ada", "itemCount") == "0")
            #expect(try subject.row("Item", "c").version == 2)
            let none = try subject.batchDelete("Item", "code == 'a'")
            #expect(none.commit == nil && none.deletedCount == 0)
        }
    }

    @Test("A request says what goes by a fetch, a condition or ids", arguments: Backend.everyStore)
    func targets(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            func execute(_ target: BatchDeleteRequest.Target) throws -> Int {
                try subject.store.execute(BatchDeleteRequest(target)).deletedCount
            }
            var fetch = try subject.fetch("Item", "small != nil")
            fetch.sort = [SortKey("small", ascending: false)]
            (fetch.offset, fetch.limit) = (1, 2)
            #expect(try execute(.fetch(fetch)) == 2)
            #expect(try subject.names("Item") == "a b c d e f i j")
            let item = try subject.entity("Item").index
            let ids = try ["a", "e"].map { try subject.id("Item", $0) }
            #expect(try execute(.ids([ids[0]], entity: item)) == 1)
            // Those that are not there are passed over.
            #expect(try execute(.objectIDs(ids)) == 1)
            #expect(try execute(.objectIDs(ids)) == 0)
            #expect(try execute(.objectIDs([])) == 0)
            #expect(try subject.names("Item") == "b c d f i j")
            let rest = try subject.batchDelete("Item", "amount != 20") {
                $0.nullSemantics = .sql
                $0.sortDescriptors = [SortKey("code")]
                ($0.fetchOffset, $0.fetchLimit) = (1, 1)
            }
            #expect(rest.deletedCount == 1)
            #expect(try subject.names("Item") == "b c d f j")
            try subject.batchDelete("Item") { $0.includesSubentities = false }
            #expect(try subject.names("Item") == "f")
            #expect(try execute(.matching(nil, entityName: "Item")) == 1)
        }
    }

    @Test("A cascade takes along what belongs to it", arguments: Backend.everyStore)
    func cascade(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.save { draft in
                for name in ["r", "q"] {
                    let route = try draft.insert("Route", ["name": name])
                    for number in 1...3 {
                        try draft.insert("Stop", ["name": "\(name)\(number)", "route": route])
                    }
                    try draft.insert("Sight", ["name": name, "routes": [route]])
                }
            }
            let result = try subject.batchDelete("Route", "name == 'r'") {
                $0.resultType = .objectIDs
            }
            #expect(result.deletedCount == 1 && result.cascadedCount == 3)
            #expect(result.objectIDs.count == 4)
            #expect(try subject.names("Stop") == "q1 q2 q3")
            #expect(try subject.names("Sight") == "q r")
            #expect(try subject.members("Sight", "r", "routes") == "")
            try subject.batchDelete("Stop", "name == 'q2'")
            #expect(try subject.members("Route", "q", "stops") == "q1 q3")
        }
    }

    @Test(
        "A rule that denies refuses the whole request, unless who denies goes too",
        arguments: Backend.everyStore)
    func deny(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let error = try subject.refusal {
                try subject.batchDelete("Person", "name IN {'Ada', 'Dot'}")
            }
            #expect(error?.code == .deleteDenied)
            #expect(error?.context.entity == "Person")
            #expect(error?.context.key == "staff")
            #expect(try error?.context.objectID == subject.id("Person", "Ada"))
            #expect(try error?.context.value == .objectID(subject.id("Person", "Bob")))
            let result = try subject.batchDelete("Person", "name IN {'Ada', 'Bob', 'Cyd'}")
            #expect(result.deletedCount == 3)
            #expect(try subject.names("Person") == "Dot")
            #expect(try subject.names("Item", "owner != nil") == "")
        }
    }

    @Test("Ids that do not belong together, or here, are refused", arguments: Backend.everyStore)
    func refused(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let (a, ada) = (try subject.id("Item", "a"), try subject.id("Person", "Ada"))
            let mixed = try subject.refusal {
                _ = try subject.store.execute(BatchDeleteRequest(objectIDs: [a, ada]))
            }
            #expect(mixed?.code == .invalidRequest)
            let unknown = try subject.refusal { try subject.batchDelete("Item", "colour == 1") }
            #expect(unknown?.code == .invalidRequest && unknown?.context.key == "colour")
            try backend.withSubject(sample: true) { other in
                let stranger = try other.id("Item", "a")
                let error = try subject.refusal {
                    _ = try subject.store.execute(BatchDeleteRequest(objectIDs: [a, stranger]))
                }
                #expect(error?.code == .foreignObject)
                let asked = try subject.refusal {
                    try subject.batchDelete("Item") {
                        $0.affectedStores = [other.store.identity.identifier]
                    }
                }
                #expect(asked?.code == .invalidRequest)
            }
        }
    }
}
