// Contexts and batch requests that change a store, and lists that follow.
//
// Random edits, saves, undos, rollbacks, merges and batches go on in three contexts at once. Two of them have controllers of
// many kinds, each with a delegate that keeps a copy of the list by what it is told. Whenever a context has told all that it
// knows, each list must be what a fetch gives, and each copy what the list is.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Random lists that follow")
struct RandomFollowingTests {
    private typealias Copy = ListCopy<ManagedObject>

    private final class Worker {
        let context: ManagedObjectContext
        var lists: [(name: String, copy: Copy)] = []

        init(_ context: ManagedObjectContext) {
            self.context = context
            context.automaticallyMergesChangesFromParent = true
        }

        func add(
            _ name: String, _ sort: [SortKey], section: String? = nil, batch: Int = 0,
            _ prepare: (inout FetchRequest<ManagedObject>) -> Void = { _ in }
        ) throws {
            try add(name, "Product", nil, sort, section: section, batch: batch, prepare)
        }

        func add(
            _ name: String, _ entity: String, _ format: String?, _ sort: [SortKey],
            section: String? = nil, batch: Int = 0,
            _ prepare: (inout FetchRequest<ManagedObject>) -> Void = { _ in }
        ) throws {
            var request = FetchRequest(entityName: entity)
            if let format { request.predicate = try PredicateNode(format: format) }
            request.sortDescriptors = sort
            request.fetchBatchSize = batch
            prepare(&request)
            let controller = FetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section)
            lists.append((name, try Copy(controller)))
        }
    }

    private func lists(_ worker: Worker) throws {
        try worker.add("all", [SortKey("name")])
        try worker.add("no order", [])
        try worker.add(
            "notes", [SortKey("note"), SortKey("price", ascending: false)], section: "note")
        try worker.add(
            "folded", "Product", "price > 2",
            [SortKey("stock", ascending: false), SortKey("name", comparison: .caseInsensitive)],
            section: "stock")
        try worker.add("of a shop", "Product", "shop.name == 's1'", [SortKey("price")])
        try worker.add(
            "by shop", [SortKey("shop.name"), SortKey("price")], section: "shop.name")
        try worker.add(
            "by tags", "Product", "ANY tags.label IN {'t1', 't2'}", [SortKey("name")], batch: 3)
        try worker.add("tagless", "Product", "tags.@count == 0", [SortKey("price")])
        try worker.add("shops", "Shop", "ANY products.price > 5", [SortKey("name")])
        try worker.add(
            "counted", "Shop",
            "SUBQUERY(products, $p, $p.stock > 1).@count > 1", [SortKey("name", ascending: false)])
        try worker.add(
            "by far tags", "Shop", "ANY products.tags.label IN {'t1', 't2'}", [SortKey("name")])
        try worker.add("large", "Shop", "products.@count > 2", [SortKey("name")])
        try worker.add("untagged", "Shop", "NONE products.tags.label == 't1'", [SortKey("name")])
        try worker.add("dear", "Shop", "products.@sum.price > 9", [SortKey("name")])
        try worker.add("far", "Tag", "ANY products.shop.name IN {'s1', 's2'}", [SortKey("label")])
        try worker.add("first", "Product", "price > 1", [SortKey("price")]) { $0.fetchLimit = 4 }
        try worker.add("page", [SortKey("note"), SortKey("name")], section: "note") {
            $0.fetchLimit = 5
            $0.fetchOffset = 3
        }
        try worker.add("stored", [SortKey("note"), SortKey("name")], section: "note") {
            $0.includesPendingChanges = false
        }
        try worker.add("read some at a time", [SortKey("price"), SortKey("name")], batch: 4)
    }

    @Test(
        "Lists are what a fetch gives, and copies what the lists are",
        arguments: Backend.allCases, RandomSource.seeds(1, whole: 6))
    func lists(_ backend: Backend, _ seed: UInt64) throws {
        print("random lists that follow, CAIRN_SEED=\(seed)")
        var random = RandomSource(seed: seed)
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            let shops = (0..<4).map { context.make("Shop", ["name": "s\($0)"]) }
            let tags = (0..<4).map { context.make("Tag", ["label": "t\($0)"]) }
            return shops + tags
                + (0..<12).map { number in
                    let product = context.make("Product", ["name": "\(number)", "note": "a"])
                    product["shop"] = shops[number % 4]
                    return product
                }
        }
        let policies: [MergePolicy] = [
            .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .error,
        ]
        let workers = policies.map { Worker(stack.context($0)) }
        if random.chance(50) { workers[0].context.undoHistory = UndoHistory() }
        for worker in workers[...1] { try lists(worker) }
        var number = 100
        for step in 0..<Campaign.count(50, whole: 6_000) {
            let worker = workers[random.below(3)]
            switch random.below(24) {
            case 0..<12:
                for _ in 0..<random.below(3) + 1 { try edit(worker.context, &random, &number) }
            case 12..<16: save(worker.context)
            case 16: worker.context.rollback()
            case 17, 18: try batch(worker.context, stack, &random, &number)
            case 19: worker.context.undo()
            case 20: worker.context.redo()
            case 21:
                if let one = random.pick(try worker.context.all("Product")) {
                    worker.context.refresh(one, mergeChanges: random.chance(60))
                }
            case 22:
                if random.chance(20) { worker.context.refreshAllObjects() }
            default:
                if random.chance(30) {
                    try worker.context.obtainPermanentIDs(for: worker.context.insertedObjects)
                }
            }
            for worker in workers[...1] { try compare(worker, "seed \(seed), step \(step)") }
        }
        for worker in workers { save(worker.context) }
        for worker in workers[...1] { try compare(worker, "seed \(seed), at the end") }
    }

    private func compare(_ worker: Worker, _ place: String) throws {
        let context = worker.context
        context.processPendingChanges()
        for (name, copy) in worker.lists {
            try #require(copy.errors.isEmpty, "\(name), \(place)")
            let fresh = try context.fetch(copy.controller.fetchRequest)
            let shown = copy.controller.fetchedObjects ?? []
            try #require(
                shown.map(\.objectID) == fresh.map(\.objectID),
                "\(name) is not what a fetch gives, \(place)")
            try #require(copy.sections.flatMap(\.objects) == fresh, "\(name), \(place)")
            if let key = copy.controller.sectionNameKeyPath {
                let other = FetchedResultsController(
                    fetchRequest: copy.controller.fetchRequest, managedObjectContext: context,
                    sectionNameKeyPath: key)
                try other.performFetch()
                try #require(copy.controller.snapshot == other.snapshot, "\(name), \(place)")
            }
            copy.forget()
        }
    }

    private func edit(
        _ context: ManagedObjectContext, _ random: inout RandomSource, _ number: inout Int
    ) throws {
        let products = try context.all("Product").filter { !$0.isDeleted }
        let shops = try context.all("Shop").filter { !$0.isDeleted }
        let tags = try context.all("Tag").filter { !$0.isDeleted }
        number += 1
        guard products.count > 5, let one = random.pick(products) else {
            for _ in 0..<6 {
                number += 1
                context.make("Product", ["name": "\(number)", "price": Double(number % 9)])
            }
            return
        }
        switch random.below(15) {
        case 0: context.delete(one)
        case 1, 2:
            let new = context.make(
                "Product",
                ["name": "\(number)", "price": Double(random.below(9)), "stock": random.below(4)])
            new["shop"] = random.pick(shops)
        case 3: one["name"] = "\(random.below(200))"
        case 4, 5: one["note"] = ["a", "b", "c", nil][random.below(4)] as String?
        case 6, 7: one["price"] = Double(random.below(9))
        case 8: one["stock"] = random.below(4)
        case 9, 10: one["shop"] = random.chance(80) ? random.pick(shops) : nil
        case 11: one["tags"] = Set(tags.filter { _ in random.chance(40) })
        case 12:
            if let shop = random.pick(shops) { shop["name"] = "s\(random.below(9))" }
        case 13:
            if let tag = random.pick(tags) { tag["label"] = "t\(random.below(9))" }
        default:
            if random.chance(30), let shop = random.pick(shops), shops.count > 2 {
                context.delete(shop)
            } else if tags.count > 2, random.chance(40), let tag = random.pick(tags) {
                context.delete(tag)
            } else {
                context.make("Shop", ["name": "n\(number)"])
            }
        }
    }

    /// Saves, or gives up what is in conflict.
    private func save(_ context: ManagedObjectContext) {
        do { try context.save() } catch { context.rollback() }
    }

    private func batch(
        _ context: ManagedObjectContext, _ stack: Stack, _ random: inout RandomSource,
        _ number: inout Int
    ) throws {
        switch random.below(9) {
        case 6, 7:
            // A list that is all there is of something.
            let rows: [[String: Any]] = (0..<5).map { index in
                ["serialCode": "\(index * 2)", "name": "\(number + index)", "note": "c"]
            }
            number += 5
            var request = BatchInsertRequest(entityName: "Product", objects: rows)
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.setOnly = random.chance(50)
            request.missing =
                random.chance(50)
                ? .delete : .mark(["note": .null, "price": .double(Double(random.below(9)))])
            request.scope = try PredicateNode(
                format: random.chance(50) ? "shop.name == 's2'" : "price < 3")
            _ = try (random.chance(50) ? context : stack.context()).execute(request)
        case 8:
            let key = random.chance(60) ? "name" : "stock"
            let rules: [DeduplicationRule] = [
                .first, .last, .nullKey, .merge(["tags": .union, "price": .maximum], into: .last),
            ]
            var request = DeduplicationRequest(
                entityName: "Product", by: [key],
                keeping: rules[random.below(key == "name" ? 2 : 4)])
            request.predicate = try PredicateNode(format: "price > \(random.below(7))")
            _ = try (random.chance(50) ? context : stack.context()).execute(request)
        case 3:
            var request = BatchUpdateRequest(
                entityName: "Product",
                propertiesToUpdate: [
                    "price": .expression(try ExpressionNode(format: "price + 1")),
                    "note": random.chance(50) ? "u" : .value(.null),
                ])
            request.predicate = try PredicateNode(format: "stock == 2 OR shop.name == 's1'")
            _ = try (random.chance(50) ? context : stack.context()).execute(request)
        case 4:
            let name = random.chance(50) ? "Tag" : "Shop"
            let all = try stack.context().all(name)
            guard all.count > 2, let one = random.pick(all) else { return }
            _ = try context.execute(
                BatchDeleteRequest(.ids([one.objectID], entity: one.entity.index)))
        case 0:
            let rows: [[String: Any]] = (0..<4).map { index in
                [
                    "name": "\(number + index)", "price": Double((number + index) % 9),
                    "serialCode": "\(index * 3)", "note": "b",
                ]
            }
            number += 4
            var request = BatchInsertRequest(entityName: "Product", objects: rows)
            request.mergePolicy = .mergeByPropertyObjectTrump
            _ = try context.execute(request)
        case 1:
            let rows: [[String: Any]] = (0..<40).map {
                ["name": "\(number + $0)", "price": Double($0 % 9)]
            }
            number += 40
            _ = try stack.store.execute(BatchInsertRequest(entityName: "Product", objects: rows))
        default:
            let entity = context.entity(named: "Product")
            let gone = try stack.context().all("Product").filter { _ in random.chance(25) }
            _ = try stack.store.execute(
                BatchDeleteRequest(.ids(gone.map(\.objectID), entity: entity.index)))
        }
    }
}
