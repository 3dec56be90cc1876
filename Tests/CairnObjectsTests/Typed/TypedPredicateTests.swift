// Requests with key paths, predicates and sort descriptors: what they become, and what they find.

import Cairn
import Foundation
import Testing

@testable import CairnObjects

@Suite("Predicates over typed classes")
struct TypedPredicateTests {
    private func tree<T: PersistentEntity>(_ predicate: Predicate<T>) throws -> String {
        try PredicateLowering.tree(predicate).predicateFormat
    }

    @Test("Comparisons and logic become the tree that says the same")
    func plain() throws {
        let name = "x"
        let limit = 10.0
        #expect(try tree(#Predicate<TypedProduct> { $0.price < limit }) == "price < 10.0")
        #expect(try tree(#Predicate<TypedProduct> { $0.price <= 2.0 }) == "price <= 2.0")
        #expect(try tree(#Predicate<TypedProduct> { 2.0 < $0.price }) == "price > 2.0")
        #expect(try tree(#Predicate<TypedProduct> { $0.price > $0.price }) == "price > price")
        #expect(try tree(#Predicate<TypedProduct> { $0.name != name }) == "name != 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.price < 10 && $0.name == name })
                == "price < 10.0 AND name == 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { !($0.price < 10 || $0.stock >= 3) })
                == "NOT (price < 10.0 OR stock >= 3)")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.stock > 1 ? $0.price > 1 : $0.price > 2 })
                == "(stock > 1 AND price > 1.0) OR (NOT stock > 1 AND price > 2.0)")
        #expect(try tree(#Predicate<TypedProduct> { _ in true }) == "TRUEPREDICATE")
        #expect(try tree(#Predicate<TypedSample> { $0.flag }) == "flag == TRUE")
        #expect(try tree(#Predicate<TypedSample> { !$0.flag }) == "NOT flag == TRUE")
        #expect(try tree(#Predicate<TypedSample> { $0.flag == false }) == "flag == FALSE")
        let isBoth = true
        #expect(
            try tree(#Predicate<TypedSample> { ($0.integer > 1) == isBoth }) == "integer > 1")
    }

    @Test("Optionals are compared as Swift compares them")
    func optionals() throws {
        let wanted: String? = nil
        #expect(try tree(#Predicate<TypedProduct> { $0.category == nil }) == "category == NULL")
        #expect(try tree(#Predicate<TypedProduct> { $0.category == wanted }) == "category == NULL")
        #expect(try tree(#Predicate<TypedProduct> { $0.category != "x" }) == "category != 'x'")
        #expect(try tree(#Predicate<TypedProduct> { $0.category! > "x" }) == "category > 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { ($0.category ?? "z") > "x" })
                == "category > 'x' OR category == NULL")
        #expect(
            try tree(#Predicate<TypedProduct> { ($0.category ?? "a") > "x" })
                == "category > 'x' AND category != NULL")
        #expect(
            try tree(
                #Predicate<TypedProduct> {
                    if let category = $0.category { category > "x" } else { false }
                }) == "category != NULL AND category > 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.category.flatMap { $0 > "x" } ?? true })
                == "NOT category != NULL OR category > 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.category.flatMap { $0 > "x" } == true })
                == "category != NULL AND category > 'x'")
        #expect(
            try tree(#Predicate<TypedSample> { $0.optionalFlag == true }) == "optionalFlag == TRUE")
        #expect(
            try tree(#Predicate<TypedSample> { $0.optionalFlag ?? false })
                == "optionalFlag == TRUE AND optionalFlag != NULL")
    }

    @Test("Lists, ranges, raw values and parts of composites are found in their columns")
    func others() throws {
        let names = ["a", "b"]
        let categories: Set<String?> = ["c", nil]
        let dark = Shade.dark
        let shades: [Shade] = [.light]
        let range = 1.0..<2.0
        #expect(
            try tree(#Predicate<TypedProduct> { names.contains($0.name) }) == "name IN {'a', 'b'}")
        #expect(
            try tree(#Predicate<TypedProduct> { categories.contains($0.category) })
                == "category IN {'c'} OR category == NULL")
        #expect(
            try tree(#Predicate<TypedProduct> { range.contains($0.price) })
                == "price >= 1.0 AND price < 2.0")
        #expect(
            try tree(#Predicate<TypedProduct> { (1...3).contains($0.stock) })
                == "stock >= 1 AND stock <= 3")
        #expect(try tree(#Predicate<TypedThing> { $0.shade == dark }) == "shade == 'dark'")
        #expect(
            try tree(#Predicate<TypedThing> { shades.contains($0.shade) }) == "shade IN {'light'}")
        #expect(
            try tree(#Predicate<TypedThing> { $0.home.street == "S" }) == "home.street == 'S'")
        #expect(
            try tree(#Predicate<TypedThing> { $0.place?.second?.city == "C" })
                == "place.second.city == 'C'")
        #expect(try tree(#Predicate<TypedBoss> { $0.name == "x" }) == "name == 'x'")
        #expect(try tree(#Predicate<TypedBoss> { $0.salary == 1 }) == "salary == 1")
    }

    @Test("Objects are named by their ids")
    func identities() throws {
        let store = try LogStore.inMemory(
            schema: try Schema(ManagedObjectModel(for: TypedProduct.self)))
        let context = ManagedObjectContext(
            store: store, classes: ObjectClasses(for: TypedProduct.self))
        let makers = ["a", "b"].map { name in
            let maker = context.insert(TypedMaker.self)
            maker.name = name
            return maker
        }
        for (index, code) in ["x", "y", "z"].enumerated() {
            let product = context.insert(TypedProduct.self)
            product.serialCode = code
            product.maker = index == 2 ? nil : makers[index]
        }
        try context.save()
        let id = makers[0].objectID
        func codes(_ predicate: Predicate<TypedProduct>) throws -> [String] {
            try context.fetch(FetchRequest(predicate, sortBy: [SortDescriptor(\.serialCode)]))
                .map(\.serialCode)
        }
        #expect(try codes(#Predicate { $0.maker?.objectID == id }) == ["x"])
        #expect(try codes(#Predicate { $0.maker?.objectID != id }) == ["y", "z"])
        #expect(try codes(#Predicate { $0.maker == nil }) == ["z"])
        let product = try context.fetch(FetchRequest<TypedProduct>())[1].objectID
        #expect(try codes(#Predicate { $0.objectID == product }) == ["y"])
        let ids = [product]
        #expect(try codes(#Predicate { ids.contains($0.objectID) }) == ["y"])
    }

    @Test("What a store cannot answer is named")
    func unsupported() throws {
        func message<T: PersistentEntity>(_ predicate: Predicate<T>) -> String? {
            storeError { _ = try FetchRequest<T>(predicate) }?.message
        }
        #expect(
            message(#Predicate<TypedMarks> { $0.selection == 1 })?
                .contains("selection, which is not stored,") == true)
        #expect(
            message(#Predicate<TypedThing> { $0.shade.rawValue == "x" })?
                .contains("is not supported") == true)
    }

    @Test("Texts, calculations and choices are said as the format says them")
    func calculations() throws {
        let part = "x"
        #expect(
            try tree(#Predicate<TypedProduct> { $0.name.contains(part) }) == "name CONTAINS 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.name.starts(with: "x") })
                == "name BEGINSWITH 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.category?.contains("x") == true })
                == "category != NULL AND category CONTAINS 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { ($0.category ?? "xy").contains("x") })
                == "category CONTAINS 'x' OR category == NULL")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.name.isEmpty || $0.name.count > 3 })
                == "name == '' OR length:(name) > 3")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.stock * 2 - 1 > 2 }) == "stock * 2 - 1 > 2")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.stock / 2 + $0.stock % 3 == -$0.stock })
                == "stock / 2 + modulus:by:(stock, 3) == 0 - stock")
        #expect(try tree(#Predicate<TypedProduct> { $0.price / 2.0 < 1.5 }) == "price / 2.0 < 1.5")
        #expect(
            try tree(#Predicate<TypedProduct> { ($0.stock > 1 ? $0.name : "none") == part })
                == "TERNARY(stock > 1, name, 'none') == 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { ($0.category ?? $0.name) == part })
                == "TERNARY(category != NULL, category, name) == 'x'")
    }

    @Test("A regular expression that a text contains is one that the whole text matches")
    func regularExpressions() throws {
        let node = try PredicateLowering.tree(
            #Predicate<TypedProduct> { $0.name.contains(/b.d\d/) })
        #expect(node.predicateFormat == "name MATCHES '(?s:.*)(?:b.d\\\\d)(?s:.*)'")
        let store = try LogStore.inMemory(
            schema: try Schema(ManagedObjectModel(for: TypedProduct.self)))
        let context = ManagedObjectContext(
            store: store, classes: ObjectClasses(for: TypedProduct.self))
        let product = context.insert(TypedProduct.self)
        for (name, matches) in [("a\nbad1\n", true), ("bed7", true), ("bad", false)] {
            product.name = name
            #expect(try node.evaluate(with: product) == matches)
        }
    }

    @Test("Relationships are followed, and closures over them are subqueries")
    func relationships() throws {
        #expect(try tree(#Predicate<TypedProduct> { $0.maker?.name == "x" }) == "maker.name == 'x'")
        #expect(try tree(#Predicate<TypedProduct> { $0.tags.isEmpty }) == "tags.@count == 0")
        #expect(try tree(#Predicate<TypedProduct> { $0.tags.count > 2 }) == "tags.@count > 2")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.tags.contains { $0.label == "x" } })
                == "SUBQUERY(tags, $x1, $x1.label == 'x').@count > 0")
        #expect(
            try tree(
                #Predicate<TypedProduct> { product in
                    product.tags.allSatisfy { tag in tag.label != product.name }
                }) == "SUBQUERY(tags, $x1, NOT $x1.label != name).@count == 0")
        #expect(
            try tree(
                #Predicate<TypedProduct> { product in
                    product.tags.filter { tag in
                        tag.products.contains { $0.stock > product.stock }
                    }.count > 1
                })
                == "SUBQUERY(tags, $x1, SUBQUERY($x1.products, $x2, $x2.stock > stock).@count > 0).@count > 1"
        )
    }

    @Test(
        "What goes beyond columns and constants is answered in memory, over changes and by the store"
    )
    func beyondColumns() throws {
        let store = try LogStore.inMemory(
            schema: try Schema(ManagedObjectModel(for: TypedProduct.self)))
        let context = ManagedObjectContext(
            store: store, classes: ObjectClasses(for: TypedProduct.self))
        let product = context.insert(TypedProduct.self)
        product.serialCode = "a"
        product.name = "Café"
        let tag = context.insert(TypedTag.self)
        tag.label = "new"
        product.tags = [tag]
        let other = context.insert(TypedProduct.self)
        other.serialCode = "b"
        let formats = [
            "name CONTAINS[cd] 'CAFE'", "ANY tags.label == 'new'", "tags.@count == 1",
            "SUBQUERY(tags, $t, $t.label BEGINSWITH 'n').@count > 0", "stock + length:(name) == 4",
        ]
        for format in formats {
            let predicate = try PredicateNode(format: format)
            #expect(try predicate.evaluate(with: product), "\(format)")
            #expect(try predicate.filter([product, other]) == [product], "\(format)")
            let request = FetchRequest<TypedProduct>(predicate: predicate)
            #expect(try context.fetch(request) == [product], "\(format)")
        }
        try context.save()
        let stored = ManagedObjectContext(
            store: store, classes: ObjectClasses(for: TypedProduct.self))
        for format in formats {
            let request = FetchRequest<TypedProduct>(
                predicate: try PredicateNode(format: format))
            #expect(try stored.fetch(request).map(\.serialCode) == ["a"], "\(format)")
        }
        let wrong = try PredicateNode(format: "tags.label == 'new'")
        #expect(storeError { _ = try wrong.evaluate(with: product) }?.context.key == "tags.label")
    }

    @Test("Sort descriptors and key paths become keys")
    func sorting() throws {
        let request = try FetchRequest<TypedBoss>(
            sortBy: [.init(\.name, order: .reverse), .init(\.salary)])
        #expect(
            request.sortDescriptors == [SortKey("name", ascending: false), SortKey("salary")])
        #expect(
            SortKey(\TypedProduct.price, ascending: false) == SortKey("price", ascending: false))
        #expect(
            PredicateNode.compare(\TypedProduct.category, .equal, "x").predicateFormat
                == "category == 'x'")
        #expect(
            PredicateNode.compare(\TypedThing.shade, .notEqual, .dark).predicateFormat
                == "shade != 'dark'")
        #expect(
            PredicateNode.compare(\TypedProduct.category, .equal, nil).predicateFormat
                == "category == NULL")
        let error = storeError {
            _ = try FetchRequest<TypedThing>(sortBy: [.init(\.home.street.count)])
        }
        #expect(error?.code == .invalidRequest)
        let byStreet = try FetchRequest<TypedThing>(sortBy: [.init(\.home.street)])
        #expect(byStreet.sortDescriptors == [SortKey("home.street")])
        let both = try FetchRequest<TypedProduct>(
            #Predicate { $0.price < 10 }, sortBy: [.init(\.name)])
        #expect(both.sortDescriptors == [SortKey("name")])
        #expect(both.predicate?.predicateFormat == "price < 10.0")
    }

    @Test("A format takes values and lists as they are in Swift")
    func formats() throws {
        let category: String? = nil
        let request = try FetchRequest<TypedProduct>(
            where: "price < %@ AND name IN %@ AND category == %@ AND stock != %@", 10, ["a", "b"],
            category, nil, sortBy: [SortKey("name")])
        #expect(
            request.predicate?.predicateFormat
                == "price < 10 AND name IN {'a', 'b'} AND category == NULL AND stock != NULL")
        #expect(request.entityName == "TypedProduct" && request.sortDescriptors.count == 1)
        #expect(throws: PredicateFormatError.self) {
            try FetchRequest<TypedProduct>(where: "price <")
        }
    }
}
