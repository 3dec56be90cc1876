// Initializers of subclasses, which run for new objects and for those of stored rows alike.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

/// Makes another object before it is one itself.
final class Founder: ManagedObject {
    /// What others are, while an object is made without a context.
    @TaskLocal static var other: SchemaEntity?

    let companion: ManagedObject?

    required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
        companion =
            context?.insert("Product")
            ?? Self.other.map { ManagedObject(entity: $0, insertInto: nil) }
        super.init(entity: entity, insertInto: context)
    }
}

/// Fetches while it is being made.
final class Curious: ManagedObject {
    /// Where it looks.
    @TaskLocal static var other: Stack?

    let products = other.flatMap {
        try? $0.context().fetch(FetchRequest(entityName: "Product"))
    }
}

@Suite("Initializers of subclasses")
struct InitializerTests {
    private let classes = ObjectClasses(["Shop": Founder.self])

    @Test(
        "One that makes another object before its own is not mistaken, for a stored row, too",
        arguments: Backend.allCases)
    func companions(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend, classes: classes)
        let context = stack.context()
        let founder = Founder(context: context)
        founder["name"] = "first"
        try context.save()
        #expect(founder.companion?.isInserted == false)

        let other = stack.context()
        let product = other.entity(named: "Product")
        let found = try Founder.$other.withValue(product) {
            try #require(try other.all("Shop").first as? Founder)
        }
        let companion = try #require(found.companion)
        #expect(found.managedObjectContext === other && !found.isInserted)
        #expect(found.string("name") == "first" && found.objectID == founder.objectID)
        #expect(companion.managedObjectContext == nil && companion.entity === product)
        companion["name"] = "second"
        other.insert(companion)
        #expect(try other.count(for: FetchRequest(entityName: "Product")) == 2)
    }

    @Test(
        "A property that fetches while an object is made of a row takes nothing from it",
        arguments: Backend.allCases)
    func fetching(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend, classes: ObjectClasses(["Shop": Curious.self]))
        let context = stack.context()
        context.insert("Shop")["name"] = "first"
        context.insert("Product")["name"] = "found"
        try context.save()
        let shop = try Curious.$other.withValue(stack) {
            try #require(try stack.context().all("Shop").first as? Curious)
        }
        #expect(shop.string("name") == "first" && !shop.isInserted)
        #expect(shop.products?.map { $0.string("name") } == ["found"])
    }

    @Test(
        "An object that has left its context still knows what it was when the context is gone",
        arguments: Backend.allCases)
    func departed(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        var object: ManagedObject?
        weak var context: ManagedObjectContext?
        do {
            let made = stack.context()
            context = made
            object = made.insert("Product")
            object?["name"] = "left"
            try made.save()
            if let object { made.delete(object) }
            try made.save()
        }
        #expect(context == nil)
        let left = try #require(object)
        #expect(left.managedObjectContext == nil && left.isDeleted)
        #expect(left.entity.name == "Product" && !left.objectID.isTemporary)
        #expect(left.description.hasPrefix("Product"))
        object = nil
    }

    @Test(
        "One made without a context lets go of what it kept when it is inserted",
        arguments: Backend.allCases)
    func inserted(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let object = ManagedObject(entity: context.entity(named: "Product"), insertInto: nil)
        object["name"] = "early"
        let outside = object.objectID
        context.insert(object)
        object["name"] = "late"
        #expect(object.objectID != outside || object.objectID.isTemporary)
        try context.save()
        #expect(object.string("name") == "late" && !object.objectID.isTemporary)
        context.delete(object)
        try context.save()
        #expect(object.entity === context.entity(named: "Product"))
    }
}
