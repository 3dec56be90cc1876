// How much work lists have with what they depend on, and sections by properties of classes.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Lists that depend on other objects")
struct RelatedWorkTests {
    /// 1,000 products of one shop and 10 of another one.
    private func fill(_ stack: Stack) throws -> [ObjectID] {
        let shops = try stack.store { context in
            ["one", "other"].map { context.make("Shop", ["name": $0]) }
        }
        try stack.store { context in
            (0..<1_010).map { number in
                let product = context.make("Product", ["name": "\(number)"])
                product["shop"] = context.object(with: shops[number < 1_000 ? 0 : 1])
                return product
            }
        }
        return shops
    }

    @Test(
        "A list of what belongs to one object does not look at all of it because one is added, or goes",
        arguments: Backend.allCases)
    func members(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let shops = try fill(stack)
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let predicates = [
            PredicateNode.compare("shop", .equal, .objectID(shops[0])),
            .compare("shop.name", .equal, .string("one")),
        ]
        let followers = try predicates.map { predicate in
            var request = FetchRequest(entityName: "Product", predicate: predicate)
            request.sortDescriptors = [SortKey("shop.name"), SortKey("name")]
            let follower = ResultsFollower(
                request.terms, sectionKey: "shop", holdsObjects: false)
            try follower.load(context)
            follower.observe(context, isOwn: false)
            return follower
        }
        func change(_ own: ManagedObjectContext) throws {
            let new = own.make("Product", ["name": "!"])
            new["shop"] = own.object(with: shops[0])
            try own.save()
            context.processPendingChanges()
            #expect(followers.map { $0.list?.count } == [1_001, 1_001])
            new["shop"] = own.object(with: shops[1])
            try own.save()
            context.processPendingChanges()
            #expect(followers.map { $0.list?.count } == [1_000, 1_000])
            own.delete(new)
            try own.save()
            context.processPendingChanges()
        }
        try change(context)
        try change(stack.context())
        for follower in followers {
            #expect(follower.fetches == 1 && follower.looks <= 16)
        }
        // What they do depend on is followed.
        context.object(with: shops[0])["name"] = "renamed"
        try context.save()
        #expect(followers.map { $0.list?.count } == [1_000, 0])
    }

    @Test(
        "Members that only change places concern who asks for the first of them",
        arguments: Backend.allCases, [true, false])
    func order(_ backend: Backend, _ isOwn: Bool) throws {
        // There a new order changes no object, so others are not told of it.
        if backend == .dictionary, !isOwn { return }
        let stack = try Stack(Models.ordered, backend)
        let ids = try stack.store { context in
            let items = ["a", "b", "c"].map { context.make("Item", ["name": $0]) }
            let folder = context.make("Folder")
            folder["items"] = items
            return items + [folder]
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let request = FetchRequest(
            entityName: "Item",
            predicate: try PredicateNode(format: "folder.items[FIRST].name == 'a'"))
        let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
        try follower.load(context)
        follower.observe(context, isOwn: false)
        #expect(follower.list?.count == 3)
        let own = isOwn ? context : stack.context()
        func reorder(_ order: [Int]) throws {
            own.object(with: ids[3])["items"] = order.map { own.object(with: ids[$0]) }
            try own.save()
            context.processPendingChanges()
        }
        try reorder([1, 0, 2])
        #expect(follower.list?.count == 0)
        try reorder([0, 1, 2])
        #expect(follower.list?.count == 3)
    }

    @Test(
        "Of what many objects may depend on, one edit has those looked at that led to it or do now",
        arguments: Backend.allCases, [true, false])
    func formerOwners(_ backend: Backend, _ isOwn: Bool) throws {
        let stack = try Stack(Models.shop, backend)
        let shops = try stack.store { context in
            (0..<200).map { context.make("Shop", ["name": "\(1_000 + $0)"]) }
        }
        let products = try stack.store { context in
            shops.indices.map { number in
                let price = number.isMultiple(of: 2) ? 10.0 : 1.0
                let product = context.make("Product", ["name": "\(number)", "price": price])
                product["shop"] = context.object(with: shops[number])
                return product
            }
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        var request = FetchRequest(
            entityName: "Shop", predicate: try PredicateNode(format: "ANY products.price > 5"))
        request.sortDescriptors = [SortKey("name")]
        let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
        try follower.load(context)
        follower.observe(context, isOwn: false)
        #expect(follower.list?.count == 100)
        let writer = isOwn ? context : stack.context()
        let product = writer.object(with: products[0])

        func follow(_ count: Int, looks: Int, _ edit: () -> Void) throws {
            let before = follower.looks
            edit()
            try writer.save()
            context.processPendingChanges()
            #expect(follower.list?.count == count)
            #expect(follower.fetches == 1 && follower.looks - before <= looks)
            #expect(follower.list?.count == (try context.fetch(request)).count)
        }
        // What nobody asks for costs nothing.
        try follow(100, looks: 0) { product["note"] = "changed" }
        try follow(99, looks: 1) { product["price"] = 2.0 }
        try follow(100, looks: 1) { product["price"] = 20.0 }
        // The shop that it leaves and the one that it comes to, which the writer has told of before it saved them.
        try follow(100, looks: isOwn ? 4 : 2) { product["shop"] = writer.object(with: shops[1]) }
        #expect(follower.list?.contains(shops[0]) == false)
        #expect(follower.list?.contains(shops[1]) == true)
        try follow(99, looks: isOwn ? 2 : 1) { writer.delete(product) }
        #expect(follower.list?.contains(shops[1]) == false)
        try follow(100, looks: isOwn ? 2 : 1) {
            writer.make("Product", ["name": "new", "price": 9.0])["shop"] =
                writer.object(with: shops[5])
        }
    }

    @Test(
        "What a path of several steps leads through is followed from where it led to where it leads",
        arguments: Backend.allCases)
    func longPaths(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shops = ["a", "b", "c"].map { context.make("Shop", ["name": $0]) }
            let tags = ["x", "y"].map { context.make("Tag", ["label": $0]) }
            let products = shops.map { shop in
                let product = context.make("Product", ["name": "p"])
                product["shop"] = shop
                return product
            }
            products[0]["tags"] = [tags[0]] as Set
            return shops + tags + products
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        var request = FetchRequest(
            entityName: "Shop",
            predicate: try PredicateNode(format: "ANY products.tags.label BEGINSWITH 'x'"))
        request.sortDescriptors = [SortKey("name")]
        let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
        try follower.load(context)
        follower.observe(context, isOwn: false)
        for writer in [context, stack.context()] {
            func follow(_ shops: [ObjectID], _ edit: () -> Void) throws {
                edit()
                try writer.save()
                context.processPendingChanges()
                #expect((follower.list?.count ?? 0) == shops.count)
                for shop in shops { #expect(follower.list?.contains(shop) == true) }
                #expect(follower.fetches == 1)
            }
            let product = writer.object(with: ids[5])
            try follow([ids[1]]) { product["shop"] = writer.object(with: ids[1]) }
            try follow([]) { product["tags"] = [writer.object(with: ids[4])] as Set }
            try follow([ids[1]]) { writer.object(with: ids[4])["label"] = "x2" }
            try follow([]) { product["shop"] = nil }
            try follow([ids[0]]) { product["shop"] = writer.object(with: ids[0]) }
            try follow([]) { writer.object(with: ids[4])["label"] = "y" }
            try follow([ids[0]]) { product["tags"] = [writer.object(with: ids[3])] as Set }
        }
    }

    @Test(
        "A derived attribute at the end of a path is followed, though its owner was only led to",
        arguments: Backend.allCases, [true, false])
    func derived(_ backend: Backend, _ isOwn: Bool) throws {
        var count = AttributeDescription("size", .integer64)
        count.derivationExpression = "songs.@count"
        let artist = EntityDescription(
            "Artist", attributes: [AttributeDescription("title", .string)],
            relationships: [
                RelationshipDescription("albums", to: "Album", toMany: true, inverse: "artist")
            ])
        let album = EntityDescription(
            "Album", attributes: [AttributeDescription("title", .string), count],
            relationships: [
                RelationshipDescription("songs", to: "Song", toMany: true, inverse: "album"),
                RelationshipDescription("artist", to: "Artist", inverse: "albums"),
            ])
        let song = EntityDescription(
            "Song", attributes: [AttributeDescription("title", .string)],
            relationships: [RelationshipDescription("album", to: "Album", inverse: "songs")])
        let stack = try Stack(ManagedObjectModel(entities: [artist, album, song]), backend)
        let ids = try stack.store { context in
            let album = context.make("Album", ["title": "a"])
            album["artist"] = context.make("Artist", ["title": "b"])
            return (0..<3).map { number in
                let song = context.make("Song", ["title": "\(number)"])
                song["album"] = album
                return song
            } + [album]
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let lists = [("Song", "album.size > 3"), ("Artist", "ANY albums.size > 3")]
        let followers = try lists.map { entity, format in
            var request = FetchRequest(
                entityName: entity, predicate: try PredicateNode(format: format))
            request.sortDescriptors = [SortKey("title")]
            let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
            try follower.load(context)
            follower.observe(context, isOwn: false)
            #expect(follower.list?.count == 0)
            return follower
        }
        let writer = isOwn ? context : stack.context()
        let song4 = writer.make("Song", ["title": "4"])
        song4["album"] = writer.object(with: ids[3])
        try writer.save()
        context.processPendingChanges()
        #expect(followers.map { $0.list?.count } == [4, 1])
        writer.delete(song4)
        try writer.save()
        context.processPendingChanges()
        #expect(followers.map { $0.list?.count } == [0, 0])
    }

    @Test(
        "What waits of many commits has former owners looked at; after very many changes all is fetched anew",
        arguments: Backend.allCases)
    func manyChanges(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shops = (0..<200).map { context.make("Shop", ["name": "\(1_000 + $0)"]) }
            let products = (0..<RowChanges.mostObjects + 1).map { number in
                let product = context.make("Product", ["price": number < 200 ? 9.0 : 1.0])
                product["shop"] = shops[number % 200]
                return product
            }
            return shops + products
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        var request = FetchRequest(
            entityName: "Shop", predicate: try PredicateNode(format: "ANY products.price > 5"))
        request.sortDescriptors = [SortKey("name")]
        let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
        try follower.load(context)
        follower.observe(context, isOwn: false)
        let shops = ids[..<10].map { context.object(with: $0) }
        for shop in shops { #expect(!shop.members("products").isEmpty) }
        // Each is a commit, and more than are kept apart. A product of one shop goes from one to the next.
        let other = stack.context()
        let product = other.object(with: ids[200])
        for number in 1...100 {
            product["shop"] = other.object(with: ids[number])
            try other.save()
        }
        context.processPendingChanges()
        #expect(follower.list?.contains(ids[0]) == false && follower.list?.count == 199)
        #expect(follower.fetches == 1 && follower.looks <= 101)
        let counts = shops.map { $0.members("products").count }
        #expect(counts == shops.map { other.object(with: $0.objectID).members("products").count })
        // Of one that writes very many, a log does not say to whom they led.
        try stack.context().execute(
            BatchUpdateRequest(entityName: "Product", propertiesToUpdate: ["price": 2.0]))
        context.processPendingChanges()
        #expect(follower.list?.count == 0 && follower.fetches == (backend == .dictionary ? 1 : 2))
    }

    @Test(
        "What an import commits is looked at by itself, though the list is short and the store is large",
        arguments: Backend.allCases)
    func imports(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try stack.products(20)
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        var request = FetchRequest(
            entityName: "Product", predicate: .compare("price", .less, .double(10)))
        request.sortDescriptors = [SortKey("name")]
        let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
        try follower.load(context)
        follower.observe(context, isOwn: false)
        let rows: [[String: Any]] = (0..<2_000).map { number in
            ["name": "n\(number)", "price": number < 7 ? 1.0 : 50.0]
        }
        _ = try stack.context().execute(BatchInsertRequest(entityName: "Product", objects: rows))
        context.processPendingChanges()
        #expect(follower.list?.count == 27 && follower.fetches == 1 && follower.looks == 2_000)
    }

    @Test("Sections by a computed property that may be nothing are named as those by a stored one")
    func optionals() throws {
        #expect(SectionName.of(Int?.none as Any?) == "")
        func name<Value>(_ value: Value) -> String { SectionName.of(value) }
        #expect(name(Int?.none) == "" && name(Int?.some(5)) == "5")
        #expect(name(String?.some("x")) == "x" && name(Int??.some(.none)) == "")
        #expect(name(Bool?.some(true)) == "1" && name(2.5) == "2.5")
    }
}
