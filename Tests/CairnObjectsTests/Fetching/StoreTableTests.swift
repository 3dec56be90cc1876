// Tables of values, asked of a snapshot.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
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

    @Test(
        "Equal numbers of different types are one key and one row, shown as what came first (B091)",
        arguments: Backend.allCases)
    func mixedNumbers(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try stack.store { context in
            [0x1p53, 2, 0x1p53, 0.5].enumerated().map { index, price in
                context.make(
                    "Product",
                    ["serialCode": "P\(index)", "price": price, "isFavorite": index % 2 == 1])
            }
        }
        let count = TableTerms.Column("count", try ExpressionNode(format: "count:(SELF)"))
        func groups(_ format: String) throws -> [[Value]] {
            let key = try ExpressionNode(format: format)
            let distinct = try ask(stack, [.init("key", key)]) { $0.terms.isDistinct = true }
            let groups = try ask(stack, [.init("key", key), count]) { $0.terms.groupBy = [key] }
            #expect(distinct.count == groups.count, "\(format)")
            #expect(Set(distinct.map { $0[0] }) == Set(groups.map { $0[0] }), "\(format)")
            return groups
        }
        #expect(
            try groups("TERNARY(isFavorite == YES, 1, 1.0)") == [[.decimal(1), .integer(4)]])
        #expect(
            try groups("TERNARY(isFavorite == NO, 1, 1.0)") == [[.integer(1), .integer(4)]])
        #expect(
            try groups("TERNARY(isFavorite == YES, 0.5, price * 0.5 / price)")
                == [[.double(0.5), .integer(4)]])
        // The nearest double is another number.
        #expect(
            try groups("TERNARY(isFavorite == YES, 9007199254740992, price)")
                == [[.double(0x1p53), .integer(4)]])
        #expect(
            Set(try groups("TERNARY(isFavorite == YES, 9007199254740993, price)")) == [
                [.integer(9_007_199_254_740_993), .integer(2)], [.double(0x1p53), .integer(2)],
            ])
        #expect(try groups("TERNARY(isFavorite == YES, TRUE, 1)").count == 2)
    }

    @Test("A figure in a figure, or in a key, is refused by its name", arguments: Backend.allCases)
    func nestedFigures(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        for (format, inner) in [
            ("max:(sum:(price))", "sum:(price)"), ("average:(sum:(price))", "sum:(price)"),
            ("count:(count:(name))", "count:(name)"), ("sum:(1 + @count)", "@count"),
            ("sum:(TERNARY(price > min:(price), 1, 0))", "min:(price)"),
            ("sum:(CAST(max:(price), 'NSNumber'))", "max:(price)"),
        ] {
            let expression = try ExpressionNode(format: format)
            let error = storeError { _ = try ask(stack, [.init("x", expression)]) { _ in } }
            #expect(error?.code == .invalidRequest, "\(format)")
            #expect(error?.message.contains("\(inner) is an aggregate") == true, "\(format)")
        }
        for format in ["sum:(price)", "@count", "price + max:(price)"] {
            let key = try ExpressionNode(format: format)
            let error = storeError {
                _ = try ask(stack, [.init("serialCode")]) { $0.terms.groupBy = [key] }
            }
            #expect(error?.code == .invalidRequest, "\(format)")
            #expect(
                error?.message.contains("is an aggregate over a whole group") == true, "\(format)")
        }
    }

    @Test("Figures of the members of each object have figures", arguments: Backend.allCases)
    func figuresOfMembers(_ backend: Backend) throws {
        let (stack, _) = try prepare(backend)
        let shop = try #require(stack.store.schema.entity(named: "Shop"))
        for (format, expected) in [
            ("max:(sum:(products.price))", 6.0), ("sum:(products.@count)", 5),
            ("min:(products.@sum.price)", 4), ("sum:(max:(products.price))", 7),
            ("average:(count:(products))", 2.5),
            ("sum:(SUBQUERY(products, $p, sum:($p.price) > 1).@count)", 3),
        ] {
            let terms = TableTerms(columns: [.init("x", try ExpressionNode(format: format))])
            let table = try stack.store.snapshot().table(
                StoreTableFetch(StoreFetch(entity: shop.index), terms))
            #expect(
                table.rows.map { $0.map(\.groupIdentity) } == [
                    [Value.double(expected).groupIdentity]
                ],
                "\(format)")
        }
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
