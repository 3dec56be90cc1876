// A model, and what may be changed of it.
//
//   Product ─ Special     tag ⇄ Tag.products     shelf ⇄ Shelf.items (ordered)     colors ⇄⇄ Color.products
//   Gone                  led to by nobody

import CairnModel
import CairnStore
import Foundation
import Testing

/// A change of the model.
struct ChangedModel: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (inout [String: EntityDescription]) -> Void
    var testDescription: String { name }

    init(_ name: String, _ change: @escaping @Sendable (inout [String: EntityDescription]) -> Void)
    {
        self.name = name
        self.change = change
    }

    // MARK: The model

    static let entities: [String: EntityDescription] = {
        var special = EntityDescription("Special", attributes: [.init("extra", .integer32)])
        special.superentityName = "Product"
        var items = RelationshipDescription("items", to: "Product", toMany: true, inverse: "shelf")
        items.isOrdered = true
        var product = EntityDescription(
            "Product",
            attributes: [
                .init("code", .string, optional: false), .init("ratio", .float),
                .init("count", .integer16), .init("note", .string), .init("sold", .boolean),
                .init("made", .date), .init("price", .decimal),
            ],
            relationships: [
                .init("tag", to: "Tag", inverse: "products"),
                .init("shelf", to: "Shelf", inverse: "items"),
                .init("colors", to: "Color", toMany: true, inverse: "products"),
            ], uniquenessConstraints: [["code"]])
        product.indexes = [FetchIndexDescription("byCount", elements: [.init("count")])]
        return [
            "Product": product, "Special": special,
            "Tag": EntityDescription(
                "Tag", attributes: [.init("label", .string)],
                relationships: [.init("products", to: "Product", toMany: true, inverse: "tag")]),
            "Shelf": EntityDescription(
                "Shelf", attributes: [.init("name", .string)], relationships: [items]),
            "Color": EntityDescription(
                "Color", attributes: [.init("name", .string)],
                relationships: [.init("products", to: "Product", toMany: true, inverse: "colors")]),
            "Gone": EntityDescription("Gone", attributes: [.init("n", .integer16)]),
        ]
    }()

    static func schema(_ entities: [String: EntityDescription] = entities) throws -> Schema {
        try Schema(
            ManagedObjectModel(entities: entities.sorted { $0.key < $1.key }.map(\.value)))
    }

    func schema() throws -> Schema {
        var entities = Self.entities
        change(&entities)
        return try Self.schema(entities)
    }

    /// Fills a store of the model.
    static func fill(_ store: any PersistentStore) throws {
        func ids(_ entity: String) throws -> [ObjectID] {
            let index = store.schema.entity(named: entity)?.index ?? 0
            return try store.snapshot().fetch(StoreFetch(entity: index)).ids
        }
        for (entity, key) in [("Tag", "label"), ("Shelf", "name"), ("Color", "name")] {
            _ = try store.execute(
                BatchInsertRequest(
                    entityName: entity, objects: (0..<4).map { [key: "\(entity) \($0)"] }))
        }
        _ = try store.execute(
            BatchInsertRequest(entityName: "Gone", objects: (0..<3).map { ["n": $0] }))
        let (tags, shelves, colors) = (try ids("Tag"), try ids("Shelf"), try ids("Color"))
        for (entity, range) in [("Product", 0..<30), ("Special", 30..<40)] {
            let rows = range.map { index -> [String: any Sendable] in
                var row: [String: any Sendable] = ["code": "c\(index)", "count": index % 5]
                if index % 2 == 0 { row["ratio"] = Float(index) / 8 }
                if index % 3 == 0 { row["note"] = "note '\(index)\"" }
                if index % 4 == 0 { row["sold"] = index % 8 == 0 }
                if index % 5 == 0 { row["price"] = Decimal(index) / 4 }
                if index % 6 > 0 { row["tag"] = tags[index % 4] }
                row["shelf"] = shelves[index % 3]
                row["colors"] = [colors[index % 4], colors[(index + 1) % 4]]
                if entity == "Special" { row["extra"] = index }
                return row
            }
            _ = try store.execute(BatchInsertRequest(entityName: entity, objects: rows))
        }
    }

    // MARK: Changes

    /// What the server can do by itself.
    static let simple: [ChangedModel] = [
        ChangedModel("attribute added") {
            $0["Product"]?.attributes.append(.init("size", .integer64))
        },
        ChangedModel("attributes with defaults added") {
            $0["Product"]?.attributes += [
                .init("size", .integer64, default: .integer(7)),
                .init("word", .string, optional: false, default: .string("it's \"so\"")),
                .init("cost", .decimal, default: .decimal(12.5)),
                .init("blob", .binary, default: .binary(Data([0, 255]))),
                .init("on", .boolean, default: .boolean(true)),
                .init("day", .date, default: .date(Date(timeIntervalSinceReferenceDate: 5.25))),
                .init("share", .float, default: .float(0.1)),
                .init(
                    "key", .uuid,
                    default: .uuid(
                        UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8") ?? UUID())),
            ]
            $0["Special"]?.attributes.append(.init("more", .integer16, default: .integer(-3)))
        },
        ChangedModel("attribute renamed") {
            $0["Product"]?.rename("note", to: "remark")
        },
        ChangedModel("attributes that change their names with each other") {
            $0["Product"]?.rename("note", to: "code2")
            $0["Tag"]?.attributes.append(.init("other", .string))
            $0["Product"]?.rename("sold", to: "note")
        },
        ChangedModel("attribute of a constraint renamed") {
            $0["Product"]?.rename("code", to: "key")
            $0["Product"]?.uniquenessConstraints = [["key"]]
        },
        ChangedModel("attribute removed") {
            $0["Product"]?.attributes.removeAll { $0.name == "ratio" }
        },
        ChangedModel("entity renamed") { entities in
            entities["Product"]?.name = "Article"
            entities["Product"]?.renamingIdentifier = "Product"
            entities["Special"]?.superentityName = "Article"
            for name in ["Tag", "Shelf", "Color"] {
                entities[name]?.relationships[0].destinationEntityName = "Article"
            }
        },
        ChangedModel("entity removed") { $0["Gone"] = nil },
        ChangedModel("entities added, some before the others") {
            $0["Aaa"] = EntityDescription("Aaa", attributes: [.init("x", .string)])
            $0["Zzz"] = EntityDescription(
                "Zzz", attributes: [.init("x", .string)], relationships: [.init("aaa", to: "Aaa")],
                uniquenessConstraints: [["x"]])
        },
        ChangedModel("entity added to a hierarchy") {
            var extra = EntityDescription("Extra", attributes: [.init("y", .string)])
            extra.superentityName = "Product"
            $0["Extra"] = extra
        },
        ChangedModel("required, with a default") {
            $0["Product"]?.attributes[3] = .init(
                "note", .string, optional: false, default: .string("none"))
        },
        ChangedModel("not required any more") {
            $0["Product"]?.attributes[0] = .init("code", .string)
        },
        ChangedModel("index added") {
            $0["Product"]?.indexes.append(
                FetchIndexDescription("byNote", elements: [.init("note")]))
        },
        ChangedModel("index removed") { $0["Product"]?.indexes = [] },
        ChangedModel("constraint removed") { $0["Product"]?.uniquenessConstraints = [] },
        ChangedModel("default and delete rule changed") {
            $0["Tag"]?.relationships[0].deleteRule = .cascade
            $0["Tag"]?.attributes[0] = .init("label", .string, default: .string("new"))
        },
        ChangedModel("to-one relationship renamed") {
            $0["Product"]?.relationships[0].name = "label"
            $0["Product"]?.relationships[0].renamingIdentifier = "tag"
            $0["Tag"]?.relationships[0].inverseName = "label"
        },
        ChangedModel("relationship kept as pairs renamed") {
            $0["Product"]?.relationships[2].name = "paints"
            $0["Product"]?.relationships[2].renamingIdentifier = "colors"
            $0["Color"]?.relationships[0].inverseName = "paints"
        },
    ]

    /// What has rows written anew.
    static let involved: [ChangedModel] = [
        ChangedModel("numbers widened") {
            $0["Product"]?.attributes[2] = .init("count", .integer64)
            $0["Product"]?.attributes[1] = .init("ratio", .double)
            $0["Product"]?.attributes[4] = .init("sold", .integer32)
        },
        ChangedModel("constraint added") { $0["Tag"]?.uniquenessConstraints = [["label"]] },
        ChangedModel("constraint that objects violate") {
            $0["Product"]?.uniquenessConstraints.append(["count"])
        },
        ChangedModel("to-one becomes to-many") {
            $0["Product"]?.relationships[0].isToMany = true
            $0["Product"]?.relationships[0].maximumCount = 0
        },
        ChangedModel("relationship removed") {
            $0["Product"]?.relationships.removeFirst()
            $0["Tag"]?.relationships = []
        },
        ChangedModel("relationship kept as pairs removed") {
            $0["Product"]?.relationships.removeLast()
            $0["Color"]?.relationships = []
        },
        ChangedModel("relationship added") {
            $0["Tag"]?.relationships.append(.init("color", to: "Color"))
            $0["Gone"]?.relationships.append(.init("all", to: "Product", toMany: true))
        },
        ChangedModel("members get an order") { $0["Color"]?.relationships[0].isOrdered = true },
        ChangedModel("members lose their order") {
            $0["Shelf"]?.relationships[0].isOrdered = false
        },
        ChangedModel("entity leaves its hierarchy") {
            $0["Special"]?.superentityName = nil
            $0["Special"]?.attributes.append(.init("code", .string))
        },
        ChangedModel("derived attribute added") {
            var count = AttributeDescription("productCount", .integer64)
            count.derivationExpression = "products.@count"
            $0["Tag"]?.attributes.append(count)
        },
        ChangedModel("entity removed that others lead to") { entities in
            entities["Tag"] = nil
            entities["Product"]?.relationships.removeFirst()
        },
        ChangedModel("required without a default") {
            $0["Product"]?.attributes[5] = .init("made", .date, optional: false)
        },
        ChangedModel("text becomes a number") {
            $0["Product"]?.attributes[3] = .init("note", .integer32)
        },
    ]
}

extension EntityDescription {
    fileprivate mutating func rename(_ name: String, to other: String) {
        for index in attributes.indices where attributes[index].name == name {
            attributes[index].name = other
            attributes[index].renamingIdentifier = name
        }
    }
}
