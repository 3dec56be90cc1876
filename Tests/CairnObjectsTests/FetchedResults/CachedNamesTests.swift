// Sections that objects name, of lists that are remembered: only if objects show what is stored.

import Cairn
import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

extension CachedLists {
    @Suite("Cached lists whose sections are named by objects")
    struct CachedNamesTests {
        /// Fetches a list with the cache and without it: whether the former was found.
        private func isFound(
            _ context: ManagedObjectContext, _ name: String, _ sections: BookSections = .initial,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> Bool {
            context.userInfo["asked"] = 0
            let controller = sections.controller(try sections.request(), context, cache: name)
            try controller.performFetch()
            let isFound = context.userInfo["asked"] as? Int == 0
            let other = sections.controller(try sections.request(), context, cache: nil)
            try other.performFetch()
            #expect(controller.snapshot == other.snapshot, sourceLocation: sourceLocation)
            return isFound
        }

        @Test(
            "An object that is older than what is stored names no section of a list of others",
            arguments: Backend.allCases)
        func outOfDate(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill(8)
            let name = "out of date \(backend)"
            let context = books.stack.context()
            let held = context.object(with: ids[0])
            #expect(held.string("title") == "a0")
            let other = books.stack.context()
            other.object(with: ids[0])["title"] = "A0"
            try other.save()
            // The order is that of the store, the name that of the object.
            #expect(try !isFound(context, name))
            #expect(try !isFound(other, name))
            #expect(try isFound(other, name) && isFound(books.stack.context(), name))
            #expect(try !isFound(context, name))
            context.refreshAllObjects()
            #expect(held.string("title") == "A0")
            #expect(try isFound(context, name))
        }

        @Test("So it is with one that an object leads to", arguments: Backend.allCases)
        func related(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill(8)
            let name = "related \(backend)"
            func sections(_ context: ManagedObjectContext, _ cache: String?) throws -> [String] {
                let controller = BookSections.origin.controller(
                    try BookSections.origin.request(), context, cache: cache)
                try controller.performFetch()
                return controller.snapshot?.sectionIdentifiers ?? []
            }
            let context = books.stack.context()
            let writer = try #require(context.object(with: ids[0]).object("writer"))
            #expect(writer.string("country") == "at")
            let other = books.stack.context()
            other.object(with: ids[0]).object("writer")?["country"] = "be"
            try other.save()
            #expect(try sections(context, name) == ["at", "ch"])
            #expect(try sections(books.stack.context(), name) == ["be", "ch"])
            #expect(try sections(context, name) == ["at", "ch"])
            #expect(try sections(books.stack.context(), name) == ["be", "ch"])
            context.refreshAllObjects()
            #expect(try sections(context, name) == ["be", "ch"])
            #expect(writer.string("country") == "be")
        }

        @Test(
            "A context that merges by itself finds lists whatever others commit; one that began late only after a refresh",
            arguments: Backend.allCases)
        func merging(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill(8)
            let name = "merging \(backend)"
            let merging = books.stack.context()
            merging.automaticallyMergesChangesFromParent = true
            let late = books.stack.context()
            let other = books.stack.context()
            // They have all that there is.
            let held = try [merging, late].map {
                try $0.all("CachedBook").map { $0.string("title") }
            }
            #expect(held[0] == held[1])
            let objects = try late.all("CachedBook")
            #expect(objects.map { $0.string("title") }.count == 8)
            for (step, number) in [0, 4, 1].enumerated() {
                // Others in the same order, with other first letters.
                other.object(with: ids[number])["title"] = ["A0", "A4", "B1"][step]
                try other.save()
                try other.execute(
                    BatchInsertRequest(entityName: "CachedBook", objects: [["title": "f\(step)"]]))
                #expect(try !isFound(merging, name) && isFound(merging, name), "step \(step)")
                #expect(try isFound(books.stack.context(), name), "step \(step)")
                #expect(try !isFound(late, name) && !isFound(late, name), "step \(step)")
            }
            // What it had is not merged, and stays as it was.
            late.automaticallyMergesChangesFromParent = true
            #expect(try !isFound(late, name) && !isFound(late, name))
            late.refreshAllObjects()
            #expect(try isFound(late, name))
            other.object(with: ids[5])["title"] = "B5"
            try other.save()
            #expect(try !isFound(late, name) && isFound(late, name))
            late.automaticallyMergesChangesFromParent = false
            other.object(with: ids[2])["title"] = "C2"
            try other.save()
            #expect(try !isFound(late, name) && !isFound(late, name))
            withExtendedLifetime(objects) {}
        }

        @Test(
            "A batch request of the context itself hides what it has written from its objects",
            arguments: Backend.allCases)
        func ownBatch(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill(8)
            let name = "own batch \(backend)"
            let context = books.stack.context()
            let held = context.object(with: ids[0])
            #expect(held.string("title") == "a0")
            #expect(try !isFound(context, name) && isFound(context, name))
            try context.execute(
                BatchUpdateRequest(
                    entityName: "CachedBook", propertiesToUpdate: ["title": "a00"],
                    predicate: .compare("title", .equal, .string("a0"))))
            try context.execute(
                BatchUpdateRequest(
                    entityName: "CachedBook", propertiesToUpdate: ["title": "A"],
                    predicate: .compare("title", .equal, .string("a00"))))
            #expect(held.string("title") == "a0")
            #expect(try !isFound(context, name) && !isFound(context, name))
            #expect(
                try !isFound(books.stack.context(), name) && isFound(books.stack.context(), name))
            #expect(try !isFound(context, name))
            context.refreshAllObjects()
            #expect(held.string("title") == "A")
            #expect(try isFound(context, name))
        }

        @Test(
            "A transient property that somebody has set is no other context's",
            arguments: Backend.allCases)
        func transient(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill(8)
            let name = "transient \(backend)"
            func sections(_ context: ManagedObjectContext) throws -> [String] {
                let controller = FetchedResultsController(
                    fetchRequest: try BookSections.initial.request(), managedObjectContext: context,
                    sectionNameKeyPath: \CachedBook.mark, cacheName: name)
                try controller.performFetch()
                return controller.sections?.map(\.name) ?? []
            }
            let context = books.stack.context()
            #expect(try sections(context) == [""] && sections(context) == [""])
            let held = context.object(with: ids[0])
            held["mark"] = "!"
            try context.save()
            #expect(!context.hasChanges)
            #expect(try sections(context) == ["!", ""])
            #expect(try sections(books.stack.context()) == [""])
            #expect(try sections(context) == ["!", ""])
            context.refreshAllObjects()
            #expect(try sections(context) == [""])
            withExtendedLifetime(held) {}
        }

        @Test(
            "Who edits while sections are named is told of its edits, and the list is not remembered"
        )
        func editing() throws {
            let books = try CachedBooks(.log)
            try books.fill(8)
            final class Editor {
                var isOn = true
            }
            let context = books.stack.context()
            let request = try BookSections.initial.request()
            func fetches() throws -> Int {
                let editor = Editor()
                let follower = ResultsFollower(
                    request.terms, sectionKey: nil,
                    sectionName: { object in
                        if editor.isOn { object["pages"] = 1 }
                        editor.isOn = false
                        return object.string("title").map { String($0.prefix(1)) } ?? ""
                    }, holdsObjects: true)
                try follower.load(
                    context, cache: .init(name: "editing", sectionPath: \CachedBook.initial))
                return follower.fetches
            }
            for _ in 0..<2 {
                #expect(try fetches() == 1)
                #expect(context.hasChanges)
                context.rollback()
            }
        }

        @Test("Objects of other classes name other sections")
        func classes() throws {
            let books = try CachedBooks(.log)
            try books.fill(8)
            func fetches(_ context: ManagedObjectContext) throws -> Int {
                let follower = ResultsFollower(
                    try BookSections.initial.request().terms, sectionKey: "mark", holdsObjects: true
                )
                try follower.load(context, cache: .init(name: "classes"))
                return follower.fetches
            }
            let typed = books.stack.context()
            #expect(try fetches(typed) == 1 && fetches(typed) == 0)
            let plain = ManagedObjectContext(store: books.store)
            #expect(try fetches(plain) == 1 && fetches(plain) == 0 && fetches(typed) == 1)
        }
    }
}
