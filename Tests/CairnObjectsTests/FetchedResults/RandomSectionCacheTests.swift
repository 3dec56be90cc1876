// Contexts that edit, save, merge, refresh and execute batch requests, and after each step lists with a cache beside lists
// without.

import Cairn
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

extension CachedLists {
    @Suite("Random lists with a cache")
    struct RandomSectionCacheTests {
        private struct Kind {
            let name: String
            let sections: BookSections
            let request: FetchRequest<CachedBook>
        }

        private func kinds(_ seed: UInt64) throws -> [Kind] {
            var kinds: [Kind] = []
            for sections in BookSections.allCases {
                for batch in [0, 3] {
                    var request = try sections.request("pages < 7", batch: batch)
                    kinds.append(
                        Kind(name: "\(sections) \(batch)", sections: sections, request: request))
                    request.predicate = nil
                    request.fetchLimit = 6
                    request.fetchOffset = 2
                    // Two requests have one name.
                    kinds.append(
                        Kind(name: "\(sections) \(batch)", sections: sections, request: request))
                    request.includesPendingChanges = false
                    kinds.append(
                        Kind(name: "stored \(sections)", sections: sections, request: request))
                }
            }
            return kinds.map {
                Kind(name: "\(seed) \($0.name)", sections: $0.sections, request: $0.request)
            }
        }

        @Test(
            "A list with a cache is the list without one", arguments: Backend.allCases,
            RandomSource.seeds(1, whole: 4))
        func lists(_ backend: Backend, _ seed: UInt64) throws {
            print("random lists with a cache, CAIRN_SEED=\(seed)")
            var random = RandomSource(seed: seed)
            let books = try CachedBooks(backend)
            try books.fill(12)
            let kinds = try kinds(seed)
            defer { for kind in kinds { Self.forget(kind.name) } }
            let contexts = (0..<4).map { _ in books.stack.context(.mergeByPropertyObjectTrump) }
            contexts[0].automaticallyMergesChangesFromParent = true
            // Objects that are held are not read again.
            var held: [ManagedObject] = []
            var found = 0
            var number = 100
            for step in 0..<Campaign.count(150, whole: 5_000) {
                let context = contexts[random.below(4)]
                try change(context, &random, &held, &number)
                // Those with unsaved changes remember no sections that objects name.
                if random.chance(70) {
                    do { try context.save() } catch { context.rollback() }
                }
                for _ in 0..<3 {
                    guard let kind = random.pick(kinds) else { return }
                    let context = contexts[random.below(4)]
                    let place = "seed \(seed), step \(step), \(kind.name)"
                    func list(_ cache: String?) -> (
                        Result<FetchedResultsSnapshot?, any Error>, [String]
                    ) {
                        let controller = kind.sections.controller(
                            kind.request, context, cache: cache)
                        do {
                            try controller.performFetch()
                            return (.success(controller.snapshot), controller.shown)
                        } catch {
                            return (.failure(error), [])
                        }
                    }
                    let fetches = books.fetches
                    let cached = list(kind.name)
                    if books.fetches == fetches { found += 1 }
                    let fresh = list(nil)
                    switch (cached.0, fresh.0) {
                    case (.success(let one), .success(let other)):
                        try #require(one == other && cached.1 == fresh.1, "\(place)")
                    case (.failure, .failure): break
                    default: Issue.record("one of them is refused, \(place)")
                    }
                }
            }
            #expect(found > 0)
            // Whatever has been, one that has let go of all finds all.
            contexts[1].reset()
            for kind in kinds {
                let lists = (0..<2).map { _ in
                    kind.sections.controller(kind.request, contexts[1], cache: kind.name)
                }
                try lists[0].performFetch()
                let fetches = books.fetches
                try lists[1].performFetch()
                #expect(books.fetches == fetches && lists[0].snapshot == lists[1].snapshot)
            }
        }

        private static func forget(_ name: String) { SectionCache.shared.remove(name) }

        private func change(
            _ context: ManagedObjectContext, _ random: inout RandomSource,
            _ held: inout [ManagedObject], _ number: inout Int
        ) throws {
            number += 1
            let all = try context.all("CachedBook").filter { !$0.isDeleted }
            let writers = try context.all("CachedWriter").filter { !$0.isDeleted }
            func title() -> String { ["a", "b", "c", "d"][number % 4] + "\(number)" }
            switch random.below(22) {
            case 0..<6:
                // Nothing.
                break
            case 6: context.make("CachedBook", ["title": title(), "pages": random.below(9)])
            case 7: random.pick(all)?["title"] = title()
            case 8: random.pick(all)?["shelf"] = "s\(random.below(4))"
            case 9: random.pick(all)?["pages"] = random.below(9)
            case 10: random.pick(all)?["writer"] = random.pick(writers)
            case 11: random.pick(writers)?["country"] = ["at", "be", "ch"][random.below(3)]
            case 12: if all.count > 6, let one = random.pick(all) { context.delete(one) }
            case 13..<16: do { try context.save() } catch { context.rollback() }
            case 16: context.rollback()
            case 17:
                var request = BatchUpdateRequest(
                    entityName: "CachedBook",
                    propertiesToUpdate: ["shelf": .value(.string("s\(random.below(4))"))])
                request.predicate = .compare("pages", .equal, .integer(Int64(random.below(9))))
                try context.execute(request)
            case 18:
                try context.execute(
                    BatchInsertRequest(
                        entityName: "CachedBook",
                        objects: [["title": title(), "pages": random.below(9)]]))
            case 19:
                context.refreshAllObjects()
            case 20:
                if random.chance(30) {
                    held = []
                    context.reset()
                } else if random.chance(50) {
                    context.automaticallyMergesChangesFromParent.toggle()
                } else {
                    random.pick(all)?["mark"] = "\(random.below(3))"
                }
            default:
                held += all.filter { _ in random.chance(30) }
                held += writers
                for one in held where random.chance(30) {
                    _ = one[one.entity.name == "CachedBook" ? "title" : "country"]
                }
                if held.count > 60 { held = [] }
            }
        }
    }
}
