// What errors say, to whom: objects, keys, values and conflicts in fields, and no value in the text that is logged.

import Cairn
import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Synchronization
import Testing

/// Refuses its name, and quotes it.
private final class Talkative: ManagedObject {
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        try super.validateValue(&value, forKey: key)
        if key == "name", let name = value as? String, name.contains(ErrorTests.mark) {
            throw Refusal(description: "'\(name)' is no name")
        }
    }
}

private final class Once: Sendable {
    let isDone = Atomic<Bool>(false)
}

private struct EncodedOffer: Encodable, Sendable {
    var name = "n"
    var price: Double?
    var text: Int?
    var wide: String?
}

@Suite("What an error says")
struct ErrorTests {
    /// Stands in every value that a failure is about.
    static let mark = "MARK7261"
    static let number = 7_261_726_172_617

    private static let model: ManagedObjectModel = {
        var name = AttributeDescription("name", .string)
        name.maximumLength = 40
        name.regularExpression = "[A-Za-z0-9 ]*"
        var code = AttributeDescription("code", .string)
        code.setValidationPredicates(
            [.compare(.evaluatedObject, .contains, .constant(.string("-")))],
            withValidationWarnings: ["a code has a hyphen"])
        var size = AttributeDescription("size", .integer64)
        size.maximumValue = .integer(10)
        let offer = EntityDescription(
            "Offer",
            attributes: [
                name, code, size, AttributeDescription("price", .double),
                AttributeDescription("small", .integer16), AttributeDescription("text", .string),
                AttributeDescription("link", .uri), AttributeDescription("wide", .integer64),
                AttributeDescription("day", .date),
            ],
            relationships: [
                RelationshipDescription("parts", to: "Part", toMany: true, inverse: "offer")
            ], uniquenessConstraints: [["text"]])
        let part = EntityDescription(
            "Part", attributes: [AttributeDescription("label", .string)],
            relationships: [RelationshipDescription("offer", to: "Offer", inverse: "parts")])
        return ManagedObjectModel(entities: [offer, part])
    }()

    /// A failure about the mark, or the number.
    struct Failing: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (Stack) throws -> Void

        init(_ title: String, _ run: @escaping @Sendable (Stack) throws -> Void) {
            testDescription = title
            self.run = run
        }

        static func saving(_ title: String, _ values: @escaping @Sendable () -> [String: Any?])
            -> Failing
        {
            Failing(title) { stack in
                let context = stack.context()
                context.make("Offer", values())
                try context.save()
            }
        }

        static func fetching(_ format: String) -> Failing {
            Failing("fetch where \(format)") { stack in
                let predicate = try PredicateNode(format: format)
                _ = try stack.context().fetch(
                    FetchRequest(entityName: "Offer", predicate: predicate))
            }
        }

        static func inserting(
            _ title: String, _ request: @escaping @Sendable () -> BatchInsertRequest
        )
            -> Failing
        {
            Failing(title) { _ = try $0.context().execute(request()) }
        }
    }

    static let failures: [Failing] = [
        .saving("a text that is too long") { ["name": String(repeating: mark, count: 9)] },
        .saving("a text that does not match") { ["name": "\(mark)!"] },
        .saving("a number that is too large") { ["size": number] },
        .saving("a broken predicate") { ["code": mark] },
        .saving("several at once") { ["code": mark, "size": number] },
        Failing("validations of its own") { stack in
            let context = ManagedObjectContext(
                store: stack.store, classes: ObjectClasses(["Offer": Talkative.self]))
            context.make("Offer", ["name": mark])
            context.make("Offer", ["name": mark])
            try context.save()
        },
        Failing("a validation of its own beside the model's") { stack in
            let context = ManagedObjectContext(
                store: stack.store, classes: ObjectClasses(["Offer": Talkative.self]))
            context.make("Offer", ["name": mark, "size": 11])
            try context.save()
        },
        Failing("a value of another type, by hand") { stack in
            var value: Any? = mark
            try stack.context().make("Offer").validateValue(&value, forKey: "price")
        },
        Failing("a text that is no URI, by hand") { stack in
            var value: Any? = "http://\(mark):port"
            try stack.context().make("Offer").validateValue(&value, forKey: "link")
        },
        Failing("a unique key of a stored object") { stack in
            try stack.store { [$0.make("Offer", ["text": mark])] }
            let context = stack.context()
            context.make("Offer", ["text": mark])
            try context.save()
        },
        Failing("a unique key of two new objects") { stack in
            let context = stack.context()
            for _ in 0..<2 { context.make("Offer", ["text": mark]) }
            try context.save()
        },
        .fetching("price == '\(mark)'"),
        .fetching("day > '\(mark)'"),
        .fetching("small IN {1, '\(mark)'}"),
        .fetching("SELF == '\(mark)'"),
        .fetching("ANY '\(mark)' == name"),
        .fetching("name == {'\(mark)', 'b'}"),
        .fetching("price BEGINSWITH '\(mark)'"),
        .fetching("name MATCHES '(\(mark)'"),
        .fetching("name MATCHES '(\(mark)' AND price > 1"),
        .inserting("a dictionary with a value of another type") {
            BatchInsertRequest(entityName: "Offer", objects: [["price": mark]])
        },
        .inserting("a dictionary with a number out of range") {
            BatchInsertRequest(entityName: "Offer", objects: [["small": number]])
        },
        .inserting("an encoded value of another type") {
            BatchInsertRequest(
                entityName: "Offer", encodable: [EncodedOffer(text: number)])
        },
        .inserting("an encoded text for a number") {
            BatchInsertRequest(entityName: "Offer", encodable: [EncodedOffer(wide: mark)])
        },
        Failing("a row that a closure gives, out of range") { stack in
            let entity = try #require(stack.store.schema.entity(named: "Offer"))
            let small = try entity.column("small", as: Int.self)
            let once = Once()
            _ = try stack.context().execute(
                BatchInsertRequest(entity: entity) { row in
                    if once.isDone.exchange(true, ordering: .relaxed) { return true }
                    row[small] = number
                    return false
                })
        },
        .inserting("rows that cannot be given") {
            BatchInsertRequest(entityName: "Offer", encodable: [Unwilling()])
        },
    ]

    struct Unwilling: Encodable, Sendable {
        struct Refusal: Error, CustomStringConvertible { let description = ErrorTests.mark }
        func encode(to encoder: any Encoder) throws { throw Refusal() }
    }

    @Test(
        "No value stands in its text, every value in its full text",
        arguments: Backend.allCases, failures)
    func privacy(_ backend: Backend, _ failing: Failing) throws {
        let stack = try Stack(Self.model, backend)
        let error = try #require(storeError { try failing.run(stack) }, "nothing was thrown")
        func hasMark(_ text: String) -> Bool {
            text.contains(Self.mark) || text.contains("\(Self.number)")
        }
        var plain = [error.message, error.description, "\(error)", String(reflecting: error)]
        plain += error.details.flatMap { [$0.message, $0.description] }
        plain.append(error.userInfo["NSLocalizedDescription"] as? String ?? "")
        for text in plain { #expect(!hasMark(text) && !text.isEmpty, "\(text)") }
        #expect(hasMark(error.fullDescription), "\(error.fullDescription)")
        #expect(error.fullDescription.contains(error.message))
    }

    @Test(
        "A refused value comes with object, key, value and predicate", arguments: Backend.allCases)
    func fields(_ backend: Backend) throws {
        let context = try Stack(Self.model, backend).context()
        let offer = context.make("Offer", ["code": "plain"])
        let error = try #require(storeError { try context.save() })
        #expect(error.message == "a code has a hyphen")
        #expect(error.context.objectID == offer.objectID && error.context.entity == "Offer")
        #expect(error.context.key == "code" && error.context.value == .string("plain"))
        #expect(error.affectedObjectIDs == [offer.objectID])
        let info = error.userInfo
        #expect(info["NSValidationErrorObject"] as? ObjectID == offer.objectID)
        #expect(info["NSValidationErrorKey"] as? String == "code")
        #expect(info["NSValidationErrorValue"] as? Value == .string("plain"))
        #expect(
            (info["NSValidationErrorPredicate"] as? PredicateNode)?.predicateFormat
                == "SELF CONTAINS '-'")
        #expect(info["NSDetailedErrors"] == nil && info["conflictList"] == nil)
        for words in ["plain", "SELF CONTAINS '-'", "\(offer.objectID)", "1550"] {
            #expect(error.fullDescription.contains(words), "\(words)")
        }
    }

    @Test("Several errors list theirs, and all objects concerned", arguments: Backend.allCases)
    func several(_ backend: Backend) throws {
        let context = try Stack(Self.model, backend).context()
        let offers = (0..<2).map { _ in context.make("Offer", ["size": 11, "code": "x"]) }
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .multiple && error.details.count == 4)
        #expect(error.affectedObjectIDs == offers.map(\.objectID))
        #expect((error.userInfo["NSDetailedErrors"] as? [StoreError])?.count == 4)
    }

    @Test(
        "Conflicts come as a list, and as ids of inserted, updated and deleted objects",
        arguments: Backend.allCases)
    func conflicts(_ backend: Backend) throws {
        let stack = try Stack(Self.model, backend)
        let ids = try stack.store { context in
            ["a", "b", "c"].map { context.make("Offer", ["text": $0, "price": 1.0]) }
        }
        let context = stack.context()
        context.object(with: ids[0])["price"] = 2.0
        let gone = context.object(with: ids[1])
        _ = gone["price"]
        context.delete(gone)
        try stack.store { other in
            for id in ids[0...1] { other.object(with: id)["price"] = 3.0 }
            return []
        }
        let stale = try #require(storeError { try context.save() })
        #expect(stale.code == .mergeConflict && stale.insertedObjectIDs.isEmpty)
        #expect(stale.updatedObjectIDs == [ids[0]] && stale.deletedObjectIDs == [ids[1]])
        #expect(Set(stale.affectedObjectIDs) == Set(ids[0...1]))
        #expect((stale.userInfo["conflictList"] as? [SaveConflict])?.count == 2)
        #expect(stale.userInfo["updated"] as? [ObjectID] == [ids[0]])
        #expect(stale.fullDescription.contains("read at version 1, now stored at version 2"))
        context.rollback()
        let new = context.make("Offer", ["text": "c"])
        context.object(with: ids[0])["text"] = "b"
        let double = try #require(storeError { try context.save() })
        #expect(double.code == .constraintConflict)
        #expect(double.insertedObjectIDs == [new.objectID] && double.updatedObjectIDs == [ids[0]])
        #expect(Set(double.affectedObjectIDs) == Set(ids + [new.objectID]))
        #expect(double.fullDescription.contains(#"text = "c""#))
        #expect(!double.description.contains(#""c""#))
        // What is printed names the constraint and the objects with their entities.
        for words in ["Offer, text: ", "\(new.objectID)", "\(ids[0])"] {
            #expect(double.description.contains(words), "\(double)")
        }
    }

    @Test("A cause is told in full only")
    func cause() {
        struct Cause: Error, CustomStringConvertible { let description = "the secret" }
        let inner = StoreError(
            .damaged, "inner", context: .init(value: .string("hidden")), cause: Cause())
        let outer = StoreError(.inputOutput, "outer", context: .init(path: "/p"), cause: inner)
        #expect(outer.description == "/p: outer (134070)")
        for words in ["outer", "inner", "hidden", "the secret"] {
            #expect(outer.fullDescription.contains(words), "\(words)")
        }
        #expect(outer.userInfo["NSUnderlyingError"] is StoreError)
        #expect(outer.userInfo["NSFilePath"] as? String == "/p")
    }

    @Test("Foundation shows the message, and has code and fields under Core Data's names")
    func foundation() {
        let error: any Error = StoreError(
            .missingMandatory, "a required property is nil",
            context: .init(entity: "E", key: "k", value: .integer(7)))
        #expect(error.localizedDescription == "a required property is nil")
        let bridged = error as NSError
        #expect(bridged.domain == "NSCocoaErrorDomain" && bridged.code == 1570)
        #expect(bridged.userInfo["NSValidationErrorKey"] as? String == "k")
    }

    @Test("Texts built from a predicate have a form without its values")
    func predicates() throws {
        let schema = try Schema(Self.model)
        let node = try PredicateNode(format: "price == 'expensive'")
        let error = #expect(throws: PredicateFormatError.self) {
            try node.bound(to: schema.entities[0], in: schema)
        }
        #expect(error?.message.contains("expensive") == true)
        #expect(error?.plainMessage.contains("expensive") == false)
        #expect(error?.plainMessage.contains("$value") == true)
    }
}
