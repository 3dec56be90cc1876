// Cairn under Core Data's names: the module CoreData, as an app that came over uses it.

import CoreData

final class CoreDataPeer: Peer, @unchecked Sendable {
    // A handle with its context is used by one thread at a time.

    static let settings = """
        as cairn, through the module CoreData: classes with @NSManaged properties in a context of a container, which has the model \
        in code; fetch requests with predicates of Foundation, every attribute of what is fetched is touched; upserts by the \
        merge policy NSMergeByPropertyObjectTrumpMergePolicy
        """

    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext
    private var parents: [NSManagedObjectID] = []

    convenience init(at folder: String, durability: Durability, indexes: Indexes) throws {
        let container = NSPersistentContainer(
            name: "Products", managedObjectModel: NamedProduct.model(with: indexes))
        let description = NSPersistentStoreDescription(
            url: URL(fileURLWithPath: "\(folder)/store"))
        if durability != .full {
            description.setValue("NORMAL" as NSString, forPragmaNamed: "synchronous")
        }
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        self.init(container)
    }

    private init(_ container: NSPersistentContainer) {
        self.container = container
        context = container.newBackgroundContext()
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    }

    func another() -> CoreDataPeer { CoreDataPeer(container) }

    func close() throws {
        context.performAndWait { context.reset() }
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: Writing

    func insert(_ rows: ArraySlice<Product>) throws { try write(rows) }

    func upsert(_ rows: ArraySlice<Product>) throws { try write(rows) }

    private func write(_ rows: ArraySlice<Product>) throws {
        try context.performAndWait {
            for row in rows { NamedProduct(context: context).fill(row) }
            try context.save()
        }
    }

    func deleteFlagged() throws -> Int {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Product")
        request.predicate = NSPredicate(format: "flag == true")
        let delete = NSBatchDeleteRequest(fetchRequest: request)
        delete.resultType = .resultTypeCount
        return try context.performAndWait {
            (try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int ?? 0
        }
    }

    func multiplyPrices(by factor: Double) throws {
        throw NotOffered(reason: "batch updates set values that the program has computed")
    }

    // MARK: Reading

    private func request(_ predicate: NSPredicate? = nil) -> NSFetchRequest<NamedProduct> {
        let request = NSFetchRequest<NamedProduct>(entityName: "Product")
        request.predicate = predicate
        return request
    }

    private func each(_ request: NSFetchRequest<NamedProduct>, _ body: (Product) -> Void) throws {
        try context.performAndWait {
            for product in try context.fetch(request) { body(product.product) }
        }
    }

    func find(_ key: String) throws -> Product? {
        try context.performAndWait {
            try context.fetch(request(NSPredicate(format: "serialCode == %@", key))).first?.product
        }
    }

    func lookup(_ keys: [String], _ body: (Product) -> Void) throws {
        throw NotOffered(reason: "objects are fetched with one request per key")
    }

    private var filter: NSPredicate {
        NSPredicate(
            format: "price < %lf AND category == %@", ProductFilter.priceBelow,
            ProductFilter.category)
    }

    func countMatches() throws -> Int {
        try context.performAndWait { try context.count(for: request(filter)) }
    }

    func matches(_ body: (Product) -> Void) throws { try each(request(filter), body) }

    func every(_ body: (Product) -> Void) throws { try each(request(), body) }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) throws {
        let request = request(NSPredicate(format: "serialCode >= %@", key))
        request.sortDescriptors = [NSSortDescriptor(key: "serialCode", ascending: true)]
        request.fetchLimit = limit
        try each(request, body)
    }

    func among(_ keys: [String], _ body: (Product) -> Void) throws {
        try each(request(NSPredicate(format: "serialCode IN %@", keys)), body)
    }

    func groups(by text: ProductText) throws -> Groups {
        throw NotOffered(reason: "grouping is measured at the object level")
    }

    // MARK: Families

    func insertFamilies(_ count: Int) throws {
        for start in stride(from: 0, to: count, by: 1000) {
            let context = container.newBackgroundContext()
            try context.performAndWait {
                for number in start..<min(start + 1000, count) {
                    let parent = NamedParent(context: context)
                    parent.number = Int64(number)
                    for child in Family.children(of: number) {
                        let item = NamedChild(context: context)
                        item.label = child.label
                        item.amount = child.amount
                        item.parent = parent
                    }
                }
                try context.save()
            }
        }
    }

    func findParents() throws {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Parent")
        request.resultType = .managedObjectIDResultType
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        parents = try context.performAndWait { try context.fetch(request) }
    }

    func children(of parents: [Int], _ body: (Child) -> Void) throws {
        context.performAndWait {
            for number in parents {
                guard let parent = context.object(with: self.parents[number]) as? NamedParent else {
                    preconditionFailure("the id is a parent's")
                }
                for case let child as NamedChild in parent.children ?? NSSet() {
                    body(Child(label: child.label, amount: child.amount))
                }
            }
        }
    }
}
