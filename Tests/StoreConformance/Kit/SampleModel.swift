// The model of the cases: whatever a model can say of what is stored.
//
//   Item ─ Tool        owner ⇄ Person.items     whole ⇄ parts (itself)      rival → Item (no inverse)
//        └ Vehicle     tags ⇄⇄ Tag.items        mates ⇄⇄ mates (itself)     fans →→ Person (no inverse)
//   Person             boss ⇄ staff (deny)      desk ⇄ Desk.person (one to one)
//   Route              stops ⇄ Stop.route (ordered, cascade, mandatory)     sights ⇄⇄ Sight.routes (ordered)
//
// The first attribute of each entity is what its objects are called by in the cases, and unique.

import CairnModel

enum SampleModel {
    static let schema: Schema = {
        do {
            return try Schema(model)
        } catch {
            preconditionFailure("the model is right: \(error)")
        }
    }()

    static let model = ManagedObjectModel(
        entities: [item, tool, vehicle, person, desk, tag, route, stop, sight])

    private static let item: EntityDescription = {
        var entity = EntityDescription(
            "Item",
            attributes: [
                .init("code", .string), .init("name", .string), .ruled("note", .string, .fillNil),
                .init("small", .integer16), .ruled("amount", .integer32, .sum),
                .init("large", .integer64), .ruled("price", .double, .maximum),
                .init("ratio", .float), .init("cost", .decimal), .init("open", .boolean),
                .init("since", .date), .init("plan", .binary), .init("mark", .uuid),
                .init("link", .uri), .init("shape", .transformable), size,
                .init("series", .string), .init("number", .integer32),
                .init("state", .string, optional: false, default: .string("new")),
                .derived("folded", .string, "canonical:(name)"),
                .derived("ownerCity", .string, "uppercase:(owner.city)"),
            ],
            relationships: [
                .init("owner", to: "Person", inverse: "items"),
                .init("tags", to: "Tag", toMany: true, inverse: "items"),
                .init("whole", to: "Item", inverse: "parts"),
                .init("parts", to: "Item", toMany: true, inverse: "whole"),
                .init("mates", to: "Item", toMany: true, inverse: "mates"),
                .init("rival", to: "Item"), .init("fans", to: "Person", toMany: true),
            ], uniquenessConstraints: [["code"], ["series", "number"]])
        entity.indexes = [
            FetchIndexDescription("bySmall", elements: [.init("small")]),
            FetchIndexDescription("byName", elements: [.init("name"), .init("price")]),
        ]
        return entity
    }()

    private static let size: AttributeDescription = {
        var size = AttributeDescription("size", .composite)
        size.elements = [.init("width", .double), .init("height", .double)]
        return size
    }()

    private static let tool = child("Tool", [.init("power", .integer32)])
    private static let vehicle = child("Vehicle", [.init("seats", .integer16)])

    private static func child(_ name: String, _ attributes: [AttributeDescription])
        -> EntityDescription
    {
        var entity = EntityDescription(name, attributes: attributes)
        entity.superentityName = "Item"
        return entity
    }

    private static let person: EntityDescription = {
        var name = AttributeDescription("name", .string)
        name.preservesValueInHistoryOnDeletion = true
        var age = AttributeDescription("age", .integer16)
        age.maximumValue = .integer(150)
        return EntityDescription(
            "Person",
            attributes: [
                name, .init("city", .string), age,
                .derived("itemCount", .integer64, "items.@count"),
                .derived("total", .integer64, "items.amount.@sum"),
            ],
            relationships: [
                .init("items", to: "Item", toMany: true, inverse: "owner"),
                .init("boss", to: "Person", inverse: "staff"),
                .init("staff", to: "Person", toMany: true, inverse: "boss", deleteRule: .deny),
                .init("desk", to: "Desk", inverse: "person"),
            ], uniquenessConstraints: [["name"]])
    }()

    private static let desk = EntityDescription(
        "Desk", attributes: [.init("number", .integer64)],
        relationships: [.init("person", to: "Person", inverse: "desk")],
        uniquenessConstraints: [["number"]])

    private static let tag: EntityDescription = {
        var entity = EntityDescription(
            "Tag", attributes: [.init("label", .string), .init("hue", .string)],
            relationships: [.init("items", to: "Item", toMany: true, inverse: "tags")])
        entity.uniquenessRules = [
            UniquenessRule(["label"], caseInsensitive: true, diacriticInsensitive: true)
        ]
        return entity
    }()

    private static let route = EntityDescription(
        "Route", attributes: [.init("name", .string)],
        relationships: [
            .ordered("stops", to: "Stop", inverse: "route", deleteRule: .cascade),
            .ordered("sights", to: "Sight", inverse: "routes"),
        ], uniquenessConstraints: [["name"]])

    private static let stop: EntityDescription = {
        var route = RelationshipDescription("route", to: "Route", inverse: "stops")
        route.isOptional = false
        return EntityDescription(
            "Stop", attributes: [.init("name", .string)], relationships: [route],
            uniquenessConstraints: [["name"]])
    }()

    private static let sight = EntityDescription(
        "Sight", attributes: [.init("name", .string)],
        relationships: [.init("routes", to: "Route", toMany: true, inverse: "sights")],
        uniquenessConstraints: [["name"]])
}

extension AttributeDescription {
    /// An attribute that the store computes.
    fileprivate static func derived(_ name: String, _ type: AttributeType, _ expression: String)
        -> Self
    {
        var attribute = AttributeDescription(name, type)
        attribute.derivationExpression = expression
        return attribute
    }

    /// An attribute that the declared merge policy has a rule for.
    fileprivate static func ruled(_ name: String, _ type: AttributeType, _ rule: MergeRule) -> Self
    {
        var attribute = AttributeDescription(name, type)
        attribute.mergeRule = rule
        return attribute
    }
}

extension RelationshipDescription {
    fileprivate static func ordered(
        _ name: String, to destination: String, inverse: String, deleteRule: DeleteRule = .nullify
    ) -> Self {
        var relationship = RelationshipDescription(
            name, to: destination, toMany: true, inverse: inverse, deleteRule: deleteRule)
        relationship.isOrdered = true
        return relationship
    }
}
