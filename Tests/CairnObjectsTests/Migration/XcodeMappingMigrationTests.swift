// A store on the disk is led to another model by a mapping model of Xcode.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@testable import CairnObjects

@Suite("Migrations by mapping models of Xcode")
struct XcodeMappingMigrationTests {
    private static let vehicles: [EntityDescription] = {
        var vehicle = EntityDescription(
            "Vehicle", attributes: [.init("plate", .string)],
            relationships: [.init("owner", to: "Person", inverse: "vehicles")])
        vehicle.isAbstract = true
        var car = EntityDescription("Car", attributes: [.init("doors", .integer16)])
        car.superentityName = "Vehicle"
        var bike = EntityDescription("Bike")
        bike.superentityName = "Vehicle"
        return [vehicle, car, bike]
    }()

    private static let old = ManagedObjectModel(
        entities: vehicles + [
            EntityDescription(
                "Person",
                attributes: [
                    .init("given", .string), .init("family", .string), .init("age", .integer16),
                    .init("note", .string),
                ],
                relationships: [
                    .init("vehicles", to: "Vehicle", toMany: true, inverse: "owner")
                ]),
            EntityDescription("Place", attributes: [.init("name", .string)]),
        ])

    private static let new = ManagedObjectModel(
        entities: vehicles + [
            EntityDescription(
                "Person",
                attributes: [
                    .init("name", .string), .init("age", .integer64),
                    .init("group", .string),
                ],
                relationships: [
                    .init("vehicles", to: "Vehicle", toMany: true, inverse: "owner"),
                    .init("badges", to: "Badge", toMany: true, inverse: "person"),
                ]),
            EntityDescription(
                "Badge", attributes: [.init("title", .string)],
                relationships: [.init("person", to: "Person", inverse: "badges")]),
        ])

    private static let text = MappingText([
        .init(
            from: "Person", to: "Person",
            [
                .attribute(
                    "name",
                    .call(
                        .variable("entityPolicy"), "nameOf:and:",
                        [.source("given"), .source("family")])),
                .attribute("age"),
                .attribute(
                    "group",
                    .ternary(
                        .compared(.source("age"), 0, .constant(.integer(18))),
                        .constant(.text("young")),
                        .function("uppercase:", [.source("family")]))),
                .relationship("vehicles"), .relationship("badges"),
            ], ["migrationpolicyclassname": "Shop.PersonPolicy"]),
        .init(
            from: "Person", to: "Badge",
            [
                .attribute("title", .source("note")),
                .relationship(
                    "person", nil,
                    ["sourcekeypath": "$source", "sourcemappingname": "PersonToPerson"]),
            ], ["sourcefilterpredicatestring": "note != nil && age > 17"]),
        .init(from: "Vehicle", to: "Vehicle", [.attribute("plate"), .relationship("owner")]),
        .init(
            from: "Car", to: "Car",
            [.attribute("plate"), .attribute("doors"), .relationship("owner")]),
        .init(
            from: "Bike", to: "Bike",
            [
                .attribute("plate"),
                .relationship("owner", .destinations("PersonToPerson", .source("owner"))),
            ]),
        .init(from: "Place"),
    ])

    private final class PersonPolicy: EntityMigrationPolicy {
        override var functions: [String: Function] {
            ["nameOf:and:": { $0.compactMap { $0 as? String }.joined(separator: " ") }]
        }
    }

    /// A folder with a store of the old model and the file of the mapping model.
    private struct Place {
        let folder: TemporaryDirectory
        var store: String { folder.path("shop.cairn") }
        var file: String { folder.path("Shop.xcmappingmodel") }

        init(_ text: MappingText = XcodeMappingMigrationTests.text) throws {
            folder = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: file, withIntermediateDirectories: true)
            try Data(text.xml.utf8).write(to: URL(filePath: file + "/xcmapping.xml"))
            try with(XcodeMappingMigrationTests.old) { stack in
                let context = stack.context()
                let ann = context.make(
                    "Person", ["given": "Ann", "family": "Oak", "age": 40, "note": "cook"])
                let bob = context.make("Person", ["given": "Bob", "age": 9, "note": "pupil"])
                context.make("Person", ["family": "Elm", "age": 70])
                context.make("Car", ["plate": "A-1", "doors": 5, "owner": ann])
                context.make("Bike", ["plate": "B-1", "owner": ann])
                context.make("Bike", ["plate": "B-2", "owner": bob])
                context.make("Car", ["plate": "C-1", "doors": 3])
                context.make("Place", ["name": "here"])
                try context.save()
            }
        }

        @discardableResult
        func with<Result>(_ model: ManagedObjectModel, _ body: (Stack) throws -> Result) throws
            -> Result
        {
            let store = try LogStore.open(at: store, schema: try Schema(model))
            defer { try? store.close() }
            return try body(Stack(store: store))
        }

        func read(_ policies: [String: EntityMigrationPolicy.Type]) throws(ModelError)
            -> MappingModel
        {
            try MappingModel(
                contentsOfFile: file, forSourceModel: XcodeMappingMigrationTests.old,
                destinationModel: XcodeMappingMigrationTests.new, policies: policies)
        }

        /// What the new store has to have.
        func check() throws {
            try with(XcodeMappingMigrationTests.new) { stack in
                let context = stack.context()
                let people = try context.all("Person", sortedBy: "age")
                #expect(people.map { $0.string("name") } == ["Bob", "Ann Oak", "Elm"])
                #expect(people.map { $0["age"] as? Int } == [9, 40, 70])
                #expect(people.map { $0.string("group") } == ["young", "OAK", "ELM"])
                let plates = people.map { person in
                    ((person["vehicles"] as? Set<ManagedObject>) ?? [])
                        .map { "\($0.entity.name) \($0.string("plate") ?? "")" }.sorted()
                }
                #expect(plates == [["Bike B-2"], ["Bike B-1", "Car A-1"], []])
                let badges = try context.all("Badge", sortedBy: "title")
                #expect(badges.map { $0.string("title") } == ["cook"])
                #expect(badges[0]["person"] as? ManagedObject == people[1])
                let cars = try context.all("Car", sortedBy: "plate")
                #expect(cars.map { $0["doors"] as? Int } == [5, 3])
                #expect(cars[1]["owner"] == nil)
                let store = try #require(stack.store as? LogStore)
                #expect(try store.check().findings.isEmpty)
            }
        }
    }

    @Test("A store is brought over as the file says it, with the policy that is given")
    func whole() throws {
        let place = try Place()
        let mapping = try place.read(["PersonPolicy": PersonPolicy.self])
        let person = try #require(mapping["PersonToPerson"])
        #expect(person.entityMigrationPolicy == PersonPolicy.self)
        #expect(person.entityMigrationPolicyClassName == "Shop.PersonPolicy")
        try PersistentContainer.migrateStore(at: place.store, to: Self.new, mapping: mapping)
        try place.check()
    }

    @Test("Policies can be known by their names until the migration, and with their module")
    func names() throws {
        let place = try Place()
        let mapping = try MappingModel(
            contentsOfFile: place.file, forSourceModel: Self.old, destinationModel: Self.new)
        #expect(mapping["PersonToPerson"]?.entityMigrationPolicy == nil)
        let error = #expect(throws: StoreError.self) {
            try PersistentContainer.migrateStore(at: place.store, to: Self.new, mapping: mapping)
        }
        #expect(error?.code == .missingMappingModel)
        let policies = ["Shop.PersonPolicy": PersonPolicy.self]
        #expect(
            try place.read(policies)["PersonToPerson"]?.entityMigrationPolicy
                == PersonPolicy.self)
        try PersistentContainer.migrateStore(
            at: place.store, to: Self.new, mapping: mapping, policies: policies)
        try place.check()
        let other = try Place()
        try PersistentContainer.migrateStore(
            at: other.store, to: Self.new, mapping: mapping,
            policies: ["PersonPolicy": PersonPolicy.self])
        try other.check()
    }

    @Test("A policy of which no class is given is named, with its line")
    func missing() throws {
        let place = try Place()
        let error = try #require(throws: ModelError.self) {
            try place.read(["Shop.OtherPolicy": PersonPolicy.self])
        }
        #expect(error.code == .invalidMapping && error.element == "PersonToPerson")
        #expect(error.message == "no class was passed for its policy Shop.PersonPolicy")
        #expect(error.file == place.file + "/xcmapping.xml" && error.line != nil)
    }

    @Test("A value that is none of the attribute ends the migration, and the store is as it was")
    func misfit() throws {
        var text = Self.text
        text.entities[3].properties[1].expression = .constant(.text("many"))
        let place = try Place(text)
        let mapping = try place.read(["PersonPolicy": PersonPolicy.self])
        let error = #expect(throws: StoreError.self) {
            try PersistentContainer.migrateStore(at: place.store, to: Self.new, mapping: mapping)
        }
        #expect(error?.code == .migrationFailed && error?.context.key == "doors")
        let count = try place.with(Self.old) {
            try $0.context().all("Person", sortedBy: "age").count
        }
        #expect(count == 3)
    }
}
