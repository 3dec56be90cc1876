// New values for all objects that a condition finds.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Batch updates")
struct BatchUpdateTests {
    @Test(
        "What is found gets the values; what has them already is not written",
        arguments: Backend.everyStore)
    func constants(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let result = try subject.batchUpdate(
                "Item", "small > 5", ["note": "large", "amount": 7]
            ) {
                $0.resultType = .objectIDs
            }
            #expect(result.updatedCount == 3 && result.unchangedCount == 0)
            #expect(try subject.names(of: result.objectIDs) == "g h i")
            #expect(try result.commit == subject.store.snapshot().commit)
            let again = try subject.batchUpdate(
                "Item", "small > 4", ["note": "large", "amount": 7])
            #expect(again.updatedCount == 1 && again.unchangedCount == 3)
            #expect(try subject.row("Item", "f").version == 2)
            #expect(try subject.row("Item", "g").version == 2)
            #expect(try subject.row("Item", "a").version == 2)
            let none = try subject.batchUpdate("Item", "small > 4", ["note": "large"])
            #expect(none.commit == nil && none.updatedCount == 0)
            #expect(try subject.batchUpdate("Item", "code == 'none'", ["note": nil]).commit == nil)
        }
    }

    /// A property, the expression that it gets, and what comes of it.
    struct Calculation: Sendable, CustomTestStringConvertible {
        let key: String
        let format: String
        /// The values of a, b, c and d.
        let expected: String

        var testDescription: String { "\(key) = \(format)" }
    }

    private static let calculations = [
        Calculation(key: "amount", format: "amount + 1", expected: "11 21 nil nil"),
        Calculation(key: "amount", format: "small * small", expected: "1 4 9 nil"),
        Calculation(key: "amount", format: "length:(name)", expected: "5 5 5 nil"),
        Calculation(key: "note", format: "uppercase:(name)", expected: "ANVIL ANVIL ÄTHER nil"),
        Calculation(key: "note", format: "owner.name", expected: "Ada Bob nil nil"),
        Calculation(key: "note", format: "whole.code", expected: "nil a a nil"),
        Calculation(key: "price", format: "small / 2.0", expected: "0.5 1.0 -1.5 nil"),
        Calculation(key: "price", format: "price * 2 + small", expected: "4.0 7.0 nil nil"),
        Calculation(key: "cost", format: "cost + 0.1", expected: "1.2 2.35 nil nil"),
        Calculation(key: "open", format: "TERNARY(small > 1, YES, NO)", expected: "NO YES NO NO"),
        Calculation(key: "amount", format: "tags.@count", expected: "2 1 0 0"),
        Calculation(key: "small", format: "price * 2", expected: "3 5 nil nil"),
        Calculation(key: "state", format: "code", expected: "a b c d"),
        Calculation(key: "size.height", format: "size.width + 1", expected: "3.0 3.0 nil nil"),
        Calculation(key: "amount", format: "amount / 0", expected: "nil nil nil nil"),
    ]

    @Test("Expressions are asked of each object", arguments: calculations, Backend.everyStore)
    func expressions(_ calculation: Calculation, _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            try subject.batchUpdate(
                "Item", "code <= 'd'", [calculation.key: .format(calculation.format)])
            let values = try "abcd".map { try subject.text("Item", "\($0)", calculation.key) }
            #expect(values.joined(separator: " ") == calculation.expected)
        }
    }

    @Test(
        "Expressions see what was there before, and keys may be exchanged",
        arguments: Backend.everyStore)
    func before(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            try subject.batchUpdate(
                "Item", "code IN {'a', 'b'}",
                ["amount": .format("small"), "small": .format("amount")])
            #expect(try subject.text("Item", "a", "amount", "small") == "1 10")
            try subject.batchUpdate(
                "Item", "series == 's' AND number != nil", ["number": .format("3 - number")])
            #expect(try subject.text("Item", "a", "number") == "2")
            #expect(try subject.text("Item", "b", "number") == "1")
            try subject.batchUpdate("Desk", nil, ["number": .format("number + 1")])
            #expect(try subject.names("Desk") == "2 3")
        }
    }

    @Test(
        "Conditions lead anywhere, and an order has its first ones", arguments: Backend.everyStore)
    func scope(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            func found() throws -> String {
                defer { _ = try? subject.batchUpdate("Item", nil, ["note": nil]) }
                return try subject.names("Item", "note == 'x'")
            }
            try subject.batchUpdate("Item", "ANY tags.label == 'old'", ["note": "x"])
            #expect(try found() == "g h")
            try subject.batchUpdate("Item", nil, ["note": "x"]) { $0.includesSubentities = false }
            #expect(try found() == "a b c d i j")
            try subject.batchUpdate("Tool", nil, ["note": "x", "power": 1])
            #expect(try found() == "e f")
            try subject.batchUpdate("Item", "small != nil", ["note": "x"]) {
                $0.sortDescriptors = [SortKey("small", ascending: false)]
                ($0.fetchOffset, $0.fetchLimit) = (1, 2)
            }
            #expect(try found() == "g h")
            try subject.batchUpdate("Item", "amount != 7", ["note": "x"]) {
                $0.nullSemantics = .sql
            }
            #expect(try found() == "a b e f i j")
        }
    }

    @Test("A reference leads where the update says", arguments: Backend.everyStore)
    func references(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let dot = Value.objectID(try subject.id("Person", "Dot"))
            try subject.batchUpdate("Item", "owner.name == 'Bob'", ["owner": .value(dot)])
            #expect(try subject.members("Person", "Dot", "items") == "b h")
            #expect(try subject.members("Person", "Bob", "items") == "")
            try subject.batchUpdate("Item", nil, ["owner": nil])
            #expect(try subject.names("Item", "owner != nil") == "")
        }
    }

    @Test("What an update cannot do is refused whole", arguments: Backend.everyStore)
    func refused(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let ada = try subject.id("Person", "Ada")
            for (entity, key, value, code) in [
                ("Item", "colour", "red", .invalidRequest),
                ("Item", "amount", "MARK7261", .invalidRequest),
                ("Item", "folded", "x", .invalidRequest), ("Item", "tags", nil, .invalidRequest),
                ("Item", "owner", "Ada", .invalidRequest),
                ("Desk", "person", .value(.objectID(ada)), .invalidRequest),
                ("Item", "state", nil, .missingMandatory),
                ("Item", "small", 72610, .invalidRequest),
                ("Item", "rival", .value(.objectID(ada)), .foreignObject),
                ("Stop", "route", nil, .invalidRequest),
                ("Item", "small", try .format("TERNARY(code == 'a', 32768, 1)"), .invalidRequest),
                ("Item", "small", try .format("TERNARY(code == 'a', price, 1)"), .invalidRequest),
                ("Item", "small", try .format("amount * 10000"), .multiple),
                ("Item", "note", try .format("colour"), .invalidRequest),
                ("Item", "code", "same", .constraintConflict),
                ("Person", "age", 151, .init(rawValue: 1610)),
            ] as [(String, String, UpdatedValue, StoreError.Code)] {
                let error = try subject.refusal {
                    try subject.batchUpdate(entity, nil, [key: value])
                }
                #expect(error?.code == code, "\(key): \(String(describing: error))")
                #expect(!"\(String(describing: error))".contains("MARK7261"))
            }
            try subject.batchUpdate("Person", "name == 'Ada'", ["age": 151]) {
                $0.validatesValues = false
            }
            #expect(try subject.text("Person", "Ada", "age") == "151")
        }
    }
}
