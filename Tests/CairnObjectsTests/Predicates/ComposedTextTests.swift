// Letters that Unicode writes in two ways, in conditions, wherever these are asked.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("Two ways to write a letter")
struct ComposedTextTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    @Test(
        "Texts are compared scalar by scalar, with [c], [d] and [l] as one; in the store as in memory",
        arguments: [
            ("name == %@", "1"), ("name != %@", "2"), ("name < %@", "2"), ("name <= %@", "12"),
            ("name BETWEEN {%@, %@}", "1"), ("name IN {%@}", "1"), ("NOT name IN {%@}", "2"),
            ("name CONTAINS %@", "1"), ("name BEGINSWITH %@", "1"), ("name ENDSWITH %@", "1"),
            ("name LIKE %@", "1"), ("name MATCHES %@", "1"), ("%@ CONTAINS name", "1"),
            ("name IN %@", "1"),
            ("name ==[c] %@", "12"), ("name !=[c] %@", ""), ("name IN[c] {%@}", "12"),
            ("name CONTAINS[c] %@", "12"), ("name LIKE[c] %@", "12"), ("name MATCHES[c] %@", "12"),
            ("name ==[d] %@", "12"), ("name CONTAINS[d] %@", "12"), ("name MATCHES[d] %@", "12"),
            ("name ==[l] %@", "12"), ("name !=[l] %@", ""), ("name <[l] %@", ""),
            ("name <=[l] %@", "12"), ("name IN[l] {%@}", "12"), ("name CONTAINS[l] %@", "12"),
            ("name BEGINSWITH[l] %@", "12"), ("name ENDSWITH[l] %@", "12"),
            ("name LIKE[l] %@", "12"), ("name MATCHES[l] %@", "12"),
            ("ANY tags.label == %@", "1"), ("ALL tags.label ==[l] %@", "12"),
            ("name LIKE 'caf?' AND name LIKE[c] %@", "12"),
            ("name MATCHES 'caf.' AND name ==[l] %@", "12"), ("length:(name) == 4", "12"),
            ("tags.@distinctUnionOfObjects.label CONTAINS %@", "1"),
        ])
    func conditions(_ format: String, _ expected: String) throws {
        for backend in Backend.allCases {
            let stack = try Stack(Models.shop, backend)
            let context = stack.context()
            for (place, name) in [Self.composed, Self.decomposed].enumerated() {
                let product = context.make("Product", ["name": name, "price": Double(place + 1)])
                product["tags"] = Set([context.make("Tag", ["label": name])])
            }
            let count = format.components(separatedBy: "%@").count - 1
            let predicate = try PredicateNode(
                format: format,
                arguments: Array(repeating: .value(.string(Self.composed)), count: count))
            var request = FetchRequest(entityName: "Product", predicate: predicate)
            request.sortDescriptors = [SortKey("price")]
            func prices(_ objects: [ManagedObject]) -> String {
                objects.map { "\(Int($0["price"] as? Double ?? 0))" }.joined()
            }
            #expect(prices(try context.fetch(request)) == expected, "unsaved, \(backend)")
            try context.save()
            let stored = stack.context()
            #expect(prices(try stored.fetch(request)) == expected, "stored, \(backend)")
            let all = try stored.all("Product", sortedBy: "price")
            #expect(prices(try predicate.filter(all)) == expected, "in memory, \(backend)")
            for object in all { object["note"] = "changed" }
            #expect(prices(try stored.fetch(request)) == expected, "changed, \(backend)")
        }
    }

    @Test("Both are keys of their own and groups of their own")
    func keys() throws {
        let stack = try Stack(Models.shop, .log)
        let context = stack.context()
        for name in [Self.composed, "z", Self.decomposed] {
            context.make("Product", ["serialCode": name, "name": name])
        }
        try context.save()
        #expect(try stack.context().all("Product").count == 3)
        let found = try stack.context().find("Product", "serialCode", .string(Self.decomposed))
        #expect(found.count == 1)
        var groups = FetchRequest<DictionaryResult>(entityName: "Product")
        groups.propertiesToFetch = ["name"]
        groups.propertiesToGroupBy = ["name"]
        #expect(try stack.context().fetch(groups).count == 3)
    }
}
