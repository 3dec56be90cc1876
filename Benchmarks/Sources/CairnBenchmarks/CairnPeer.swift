// Cairn, through the public batch insert with typed columns.

import Cairn
import Synchronization

enum CairnPeer {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Product",
            attributes: [
                .init("serialCode", .string, optional: false), .init("name", .string),
                .init("price", .double), .init("quantity", .integer64), .init("updatedAt", .double),
                .init("category", .string), .init("flag", .boolean),
            ], uniquenessConstraints: [["serialCode"]])
    ])

    /// Inserts all rows as one unit; seconds from the first row to the return of the synced commit.
    static func insert(_ rows: [Product], at path: String) throws -> Double {
        let store = try LogStore.open(at: path, schema: Schema(model))
        let columns = try Columns(store.schema)
        let position = Counter()
        let start = ContinuousClock.now
        let request = BatchInsertRequest(entity: columns.entity) { row in
            let index = position.value
            if index == rows.count { return true }
            position.value = index + 1
            columns.fill(row, rows[index])
            return false
        }
        let result = try store.execute(request)
        let seconds = (ContinuousClock.now - start).seconds
        precondition(result.insertedCount == rows.count, "every row is new")
        try store.close()
        return seconds
    }

    /// Inserts each row as a commit of its own, from several threads; seconds until all are done.
    static func commit(_ rows: [Product], threads: Int, isDurable: Bool, at path: String) throws -> Double {
        var options = LogStoreOptions()
        options.durability = isDurable ? .full : .relaxed
        let store = try LogStore.open(at: path, schema: Schema(model), options: options)
        let columns = try Columns(store.schema)
        let start = ContinuousClock.now
        Threads.run(threads) { thread in
            for index in stride(from: thread, to: rows.count, by: threads) {
                let isDone = Counter()
                let request = BatchInsertRequest(entity: columns.entity) { row in
                    if isDone.value == 1 { return true }
                    isDone.value = 1
                    columns.fill(row, rows[index])
                    return false
                }
                let result = try? store.execute(request)
                precondition(result?.insertedCount == 1, "every row is new")
            }
        }
        let seconds = (ContinuousClock.now - start).seconds
        try store.close()
        return seconds
    }

    /// Inserts rows, or updates those whose serial code is stored, so many in a unit.
    static func write(_ rows: [Product], to store: LogStore, unit: Int) throws {
        let columns = try Columns(store.schema)
        for start in stride(from: 0, to: rows.count, by: unit) {
            let position = Counter()
            position.value = start
            let end = min(rows.count, start + unit)
            var request = BatchInsertRequest(entity: columns.entity) { row in
                let index = position.value
                if index == end { return true }
                position.value = index + 1
                columns.fill(row, rows[index])
                return false
            }
            request.mergePolicy = .overwrite
            _ = try store.execute(request)
        }
    }

    /// Opens a store and finds one row; seconds for both.
    static func open(_ key: String, at path: String) throws -> Double {
        let start = ContinuousClock.now
        let store = try LogStore.open(at: path)
        guard let product = store.schema.entity(named: "Product") else {
            preconditionFailure("the model has products")
        }
        var fetch = StoreFetch(
            entity: product.index, predicate: .compare("serialCode", .equal, .string(key)))
        fetch.includesRows = true
        let rows = try store.snapshot().fetch(fetch).rows
        let seconds = (ContinuousClock.now - start).seconds
        precondition(rows.count == 1, "the row is there")
        try store.close()
        return seconds
    }

    /// The typed columns of the entity.
    struct Columns: Sendable {
        let entity: SchemaEntity
        let serialCode: Column<String>
        let name: Column<String>
        let price: Column<Double>
        let quantity: Column<Int64>
        let updatedAt: Column<Double>
        let category: Column<String>
        let flag: Column<Bool>

        init(_ schema: Schema) throws {
            guard let product = schema.entity(named: "Product") else {
                preconditionFailure("the model has products")
            }
            entity = product
            serialCode = try product.column("serialCode", as: String.self)
            name = try product.column("name", as: String.self)
            price = try product.column("price", as: Double.self)
            quantity = try product.column("quantity", as: Int64.self)
            updatedAt = try product.column("updatedAt", as: Double.self)
            category = try product.column("category", as: String.self)
            flag = try product.column("flag", as: Bool.self)
        }

        @inline(__always)
        func fill(_ row: borrowing RowWriter, _ source: Product) {
            row[serialCode] = source.serialCode
            row[name] = source.name
            row[price] = source.price
            row[quantity] = source.quantity
            row[updatedAt] = source.updatedAt
            row[category] = source.category
            row[flag] = source.flag
        }
    }
}

/// A position that the rows' closure moves on; one thread at a time calls it.
final class Counter: @unchecked Sendable {
    // Used inside one batch insert alone, which calls its closure from one thread.
    private let storage = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    var value: Int {
        get { storage.pointee }
        set { storage.pointee = newValue }
    }
    init() { storage.initialize(to: 0) }
    deinit { storage.deallocate() }
}

extension Duration {
    /// The same as a number of seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
