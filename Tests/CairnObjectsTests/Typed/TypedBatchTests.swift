// Batch inserts that are filled by the names of properties.

import Cairn
import Foundation
import Synchronization
import Testing

@testable import CairnObjects

@Suite("Typed batch inserts")
struct TypedBatchTests {
    @Test("A closure fills rows until it says that there is none left")
    func closure() throws {
        let context = try typedContext(TypedProduct.self)
        let next = Atomic(0)
        let result = try context.execute(
            BatchInsertRequest(TypedProduct.Columns.self) { row in
                let number = next.add(1, ordering: .relaxed).oldValue
                if number == 3000 { return true }
                row.serialCode = "\(number)"
                row.price = Double(number)
                return false
            })
        #expect(result.insertedCount == 3000)
        var request = FetchRequest<TypedProduct>(sortBy: [SortKey("price", ascending: false)])
        request.fetchLimit = 2
        #expect(try context.fetch(request).map(\.serialCode) == ["2999", "2998"])
    }

    @Test("A request can be carried out twice, and the second time updates")
    func twice() throws {
        let context = try typedContext(TypedProduct.self)
        context.mergePolicy = .mergeByPropertyObjectTrump
        let request = BatchInsertRequest(TypedProduct.self, from: ["a", "b"]) { row, code in
            row.serialCode = code
            row.stock = 4
        }
        #expect(try context.execute(request).insertedCount == 2)
        #expect(try context.execute(request).unchangedCount == 2)
    }

    @Test("Values of every kind go into their columns")
    func kinds() throws {
        let context = try typedContext(TypedThing.self)
        try context.execute(
            BatchInsertRequest(TypedThing.self, from: 0..<2) { row, number in
                row.unit = .dark
                row.otherShade = number == 0 ? nil : .light
                row.level = Level(rawValue: 5)
                row.otherLevel = Level(rawValue: 6)
                row.cost = number == 0 ? nil : Money(amount: 2, currency: "X")
                row.price = Money(amount: 3, currency: "Y")
                row.words = ["w"]
                row.home = Address(street: "S", city: "C")
                row.work = number == 0 ? nil : Address(street: "T", notes: ["n"])
                row.place = Place(second: Address(street: "U"))
            })
        let things = try context.fetch(FetchRequest<TypedThing>())
        #expect(things.map(\.otherShade) == [nil, .light])
        #expect(things.map(\.cost) == [nil, Money(amount: 2, currency: "X")])
        #expect(things.map(\.work) == [nil, Address(street: "T", notes: ["n"])])
        let thing = things[1]
        #expect(thing.unit == .dark && thing.shade == .light && thing.level.rawValue == 5)
        #expect(thing.otherLevel?.rawValue == 6 && thing.price == Money(amount: 3, currency: "Y"))
        #expect(thing.words == ["w"] && thing.scores == ["a": 1])
        #expect(thing.home == Address(street: "S", city: "C"))
        #expect(thing.place == Place(second: Address(street: "U")))
    }

    @Test("Plain values of every type go into their columns")
    func plain() throws {
        let context = try typedContext(TypedSample.self)
        let identifier = UUID()
        try context.execute(
            BatchInsertRequest(TypedSample.self, from: [0]) { row, _ in
                row.integer = 10
                row.integer16 = 11
                row.byte = 255
                row.double = .max
                row.flag = false
                row.short = 0.5
                row.exact = 2.5
                row.moment = .distantFuture
                row.bytes = Data([9])
                row.identifier = identifier
                row.link = URL(string: "x:y")!
                row.optionalFlag = nil
                row.optionalText = "t"
            })
        let sample = try context.fetch(FetchRequest<TypedSample>())[0]
        #expect(sample.integer == 10 && sample.integer16 == 11 && sample.byte == 255)
        #expect(sample.double == .max && !sample.flag && sample.short == 0.5)
        #expect(sample.exact == 2.5 && sample.moment == .distantFuture)
        #expect(sample.bytes == Data([9]) && sample.identifier == identifier)
        #expect(sample.link.absoluteString == "x:y" && sample.optionalFlag == nil)
        #expect(sample.optionalText == "t" && sample.text == "text")
    }

    @Test("Rows of a subclass have inherited properties, too")
    func inherited() throws {
        let context = try typedContext(TypedBoss.self)
        try context.execute(
            BatchInsertRequest(TypedBoss.Columns.self, from: ["a", "b"]) { row, name in
                row.name = name
                row.salary = 5
                row.bonus = 6
                row.withInherited { $0.withInherited { $0.address = Address(street: name) } }
            })
        let bosses = try context.fetch(FetchRequest<TypedBoss>(sortBy: [SortKey("name")]))
        #expect(bosses.map(\.name) == ["a", "b"] && bosses.map(\.salary) == [5, 5])
        #expect(bosses.map(\.bonus) == [6, 6])
        #expect(bosses.map(\.address?.street) == ["a", "b"])
        // By the class alone the row has what the root has, and is of the class all the same.
        try context.execute(
            BatchInsertRequest(TypedEmployee.self, from: ["c"]) { row, name in row.name = name })
        #expect(try context.count(for: FetchRequest<TypedEmployee>()) == 3)
        #expect(try context.count(for: FetchRequest<TypedBoss>()) == 2)
    }

    @Test("Dictionaries and values that encode themselves find the entity by its class")
    func others() throws {
        struct Row: Encodable, Sendable {
            var serialCode: String
            var price: Double
        }
        let context = try typedContext(TypedProduct.self)
        try context.execute(
            BatchInsertRequest(TypedProduct.self, objects: [["serialCode": "a", "price": 1]]))
        try context.execute(
            BatchInsertRequest(TypedProduct.self, encodable: [Row(serialCode: "b", price: 2)]))
        let products = try context.fetch(FetchRequest<TypedProduct>(sortBy: [SortKey("price")]))
        #expect(products.map(\.serialCode) == ["a", "b"])
    }

    @Test("A property that the store has with another type refuses the request by name")
    func mismatch() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: [.init("text", .integer64)])
        ])
        let context = ManagedObjectContext(store: try LogStore.inMemory(schema: try Schema(model)))
        let error = #expect(throws: StoreError.self) {
            try context.execute(
                BatchInsertRequest(VersionOne.Note.self, from: ["x"]) { row, text in
                    row.text = text
                })
        }
        #expect(error?.code == .incompatibleModel && error?.context.key == "text")
    }
}
