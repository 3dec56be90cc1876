// Requests with key paths, predicates and sort descriptors: what they become, and what they find.

import Cairn
import Foundation
import Testing

@testable import CairnObjects

@Entity
final class TypedGraded: ManagedObject {
    var grade: TypedPredicateTests.Grade = TypedPredicateTests.Grade.good
}

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

    private struct Search: Codable {
        var text = "x"
        var tags: [String] = ["a"]
        var prices: ClosedRange<Double> = 1...2
        var shade = Shade.dark
        var box: Box? = Box()
        var noBox: Box?

        struct Box: Codable {
            var limit = 7
        }
    }

    @Test("Parts of what was captured are values, and so is what is calculated of them")
    func captured() throws {
        let search = Search()
        let limit = 2
        #expect(try tree(#Predicate<TypedProduct> { $0.name == search.text }) == "name == 'x'")
        #expect(
            try tree(#Predicate<TypedProduct> { search.tags.contains($0.name) }) == "name IN {'a'}")
        #expect(
            try tree(#Predicate<TypedProduct> { search.prices.contains($0.price) })
                == "price >= 1.0 AND price <= 2.0")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.price > search.prices.lowerBound })
                == "price > 1.0")
        #expect(
            try tree(#Predicate<TypedThing> { $0.shade == search.shade }) == "shade == 'dark'")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.stock == (search.box?.limit ?? 0) })
                == "stock == 7")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.stock == (search.noBox?.limit ?? 3) })
                == "stock == 3")
        #expect(
            try tree(#Predicate<TypedProduct> { search.text.isEmpty || $0.stock > 1 })
                == "FALSEPREDICATE OR stock > 1")
        #expect(
            try tree(#Predicate<TypedProduct> { $0.stock == search.tags.count + limit })
                == "stock == 3")
        #expect(
            try tree(#Predicate<TypedProduct> { (-1.0...1.0).contains($0.price) })
                == "price >= -1.0 AND price <= 1.0")
        #expect(
            try tree(#Predicate<TypedProduct> { ((limit - 1)...(limit * 2)).contains($0.stock) })
                == "stock >= 1 AND stock <= 4")
        // What has no part that is a value is named.
        let money = Money(amount: 1, currency: "EUR")
        let error = storeError { _ = try FetchRequest<TypedThing>(#Predicate { $0.cost == money }) }
        #expect(error?.message.contains("a constant of type Money is not supported") == true)
    }

    enum Grade: Int, CaseIterable {
        case good = 1
        case bad = 2
        var opposite: Int { 3 - rawValue }
    }

    @Test("A raw value is what is stored; another property of the value is none")
    func rawValues() throws {
        #expect(try tree(#Predicate<TypedThing> { $0.level.rawValue == 3 }) == "level == 3")
        #expect(
            try tree(#Predicate<TypedThing> { $0.otherLevel?.rawValue == 3 })
                == "otherLevel == 3")
        #expect(try tree(#Predicate<TypedGraded> { $0.grade.rawValue > 1 }) == "grade > 1")
        let error = storeError {
            _ = try FetchRequest<TypedGraded>(#Predicate { $0.grade.opposite == 1 })
        }
        #expect(error?.message.contains("not a persistent property, is not supported") == true)
        // The cases of this one cannot be listed.
        let unknown = storeError {
            _ = try FetchRequest<TypedThing>(#Predicate { $0.shade.rawValue == "dark" })
        }
        #expect(unknown?.message.contains("make Shade CaseIterable") == true)
    }

    @Test("A composite is nil if everything in it is")
    func nilComposites() throws {
        #expect(try tree(#Predicate<TypedThing> { $0.work == nil }) == "work == NULL")
        #expect(
            try tree(#Predicate<TypedThing> { $0.place?.second != nil }) == "place.second != NULL")
        let container = try PersistentContainer(inMemoryFor: TypedThing.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let things = (0..<3).map { number in
            let thing = context.insert(TypedThing.self)
            thing.work = number > 0 ? Address(street: "S") : nil
            thing.place = number > 1 ? Place(second: Address(street: "T")) : nil
            return thing
        }
        func places(_ predicate: Predicate<TypedThing>, _ context: ManagedObjectContext) throws
            -> [Int]
        {
            try context.fetch(FetchRequest(predicate)).map { found in
                things.firstIndex { $0.objectID == found.objectID } ?? -1
            }
        }
        func check(_ context: ManagedObjectContext) throws {
            #expect(try places(#Predicate { $0.work == nil }, context) == [0])
            #expect(try places(#Predicate { $0.work != nil }, context) == [1, 2])
            #expect(try places(#Predicate { $0.place?.second != nil }, context) == [2])
            #expect(try places(#Predicate { !($0.place == nil) }, context) == [2])
        }
        try check(context)
        try context.save()
        try check(ManagedObjectContext(store: container.store, classes: container.classes))
    }

    @Test("Conditions that a loop puts together may be any number")
    func loops() throws {
        typealias Parts = PredicateExpressions
        func or<Product: StandardPredicateExpression<TypedProduct>>(
            _ one: some StandardPredicateExpression<Bool>, _ product: Product, _ stock: Int
        ) -> any StandardPredicateExpression<Bool> {
            Parts.build_Disjunction(
                lhs: one,
                rhs: Parts.build_Equal(
                    lhs: Parts.build_KeyPath(root: product, keyPath: \TypedProduct.stock),
                    rhs: Parts.build_Arg(stock)))
        }
        let request = try FetchRequest<TypedProduct>(
            Predicate { product in
                var any: any StandardPredicateExpression<Bool> = Parts.build_Arg(false)
                for stock in 0..<600 { any = or(any, product, stock) }
                return any
            })
        let container = try PersistentContainer(inMemoryFor: TypedProduct.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        for stock in [5, 599, 600] {
            let product = context.insert(TypedProduct.self)
            product.serialCode = "\(stock)"
            product.stock = stock
        }
        #expect(try context.fetch(request).map(\.stock) == [5, 599])
        try context.save()
        #expect(try context.fetch(request).map(\.stock) == [5, 599])
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
        let byObject = try FetchRequest<TypedProduct>(where: "maker == %@", makers[0])
        #expect(try context.fetch(byObject).map(\.serialCode) == ["x"])
        let byObjects = try FetchRequest<TypedProduct>(where: "maker IN %@", makers)
        #expect(try context.fetch(byObjects).map(\.serialCode) == ["x", "y"])
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
