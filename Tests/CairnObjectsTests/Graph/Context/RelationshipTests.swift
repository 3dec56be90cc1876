// Relationships in memory and in the store: both sides always agree.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Relationships")
struct RelationshipTests {
    private func people(_ backend: Backend, _ names: String...) throws -> (
        Stack, ManagedObjectContext, [ManagedObject]
    ) {
        let stack = try Stack(Models.people, backend)
        let context = stack.context()
        return (stack, context, names.map { context.make("Person", ["name": $0]) })
    }

    /// Runs checks on the objects as they are in memory, and on fresh ones after a save.
    private func check(
        _ stack: Stack, _ context: ManagedObjectContext, _ people: [ManagedObject],
        _ body: ([ManagedObject]) -> Void
    ) throws {
        body(people)
        try context.save()
        body(people)
        let fresh = stack.context()
        body(people.map { fresh.object(with: $0.objectID) })
    }

    @Test("Setting one side of one-to-many sets the other at once", arguments: Backend.allCases)
    func oneToMany(_ backend: Backend) throws {
        let (stack, context, p) = try people(backend, "a", "b", "c")
        p[1]["parent"] = p[0]
        p[0].add(p[2], to: "children")
        try check(stack, context, p) { p in
            #expect(p[0].members("children") == [p[1], p[2]])
            #expect(p[2].object("parent") === p[0])
        }
        p[2]["parent"] = p[1]
        p[0].remove(p[1], from: "children")
        #expect(p[0].isUpdated && p[1].isUpdated, "both sides are changed")
        try check(stack, context, p) { p in
            #expect(p[0].members("children").isEmpty && p[1].members("children") == [p[2]])
            #expect(p[1].object("parent") == nil)
        }
    }

    @Test("A one-to-one relationship lets go of whoever was there", arguments: Backend.allCases)
    func oneToOne(_ backend: Backend) throws {
        let (stack, context, p) = try people(backend, "a", "b", "c", "d")
        p[0]["spouse"] = p[1]
        p[2]["spouse"] = p[3]
        try check(stack, context, p) { p in
            #expect(p[1].object("spouse") === p[0] && p[3].object("spouse") === p[2])
        }
        p[0]["spouse"] = p[2]
        try check(stack, context, p) { p in
            #expect(p[2].object("spouse") === p[0] && p[0].object("spouse") === p[2])
            #expect(p[1]["spouse"] == nil && p[3]["spouse"] == nil)
        }
        p[0]["spouse"] = p[0]
        try check(stack, context, p) { p in
            #expect(p[0].object("spouse") === p[0] && p[2]["spouse"] == nil)
        }
        p[0]["spouse"] = nil
        try check(stack, context, p) { p in #expect(p[0]["spouse"] == nil) }
    }

    @Test("Many-to-many with itself is the same from both ends", arguments: Backend.allCases)
    func friends(_ backend: Backend) throws {
        let (stack, context, p) = try people(backend, "a", "b", "c")
        p[0]["friends"] = [p[1], p[2], p[0]]
        p[1].add(p[0], to: "friends")
        try check(stack, context, p) { p in
            #expect(p[0].members("friends") == [p[0], p[1], p[2]])
            #expect(p[1].members("friends") == [p[0]])
        }
        p[2].remove(p[0], from: "friends")
        p[0].remove(p[0], from: "friends")
        try check(stack, context, p) { p in
            #expect(p[0].members("friends") == [p[1]] && p[2].members("friends").isEmpty)
        }
    }

    @Test("Without an inverse there is one side", arguments: Backend.allCases)
    func oneWay(_ backend: Backend) throws {
        let (stack, context, p) = try people(backend, "a", "b", "c")
        p[0]["mentor"] = p[2]
        p[1]["mentor"] = p[2]
        p[0]["heroes"] = [p[1], p[2]]
        p[1]["heroes"] = [p[2]]
        try check(stack, context, p) { p in
            #expect(p[0].object("mentor") === p[2] && p[1].object("mentor") === p[2])
            #expect(p[0].members("heroes") == [p[1], p[2]] && p[1].members("heroes") == [p[2]])
            #expect(p[2].members("heroes").isEmpty)
        }
    }

    @Test("Many-to-many is kept from both sides", arguments: Backend.allCases)
    func manyToMany(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let products = (0..<3).map { context.make("Product", ["stock": $0]) }
        let tags = (0..<3).map { context.make("Tag", ["label": "\($0)"]) }
        products[0]["tags"] = Set(tags)
        tags[0]["products"] = Set(products)
        tags[1].remove(products[0], from: "products")
        try check(stack, context, products + tags) { o in
            #expect(o[0].members("tags") == [o[3], o[5]])
            #expect(o[3].members("products") == [o[0], o[1], o[2]])
            #expect(o[4].members("products").isEmpty)
        }
        products[0]["tags"] = nil
        try check(stack, context, products + tags) { o in
            #expect(o[3].members("products") == [o[1], o[2]] && o[5].members("products").isEmpty)
        }
    }

    @Test("Members that are not read are changed all the same", arguments: Backend.allCases)
    func unread(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shops = ["x", "y"].map { context.make("Shop", ["name": $0]) }
            return shops + (0..<2).map { context.make("Product", ["stock": $0, "shop": shops[0]]) }
        }
        let counting = CountingStore(stack.store)
        let context = Stack(store: counting).context()
        let product = context.object(with: ids[2])
        product["shop"] = context.object(with: ids[1])
        #expect(counting.reads == 1, "only the product's row")
        #expect(context.object(with: ids[0]).members("products").map(\.objectID) == [ids[3]])
        #expect(context.object(with: ids[1]).members("products") == [product])
        product["shop"] = context.object(with: ids[0])
        #expect(context.object(with: ids[0]).members("products").count == 2)
        #expect(context.object(with: ids[1]).members("products").isEmpty)
        #expect(!product.hasPersistentChangedValues)
    }

    @Test("A refresh that drops edits drops them on both sides", arguments: Backend.allCases)
    func refresh(_ backend: Backend) throws {
        let (_, context, p) = try people(backend, "a", "b", "c")
        p[0]["spouse"] = p[1]
        p[0]["friends"] = [p[1]]
        p[2]["parent"] = p[0]
        try context.save()
        p[0]["spouse"] = p[2]
        p[0]["friends"] = [p[2]]
        p[2]["parent"] = p[1]
        context.refresh(p[0], mergeChanges: false)
        context.refresh(p[2], mergeChanges: false)
        #expect(p[1].object("spouse") === p[0] && p[2]["spouse"] == nil)
        #expect(p[1].members("friends") == [p[0]] && p[2].members("friends").isEmpty)
        #expect(p[0].members("children") == [p[2]] && p[1].members("children").isEmpty)
    }

    @Test(
        "What another context stored is merged with what is changed here",
        arguments: Backend.allCases)
    func twoContexts(_ backend: Backend) throws {
        let (stack, context, p) = try people(backend, "a", "b", "c")
        try context.save()
        let other = stack.context()
        let q = p.map { other.object(with: $0.objectID) }
        p[1]["parent"] = p[0]
        q[2]["parent"] = q[0]
        try other.save()
        #expect(p[0].members("children") == [p[1], p[2]])
        try context.save()
        let fresh = stack.context()
        #expect(fresh.object(with: p[0].objectID).members("children").count == 2)
    }
}

@Suite("Merged objects and those that point at them")
struct MergedRelationshipTests {
    @Test(
        "Two contexts insert one shop, each with a product: both products are in one shop (B014)",
        arguments: Backend.allCases)
    func referencesMove(_ backend: Backend) throws {
        for policy in [
            MergePolicy.mergeByPropertyStoreTrump, PlainSubclass(merge: .mergeByPropertyStoreTrump),
        ] {
            let stack = try Stack(Models.shop, backend)
            let contexts = [stack.context(policy), stack.context(policy)]
            for (index, context) in contexts.enumerated() {
                context.make(
                    "Product",
                    ["serialCode": "\(index)", "shop": context.make("Shop", ["name": "corner"])])
            }
            for context in contexts { try context.save() }
            let fresh = stack.context()
            let shops = try fresh.all("Shop")
            #expect(shops.count == 1 && shops[0].members("products").count == 2)
            for context in contexts {
                let own = try context.all("Product")[0]
                #expect(own.object("shop")?.objectID == shops[0].objectID)
                #expect(own.object("shop")?.members("products").count == 2)
            }
        }
    }

    @Test(
        "So is what these are in: two moods in one country, which its continent counts once (B014)",
        arguments: Backend.allCases)
    func levels(_ backend: Backend) throws {
        func entity(
            _ name: String, in above: (String, String)?, of below: (String, String)?
        ) -> EntityDescription {
            var relationships: [RelationshipDescription] = []
            if let above {
                relationships.append(
                    RelationshipDescription("above", to: above.0, inverse: above.1))
            }
            if let below {
                relationships.append(
                    RelationshipDescription(
                        below.1, to: below.0, toMany: true, inverse: "above"))
            }
            return EntityDescription(
                name, attributes: [AttributeDescription("code", .string)],
                relationships: relationships, uniquenessConstraints: below == nil ? [] : [["code"]])
        }
        let model = ManagedObjectModel(entities: [
            entity("Continent", in: nil, of: ("Country", "countries")),
            entity("Country", in: ("Continent", "countries"), of: ("Mood", "moods")),
            entity("Mood", in: ("Country", "moods"), of: nil),
        ])
        let stack = try Stack(model, backend)
        let policy = PlainSubclass(merge: .mergeByPropertyStoreTrump)
        let contexts = [stack.context(policy), stack.context(policy)]
        for (index, context) in contexts.enumerated() {
            let continent = context.make("Continent", ["code": "EU"])
            let country = context.make("Country", ["code": "DE", "above": continent])
            context.make("Mood", ["code": "\(index)", "above": country])
        }
        for context in contexts { try context.save() }
        let fresh = stack.context()
        let (continents, countries) = try (fresh.all("Continent"), fresh.all("Country"))
        #expect(continents.count == 1 && countries.count == 1)
        #expect(continents[0].members("countries") == Set(countries))
        #expect(countries[0].members("moods").count == 2)
        for context in contexts {
            let mood = try context.all("Mood")[0]
            #expect(mood.object("above")?.objectID == countries[0].objectID)
            #expect(mood.object("above")?.object("above")?.members("countries").count == 1)
        }
    }

    @Test(
        "A to-one set on the new object wins, and its target points back at the survivor (B019)",
        arguments: Backend.allCases)
    func toOneWins(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let (anna, ben) = (
                context.make("Person", ["name": "Anna"]), context.make("Person", ["name": "Ben"])
            )
            anna["spouse"] = ben
            return [anna, ben]
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        let carl = context.make("Person", ["name": "Carl"])
        context.make("Person", ["name": "Anna", "spouse": carl])
        try context.save()
        let fresh = stack.context()
        let anna = fresh.object(with: ids[0])
        #expect(anna.object("spouse")?.objectID == carl.objectID)
        #expect(anna.object("spouse")?.object("spouse") === anna)
        #expect(fresh.object(with: ids[1])["spouse"] == nil)
        #expect(carl.object("spouse")?.objectID == ids[0])
    }

    @Test(
        "A to-one that nobody touched on the new object stays; one set to nil is nil",
        arguments: Backend.allCases)
    func untouched(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store {
            [$0.make("Product", ["serialCode": "A", "shop": $0.make("Shop", ["name": "s"])])]
        }[0]
        let context = stack.context(.mergeByPropertyObjectTrump)
        context.make("Product", ["serialCode": "A", "price": 1.0])
        try context.save()
        let fresh = stack.context()
        #expect(fresh.object(with: id).object("shop")?.string("name") == "s")
        context.make("Product", ["serialCode": "A"])["shop"] = nil
        try context.save()
        let last = stack.context()
        #expect(last.object(with: id)["shop"] == nil)
    }

    @Test(
        "A target that was merged away in the same save is never a dead object (B020)",
        arguments: Backend.allCases)
    func mergedTarget(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            return [shop, context.make("Product", ["serialCode": "A", "shop": shop])]
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        let shop = context.make("Shop", ["name": "corner"])
        let product = context.make("Product", ["serialCode": "A", "shop": shop])
        try context.save()
        #expect(shop.absorbedInto == ids[0] && product.absorbedInto == ids[1])
        let fresh = stack.context()
        #expect(fresh.object(with: ids[1]).object("shop")?.objectID == ids[0])
        #expect(try fresh.count("Shop") == 1)
        // The previous target is not the survivor: the new one is, as it stands for the one that went.
        let second = stack.context(.mergeByPropertyObjectTrump)
        let market = try stack.store { [$0.make("Shop", ["name": "market"])] }[0]
        let twin = second.make("Shop", ["name": "market"])
        let again = second.make("Product", ["serialCode": "A", "shop": twin])
        try second.save()
        #expect(twin.absorbedInto == market && again.absorbedInto == ids[1])
        let shop2 = stack.context().object(with: ids[1]).object("shop")
        #expect(shop2?.objectID == market && shop2?.string("name") == "market")
    }

    @Test("Overwriting clears what pointed at the displaced object", arguments: Backend.allCases)
    func overwriting(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let anna = context.make("Person", ["name": "Anna"])
            let child = context.make("Person", ["name": "Child", "parent": anna, "mentor": anna])
            child["heroes"] = [anna]
            return [anna, child]
        }
        let context = stack.context(.overwrite)
        let child = context.object(with: ids[1])
        #expect(child.object("parent")?.objectID == ids[0])
        context.make("Person", ["name": "Anna"])
        try context.save()
        for child in [child, stack.context().object(with: ids[1])] {
            #expect(child["parent"] == nil && child["mentor"] == nil)
            #expect(child.members("heroes").isEmpty && !child.isDeleted, "no cascade runs")
        }
    }

    @Test(
        "No object is merged into one that a relationship to it may not lead to",
        arguments: Backend.allCases)
    func otherEntity(_ backend: Backend) throws {
        var model = Models.vehicles
        model.entities.append(
            EntityDescription(
                "Race", attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("winner", to: "SportCar")]))
        for kind in [MergePolicyKind.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump] {
            for policy in [MergePolicy(merge: kind), PlainSubclass(merge: kind)] {
                let stack = try Stack(model, backend)
                try stack.store { [$0.make("Truck", ["numberPlate": "X"])] }
                let context = stack.context(policy)
                let car = context.make("SportCar", ["numberPlate": "X"])
                let race = context.make("Race", ["name": "r", "winner": car])
                let error = #expect(throws: StoreError.self) { try context.save() }
                #expect(error?.code == .constraintConflict)
                #expect(race.object("winner") == car && context.hasChanges)
                let fresh = stack.context()
                #expect(try fresh.count("Race") == 0)
                #expect(try fresh.all("Car").map(\.entity.name) == ["Truck"])
            }
        }
    }
}
