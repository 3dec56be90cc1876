// Objects of typed classes: defaults that are computed, marks, inheritance and relationships.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@testable import CairnObjects

@Suite("Objects of typed classes")
struct TypedObjectTests {
    @Test("A computed default is computed for each new object, and stored")
    func computedDefaults() throws {
        let context = try typedContext(TypedMarks.self)
        let before = Date()
        let first = context.insert(TypedMarks.self)
        let second = TypedMarks(context: context)
        #expect(first.created >= before && first.created <= Date())
        #expect(first.token != second.token)
        #expect(first.changedValues().isEmpty)
        let (firstToken, secondToken) = (first.token, second.token)
        for (object, code) in zip([first, second], ["AA", "BB"]) {
            object.code = code
            let part = context.insert(TypedPart.self)
            object.parts = [part]
            object.main = part
        }
        try context.save()
        let other = ManagedObjectContext(store: context.store, classes: context.classes)
        let found = try other.fetch(FetchRequest<TypedMarks>(sortBy: [SortKey("code")]))
        #expect(found.map(\.token) == [firstToken, secondToken])
    }

    @Test("A value that was set before the object had a context is kept")
    func setBefore() throws {
        let context = try typedContext(TypedMarks.self)
        let entity = context.entity(named: "Marked")
        let object = TypedMarks(entity: entity, insertInto: nil)
        object.created = .distantPast
        #expect(object.price == 5 && object.selection == 3 && object.cache == [1])
        context.insert(object)
        #expect(object.created == .distantPast)
    }

    @Test("Limits are checked when the object is saved")
    func limits() throws {
        let context = try typedContext(TypedMarks.self)
        let object = context.insert(TypedMarks.self)
        object.code = "toolong"
        object.price = 11
        let error = #expect(throws: StoreError.self) { try context.save() }
        let codes = Set(error?.details.map(\.code) ?? [])
        #expect(codes.isSuperset(of: [.stringTooLong, .stringPattern, .numberTooLarge]))
        // main is mandatory, parts has at least one member once it has any.
        #expect(codes.contains(.missingMandatory))
    }

    @Test(
        "An ephemeral attribute counts as a change but is not stored; a transient property does not"
    )
    func ephemeral() throws {
        let context = try typedContext(TypedPart.self)
        let object = context.insert(TypedMarks.self)
        object.code = "AA"
        let part = context.insert(TypedPart.self)
        object.main = part
        try context.save()
        #expect(!context.hasChanges)
        object.cache.append(2)
        object.lazyCache = 4
        #expect(!context.hasChanges && object.cache == [1, 2])
        object.selection = 8
        #expect(context.hasChanges && object.selection == 8)
        #expect(!object.hasPersistentChangedValues)
        try context.save()
        let other = ManagedObjectContext(store: context.store, classes: context.classes)
        #expect(try other.fetch(FetchRequest<TypedMarks>())[0].selection == 3)
    }

    @Test("A derived attribute has its value as soon as its object is saved")
    func derived() throws {
        let context = try typedContext(TypedMarks.self)
        let object = context.insert(TypedMarks.self)
        object.code = "AB"
        object.main = context.insert(TypedPart.self)
        #expect(object.search == nil)
        try context.save()
        #expect(object.search == "ab")
        object.code = "XY"
        #expect(object.search == "ab")
        try context.save()
        #expect(object.search == "xy")
    }

    @Test("Objects of subclasses are of their class wherever they are met")
    func inheritance() throws {
        let context = try typedContext(TypedBoss.self)
        let firm = context.insert(TypedFirm.self)
        firm.title = "F"
        let boss = TypedBoss("Ada", in: context)
        boss.salary = 100
        boss.bonus = 2.5
        boss.address = Address(street: "S", city: "C")
        let employee = TypedEmployee("Bob", in: context)
        employee.boss = boss
        firm.people = [boss, employee]
        #expect(boss.reports == [employee] && employee.firm == firm && employee.salary == 10)
        try context.save()

        let other = ManagedObjectContext(store: context.store, classes: context.classes)
        let people = try other.fetch(FetchRequest<TypedPerson>(sortBy: [SortKey("name")]))
        #expect(people.map { "\(type(of: $0))" } == ["TypedBoss", "TypedEmployee"])
        let ada = try #require(people[0] as? TypedBoss)
        #expect(ada.salary == 100 && ada.bonus == 2.5 && ada.address?.city == "C")
        #expect(ada.note == "TypedBoss" && ada.reports.map(\.name) == ["Bob"])
        #expect((people[1] as? TypedEmployee)?.boss === ada)
        #expect(people[1].firm?.people == Set(people))
        #expect(try other.fetch(FetchRequest<TypedBoss>()) == [ada])
        #expect(try other.count(for: FetchRequest<TypedEmployee>()) == 2)
        #expect(try other.fetch(FetchRequest(entityName: "TypedPerson")).count == 2)
        #expect(try other.fetch(FetchRequest<TypedPerson>(entityName: "TypedBoss")) == [ada])
    }

    @Test("Both forms of an inverse keep the other side")
    func inverses() throws {
        let context = try typedContext(TypedMarks.self)
        let object = context.insert(TypedMarks.self)
        let parts = (0..<3).map { _ in context.insert(TypedPart.self) }
        object.parts = parts
        #expect(parts.allSatisfy { $0.owner === object })
        parts[1].owner = nil
        #expect(Set(object.parts) == [parts[0], parts[2]])
        parts[0].default = 4
        #expect(parts[0]["default"] as? Int == 4)
        let tag = try typedContext(TypedTag.self).insert(TypedTag.self)
        let context2 = try #require(tag.managedObjectContext)
        let product = context2.insert(TypedProduct.self)
        tag.products.insert(product)
        #expect(product.tags == [tag])
        product.tags.remove(tag)
        #expect(tag.products.isEmpty)
    }

    @Test("A nested class has its entity, and a property of a private type works")
    func nested() throws {
        let context = try typedContext(VersionOne.Note.self)
        let note = context.insert(VersionOne.Note.self)
        #expect(!note.isSecret && note.entity.name == "Note")
        note.isSecret = true
        try context.save()
        #expect(note.isSecret)
    }

    @Test("Classes serve a store whose model has the same properties in another order")
    func otherOrder() throws {
        var product = try #require(
            ManagedObjectModel(for: TypedProduct.self).entity(named: "TypedProduct"))
        product.attributes.reverse()
        product.attributes.insert(AttributeDescription("extra", .integer64), at: 1)
        product.relationships.reverse()
        var model = ManagedObjectModel(for: TypedProduct.self)
        model.entities[0] = product
        let context = ManagedObjectContext(
            store: try LogStore.inMemory(schema: try Schema(model)),
            classes: ObjectClasses(for: TypedProduct.self))
        let object = context.insert(TypedProduct.self)
        object.serialCode = "X"
        object.price = 3
        object.maker = context.insert(TypedMaker.self)
        try context.save()
        #expect(object["serialCode"] as? String == "X" && object["price"] as? Double == 3)
        let result = try context.execute(
            BatchInsertRequest(TypedProduct.self, from: ["Y"]) { row, code in
                row.serialCode = code
                row.stock = 7
                row.category = "c"
            })
        #expect(result.insertedCount == 1)
        let batch = try context.fetch(
            FetchRequest<TypedProduct>(predicate: .compare("serialCode", .equal, .string("Y"))))
        #expect(batch.map(\.stock) == [7] && batch.map(\.category) == ["c"])
    }

    @Test("A property that the store does not have is a mistake of the program")
    func missing() async {
        await #expect(processExitsWith: .failure) {
            let model = ManagedObjectModel(entities: [
                EntityDescription("TypedProduct", attributes: [.init("serialCode", .integer64)])
            ])
            let context = ManagedObjectContext(
                store: try LogStore.inMemory(schema: try Schema(model)),
                classes: ObjectClasses(["TypedProduct": TypedProduct.self]))
            context.insert(TypedProduct.self).serialCode = "x"
        }
    }
}
