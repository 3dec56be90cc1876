// A store that has followed two changes of its model, with rows of each version.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMigration

enum MigratedSample {
    private typealias Store = MigratedStore

    private static func was(_ old: String, _ attribute: AttributeDescription)
        -> AttributeDescription
    {
        var attribute = attribute
        attribute.renamingIdentifier = old
        return attribute
    }

    /// What was a reference before.
    private static var tags: RelationshipDescription {
        var tags = RelationshipDescription("tags", to: "Tag", toMany: true, inverse: "products")
        tags.renamingIdentifier = "tag"
        return tags
    }

    /// The versions of the model.
    static let models: [ManagedObjectModel] = [
        Store.model(
            Store.entity(
                "Product",
                [
                    .init("code", .string, optional: false), .init("ratio", .float),
                    .init("count", .integer16), .init("note", .string), .init("sold", .boolean),
                    .init("old", .date),
                ], [.init("tag", to: "Tag", inverse: "products")], unique: [["code"]]),
            Store.entity(
                "Tag", [.init("label", .string)],
                [.init("products", to: "Product", toMany: true, inverse: "tag")]),
            Store.entity("Gone", [.init("n", .integer16)])),
        Store.model(
            Store.entity(
                "Article", was: "Product",
                [
                    .init("note", .string, optional: false, default: .string("none")),
                    was("code", .init("key", .string, optional: false)), .init("ratio", .double),
                    .init("count", .integer64, optional: false, default: .integer(-7)),
                    .init("sold", .integer32), .init("price", .double, default: .double(9.5)),
                    .init("data", .binary, default: .binary(Data([0, 255]))),
                ],
                [tags], unique: [["key"]]),
            Store.entity(
                "Tag", [.init("label", .string)],
                [.init("products", to: "Article", toMany: true, inverse: "tags")])),
        Store.model(
            Store.entity("Tag", [.init("label", .string)]),
            Store.entity(
                "Article",
                [
                    .init("key", .string, optional: false), .init("note", .string),
                    .init("ratio", .double, optional: false, default: .double(0.25)),
                    .init("count", .integer64), .init("sold", .integer64),
                    .init("price", .double, default: .double(1)),
                    .init(
                        "id", .uuid,
                        default: .uuid(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!)),
                ], unique: [["key"]])),
    ]

    private static func rows(_ version: Int) -> [[String: Any]] {
        (0..<30).map { index in
            let number = version * 20 + index
            var row: [String: Any] = [version == 0 ? "code" : "key": "c\(number)"]
            if index % 2 == 0 { row["ratio"] = version == 0 ? Float(index) / 8 : Double(index) / 8 }
            if index % 3 == 0 { row["count"] = index }
            if index % 4 == 0 { row["note"] = "note \(number)" }
            if index % 5 == 0 { row["sold"] = version == 0 ? true : index }
            return row
        }
    }

    /// Writes the rows that come with a version.
    static func fill(_ log: LogStore, version: Int) throws {
        if version == 0 {
            for (entity, name) in [("Tag", "label"), ("Gone", "n")] {
                _ = try log.execute(
                    BatchInsertRequest(
                        entityName: entity,
                        objects: (0..<5).map { [name: name == "n" ? $0 : "t\($0)"] }))
            }
        }
        var rows = rows(version)
        if version == 0, let tag = log.schema.entity(named: "Tag") {
            let tags = try log.snapshot().fetch(StoreFetch(entity: tag.index)).ids
            for index in rows.indices where index % 3 > 0 { rows[index]["tag"] = tags[index % 5] }
        }
        var request = BatchInsertRequest(
            entityName: version == 0 ? "Product" : "Article", objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        _ = try log.execute(request)
    }

    static func image() throws -> DiskImage {
        let disk = MemoryFileSystem()
        var options = GoldenStore.options(on: disk, rowsPerBlock: 20, segmentBytes: 64 << 10)
        options.sizes.checkpointBytes = .max
        options.sizes.closingCheckpointBytes = .max
        options.shouldMigrateStoreAutomatically = true
        for (version, model) in models.enumerated() {
            let log = try LogStore.open(at: "/store", schema: try Schema(model), options: options)
            try fill(log, version: version)
            try log.close()
        }
        return try DiskImage(of: disk)
    }

    // MARK: By a mapping

    private static var articles: RelationshipDescription {
        var articles = RelationshipDescription(
            "articles", to: "Article", toMany: true, inverse: "tag")
        articles.isOrdered = true
        return articles
    }

    /// What the rows of the first model are mapped to.
    private static let mapped = Store.model(
        Store.entity(
            "Article", was: "Product",
            [.init("key", .string, optional: false), .init("note", .string)],
            [.init("tag", to: "Tag", inverse: "articles")], unique: [["key"]]),
        Store.entity(
            "Tag", [.init("label", .string)],
            [articles]),
        Store.entity("Note", [.init("text", .string)]))

    /// Rows that a mapping has made. The last product became the first article and so on, so that lists need keys for their order;
    /// one in five became none, and one article became of none. There is a large value.
    static func mappedImage() throws -> DiskImage {
        let disk = MemoryFileSystem()
        var options = GoldenStore.options(on: disk, rowsPerBlock: 20, segmentBytes: 64 << 10)
        options.sizes.checkpointBytes = .max
        options.sizes.closingCheckpointBytes = .max
        let log = try LogStore.open(at: "/store", schema: try Schema(models[0]), options: options)
        try fill(log, version: 0)
        try log.close()

        let schema = try Schema(mapped)
        let migration = try LogStore.beginMigration(at: "/store", to: schema, options: options)
        func insert(_ entity: String, _ rows: [[String: Any]]) throws -> [ObjectID] {
            var request = BatchInsertRequest(entityName: entity, objects: rows)
            request.resultType = .objectIDs
            return try migration.destination.execute(request).objectIDs
        }
        let tags = try insert("Tag", (0..<5).map { ["label": "tag \($0)"] })
        let kept = (1...30).reversed().filter { $0 % 5 > 0 }
        let articles = try insert(
            "Article",
            kept.map { number -> [String: Any] in
                ["key": "c\(number)", "note": "note \(number)", "tag": tags[number % 5]]
            } + [["key": "new"]])
        _ = try insert(
            "Note", [["text": String(repeating: "a large value, ", count: 400)], [:]])
        let source = migration.source.schema
        let product = try #require(source.entity(named: "Product"))
        let tag = try #require(source.entity(named: "Tag"))
        func numbers(_ ids: [ObjectID]) -> [UInt32] {
            ids.map { UInt32(truncatingIfNeeded: $0.reference) }
        }
        try migration.finish([
            ObjectSuccession(
                sourceEntity: product.index,
                destinationEntity: try #require(schema.entity(named: "Article")).index,
                sources: kept.map { UInt32($0) }, destinations: numbers(Array(articles.dropLast()))),
            ObjectSuccession(
                sourceEntity: tag.index,
                destinationEntity: try #require(schema.entity(named: "Tag")).index,
                sources: [1, 2, 3, 4, 5], destinations: numbers(tags)),
        ])
        // And rows behind them, in the same lists.
        let new = try LogStore.open(at: "/store", schema: schema, options: options)
        let first = try new.snapshot().fetch(
            StoreFetch(entity: try #require(schema.entity(named: "Tag")).index)
        ).ids[0]
        _ = try new.execute(
            BatchInsertRequest(
                entityName: "Article", objects: [["key": "later", "tag": first], ["key": "last"]]))
        try new.close()
        return try DiskImage(of: disk)
    }
}
