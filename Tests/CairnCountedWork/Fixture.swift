// The store and the rows of the counted work.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore

/// A store of products, and what is done with it.
final class Fixture {
    private static let rows = 10_000
    private let path: String
    private var store: LogStore
    private let entity: SchemaEntity
    private let columns: Columns
    private let serials = (0..<rows).map { serial($0) }
    private let names = (0..<rows).map { "anchor basalt cobble \($0 & 4095)" }
    private let categories = (0..<50).map { "category-\($0)" }

    private struct Columns {
        let serialCode: Column<String>
        let name: Column<String>
        let price: Column<Double>
        let quantity: Column<Int64>
        let category: Column<String?>
        let flag: Column<Bool>
    }

    private static let model = ManagedObjectModel(for: Product.self)

    private static func open(_ path: String) throws -> LogStore {
        var options = LogStoreOptions()
        // Waiting for the disk is no work.
        options.durability = .relaxed
        return try LogStore.open(at: path, schema: Schema(model), options: options)
    }

    init(folder: String) throws {
        path = folder + "/counted.cairn"
        store = try Self.open(path)
        entity = store.schema.entities[0]
        columns = Columns(
            serialCode: try entity.column("serialCode", as: String.self),
            name: try entity.column("name", as: String.self),
            price: try entity.column("price", as: Double.self),
            quantity: try entity.column("quantity", as: Int64.self),
            category: try entity.column("category", as: String?.self),
            flag: try entity.column("flag", as: Bool.self))
    }

    func close() throws { try store.close() }

    /// Twelve or thirteen characters that look random and occur once.
    private static func serial(_ index: Int) -> String {
        let noise = UInt64(index + 1) &* 0x9E37_79B9_7F4A_7C15
        return String(noise >> 28 | 1 << 35, radix: 32).prefix(7) + String(index + 100_000)
    }

    // MARK: Rows

    /// Rows, filled column by column, as one unit.
    private func request(raising price: Double, _ range: Range<Int>) -> BatchInsertRequest {
        let (columns, serials, names, categories) = (columns, serials, names, categories)
        let next = Position(range.lowerBound)
        return BatchInsertRequest(entity: entity) { row in
            let index = next.value
            if index == range.upperBound { return true }
            next.value += 1
            row[columns.serialCode] = serials[index]
            row[columns.name] = names[index]
            row[columns.price] = Double(index) + price
            row[columns.quantity] = Int64(index & 1023)
            row[columns.category] = categories[index % 50]
            row[columns.flag] = index & 1 == 0
            return false
        }
    }

    /// Counts the rows that were given.
    private final class Position: @unchecked Sendable {
        // Used by the thread that carries the request out.
        var value: Int

        init(_ value: Int) { self.value = value }
    }

    func fill() throws { try insert() }

    /// Opens the store with a model that declares a fetch index.
    func index() throws {
        try store.close()
        var model = Self.model
        model.entities[0].indexes = [
            FetchIndexDescription(
                "byCategory", elements: [.init("category"), .init("price")]),
            FetchIndexDescription("byPrice", elements: [.init("price")]),
        ]
        var options = LogStoreOptions()
        options.durability = .relaxed
        // Work of helpers is not counted.
        options.scanThreads = 1
        store = try LogStore.open(at: path, schema: Schema(model), options: options)
        // What is read for the first time is read here.
        try query()
    }

    func insert() throws {
        let result = try store.execute(request(raising: 0, 0..<Self.rows))
        precondition(result.insertedCount == Self.rows, "every row is new")
    }

    func upsert() throws {
        var request = request(raising: 0.5, 0..<Self.rows)
        request.mergePolicy = .overwrite
        let result = try store.execute(request)
        precondition(result.updatedCount == Self.rows, "every row changes")
    }

    func delete() throws {
        let flagged = StoreFetch(
            entity: entity.index, predicate: .compare("flag", .equal, .boolean(true)))
        let result = try store.execute(BatchDeleteRequest(.fetch(flagged)))
        precondition(result.deletedCount == Self.rows / 2, "every second row has the flag")
    }

    func commits() throws {
        for index in 0..<500 { _ = try store.execute(request(raising: 0, index..<index + 1)) }
    }

    func lookUp() throws {
        let lookup = StoreLookup(entity, by: ColumnSet(columns.serialCode))
        var sum = 0.0
        try store.snapshot().lookUp(lookup, columns.serialCode, serials) { row in
            sum += row[columns.price]
        }
        precondition(sum == Self.sum, "every row is found")
    }

    func filter() throws {
        let fetch = StoreFetch(
            entity: entity.index,
            predicate: .and([
                .compare("price", .less, .double(5000)),
                .compare("category", .equal, .string("category-7")),
            ]))
        let snapshot = try store.snapshot()
        for _ in 0..<20 {
            let count = try snapshot.count(fetch)
            precondition(count == 100, "every fiftieth of the first half matches")
        }
    }

    /// Counts and first rows by two conditions that an index answers: hardly more than planning.
    func query() throws {
        let snapshot = try store.snapshot()
        var found = 0
        for index in 0..<500 {
            var fetch = StoreFetch(
                entity: entity.index,
                predicate: .and([
                    .compare("category", .equal, .string(categories[index % 50])),
                    .compare("price", .greaterOrEqual, .double(Double(index * 10))),
                ]))
            let count = try snapshot.count(fetch)
            fetch.sort = [SortKey("price")]
            fetch.limit = 5
            let first = try snapshot.fetch(fetch).ids
            precondition(first.count == 5 && count >= 100, "half of a category is left, or more")
            found += count
        }
        precondition(found > 50_000, "a category has 200 rows")
    }

    func scan() throws {
        var (sum, length) = (0.0, 0)
        try store.snapshot().read(StoreRead(entity)) { row in
            sum += row[columns.price]
            length += row[columns.name].utf8.count + Int(row[columns.quantity])
            length += (row[columns.category]?.utf8.count ?? 0) + (row[columns.flag] ? 1 : 0)
        }
        precondition(sum == Self.sum && length > 0, "every row is read")
    }

    func open() throws {
        try store.close()
        store = try Self.open(path)
        let fetch = StoreFetch(
            entity: entity.index, predicate: .compare("serialCode", .equal, .string(serials[77])))
        let count = try store.snapshot().count(fetch)
        precondition(count == 1, "the row is there")
    }

    // MARK: Objects

    /// A quarter of the rows as objects.
    private static let objects = rows / 4
    /// The prices of all rows.
    private static let sum = Double(rows * (rows - 1) / 2)

    private func context() -> ManagedObjectContext {
        ManagedObjectContext(store: store, classes: ObjectClasses(for: Product.self))
    }

    func saveObjects() throws {
        let context = context()
        for index in 0..<Self.objects {
            let product = Product(context: context)
            product.serialCode = serials[index]
            product.name = names[index]
            product.price = Double(index)
            product.quantity = index & 1023
            product.category = categories[index % 50]
            product.flag = index & 1 == 0
        }
        try context.save()
    }

    func changeObjects() throws {
        let context = context()
        var request = FetchRequest<Product>()
        request.predicate = .compare("quantity", .less, .integer(250))
        for product in try context.fetch(request) { product.price += 0.5 }
        try context.save()
    }

    func fetchByKey() throws {
        let context = context()
        var request = FetchRequest<Product>()
        for index in 0..<Self.objects {
            request.predicate = .compare("serialCode", .equal, .string(serials[index * 3]))
            let found = try context.fetch(request)
            precondition(found[0].price == Double(index * 3), "every key is there")
        }
    }

    func allObjects() throws {
        var (sum, length) = (0.0, 0)
        for product in try context().fetch(FetchRequest<Product>()) {
            sum += product.price
            length += product.serialCode.utf8.count + product.name.utf8.count + product.quantity
            length += (product.category?.utf8.count ?? 0) + (product.flag ? 1 : 0)
        }
        precondition(sum == Self.sum && length > 0, "every object is read")
    }

    func saveByName() throws {
        let context = ManagedObjectContext(store: store)
        for index in 0..<Self.objects {
            let product = context.insert("Product")
            product["serialCode"] = serials[index]
            product["name"] = names[index]
            product["price"] = Double(index)
            product["quantity"] = index & 1023
            product["category"] = categories[index % 50]
            product["flag"] = index & 1 == 0
        }
        try context.save()
    }

    func allByName() throws {
        let context = ManagedObjectContext(store: store)
        var sum = 0.0
        for product in try context.fetch(FetchRequest(entityName: "Product")) {
            sum += product["price"] as? Double ?? 0
        }
        precondition(sum == Self.sum, "every object is read")
    }
}
