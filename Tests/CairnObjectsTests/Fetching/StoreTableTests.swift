// Tables of values, asked of a snapshot.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import Testing

@Suite("Tables of a snapshot")
struct StoreTableTests {
    /// Products 0 to 5 of two shops; the last is of no shop. Even ones have the tag "even".
    private func prepare(_ backend: Backend) throws -> (Stack, shops: [ObjectID]) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shops = ["north", "south"].map { context.make("Shop", ["name": $0]) }
            let even = context.make("Tag", ["label": "even"])
            for number in 0..<6 {
                let product = context.make(
                    "Product", ["serialCode": "P\(number)", "price": Double(number)])
                product["shop"] = number == 5 ? nil : shops[number % 2]
                if number % 2 == 0 { product.add(even, to: "tags") }
            }
            return shops
        }
        return (stack, ids)
    }

    private func ask(
        _ stack: Stack, _ columns: [TableTerms.Column], _ change: (inout StoreTableFetch) -> Void
    ) throws -> [[Value]] {
        let product = try #require(stack.store.schema.entity(named: "Product"))
        var request = StoreTableFetch(
            StoreFetch(entity: product.index), TableTerms(columns: columns))
        change(&request)
        let table = try stack.store.snapshot().table(request)
        #expect(table.columns == columns.map(\.name))
        return table.rows
    }

    @Test("A row for each object, across relationships", arguments: Backend.allCases)
    func plain(_ backend: Backend) throws {
        let (stack, shops) = try prepare(backend)
        let count = try ExpressionNode(format: "tags.@count")
        let rows = try ask(
            stack, [.init("serialCode"), .init("shop"), .init("shop.name"), .init("tags", count)]
        ) {
            $0.fetch.predicate = .compare("price", .greater, .double(2))
            $0.fetch.sort = [SortKey("serialCode", ascending: false)]
            $0.fetch.limit = 2
            $0.fetch.offset = 0
        }
        #expect(
            rows == [
                [.string("P5"), .null, .null, .integer(0)],
                [.string("P4"), .objectID(shops[0]), .string("north"), .integer(1)],
            ])
    }

    @Test("A row for each group, nil among them", arguments: Backend.allCases)
    func groups(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        let count = try ExpressionNode(format: "count:(SELF)")
        let most = try ExpressionNode(format: "max:(price)")
        let rows = try ask(
            stack, [.init("shop.name"), .init("count", count), .init("most", most)]
        ) { $0.terms.groupBy = [.keyPath("shop.name")] }
        #expect(
            rows == [
                [.null, .integer(1), .double(5)], [.string("north"), .integer(3), .double(4)],
                [.string("south"), .integer(2), .double(3)],
            ])
    }

    @Test("Both zeros are one among rows that are wanted once each", arguments: Backend.allCases)
    func zeros(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try stack.store { context in
            [0.0, -0.0, 1, 0].enumerated().map { index, price in
                context.make("Product", ["serialCode": "P\(index)", "price": price])
            }
        }
        let rows = try ask(stack, [.init("price")]) { $0.terms.isDistinct = true }
        #expect(rows == [[.double(0)], [.double(1)]])
        let least = try ExpressionNode(format: "min:(price)")
        let groups = try ask(stack, [.init("least", least)]) {
            $0.terms.groupBy = [.keyPath("serialCode")]
            $0.terms.isDistinct = true
        }
        #expect(groups == [[.double(0)], [.double(1)]])
    }

    @Test("What does not fit is refused, naming entity and key", arguments: Backend.allCases)
    func refusals(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        for key in ["colour", "tags", "shop.owner", "tags.label"] {
            let error = storeError { _ = try ask(stack, [.init("value", .keyPath(key))]) { _ in } }
            #expect(error?.code == .invalidRequest && error?.context.entity == "Product", "\(key)")
            #expect(error?.context.key != nil, "\(key)")
        }
    }
}
