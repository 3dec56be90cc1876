// Behaviours of uniqueness constraints that have no better place, by their ids.

import Cairn
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Behaviours of uniqueness constraints")
struct BehavioursOfUniqueness {
    /// Four entities that lead to each other, each with a key of its own.
    private static let places: ManagedObjectModel = {
        func entity(
            _ name: String, _ relationships: [RelationshipDescription]
        ) -> EntityDescription {
            EntityDescription(
                name,
                attributes: [
                    AttributeDescription("code", .string), AttributeDescription("title", .string),
                ], relationships: relationships, uniquenessConstraints: [["code"]])
        }
        func up(_ name: String, _ to: String, _ inverse: String) -> RelationshipDescription {
            RelationshipDescription(name, to: to, inverse: inverse)
        }
        func down(_ name: String, _ to: String, _ inverse: String) -> RelationshipDescription {
            RelationshipDescription(name, to: to, toMany: true, inverse: inverse)
        }
        return ManagedObjectModel(entities: [
            entity("Country", [down("cities", "City", "country")]),
            entity(
                "City", [up("country", "Country", "cities"), down("streets", "Street", "city")]),
            entity(
                "Street", [up("city", "City", "streets"), down("houses", "House", "street")]),
            entity("House", [up("street", "Street", "houses")]),
        ])
    }()

    @Test(
        "Two objects with one unique UUID, saved one after the other under object trump: the second save succeeds and one row remains (B001)",
        arguments: Backend.allCases)
    func twice(_ backend: Backend) throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Item",
                attributes: [
                    AttributeDescription("identifier", .uuid),
                    AttributeDescription("name", .string),
                ], uniquenessConstraints: [["identifier"]])
        ])
        let stack = try Stack(model, backend)
        let context = stack.context(.mergeByPropertyObjectTrump)
        let identifier = UUID()
        let first = context.make("Item", ["identifier": identifier, "name": "first"])
        try context.save()
        let second = context.make("Item", ["identifier": identifier, "name": "second"])
        try context.save()
        #expect(!context.hasChanges && second.absorbedInto == first.objectID)
        let rows = try stack.context().all("Item")
        #expect(rows.map(\.objectID) == [first.objectID])
        #expect(rows[0].string("name") == "second" && rows[0]["identifier"] as? UUID == identifier)
    }

    @Test(
        "Twenty background contexts find or insert the same keys of four related entities: no save fails, one row each remains (B002)",
        arguments: Backend.allCases)
    func twenty(_ backend: Backend) async throws {
        let stack = try Stack(Self.places, backend)
        let container = stack.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<20 {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        context.mergePolicy = .mergeByPropertyObjectTrump
                        func findOrMake(_ entity: String, _ code: String) throws -> ManagedObject {
                            let found = try context.find(entity, "code", .string(code)).first
                            return found ?? context.make(entity, ["code": code])
                        }
                        let house = try findOrMake("House", "1")
                        let street = try findOrMake("Street", "High Street")
                        let city = try findOrMake("City", "Turin")
                        let country = try findOrMake("Country", "IT")
                        house["title"] = "round \(round)"
                        house["street"] = street
                        street["city"] = city
                        city["country"] = country
                        try context.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        let context = stack.context()
        for entity in ["Country", "City", "Street", "House"] {
            #expect(try context.count(entity) == 1, "\(entity)")
        }
        let house = try #require(try context.all("House").first)
        let country = try #require(house.object("street")?.object("city")?.object("country"))
        #expect(country.string("code") == "IT")
        #expect(
            country.members("cities").first?.members("streets").first?.members("houses") == [house])
    }

    enum Kind: CaseIterable { case memory, file, dictionary }

    @Test(
        "Duplicates are refused in every kind of store, in the one in memory too (B008)",
        arguments: Kind.allCases)
    func everywhere(_ kind: Kind) throws {
        let directory = try TemporaryDirectory()
        let store: any PersistentStore =
            switch kind {
            case .memory: try LogStore.inMemory(schema: Schema(Models.shop))
            case .file: try LogStore.open(at: directory.path("s"), schema: Schema(Models.shop))
            case .dictionary: DictionaryStore(try Schema(Models.shop))
            }
        let stack = Stack(store: store)
        try stack.store { [$0.make("Product", ["serialCode": "A"])] }
        let context = stack.context()
        context.make("Product", ["serialCode": "A"])
        let error = storeError { try context.save() }
        #expect(error?.code == .constraintConflict)
        #expect(error?.violations.map(\.constraint) == [["serialCode"]])
        #expect(try stack.context().count("Product") == 1)
        try store.close()
    }

    @Test(
        "Object trump overwrites all attributes of the stored object, also with nil, and leaves its to-many relationships (B010)",
        arguments: Backend.allCases)
    func toManyStays(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stack.store { context in
            [
                context.make(
                    "Product",
                    [
                        "serialCode": "A", "name": "old", "price": 5.0, "note": "note", "stock": 3,
                        "isFavorite": true,
                        "tags": [
                            context.make("Tag", ["label": "red"]),
                            context.make("Tag", ["label": "new"]),
                        ],
                    ])
            ]
        }[0]
        let context = stack.context(.mergeByPropertyObjectTrump)
        context.make("Product", ["serialCode": "A"])
        try context.save()
        let rows = try stack.context().all("Product")
        #expect(rows.map(\.objectID) == [old])
        #expect(rows[0].string("name") == "" && rows[0]["price"] as? Double == 0)
        #expect(rows[0]["note"] == nil && rows[0]["stock"] == nil)
        #expect(rows[0]["isFavorite"] as? Bool == false)
        #expect(Set(rows[0].members("tags").map { $0.string("label") }) == ["red", "new"])
        for tag in rows[0].members("tags") { #expect(tag.members("products") == [rows[0]]) }
    }

    @Test(
        "A key held by an object that is only marked as deleted still blocks a new one, and the mark in the constraint does not help while it is nil (B016)",
        arguments: Backend.allCases)
    func softDelete(_ backend: Backend) throws {
        func model(_ constraint: [String]) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Note",
                    attributes: [
                        AttributeDescription("code", .string),
                        AttributeDescription("deleted", .date),
                    ], uniquenessConstraints: [constraint])
            ])
        }
        let moment = Date(timeIntervalSinceReferenceDate: 1)
        let plain = try Stack(model(["code"]), backend)
        try plain.store { [$0.make("Note", ["code": "A", "deleted": moment])] }
        let context = plain.context()
        context.make("Note", ["code": "A"])
        #expect(storeError { try context.save() }?.code == .constraintConflict)

        // With the mark in the key nobody is blocked any more: not even two objects that live.
        let marked = try Stack(model(["code", "deleted"]), backend)
        try marked.store { [$0.make("Note", ["code": "A", "deleted": moment])] }
        for _ in 0..<2 { try marked.store { [$0.make("Note", ["code": "A"])] } }
        #expect(try marked.context().count("Note") == 3)
        let again = marked.context()
        again.make("Note", ["code": "A", "deleted": moment])
        #expect(
            storeError { try again.save() }?.violations.map(\.constraint) == [["code", "deleted"]])
    }

    @Test(
        "Objects whose key is nil are no duplicates of one another, while an empty text is a value (the save's side of B032; a constraint over stored duplicates is a matter of migration)",
        arguments: Backend.allCases)
    func nilKeys(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in (0..<3).map { _ in context.make("Product") } }
        try stack.store { context in (0..<2).map { _ in context.make("Recipe", ["source": ""]) } }
        try stack.store { [$0.make("Product", ["serialCode": ""])] }
        let context = stack.context()
        context.make("Product")
        context.make("Recipe", ["source": ""])
        try context.save()
        #expect(try context.count("Product") == 5 && context.count("Recipe") == 3)
        context.make("Product", ["serialCode": ""])
        let error = storeError { try context.save() }
        #expect(error?.violations.map(\.values) == [[.string("")]])
    }
}
