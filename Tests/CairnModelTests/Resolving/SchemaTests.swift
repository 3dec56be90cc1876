// A model is resolved into numbered entities, columns, pairs and constraints.

import CairnModel
import Foundation
import Testing

@Suite("Making a schema")
struct SchemaTests {
    private func entity(_ name: String, parent: String?, _ attributes: [String] = [])
        -> EntityDescription
    {
        var entity = EntityDescription(name, attributes: attributes.map { .init($0, .string) })
        entity.superentityName = parent
        return entity
    }

    // MARK: Inheritance

    @Test("Children begin with their parent's columns, whatever the order of the model")
    func inheritance() throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                entity("Sport", parent: "Car", ["turbo"]), entity("Vehicle", parent: nil, ["name"]),
                entity("Car", parent: "Vehicle", ["doors"]),
                entity("Boat", parent: "Vehicle", ["sail"]),
                entity("Dog", parent: nil, ["name"]),
            ]))
        #expect(schema.entities.map(\.name) == ["Sport", "Vehicle", "Car", "Boat", "Dog"])
        #expect(schema.entities.map(\.index) == [0, 1, 2, 3, 4])
        #expect(schema.entities.map(\.parent) == [2, nil, 1, 1, nil])
        #expect(schema.entities.map(\.root) == [1, 1, 1, 1, 4])
        #expect(schema.entities[0].columns.map(\.name) == ["name", "doors", "turbo"])
        #expect(schema.entities[0].columns.map(\.declaringEntity) == [1, 2, 0])
        #expect(schema.entities[3].columns.map(\.name) == ["name", "sail"])
        #expect(schema.entities[1].family.first == 1)
        #expect(Set(schema.entities[1].family) == [0, 1, 2, 3])
        #expect(schema.entities[2].family == [2, 0])
        let sport = try #require(schema.entity(named: "Sport"))
        let vehicle = try #require(schema.entity(named: "Vehicle"))
        #expect(sport.isKind(of: vehicle))
        #expect(!vehicle.isKind(of: sport))
        #expect(sport.columnIndex(named: "doors") == 1)
        #expect(vehicle.columnIndex(named: "doors") == nil)
        #expect(schema.entity(named: "Cat") == nil)
    }

    @Test("Attributes, to-one relationships and composite leaves have columns; others have none")
    func columns() throws {
        var hidden = AttributeDescription("hidden", .string)
        hidden.isTransient = true
        var inner = AttributeDescription("inner", .composite)
        inner.elements = [.init("deep", .integer16, default: .integer(3))]
        var group = AttributeDescription("group", .composite, optional: false)
        group.elements = [.init("a", .string, optional: false), inner]
        var passing = RelationshipDescription("passing", to: "Thing")
        passing.isTransient = true
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Thing", attributes: [.init("first", .string), hidden, group],
                    relationships: [
                        .init("one", to: "Thing"), .init("many", to: "Thing", toMany: true),
                        passing,
                    ])
            ]))
        let thing = schema.entities[0]
        #expect(thing.columns.map(\.name) == ["first", "group.a", "group.inner.deep", "one"])
        #expect(thing.columns.map(\.isOptional) == [true, false, true, true])
        #expect(thing.columns[2].defaultValue == .integer(3))
        #expect(thing.columns[3].kind == .reference(root: 0))
        #expect(thing.columns[3].relationship == 0)
        #expect(thing.attributes.map(\.columns) == [0..<1, 1..<1, 1..<3])
        #expect(thing.relationships[0].storage == .column(3))
        #expect(thing.relationships[1].storage == .pairs(0, isSource: true))
        #expect(thing.relationships[2].storage == .transient)
        #expect(thing.attributeIndex(named: "group") == 2)
        #expect(thing.relationshipIndex(named: "many") == 1)
    }

    // MARK: Relationships

    @Test("One-to-many is stored on the many side")
    func oneToMany() throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Owner",
                    relationships: [.init("pets", to: "Pet", toMany: true, inverse: "owner")]),
                EntityDescription(
                    "Pet", relationships: [.init("owner", to: "Owner", inverse: "pets")]),
            ]))
        #expect(schema.entities[0].relationships[0].storage == .inverseColumn(entity: 1, column: 0))
        #expect(schema.entities[0].relationships[0].inverse == 0)
        #expect(schema.entities[1].relationships[0].storage == .column(0))
        #expect(schema.entities[1].relationships[0].inverse == 0)
        #expect(schema.pairs.isEmpty)
    }

    @Test("An inverse that one side names holds for both", arguments: [true, false])
    func oneSidedInverse(_ isNamedByMany: Bool) throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Tag",
                    relationships: [
                        .init(
                            "notes", to: "Note", toMany: true, inverse: isNamedByMany ? "tags" : nil
                        )
                    ]),
                EntityDescription(
                    "Note",
                    relationships: [
                        .init(
                            "tags", to: "Tag", toMany: true, inverse: isNamedByMany ? nil : "notes")
                    ]),
            ]))
        #expect(schema.entities[0].relationships[0].inverse == 0)
        #expect(schema.entities[1].relationships[0].inverse == 0)
        #expect(schema.pairs.count == 1)
    }

    @Test("Two relationships cannot have the same inverse")
    func contestedInverse() {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "A",
                relationships: [
                    .init("r", to: "B", inverse: "a"), .init("s", to: "B", inverse: "a"),
                ]),
            EntityDescription("B", relationships: [.init("a", to: "A")]),
        ])
        let error = #expect(throws: ModelError.self) { _ = try Schema(model) }
        #expect(error?.code == .mismatchedInverse)
        #expect(error?.element == "B.a")
    }

    @Test("Many-to-many has one list of pairs with two sides")
    func manyToMany() throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Tag",
                    relationships: [.init("notes", to: "Note", toMany: true, inverse: "tags")]),
                EntityDescription(
                    "Note",
                    relationships: [
                        .init("links", to: "Note", toMany: true),
                        .init("tags", to: "Tag", toMany: true, inverse: "notes"),
                    ]),
            ]))
        #expect(schema.pairs.map(\.name) == ["Tag.notes", "Note.links"])
        #expect(schema.pairs[0].source == 0 && schema.pairs[0].destination == 1)
        #expect(schema.pairs[0].sourceRelationship == 0)
        #expect(schema.pairs[0].destinationRelationship == 1)
        #expect(schema.pairs[1].destinationRelationship == nil)
        #expect(schema.entities[0].relationships[0].storage == .pairs(0, isSource: true))
        #expect(schema.entities[1].relationships[1].storage == .pairs(0, isSource: false))
        #expect(schema.entities[1].relationships[0].storage == .pairs(1, isSource: true))
    }

    @Test("A relationship may be its own inverse, to one and to many")
    func selfInverse() throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Person",
                    relationships: [
                        .init("spouse", to: "Person", inverse: "spouse"),
                        .init("friends", to: "Person", toMany: true, inverse: "friends"),
                        .init("parent", to: "Person", inverse: "children"),
                        .init("children", to: "Person", toMany: true, inverse: "parent"),
                    ])
            ]))
        let person = schema.entities[0]
        #expect(person.relationships.map(\.inverse) == [0, 1, 3, 2])
        #expect(person.relationships[0].storage == .column(0))
        #expect(person.relationships[1].storage == .pairs(0, isSource: true))
        #expect(person.relationships[3].storage == .inverseColumn(entity: 0, column: 1))
        #expect(schema.pairs.count == 1)
        #expect(schema.pairs[0].destinationRelationship == 1)
    }

    @Test("Children share the pairs and columns of inherited relationships")
    func inheritedRelationships() throws {
        var child = entity("Child", parent: "Base")
        child.relationships = [.init("extra", to: "Base")]
        let schema = try Schema(
            ManagedObjectModel(entities: [
                child,
                EntityDescription(
                    "Base",
                    relationships: [
                        .init("peers", to: "Base", toMany: true, inverse: "peers"),
                        .init("next", to: "Base"),
                    ]),
            ]))
        #expect(
            schema.entities[0].relationships.map(\.description.name) == ["peers", "next", "extra"])
        #expect(schema.entities[0].relationships[0].storage == .pairs(0, isSource: true))
        #expect(schema.entities[0].relationships[0].declaringEntity == 1)
        #expect(schema.entities[0].columns.map(\.relationship) == [1, 2])
        #expect(schema.entities[0].columns[1].kind == .reference(root: 1))
        #expect(schema.pairs.count == 1)
    }

    // MARK: Constraints

    @Test("B022: a constraint of one child is none of its sibling's")
    func siblingConstraints() throws {
        var base = entity("Base", parent: nil, ["id"])
        base.isAbstract = true
        var one = entity("One", parent: "Base", ["a"])
        one.uniquenessConstraints = [["a"]]
        var two = entity("Two", parent: "Base", ["b"])
        two.uniquenessConstraints = [["b"], ["id", "b"]]
        let schema = try Schema(ManagedObjectModel(entities: [base, one, two]))
        #expect(schema.entities[0].constraints.isEmpty)
        #expect(schema.entities[1].constraints.map(\.names) == [["a"]])
        #expect(schema.entities[1].constraints.map(\.columns) == [[1]])
        #expect(schema.entities[2].constraints.map(\.names) == [["b"], ["id", "b"]])
        #expect(schema.entities[2].constraints.map(\.columns) == [[1], [0, 1]])
    }

    @Test("B023: a constraint of a parent holds for all descendants, and is not doubled")
    func inheritedConstraints() throws {
        var car = entity("Car", parent: nil, ["numberPlate", "maker"])
        car.uniquenessConstraints = [["numberPlate"], ["maker", "numberPlate"]]
        var sport = entity("SportCar", parent: "Car", ["chassis"])
        sport.uniquenessConstraints = [["numberPlate"], ["numberPlate", "maker"], ["chassis"]]
        let expensive = entity("ExpensiveSportCar", parent: "SportCar")
        let schema = try Schema(ManagedObjectModel(entities: [car, sport, expensive]))
        for index in [1, 2] {
            #expect(
                schema.entities[index].constraints.map(\.names)
                    == [["numberPlate"], ["maker", "numberPlate"], ["chassis"]])
            #expect(schema.entities[index].constraints.map(\.declaringEntity) == [0, 0, 1])
        }
    }

    @Test("B026: an entity has no constraints unless it says so")
    func noConstraints() throws {
        #expect(EntityDescription("Thing").uniquenessConstraints.isEmpty)
        let schema = try Schema(ManagedObjectModel(entities: [EntityDescription("Thing")]))
        #expect(schema.entities[0].constraints.isEmpty)
    }

    @Test("A to-one relationship and an element of a composite may be constrained")
    func unusualConstraints() throws {
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("lat", .double), .init("lon", .double)]
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Seat", attributes: [.init("number", .integer16), place],
                    relationships: [.init("room", to: "Room")],
                    uniquenessConstraints: [["room", "number"], ["place.lat", "place.lon"]]),
                EntityDescription("Room"),
            ]))
        #expect(schema.entities[0].constraints.map(\.columns) == [[3, 0], [1, 2]])
    }

    @Test(
        "A constraint on what has no fixed column is refused",
        arguments: ["missing", "temporary", "many", "object", "place"])
    func badConstraints(_ name: String) {
        var temporary = AttributeDescription("temporary", .string)
        temporary.isTransient = true
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("lat", .double)]
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Thing", attributes: [temporary, .init("object", .transformable), place],
                relationships: [.init("many", to: "Thing", toMany: true)],
                uniquenessConstraints: [[name]])
        ])
        let error = #expect(throws: ModelError.self) { _ = try Schema(model) }
        #expect(error?.code == .invalidConstraint)
        #expect(error?.element == "Thing, uniqueness constraint (\(name))")
    }

    @Test("A constraint that names a property twice is refused")
    func doubledName() {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Thing", attributes: [.init("a", .string)], uniquenessConstraints: [["a", "a"]])
        ])
        #expect(throws: ModelError.self) { try Schema(model) }
    }

    // MARK: Names and values

    @Test("Columns that would meet under one name are refused, not trapped on")
    func meetingColumns() {
        var group = AttributeDescription("a", .composite)
        group.elements = [.init("b", .string)]
        var twice = AttributeDescription("c", .composite)
        twice.elements = [.init("b", .string), .init("b", .string)]
        for entity in [
            EntityDescription("Thing", attributes: [group, .init("a.b", .string)]),
            EntityDescription("Thing", attributes: [.init("a.b", .string), group]),
            EntityDescription(
                "Thing", attributes: [group], relationships: [.init("a.b", to: "Thing")]),
            EntityDescription("Thing", attributes: [twice]),
        ] {
            let error = #expect(throws: ModelError.self) {
                _ = try Schema(ManagedObjectModel(entities: [entity]))
            }
            #expect(error?.code == .duplicateName)
        }
    }

    @Test("A default or limit of another type is refused")
    func wrongValues() {
        var limited = AttributeDescription("x", .integer32)
        limited.minimumValue = .double(1)
        var flag = AttributeDescription("x", .boolean)
        flag.maximumValue = .boolean(true)
        var text = AttributeDescription("x", .string)
        text.minimumLength = 3
        text.maximumLength = 2
        for attribute in [
            AttributeDescription("x", .string, default: .integer(1)),
            AttributeDescription("x", .integer16, default: .integer(70000)), limited, flag, text,
        ] {
            let model = ManagedObjectModel(entities: [
                EntityDescription("Thing", attributes: [attribute])
            ])
            let error = #expect(throws: ModelError.self) { _ = try Schema(model) }
            #expect(error?.code == .invalidValue)
            #expect(error?.element == "Thing.x")
            #expect(error?.line == nil)
        }
    }

    @Test("A model is built in code in a few words")
    func pleasant() throws {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Airport",
                attributes: [.init("icao", .string, optional: false), .init("iata", .string)],
                uniquenessConstraints: [["icao"]])
        ])
        let schema = try Schema(model)
        #expect(schema.model == model)
        #expect(schema.entities[0].columns.map(\.isOptional) == [false, true])
        #expect(model.entity(named: "Airport")?.uniquenessConstraints == [["icao"]])
    }

    @Test(
        "A model of very many entities and relationships is resolved in a time that grows as they do",
        .timeLimit(.minutes(1)))
    func wide() throws {
        let count = 20_000
        var hub = EntityDescription("Hub", attributes: [.init("name", .string)])
        var entities: [EntityDescription] = []
        for number in 0..<count {
            hub.relationships.append(
                RelationshipDescription("members\(number)", to: "Member\(number)", toMany: true))
            hub.relationships.append(
                RelationshipDescription("first\(number)", to: "Member\(number)"))
            var member = EntityDescription("Member\(number)", attributes: [.init("name", .string)])
            member.relationships = [
                RelationshipDescription("hub", to: "Hub", inverse: "members\(number)")
            ]
            member.fetchedProperties = [
                .init("others", entityName: "Member\(count - 1 - number)", predicateFormat: nil)
            ]
            entities.append(member)
        }
        let schema = try Schema(ManagedObjectModel(entities: entities + [hub]))
        let all = schema.entities[count].relationships
        #expect(all.count == 2 * count)
        #expect(all[2 * count - 2].storage == .inverseColumn(entity: count - 1, column: 1))
        #expect(all[2 * count - 1].storage == .column(count))
        #expect(schema.entities[count - 1].relationships[0].inverse == 2 * count - 2)
    }
}
