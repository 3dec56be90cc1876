// People who are there more than once, with all kinds of relationships.

import CairnModel
import CairnObjects
import FoundationEssentials

enum DuplicatePeople {
    static let model: ManagedObjectModel = {
        let person = EntityDescription(
            "Person",
            attributes: [
                AttributeDescription("email", .string), AttributeDescription("name", .string),
                AttributeDescription("phone", .string), AttributeDescription("visits", .integer16),
                AttributeDescription("modified", .integer64), AttributeDescription("mark", .string),
            ],
            relationships: [
                RelationshipDescription(
                    "addresses", to: "Address", toMany: true, inverse: "person",
                    deleteRule: .cascade),
                RelationshipDescription("employer", to: "Company", inverse: "employees"),
                RelationshipDescription("tags", to: "Tag", toMany: true, inverse: "people"),
                RelationshipDescription("friends", to: "Person", toMany: true, inverse: "friends"),
                RelationshipDescription("mentor", to: "Person"),
                RelationshipDescription("heroes", to: "Person", toMany: true),
                RelationshipDescription(
                    "passport", to: "Passport", inverse: "holder", deleteRule: .cascade),
            ])
        var worker = EntityDescription(
            "Worker", attributes: [AttributeDescription("badge", .string)])
        worker.superentityName = "Person"
        return ManagedObjectModel(entities: [
            person, worker,
            EntityDescription(
                "Address", attributes: [AttributeDescription("city", .string)],
                relationships: [
                    RelationshipDescription("person", to: "Person", inverse: "addresses")
                ]),
            EntityDescription(
                "Company", attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription(
                        "employees", to: "Person", toMany: true, inverse: "employer")
                ]),
            EntityDescription(
                "Tag", attributes: [AttributeDescription("label", .string)],
                relationships: [
                    RelationshipDescription("people", to: "Person", toMany: true, inverse: "tags")
                ]),
            EntityDescription(
                "Passport", attributes: [AttributeDescription("number", .string)],
                relationships: [
                    RelationshipDescription("holder", to: "Person", inverse: "passport")
                ]),
        ])
    }()
}
