// The typed columns of the entity, and what a program needs to fill and to read them.

import Cairn
import Synchronization

/// The columns of products.
struct ProductColumns: Sendable {
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

    /// The row as a struct.
    @inline(__always)
    func product(_ row: borrowing RowView) -> Product {
        Product(
            serialCode: row[serialCode], name: row[name], price: row[price],
            quantity: row[quantity], updatedAt: row[updatedAt], category: row[category],
            flag: row[flag])
    }

    /// The same of a row that was fetched.
    func product(_ row: Row, _ identity: StoreIdentity) -> Product {
        func value(_ column: Int) -> Value { row.cells.value(column, of: entity, in: identity) }
        return Product(
            serialCode: value(serialCode.index).text, name: value(name.index).text,
            price: value(price.index).number, quantity: value(quantity.index).integer,
            updatedAt: value(updatedAt.index).number, category: value(category.index).text,
            flag: value(flag.index) == .boolean(true))
    }

    /// A column of text.
    func text(_ text: ProductText) -> Column<String> {
        switch text {
        case .category: category
        case .serialCode: serialCode
        case .name: name
        }
    }
}

extension Value {
    var text: String { if case .string(let text) = self { text } else { "" } }
    var number: Double { if case .double(let number) = self { number } else { 0 } }
    var integer: Int64 { if case .integer(let integer) = self { integer } else { 0 } }
}

/// The ids of parents by their numbers, found once.
final class Parents: Sendable {
    private let found = Mutex<[ObjectID]>([])

    var ids: [ObjectID] { found.withLock { $0 } }

    func find(in store: LogStore) throws {
        guard let parent = store.schema.entity(named: "Parent") else {
            preconditionFailure("the model has parents")
        }
        var fetch = StoreFetch(entity: parent.index)
        fetch.sort = [SortKey("number")]
        let ids = try store.snapshot().fetch(fetch).ids
        found.withLock { $0 = ids }
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
    init(_ value: Int) { storage.initialize(to: value) }
    deinit { storage.deallocate() }
}
