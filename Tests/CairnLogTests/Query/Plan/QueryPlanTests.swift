// Which way the planner takes, as text, and what it costs; and that the way changes no answer.

import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Plans of fetches")
struct QueryPlanTests {
    /// A fetch, and how it is answered.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var entity = "Product"
        var format: String?
        var sort: [String] = []
        var limit: Int?
        var offset = 0
        let steps: String
        /// Rows that are expected and looked at, results, blocks that are read.
        let numbers: [Int]

        init(
            _ title: String, of entity: String = "Product", _ format: String?,
            sort: [String] = [], limit: Int? = nil, offset: Int = 0, _ steps: String,
            _ numbers: Int...
        ) {
            testDescription = title
            self.entity = entity
            self.format = format
            self.sort = sort
            self.limit = limit
            self.offset = offset
            self.steps = steps
            self.numbers = numbers
        }
    }

    private static let cases: [Case] = [
        Case("all of them", nil, "scan of Product, Gadget", 4000, 4000, 4000, 24),
        Case(
            "one value, one element", "name == 'name 10037'",
            #"index byName (name) for name = "name 10037""#, 1, 1, 1, 1),
        Case(
            "one value, no index", "price == 7.5",
            """
            scan of Product, Gadget
              filter: price == 7.5
            """, 4000, 4000, 4, 24),
        Case(
            "one value of a compound index", "category == 'c7'",
            #"index byCategoryAndPrice (category, price) for category = "c7""#, 100, 100, 100, 20),
        Case(
            "both values of a compound index", "category == 'c7' AND price == 43.3",
            #"index byCategoryAndPrice (category, price) for category = "c7", price = 43.3"#, 4, 4,
            4, 4),
        Case(
            "a value and a range", "category == 'c7' AND price < 20",
            #"index byCategoryAndPrice (category, price) for category = "c7", price < 20.0"#, 20,
            20, 20, 16),
        Case(
            "a value and a range from both sides",
            "category == 'c7' AND price > 10 AND price <= 20",
            #"index byCategoryAndPrice (category, price) for category = "c7", price > 10.0, price <= 20.0"#,
            12, 12, 12, 8),
        Case(
            "a value and a reversed range", "category == 'c7' AND price BETWEEN {20, 10}",
            #"index byCategoryAndPrice (category, price) for category = "c7", price >= 20.0, price <= 10.0"#,
            0, 0, 0, 0),
        Case(
            "a value, and more", "category == 'c7' AND name ENDSWITH '59'",
            """
            index byCategoryAndPrice (category, price) for category = "c7"
              filter: category == 'c7' AND name ENDSWITH '59'
            """, 100, 100, 20, 20),
        Case(
            "the second element alone", "price < 1",
            """
            scan of Product, Gadget
              filter: price < 1.0
            """,
            // A case before has made known between which prices those of each block lie.
            4000, 2800, 40, 16),
        Case(
            "a range of a descending index", "stock < 10", "index byStock (stock) for stock < 10",
            80, 80, 80, 12),
        Case(
            "a wide range", "stock < 400",
            """
            scan of Product, Gadget
              filter: stock < 400
            """, 4000, 4000, 3200, 24),
        Case(
            "a list", "name IN {'name 10037', 'name 10074', 'name 10037', 'nobody'}",
            "index byName (name) for name in 3 values", 2, 2, 2, 1),
        Case(
            "a list of texts whose keys are cut in the same place",
            "note IN {'\(PlannedStore.long)1', '\(PlannedStore.long)2', '\(PlannedStore.long)2'}",
            """
            index byNote (note) for note in 2 values
              filter: note IN {'\(PlannedStore.long)1', '\(PlannedStore.long)2', '\(PlannedStore.long)2'}
            """, 40, 40, 2, 20),
        Case(
            "in the order of keys that are cut", nil, sort: ["-note"], limit: 3,
            """
            index byNote (note)
              sorted by -note
            """, 4000, 40, 3, 20),
        Case(
            "before keys that are cut", nil, sort: ["note"], limit: 3,
            "index byNote (note), in its order", 4000, 3, 3, 1),
        Case("an empty list", "name IN {}", "index byName (name) for name in 0 values", 0, 0, 0, 0),
        Case(
            "a beginning", "name BEGINSWITH 'name 1000'",
            #"index byName (name) for name begins with "name 1000""#, 10, 10, 10, 9),
        Case(
            "a beginning without case", "name BEGINSWITH[c] 'NAME 1000'",
            """
            scan of Product, Gadget
              filter: name BEGINSWITH[c] 'NAME 1000'
            """, 4000, 4000, 10, 24),
        Case(
            "nil", "released == nil", sort: ["released"], limit: 3,
            "index byReleased (released) for released = nil, in its order", 1000, 3, 3, 1),
        Case(
            "not nil, which is no range", "released != nil", sort: ["released"], limit: 3,
            """
            scan of Product, Gadget
              filter: released != NULL
              sorted by released
            """, 4000, 4000, 3, 24),
        Case(
            "in order", nil, sort: ["name"], limit: 10, "index byName (name), in its order", 4000,
            10, 10, 9),
        Case(
            "in order, backward", nil, sort: ["-name"], limit: 10, offset: 5,
            "index byName (name), in its order", 4000, 10, 10, 7),
        Case(
            "in order, all", nil, sort: ["name"], "index byName (name), in its order", 4000, 4000,
            4000, 24),
        Case(
            "in another order, where it is known which blocks have low prices", nil,
            sort: ["price"], limit: 10,
            """
            scan of Product, Gadget
              sorted by price
            """, 4000, 2000, 10, 12),
        Case(
            "in the order behind a value", "category == 'c7'", sort: ["price"],
            #"index byCategoryAndPrice (category, price) for category = "c7", in its order"#, 100,
            100, 100, 20),
        Case(
            "in the order behind a value, down", "category == 'c7'", sort: ["category", "-price"],
            limit: 4,
            #"index byCategoryAndPrice (category, price) for category = "c7", in its order"#, 100,
            4, 4, 4),
        Case(
            "in an order that the index does not give", "category == 'c7'", sort: ["name"],
            """
            index byCategoryAndPrice (category, price) for category = "c7"
              sorted by name
            """, 100, 100, 100, 20),
        Case(
            "in order, with a condition that is left", "retired == TRUE", sort: ["name"], limit: 5,
            """
            index byName (name), in its order
              filter: retired == TRUE
            """, 4000, 9, 5, 9),
        Case(
            "in order, but few match by another index", "released == CAST(4, 'NSDate')",
            sort: ["name"], limit: 1,
            """
            index byReleased (released) for released = 2001-01-01T00:00:04Z
              sorted by name
            """, 7, 7, 1, 2),
        Case(
            "in order, beyond the end", "category == 'c7'", sort: ["price"], limit: 10, offset: 99,
            #"index byCategoryAndPrice (category, price) for category = "c7", in its order"#, 100,
            1, 1, 1),
        Case(
            "in the order of a first element, where rows that are equal are by number", nil,
            sort: ["category"], limit: 3, offset: 99,
            "index byCategoryAndPrice (category, price), in its order", 4000, 200, 3, 2),
        Case(
            "in the order of a first element, down", nil, sort: ["-category"], limit: 10,
            "index byCategoryAndPrice (category, price), in its order", 4000, 100, 10, 1),
        Case(
            "a page far behind", nil, sort: ["name"], limit: 10, offset: 3000,
            "index byName (name), in its order", 4000, 10, 10, 9),
        Case(
            "a list of keys, and more", "code IN {'P7', 'P8', 'P9'} AND retired == TRUE",
            """
            unique index (code)
              filter: code IN {'P7', 'P8', 'P9'} AND retired == TRUE
            """, 3, 3, 1, 2),
        Case(
            "two indexes", "stock < 10 AND released < CAST(40, 'NSDate')",
            "index byStock (stock) for stock < 10 and index byReleased (released) for released < 2001-01-01T00:00:40Z",
            80, 7, 7, 2),
        Case(
            "either of two", "name == 'name 10037' OR stock == 3",
            """
            scan of Product, Gadget
              filter: name == 'name 10037' OR stock == 3
            """, 4000, 4000, 9, 24),
        Case(
            "a constraint's key before an index", "code == 'P77' AND category == 'c37'",
            """
            unique index (code)
              filter: code == 'P77' AND category == 'c37'
            """, 1, 1, 1, 1),
        Case(
            "descendants by an index of their own", of: "Gadget", "watts == 19",
            "index byWatts (watts) for watts = 19", 1, 1, 1, 1),
        Case(
            "descendants by an inherited index", of: "Gadget", "category == 'c9' AND price < 10",
            #"index byCategoryAndPrice (category, price) for category = "c9", price < 10.0"#, 8, 8,
            8, 4),
    ]

    @Test("Each fetch goes the way that is wanted, and finds what a scan finds")
    func table() throws {
        let store = try PlannedStore()
        for item in Self.cases {
            var fetch = try store.fetch(
                item.entity, item.format, sort: item.sort, limit: item.limit, offset: item.offset)
            fetch.includesRows = true
            let plan = try store.indexed.snapshot().explain(fetch)
            let title: Comment = "\(item.testDescription)"
            #expect(plan.steps == item.steps, title)
            #expect(
                [plan.estimatedRows, plan.rowsLooked, plan.results, plan.blocksRead]
                    == item.numbers, title)
            let found = try store.indexed.snapshot().fetch(fetch)
            let expected = try store.plain.snapshot().fetch(fetch)
            #expect(found.ids == expected.ids, title)
            #expect(found.plan == plan.access && found.ids.count == plan.results, title)
            #expect(
                try store.indexed.snapshot().count(fetch) == store.plain.snapshot().count(fetch),
                title)
        }
        try store.indexed.close()
        try store.plain.close()
    }

    @Test("Where many values share a hash, each fetch finds what a scan finds", arguments: [4, 10])
    func sharedHashes(bits: Int) throws {
        let store = try PlannedStore(hashBits: bits)
        for item in Self.cases {
            var fetch = try store.fetch(
                item.entity, item.format, sort: item.sort, limit: item.limit, offset: item.offset)
            fetch.includesRows = true
            let title: Comment = "\(item.testDescription)"
            let found = try store.indexed.snapshot().fetch(fetch)
            let expected = try store.plain.snapshot().fetch(fetch)
            #expect(found.ids == expected.ids && found.ids.count == item.numbers[2], title)
            #expect(found.rows.map(\.cells) == expected.rows.map(\.cells), title)
            #expect(try store.indexed.snapshot().count(fetch) == found.ids.count, title)
        }
        // The list is looked for in a set, by the same hashes: of a column without an index.
        for code in [0, 17, 3999] {
            let list = [Value.string("P\(code)"), .string("none"), .string("P\(code)x")]
            let fetch = StoreFetch(
                entity: 0, predicate: .not(.not(.comparison(.init(.key("code"), .in, list)))))
            #expect(try store.plain.snapshot().count(fetch) == 1)
        }
        try store.indexed.close()
        try store.plain.close()
    }

    @Test("The least and the greatest are the ends of an index")
    func extremes() throws {
        let store = try PlannedStore()
        func ask(_ format: String?, _ columns: String...) throws -> StoreTable {
            let fetch = try store.fetch("Product", format, sort: [], limit: nil, offset: 0)
            var terms = TableTerms(columns: [])
            for (index, column) in columns.enumerated() {
                terms.columns.append(.init("\(index)", try ExpressionNode(format: column)))
            }
            let request = StoreTableFetch(fetch, terms)
            let found = try store.indexed.snapshot().table(request)
            let expected = try store.plain.snapshot().table(request)
            #expect(found.rows == expected.rows, "\(found)")
            return found
        }
        let names = try ask(nil, "min:(name)", "max:(name)")
        #expect(names.rows == [[.string("name 10000"), .string("name 13999")]])
        #expect(names.plan == #"index byName (name) for name >= "", in its order"#)
        let stock = try ask("stock < 100 AND retired == TRUE", "max:(stock)", "min:(released)")
        #expect(stock.plan.contains("byStock") && stock.plan.contains(" and index byReleased"))
        let prices = try ask("category == 'c7'", "max:(price)")
        #expect(prices.plan.hasPrefix("index byCategoryAndPrice (category, price) for category"))
        #expect(try ask("category == 'none'", "max:(price)").rows == [[.null]])
        #expect(try ask(nil, "min:(price)").plan.contains("scan"), "no index begins with it")
        let first = try ask(nil, "min:(category)", "max:(category)")
        #expect(first.rows == [[.string("c0"), .string("c9")]])
        #expect(first.plan.hasPrefix("index byCategoryAndPrice (category, price) for category"))
        let both = try ask(nil, "min:(stock)", "count:(SELF)")
        #expect(both.rows == [[.integer(0), .integer(4000)]])
        #expect(both.plan.hasPrefix("index byStock (stock) for stock"))
        #expect(both.plan.hasSuffix(" and the numbers of objects that are kept"))
        let some = try ask("category == 'c7'", "count:(SELF)", "count:(price)")
        #expect(some.rows == [[.integer(100), .integer(100)]] && some.plan.contains("byCategory"))
        #expect(try ask(nil, "max:(note)").plan.contains("scan"), "its keys are cut")
    }
}
