// Mapping models: what is drafted of them, and what is wrong with some.

import Foundation
import Testing

@testable import CairnModel

@Suite("Mapping models")
struct MappingModelTests {
    /// People with a car, and a place that goes.
    private static let old: ManagedObjectModel = {
        var address = AttributeDescription("address", .composite)
        address.elements = [.init("city", .string), .init("zip", .string)]
        var driver = EntityDescription("Driver", attributes: [.init("licence", .string)])
        driver.superentityName = "Person"
        return ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    .init("name", .string), .init("age", .integer16), .init("height", .string),
                    address,
                ],
                relationships: [.init("cars", to: "Car", toMany: true, inverse: "owner")]),
            driver,
            EntityDescription(
                "Car", attributes: [.init("plate", .string)],
                relationships: [.init("owner", to: "Person", inverse: "cars")]),
            EntityDescription("Place", attributes: [.init("name", .string)]),
        ])
    }()

    private static let new: ManagedObjectModel = {
        var model = old
        model.entities[0].attributes[0].name = "fullName"
        model.entities[0].attributes[0].renamingIdentifier = "name"
        model.entities[0].attributes[1].type = .integer64
        model.entities[0].attributes[1].isOptional = false
        model.entities[0].attributes[1].defaultValue = .integer(18)
        model.entities[0].attributes[2].type = .double
        model.entities[3] = EntityDescription("Garage", attributes: [.init("name", .string)])
        return model
    }()

    private static func draft() throws -> MappingModel {
        MappingModel(drafting: try ModelMigrationPlan(from: old, to: new))
    }

    private static func lines(_ mapping: EntityMapping) -> [String] {
        (mapping.attributeMappings + mapping.relationshipMappings).map {
            "\($0.name) <- \($0.valueExpression.map(\.expressionFormat) ?? "?")"
        }
    }

    @Test("A draft says what can be inferred, and leaves open what cannot")
    func draft() throws {
        let mapping = try Self.draft()
        #expect(
            mapping.entityMappings.map { "\($0.name) \($0.mappingType)" } == [
                "PersonToPerson transform", "DriverToDriver transform", "CarToCar copy",
                "AddGarage add", "RemovePlace remove",
            ])
        let person = try #require(mapping["PersonToPerson"])
        #expect(
            Self.lines(person) == [
                "fullName <- $source.name",
                "age <- TERNARY($source.age == NULL, 18, $source.age)",
                "height <- ?",
                "address.city <- $source.address.city", "address.zip <- $source.address.zip",
                "cars <- ?",
            ])
        let driver = try #require(mapping["DriverToDriver"])
        #expect(driver["height"]?.valueExpression == nil, "what an entity inherits is open for it")
        #expect(driver["licence"]?.valueExpression != nil)
        #expect(
            Self.lines(try #require(mapping["CarToCar"])) == [
                "plate <- $source.plate",
                "owner <- FUNCTION($manager, 'destinationInstances', $source.owner)",
            ])
        #expect(Self.lines(try #require(mapping["AddGarage"])) == ["name <- ?"])
        try mapping.check(from: Self.old, to: Self.new)
        #expect(mapping.entityMappingsByName.count == 5)
    }

    @Test("A model has itself as a copy, each entity as it is, and it fits")
    func identity() throws {
        let mapping = MappingModel(
            drafting: try ModelMigrationPlan(from: Self.old, to: Self.old))
        #expect(mapping.entityMappings.allSatisfy { $0.mappingType == .copy })
        #expect(
            mapping.entityMappings.allSatisfy { mapping in
                mapping.attributeMappings.allSatisfy { $0.valueExpression != nil }
            })
        try mapping.check(from: Self.old, to: Self.old)
    }

    @Test(
        "An ordered side of a relationship is said by itself, and so are both sides of pairs if both are ordered"
    )
    func order() throws {
        var things = RelationshipDescription("things", to: "Thing", toMany: true, inverse: "boxes")
        var boxes = RelationshipDescription("boxes", to: "Box", toMany: true, inverse: "things")
        func said() throws -> [Bool] {
            let model = ManagedObjectModel(entities: [
                EntityDescription("Box", relationships: [things]),
                EntityDescription("Thing", relationships: [boxes]),
            ])
            let mapping = MappingModel(drafting: try ModelMigrationPlan(from: model, to: model))
            return ["BoxToBox", "ThingToThing"].map {
                mapping[$0]?.relationshipMappings[0].valueExpression != nil
            }
        }
        #expect(try said().count { $0 } == 1)
        things.isOrdered = true
        #expect(try said()[0])
        boxes.isOrdered = true
        #expect(try said() == [true, true])
    }

    @Test("A policy makes a mapping a custom one, and one of another name takes the class away")
    func policy() {
        struct Code: MappingCode {}
        var mapping = EntityMapping("CarToCar", from: "Car", to: "Car")
        mapping.mappingType = .copy
        mapping.setPolicy(Code(), named: "Shop.CarPolicy")
        #expect(mapping.mappingType == .custom && mapping.policyCode is Code)
        #expect(mapping.entityMigrationPolicyClassName == "Shop.CarPolicy")
        mapping.entityMigrationPolicyClassName = "Shop.OtherPolicy"
        #expect(mapping.policyCode == nil && mapping.mappingType == .custom)
        mapping.setPolicy(nil, named: nil)
        #expect(!mapping.hasPolicy && mapping.entityMigrationPolicyClassName == nil)
    }

    @Test("Mappings are set, added and taken away by their names, and so are properties")
    func subscripts() throws {
        var mapping = try Self.draft()
        mapping["AddGarage"] = nil
        #expect(mapping["AddGarage"] == nil && mapping.entityMappings.count == 4)
        mapping["PlaceToGarage"] = EntityMapping("PlaceToGarage", from: "Place", to: "Garage")
        #expect(mapping.entityMappings.last?.name == "PlaceToGarage")
        mapping["PersonToPerson"]?["height"]?.valueExpression = .constant(.double(1))
        #expect(
            mapping["PersonToPerson"]?.attributeMappings[2].valueExpression
                == .constant(.double(1)))
        mapping["PersonToPerson"]?["cars"] = nil
        #expect(mapping["PersonToPerson"]?.relationshipMappings.isEmpty == true)
    }

    /// One thing that is wrong, and what is said of it.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout MappingModel) throws -> Void

        init(
            _ description: String, _ change: @escaping @Sendable (inout MappingModel) throws -> Void
        ) {
            testDescription = description
            self.change = change
        }
    }

    private static func setting(_ format: String) -> @Sendable (inout MappingModel) throws -> Void {
        {
            $0["PersonToPerson"]?["height"]?.valueExpression = try ExpressionNode(format: format)
        }
    }

    @Test(
        "What does not fit is told with its place",
        arguments: [
            Mistake("PersonToPerson: two entity mappings have this name") {
                $0.entityMappings[1].name = "PersonToPerson"
            },
            Mistake("an entity mapping has no name") { $0.entityMappings[1].name = "" },
            Mistake("CarToCar: the old model has no entity Bus") {
                $0["CarToCar"]?.sourceEntityName = "Bus"
            },
            Mistake("CarToCar: the new model has no entity Place") {
                $0["CarToCar"]?.destinationEntityName = "Place"
            },
            Mistake("CarToCar: it was created for another version of Car") {
                $0["CarToCar"]?.sourceEntityVersionHash = Data([1])
            },
            Mistake("CarToCar: it has no mapping type") {
                $0["CarToCar"]?.mappingType = .undefined
            },
            Mistake("CarToCar: it is a custom mapping, but has no policy") {
                $0["CarToCar"]?.mappingType = .custom
            },
            Mistake("CarToCar: it adds objects, but names an entity of the old model") {
                $0["CarToCar"]?.mappingType = .add
            },
            Mistake(
                "CarToCar: its predicate does not fit Car: Car has no attribute or relationship color"
            ) {
                $0["CarToCar"]?.sourcePredicate = try PredicateNode(format: "color == 'red'")
            },
            Mistake("CarToCar.color: Car has no attribute color") {
                $0["CarToCar"]?.attributeMappings.append(.init("color"))
            },
            Mistake("CarToCar.plate: it is mapped twice") {
                $0["CarToCar"]?.attributeMappings.append(.init("plate"))
            },
            Mistake("CarToCar.plate: Car has no relationship plate") {
                $0["CarToCar"]?.attributeMappings = []
                $0["CarToCar"]?.relationshipMappings.append(.init("plate"))
            },
            Mistake("RemovePlace.name: the entity mapping creates no object that could have it") {
                $0["RemovePlace"]?.attributeMappings.append(.init("name"))
            },
            Mistake(
                "PersonToPerson.address: it is composite: map its elements one by one"
            ) {
                $0["PersonToPerson"]?.attributeMappings.removeLast(2)
                $0["PersonToPerson"]?.attributeMappings.append(.init("address", copying: "name"))
            },
            Mistake(
                "PersonToPerson.height: Person of the old model has no property weight",
                setting("$source.weight")),
            Mistake(
                "PersonToPerson.height: Person of the old model has no property cars.color",
                setting("$source.cars.color.@count")),
            Mistake(
                "PersonToPerson.height: there is no variable $person: there are $source, $destination, $manager, $entityMapping, $propertyMapping, $entityPolicy",
                setting("$person.name")),
            Mistake(
                "PersonToPerson.height: name.length does not name an object: write $source.name.length",
                setting("name.length")),
            Mistake(
                "PersonToPerson.height: the manager has no function destroy: it has destinationInstances and sourceInstances",
                setting("FUNCTION($manager, 'destroy', $source)")),
            Mistake(
                "PersonToPerson.height: there is no entity mapping BusToBus",
                setting("FUNCTION($manager, 'destinationInstances', 'BusToBus', $source)")),
            Mistake(
                "PersonToPerson.height: size is a function of a policy, but the mapping has none",
                setting("FUNCTION($entityPolicy, 'size', $source)")),
            Mistake(
                "PersonToPerson.height: size is a function of neither $manager nor $entityPolicy",
                setting("FUNCTION($source, 'size')")),
            Mistake(
                "AddGarage.name: there is no $source: the mapping has no entity of the old model"
            ) { $0["AddGarage"]?["name"] = .init("name", copying: "name") },
        ])
    func mistakes(_ mistake: Mistake) throws {
        var mapping = try Self.draft()
        try mistake.change(&mapping)
        let error = #expect(throws: ModelError.self) {
            try mapping.check(from: Self.old, to: Self.new)
        }
        #expect(error?.description == mistake.testDescription)
    }

    @Test(
        "What fits passes: paths across relationships, variables of expressions, composites as they are",
        arguments: [
            "$source.cars.plate.@count", "$source.cars.owner.name.@count", "$source.name.length",
            "SUBQUERY($source.cars, $car, $car.plate == 'x').@count", "$destination.fullName",
            "TERNARY($source.age > 3, 1.5, 2)",
            "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'cars', $source.cars)",
        ])
    func fits(_ format: String) throws {
        var mapping = try Self.draft()
        try Self.setting(format)(&mapping)
        mapping["PersonToPerson"]?.attributeMappings.removeLast(2)
        mapping["PersonToPerson"]?.attributeMappings.append(
            .init("address", copying: "address"))
        try mapping.check(from: Self.old, to: Self.new)
    }

    @Test("Value expressions survive being printed and read")
    func formats() throws {
        for mapping in try Self.draft().entityMappings {
            for property in mapping.attributeMappings + mapping.relationshipMappings {
                guard let value = property.valueExpression else { continue }
                #expect(try ExpressionNode(format: value.expressionFormat) == value)
            }
        }
    }
}
