// Values from outside, set by key: what does not fit is thrown, and nothing is set.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("Setting by key what comes from outside")
struct ThrowingKeysTests {
    private func thing() throws -> (ManagedObjectContext, ManagedObject) {
        let context = try Stack(Models.values, .log).context()
        return (context, context.make("Thing"))
    }

    /// A value that does not fit.
    struct Misfit: Sendable, CustomTestStringConvertible {
        let key: String
        let value: @Sendable () -> Any?
        var testDescription: String { "\(key): \(value() ?? "nil")" }

        init(_ key: String, _ value: @autoclosure @escaping @Sendable () -> Any?) {
            self.key = key
            self.value = value
        }
    }

    static let misfits = [
        Misfit("size", "small"), Misfit("size", 40_000), Misfit("size", 1.5),
        Misfit("small", Int64.max), Misfit("large", 1e300), Misfit("large", Double.nan),
        Misfit("large", UInt64.max), Misfit("flag", 2), Misfit("ratio", "0.5"),
        Misfit("exact", Double.nan), Misfit("day", "2020-01-01"), Misfit("bytes", "text"),
        Misfit("uuid", "no uuid"), Misfit("link", 7), Misfit("cache", 1), Misfit("sise", 1),
        Misfit("", nil), Misfit("color", "red"), Misfit("color", ["tint": "red"]),
        Misfit("color", ["primary": 7]), Misfit("color.primary", 7), Misfit("color.tint", "red"),
        Misfit("code", [1, 2]), Misfit("code", Date()), Misfit("needed", ["a": 1]),
    ]

    @Test("A value that does not fit is thrown, with entity and key", arguments: misfits)
    func misfit(_ misfit: Misfit) throws {
        let (context, thing) = try thing()
        thing["code"] = "abc"
        let before = thing.committedValues(forKeys: nil).count
        let error = try #require(
            storeError { try thing.setValue(misfit.value(), forKey: misfit.key) })
        #expect(error.code == .invalidRequest && error.context.entity == "Thing")
        #expect(error.context.key?.hasPrefix(misfit.key) == true, "\(error)")
        var values: [String: Any?] = ["code": "xyz"]
        values.updateValue(misfit.value(), forKey: misfit.key)
        let several = storeError { try thing.setValuesForKeys(values) }
        #expect(several != nil && (misfit.key == "code" || thing.string("code") == "abc"))
        #expect(thing.committedValues(forKeys: nil).count == before && thing.isInserted)
        let path = storeError { try thing.setValue(misfit.value(), forKeyPath: misfit.key) }
        #expect(path?.code == .invalidRequest)
        try context.save()
    }

    @Test("Values become those of the attributes' types, as in a batch of dictionaries")
    func conversions() throws {
        let (context, thing) = try thing()
        let json = Data(
            """
            {"size": 3.0, "large": 9, "exact": 0.1, "ratio": 2, "short": 0.25, "flag": true,
             "code": "ab", "note": null, "color": {"primary": "red", "shade": 1}}
            """.utf8)
        var fields = try #require(
            JSONSerialization.jsonObject(with: json) as? [String: Any])
        fields["note"] = nil
        fields["bytes"] = [1, 2] as [UInt8]
        fields["needed"] = Substring("y")
        fields["day"] = NSNull()
        try thing.setValuesForKeys(fields)
        #expect(thing.int("size") == 3 && thing.int("large") == 9)
        #expect(thing["exact"] as? Decimal == Decimal(string: "0.1"))
        #expect(thing["ratio"] as? Double == 2 && thing["short"] as? Float == 0.25)
        #expect(thing["flag"] as? Bool == true && thing["bytes"] as? Data == Data([1, 2]))
        #expect(thing.string("color.primary") == "red" && thing["color.shade"] as? Double == 1)
        #expect(thing["day"] == nil && thing.string("needed") == "y")
        try thing.setValue(["color.primary": "blue"], forKey: "color")
        #expect(thing.string("color.primary") == "blue" && thing["color.shade"] == nil)
        try thing.setValue(nil, forKey: "color")
        #expect(thing["color.primary"] == nil)
        try thing.setValue("shown", forKey: "cache")
        #expect(thing.string("cache") == "shown")
        try context.save()
    }

    @Test("All that does not fit is thrown together")
    func several() throws {
        let (_, thing) = try thing()
        let error = try #require(
            storeError { try thing.setValuesForKeys(["size": "x", "code": 1, "ratio": 1.0]) })
        #expect(error.code == .multiple && thing["ratio"] == nil)
        #expect(error.details.map(\.context.key) == ["code", "size"])
    }

    @Test("A relationship takes objects and ids", arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { [$0.make("Shop", ["name": "s"]), $0.make("Tag")] }
        let context = stack.context()
        let product = context.make("Product")
        try product.setValue(ids[0], forKey: "shop")
        try product.setValue([ids[1]], forKey: "tags")
        #expect(product.object("shop")?.objectID == ids[0])
        #expect(product.members("tags").map(\.objectID) == [ids[1]])
        try product.setValuesForKeys(["shop": nil, "tags": Set<ObjectID>()])
        #expect(product["shop"] == nil && product.members("tags").isEmpty)
        let tag = context.object(with: ids[1])
        try product.setValue(Set([tag]), forKey: "tags")
        #expect(product.members("tags") == [tag])
        let other = stack.context()
        let deleted = context.make("Shop")
        context.delete(deleted)
        context.processPendingChanges()
        let wrong: [(String, Any, StoreError.Code)] = [
            ("shop", ids[1], .invalidRequest), ("shop", tag, .invalidRequest),
            ("shop", "s", .invalidRequest), ("tags", [ids[0]], .invalidRequest),
            ("tags", "t", .invalidRequest), ("tags", [1], .invalidRequest),
            ("shop", other.object(with: ids[0]), .invalidRequest),
            ("shop", deleted, .objectNotFound),
            (
                "tags", [ObjectID(store: ids[0].store, hierarchy: ids[1].hierarchy, reference: 99)],
                .objectNotFound
            ),
        ]
        for (key, value, code) in wrong {
            let error = storeError { try product.setValue(value, forKey: key) }
            #expect(error?.code == code && error?.context.key == key, "\(key): \(value)")
        }
        #expect(product.members("tags") == [tag] && product["shop"] == nil)
        #expect(
            storeError { try product.setValue("x", forKeyPath: "tags.label") }?.context.key
                == "tags")
        try product.setValue("x", forKeyPath: "shop.name")
        let alone = ManagedObject(entity: product.entity, insertInto: nil)
        #expect(storeError { try alone.setValue(tag, forKey: "shop") }?.code == .invalidRequest)
        try alone.setValue(2, forKey: "price")
        #expect(alone["price"] as? Double == 2)
        try context.save()
    }

    @Test("A derived attribute, a fetched property and bytes of an unknown transformer are refused")
    func unsettable() throws {
        let context = try Stack(Models.press, .log).context()
        let author = context.insert("Author")
        #expect(
            storeError { try author.setValue(9, forKey: "articleCount") }?.code == .invalidRequest)
        var attribute = AttributeDescription("t", .transformable)
        attribute.valueTransformerName = "ThrowingKeysTests"
        var entity = EntityDescription("A", attributes: [attribute])
        entity.fetchedProperties = [
            FetchedPropertyDescription("f", entityName: "A", predicateFormat: nil)
        ]
        let other = try Stack(ManagedObjectModel(entities: [entity]), .log).context()
        let object = other.insert("A")
        #expect(storeError { try object.setValue([object], forKey: "f") }?.context.key == "f")
        let error = storeError { try object.setValue("text", forKey: "t") }
        #expect(error?.message.contains("takes Data") == true)
        var value: Any? = 1
        #expect(storeError { try object.validateValue(&value, forKey: "x") }?.context.key == "x")
    }
}
