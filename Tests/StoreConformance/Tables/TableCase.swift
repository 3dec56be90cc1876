// A question whose answer is a table, and the answer as text.

import CairnModel
import CairnStore
import Testing

/// A table that is asked for, and what it says.
struct TableCase: Sendable, CustomTestStringConvertible {
    let title: String
    var entity = "Item"
    /// The condition on objects.
    var format: String?
    /// Paths, or expressions with a name: `sum:(amount) as total`.
    let columns: [String]
    var groupBy: [String] = []
    var having: String?
    var isDistinct = false
    var sort: [SortKey] = []
    var offset = 0
    var limit: Int?
    var nulls = NullSemantics.twoValued
    /// The rows, values side by side.
    let expected: [String]

    var testDescription: String { title }

    /// The question to a store.
    func request(_ subject: Subject) throws -> StoreTableFetch {
        var fetch = try subject.fetch(entity, format)
        (fetch.sort, fetch.offset, fetch.limit) = (sort, offset, limit)
        fetch.nullSemantics = nulls
        var terms = TableTerms(
            columns: try columns.map { text in
                guard let name = text.firstRange(of: " as ") else {
                    return .init(text, try ExpressionNode(format: text))
                }
                return .init(
                    String(text[name.upperBound...]),
                    try ExpressionNode(format: String(text[..<name.lowerBound])))
            })
        terms.groupBy = try groupBy.map { try ExpressionNode(format: $0) }
        terms.having = try having.map { try PredicateNode(format: $0) }
        terms.isDistinct = isDistinct
        return StoreTableFetch(fetch, terms)
    }
}

extension TableCase {
    private static let middle = "amount BETWEEN {0, 20}"

    static let all =
        [
            TableCase(
                title: "Columns of objects", format: "small BETWEEN {1, 4}",
                columns: ["code", "small", "note"], sort: [SortKey("code")],
                expected: ["a 1 heavy", "b 2 nil", "e 4 50% off_"]),
            TableCase(
                title: "Ways to other objects", format: "owner != nil AND small < 7",
                columns: ["code", "owner.name", "owner.boss.name", "size.width"],
                sort: [SortKey("owner.name"), SortKey("code", ascending: false)],
                expected: ["e Ada nil nil", "a Ada nil 2.0", "b Bob Ada 2.0", "f Cyd Bob nil"]),
            TableCase(
                title: "Expressions of objects", format: middle,
                columns: [
                    "code", "amount * 2 + 1 as odd", "uppercase:(state) as loud",
                    "TERNARY(small > 3, 'big', 'little') as size",
                ], sort: [SortKey("odd"), SortKey("code")],
                expected: [
                    "e 1 NEW big", "g 15 NEW big", "h 15 NEW big", "a 21 NEW little",
                    "b 41 USED little",
                ]),
            TableCase(
                title: "Counts of members", entity: "Person",
                columns: ["name", "items.@count as count", "items.@sum.amount as sum"],
                sort: [SortKey("name")],
                expected: ["Ada 2 10", "Bob 2 27", "Cyd 1 -5", "Dot 0 0"]),
            TableCase(
                title: "Figures of all that is found", format: middle,
                columns: [
                    "count:(SELF) as count", "sum:(amount) as sum", "min:(amount) as least",
                    "max:(amount) as most", "average:(amount) as middle", "max:(code) as last",
                ], expected: ["5 44 0 20 8.8 h"]),
            TableCase(
                title: "Figures of nothing", format: "FALSEPREDICATE",
                columns: [
                    "count:(SELF) as count", "sum:(amount) as sum", "min:(amount) as least",
                    "average:(amount) as middle",
                ], expected: ["0 0 nil nil"]),
            TableCase(
                title: "Nil is not counted", format: "code IN {'c', 'd', 'a'}",
                columns: [
                    "count:(SELF) as all", "count:(amount) as known", "average:(amount) as middle",
                    "min:(small) as least",
                ], expected: ["3 1 10.0 -3"]),
            TableCase(
                title: "Rows that are left out and cut off", columns: ["code"],
                sort: [SortKey("code", ascending: false)], offset: 2, limit: 3,
                expected: ["h", "g", "f"]),
            TableCase(title: "No rows at all", columns: ["code"], limit: 0, expected: []),
        ] + groups

    private static let groups = [
        TableCase(
            title: "Groups",
            columns: ["owner.name", "count:(SELF) as count", "sum:(amount) as sum"],
            groupBy: ["owner.name"], sort: [SortKey("owner.name")],
            expected: ["nil 5 6", "Ada 2 10", "Bob 2 27", "Cyd 1 -5"]),
        TableCase(
            title: "Groups by two things", format: "open != nil",
            columns: ["open", "owner.city", "count:(SELF) as count"],
            groupBy: ["open", "owner.city"], sort: [SortKey("open"), SortKey("owner.city")],
            expected: ["NO nil 1", "NO Ulm 1", "YES Bern 2"]),
        TableCase(
            title: "A condition on groups, by the name of a column",
            columns: ["owner.name", "sum:(amount) as sum"], groupBy: ["owner.name"],
            having: "sum > 5", sort: [SortKey("owner.name")],
            expected: ["nil 6", "Ada 10", "Bob 27"]),
        TableCase(
            title: "A condition on groups, by a figure that is no column",
            columns: ["owner.name"], groupBy: ["owner.name"],
            having: "count:(SELF) == 2 AND owner.name != nil", sort: [SortKey("owner.name")],
            expected: ["Ada", "Bob"]),
        TableCase(
            title: "Groups in the order of a figure, cut",
            columns: ["amount", "count:(SELF) as count"], groupBy: ["amount"],
            sort: [SortKey("count", ascending: false), SortKey("amount")], offset: 1, limit: 3,
            expected: ["7 2", "-2147483648 1", "-5 1"]),
        TableCase(
            title: "Groups by an expression", format: "small != nil",
            columns: ["TERNARY(small > 3, 'big', 'little') as kind", "max:(small) as most"],
            groupBy: ["TERNARY(small > 3, 'big', 'little')"], sort: [SortKey("kind")],
            expected: ["big 32767", "little 2"]),
        TableCase(
            title: "Two ways to write a letter are two groups", format: "code IN {'e', 'f'}",
            columns: ["name", "count:(SELF) as count"], groupBy: ["name"],
            sort: [SortKey("name")],
            expected: ["\(SampleObjects.decomposed) 1", "\(SampleObjects.composed) 1"]),
        TableCase(
            title: "Groups of what is no ordinary number", format: "code IN {'c', 'd', 'f', 'g'}",
            columns: ["price", "count:(SELF) as count"], groupBy: ["price"],
            sort: [SortKey("price")], expected: ["nil 2", "inf 1", "nan 1"]),
        TableCase(
            title: "Expressions of figures",
            columns: [
                "owner.name", "sum:(amount) * 2 as double", "max:(small) - min:(small) as span",
            ], groupBy: ["owner.name"], having: "owner.name != nil", sort: [SortKey("owner.name")],
            expected: ["Ada 20 3", "Bob 54 5", "Cyd -10 0"]),
        TableCase(
            title: "Figures of the members that the objects of a group have", entity: "Person",
            columns: [
                "city", "count:(SELF) as all", "items.@count as count", "items.@sum.amount as sum",
                "items.@max.amount as most", "items.@min.amount as least",
            ], groupBy: ["city"], having: "items.@count > 0",
            sort: [SortKey("count"), SortKey("city")],
            expected: ["nil 1 1 -5 -5 -5", "Bern 2 2 10 10 0", "Ulm 1 2 27 20 7"]),
        TableCase(
            title: "Different rows", columns: ["owner.city"], isDistinct: true,
            sort: [SortKey("owner.city")], expected: ["nil", "Bern", "Ulm"]),
        TableCase(
            title: "Different rows of two columns, cut", format: "owner != nil",
            columns: ["owner.name", "open"], isDistinct: true,
            sort: [SortKey("owner.name"), SortKey("open")], limit: 3,
            expected: ["Ada YES", "Bob nil", "Bob NO"]),
        TableCase(
            title: "Without the nil of SQL, groups of nil are unlike a value",
            columns: ["owner.city", "count:(SELF) as count"], groupBy: ["owner.city"],
            having: "owner.city != 'Ulm'", sort: [SortKey("owner.city")],
            expected: ["nil 6", "Bern 2"]),
        TableCase(
            title: "With the nil of SQL they are not",
            columns: ["owner.city", "count:(SELF) as count"], groupBy: ["owner.city"],
            having: "owner.city != 'Ulm'", sort: [SortKey("owner.city")], nulls: .sql,
            expected: ["Bern 2"]),
        TableCase(
            title: "Groups of nothing", format: "FALSEPREDICATE",
            columns: ["owner.name", "count:(SELF) as count"], groupBy: ["owner.name"],
            expected: []),
        TableCase(
            title: "Groups without objects of subentities are others", entity: "Tool",
            columns: ["state", "count:(SELF) as count", "sum:(power) as power"],
            groupBy: ["state"], expected: ["new 2 7"]),
    ]
}
