// Lists that are remembered: when they are found, what is read then, and when they are not.

import Cairn
import CairnFileSystem
import CairnLog
import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

extension CachedLists {
    @Suite("Controllers with a cache")
    struct SectionCacheTests {
        private typealias Controller = FetchedResultsController<CachedBook>

        /// A controller that has fetched, and how many fetches the store was asked for that.
        private func fetched(
            _ books: CachedBooks, _ sections: BookSections, _ context: ManagedObjectContext,
            cache: String?, _ request: FetchRequest<CachedBook>? = nil
        ) throws -> (controller: Controller, fetches: Int) {
            let before = books.fetches
            let controller = sections.controller(
                try request ?? sections.request(), context, cache: cache)
            try controller.performFetch()
            return (controller, books.fetches - before)
        }

        /// Fetches with the cache and without it: how many fetches the former took.
        private func compared(
            _ books: CachedBooks, _ sections: BookSections, _ context: ManagedObjectContext,
            cache: String, _ request: FetchRequest<CachedBook>? = nil,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> Int {
            let (controller, fetches) = try fetched(books, sections, context, cache: cache, request)
            let (other, _) = try fetched(books, sections, context, cache: nil, request)
            #expect(controller.snapshot == other.snapshot, sourceLocation: sourceLocation)
            #expect(controller.shown == other.shown, sourceLocation: sourceLocation)
            return fetches
        }

        @Test(
            "A second controller of the name shows the same, and reads the rows of its objects alone, or nothing if it reads some at a time",
            arguments: Backend.allCases, BookSections.allCases)
        func found(_ backend: Backend, _ sections: BookSections) throws {
            for batch in [0, 7] {
                let books = try CachedBooks(backend)
                try books.fill()
                let name = "found \(backend) \(sections) \(batch)"
                let request = try sections.request("pages > 2", batch: batch)
                let context = books.stack.context()
                var first: [String] = []
                do {
                    let (controller, fetches) = try fetched(
                        books, sections, context, cache: name, request)
                    first = controller.shown
                    #expect(fetches == 1 && controller.numberOfObjects == 27)
                }
                // The same context, and one that knows no object.
                for context in [context, books.stack.context()] {
                    context.userInfo = [:]
                    let (reads, rows) = (books.store.reads, books.store.rows)
                    let (controller, fetches) = try fetched(
                        books, sections, context, cache: name, request)
                    #expect(fetches == 0)
                    #expect(books.store.reads - reads == (batch == 0 ? 1 : 0))
                    #expect(books.store.rows - rows == (batch == 0 ? 27 : 0))
                    #expect(
                        context.userInfo["asked"] == nil
                            && context.registeredObjects.count == (batch == 0 ? 27 : 0))
                    #expect(context.registeredObjects.allSatisfy { $0.isFault })
                    #expect(controller.shown == first)
                    // Their rows are there.
                    if batch == 0 { #expect(books.store.reads - reads == 1) }
                    let place = IndexPath(item: 1, section: 0)
                    #expect(controller.indexPath(forObject: controller.object(at: place)) == place)
                }
            }
        }

        @Test(
            "Whoever writes, the list is fetched anew, and found from then on",
            arguments: Backend.allCases)
        func written(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill()
            let context = books.stack.context()
            context.automaticallyMergesChangesFromParent = true
            let other = books.stack.context()
            func book(_ number: Int, _ context: ManagedObjectContext) -> ManagedObject {
                context.object(with: ids[number])
            }
            func update(_ values: [String: UpdatedValue]) -> BatchUpdateRequest {
                BatchUpdateRequest(
                    entityName: "CachedBook", propertiesToUpdate: values,
                    predicate: .compare("pages", .less, .integer(9)))
            }
            let writes: [(String, () throws -> Void)] = [
                ("nothing", {}),
                (
                    "a save here",
                    {
                        book(0, context)["title"] = "z0"
                        try context.save()
                    }
                ),
                (
                    "a save there",
                    {
                        book(1, other)["title"] = "y1"
                        book(1, other)["shelf"] = "s9"
                        try other.save()
                    }
                ),
                (
                    "of what they lead to",
                    {
                        book(2, other).object("writer")?["country"] = "xx"
                        try other.save()
                    }
                ),
                (
                    "an insert here",
                    {
                        try context.execute(
                            BatchInsertRequest(entityName: "CachedBook", objects: [["title": "q"]]))
                    }
                ),
                (
                    "an insert there",
                    {
                        try other.execute(
                            BatchInsertRequest(entityName: "CachedBook", objects: [["title": "r"]]))
                    }
                ),
                ("an update here", { try context.execute(update(["shelf": "s5"])) }),
                (
                    "an update there",
                    {
                        try other.execute(
                            update(["shelf": "s6", "title": .expression(.keyPath("shelf"))]))
                    }
                ),
                (
                    "a deletion there",
                    {
                        try other.execute(
                            BatchDeleteRequest(
                                entityName: "CachedBook",
                                predicate: .compare("pages", .greater, .integer(25))))
                    }
                ),
                (
                    "a deletion here",
                    {
                        context.delete(book(5, context))
                        try context.save()
                    }
                ),
                (
                    "by the store",
                    {
                        _ = try books.store.execute(
                            BatchInsertRequest(entityName: "CachedBook", objects: [["title": "t"]]))
                    }
                ),
            ]
            for sections in BookSections.allCases {
                _ = try compared(books, sections, context, cache: "written \(backend) \(sections)")
            }
            for (name, write) in writes {
                try write()
                for sections in BookSections.allCases {
                    let cache = "written \(backend) \(sections)"
                    let fetches = try compared(books, sections, context, cache: cache)
                    #expect(fetches == (name == "nothing" ? 0 : 1), "\(name), \(sections)")
                    #expect(
                        try compared(books, sections, context, cache: cache) == 0,
                        "\(name), \(sections)")
                    // Whoever knows nothing yet finds it too.
                    #expect(try compared(books, sections, books.stack.context(), cache: cache) == 0)
                }
            }
        }

        @Test("What another process has written is in the list once the store has read it")
        func otherProcess() throws {
            let disk = MemoryFileSystem()
            var options = LogStoreOptions()
            options.fileSystem = disk
            let model = ManagedObjectModel(for: CachedBook.self)
            let classes = ObjectClasses(for: CachedBook.self)
            let writer = try LogStore.open(
                at: "/store", schema: try Schema(model), options: options)
            options.isReadOnly = true
            options.followsWriter = false
            let reader = try LogStore.open(at: "/store", options: options)
            let other = ManagedObjectContext(store: writer, classes: classes)
            let context = ManagedObjectContext(store: reader, classes: classes)
            func shown() throws -> [String] {
                let controller = BookSections.initial.controller(
                    try BookSections.initial.request(), context, cache: "other process")
                try controller.performFetch()
                return controller.snapshot?.sectionIdentifiers ?? []
            }
            for (number, expected) in [["a"], ["a", "b"], ["a", "b", "c"]].enumerated() {
                other.make("CachedBook", ["title": expected[number]])
                try other.save()
                #expect(try reader.refresh())
                #expect(try shown() == expected)
                #expect(try shown() == expected)
            }
            try reader.close()
            try writer.close()
        }

        @Test(
            "Unsaved changes are in the list, and the list is not remembered",
            arguments: Backend.allCases)
        func pending(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill()
            let name = "pending \(backend)"
            let context = books.stack.context()
            func fetches(_ sections: BookSections, _ request: FetchRequest<CachedBook>? = nil)
                throws
                -> Int
            {
                try compared(books, sections, context, cache: name + " \(sections)", request)
            }
            for sections in BookSections.allCases { #expect(try fetches(sections) == 1) }
            // Of what the request is about.
            context.object(with: ids[0])["title"] = "A"
            context.object(with: ids[0])["shelf"] = "zz"
            for sections in BookSections.allCases {
                #expect(try fetches(sections) == 1)
                #expect(try fetches(sections) == 1)
                var stored = try sections.request()
                stored.includesPendingChanges = false
                // Books that name sections show the changes.
                #expect(try fetches(sections, stored) == (sections.areOfObjects ? 1 : 0))
            }
            context.rollback()
            for sections in BookSections.allCases { #expect(try fetches(sections) == 0) }
            // Of something else: it may name a section, but is not in the order before it is stored.
            context.object(with: ids[3]).object("writer")?["name"] = "new"
            for sections in BookSections.allCases {
                #expect(try fetches(sections) == (sections.areOfObjects ? 1 : 0))
            }
            context.rollback()
            for sections in BookSections.allCases { #expect(try fetches(sections) == 0) }
            // What another context has not saved is nobody's business.
            let other = books.stack.context()
            other.make("CachedBook", ["title": "new"])
            for sections in BookSections.allCases { #expect(try fetches(sections) == 0) }
        }

        @Test("A cache is deleted by its name, or with all others", arguments: [true, false])
        func deleting(_ isAll: Bool) throws {
            let books = try CachedBooks(.log)
            try books.fill()
            let context = books.stack.context()
            func fetches(_ name: String) throws -> Int {
                try compared(books, .shelf, context, cache: name)
            }
            #expect(try fetches("one") == 1 && fetches("other") == 1)
            #expect(try fetches("one") == 0 && fetches("other") == 0)
            Controller.deleteCache(withName: "nobody's")
            #expect(try fetches("one") == 0 && fetches("other") == 0)
            FetchedResultsController<ManagedObject>.deleteCache(withName: isAll ? nil : "one")
            #expect(try fetches("other") == (isAll ? 1 : 0) && fetches("one") == 1)
            #expect(try fetches("one") == 0 && fetches("other") == 0)
            Controller.deleteCache(withName: nil)
        }

        @Test(
            "A request that differs in anything is fetched, and has the name from then on",
            arguments: Backend.allCases)
        func requests(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            try books.fill()
            let context = books.stack.context()
            let name = "requests \(backend)"
            let plain = try BookSections.shelf.request()
            let changes: [(inout FetchRequest<CachedBook>) throws -> Void] = [
                { $0.predicate = try PredicateNode(format: "pages > 3") },
                { $0.predicate = try PredicateNode(format: "pages > 4") },
                { $0.predicate = try PredicateNode(format: "title != 'e\u{301}'") },
                { $0.predicate = try PredicateNode(format: "title != '\u{e9}'") },
                { $0.sortDescriptors = [SortKey("shelf"), SortKey("title")] },
                {
                    $0.sortDescriptors = [
                        SortKey("shelf"),
                        SortKey("title", ascending: false, comparison: .localized),
                    ]
                },
                { $0.fetchLimit = 5 },
                { $0.fetchOffset = 5 },
                { $0.includesSubentities = false },
                { $0.nullSemantics = .sql },
                { $0.affectedStores = [books.store] },
            ]
            func fetches(_ request: FetchRequest<CachedBook>) throws -> Int {
                try compared(books, .shelf, context, cache: name, request)
            }
            #expect(try fetches(plain) == 1)
            for (number, change) in changes.enumerated() {
                var request = plain
                try change(&request)
                #expect(try fetches(request) == 1 && fetches(request) == 0, "change \(number)")
                #expect(try fetches(plain) == 1 && fetches(plain) == 0, "change \(number)")
            }
            // How objects are read is not what is listed.
            var request = plain
            request.fetchBatchSize = 3
            request.includesPendingChanges = false
            request.returnsObjectsAsFaults = false
            request.relationshipKeyPathsForPrefetching = ["writer"]
            request.includesPropertyValues = false
            #expect(try fetches(request) == 0)
            // What cannot be read ahead is refused all the same.
            request.relationshipKeyPathsForPrefetching = ["nobody"]
            #expect(storeError { _ = try fetches(request) }?.code == .invalidRequest)
        }

        @Test(
            "Sections by something else are others, be it the same computed property of another place"
        )
        func sections() throws {
            let books = try CachedBooks(.log)
            try books.fill()
            let context = books.stack.context()
            var request = try BookSections.initial.request()
            request.sortDescriptors = [SortKey("pages"), SortKey("title")]
            request.fetchLimit = 1
            func titles(_ path: KeyPath<CachedBook, String>) throws -> (
                titles: [String], fetches: Int
            ) {
                let before = books.fetches
                let controller = Controller(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path,
                    cacheName: "sections")
                try controller.performFetch()
                return (controller.sections?.map(\.name) ?? [], books.fetches - before)
            }
            for (path, title) in [
                (\CachedBook.[0], "a"), (\.[1], "0"), (\.initial, "a"), (\.shelf, "s0"),
                (\.title, "a0"),
                (\.mark, ""),
            ] {
                #expect(try titles(path) == ([title], 1))
                #expect(try titles(path) == ([title], 0))
            }
            let without = Controller(
                fetchRequest: request, managedObjectContext: context, cacheName: "sections")
            let before = books.fetches
            try without.performFetch()
            #expect(without.sections?.map(\.name) == [""] && books.fetches == before + 1)
        }

        @Test("What may be answered otherwise the next time is not remembered")
        func fickle() throws {
            let books = try CachedBooks(.log)
            let ids = try books.fill()
            let context = books.stack.context()
            var requests = try [
                "random() < 0.5", "now() > CAST(0, 'NSDate')", "pages < random(20)",
            ].map {
                try BookSections.shelf.request($0)
            }
            requests.append(try BookSections.shelf.request())
            requests[3].predicate = .comparison(
                .init(.evaluatedObject, .notEqual, .constant(.objectID(ids[3]))))
            for request in requests {
                for _ in 0..<3 {
                    #expect(
                        try fetched(books, .shelf, context, cache: "fickle", request).fetches == 1)
                }
            }
        }

        @Test("A context on another one is shown what that shows, and remembers nothing")
        func child() throws {
            let books = try CachedBooks(.log)
            let ids = try books.fill()
            let parent = books.stack.context()
            let child = ManagedObjectContext(parent: parent)
            #expect(try compared(books, .shelf, parent, cache: "child") == 1)
            #expect(try compared(books, .shelf, child, cache: "child") == 1)
            parent.object(with: ids[0])["shelf"] = "z"
            #expect(try compared(books, .shelf, child, cache: "child") >= 1)
            parent.rollback()
            #expect(try compared(books, .shelf, parent, cache: "child") == 0)
        }

        @Test(
            "A pinned context has the list of its state, and others have theirs",
            arguments: Backend.allCases)
        func pinned(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill()
            let name = "pinned \(backend)"
            let pinned = books.stack.context()
            try pinned.setQueryGeneration(from: .current)
            #expect(try compared(books, .shelf, pinned, cache: name) == 1)
            let context = books.stack.context()
            #expect(try compared(books, .shelf, context, cache: name) == 0)
            context.object(with: ids[0])["shelf"] = "z"
            try context.save()
            // Its state is another one than that of the newest list.
            #expect(try compared(books, .shelf, pinned, cache: name) == 0)
            #expect(try compared(books, .shelf, context, cache: name) == 1)
            #expect(try compared(books, .shelf, pinned, cache: name) == 1)
            #expect(try compared(books, .shelf, context, cache: name) == 1)
            try pinned.setQueryGeneration(from: nil)
            #expect(try compared(books, .shelf, pinned, cache: name) == 0)
        }

        @Test(
            "Of several stores each counts, and which they are; another coordinator has lists of its own",
            arguments: Backend.allCases)
        func coordinators(_ backend: Backend) throws {
            let two = try TwoStores(backend)
            let setup = two.context()
            for number in 0..<12 {
                try setup.make(
                    "Product", in: two.stores[number % 2],
                    ["name": "\(number)", "note": "n\(number % 3)"])
            }
            try setup.save()
            var request = FetchRequest<ManagedObject>(entityName: "Product")
            request.sortDescriptors = [SortKey("note"), SortKey("name")]
            func fetches(
                _ context: ManagedObjectContext, stores: [any PersistentStore]? = nil,
                sourceLocation: SourceLocation = #_sourceLocation
            ) throws -> Int {
                var request = request
                request.affectedStores = stores
                let followers = [true, false].map { _ in
                    ResultsFollower(request.terms, sectionKey: "note", holdsObjects: true)
                }
                try followers[0].load(context, cache: .init(name: "coordinators \(backend)"))
                try followers[1].load(context)
                let lists = followers.map { $0.list.map { FetchedResultsSnapshot($0) } }
                #expect(lists[0] == lists[1], sourceLocation: sourceLocation)
                return followers[0].fetches
            }
            let context = two.context()
            #expect(
                try fetches(context) == 1 && fetches(context) == 0 && fetches(two.context()) == 0)
            #expect(try fetches(context, stores: [two.first]) == 1)
            #expect(try fetches(context, stores: [two.second]) == 1)
            #expect(try fetches(context, stores: [two.second]) == 0)
            #expect(try fetches(context) == 1)
            // Somebody writes to one of them, not by the coordinator.
            for number in [0, 1] {
                let alone = two.alone(number)
                alone.make("Product", ["name": "new", "note": "n1"])
                try alone.save()
                #expect(try fetches(context) == 1 && fetches(context) == 0)
            }
            // The same stores behind another one.
            let second = try PersistentStoreCoordinator(Models.shop)
            for store in two.stores { try second.add(store) }
            let beside = ManagedObjectContext(store: second)
            #expect(try fetches(beside) == 1 && fetches(beside) == 0)
            #expect(try fetches(context) == 1)
            try two.coordinator.remove(two.second)
            #expect(try fetches(context) == 1 && fetches(context) == 0)
        }

        @Test(
            "A list keeps no store alive, and is not that of another one with the same identifier and commits"
        )
        func stores() throws {
            let disk = MemoryFileSystem()
            var options = LogStoreOptions()
            options.fileSystem = disk
            let schema = try Schema(Models.shop)
            func fetches() throws -> (Int, identifier: UUID, commit: UInt64) {
                let store = try LogStore.open(at: "/store", schema: schema, options: options)
                defer { try? store.close() }
                let context = ManagedObjectContext(store: store)
                if try context.count("Product") == 0 {
                    context.make("Product", ["name": "a"])
                    try context.save()
                }
                var request = FetchRequest<ManagedObject>(entityName: "Product")
                request.affectedStores = [store]
                let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
                try follower.load(context, cache: .init(name: "stores"))
                let again = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
                try again.load(context, cache: .init(name: "stores"))
                #expect(again.fetches == 0)
                released = store
                return (follower.fetches, store.identity.identifier, try store.snapshot().commit)
            }
            weak var released: LogStore?
            let first = try fetches()
            #expect(released == nil)
            let second = try fetches()
            #expect(first == second && first.0 == 1)
        }
    }
}
