// Cairn at engine level: the public requests of a store, with typed columns, and no objects.

import Cairn

final class CairnPeer: Peer {
    static let settings = """
        format version 1, default options: cache 256 MiB at most; full is the default durability, relaxed returns \
        when a commit is written; batch inserts by typed columns, fetches on one snapshot
        """

    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Product",
            attributes: [
                .init("serialCode", .string, optional: false), .init("name", .string),
                .init("price", .double), .init("quantity", .integer64), .init("updatedAt", .double),
                .init("category", .string), .init("flag", .boolean),
            ], uniquenessConstraints: [["serialCode"]]),
        EntityDescription(
            "Parent", attributes: [.init("number", .integer64)],
            relationships: [.init("children", to: "Child", toMany: true, inverse: "parent")]),
        EntityDescription(
            "Child", attributes: [.init("label", .string), .init("amount", .integer64)],
            relationships: [.init("parent", to: "Parent", inverse: "children")]),
    ])

    let store: LogStore
    private let columns: ProductColumns
    private let parents: Parents

    convenience init(at folder: String, durability: Durability) throws {
        try self.init(Self.open(folder, durability))
    }

    private init(_ store: LogStore) throws {
        self.store = store
        columns = try ProductColumns(store.schema)
        parents = Parents()
    }

    /// Opens the store that both levels work on.
    static func open(_ folder: String, _ durability: Durability) throws -> LogStore {
        var options = LogStoreOptions()
        options.durability = durability == .full ? .full : .relaxed
        return try LogStore.open(at: "\(folder)/store", schema: Schema(model), options: options)
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

    func deleteFlagged() throws -> Int {
        let flagged = fetch(.compare("flag", .equal, .boolean(true)))
        return try store.execute(BatchDeleteRequest(.fetch(flagged))).deletedCount
    }

    /// There is no batch update yet: what a program does instead is to read key and price of every row and
    /// to write them back with a batch that names only these.
    func multiplyPrices(by factor: Double) throws {
        let rows = try store.snapshot().fetch(fetch(includesRows: true)).rows
        let (columns, identity) = (columns, store.identity)
        let position = Counter(0)
        var request = BatchInsertRequest(entity: columns.entity) { target in
            let index = position.value
            if index == rows.count { return true }
            position.value = index + 1
            let cells = rows[index].cells
            target[columns.serialCode] =
                cells.value(columns.serialCode.index, of: columns.entity, in: identity).text
            target[columns.price] =
                cells.value(columns.price.index, of: columns.entity, in: identity).number * factor
            return false
        }
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        _ = try store.execute(request)
    }

    // MARK: Reading

    func find(_ key: String) throws -> Product? { try find(key, store.snapshot()) }

    /// A list of keys is not answered from the index yet, so it is a request a key, on one snapshot.
    func lookup(_ keys: [String], _ body: (Product) -> Void) throws {
        let snapshot = try store.snapshot()
        for key in keys { if let row = try find(key, snapshot) { body(row) } }
    }

    private func find(_ key: String, _ snapshot: any StoreSnapshot) throws -> Product? {
        let request = fetch(.compare("serialCode", .equal, .string(key)), includesRows: true)
        return try snapshot.fetch(request).rows.first.map(product)
    }

    func countMatches() throws -> Int { try store.snapshot().count(fetch(Self.filter)) }

    func matches(_ body: (Product) -> Void) throws {
        try each(fetch(Self.filter, includesRows: true), body)
    }

    func every(_ body: (Product) -> Void) throws { try each(fetch(includesRows: true), body) }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) throws {
        var request = fetch(
            .compare("serialCode", .greaterOrEqual, .string(key)), includesRows: true)
        request.sort = [SortKey("serialCode")]
        request.limit = limit
        try each(request, body)
    }

    /// There is no grouping yet: what a program does instead is to fetch, and to count in a dictionary.
    func groups(by text: ProductText) throws -> Groups {
        guard let column = columns.entity.columnIndex(named: text.rawValue) else {
            preconditionFailure("the entity has the attribute")
        }
        var counts: [String: Int] = [:]
        for row in try store.snapshot().fetch(fetch(includesRows: true)).rows {
            counts[
                row.cells.value(column, of: columns.entity, in: store.identity).text, default: 0] +=
                1
        }
        var groups = Groups()
        for count in counts.values { groups.add(count) }
        return groups
    }

    static let filter = PredicateNode.and([
        .compare("price", .less, .double(ProductFilter.priceBelow)),
        .compare("category", .equal, .string(ProductFilter.category)),
    ])

    private func fetch(_ predicate: PredicateNode? = nil, includesRows: Bool = false) -> StoreFetch
    {
        var fetch = StoreFetch(entity: columns.entity.index, predicate: predicate)
        fetch.includesRows = includesRows
        return fetch
    }

    private func each(_ request: StoreFetch, _ body: (Product) -> Void) throws {
        for row in try store.snapshot().fetch(request).rows { body(product(row)) }
    }

    private func product(_ row: Row) -> Product { columns.product(row, store.identity) }

    // MARK: Families

    /// Relationships are made by objects; batches have attributes alone.
    func insertFamilies(_ count: Int) throws {
        try CairnObjectPeer.insertFamilies(count, in: store)
    }

    func findParents() throws { try parents.find(in: store) }

    func children(of parents: [Int], _ body: (Child) -> Void) throws {
        guard let parent = store.schema.entity(named: "Parent"),
            let relationship = parent.relationshipIndex(named: "children"),
            let child = store.schema.entity(named: "Child"),
            let label = child.columnIndex(named: "label"),
            let amount = child.columnIndex(named: "amount")
        else { preconditionFailure("the model has families") }
        let (snapshot, ids) = (try store.snapshot(), self.parents.ids)
        for start in stride(from: 0, to: parents.count, by: 256) {
            let owners = parents[start..<min(start + 256, parents.count)].map { ids[$0] }
            let members = try snapshot.members(
                ofRelationship: relationship, entity: parent.index, owners: owners)
            for case let row? in try snapshot.rows(members.flatMap { $0 }) {
                body(
                    Child(
                        label: row.cells.value(label, of: child, in: store.identity).text,
                        amount: row.cells.value(amount, of: child, in: store.identity).integer))
            }
        }
    }
}
