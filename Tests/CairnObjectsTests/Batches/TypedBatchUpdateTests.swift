// Batch updates by the names of a class's properties.

import Cairn
import Foundation
import Testing

@testable import CairnObjects

@Suite("Typed batch updates")
struct TypedBatchUpdateTests {
    @Test(
        "Key paths name properties, predicates the objects, and values are of the property's type")
    func keyPaths() throws {
        let context = try typedContext(TypedProduct.self)
        try context.execute(
            BatchInsertRequest(TypedProduct.self, from: 0..<6) { row, number in
                row.serialCode = "\(number)"
                row.price = Double(number)
                row.stock = number
            })
        let limit = 3.0
        let result = try context.execute(
            BatchUpdateRequest(TypedProduct.self, where: #Predicate { $0.price < limit })
                .set(\TypedProduct.price, to: 9)
                .set(\TypedProduct.stock, to: #Expression { $0.stock * 2 + 1 }))
        #expect(result.updatedCount == 3)
        let products = try context.fetch(
            FetchRequest<TypedProduct>(sortBy: [SortKey("serialCode")]))
        #expect(products.map(\.price) == [9, 9, 9, 3, 4, 5])
        #expect(products.map(\.stock) == [1, 3, 5, 3, 4, 5])
        let more = try context.execute(
            BatchUpdateRequest(
                TypedProduct.self, predicate: .compare(\TypedProduct.price, .equal, 9)
            ).set(\TypedProduct.stock, to: ExpressionNode(format: "stock - 1")))
        #expect(more.updatedCount == 3)
    }

    @Test("Rows name targets by id or key, and updates let relationships lead to others")
    func targets() throws {
        let context = try typedContext(TypedBoss.self, TypedEmployee.self, TypedFirm.self)
        let firms = ["one", "two"].map { title in
            let firm = TypedFirm(context: context)
            firm.title = title
            return firm
        }
        try context.save()
        let ids = firms.map(\.objectID)
        try context.execute(
            BatchInsertRequest(TypedBoss.Columns.self, from: ["Ann"]) { row, name in
                row.withInherited { $0.withInherited { $0.name = name } }
            })
        try context.execute(
            BatchInsertRequest(TypedEmployee.Columns.self, from: ["a", "b", "c"]) { row, name in
                row.name = name
                row.firm = name == "b" ? nil : .id(ids[0])
                row.boss = .key("Ann")
            })
        func employees() throws -> [TypedEmployee] {
            try context.fetch(
                FetchRequest<TypedEmployee>(
                    predicate: .compare("name", .notEqual, .string("Ann")),
                    sortBy: [SortKey("name")]))
        }
        #expect(try employees().map { $0.firm?.title } == ["one", nil, "one"])
        #expect(try employees().allSatisfy { $0.boss?.name == "Ann" })
        try context.execute(
            BatchUpdateRequest(TypedEmployee.self, where: #Predicate { $0.name == "c" })
                .set(\TypedEmployee.firm, toObject: ids[1])
                .set(\TypedEmployee.boss, toObject: nil))
        context.refreshAllObjects()
        #expect(try employees().map { $0.firm?.title } == ["one", nil, "two"])
        #expect(try employees().map { $0.boss?.name } == ["Ann", "Ann", nil])
    }

    @Test("Raw values and nil are set, and what has no form of its own is refused")
    func kinds() throws {
        let context = try typedContext(TypedThing.self)
        try context.execute(
            BatchInsertRequest(TypedThing.self, from: 0..<2) { row, _ in
                row.unit = .light
                row.otherShade = .light
                row.level = Level(rawValue: 5)
                row.price = Money(amount: 3, currency: "Y")
                row.words = ["w"]
                row.home = Address(street: "S", city: "C")
                row.place = Place(second: Address(street: "U"))
            })
        try context.execute(
            BatchUpdateRequest(TypedThing.self)
                .set(\TypedThing.otherShade, to: nil).set(\TypedThing.unit, to: .dark)
                .set(\TypedThing.home.city, to: "Bern"))
        let things = try context.fetch(FetchRequest<TypedThing>())
        #expect(things.allSatisfy { $0.otherShade == nil && $0.unit == .dark })
        #expect(things.allSatisfy { $0.home.city == "Bern" })
        #expect(throws: StoreError.self) {
            try context.execute(
                BatchUpdateRequest(TypedThing.self).set(\TypedThing.words, to: ["x"]))
        }
    }
}
