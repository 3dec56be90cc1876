// What a to-many relationship leads to, read with the rows of its members and many owners at a time.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Reading along relationships")
struct RelatedReadingTests {
    /// A shop with products, whose ids come first of the shop's.
    private func shop(_ stack: Stack, _ count: Int) throws -> (shop: ObjectID, products: [ObjectID])
    {
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "s"])
            return [shop]
                + (0..<count).map {
                    context.make(
                        "Product", ["serialCode": "\($0)", "stock": $0, "note": "a", "shop": shop])
                }
        }
        return (ids[0], Array(ids[1...]))
    }

    private func stocks(_ shop: ManagedObject) -> [Int] {
        shop.members("products").compactMap { $0.int("stock") }.sorted()
    }

    // MARK: Members of one object

    @Test("Members come as faults whose rows have come along", arguments: Backend.allCases)
    func faults(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let (shopID, ids) = try shop(stack, 5)
        let context = stack.context()
        let shop = context.object(with: shopID)
        let members = shop.members("products")
        #expect(Set(members.map(\.objectID)) == Set(ids))
        #expect(members.allSatisfy { $0.isFault && !$0.hasChanges })
        #expect(stocks(shop) == Array(0..<5))
        #expect(members.allSatisfy { !$0.isFault && $0.object("shop") === shop })
        #expect(shop.objectIDs(forRelationshipNamed: "products") == ids)
    }

    @Test(
        "The members are those of the first reading until the owner is refreshed, their values too",
        arguments: Backend.allCases)
    func stays(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let (shopID, ids) = try shop(stack, 3)
        let context = stack.context()
        let shop = context.object(with: shopID)
        #expect(shop.members("products").count == 3)
        try stack.store { other in
            other.object(with: ids[0])["shop"] = nil
            other.object(with: ids[1])["stock"] = 100
            return [other.make("Product", ["serialCode": "n", "shop": other.object(with: shopID)])]
        }
        #expect(shop.objectIDs(forRelationshipNamed: "products") == ids)
        #expect(shop.members("products").count == 3)
        context.refresh(shop, mergeChanges: false)
        #expect(shop.hasFault(forRelationshipNamed: "products"))
        #expect(shop.members("products").count == 3)
        #expect(!shop.objectIDs(forRelationshipNamed: "products").contains(ids[0]))
        context.refreshAllObjects()
        #expect(context.object(with: ids[1]).int("stock") == 100)
    }

    @Test(
        "What is changed and not saved is seen: moved, new, deleted and edited members",
        arguments: Backend.allCases, [false, true])
    func unsaved(_ backend: Backend, _ readsFirst: Bool) throws {
        let stack = try Stack(Models.shop, backend)
        let (shopID, ids) = try shop(stack, 6)
        let context = stack.context()
        let shop = context.object(with: shopID)
        let other = context.make("Shop", ["name": "other"])
        if readsFirst { #expect(shop.members("products").count == 6) }
        context.object(with: ids[0])["shop"] = other
        context.object(with: ids[1])["shop"] = nil
        context.object(with: ids[2])["stock"] = 22
        context.delete(context.object(with: ids[3]))
        context.processPendingChanges()
        let new = context.make("Product", ["serialCode": "new", "stock": 77, "shop": shop])
        #expect(stocks(shop) == [4, 5, 22, 77])
        #expect(shop.members("products").contains(new))
        #expect(other.members("products") == [context.object(with: ids[0])])
        try context.save()
        #expect(stocks(shop) == [4, 5, 22, 77])
        #expect(stocks(stack.context().object(with: shopID)) == [4, 5, 22, 77])
        context.refresh(shop, mergeChanges: false)
        #expect(stocks(shop) == [4, 5, 22, 77])
        #expect(shop.objectIDs(forRelationshipNamed: "products").last == new.objectID)
    }

    @Test(
        "Changes of members that were read with their rows are kept and taken back",
        arguments: Backend.allCases)
    func changing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let (shopID, ids) = try shop(stack, 4)
        let context = stack.context()
        let shop = context.object(with: shopID)
        _ = shop.members("products")
        #expect(!shop.hasPersistentChangedValues)
        let first = context.object(with: ids[0])
        shop.remove(first, from: "products")
        #expect(first["shop"] == nil && shop.hasPersistentChangedValues)
        shop.add(first, to: "products")
        #expect(first.object("shop") === shop)
        #expect(shop.changedValues().isEmpty, "who left and came back has changed nothing")
        shop["products"] = Set([first])
        #expect(shop.objectIDs(forRelationshipNamed: "products") == [ids[0]])
        context.rollback()
        #expect(shop.objectIDs(forRelationshipNamed: "products") == ids)
        #expect(stocks(shop) == [0, 1, 2, 3])
        context.delete(first)
        try context.save()
        #expect(shop.objectIDs(forRelationshipNamed: "products") == Array(ids[1...]))
        #expect(stocks(shop) == [1, 2, 3])
    }

    @Test(
        "Members that nobody holds are there again when they are asked for again",
        arguments: Backend.allCases)
    func held(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let (shopID, ids) = try shop(stack, 3)
        let context = stack.context()
        let shop = context.object(with: shopID)
        #expect(shop.members("products").count == 3)
        #expect(context.registeredObject(for: ids[0]) == nil)
        let kept = context.object(with: ids[1])
        kept["stock"] = 50
        #expect(shop.members("products").contains(kept))
        #expect(stocks(shop) == [0, 2, 50])
        withExtendedLifetime(kept) {}
    }

    @Test(
        "An edited member keeps its edit, a member read before its values",
        arguments: Backend.allCases)
    func known(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let (shopID, ids) = try shop(stack, 3)
        let context = stack.context()
        let (edited, read) = (context.object(with: ids[0]), context.object(with: ids[1]))
        edited["note"] = "edit"
        #expect(read.string("note") == "a")
        try stack.store { other in
            for id in ids { other.object(with: id)["note"] = "newer" }
            return []
        }
        let shop = context.object(with: shopID)
        let notes = shop.members("products").map { ($0.objectID, $0.string("note")) }
        #expect(
            Dictionary(uniqueKeysWithValues: notes) == [
                ids[0]: "edit", ids[1]: "a", ids[2]: "newer",
            ])
        #expect(throws: StoreError.self) { try context.save() }
    }

    @Test("More members than are read with their rows are all there", arguments: Backend.allCases)
    func many(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let (shopID, ids) = try shop(stack, 4200)
        let context = stack.context()
        let shop = context.object(with: shopID)
        #expect(shop.objectIDs(forRelationshipNamed: "products") == ids)
        #expect(shop.members("products").count == 4200)
        try stack.store { other in
            for id in ids.dropFirst(4000) { other.delete(other.object(with: id)) }
            return []
        }
        context.refreshAllObjects()
        #expect(stocks(shop) == Array(0..<4000))
    }

    @Test("Members that are known by their numbers stay so when others are deleted")
    func deletions() throws {
        let stack = try Stack(Models.shop, .log)
        let (shopID, ids) = try shop(stack, 5)
        let context = stack.context()
        let shop = context.object(with: shopID)
        let index = try #require(shop.entity.relationshipIndex(named: "products"))
        _ = shop.members("products")
        let numbers = ids.map(\.reference)
        for count in [1, 20] {
            let others = try stack.store { context in
                (0..<count).map { context.make("Product", ["serialCode": "other \($0)"]) }
            }
            for id in others { context.delete(context.object(with: id)) }
            try context.save()
            #expect(shop.toMany[index]?.numbers == numbers)
        }
        #expect(stocks(shop) == Array(0..<5))
        // Few or many go, and members are among them.
        let hierarchy = shop.entity.relationships[index].destination
        for range in [1..<2, 1..<90] {
            var state = ToManyState(
                numbers: [1, 3, 90], RowOrigin(stack.store.identity, entity: hierarchy))
            state.forget(Set(range.map { stack.store.identity.id(UInt64($0), entity: hierarchy) }))
            #expect(state.numbers == (range.count == 1 ? [3, 90] : [90]))
        }
    }

    // MARK: Many owners

    @Test("Owners' members by columns are what members and rows give, for any relationship")
    func columns() throws {
        for seed in RandomSource.seeds(4) {
            print("related rows, CAIRN_SEED=\(seed)")
            var random = RandomSource(seed: seed)
            for backend in Backend.allCases {
                let stack = try Stack(Models.people, backend)
                let context = stack.context()
                let long = String(repeating: "long ", count: 4000)
                let people = (0..<90).map { number in
                    context.make(
                        "Person", ["name": random.chance(4) ? long + "\(number)" : "\(number)"])
                }
                for _ in 0..<3 {
                    for person in people where !person.isDeleted && random.chance(60) {
                        let other = people[random.below(people.count)]
                        if other.isDeleted { continue }
                        switch random.below(5) {
                        case 0: person["spouse"] = other
                        case 1: person["mentor"] = other
                        case 2: person["parent"] = other
                        case 3: person.add(other, to: "friends")
                        default: person.add(other, to: "heroes")
                        }
                    }
                    try context.save()
                }
                let gone = (0..<4).map { _ in people[random.below(people.count)] }
                for person in gone where !person.isDeleted { context.delete(person) }
                let ids = people.map(\.objectID)
                try context.save()
                let owners = (0..<70).map { _ in ids[random.below(ids.count)] }
                try compare(stack.store, owners)
            }
        }
    }

    /// Holds what is read along each relationship of people against members and rows.
    private func compare(_ store: any PersistentStore, _ owners: [ObjectID]) throws {
        let snapshot = try store.snapshot()
        let person = try #require(snapshot.schema.entity(named: "Person"))
        let name = try person.column("name", as: String?.self)
        for relationship in ["spouse", "mentor", "parent", "children", "friends", "heroes"] {
            let request = try StoreRelated(person, relationship, in: snapshot.schema)
            var found: [String] = []
            try snapshot.read(request, of: owners) { row in
                found.append("\(row.position) \(row.objectID) \(row[name] ?? "")")
            }
            let members = try snapshot.members(
                ofRelationship: request.relationship, entity: person.index, owners: owners)
            var expected: [String] = []
            for (position, ids) in members.enumerated() {
                for case let row? in try snapshot.rows(ids) {
                    let text = row.cells.value(name.index, of: person, in: snapshot.identity)
                    guard case .string(let text) = text else { continue }
                    expected.append("\(position) \(row.id) \(text)")
                }
            }
            #expect(found == expected, "\(relationship)")
        }
    }

    @Test(
        "Reading along a relationship ends when the closure throws, and asks for known columns",
        arguments: Backend.allCases)
    func errors(_ backend: Backend) throws {
        struct Enough: Error {}
        let stack = try Stack(Models.shop, backend)
        let (shopID, _) = try shop(stack, 300)
        let snapshot = try stack.store.snapshot()
        let shop = try #require(snapshot.schema.entity(named: "Shop"))
        let product = try #require(snapshot.schema.entity(named: "Product"))
        let stock = try product.column("stock", as: Int32?.self)
        let request = try StoreRelated(
            shop, "products", in: snapshot.schema, columns: ColumnSet(stock))
        var stocks: [Int32?] = []
        #expect(throws: Enough.self) {
            try snapshot.read(request, of: [shopID, shopID]) { row in
                if stocks.count == 299 { throw Enough() }
                stocks.append(row[stock])
            }
        }
        #expect(stocks == (0..<299).map { $0 })
        #expect(
            storeError { _ = try StoreRelated(shop, "nothing", in: snapshot.schema) }?.code
                == .invalidRequest)
        var wrong = request
        wrong.columns = [product.columns.count]
        #expect(
            storeError { try snapshot.read(wrong, of: [shopID]) { _ in } }?.code == .invalidRequest)
        var count = 0
        try snapshot.read(request, of: []) { _ in count += 1 }
        #expect(count == 0)
    }
}
