// The models that the tests use.

import CairnModel
import FoundationEssentials

enum Models {
    /// Products of shops, with tags; recipes with a compound key.
    static let shop: ManagedObjectModel = {
        let shop = EntityDescription(
            "Shop", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("products", to: "Product", toMany: true, inverse: "shop")
            ], uniquenessConstraints: [["name"]])
        let product = EntityDescription(
            "Product",
            attributes: [
                AttributeDescription("serialCode", .string),
                AttributeDescription("name", .string, optional: false, default: .string("")),
                AttributeDescription("price", .double, optional: false, default: .double(0)),
                AttributeDescription(
                    "isFavorite", .boolean, optional: false, default: .boolean(false)),
                AttributeDescription("note", .string),
                AttributeDescription("stock", .integer32),
            ],
            relationships: [
                RelationshipDescription("shop", to: "Shop", inverse: "products"),
                RelationshipDescription("tags", to: "Tag", toMany: true, inverse: "products"),
            ], uniquenessConstraints: [["serialCode"]])
        let tag = EntityDescription(
            "Tag", attributes: [AttributeDescription("label", .string)],
            relationships: [
                RelationshipDescription("products", to: "Product", toMany: true, inverse: "tags")
            ], uniquenessConstraints: [["label"]])
        let recipe = EntityDescription(
            "Recipe",
            attributes: [
                AttributeDescription("source", .string),
                AttributeDescription("externalID", .string),
                AttributeDescription("title", .string),
            ], uniquenessConstraints: [["source", "externalID"]])
        return ManagedObjectModel(entities: [shop, product, tag, recipe])
    }()

    /// Entities that inherit constraints and add their own.
    static let vehicles: ManagedObjectModel = {
        let car = EntityDescription(
            "Car",
            attributes: [
                AttributeDescription("numberPlate", .string),
                AttributeDescription("maker", .string),
            ], uniquenessConstraints: [["numberPlate"]])
        var sport = EntityDescription(
            "SportCar",
            attributes: [
                AttributeDescription("racingNumber", .integer32),
                AttributeDescription("team", .string),
            ],
            uniquenessConstraints: [["racingNumber"]])
        sport.superentityName = "Car"
        var expensive = EntityDescription(
            "ExpensiveSportCar", attributes: [AttributeDescription("insurance", .string)])
        expensive.superentityName = "SportCar"
        var truck = EntityDescription(
            "Truck", attributes: [AttributeDescription("permit", .string)],
            uniquenessConstraints: [["permit"]])
        truck.superentityName = "Car"
        return ManagedObjectModel(entities: [car, sport, expensive, truck])
    }()

    /// Every kind of relationship and delete rule.
    static let people: ManagedObjectModel = {
        let person = EntityDescription(
            "Person", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("spouse", to: "Person", inverse: "spouse"),
                RelationshipDescription("friends", to: "Person", toMany: true, inverse: "friends"),
                RelationshipDescription("mentor", to: "Person"),
                RelationshipDescription("heroes", to: "Person", toMany: true),
                RelationshipDescription("parent", to: "Person", inverse: "children"),
                RelationshipDescription(
                    "children", to: "Person", toMany: true, inverse: "parent", deleteRule: .cascade),
                RelationshipDescription("passport", to: "Passport", inverse: "holder"),
                RelationshipDescription(
                    "department", to: "Department", inverse: "employees"),
            ], uniquenessConstraints: [["name"]])
        var holder = RelationshipDescription("holder", to: "Person", inverse: "passport")
        holder.deleteRule = .nullify
        let passport = EntityDescription(
            "Passport", attributes: [AttributeDescription("number", .integer64)],
            relationships: [holder], uniquenessConstraints: [["number"]])
        let department = EntityDescription(
            "Department", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription(
                    "employees", to: "Person", toMany: true, inverse: "department",
                    deleteRule: .deny),
                RelationshipDescription("desks", to: "Desk", toMany: true, inverse: "department"),
                RelationshipDescription(
                    "signs", to: "Sign", toMany: true, inverse: "department", deleteRule: .noAction),
            ], uniquenessConstraints: [["name"]])
        var owner = RelationshipDescription("department", to: "Department", inverse: "desks")
        owner.isOptional = false
        let desk = EntityDescription(
            "Desk", attributes: [AttributeDescription("number", .integer64)], relationships: [owner]
        )
        let sign = EntityDescription(
            "Sign", attributes: [AttributeDescription("text", .string)],
            relationships: [
                RelationshipDescription("department", to: "Department", inverse: "signs")
            ])
        return ManagedObjectModel(entities: [person, passport, department, desk, sign])
    }()

    /// Values of every type, with limits.
    static let values: ManagedObjectModel = {
        var size = AttributeDescription("size", .integer16)
        size.minimumValue = .integer(1)
        size.maximumValue = .integer(10)
        var day = AttributeDescription("day", .date)
        day.minimumValue = .date(.init(timeIntervalSinceReferenceDate: 0))
        day.maximumValue = .date(.init(timeIntervalSinceReferenceDate: 1000))
        var code = AttributeDescription("code", .string)
        code.minimumLength = 2
        code.maximumLength = 4
        code.regularExpression = "[a-z]+"
        var cache = AttributeDescription("cache", .string, default: .string("empty"))
        cache.isTransient = true
        var color = AttributeDescription("color", .composite)
        color.elements = [
            AttributeDescription("primary", .string), AttributeDescription("shade", .double),
        ]
        let thing = EntityDescription(
            "Thing",
            attributes: [
                size, day, code, cache, color, AttributeDescription("small", .integer32),
                AttributeDescription("large", .integer64), AttributeDescription("exact", .decimal),
                AttributeDescription("ratio", .double), AttributeDescription("short", .float),
                AttributeDescription("flag", .boolean), AttributeDescription("bytes", .binary),
                AttributeDescription("uuid", .uuid), AttributeDescription("link", .uri),
                AttributeDescription("needed", .string, optional: false, default: .string("x")),
            ])
        var parts = RelationshipDescription("parts", to: "Part", toMany: true, inverse: "whole")
        parts.minimumCount = 1
        parts.maximumCount = 2
        var legs = RelationshipDescription("legs", to: "Part", toMany: true, inverse: "chair")
        legs.isOptional = false
        let box = EntityDescription(
            "Box", attributes: [AttributeDescription("name", .string)],
            relationships: [parts, legs])
        let part = EntityDescription(
            "Part", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("whole", to: "Box", inverse: "parts"),
                RelationshipDescription("chair", to: "Box", inverse: "legs"),
            ])
        return ManagedObjectModel(entities: [thing, box, part])
    }()
}
