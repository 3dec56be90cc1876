// Cairn at object level: managed objects in a context, as a program's author writes it.

import Cairn

final class CairnObjectPeer: Peer, @unchecked Sendable {
    // A handle with its context is used by one thread at a time.

    static let settings = """
        as cairn, through managed objects in a context (untyped keys); a fetch request for each key, every attribute \
        of what is fetched is touched, upserts by the merge policy mergeByPropertyObjectTrump
        """

    private let store: LogStore
    private let context: ManagedObjectContext
    private let parents = Parents()

    convenience init(at folder: String, durability: Durability) throws {
        self.init(try CairnPeer.open(folder, durability))
    }

    private init(_ store: LogStore) {
        self.store = store
        context = ManagedObjectContext(store: store)
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
        for row in rows {
            let object = context.insert("Product")
            object["serialCode"] = row.serialCode
            object["name"] = row.name
            object["price"] = row.price
            object["quantity"] = row.quantity
            object["updatedAt"] = row.updatedAt
            object["category"] = row.category
            object["flag"] = row.flag
        }
        try context.save()
    }

    func insert(dictionaries: [[String: Any]]) throws {
        for dictionary in dictionaries {
            let object = context.insert("Product")
            for (key, value) in dictionary { object[key] = value }
        }
        try context.save()
    }

    func deleteFlagged() throws -> Int {
        let objects = try context.fetch(
            FetchRequest(
                entityName: "Product", predicate: .compare("flag", .equal, .boolean(true))))
        for object in objects { context.delete(object) }
        try context.save()
        return objects.count
    }

    func multiplyPrices(by factor: Double) throws {
        for object in try context.fetch(FetchRequest(entityName: "Product")) {
            object["price"] = (object["price"] as? Double ?? 0) * factor
        }
        try context.save()
    }

    // MARK: Reading

    func find(_ key: String) throws -> Product? {
        let request = FetchRequest(
            entityName: "Product", predicate: .compare("serialCode", .equal, .string(key)))
        return try context.fetch(request).first.map(touch)
    }

    func lookup(_ keys: [String], _ body: (Product) -> Void) throws {
        throw NotOffered(reason: "objects are fetched by a request a key")
    }

    func countMatches() throws -> Int {
        try context.count(for: FetchRequest(entityName: "Product", predicate: CairnPeer.filter))
    }

    func matches(_ body: (Product) -> Void) throws {
        let request = FetchRequest(entityName: "Product", predicate: CairnPeer.filter)
        for object in try context.fetch(request) { body(touch(object)) }
    }

    func every(_ body: (Product) -> Void) throws {
        for object in try context.fetch(FetchRequest(entityName: "Product")) { body(touch(object)) }
    }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) throws {
        var request = FetchRequest(
            entityName: "Product", predicate: .compare("serialCode", .greaterOrEqual, .string(key)))
        request.sortDescriptors = [SortKey("serialCode")]
        request.fetchLimit = limit
        for object in try context.fetch(request) { body(touch(object)) }
    }

    func groups(by text: ProductText) throws -> Groups {
        var counts: [String: Int] = [:]
        for object in try context.fetch(FetchRequest(entityName: "Product")) {
            counts[object[text.rawValue] as? String ?? "", default: 0] += 1
        }
        var groups = Groups()
        for count in counts.values { groups.add(count) }
        return groups
    }

    /// Every attribute of an object.
    private func touch(_ object: ManagedObject) -> Product {
        Product(
            serialCode: object["serialCode"] as? String ?? "",
            name: object["name"] as? String ?? "", price: object["price"] as? Double ?? 0,
            quantity: Int64(object["quantity"] as? Int ?? 0),
            updatedAt: object["updatedAt"] as? Double ?? 0,
            category: object["category"] as? String ?? "", flag: object["flag"] as? Bool ?? false)
    }

    func hold(withValues: Bool, _ body: () throws -> Void) throws {
        let objects = try context.fetch(FetchRequest(entityName: "Product"))
        if withValues { for object in objects { _ = touch(object) } }
        if !withValues { for object in objects { context.refresh(object, mergeChanges: false) } }
        try withExtendedLifetime(objects, body)
    }

    // MARK: Families

    func insertFamilies(_ count: Int) throws { try Self.insertFamilies(count, in: store) }

    /// Parents with their children, a thousand families a save.
    static func insertFamilies(_ count: Int, in store: LogStore) throws {
        for start in stride(from: 0, to: count, by: 1000) {
            let context = ManagedObjectContext(store: store)
            for number in start..<min(start + 1000, count) {
                let parent = context.insert("Parent")
                parent["number"] = number
                for child in Family.children(of: number) {
                    let object = context.insert("Child")
                    object["label"] = child.label
                    object["amount"] = child.amount
                    object["parent"] = parent
                }
            }
            try context.save()
        }
    }

    func findParents() throws { try parents.find(in: store) }

    func children(of parents: [Int], _ body: (Child) -> Void) throws {
        let ids = self.parents.ids
        for parent in parents {
            let object = context.object(with: ids[parent])
            for child in object["children"] as? Set<ManagedObject> ?? [] {
                body(
                    Child(
                        label: child["label"] as? String ?? "",
                        amount: Int64(child["amount"] as? Int ?? 0)))
            }
        }
    }
}
