// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

/// A shop whose products come from a feed.
enum Feed {
    // ListsThatFollow 1 begins
    @Entity
    final class Product: ManagedObject {
        #Unique<Product>([\.serialCode])
        var serialCode: String = ""
        var name: String = ""
        var category: String = ""
        var price: Double = 0
    }
    // ListsThatFollow 1 ends

    // ListsThatFollow 3 begins
    /// Keeps the rows of a table as the controller says.
    final class Table: FetchedResultsControllerDelegate {
        var rows: [[String]] = []
        private typealias Change = (
            FetchedResultsChangeType, old: IndexPath?, new: IndexPath?, String
        )
        private var changes: [Change] = []
        private var gone: [Int] = []
        private var come: [Int] = []

        func controllerWillChangeContent(_ controller: FetchedResultsController<Product>) {
            changes = []
            gone = []
            come = []
        }

        func controller(
            _ controller: FetchedResultsController<Product>,
            didChange section: FetchedResultsSectionInfo<Product>, atSectionIndex index: Int,
            for type: FetchedResultsChangeType
        ) {
            if type == .delete { gone.append(index) } else { come.append(index) }
        }

        func controller(
            _ controller: FetchedResultsController<Product>, didChange product: Product,
            at old: IndexPath?, for type: FetchedResultsChangeType, newIndexPath new: IndexPath?
        ) {
            changes.append((type, old, new, product.name))
        }

        func controllerDidChangeContent(_ controller: FetchedResultsController<Product>) {
            // What goes goes from its old place, what comes comes to its new one.
            for change in changes where change.0 == .update {
                if let old = change.old { rows[old.section][old.item] = change.3 }
            }
            let left = changes.filter { $0.0 == .delete || $0.0 == .move }.compactMap(\.old)
            for place in left.sorted().reversed() { rows[place.section].remove(at: place.item) }
            for section in gone.reversed() { rows.remove(at: section) }
            for section in come { rows.insert([], at: section) }
            for change in changes where change.0 == .insert || change.0 == .move {
                if let new = change.new { rows[new.section].insert(change.3, at: new.item) }
            }
        }
    }
    // ListsThatFollow 3 ends
}

@Suite("Lists that follow")
struct ListsThatFollow {
    typealias Product = Feed.Product
    typealias Table = Feed.Table

    private static func feed(_ numbers: Range<Int>, price: Double) -> [[String: any Sendable]] {
        numbers.map {
            [
                "serialCode": "S\($0)", "name": "product \($0)",
                "category": $0 % 2 == 0 ? "food" : "toys", "price": price,
            ]
        }
    }

    @MainActor
    @Test("A controller follows an import in the background", arguments: Backend.compared)
    func followed(_ backend: Backend) async throws {
        let container = try backend.container(for: Product.self)
        let (yesterday, today) = (Self.feed(10..<30, price: 5), Self.feed(13..<32, price: 4))
        try await container.performBackgroundTask { context in
            _ = try context.execute(BatchInsertRequest(Product.self, objects: yesterday))
        }
        // ListsThatFollow 2 begins
        let view = container.viewContext
        view.automaticallyMergesChangesFromParent = true
        let controller = FetchedResultsController(
            fetchRequest: FetchRequest<Product>(
                sortBy: [SortKey(\Product.category), SortKey(\Product.name)]),
            managedObjectContext: view, sectionNameKeyPath: \.category)
        let table = Table()
        controller.delegate = table
        try controller.performFetch()
        table.rows = controller.sections?.map { $0.objects.map(\.name) } ?? []
        // [["product 10", "product 12", …], ["product 11", "product 13", …]]
        // ListsThatFollow 2 ends
        func products(_ numbers: Range<Int>) -> [[String]] {
            [0, 1].map { odd in numbers.filter { $0 % 2 == odd }.map { "product \($0)" } }
        }
        #expect(table.rows == products(10..<30))
        var changes = view.changes.inTime().makeAsyncIterator()
        // ListsThatFollow 4 begins
        let result = try await container.performBackgroundTask { context in
            var request = BatchInsertRequest(Product.self, objects: today).deletingMissing()
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.resultType = .count
            return try context.execute(request)
        }
        // 2 inserted, 17 updated, 3 deleted
        // ListsThatFollow 4 ends
        #expect(result.insertedCount == 2 && result.updatedCount == 17)
        #expect(result.deletedCount == 3)
        _ = await changes.next(isolation: #isolation)
        // The merge is told when it is complete.
        await Task.yield()
        view.processPendingChanges()
        #expect(controller.numberOfObjects == 19)
        let names = controller.sections?.map { $0.objects.map(\.name) }
        #expect(names == products(13..<32))
        #expect(table.rows == names)
        #expect(try view.count(for: FetchRequest<Product>()) == 19)
        #expect(try view.fetch(FetchRequest<Product>()).allSatisfy { $0.price == 4 })
        let place = try #require(
            controller.fetchedObjects?.first { $0.serialCode == "S18" }.flatMap(
                controller.indexPath(forObject:)))
        // ListsThatFollow 5 begins
        let product = controller.object(at: place)  // of "food", the third
        product.category = "toys"
        view.processPendingChanges()
        let now = controller.indexPath(forObject: product)  // in the section of the toys
        // ListsThatFollow 5 ends
        #expect(place == IndexPath(item: 2, section: 0) && now == IndexPath(item: 3, section: 1))
        #expect(table.rows == controller.sections?.map { $0.objects.map(\.name) })
    }

    @Test("The same as a sequence", arguments: Backend.compared)
    func sequence(_ backend: Backend) async throws {
        let container = try backend.container(for: Product.self)
        let today = Self.feed(0..<4, price: 5)
        // ListsThatFollow 6 begins
        let reader = container.newBackgroundContext()
        let results = try await reader.perform { context in
            context.automaticallyMergesChangesFromParent = true
            let request = FetchRequest<Product>(
                predicate: .compare(\Product.price, .less, 10),
                sortBy: [SortKey(\Product.category), SortKey(\Product.name)])
            return try context.results(of: request, sectionedBy: \.category)
        }
        let shown = Task {
            var last = FetchedResultsSnapshot()
            for try await snapshot in results {
                let change = snapshot.difference(from: last)
                print(change.insertions.count, "came,", change.removals.count, "went")
                last = snapshot
                if snapshot.numberOfItems == 4 { break }
            }
            return last
        }
        try await container.performBackgroundTask { context in
            _ = try context.execute(BatchInsertRequest(Product.self, objects: today))
        }
        // ListsThatFollow 6 ends
        let last = try await inTime(for: "four products to be shown") { try await shown.value }
        #expect(last.sectionIdentifiers == ["food", "toys"])
        let codes = try await reader.perform { context in
            try last.itemIdentifiers.map { id in
                try #require(context.object(with: id) as? Product).serialCode
            }
        }
        #expect(codes == ["S0", "S2", "S1", "S3"])
    }
}
