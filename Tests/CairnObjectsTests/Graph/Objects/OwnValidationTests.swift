// Validation of single properties by an object's class, and by the predicates of its model.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

/// Notes which values it is asked about, and changes or refuses some.
private final class Judge: ManagedObject {
    struct Refusal: Error, Equatable { let key: String }

    var asked: [String] = []
    var refused: Set<String> = []
    var changes: [String: Any?] = [:]

    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        asked.append(key)
        if let change = changes[key] { value = change }
        try super.validateValue(&value, forKey: key)
        if refused.contains(key) { throw Refusal(key: key) }
    }
}

/// Counts up its value each time it is asked.
private final class Restless: ManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        if key == "stock" { value = (value as? Int ?? 0) + 1 }
        try super.validateValue(&value, forKey: key)
    }
}

@Suite("Validation of a property by its class")
struct OwnValidationTests {
    private func stack(_ backend: Backend, _ model: ManagedObjectModel = Models.shop) throws
        -> Stack
    {
        try Stack(
            model, backend, classes: ObjectClasses(["Product": Judge.self, "Thing": Judge.self]))
    }

    private func judge(_ context: ManagedObjectContext, _ values: [String: Any?]) throws -> Judge {
        try #require(context.make("Product", values) as? Judge)
    }

    @Test(
        "Of a new object every attribute and to-one relationship is asked, of a stored one what was set",
        arguments: Backend.allCases)
    func which(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let object = try judge(context, ["name": "n"])
        try context.save()
        let all = ["serialCode", "name", "price", "isFavorite", "note", "stock", "shop"]
        #expect(object.asked == all)
        object.asked = []
        object["price"] = 2.0
        object["tags"] = [context.make("Tag", ["label": "t"])]
        try context.save()
        #expect(object.asked == ["price", "tags"])
        object.asked = []
        object["price"] = 2.0
        try context.save()
        #expect(object.asked.isEmpty, "the value is the one that is stored")
    }

    @Test(
        "What is no value of the property is refused, and not set", arguments: Backend.allCases)
    func noValue(_ backend: Backend) throws {
        let context = try stack(backend).context()
        let object = try judge(context, ["price": 1.0])
        object.changes = ["price": "dear", "name": "n"]
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .validation && error.context.key == "price")
        #expect(object["price"] as? Double == 1)
        object.changes = [:]
        try context.save()
    }

    @Test("Leaves of a composite value are compared as what they are stored as")
    func leaves() throws {
        let context = try stack(.dictionary, Models.values).context()
        let object = try #require(context.make("Thing") as? Judge)
        object.changes = ["color": ["color.primary": "red", "color.shade": 1]]
        try context.save()
        #expect((object["color"] as? [String: Any])?["color.shade"] as? Double == 1)
    }

    @Test(
        "What it puts in a value's place is stored, and asked about once more",
        arguments: Backend.allCases)
    func coercion(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let shop = context.make("Shop", ["name": "s"])
        let object = try judge(context, ["name": "  n ", "note": "x", "price": 1.0])
        object.changes = ["name": "n", "note": nil, "stock": 5, "price": 3, "shop": shop]
        try context.save()
        #expect(object.asked.filter { $0 == "name" }.count == 2, "two rounds")
        let stored = try #require(try stack.context().all("Product").first)
        #expect(stored.string("name") == "n" && stored["note"] == nil && stored.int("stock") == 5)
        #expect(stored["price"] as? Double == 3, "an integer for a double attribute")
        #expect(stored.object("shop")?.string("name") == "s")
        #expect(stored.object("shop")?.members("products") == [stored])
    }

    @Test(
        "What it puts in a value's place must keep to the model's limits",
        arguments: Backend.allCases)
    func limitsAfterCoercion(_ backend: Backend) throws {
        let stack = try stack(backend, Models.values)
        let context = stack.context()
        let object = try #require(context.make("Thing", ["size": 3]) as? Judge)
        object.changes = ["size": 11]
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .numberTooLarge && error.context.value == .integer(11))
        #expect(object.int("size") == 3, "what is refused is not set")
        object.changes = ["size": 10, "code": "abc"]
        try context.save()
        let stored = try #require(try stack.context().all("Thing").first)
        #expect(stored.int("size") == 10 && stored.string("code") == "abc")
    }

    @Test("One that never rests fails the save", arguments: Backend.allCases)
    func restless(_ backend: Backend) throws {
        let stack = try Stack(
            Models.shop, backend, classes: ObjectClasses(["Product": Restless.self]))
        let context = stack.context()
        let object = context.make("Product", ["stock": 0])
        let error = try #require(storeError { try context.save() })
        #expect(error.message.contains("validation"))
        #expect(object.int("stock") == 1000)
    }

    @Test(
        "A single refusal comes as one of several does: with object and key, as the cause",
        arguments: Backend.allCases)
    func single(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let object = try judge(context, [:])
        object.refused = ["price"]
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .validation && error.details.isEmpty)
        #expect(error.context.entity == "Product" && error.context.key == "price")
        #expect(error.context.objectID == object.objectID)
        #expect(error.cause as? Judge.Refusal == Judge.Refusal(key: "price"))
        #expect(try stack.context().count("Product") == 0)
    }

    @Test(
        "All refusals come together, those of the model and those of the class",
        arguments: Backend.allCases)
    func several(_ backend: Backend) throws {
        let context = try stack(backend).context()
        let object = try judge(context, ["name": nil])
        object.refused = ["price", "stock"]
        let other = try judge(context, [:])
        other.refused = ["note"]
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .multiple)
        let keys = error.details.map { "\($0.context.key ?? "-") \($0.code)" }
        #expect(keys.count == 4)
        #expect(Set(keys).isSuperset(of: ["name 1570", "price 1550", "stock 1550"]))
        let causes = error.details.compactMap { $0.cause as? Judge.Refusal }
        #expect(Set(causes.map(\.key)) == ["price", "stock", "note"])
    }

    @Test("Asked by hand, it says what a save would and sets nothing")
    func byHand() throws {
        let context = try stack(.dictionary, Models.values).context()
        let object = context.make("Thing")
        func check(_ value: Any?, _ key: String) throws -> Any? {
            var value = value
            try object.validateValue(&value, forKey: key)
            return value
        }
        #expect(try check(5, "size") as? Int == 5)
        #expect(object["size"] == nil)
        let bad: [(Any?, String, Int)] = [
            (11, "size", 1610), ("x", "code", 1670), (nil, "needed", 1570),
            ("abc", "size", 1550), (Data(), "code", 1550), ("http://host:port", "link", 1690),
            ("", "link", 1690),
        ]
        for (value, key, code) in bad {
            let error = storeError { _ = try check(value, key) }
            #expect(error?.code.rawValue == code && error?.context.key == key, "\(key)")
        }
        #expect(
            try check("https://example.org", "link") as? URL == URL(string: "https://example.org"))
        let several = storeError { _ = try check("A!", "code") }
        #expect(several?.code.rawValue == 1680)
        let two = storeError { _ = try check("A!ABC", "code") }
        #expect(Set(two?.details.map(\.code.rawValue) ?? []) == [1660, 1680])
        #expect(try check(["color.primary": "red"], "color") != nil)
        #expect(storeError { _ = try check(["color.primary": 5], "color") }?.code == .validation)
    }

    @Test("Numbers of members are judged as well")
    func members() throws {
        let context = try stack(.dictionary, Models.values).context()
        let box = context.make("Box")
        let parts = (0..<3).map { _ in context.make("Part") }
        var value: Any? = Set(parts)
        #expect(
            storeError { try box.validateValue(&value, forKey: "parts") }?.code == .tooManyMembers)
        value = [parts[0]]
        try box.validateValue(&value, forKey: "parts")
        value = "none"
        #expect(storeError { try box.validateValue(&value, forKey: "parts") }?.code == .validation)
    }

    @Test("An unknown key is an error")
    func unknownKey() throws {
        var value: Any?
        let product = try Stack(Models.shop, .dictionary).context().make("Product")
        let error = storeError { try product.validateValue(&value, forKey: "nme") }
        #expect(error?.code == .invalidRequest && error?.context.key == "nme")
    }
}

@Suite("Validation predicates of a model")
struct ValidationPredicateTests {
    private func model() throws -> ManagedObjectModel {
        var price = AttributeDescription("price", .double, default: .double(1))
        price.setValidationPredicates(
            [try PredicateNode(format: "SELF > 0"), try PredicateNode(format: "SELF != 13")],
            withValidationWarnings: ["a price is more than nothing"])
        var code = AttributeDescription("code", .string)
        code.setValidationPredicates([
            try PredicateNode(format: "length > 2 AND SELF BEGINSWITH 'A'")
        ])
        var day = AttributeDescription("day", .date)
        day.setValidationPredicates([try PredicateNode(format: "SELF >= '2001-01-01T00:00:00Z'")])
        return ManagedObjectModel(entities: [
            EntityDescription("Offer", attributes: [price, code, day])
        ])
    }

    @Test(
        "What breaks one fails with 1550, the model's own words, the value and the predicate",
        arguments: Backend.allCases)
    func breaking(_ backend: Backend) throws {
        let stack = try Stack(try model(), backend)
        let context = stack.context()
        let offer = context.make("Offer", ["price": 0.0])
        let error = try #require(storeError { try context.save() })
        #expect(error.code == .validation && error.message == "a price is more than nothing")
        #expect(error.context.key == "price" && error.context.value == .double(0))
        #expect(error.context.predicate?.predicateFormat == "SELF > 0")
        #expect(error.context.objectID == offer.objectID)
        offer["price"] = 13.0
        let second = try #require(storeError { try context.save() })
        #expect(second.code == .validation && !second.message.isEmpty)
        offer["price"] = 14.0
        offer["code"] = "AB"
        #expect(storeError { try context.save() }?.context.key == "code")
        offer["code"] = "ABC"
        offer["day"] = Date(timeIntervalSinceReferenceDate: -1)
        #expect(storeError { try context.save() }?.context.key == "day")
        offer["day"] = Date(timeIntervalSinceReferenceDate: 0)
        try context.save()
        offer["price"] = -1.0
        #expect(storeError { try context.save() }?.code == .validation, "of a stored object too")
        offer["price"] = nil
        try context.save()
    }

    @Test("A store that is opened again has them still")
    func reopened() throws {
        let schema = try Schema(try model())
        let data = try JSONEncoder().encode(schema.model)
        let read = try JSONDecoder().decode(ManagedObjectModel.self, from: data)
        #expect(read == schema.model)
        let context = try Stack(read, .log).context()
        context.make("Offer", ["price": -5.0])
        #expect(storeError { try context.save() }?.code == .validation)
    }
}
