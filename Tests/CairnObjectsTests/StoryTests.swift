// The stories that users tell, as code.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Stories")
struct StoryTests {
    @Test("Import without find-or-create", arguments: Backend.allCases)
    func importing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        func tap(_ policy: MergePolicy, title: String) throws {
            let context = stack.context(policy)
            for number in 0..<3 {
                context.make(
                    "Recipe", ["source": "web", "externalID": "\(number)", "title": title])
            }
            try context.save()
        }
        for round in 0..<5 { try tap(.mergeByPropertyObjectTrump, title: "round \(round)") }
        let recipes = try stack.context().all("Recipe")
        #expect(recipes.map { $0.string("title") } == ["round 4", "round 4", "round 4"])
        let error = storeError { try tap(.error, title: "again") }
        #expect(error?.violations.count == 3)
    }

    @Test("Tags survive the price update", arguments: Backend.allCases)
    func tags(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { context in
            let product = context.make("Product", ["serialCode": "A", "price": 1.0])
            product["tags"] = [
                context.make("Tag", ["label": "red"]), context.make("Tag", ["label": "new"]),
            ]
            product["shop"] = context.make("Shop", ["name": "corner"])
            return [product]
        }[0]
        let feed = stack.context(.mergeByPropertyObjectTrump)
        feed.make("Product", ["serialCode": "A", "price": 2.0])
        try feed.save()
        let context = stack.context()
        let product = context.object(with: id)
        #expect(product["price"] as? Double == 2)
        #expect(Set(product.members("tags").map { $0.string("label") }) == ["red", "new"])
        #expect(product.object("shop")?.string("name") == "corner")
        #expect(product.object("shop")?.members("products") == [product])
        for tag in product.members("tags") { #expect(tag.members("products") == [product]) }
        #expect(try context.count("Product") == 1)
    }

    @Test(
        "Two new ones with the same key: the one created first survives",
        arguments: Backend.allCases)
    func twoNew(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context(.mergeByPropertyObjectTrump)
        let first = context.make("Product", ["serialCode": "A", "name": "first"])
        let second = context.make("Product", ["serialCode": "A", "name": "second"])
        let tag = context.make("Tag", ["label": "t", "products": [second]])
        try context.save()
        #expect(!first.isDeleted && second.isDeleted)
        #expect(tag.members("products") == [first] && first.members("tags") == [tag])
        #expect(try stack.context().all("Product").map { $0.string("name") } == ["first"])
    }

    /// Keeps stored values where the new object has nil.
    private final class KeepingKnown: MergePolicy {
        override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
            for conflict in list {
                guard let known = conflict.databaseObject else { continue }
                for object in conflict.conflictingObjects {
                    for column in object.entity.columns where object[column.name] == nil {
                        object[column.name] = known[column.name]
                    }
                }
            }
            try super.resolve(constraintConflicts: list)
        }
    }

    @Test("A policy of one's own", arguments: Backend.allCases)
    func ownPolicy(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { context in
            [
                context.make(
                    "Product",
                    [
                        "serialCode": "A", "note": "fragile",
                        "shop": context.make("Shop", ["name": "s"]),
                    ])
            ]
        }[0]
        let context = stack.context(KeepingKnown(merge: .mergeByPropertyObjectTrump))
        context.make("Product", ["serialCode": "A", "name": "vase", "price": 9.0])
        try context.save()
        let fresh = stack.context()
        let product = fresh.object(with: id)
        #expect(product.string("note") == "fragile" && product.string("name") == "vase")
        #expect(product.object("shop")?.string("name") == "s")
        #expect(try fresh.count("Product") == 1)
    }

    @Test("The object that vanished", arguments: Backend.allCases)
    func vanished(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "A"]), $0.make("Product")] }
        let list = stack.context()
        let ids = try list.fetchObjectIDs(FetchRequest(entityName: "Product"))
        let shown = ids.map { list.object(with: $0) }
        let other = stack.context()
        other.delete(other.object(with: ids[0]))
        try other.save()
        #expect(shown.map { $0.string("serialCode") } == [nil, nil])
        #expect(shown.map(\.isDeleted) == [true, false])
        try list.save()
    }

    @Test("What really changed", arguments: Backend.allCases)
    func changed(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "n"])] }[0]
        let commit = try stack.store.snapshot().commit
        let context = stack.context()
        let product = context.object(with: id)
        product["name"] = "n"
        #expect(!product.hasPersistentChangedValues)
        try context.save()
        #expect(try stack.store.snapshot().commit == commit)
    }

    @Test("Keys of many kinds", arguments: Backend.allCases)
    func kinds(_ backend: Backend) throws {
        var model = Models.shop
        for (index, type) in [
            AttributeType.string, .uuid, .uri, .integer16, .integer64, .date, .decimal, .double,
            .boolean,
            .binary,
        ].enumerated() {
            model.entities.append(
                EntityDescription(
                    "Kind\(index)", attributes: [AttributeDescription("key", type)],
                    uniquenessConstraints: [["key"]]))
        }
        model.entities.append(
            EntityDescription(
                "Shelf", attributes: [AttributeDescription("number", .integer16)],
                relationships: [RelationshipDescription("shop", to: "Shop")],
                uniquenessConstraints: [["shop", "number"]]))
        let values: [any Sendable] = [
            "s", UUID(), URL(string: "https://example.org") ?? URL(filePath: "/"), 1, 2,
            Date(timeIntervalSinceReferenceDate: 3), Decimal(4), 5.5, true, Data([6]),
        ]
        let stack = try Stack(model, backend)
        for round in 0..<2 {
            let context = stack.context()
            for (index, value) in values.enumerated() {
                context.make("Kind\(index)", ["key": value])
                context.make("Kind\(index)")
            }
            let error = storeError { try context.save() }
            #expect((error?.violations.count ?? 0) == (round == 0 ? 0 : values.count))
        }
        let context = stack.context()
        let shops = ["x", "y"].map { context.make("Shop", ["name": $0]) }
        for shop in shops { context.make("Shelf", ["number": 1, "shop": shop]) }
        for _ in 0..<2 { context.make("Shelf", ["number": 1]) }
        try context.save()
        context.make("Shelf", ["number": 1, "shop": shops[1]])
        #expect(
            storeError { try context.save() }?.violations.first?.constraint == ["shop", "number"])
    }
}
