// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@Entity
final class Ticket: ManagedObject {
    @Attribute(.unique) var code: String = ""
    var price: Double = 0
}

@Suite("A store as it was")
struct AStoreAsItWas {
    @Test("Prices of then are read in a context, beside those of now, and given up in the end")
    func prices() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.cairn")

        // AStoreAsItWas 1 begins
        var options = LogStoreOptions()
        options.pastStates = .seconds(90 * 86_400)
        options.persistentHistoryTracking = true
        let container = try PersistentContainer(at: path, for: Ticket.self, options: options)
        // AStoreAsItWas 1 ends
        let store = try #require(container.store as? LogStore)

        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        for (code, price) in [("A", 5.0), ("B", 6.0)] {
            let ticket = context.insert(Ticket.self)
            ticket.code = code
            ticket.price = price
        }
        try context.save()
        let before = try #require(try store.execute(.fetchHistory(after: nil)).transactions.last)
        for ticket in try context.fetch(FetchRequest<Ticket>()) { ticket.price *= 2 }
        try context.save()
        let last = try #require(try store.execute(.fetchHistory(after: nil)).transactions.last)

        // AStoreAsItWas 2 begins
        let then = ManagedObjectContext(store: container.store, classes: container.classes)
        try then.setQueryGeneration(from: try store.queryGeneration(at: before.transactionNumber))
        let prices = try then.fetch(FetchRequest<Ticket>()).map(\.price)
        // AStoreAsItWas 2 ends
        #expect(prices.sorted() == [5, 6])
        #expect(try context.fetch(FetchRequest<Ticket>()).map(\.price).sorted() == [10, 12])

        // AStoreAsItWas 3 begins
        var changes: [String] = []
        try store.readValues(of: last) { object in
            if let old = object.before?["price"], let new = object.after?["price"] {
                changes.append("\(old) is \(new) now")
            }
            return true
        }
        // AStoreAsItWas 3 ends
        #expect(changes.count == 2)

        // AStoreAsItWas 4 begins
        if let bounds = try store.pastStateBounds() {
            print("from commit \(bounds.horizon) on, \(bounds.bytes) bytes for it")
            try store.purgePastStates(before: bounds.last)
        }
        // AStoreAsItWas 4 ends
        let error = #expect(throws: StoreError.self) {
            _ = try store.queryGeneration(at: before.transactionNumber)
        }
        #expect(error?.code == .pastStateUnavailable)
    }
}
