// A parent, two children and a grandchild against a naive model, with saves and rollbacks in any order.
//
// The model keeps for each context what it has changed, laid over what the one above shows. All contexts are refreshed after
// each round, so that each shows just that: then, as in the model, an edit that says what the parent says is none any more.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

/// What a context shows.
private struct PlainShops: Equatable {
    struct Product: Equatable {
        var price = 0
        var shop: Int?
        var tags: Set<Int> = []
    }

    var products: [Int: Product] = [:]
    var shops: Set<Int> = []
    var tags: Set<Int> = []

    /// What leads to nobody leads nowhere.
    mutating func tidy() {
        for key in products.keys {
            if let shop = products[key]?.shop, !shops.contains(shop) { products[key]?.shop = nil }
            products[key]?.tags.formIntersection(tags)
        }
    }
}

/// What a context has changed.
private final class FamilyLayer {
    let above: FamilyLayer?
    /// What is stored, for the one that has nobody above.
    var stored = PlainShops()
    var new = PlainShops()
    var gone = PlainShops()
    var prices: [Int: Int] = [:]
    var shops: [Int: Int?] = [:]
    var added: [Int: Set<Int>] = [:]
    var removed: [Int: Set<Int>] = [:]

    init(_ above: FamilyLayer?) { self.above = above }

    var base: PlainShops { above?.shown ?? stored }
    /// The same with what leads to nobody: who has gone may come back.
    private var looseBase: PlainShops { above?.loose ?? stored }

    var shown: PlainShops {
        var world = loose
        world.tidy()
        return world
    }

    private var loose: PlainShops {
        var world = looseBase
        world.products.merge(new.products) { $1 }
        world.shops.formUnion(new.shops)
        world.tags.formUnion(new.tags)
        for key in gone.products.keys { world.products[key] = nil }
        world.shops.subtract(gone.shops)
        world.tags.subtract(gone.tags)
        for key in world.products.keys {
            if let price = prices[key] { world.products[key]?.price = price }
            if let shop = shops[key] { world.products[key]?.shop = shop }
            world.products[key]?.tags.subtract(removed[key] ?? [])
            world.products[key]?.tags.formUnion(added[key] ?? [])
        }
        return world
    }

    func rollBack() {
        new = PlainShops()
        gone = PlainShops()
        (prices, shops, added, removed) = ([:], [:], [:], [:])
    }

    /// Edits that say what is there anyway, and those of what is no more, are none.
    func refresh() {
        let (base, looseBase) = (base, looseBase)
        for key in Array(prices.keys) + Array(shops.keys) + Array(added.keys) + Array(removed.keys)
        where new.products[key] == nil {
            guard let product = base.products[key] else {
                (prices[key], shops[key], removed[key]) = (nil, nil, nil)
                // Where the other side is still there, it keeps what they have in common.
                added[key]?.formIntersection(base.tags.union(new.tags))
                continue
            }
            if prices[key] == product.price { prices[key] = nil }
            if let shop = shops[key], shop == looseBase.products[key]?.shop { shops[key] = nil }
            added[key]?.subtract(product.tags)
            removed[key]?.formIntersection(product.tags)
        }
        gone.products = gone.products.filter { base.products[$0.key] != nil }
        gone.shops.formIntersection(base.shops)
        gone.tags.formIntersection(base.tags)
    }

    func delete(product key: Int) {
        guard shown.products[key] != nil else { return }
        (prices[key], shops[key], added[key], removed[key]) = (nil, nil, nil, nil)
        if new.products.removeValue(forKey: key) == nil { gone.products[key] = .init() }
    }

    func delete(shop: Int) {
        let world = shown
        guard world.shops.contains(shop) else { return }
        for (key, product) in world.products where product.shop == shop { set(shop: nil, of: key) }
        if new.shops.remove(shop) == nil { gone.shops.insert(shop) }
    }

    func delete(tag: Int) {
        let world = shown
        guard world.tags.contains(tag) else { return }
        for (key, product) in world.products where product.tags.contains(tag) { unlink(key, tag) }
        for key in added.keys { added[key]?.remove(tag) }
        if new.tags.remove(tag) == nil { gone.tags.insert(tag) }
    }

    /// What is there anyway is no edit.
    func set(shop: Int?, of key: Int) {
        let isNew = new.products[key] != nil
        shops[key] = !isNew && looseBase.products[key]?.shop == shop ? nil : .some(shop)
    }

    func set(price: Int, of key: Int) {
        let isNew = new.products[key] != nil
        prices[key] = !isNew && base.products[key]?.price == price ? nil : price
    }

    func link(_ key: Int, _ tag: Int) {
        removed[key]?.remove(tag)
        if base.products[key]?.tags.contains(tag) != true { added[key, default: []].insert(tag) }
    }

    func unlink(_ key: Int, _ tag: Int) {
        added[key]?.remove(tag)
        if base.products[key]?.tags.contains(tag) == true {
            removed[key, default: []].insert(tag)
        }
    }

    func save() {
        guard let above else {
            stored = shown
            return rollBack()
        }
        above.new.products.merge(new.products) { $1 }
        above.new.shops.formUnion(new.shops)
        above.new.tags.formUnion(new.tags)
        let world = above.shown
        for key in world.products.keys {
            if let price = prices[key] { above.set(price: price, of: key) }
            if let shop = shops[key] {
                above.set(shop: shop.flatMap { world.shops.contains($0) ? $0 : nil }, of: key)
            }
            for tag in removed[key] ?? [] where world.tags.contains(tag) { above.unlink(key, tag) }
            for tag in added[key] ?? [] where world.tags.contains(tag) { above.link(key, tag) }
        }
        for key in gone.products.keys { above.delete(product: key) }
        for shop in gone.shops { above.delete(shop: shop) }
        for tag in gone.tags { above.delete(tag: tag) }
        rollBack()
    }
}

@Suite("Random families of contexts")
struct RandomFamilyTests {
    /// Walks in which an object goes and comes back, which have ended otherwise once.
    private static let returns: [UInt64] = [
        273_346_899, 351_379_438, 417_963_237, 440_551_080, 530_648_843, 570_366_352, 746_573_796,
        780_057_218, 76_221_525, 726_448_634, 743_320_199, 879_088_928, 952_279_519,
    ]

    /// Every day a few of the known walks and two new ones, each in one kind of store or the other, as its seed says.
    private static let walks: [(Backend, UInt64)] = {
        var random = SystemRandomNumberGenerator()
        let seeds =
            Campaign.sample(returns, oneIn: 8, using: &random)
            + RandomSource.seeds(1, whole: 200)
        let backends = Backend.allCases
        if Campaign.isLong {
            return backends.flatMap { backend in seeds.map { (backend, $0) } }
        }
        return seeds.map { (backends[Int($0 % UInt64(backends.count))], $0) }
    }()

    @Test(
        "A parent, two children and a grandchild show what the plain model says", arguments: walks)
    func family(_ backend: Backend, _ seed: UInt64) throws {
        print("random family, CAIRN_SEED=\(seed)")
        var random = RandomSource(seed: seed)
        let stack = try Stack(Models.shop, backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let contexts = [parent, child, parent.newChildContext(), child.newChildContext()]
        let top = FamilyLayer(nil)
        let middle = FamilyLayer(top)
        let levels = [top, middle, FamilyLayer(top), FamilyLayer(middle)]
        var next = 0
        for round in 0..<60 {
            let who = random.below(4)
            let (context, level) = (contexts[who], levels[who])
            for _ in 0..<(1 + random.below(8)) { try step(context, level, &next, &random) }
            // Delete rules work at the end of a run of edits, on what leads there by then: in the model they do so at once.
            context.processPendingChanges()
            if random.chance(30) {
                let shown = try describe(context)
                try #require(
                    shown == level.shown, "seed \(seed), round \(round), unsaved in \(who)")
            }
            for _ in 0..<random.below(3) {
                // What a save finds to be the same above, and what its deletions clear there, goes by what the context above
                // has seen; in the model, by what is there.
                try refresh(contexts, levels)
                let who = random.below(4)
                if random.chance(20) {
                    contexts[who].rollback()
                    levels[who].rollBack()
                } else {
                    try contexts[who].save()
                    levels[who].save()
                }
                try #require(!contexts[who].hasChanges)
            }
            if random.chance(15) {
                try context.obtainPermanentIDs(for: context.all("Product") + context.all("Shop"))
            }
            try refresh(contexts, levels)
            var ids: [Int: ObjectID] = [:]
            for (who, (context, level)) in zip(contexts, levels).enumerated() {
                let shown = try describe(context)
                try #require(shown == level.shown, "seed \(seed), round \(round), context \(who)")
                for product in try context.all("Product") {
                    let code = try #require(product.int("stock"))
                    try #require(
                        ids.updateValue(product.objectID, forKey: code) ?? product.objectID
                            == product.objectID, "seed \(seed), round \(round), ids")
                }
            }
            let stored = try describe(stack.context())
            try #require(stored == top.stored, "seed \(seed), round \(round), stored")
        }
    }

    /// From the top, since each shows what the one above shows.
    private func refresh(_ contexts: [ManagedObjectContext], _ levels: [FamilyLayer]) throws {
        for (context, level) in zip(contexts, levels) {
            context.refreshAllObjects()
            // Members are compared with what is there when they are asked for.
            _ = try describe(context)
            level.refresh()
        }
    }

    private func describe(_ context: ManagedObjectContext) throws -> PlainShops {
        func numbers(_ objects: some Sequence<ManagedObject>, _ key: String) -> Set<Int> {
            Set(objects.filter { !$0.isDeleted }.compactMap { $0.string(key).flatMap { Int($0) } })
        }
        var world = PlainShops()
        let shops = try context.all("Shop")
        let tags = try context.all("Tag")
        world.shops = numbers(shops, "name")
        world.tags = numbers(tags, "label")
        for product in try context.all("Product") {
            let shop = product.object("shop")
            world.products[try #require(product.int("stock"))] = .init(
                price: Int(try #require(product["price"] as? Double)),
                shop: shop.map { numbers([$0], "name").first } ?? nil,
                tags: numbers(product.members("tags"), "label"))
        }
        for shop in shops {
            let number = try #require(shop.string("name").flatMap { Int($0) })
            let members = Set(
                shop.members("products").filter { !$0.isDeleted }.compactMap { $0.int("stock") })
            #expect(
                members == Set(world.products.filter { $0.value.shop == number }.keys),
                "products of \(number)")
        }
        for tag in tags {
            let number = try #require(tag.string("label").flatMap { Int($0) })
            let members = Set(
                tag.members("products").filter { !$0.isDeleted }.compactMap { $0.int("stock") })
            #expect(
                members == Set(world.products.filter { $0.value.tags.contains(number) }.keys),
                "products with \(number)")
        }
        return world
    }

    private func step(
        _ context: ManagedObjectContext, _ level: FamilyLayer, _ next: inout Int,
        _ random: inout RandomSource
    ) throws {
        let world = level.shown
        func find(_ entity: String, _ key: String, _ value: Value) throws -> ManagedObject {
            try #require(try context.find(entity, key, value).first)
        }
        func product(_ number: Int) throws -> ManagedObject {
            try find("Product", "stock", .integer(Int64(number)))
        }
        func shop(_ number: Int) throws -> ManagedObject {
            try find("Shop", "name", .string("\(number)"))
        }
        func tag(_ number: Int) throws -> ManagedObject {
            try find("Tag", "label", .string("\(number)"))
        }
        next += 1
        switch random.below(10) {
        case 0:
            context.make("Shop", ["name": "\(next)"])
            level.new.shops.insert(next)
        case 1:
            context.make("Tag", ["label": "\(next)"])
            level.new.tags.insert(next)
        case 2, 3:
            let made = context.make("Product", ["serialCode": "\(next)", "stock": next])
            level.new.products[next] = .init()
            if let number = random.pick(world.shops.sorted()) {
                made["shop"] = try shop(number)
                level.shops[next] = number
            }
        case 4, 5:
            guard let number = random.pick(world.products.keys.sorted()) else { return }
            let price = random.below(3)
            try product(number)["price"] = Double(price)
            level.set(price: price, of: number)
        case 6, 7:
            guard let number = random.pick(world.products.keys.sorted()) else { return }
            let target = random.chance(25) ? nil : random.pick(world.shops.sorted())
            try product(number)["shop"] = target.map { try shop($0) } ?? nil
            level.set(shop: target, of: number)
        case 8:
            guard let number = random.pick(world.products.keys.sorted()),
                let label = random.pick(world.tags.sorted())
            else { return }
            if random.chance(60) {
                try product(number).add(try tag(label), to: "tags")
                level.link(number, label)
            } else {
                try tag(label).remove(try product(number), from: "products")
                level.unlink(number, label)
            }
        default:
            guard random.chance(50) else { return }
            switch random.below(4) {
            case 0:
                guard let number = random.pick(world.shops.sorted()) else { return }
                context.delete(try shop(number))
                level.delete(shop: number)
            case 1:
                guard let number = random.pick(world.tags.sorted()) else { return }
                context.delete(try tag(number))
                level.delete(tag: number)
            default:
                guard let number = random.pick(world.products.keys.sorted()) else { return }
                context.delete(try product(number))
                level.delete(product: number)
            }
        }
    }
}
