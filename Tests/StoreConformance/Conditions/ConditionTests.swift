// What conditions find, each asked in every way that a store is asked.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Conditions")
struct ConditionTests {
    @Test(
        "Each form finds its objects; a count and a reading find as many, its opposite all others",
        arguments: ConditionTable.all, Backend.everyStore)
    func forms(_ table: ConditionTable, _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            for condition in table.conditions { try ask(condition, subject) }
        }
    }

    private func ask(_ condition: Condition, _ subject: Subject) throws {
        let entity = condition.entity
        func found(_ predicate: PredicateNode, _ semantics: NullSemantics) throws -> String {
            try subject.names(entity) {
                $0.predicate = predicate
                $0.nullSemantics = semantics
            }
        }
        let node = try PredicateNode(format: condition.format, condition.arguments)
        func check(_ found: String, _ expected: String, _ what: String) {
            #expect(found == expected, "\(what)")
        }
        do {
            check(try found(node, .twoValued), condition.expected, condition.format)
            if let expected = condition.expectedBySQL {
                check(try found(node, .sql), expected, "\(condition.format), nil of SQL")
            }
            let names = condition.expected.split(separator: " ")
            let others = try subject.names(entity).split(separator: " ").filter {
                !names.contains($0)
            }
            check(
                try found(.not(node), .twoValued), others.joined(separator: " "),
                "NOT \(condition.format)")
            let snapshot = try subject.store.snapshot()
            let fetch = StoreFetch(entity: try subject.entity(entity).index, predicate: node)
            let ids = try snapshot.fetch(fetch).ids
            #expect(try snapshot.count(fetch) == ids.count, "count of \(condition.format)")
            var read: [ObjectID] = []
            try snapshot.read(StoreRead(subject.entity(entity), where: node)) {
                read.append($0.objectID)
            }
            #expect(Set(read) == Set(ids) && read.count == ids.count, "\(condition.format)")
            #expect(ids == ids.sorted { $0.reference < $1.reference }, "\(condition.format)")
        } catch {
            Issue.record("\(condition.format): \(error)")
        }
    }
}

/// Conditions that name objects, whose ids are not known before.
@Suite("Conditions about objects themselves")
struct ObjectConditionTests {
    @Test("Objects are compared by what they are", arguments: Backend.everyStore)
    func objects(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let a = Value.objectID(try subject.id("Item", "a"))
            let e = Value.objectID(try subject.id("Item", "e"))
            let ada = Value.objectID(try subject.id("Person", "Ada"))
            let red = Value.objectID(try subject.id("Tag", "red"))
            for (format, arguments, expected) in [
                ("SELF == %@", [a], "a"), ("SELF != %@", [a], "b c d e f g h i j"),
                ("objectID == %@", [e], "e"), ("SELF IN {%@, %@}", [a, e], "a e"),
                ("%@ == SELF", [e], "e"), ("owner == %@", [ada], "a e"),
                ("owner != %@", [ada], "b c d f g h i j"), ("owner IN {%@, nil}", [ada], "a e"),
                ("ANY tags == %@", [red], "a b g"), ("NONE tags == %@", [red], "c d e f h i j"),
                ("tags CONTAINS %@", [red], "a b g"), ("%@ IN tags", [red], "a b g"),
                ("ANY mates == %@", [a], "b"), ("whole == %@", [a], "b c"),
                ("whole.whole == %@", [a], "g"), ("ANY parts == SELF", [], ""),
                ("rival == %@", [a], "c"), ("rival == nil", [], "b d e f g h i j"),
                ("ANY fans == %@", [ada], "e"), ("owner.boss == %@", [ada], "b h"),
                ("SUBQUERY(tags, $t, $t == %@).@count == 1", [red], "a b g"),
            ] as [(String, [Value], String)] {
                #expect(try subject.names("Item", format, arguments) == expected, "\(format)")
            }
            #expect(try subject.names("Tool", "SELF == %@", [a]) == "")
            #expect(try subject.names("Tool", "SELF == %@", [e]) == "e")
        }
    }

    @Test(
        "An object that is gone, or was never there, equals nothing", arguments: Backend.everyStore)
    func strangers(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let all = "a b c d e f g h i j"
            let i = try subject.id("Item", "i")
            try subject.delete("Item", "i")
            let rest = "a b c d e f g h j"
            #expect(try subject.names("Item", "SELF == %@", [.objectID(i)]) == "")
            #expect(try subject.names("Item", "SELF != %@", [.objectID(i)]) == rest)
            try backend.withSubject(sample: true) { other in
                let stranger = Value.objectID(try other.id("Item", "a"))
                #expect(try subject.names("Item", "SELF == %@", [stranger]) == "")
                #expect(try subject.names("Item", "SELF IN {%@}", [stranger]) == "")
                #expect(try subject.names("Item", "NOT SELF == %@", [stranger]) == rest)
                #expect(try other.names("Item", "NOT SELF == %@", [.objectID(i)]) == all)
            }
        }
    }
}
