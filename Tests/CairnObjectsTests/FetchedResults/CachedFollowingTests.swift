// Lists that were found in the cache follow what happens, as those that were fetched do.

import Cairn
import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

extension CachedLists {
    @Suite("Cached lists that follow")
    struct CachedFollowingTests {
        private typealias Copy = ListCopy<CachedBook>

        @Test(
            "The delegate of a list that was found is told what that of a fetched one is",
            arguments: Backend.allCases, BookSections.allCases)
        func delegates(_ backend: Backend, _ sections: BookSections) throws {
            for batch in [0, 4] {
                let books = try CachedBooks(backend)
                let ids = try books.fill()
                let name = "delegates \(backend) \(sections) \(batch)"
                let context = books.stack.context()
                context.automaticallyMergesChangesFromParent = true
                let request = try sections.request("pages > 2", batch: batch)
                try sections.controller(request, context, cache: name).performFetch()
                let fetches = books.fetches
                let cached = try Copy(sections.controller(request, context, cache: name))
                #expect(books.fetches == fetches)
                let other = try Copy(sections.controller(request, context, cache: nil))
                let writer = books.stack.context()
                func expect(
                    _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
                )
                    throws
                {
                    for copy in [cached, other] { copy.forget() }
                    try body()
                    context.processPendingChanges()
                    #expect(cached.words == other.words, sourceLocation: sourceLocation)
                    #expect(!cached.words.isEmpty, sourceLocation: sourceLocation)
                    #expect(cached.sections == other.sections, sourceLocation: sourceLocation)
                    #expect(
                        cached.controller.shown == other.controller.shown,
                        sourceLocation: sourceLocation)
                    #expect(cached.errors.isEmpty, sourceLocation: sourceLocation)
                }
                let book = context.object(with: ids[9])
                try expect { book["title"] = "c0" }
                try expect { book["shelf"] = "s0" }
                try expect { book["pages"] = 1 }
                try expect { book["pages"] = 5 }
                try expect {
                    context.make("CachedBook", ["title": "e", "shelf": "s7", "pages": 8])
                }
                try expect { context.delete(context.object(with: ids[10])) }
                try context.save()
                try expect {
                    writer.object(with: ids[20])["title"] = "e9"
                    writer.object(with: ids[20])["shelf"] = "s8"
                    try writer.save()
                }
                try expect {
                    try writer.execute(
                        BatchInsertRequest(
                            entityName: "CachedBook", objects: [["title": "b", "pages": 7]]))
                }
                try expect {
                    try writer.execute(
                        BatchDeleteRequest(
                            entityName: "CachedBook",
                            predicate: .compare("pages", .greater, .integer(24))))
                }
                if sections == .country || sections == .origin {
                    // What the order leads to.
                    try expect {
                        writer.object(with: ids[4]).object("writer")?["country"] = "de"
                        try writer.save()
                    }
                }
            }
        }

        @Test("A delegate that comes late is told nothing wrong", arguments: Backend.allCases)
        func lateDelegate(_ backend: Backend) throws {
            let books = try CachedBooks(backend)
            let ids = try books.fill()
            let context = books.stack.context()
            let request = try BookSections.shelf.request()
            let name = "late \(backend)"
            try BookSections.shelf.controller(request, context, cache: name).performFetch()
            let controller = BookSections.shelf.controller(request, context, cache: name)
            try controller.performFetch()
            context.object(with: ids[0])["shelf"] = "s9"
            context.processPendingChanges()
            let copy = try ListCopy(controller)
            #expect(copy.sections.map(\.name) == ["s0", "s1", "s2", "s9"])
            context.object(with: ids[0])["shelf"] = "s8"
            context.processPendingChanges()
            #expect(copy.sections.map(\.name) == ["s0", "s1", "s2", "s8"])
        }
    }
}
