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
        let schema = try Schema(model)
        let store = try LogStore.open(at: path, schema: schema)
        guard let product = schema.entity(named: "Product") else { return 0 }
        let serialCode = try product.column("serialCode", as: String.self)
        let name = try product.column("name", as: String.self)
        let price = try product.column("price", as: Double.self)
        let quantity = try product.column("quantity", as: Int64.self)
        let updatedAt = try product.column("updatedAt", as: Double.self)
        let category = try product.column("category", as: String.self)
        let flag = try product.column("flag", as: Bool.self)
        let position = Counter()
        let start = ContinuousClock.now
        let request = BatchInsertRequest(entity: product) { row in
            let index = position.value
            if index == rows.count { return true }
            position.value = index + 1
            let source = rows[index]
            row[serialCode] = source.serialCode
            row[name] = source.name
            row[price] = source.price
            row[quantity] = source.quantity
            row[updatedAt] = source.updatedAt
            row[category] = source.category
            row[flag] = source.flag
            return false
        }
        let result = try store.execute(request)
        let seconds = (ContinuousClock.now - start).seconds
        precondition(result.insertedCount == rows.count, "every row is new")
        try store.close()
        return seconds
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
