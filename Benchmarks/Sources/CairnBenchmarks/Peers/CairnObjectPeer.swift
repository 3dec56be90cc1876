// Cairn at object level: objects of typed classes in a context, as a program's author writes it.

import Cairn

final class CairnObjectPeer: Peer, @unchecked Sendable {
    // A handle with its context is used by one thread at a time.

    static let settings = """
        as cairn, through objects of typed classes in a context; a fetch request for each key, every attribute of \
        what is fetched is touched, upserts by the merge policy mergeByPropertyObjectTrump; many objects at once are deleted, \
        updated and synchronized by typed batch requests of the context
        """

    private static let classes = ObjectClasses(for: Item.self, ParentItem.self)

    private let store: LogStore
    private let context: ManagedObjectContext
    private let parents = Parents()

    convenience init(at folder: String, durability: Durability, indexes: Indexes) throws {
        self.init(try CairnPeer.open(folder, durability, indexes: indexes))
    }

    private init(_ store: LogStore) {
        self.store = store
        context = ManagedObjectContext(store: store, classes: Self.classes)
        context.mergePolicy = .mergeByPropertyObjectTrump
    }

    func another() -> CairnObjectPeer { CairnObjectPeer(store) }

    func close() throws {
        context.reset()
        try store.close()
    }

    // MARK: Writing

    func insert(_ rows: ArraySlice<Product>) throws {
        context.mergePolicy = .error
        try write(rows)
        context.mergePolicy = .mergeByPropertyObjectTrump
    }

    func upsert(_ rows: ArraySlice<Product>) throws { try write(rows) }

    private func write(_ rows: ArraySlice<Product>) throws {
        for row in rows { Item(context: context).fill(row) }
        try context.save()
    }

    func insert(dictionaries: [[String: Any]]) throws {
        for dictionary in dictionaries {
            let item = Item(context: context)
            for (key, value) in dictionary { item[key] = value }
        }
        try context.save()
    }

    func synchronize(_ list: [Product]) throws -> ListChanges {
        var request = BatchInsertRequest(Item.self, from: list) { row, product in
            row.serialCode = product.serialCode
            row.name = product.name
            row.price = product.price
            row.quantity = product.quantity
            row.updatedAt = product.updatedAt
            row.category = product.category
            row.flag = product.flag
        }
        .deletingMissing()
        request.mergePolicy = .overwrite
        let result = try context.execute(request)
        return ListChanges(
            inserted: result.insertedCount, updated: result.updatedCount,
            deleted: result.deletedCount)
    }

    func deleteFlagged() throws -> Int {
        try context.execute(BatchDeleteRequest(Item.self, where: #Predicate { $0.flag }))
            .deletedCount
    }

    func multiplyPrices(by factor: Double) throws {
        let update = BatchUpdateRequest(Item.self)
            .set(\Item.price, to: #Expression<Item, Double> { $0.price * factor })
        _ = try context.execute(update)
    }

    // MARK: Reading

    func find(_ key: String) throws -> Product? {
        let request = FetchRequest<Item>(predicate: .compare("serialCode", .equal, .string(key)))
        return try context.fetch(request).first?.product
    }

    func findByPredicate(_ key: String) throws -> Product? {
        let request = try FetchRequest<Item>(#Predicate { $0.serialCode == key })
        return try context.fetch(request).first?.product
    }

    func lookup(_ keys: [String], _ body: (Product) -> Void) throws {
        throw NotOffered(reason: "objects are fetched with one request per key")
    }

    func countMatches() throws -> Int {
        try context.count(for: FetchRequest<Item>(predicate: CairnPeer.filter))
    }

    func matches(_ body: (Product) -> Void) throws {
        for item in try context.fetch(FetchRequest<Item>(predicate: CairnPeer.filter)) {
            body(item.product)
        }
    }

    func every(_ body: (Product) -> Void) throws {
        for item in try context.fetch(FetchRequest<Item>()) { body(item.product) }
    }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) throws {
        var request = FetchRequest<Item>(
            predicate: .compare("serialCode", .greaterOrEqual, .string(key)),
            sortBy: [SortKey(\Item.serialCode)])
        request.fetchLimit = limit
        for item in try context.fetch(request) { body(item.product) }
    }

    // MARK: Through indexes

    func top(_ count: Int, _ order: ProductOrder, _ body: (Product) -> Void) throws {
        var request = FetchRequest<Item>(sortBy: [order.sortKey])
        request.fetchLimit = count
        for item in try context.fetch(request) { body(item.product) }
    }

    func priced(_ prices: Range<Double>, _ body: (Product) -> Void) throws {
        let request = FetchRequest<Item>(predicate: CairnPeer.priced(prices))
        for item in try context.fetch(request) { body(item.product) }
    }

    func among(_ keys: [String], _ body: (Product) -> Void) throws {
        let request = FetchRequest<Item>(predicate: CairnPeer.among(keys))
        for item in try context.fetch(request) { body(item.product) }
    }

    func groups(by text: ProductText) throws -> Groups {
        let count = ExpressionDescription(
            "count", expression: .function(.count, [.evaluatedObject]))
        var request = FetchRequest<DictionaryResult>(entityName: "Product")
        request.propertiesToFetch = [.expression(count)]
        request.propertiesToGroupBy = [.property(text.rawValue)]
        request.havingPredicate = .compare(count.expression, .greater, .constant(.integer(1)))
        var groups = Groups()
        for row in try context.fetch(request) {
            if case .integer(let size) = row.value("count") { groups.add(Int(size)) }
        }
        return groups
    }

    func hold(withValues: Bool, _ body: () throws -> Void) throws {
        let items = try context.fetch(FetchRequest<Item>())
        for item in items {
            if withValues { _ = item.product } else { context.refresh(item, mergeChanges: false) }
        }
        try withExtendedLifetime(items, body)
    }

    func follow(_ body: (any FollowingList) throws -> Void) throws {
        let other = ManagedObjectContext(store: store, classes: Self.classes)
        try body(try CairnList(context, other))
    }

    // MARK: Families

    func insertFamilies(_ count: Int) throws { try Self.insertFamilies(count, in: store) }

    /// Parents with their children, a thousand families a save.
    static func insertFamilies(_ count: Int, in store: LogStore) throws {
        for start in stride(from: 0, to: count, by: 1000) {
            let context = ManagedObjectContext(store: store, classes: classes)
            for number in start..<min(start + 1000, count) {
                let parent = ParentItem(context: context)
                parent.number = number
                for child in Family.children(of: number) {
                    let item = ChildItem(context: context)
                    item.label = child.label
                    item.amount = child.amount
                    item.parent = parent
                }
            }
            try context.save()
        }
    }

    func findParents() throws { try parents.find(in: store) }

    func children(of parents: [Int], _ body: (Child) -> Void) throws {
        let ids = self.parents.ids
        for number in parents {
            guard let parent = context.object(with: ids[number]) as? ParentItem else {
                preconditionFailure("the id is a parent's")
            }
            for child in parent.children { body(Child(label: child.label, amount: child.amount)) }
        }
    }
}
