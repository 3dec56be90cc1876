// Arrays in transformable attributes of a real app's products, over eight versions of its model.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@testable import CairnObjects

@Suite("Transformable arrays over versions of a real model", .enabled(if: Corpus.isAvailable))
struct TransformableArrayTests {
    /// Reads and writes arrays as Core Data's transformer does: as keyed archives.
    private enum ArchivedArray: AttributeTransformer {
        static var transformerName: String { "TransformableArrayTests" }

        static func data(from value: [AnyHashable]) throws -> Data {
            try NSKeyedArchiver.archivedData(
                withRootObject: value as NSArray, requiringSecureCoding: true)
        }

        static func value(from data: Data) throws -> [AnyHashable] {
            let list = try NSKeyedUnarchiver.unarchivedObject(
                ofClasses: [NSArray.self, NSNumber.self, NSString.self], from: data)
            return try #require(list as? [AnyHashable])
        }
    }

    private static func model(_ version: Int) throws -> ManagedObjectModel {
        let file = "woocommerce+woocommerce-ios__WooCommerce__Model_\(version).xml"
        return try ManagedObjectModel(contentsOf: CorpusStep.url(file))
    }

    // MARK: Values

    /// By product and attribute: the numbers in its array; nil for none.
    private static let numbers: [[String: [Int64]?]] = (0..<16).map { product in
        let names = ["crossSellIDs", "groupedProducts", "relatedIDs", "upsellIDs", "variations"]
        return Dictionary(
            uniqueKeysWithValues: names.enumerated().map { index, name in
                // What is required is there, if empty; one takes a frame of its own.
                let isThere = name == "groupedProducts" || (product + index) % 3 > 0
                let count = product == 7 && index == 0 ? 2_000 : (product * 5 + index) % 6
                return (name, isThere ? (0..<Int64(count)).map { $0 * 31 - Int64(product) } : nil)
            })
    }

    private static let options = [["red", "blue", "größer"], [], [""]]

    /// Gives an object what it must have.
    private static func make(
        _ entity: String, in context: ManagedObjectContext, _ values: [String: Any?]
    ) -> ManagedObject {
        let object = context.insert(entity)
        for attribute in object.entity.attributes.map(\.description)
        where !attribute.isOptional && attribute.defaultValue.isNull {
            switch attribute.type {
            case .string: object[attribute.name] = "x"
            case .boolean: object[attribute.name] = true
            case .date: object[attribute.name] = Date(timeIntervalSinceReferenceDate: 7)
            case .transformable: break
            default: object[attribute.name] = 1
            }
        }
        for (name, value) in values { object[name] = value }
        return object
    }

    /// A model whose transformable attributes have a transformer of that name. Where none is named it is up to the process
    /// whether one is registered.
    private static func model(_ model: ManagedObjectModel, by transformer: String)
        -> ManagedObjectModel
    {
        var named = model
        for entity in named.entities.indices {
            for index in named.entities[entity].attributes.indices
            where named.entities[entity].attributes[index].type == .transformable {
                named.entities[entity].attributes[index].valueTransformerName = transformer
            }
        }
        return named
    }

    private static func fill(_ path: String, _ model: ManagedObjectModel) throws {
        AttributeTransformers.register(ArchivedArray.self)
        let container = try PersistentContainer(
            at: path, model: Self.model(model, by: ArchivedArray.transformerName))
        let context = ManagedObjectContext(store: container.store)
        for (id, arrays) in numbers.enumerated() {
            var values: [String: Any?] = ["productID": id]
            for (name, array) in arrays { values[name] = array }
            let product = make("Product", in: context, values)
            for options in options {
                _ = make(
                    "ProductAttribute", in: context,
                    ["options": options, "product": product])
            }
        }
        try context.save()
        try container.store.close()
    }

    /// Looks at all arrays: as the bytes that they are without a transformer, and as arrays with one.
    private static func check(_ path: String, _ model: ManagedObjectModel, _ version: Int) throws {
        AttributeTransformers.register(ArchivedArray.self)
        for (transformer, isNamed) in [
            ("\(ArchivedArray.transformerName).unknown", false),
            (ArchivedArray.transformerName, true),
        ] {
            let model = Self.model(model, by: transformer)
            var strict = LogStoreOptions()
            strict.shouldMigrateStoreAutomatically = false
            let container = try PersistentContainer(at: path, model: model, options: strict)
            let context = ManagedObjectContext(store: container.store)
            func array(_ object: ManagedObject, _ name: String) throws -> [AnyHashable]? {
                guard let value = object[name] else { return nil }
                if isNamed { return try #require(value as? [AnyHashable]) }
                return try ArchivedArray.value(from: try #require(value as? Data))
            }
            let products = try context.all("Product", sortedBy: "productID")
            #expect(products.count == numbers.count, "version \(version)")
            for (product, arrays) in zip(products, numbers) {
                for (name, expected) in arrays {
                    let found = try array(product, name)?.map { ($0 as? NSNumber)?.int64Value }
                    #expect(found == expected, "version \(version), \(name)")
                }
                let lists = try product.members("attributes").map {
                    try array($0, "options")?.map { "\($0)" }.joined(separator: ",") ?? "nil"
                }
                #expect(
                    lists.sorted() == options.map { $0.joined(separator: ",") }.sorted(),
                    "version \(version)")
            }
            try container.store.close()
        }
    }

    // MARK: Migrations

    /// What cannot be inferred is said: attributes of variations are of another entity in version 32, and in version 33
    /// a product must have a date.
    private static func migrate(
        _ path: String, _ old: ManagedObjectModel, _ new: ManagedObjectModel
    )
        throws
    {
        let plan = try ModelMigrationPlan(from: old, to: new)
        if plan.inferability < .no {
            try PersistentContainer(at: path, model: new).store.close()
            return
        }
        var mapping = MappingModel(drafting: plan)
        if mapping["AddGenericAttribute"] != nil, mapping["RemoveAttribute"] != nil {
            mapping["RemoveAttribute"] = nil
            var renamed = EntityMapping(
                "AttributeToGenericAttribute", from: "Attribute", to: "GenericAttribute")
            renamed.attributeMappings = ["id", "key", "value"].map { .init($0, copying: $0) }
            mapping["AddGenericAttribute"] = nil
            mapping["AttributeToGenericAttribute"] = renamed
            mapping["ProductVariationToProductVariation"]?["attributes"] =
                PropertyMapping("attributes", relationship: "attributes")
        }
        if plan.changes.contains(where: { $0.place == "Product.date" }) {
            mapping["ProductToProduct"]?["date"] = PropertyMapping("date", copying: "dateCreated")
        }
        try PersistentContainer.migrateStore(at: path, to: new, mapping: mapping)
    }

    @Test(
        "B152: arrays keep their values over eight versions, step by step and at once",
        arguments: [[12, 13, 14], Array(26...34)], [false, true])
    func arrays(_ versions: [Int], _ isDirect: Bool) throws {
        Corpus.noteUse("transformableArrays_\(versions.count)_\(isDirect)")
        let folder = try TemporaryDirectory()
        let path = folder.path("shop.cairn")
        let models = try versions.map { try Self.model($0) }
        try Self.fill(path, models[0])
        try Self.check(path, models[0], versions[0])
        let way = isDirect ? [0, versions.count - 1] : Array(versions.indices)
        for (from, to) in zip(way, way.dropFirst()) {
            try Self.migrate(path, models[from], models[to])
            try Self.check(path, models[to], versions[to])
        }
        let store = try LogStore.open(at: path)
        #expect(try store.check().findings.isEmpty)
        _ = try store.compact()
        try store.close()
        try Self.check(path, models[models.count - 1], versions[versions.count - 1])
    }
}
