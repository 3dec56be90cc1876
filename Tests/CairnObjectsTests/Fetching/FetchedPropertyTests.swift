// Fetched properties: requests of the model that read like properties.

import Cairn
import Foundation
import Observation
import StoreBackends
import Testing

@Suite("Fetched properties")
struct FetchedPropertyTests {
    private func stack(_ backend: Backend) throws -> Stack {
        var similar = FetchedPropertyDescription(
            "similar", entityName: "Product",
            predicateFormat: "kind == $FETCH_SOURCE.kind AND SELF != $FETCH_SOURCE")
        similar.sortDescriptors = [SortKey("price", ascending: false)]
        var cheap = FetchedPropertyDescription(
            "cheap", entityName: "Product",
            predicateFormat:
                "kind != $FETCHED_PROPERTY.userInfo.kind AND kind != $FETCHED_PROPERTY.name")
        cheap.userInfo = ["kind": "b"]
        let shop = FetchedPropertyDescription(
            "neighbours", entityName: "Product", predicateFormat: "shop == $FETCH_SOURCE.shop")
        let all = FetchedPropertyDescription("all", entityName: "Product", predicateFormat: nil)
        let bad = FetchedPropertyDescription(
            "bad", entityName: "Product", predicateFormat: "kind == $OTHER")
        var product = EntityDescription(
            "Product",
            attributes: [
                AttributeDescription("kind", .string),
                AttributeDescription("price", .double, optional: false, default: .double(0)),
            ], relationships: [RelationshipDescription("shop", to: "Shop", inverse: "products")])
        product.fetchedProperties = [similar, cheap, shop, all, bad]
        var special = EntityDescription(
            "Special", attributes: [AttributeDescription("reason", .string)])
        special.superentityName = "Product"
        let place = EntityDescription(
            "Shop", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("products", to: "Product", toMany: true, inverse: "shop")
            ])
        return try Stack(
            ManagedObjectModel(entities: [product, special, place]), backend)
    }

    private func prices(_ object: ManagedObject, _ key: String) -> [Double] {
        (object[key] as? [ManagedObject] ?? []).compactMap { $0["price"] as? Double }
    }

    private func fill(_ stack: Stack) throws -> (ManagedObjectContext, ManagedObject) {
        let context = stack.context()
        let first = context.make("Product", ["kind": "a", "price": 1.0])
        context.make("Product", ["kind": "a", "price": 2.0])
        context.make("Product", ["kind": "a", "price": 3.0])
        context.make("Product", ["kind": "b", "price": 4.0])
        try context.save()
        return (context, first)
    }

    @Test(
        "The object's own values are in the request, whose order holds", arguments: Backend.allCases
    )
    func source(_ backend: Backend) throws {
        let (_, first) = try fill(try stack(backend))
        #expect(prices(first, "similar") == [3, 2])
        #expect(first.value(forKeyPath: "similar.@count") as? Int == 2)
        #expect(prices(first, "all").sorted() == [1, 2, 3, 4])
    }

    @Test("The property's own description is in the request", arguments: Backend.allCases)
    func property(_ backend: Backend) throws {
        let (context, first) = try fill(try stack(backend))
        context.make("Product", ["kind": "cheap", "price": 0.5])
        context.make("Product", ["kind": "c", "price": 9.0])
        #expect(prices(first, "cheap").sorted() == [1, 2, 3, 9])
    }

    @Test("What was found stays until the object is refreshed", arguments: Backend.allCases)
    func kept(_ backend: Backend) throws {
        let (context, first) = try fill(try stack(backend))
        #expect(prices(first, "similar") == [3, 2])
        let other = context.make("Product", ["kind": "a", "price": 2.5])
        #expect(prices(first, "similar") == [3, 2])
        context.refresh(first, mergeChanges: true)
        #expect(prices(first, "similar") == [3, 2.5, 2])
        // A new object among them gets its permanent id, and stays.
        try context.save()
        #expect(prices(first, "similar") == [3, 2.5, 2])
        #expect((first["similar"] as? [ManagedObject])?.contains(other) == true)
        first["kind"] = "b"
        #expect(prices(first, "similar") == [3, 2.5, 2])
        try context.save()
        context.refresh(first, mergeChanges: false)
        #expect(prices(first, "similar") == [4])
    }

    @Test(
        "An object that was not saved can be the source, and so can related ones",
        arguments: Backend.allCases)
    func unsaved(_ backend: Backend) throws {
        let (context, first) = try fill(try stack(backend))
        let new = context.make("Special", ["kind": "a", "price": 7.0])
        #expect(prices(new, "similar") == [3, 2, 1])
        let shop = context.make("Shop", ["name": "S"])
        new["shop"] = shop
        first["shop"] = shop
        #expect(prices(new, "neighbours").sorted() == [1, 7])
    }

    @Test(
        "A request that cannot be asked is told of by the next fetch", arguments: Backend.allCases)
    func bad(_ backend: Backend) throws {
        let (context, first) = try fill(try stack(backend))
        #expect(prices(first, "bad") == [])
        let error = try #require(storeError { _ = try context.all("Product") })
        #expect(error.code == .invalidRequest)
        #expect(try context.count("Product") == 4)
    }

    @Test("A change of an observed fetched property is told of by the refresh")
    func observed() throws {
        let stack = try stack(.log)
        let (_, first) = try fill(stack)
        let context = stack.context()
        context.isObservable = true
        let twin = context.object(with: first.objectID)
        nonisolated(unsafe) var told = 0
        withObservationTracking {
            _ = twin["similar"]
        } onChange: {
            told += 1
        }
        context.refresh(twin, mergeChanges: false)
        #expect(told == 1)
    }

    @Test("A fetched property cannot be set")
    func setting() async {
        await #expect(processExitsWith: .failure) {
            var entity = EntityDescription("A", attributes: [AttributeDescription("a", .string)])
            entity.fetchedProperties = [
                FetchedPropertyDescription("f", entityName: "A", predicateFormat: nil)
            ]
            let stack = try Stack(ManagedObjectModel(entities: [entity]), .log)
            let context = stack.context()
            let object = context.insert("A")
            object["f"] = [object]
        }
    }

    @Test("The order of a fetched property is kept with the model")
    func coding() throws {
        let model = try stack(.dictionary).store.schema.model
        let data = try JSONEncoder().encode(model)
        #expect(try JSONDecoder().decode(ManagedObjectModel.self, from: data) == model)
    }
}
