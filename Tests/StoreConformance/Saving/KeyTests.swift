// What counts as a key.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Keys")
struct KeyTests {
    /// Two objects, one saved after the other.
    struct Couple: Sendable, CustomTestStringConvertible {
        let title: String
        let entities: (String, String)
        let values: ([String: any Sendable], [String: any Sendable])
        let isConflict: Bool

        var testDescription: String { title }

        init(
            _ title: String, of entities: (String, String) = ("Item", "Item"),
            _ first: [String: any Sendable], _ second: [String: any Sendable], conflict: Bool
        ) {
            self.title = title
            self.entities = entities
            values = (first, second)
            isConflict = conflict
        }
    }

    private static let couples = [
        Couple("The same text", ["code": "k"], ["code": "k"], conflict: true),
        Couple("Another case", ["code": "k"], ["code": "K"], conflict: false),
        Couple("A space more", ["code": "k"], ["code": "k "], conflict: false),
        Couple("Nil is no key", ["note": "1"], ["note": "2"], conflict: false),
        Couple("An empty text is one", ["code": ""], ["code": ""], conflict: true),
        Couple(
            "Two ways to write a letter", ["code": SampleObjects.composed],
            ["code": SampleObjects.decomposed], conflict: false),
        Couple(
            "All parts", ["series": "s", "number": 1], ["series": "s", "number": 1],
            conflict: true),
        Couple(
            "One part of two", ["series": "s", "number": 1], ["series": "s", "number": 2],
            conflict: false),
        Couple("A part that is nil", ["series": "s"], ["series": "s"], conflict: false),
        Couple(
            "A subentity", of: ("Item", "Tool"), ["code": "k"], ["code": "k"], conflict: true),
        Couple(
            "Two subentities", of: ("Vehicle", "Tool"), ["code": "k"], ["code": "k"], conflict: true
        ),
        Couple(
            "Another entity", of: ("Item", "Person"), ["code": "k"], ["name": "k"], conflict: false),
        Couple("A number", of: ("Desk", "Desk"), ["number": 7], ["number": 7], conflict: true),
        Couple(
            "A rule of its own", of: ("Tag", "Tag"), ["label": "red"], ["label": "Red"],
            conflict: true),
        Couple(
            "The rule and accents", of: ("Tag", "Tag"), ["label": "red"], ["label": "Réd"],
            conflict: true),
        Couple(
            "The rule and more", of: ("Tag", "Tag"), ["label": "red"], ["label": "reds"],
            conflict: false),
        Couple("The rule and nil", of: ("Tag", "Tag"), ["hue": "1"], ["hue": "2"], conflict: false),
        Couple(
            "A text that is longer than any index likes",
            ["code": String(repeating: "k", count: 9000)],
            ["code": String(repeating: "k", count: 9000)], conflict: true),
    ]

    @Test(
        "Objects have one key if all parts of it are equal, and none of them nil",
        arguments: couples, Backend.everyStore)
    func meeting(_ couple: Couple, _ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.insert(couple.entities.0, couple.values.0)
            let error = storeError { try subject.insert(couple.entities.1, couple.values.1) }
            #expect((error?.code == .constraintConflict) == couple.isConflict)
            #expect((error == nil) != couple.isConflict)
            #expect(try subject.content().count == (couple.isConflict ? 1 : 2))
        }
    }

    @Test("A conflict under a rule of its own names the rule", arguments: Backend.everyStore)
    func rule(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let error = storeError { try subject.insert("Tag", ["label": "RED"]) }
            guard case .constraint(let conflict)? = error?.conflicts.first else {
                Issue.record("no conflict of keys")
                return
            }
            #expect(conflict.constraint == ["label"] && conflict.options?.isCaseInsensitive == true)
            #expect(try conflict.stored?.id == subject.id("Tag", "red"))
            // The object that has it may write it otherwise.
            try subject.update("Tag", "red", ["label": "RED"])
            #expect(try subject.names("Tag") == "RED blue old")
            let result = try subject.save(.mergeByPropertyObjectTrump) {
                try $0.insert("Tag", ["label": "Red", "hue": "crimson"])
            }
            #expect(result.absorbed.count == 1)
            #expect(try subject.text("Tag", "Red", "hue") == "crimson")
        }
    }

    @Test("What an entity does not have it cannot take over", arguments: Backend.everyStore)
    func unlike(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let content = try subject.content()
            var draft = try subject.draft()
            try draft.insert("Vehicle", ["code": "e", "seats": 2])
            let error = storeError { try subject.save(draft, .mergeByPropertyObjectTrump) }
            #expect(error?.code == .constraintConflict && error?.context.key == "seats")
            #expect(try subject.content() == content)
            try subject.save(draft, .overwrite)
            #expect(try subject.names("Vehicle") == "e g h")
            #expect(try subject.names("Tool") == "f")
        }
    }
}
