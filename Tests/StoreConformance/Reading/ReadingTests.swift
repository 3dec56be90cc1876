// Reading by typed columns gives what fetching gives.

import CairnModel
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Reading by columns")
struct ReadingTests {
    /// What a row says, in words.
    private struct Columns {
        let code: Column<String?>
        let small: Column<Int16?>
        let price: Column<Double?>
        let open: Column<Bool?>
        let since: Column<Date?>
        let cost: Column<Decimal?>
        let mark: Column<UUID?>

        init(_ entity: SchemaEntity) throws {
            code = try entity.column("code", as: String?.self)
            small = try entity.column("small", as: Int16?.self)
            price = try entity.column("price", as: Double?.self)
            open = try entity.column("open", as: Bool?.self)
            since = try entity.column("since", as: Date?.self)
            cost = try entity.column("cost", as: Decimal?.self)
            mark = try entity.column("mark", as: UUID?.self)
        }

        func text(_ row: borrowing RowView) -> String {
            let values: [Value] = [
                row[code].map { .string($0) } ?? .null,
                row[small].map { .integer(Int64($0)) } ?? .null,
                row[price].map { .double($0) } ?? .null, row[open].map { .boolean($0) } ?? .null,
                row[since].map { .date($0) } ?? .null, row[cost].map { .decimal($0) } ?? .null,
                row[mark].map { .uuid($0) } ?? .null,
            ]
            return values.map(\.plainText).joined(separator: "|")
        }
    }

    @Test("Each row is read as it is fetched", arguments: Backend.everyStore)
    func reading(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let item = try subject.entity("Item")
            let columns = try Columns(item)
            let keys = ["code", "small", "price", "open", "since", "cost", "mark"]
            var read = StoreRead(item)
            for (sort, limit) in [([SortKey("price")], 4), ([SortKey("code")], 99), ([], 3)] {
                (read.fetch.sort, read.fetch.limit) = (sort, limit)
                var found: [String] = []
                try subject.store.snapshot().read(read) { row in
                    #expect(row.position == found.count)
                    found.append(columns.text(row))
                }
                var fetch = read.fetch
                fetch.includesRows = true
                let expected = try subject.store.snapshot().fetch(fetch).rows.map { row in
                    try keys.map {
                        let column = try #require(item.columnIndex(named: $0))
                        return row.cells.value(column, of: item, in: subject.store.identity)
                            .plainText
                    }.joined(separator: "|")
                }
                #expect(found == expected)
            }
        }
    }

    @Test("A reading ends when the closure throws", arguments: Backend.everyStore)
    func ending(_ backend: Backend) throws {
        struct Enough: Error {}
        try backend.withSubject(sample: true) { subject in
            var count = 0
            #expect(throws: Enough.self) {
                try subject.store.snapshot().read(StoreRead(subject.entity("Item"))) { _ in
                    count += 1
                    if count == 3 { throw Enough() }
                }
            }
            #expect(count == 3)
        }
    }

    @Test(
        "Objects are looked up by their keys, in the order of the keys",
        arguments: Backend.everyStore)
    func lookingUp(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let item = try subject.entity("Item")
            let columns = try Columns(item)
            let snapshot = try subject.store.snapshot()
            var found: [String] = []
            try snapshot.lookUp(
                StoreLookup(item, by: ColumnSet(columns.code)), columns.code,
                ["e", "none", nil, "a", "e"]
            ) { found.append("\($0.position) \($0[columns.small] ?? 0)") }
            #expect(found == ["0 4", "3 1", "4 4"])
            let series = try item.column("series", as: String?.self)
            let number = try item.column("number", as: Int32?.self)
            let keys: [(String?, Int32?)] = [("s", 2), ("s", 3), ("t", 1), ("s", nil)]
            var next = 0
            found = []
            try snapshot.lookUp(
                StoreLookup(item, by: ColumnSet(series, number)),
                keys: { row in
                    if next == keys.count { return true }
                    row.set(series, keys[next].0)
                    row.set(number, keys[next].1)
                    next += 1
                    return false
                }
            ) { found.append("\($0.position) \($0[columns.code] ?? "")") }
            #expect(found == ["0 b", "2 e"])
            found = []
            try snapshot.lookUp(
                StoreLookup(subject.entity("Tool"), by: ColumnSet(columns.code)),
                subject.entity("Tool").column("code", as: String?.self), ["a", "e"]
            ) { found.append("\($0.position)") }
            #expect(found == ["1"])
            let error = storeError {
                try snapshot.lookUp(
                    StoreLookup(item, by: ColumnSet(columns.small)), columns.small, [1]
                ) { _ in }
            }
            #expect(error?.code == .invalidRequest)
        }
    }

    @Test("What a relationship leads to is read owner by owner", arguments: Backend.everyStore)
    func related(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            func read(_ entity: String, _ key: String, _ owners: [String]) throws -> [String] {
                let ids = try owners.map { try subject.id(entity, $0) }
                let request = try StoreRelated(
                    subject.entity(entity), key, in: subject.schema)
                var found = Array(repeating: "", count: owners.count)
                try subject.store.snapshot().read(request, of: ids) { row in
                    found[row.position] += try subject.names(of: [row.objectID])
                }
                return found
            }
            for (entity, key, owners, expected) in [
                ("Person", "items", ["Bob", "Dot", "Ada"], ["bh", "", "ae"]),
                ("Item", "owner", ["a", "c", "e"], ["Ada", "", "Ada"]),
                ("Item", "parts", ["a", "b", "a"], ["bc", "g", "bc"]),
                ("Item", "mates", ["a", "b"], ["b", "a"]),
                ("Item", "fans", ["e", "f"], ["AdaBob", ""]),
                ("Tag", "items", ["red", "old"], ["abg", "gh"]),
            ] {
                let found = try read(entity, key, owners)
                #expect(found == expected, "\(entity).\(key)")
            }
        }
    }

    @Test(
        "An object of an ancestor has nothing by the relationship of a descendant",
        arguments: Backend.everyStore.filter { $0 != .dictionary })
    func ancestor(_ backend: Backend) throws {
        var leaf = EntityDescription(
            "Leaf", attributes: [], relationships: [.init("maker", to: "Maker", inverse: "leaves")])
        leaf.superentityName = "Base"
        let maker = EntityDescription(
            "Maker", attributes: [.init("name", .string)],
            relationships: [.init("leaves", to: "Leaf", toMany: true, inverse: "maker")])
        let base = EntityDescription("Base", attributes: [.init("code", .string)])
        let schema = try Schema(ManagedObjectModel(entities: [base, leaf, maker]))
        try backend.withStore(schema) { store in
            var insert = BatchInsertRequest(entityName: "Base", objects: [["code": "a"]])
            insert.resultType = .objectIDs
            let id = try #require(try store.execute(insert).objectIDs.first)
            let leaf = try #require(store.schema.entity(named: "Leaf"))
            let request = try StoreRelated(leaf, "maker", in: store.schema)
            var count = 0
            try store.snapshot().read(request, of: [id]) { _ in count += 1 }
            #expect(count == 0)
        }
    }
}
