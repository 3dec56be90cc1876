// The model that typed classes describe.

import Cairn
import Foundation
import Testing

@testable import CairnObjects

@Suite("The model of typed classes")
struct TypedModelTests {
    private func entity(_ type: any PersistentEntity.Type, _ name: String) throws
        -> EntityDescription
    {
        try #require(ManagedObjectModel(for: type).entity(named: name))
    }

    @Test("Types, defaults, constraints and indexes are those of the class")
    func plain() throws {
        let model = ManagedObjectModel(for: TypedProduct.self)
        #expect(model.entities.map(\.name) == ["TypedProduct", "TypedTag", "Maker"])
        let product = try #require(model.entity(named: "TypedProduct"))
        #expect(product.managedObjectClassName == "TypedProduct")
        #expect(
            product.attributes == [
                AttributeDescription("serialCode", .string, optional: false),
                AttributeDescription("name", .string, optional: false, default: .string("unnamed")),
                AttributeDescription("price", .double, optional: false, default: .double(0)),
                AttributeDescription("stock", .integer64, optional: false, default: .integer(0)),
                AttributeDescription("category", .string),
            ])
        #expect(
            product.relationships == [
                RelationshipDescription("tags", to: "TypedTag", toMany: true, inverse: "products"),
                RelationshipDescription("maker", to: "Maker"),
            ])
        #expect(product.uniquenessConstraints == [["serialCode"]])
        #expect(
            product.indexes == [
                FetchIndexDescription(
                    "byCategoryAndPrice", elements: [.init("category"), .init("price")])
            ])
        #expect(model.entity(named: "TypedTag")?.uniquenessConstraints == [["label"]])
        let made = try #require(model.entity(named: "Maker")?.relationships.first)
        #expect(made.isOrdered && made.isToMany && made.deleteRule == .cascade)
        #expect(made.inverseName == "maker")
    }

    @Test("Every type has its attribute type")
    func types() throws {
        let sample = try entity(TypedSample.self, "TypedSample")
        let types = Dictionary(uniqueKeysWithValues: sample.attributes.map { ($0.name, $0.type) })
        let expected: [String: AttributeType] = [
            "integer": .integer64, "integer64": .integer64, "integer32": .integer32,
            "integer16": .integer16, "integer8": .integer16, "byte": .integer16, "word": .integer32,
            "double": .integer64, "flag": .boolean, "ratio": .double, "short": .float,
            "exact": .decimal, "text": .string, "moment": .date, "bytes": .binary,
            "identifier": .uuid, "link": .uri, "optionalInteger": .integer64,
            "optionalFlag": .boolean, "optionalText": .string, "optionalMoment": .date,
            "optionalBytes": .binary, "optionalExact": .decimal,
        ]
        #expect(types == expected)
        #expect(
            sample.attributes.filter(\.isOptional).map(\.name) == [
                "identifier", "optionalInteger", "optionalFlag", "optionalText", "optionalMoment",
                "optionalBytes", "optionalExact",
            ])
        #expect(
            sample.attributes[13].defaultValue == .date(.init(timeIntervalSinceReferenceDate: 1)))
        #expect(sample.attributes[16].defaultValue == .uri(URL(string: "https://example.org")!))
    }

    @Test("Raw values, JSON and composites have their attributes, too")
    func converted() throws {
        let thing = try entity(TypedThing.self, "TypedThing")
        let attributes = Dictionary(uniqueKeysWithValues: thing.attributes.map { ($0.name, $0) })
        #expect(attributes["shade"]?.type == .string)
        #expect(attributes["shade"]?.defaultValue == .string("light"))
        #expect(attributes["level"]?.type == .integer16)
        #expect(attributes["level"]?.defaultValue == .integer(1))
        #expect(attributes["words"]?.type == .transformable)
        #expect(attributes["words"]?.valueTransformerName == "CairnJSON")
        #expect(attributes["words"]?.defaultValue == .binary(Data("[]".utf8)))
        #expect(attributes["cost"]?.isOptional == true)
        #expect(attributes["price"]?.isOptional == false)
        #expect(attributes["price"]?.defaultValue == .null)
        let home = try #require(attributes["home"])
        #expect(home.type == .composite && home.compositeName == "Address" && !home.isOptional)
        #expect(home.elements.map(\.name) == ["street", "city", "level", "notes"])
        #expect(home.elements.map(\.isOptional) == [false, true, false, false])
        #expect(home.elements[2].defaultValue == .integer(1))
        #expect(attributes["work"]?.elements.allSatisfy(\.defaultValue.isNull) == true)
        let place = try #require(attributes["place"])
        #expect(place.compositeName == "Spot")
        #expect(place.elements.map(\.type) == [.composite, .composite, .double])
        let schema = try Schema(ManagedObjectModel(for: TypedThing.self))
        #expect(schema.entities[0].columnIndex(named: "place.second.city") != nil)
    }

    @Test("Marks say what they say")
    func marks() throws {
        let marked = try entity(TypedMarks.self, "Marked")
        #expect(marked.renamingIdentifier == "Old" && marked.versionHashModifier == "2")
        #expect(
            marked.attributes.map(\.name) == [
                "code", "price", "picture", "selection", "search", "created", "token",
            ])
        let code = marked.attributes[0]
        #expect(code.minimumLength == 2 && code.maximumLength == 4)
        #expect(code.regularExpression == "[A-Z]+")
        #expect(marked.uniquenessConstraints == [["code"]])
        let price = marked.attributes[1]
        #expect(price.renamingIdentifier == "cost" && price.defaultValue == .double(5))
        #expect(price.minimumValue == .double(1) && price.maximumValue == .double(10))
        let picture = marked.attributes[2]
        #expect(picture.allowsExternalBinaryDataStorage)
        #expect(picture.preservesValueInHistoryOnDeletion && picture.versionHashModifier == "x")
        #expect(marked.attributes[3].isTransient && marked.attributes[3].type == .integer64)
        #expect(marked.attributes[4].derivationExpression == "canonical:(code)")
        #expect(marked.attributes[5].defaultValue == .null && !marked.attributes[5].isOptional)
        let parts = marked.relationships[0]
        #expect(parts.isOrdered && parts.deleteRule == .cascade && parts.inverseName == "owner")
        #expect(parts.minimumCount == 1 && parts.maximumCount == 3)
        #expect(parts.renamingIdentifier == "bits")
        let main = marked.relationships[1]
        #expect(main.deleteRule == .deny && !main.isOptional && main.maximumCount == 1)
        let part = try entity(TypedPart.self, "TypedPart")
        #expect(part.attributes.map(\.name) == ["default"])
    }

    @Test("Entities inherit as their classes do, over a class that is none")
    func inheritance() throws {
        let model = ManagedObjectModel(for: TypedBoss.self)
        #expect(
            model.entities.map(\.name) == [
                "TypedBoss", "TypedEmployee", "TypedFirm", "TypedPerson",
            ])
        #expect(model.entity(named: "TypedBoss")?.superentityName == "TypedEmployee")
        #expect(model.entity(named: "TypedEmployee")?.superentityName == "TypedPerson")
        let person = try #require(model.entity(named: "TypedPerson"))
        #expect(person.superentityName == nil && person.isAbstract)
        #expect(person.attributes.map(\.name) == ["name", "address"])
        let employee = try #require(model.entity(named: "TypedEmployee"))
        #expect(employee.attributes.map(\.name) == ["salary"])
        #expect(employee.indexes.map(\.name) == ["byNameAndSalary"])
        let schema = try Schema(model)
        let boss = try #require(schema.entity(named: "TypedBoss"))
        let reports = try #require(boss.relationshipIndex(named: "reports"))
        #expect(boss.relationships[reports].inverse != nil)
    }

    @Test("The same classes give the same model each time")
    func stable() {
        #expect(
            ManagedObjectModel(for: TypedThing.self, TypedMarks.self)
                == ManagedObjectModel(for: TypedThing.self, TypedMarks.self))
    }

    @Test("Key paths have the numbers of their properties, from subclasses as well")
    func keyPaths() throws {
        let boss = TypedEntity.of(TypedBoss.self)
        let employee = TypedEntity.of(TypedEmployee.self)
        for _ in 0..<2 {
            #expect(boss.number(of: \TypedBoss.name) == 0)
            #expect(boss.number(of: \TypedPerson.name) == 0)
            #expect(boss.number(of: \TypedEmployee.firm) == 2)
            #expect(boss.number(of: \TypedEmployee.salary) == 3)
            #expect(boss.number(of: \TypedBoss.boss) == 4)
            #expect(boss.number(of: \TypedBoss.bonus) == 5)
            #expect(boss.number(of: \TypedBoss.reports) == 6)
            #expect(boss.number(of: \TypedBoss.note) == nil)
            #expect(boss.number(of: \TypedBoss.address?.city) == nil)
            #expect(employee.number(of: \TypedBoss.name) == nil)
        }
        #expect(
            boss.properties.map(\.name) == [
                "name", "address", "firm", "salary", "boss", "bonus", "reports",
            ])
    }
}
