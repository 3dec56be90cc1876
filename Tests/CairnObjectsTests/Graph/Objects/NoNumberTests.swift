// Decimal numbers that are NaN and dates that are no moment: an object keeps them as they were set until it is saved, and no
// save and no batch stores them, as they are or as nil.

import Cairn
import CairnStore
import Foundation
import StoreBackends
import Testing

@Entity
final class PricedItem: ManagedObject {
    @Attribute(.unique) var name: String = ""
    var price: Decimal = 0
    var discount: Decimal?
    var since: Date?
}

@Suite("Numbers and dates that are none")
struct NoNumberTests {
    private static func stack() throws -> Stack {
        try Stack(
            ManagedObjectModel(for: PricedItem.self), .log,
            classes: ObjectClasses(for: PricedItem.self))
    }

    @Test("An object shows NaN as it was set, and is not saved with it")
    func objects() throws {
        let stack = try Self.stack()
        let context = stack.context()
        let item = context.insert(PricedItem.self)
        item.name = "anchor"
        item.price = .nan
        item.discount = .nan
        #expect(item.price.isNaN)
        #expect(item.discount?.isNaN == true)
        let error = storeError { try context.save() }
        #expect(error?.code == .multiple)
        #expect(error?.details.map(\.code) == [.invalidDate, .invalidDate])
        #expect(Set(error?.details.compactMap(\.context.key) ?? []) == ["price", "discount"])

        item.price = 7
        item.discount = nil
        try context.save()
        item["discount"] = Decimal.nan
        #expect(storeError { try context.save() }?.code == .invalidDate)
        context.rollback()
        #expect(item.discount == nil)
        #expect(item.price == 7)
    }

    @Test("A child context does not hand NaN to its parent, and sees one that the parent has")
    func childContexts() throws {
        let stack = try Self.stack()
        let context = stack.context()
        let item = context.insert(PricedItem.self)
        item.discount = .nan
        let child = context.newChildContext()
        let same = try #require(child.object(with: item.objectID) as? PricedItem)
        #expect(same.discount?.isNaN == true)
        same.discount = 3
        same.price = .nan
        #expect(storeError { try child.save() }?.code == .invalidDate)
        #expect(item.price == 0)
    }

    @Test("A batch insert refuses NaN, from dictionaries and from a closure, and names row and key")
    func batchInserts() throws {
        let stack = try Self.stack()
        let context = stack.context()
        let rows: [[String: Any]] = [
            ["name": "a", "price": Decimal(1)], ["name": "b", "price": Decimal.nan],
        ]
        let error = storeError {
            try context.execute(BatchInsertRequest(entityName: "PricedItem", objects: rows))
        }
        #expect(error?.code == .invalidDate)
        #expect(error?.context.row == 1)
        #expect(error?.context.key == "price")

        let filled = storeError {
            try context.execute(
                BatchInsertRequest(PricedItem.self, from: ["a", "b", "c"]) { row, name in
                    row.name = name
                    if name != "a" { row.discount = .nan }
                    if name == "b" { row.discount = 2 }
                })
        }
        #expect(filled?.context.row == 2, "row 1 has another value after all")
        #expect(filled?.context.key == "discount")
        #expect(try context.count(for: FetchRequest<PricedItem>()) == 0)
    }

    @Test("A batch insert refuses a date that is no moment")
    func batchDates() throws {
        let stack = try Self.stack()
        let context = stack.context()
        for seconds in [Double.nan, .infinity, -.infinity] {
            let since = Date(timeIntervalSinceReferenceDate: seconds)
            let error = storeError {
                try context.execute(
                    BatchInsertRequest(
                        entityName: "PricedItem", objects: [["name": "a", "since": since]]))
            }
            #expect(error?.code == .invalidDate)
            #expect(error?.context.key == "since")
        }
    }

    @Test("A batch update refuses both as constants")
    func batchUpdates() throws {
        let stack = try Self.stack()
        let context = stack.context()
        let item = context.insert(PricedItem.self)
        item.discount = 1
        try context.save()
        let none: [(String, Value)] = [
            ("discount", .decimal(.nan)),
            ("since", .date(Date(timeIntervalSinceReferenceDate: .nan))),
        ]
        for (key, value) in none {
            let error = storeError {
                try context.execute(
                    BatchUpdateRequest(
                        entityName: "PricedItem", propertiesToUpdate: [key: .value(value)]))
            }
            #expect(error?.code == .invalidDate, "\(key)")
        }
        context.refreshAllObjects()
        #expect(item.discount == 1)
    }
}
