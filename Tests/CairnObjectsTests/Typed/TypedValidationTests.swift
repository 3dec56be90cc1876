// The `validate…` methods of typed classes.

import Cairn
import Foundation
import StoreBackends
import Testing

@Composite
struct CheckedPlace {
    var street: String = ""
    var city: String?
}

enum CheckedKind: String { case toy, tool }

struct CheckedRefusal: Error, Equatable { let property: String }

@Entity
class CheckedThing: ManagedObject {
    var name: String = ""
    var note: String?
    var size: Int16 = 0
    var kind: CheckedKind = CheckedKind.toy
    var list: [Int] = []
    var words: Set<String> = []
    var place: CheckedPlace?
    @Attribute(maximumValue: 10) var limited: Int = 0
    @Relationship(inverse: \CheckedOwner.things) var owner: CheckedOwner?
    @Transient var calls: [String] = []

    func validateName(_ value: inout String) throws {
        calls.append("name")
        value = value.trimmingCharacters(in: .whitespaces)
        if value == "?" { throw CheckedRefusal(property: "name") }
    }
    func validateNote(_ value: inout String?) throws {
        if value == "" { value = nil }
    }
    func validateSize(_ value: inout Int16) { if value < 0 { value = 0 } }
    func validateKind(_ value: inout CheckedKind) throws {
        if value == .tool, name.isEmpty { throw CheckedRefusal(property: "kind") }
    }
    func validateList(_ value: inout [Int]) { value.sort() }
    func validateWords(_ value: inout Set<String>) { value.remove("") }
    func validatePlace(_ value: inout CheckedPlace?) {
        if value?.city == "" { value?.city = nil }
        if value?.street == "" { value = nil }
    }
    func validateLimited(_ value: inout Int) { calls.append("limited") }
    func validateOwner(_ value: inout CheckedOwner?) throws {
        if value == nil { throw CheckedRefusal(property: "owner") }
    }
    // These are other things.
    func validateAll() -> Bool { true }
    func validateName(of other: String) -> Bool { true }
}

@Entity
final class CheckedOwner: ManagedObject {
    var things: Set<CheckedThing>
    func validateThings(_ value: inout Set<CheckedThing>) throws {
        if value.count > 2 { throw CheckedRefusal(property: "things") }
    }
}

@Entity
final class CheckedToy: CheckedThing {
    var color: String = "red"
    func validateColor(_ value: inout String) { value = value.lowercased() }
    override func validateName(_ value: inout String) throws {
        try super.validateName(&value)
        value += "!"
        if value.hasSuffix("!!") { value.removeLast() }
    }
}

/// Overrides the untyped method, beside a method of its own.
@Entity
final class CheckedByKey: ManagedObject {
    var code: String = ""
    var other: Int = 0
    @Transient var keys: [String] = []
    func validateCode(_ value: inout String) { value = value.uppercased() }
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        keys.append(key)
        try super.validateValue(&value, forKey: key)
    }
}

/// Says nothing of validation.
@Entity
final class UncheckedThing: ManagedObject {
    var name: String = ""
}

/// A class that no macro has seen, below one that it has.
final class UnseenThing: CheckedThing {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        if key == "note" { value = "unseen" }
        try super.validateValue(&value, forKey: key)
    }
}

@Suite("Validation methods of typed classes")
struct TypedValidationTests {
    private func stack(_ backend: Backend) throws -> Stack {
        let types: [any PersistentEntity.Type] = [
            CheckedThing.self, CheckedToy.self, CheckedByKey.self, UncheckedThing.self,
        ]
        return try Stack(
            ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
    }

    private func thing(_ context: ManagedObjectContext) -> CheckedThing {
        let thing = context.insert(CheckedThing.self)
        thing.owner = context.insert(CheckedOwner.self)
        return thing
    }

    @Test(
        "They change values of every kind before these are stored", arguments: Backend.allCases)
    func changing(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let thing = thing(context)
        thing.name = " a "
        thing.note = ""
        thing.size = -3
        thing.list = [3, 1, 2]
        thing.words = Set((0..<100).map { "\($0)" } + [""])
        thing.place = CheckedPlace(street: "High Street", city: "")
        try context.save()
        #expect(!context.hasChanges)
        let stored = try #require(
            try stack.context().fetch(FetchRequest<CheckedThing>()).first)
        #expect(stored.name == "a" && stored.note == nil && stored.size == 0)
        #expect(stored.list == [1, 2, 3])
        #expect(stored.place?.street == "High Street" && stored.place?.city == nil)
        thing.place?.street = ""
        try context.save()
        let again = try stack.context().fetch(FetchRequest<CheckedThing>()).first
        #expect(again != nil && again?.place == nil)
    }

    @Test("A value that is encoded otherwise each time is no change")
    func unorderedValue() throws {
        let stack = try stack(.dictionary)
        // Two sets with one history of growth each: most orders differ.
        for count in 1..<60 {
            let context = stack.context()
            let thing = thing(context)
            var words: Set<String> = []
            for number in 0..<(count * 20) { words.insert("\(number)") }
            for number in count..<(count * 20) { words.remove("\(number)") }
            thing.words = words
            try context.save()
            #expect(thing.words == words)
        }
    }

    @Test("They refuse values, and all refusals are gathered", arguments: Backend.allCases)
    func refusing(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let thing = thing(context)
        thing.name = " ? "
        let one = try #require(storeError { try context.save() })
        #expect(one.code == .validation && one.context.key == "name")
        #expect(one.cause as? CheckedRefusal == CheckedRefusal(property: "name"))
        #expect(thing.name == " ? ", "what is refused is not set")
        thing.name = ""
        thing.kind = .tool
        thing.owner = nil
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .multiple)
        #expect(error.details.compactMap(\.context.key) == ["kind", "owner"])
        thing.kind = .toy
        let owner = context.insert(CheckedOwner.self)
        thing.owner = owner
        for _ in 0..<2 { context.insert(CheckedThing.self).owner = owner }
        let many = try #require(storeError { try context.save() })
        #expect(many.cause as? CheckedRefusal == CheckedRefusal(property: "things"))
    }

    @Test(
        "The model's limits come first, and what breaks them is not shown",
        arguments: Backend.allCases)
    func limits(_ backend: Backend) throws {
        let context = try stack(backend).context()
        let thing = thing(context)
        thing.limited = 11
        #expect(storeError { try context.save() }?.code == .numberTooLarge)
        #expect(!thing.calls.contains("limited"))
        thing.limited = 10
        try context.save()
        #expect(thing.calls.contains("limited"))
        thing.calls = []
        thing.note = "only the note"
        try context.save()
        #expect(thing.calls.isEmpty, "what was not set is not asked about")
    }

    @Test(
        "A subclass has those of its parent, may override them and add its own",
        arguments: Backend.allCases)
    func inheriting(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let toy = context.insert(CheckedToy.self)
        toy.owner = context.insert(CheckedOwner.self)
        toy.name = " b "
        toy.note = ""
        toy.color = "BLUE"
        try context.save()
        #expect(toy.name == "b!" && toy.note == nil && toy.color == "blue")
    }

    @Test("The untyped method reaches them", arguments: Backend.allCases)
    func byKey(_ backend: Backend) throws {
        let context = try stack(backend).context()
        let thing = thing(context)
        var value: Any? = " x "
        try thing.validateValue(&value, forKey: "name")
        #expect(value as? String == "x" && thing.name == "")
        value = "?"
        #expect(throws: CheckedRefusal(property: "name")) {
            try thing.validateValue(&value, forKey: "name")
        }
        let other = context.insert(CheckedByKey.self)
        other.code = "a"
        try context.save()
        #expect(other.code == "A" && Set(other.keys) == ["code", "other"])
    }

    @Test("A class that no macro has seen is asked by key", arguments: Backend.allCases)
    func unseen(_ backend: Backend) throws {
        let types: [any PersistentEntity.Type] = [CheckedThing.self]
        let stack = try Stack(
            ManagedObjectModel(for: types), backend,
            classes: ObjectClasses([
                "CheckedThing": UnseenThing.self, "CheckedOwner": CheckedOwner.self,
            ]))
        let context = stack.context()
        let thing = try #require(context.insert("CheckedThing") as? UnseenThing)
        thing.owner = context.insert("CheckedOwner") as? CheckedOwner
        thing.name = " c "
        try context.save()
        #expect(thing.name == "c" && thing.note == "unseen")
    }
}
