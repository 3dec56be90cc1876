// Snapshots of objects: their values at one moment, as values.

import Cairn
import Foundation
import StoreBackends
import Testing

@Suite("Snapshots of objects")
struct SnapshotTests {
    private func stack(_ backend: Backend, _ types: any PersistentEntity.Type...) throws -> Stack {
        try Stack(ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
    }

    private func product(in context: ManagedObjectContext) -> TypedProduct {
        let product = context.insert(TypedProduct.self)
        product.serialCode = "1"
        product.name = "chair"
        product.price = 9.5
        product.stock = 3
        return product
    }

    @Test(
        "A snapshot has the values of the class's types and outlives the object",
        arguments: Backend.allCases)
    func values(_ backend: Backend) throws {
        let stack = try stack(backend, TypedProduct.self)
        let context = stack.context()
        let object = product(in: context)
        let tag = context.insert(TypedTag.self)
        let maker = context.insert(TypedMaker.self)
        object.tags = [tag]
        object.maker = maker
        try context.save()
        object.name = "table"
        let snapshot: ObjectSnapshot<TypedProduct> = object.snapshot(including: \.tags)
        context.delete(object)
        try context.save()
        #expect(snapshot.name == "table" && snapshot.price == 9.5 && snapshot.stock == 3)
        #expect(snapshot.category == nil && snapshot.serialCode == "1")
        #expect(snapshot.maker == maker.objectID && snapshot.tags == [tag.objectID])
        #expect(snapshot.objectID == object.objectID && snapshot.objectVersion == 1)
        #expect(snapshot.entityName == "TypedProduct")
        #expect(snapshot["name"] as? String == "table" && snapshot["category"] == nil)
        #expect(snapshot["maker"] as? ObjectID == maker.objectID)
        #expect(snapshot["tags"] as? [ObjectID] == [tag.objectID])
    }

    @Test(
        "A snapshot of a fault reads the row; that of a new object has version 0",
        arguments: Backend.allCases)
    func faults(_ backend: Backend) throws {
        let stack = try stack(backend, TypedProduct.self)
        let context = stack.context()
        let object = product(in: context)
        #expect(object.snapshot().objectVersion == 0 && object.snapshot().objectID.isTemporary)
        try context.save()
        let other = stack.context()
        let fault = try #require(other.object(with: object.objectID) as? TypedProduct)
        #expect(fault.isFault)
        let snapshot = fault.snapshot()
        #expect(snapshot.name == "chair" && !fault.isFault)
        #expect(snapshot == object.snapshot())
        object.stock = 4
        #expect(snapshot != object.snapshot())
    }

    @Test("Values of every kind come as what they are, and missing ones as their defaults")
    func kinds() throws {
        let stack = try stack(.log, TypedThing.self, TypedBlank.self, TypedSample.self)
        let context = stack.context()
        let thing = context.insert(TypedThing.self)
        thing.unit = .dark
        thing.otherLevel = Level(rawValue: 4)
        thing.cost = Money(amount: 2, currency: "EUR")
        thing.words = ["a", "b"]
        thing.home = Address(street: "s", city: "c", level: .low, notes: ["n"])
        let values = thing.snapshot()
        #expect(values.shade == .light && values.otherShade == nil && values.unit == .dark)
        #expect(values.level == .low && values.otherLevel == Level(rawValue: 4))
        #expect(values.cost == thing.cost && values.price == thing.price)
        #expect(values.words == ["a", "b"] && values.scores == ["a": 1])
        #expect(values.home == thing.home && values.home.city == "c" && values.work == nil)
        #expect(values.place == nil)
        #expect((values["home"] as? [String: Any])?["home.street"] as? String == "s")
        let blank = context.insert(TypedBlank.self).snapshot()
        #expect(blank.text == "" && blank.integer == 0 && !blank.flag && blank.bytes == Data())
        #expect(blank.moment == Date(timeIntervalSinceReferenceDate: 0))
        let sample = context.insert(TypedSample.self)
        let other = sample.snapshot()
        #expect(other.integer8 == 5 && other.byte == 6 && other.exact == 1.5)
        #expect(other.link == sample.link && other.identifier == nil && other.optionalFlag == true)
    }

    @Test(
        "Inherited properties, derived ones and ephemeral ones are there",
        arguments: Backend.allCases)
    func inherited(_ backend: Backend) throws {
        let stack = try stack(
            backend, TypedBoss.self, TypedEmployee.self, TypedPerson.self, TypedFirm.self,
            TypedMarks.self, TypedPart.self)
        let context = stack.context()
        let boss = context.insert(TypedBoss.self)
        boss.name = "B"
        boss.bonus = 4
        let employee = context.insert(TypedEmployee.self)
        employee.name = "E"
        employee.boss = boss
        let marks = context.insert(TypedMarks.self)
        marks.code = "AB"
        marks.selection = 8
        marks.parts = [context.insert(TypedPart.self)]
        marks.main = marks.parts.first
        try context.save()
        let snapshot = boss.snapshot(including: \.reports)
        #expect(snapshot.name == "B" && snapshot.salary == 10 && snapshot.bonus == 4)
        #expect(snapshot.reports == [employee.objectID] && snapshot.boss == nil)
        let people = [boss as TypedEmployee, employee].snapshots()
        #expect(
            people.map(\.name) == ["B", "E"]
                && people.map(\.entityName) == ["TypedBoss", "TypedEmployee"])
        #expect(people[1].boss == boss.objectID)
        #expect(marks.snapshot().search == "ab" && marks.snapshot().selection == 8)
    }

    @Test("Objects without a class have snapshots too", arguments: Backend.allCases)
    func untyped(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let shop = context.make("Shop", ["name": "S"])
        let product = context.make("Product", ["name": "P", "shop": shop])
        try context.save()
        let snapshot: ObjectSnapshot<ManagedObject> = shop.snapshot(including: ["products"])
        #expect(snapshot["name"] as? String == "S")
        #expect(snapshot["products"] as? [ObjectID] == [product.objectID])
        let all = try context.all("Product").snapshots()
        #expect(all.map { $0["name"] as? String } == ["P"])
        #expect(all[0]["shop"] as? ObjectID == shop.objectID && all[0]["price"] as? Double == 0)
        #expect("\(all[0])" == "Product \(product.objectID), version 1")
    }

    @Test("Snapshots leave their context, come back from JSON and are what they were")
    func coding() async throws {
        let stack = try stack(.log, TypedProduct.self)
        let door = stack.container.newBackgroundContext()
        let sent = try await door.perform { context in
            let product = product(in: context)
            product.price = .nan
            product.tags = [context.insert(TypedTag.self)]
            try context.save()
            return try context.fetch(FetchRequest<TypedProduct>()).snapshots(including: \.tags)
        }
        let data = try JSONEncoder().encode(sent)
        let back = try JSONDecoder().decode([ObjectSnapshot<TypedProduct>].self, from: data)
        #expect(back[0].name == "chair" && back[0].price.isNaN && back[0].category == nil)
        #expect(back[0].tags == sent[0].tags && back[0].tags.count == 1)
        #expect(back[0].objectID == sent[0].objectID && back[0].hashValue == sent[0].hashValue)
        #expect(back == sent && Set(back + sent).count == 1)
    }

    @Test("What another version of the program has not written of a snapshot is missing")
    func incomplete() throws {
        let stack = try stack(.log, TypedProduct.self)
        let context = stack.context()
        let object = product(in: context)
        try context.save()
        let written = try JSONEncoder().encode(object.snapshot(including: \.tags))
        var fields = try #require(
            try JSONSerialization.jsonObject(with: written) as? [String: Any])
        fields["values"] = [String: Any]()
        fields["members"] = nil
        let back = try JSONDecoder().decode(
            ObjectSnapshot<TypedProduct>.self,
            from: try JSONSerialization.data(withJSONObject: fields))
        #expect(back.objectID == object.objectID && back.tags.isEmpty && back.category == nil)
        #expect(back["tags"] == nil && back["name"] == nil)
    }

    @Test("Members that were not asked for are a mistake, and so is what is not persistent")
    func mistakes() async {
        await #expect(processExitsWith: .failure) {
            let types: [any PersistentEntity.Type] = [TypedProduct.self]
            let stack = try Stack(
                ManagedObjectModel(for: types), .log, classes: ObjectClasses(for: types))
            let context = stack.context()
            let snapshot = context.insert(TypedProduct.self).snapshot()
            _ = snapshot.tags
        }
        await #expect(processExitsWith: .failure) {
            let types: [any PersistentEntity.Type] = [TypedMarks.self]
            let stack = try Stack(
                ManagedObjectModel(for: types), .log, classes: ObjectClasses(for: types))
            let context = stack.context()
            _ = context.insert(TypedMarks.self).snapshot().computed
        }
    }
}
