// Cairn at engine level: the public requests of a store, with typed columns, and no objects.

import Cairn

final class CairnPeer: Peer {
    static let settings = """
        format version 1, default options: cache 1 GiB at most, blocks in mapped files, a thread for each core to \
        scan and to look up many keys; full is the default durability, relaxed returns when a commit is written; \
        batch inserts, lookups and reading by typed columns; for ycsb-e an index on the unique key, which has no \
        order by itself
        """

    static let model = ManagedObjectModel(for: Item.self, ParentItem.self)

    /// The same with the indexes that only some workloads are about.
    private static func model(with indexes: Indexes) -> ManagedObjectModel {
        var model = CairnPeer.model
        let names: [String] =
            switch indexes {
            case .keys: []
            case .orderedKeys: ["serialCode"]
            case .columns: ["price", "updatedAt"]
            }
        for index in model.entities.indices where model.entities[index].name == "Product" {
            for name in names {
                model.entities[index].indexes.append(
                    FetchIndexDescription("by_\(name)", elements: [.init(name)]))
            }
        }
        return model
    }

    let store: LogStore
    private let columns: ProductColumns
    private let parents: Parents

    convenience init(at folder: String, durability: Durability, indexes: Indexes) throws {
        try self.init(Self.open(folder, durability, indexes: indexes))
    }

    init(_ store: LogStore) throws {
        self.store = store
        columns = try ProductColumns(store.schema)
        parents = Parents()
    }

    /// Opens the store that both levels work on.
    ///
    /// - Parameter cacheBytes: what blocks in memory may take; nil: what the store takes by itself.
    static func open(
        _ folder: String, _ durability: Durability, indexes: Indexes = .keys,
        cacheBytes: Int? = nil
    ) throws -> LogStore {
        var options = LogStoreOptions()
        options.cacheBytes = cacheBytes
        options.durability = durability == .full ? .full : .relaxed
        let schema = try Schema(model(with: indexes))
        return try LogStore.open(at: "\(folder)/store", schema: schema, options: options)
    }

    // A store is used by any number of threads.
    func another() throws -> CairnPeer { try CairnPeer(store) }
    func close() throws { try store.close() }

    // MARK: Writing

    func insert(_ rows: ArraySlice<Product>) throws {
        let result = try store.execute(request(rows))
        precondition(result.insertedCount == rows.count, "every row is new")
    }

    func insert(dictionaries: [[String: Any]]) throws {
        let request = BatchInsertRequest(entityName: "Product", objects: dictionaries)
        let result = try store.execute(request)
        precondition(result.insertedCount == dictionaries.count, "every row is new")
    }

    func upsert(_ rows: ArraySlice<Product>) throws {
        var request = request(rows)
        request.mergePolicy = .overwrite
        _ = try store.execute(request)
    }

    private func request(_ rows: ArraySlice<Product>) -> BatchInsertRequest {
        let position = Counter(rows.startIndex)
        let columns = columns
        return BatchInsertRequest(entity: columns.entity) { row in
            let index = position.value
            if index == rows.endIndex { return true }
            position.value = index + 1
            columns.fill(row, rows[index])
            return false
        }
    }

    func synchronize(_ list: [Product]) throws -> ListChanges {
        var request = request(list[...])
        request.mergePolicy = .overwrite
        request.prunesMissing = true
        let result = try store.execute(request)
        return ListChanges(
            inserted: result.insertedCount, updated: result.updatedCount,
            deleted: result.deletedCount)
    }

    func deleteFlagged() throws -> Int {
        let flagged = fetch(.compare("flag", .equal, .boolean(true)))
        return try store.execute(BatchDeleteRequest(.fetch(flagged))).deletedCount
    }

    func multiplyPrices(by factor: Double) throws {
        var update = BatchUpdateRequest(entityName: "Product")
        update.propertiesToUpdate = [
            "price": .expression(
                .function(.multiply, [.keyPath("price"), .constant(.double(factor))]))
        ]
        _ = try store.execute(update)
    }

    // MARK: Reading

    /// A fetch, as it is the cheapest request for one row: buffers for columns pay from a few keys on.
    func find(_ key: String) throws -> Product? {
        var request = fetch(.compare("serialCode", .equal, .string(key)))
        request.includesRows = true
        return try store.snapshot().fetch(request).rows.first.map {
            columns.product($0, store.identity)
        }
    }

    func lookup(_ keys: [String], _ body: (Product) -> Void) throws {
        let request = StoreLookup(columns.entity, by: ColumnSet(columns.serialCode))
        try store.snapshot().lookUp(request, columns.serialCode, keys) { body(columns.product($0)) }
    }

    func countMatches() throws -> Int { try store.snapshot().count(fetch(Self.filter)) }

    func matches(_ body: (Product) -> Void) throws { try each(read(Self.filter), body) }

    func every(_ body: (Product) -> Void) throws { try each(read(), body) }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) throws {
        var request = read(.compare("serialCode", .greaterOrEqual, .string(key)))
        request.fetch.sort = [SortKey("serialCode")]
        request.fetch.limit = limit
        try each(request, body)
    }

    // MARK: Through indexes

    func top(_ count: Int, _ order: ProductOrder, _ body: (Product) -> Void) throws {
        var request = read()
        request.fetch.sort = [order.sortKey]
        request.fetch.limit = count
        try each(request, body)
    }

    func priced(_ prices: Range<Double>, _ body: (Product) -> Void) throws {
        try each(read(Self.priced(prices)), body)
    }

    static func priced(_ prices: Range<Double>) -> PredicateNode {
        .and([
            .compare("price", .greaterOrEqual, .double(prices.lowerBound)),
            .compare("price", .less, .double(prices.upperBound)),
        ])
    }

    func among(_ keys: [String], _ body: (Product) -> Void) throws {
        try each(read(Self.among(keys)), body)
    }

    static func among(_ keys: [String]) -> PredicateNode {
        .compare(.keyPath("serialCode"), .in, .list(keys.map { .string($0) }))
    }

    func groups(by text: ProductText) throws -> Groups {
        let count = ExpressionNode.function(.count, [.evaluatedObject])
        // The sizes alone, as the other peers are asked.
        var terms = TableTerms(columns: [.init("count", count)])
        terms.groupBy = [.keyPath(text.rawValue)]
        terms.having = .compare(count, .greater, .constant(.integer(1)))
        let fetch = StoreFetch(entity: columns.entity.index)
        var groups = Groups()
        for row in try store.snapshot().table(StoreTableFetch(fetch, terms)).rows {
            if case .integer(let size) = row[0] { groups.add(Int(size)) }
        }
        return groups
    }

    static let filter = PredicateNode.and([
        .compare("price", .less, .double(ProductFilter.priceBelow)),
        .compare("category", .equal, .string(ProductFilter.category)),
    ])

    private func fetch(_ predicate: PredicateNode) -> StoreFetch {
        StoreFetch(entity: columns.entity.index, predicate: predicate)
    }

    private func read(_ predicate: PredicateNode? = nil) -> StoreRead {
        StoreRead(columns.entity, where: predicate)
    }

    private func each(_ request: StoreRead, _ body: (Product) -> Void) throws {
        try store.snapshot().read(request) { body(columns.product($0)) }
    }

    // MARK: Families

    /// Relationships are made by objects; batches have attributes alone.
    func insertFamilies(_ count: Int) throws {
        try CairnObjectPeer.insertFamilies(count, in: store)
    }

    func findParents() throws { try parents.find(in: store) }

    func children(of parents: [Int], _ body: (Child) -> Void) throws {
        guard let parent = store.schema.entity(named: "Parent"),
            let child = store.schema.entity(named: "Child")
        else { preconditionFailure("the model has families") }
        let label = try child.column("label", as: String.self)
        let amount = try child.column("amount", as: Int64.self)
        let request = try StoreRelated(
            parent, "children", in: store.schema, columns: ColumnSet(label, amount))
        let (snapshot, ids) = (try store.snapshot(), self.parents.ids)
        try snapshot.read(request, of: parents.map { ids[$0] }) { row in
            body(Child(label: row[label], amount: row[amount]))
        }
    }
}

extension ProductOrder {
    var sortKey: SortKey {
        switch self {
        case .newest: SortKey("updatedAt", ascending: false)
        case .cheapest: SortKey("price")
        }
    }
}
