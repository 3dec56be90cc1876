// A model with one of everything that a question can be about.
//
//   Thing   three levels with Middle and Leaf beside Sibling, whose "extra" is another than Middle's
//   Owner   to-one, with a boss; has things, and a shelf of them in order
//   Tag     many-to-many; and led to by a reference that nobody clears
//   Thing   friends in both directions, likes in one, a next and a previous

import CairnModel

enum AskedModel {
    static func schema() throws -> Schema { try Schema(model) }

    private static var model: ManagedObjectModel {
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("city", .string), .init("code", .integer64)]
        let types: [(String, AttributeType)] = [
            ("name", .string), ("note", .string), ("small", .integer16), ("middle", .integer32),
            ("big", .integer64), ("price", .decimal), ("size", .double), ("weight", .float),
            ("flag", .boolean), ("made", .date), ("key", .uuid), ("link", .uri), ("data", .binary),
            ("blob", .transformable),
        ]
        var thing = EntityDescription(
            "Thing", attributes: types.map { .init($0.0, $0.1) } + [place],
            relationships: [
                .init("owner", to: "Owner", inverse: "things"),
                .init("keeper", to: "Owner", inverse: "shelf"),
                .init("tags", to: "Tag", toMany: true, inverse: "things"),
                .init("loose", to: "Tag", inverse: "looseThings"),
                .init("friends", to: "Thing", toMany: true, inverse: "friends"),
                .init("likes", to: "Thing", toMany: true),
                .init("next", to: "Thing", inverse: "previous"),
                .init("previous", to: "Thing", inverse: "next"),
            ])
        thing.indexes = [
            .init("bySmall", elements: [.init("small", ascending: false), .init("price")]),
            .init("byNote", elements: [.init("note", ascending: false), .init("link")]),
        ]
        var shelf = RelationshipDescription("shelf", to: "Thing", toMany: true, inverse: "keeper")
        shelf.isOrdered = true
        let owner = EntityDescription(
            "Owner",
            attributes: [
                .init("name", .string), .init("age", .integer32), .init("score", .double),
                .init("since", .date),
            ],
            relationships: [
                .init("things", to: "Thing", toMany: true, inverse: "owner"), shelf,
                .init("boss", to: "Owner", inverse: "staff"),
                .init("staff", to: "Owner", toMany: true, inverse: "boss"),
                .init("middles", to: "Middle", toMany: true, inverse: "maker"),
            ])
        let tag = EntityDescription(
            "Tag", attributes: [.init("name", .string), .init("rank", .integer16)],
            relationships: [
                .init("things", to: "Thing", toMany: true, inverse: "tags"),
                .init(
                    "looseThings", to: "Thing", toMany: true, inverse: "loose",
                    deleteRule: .noAction),
            ])
        var middle = EntityDescription(
            "Middle", attributes: [.init("extra", .double)],
            relationships: [.init("maker", to: "Owner", inverse: "middles")])
        middle.superentityName = "Thing"
        var leaf = EntityDescription("Leaf", attributes: [.init("deep", .string)])
        leaf.superentityName = "Middle"
        var sibling = EntityDescription("Sibling", attributes: [.init("extra", .string)])
        sibling.superentityName = "Thing"
        return ManagedObjectModel(entities: [thing, owner, tag, middle, leaf, sibling])
    }
}
