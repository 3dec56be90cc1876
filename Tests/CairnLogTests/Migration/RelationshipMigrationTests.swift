// Relationships that are kept otherwise: as references, as pairs, in order; hierarchies that fall apart.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog
@testable import CairnMigration

@Suite("Migration of relationships and hierarchies")
struct RelationshipMigrationTests {
    private typealias Store = MigratedStore

    private static func relationship(
        _ name: String, to entity: String, many: Bool, inverse: String?, ordered: Bool = false,
        optional: Bool = true
    ) -> RelationshipDescription {
        var relationship = RelationshipDescription(
            name, to: entity, toMany: many, inverse: inverse)
        relationship.isOrdered = ordered
        relationship.isOptional = optional
        return relationship
    }

    /// Recipes and tags, connected in one of several ways.
    private static func model(
        many: Bool, back: Bool, ordered: Bool = false, optional: Bool = true
    ) -> ManagedObjectModel {
        Store.model(
            Store.entity(
                "Recipe", [.init("n", .integer32), .init("text", .string)],
                [
                    relationship(
                        "tags", to: "Tag", many: many, inverse: "recipes",
                        ordered: many && ordered, optional: optional)
                ]),
            Store.entity(
                "Tag", [.init("n", .integer32)],
                [relationship("recipes", to: "Recipe", many: back, inverse: "tags")]))
    }

    private static func filled(_ model: ManagedObjectModel, tags: Int = 40) throws -> (
        store: Store, content: Store.Content
    ) {
        let store = Store()
        let content = try store.with(model) { log in
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "Tag", objects: (0..<tags).map { ["n": $0] }))
            let tag = try #require(log.schema.entity(named: "Tag"))
            let ids = try log.snapshot().fetch(StoreFetch(entity: tag.index)).ids
            let isMany = log.schema.entities[0].relationships[0].description.isToMany
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "Recipe",
                    objects: (0..<120).map { index in
                        var row: [String: Any] = [
                            "n": index, "text": String(repeating: "t\(index) ", count: index * 20),
                        ]
                        let chosen = [ids[index % tags], ids[(index * 7 + 3) % tags]]
                        if index % 4 != 0 {
                            row["tags"] = isMany ? Array(Set(chosen)) : chosen[0]
                        }
                        return row
                    }))
            return try Store.content(log)
        }
        return (store, content)
    }

    private static func numbers(_ value: Value?) -> [Int64] {
        switch value {
        case .string(let list): list.split(separator: " ").compactMap { Int64($0) }
        case .integer(let number): [number]
        default: []
        }
    }

    /// By owner: whom a relationship leads to.
    private static func links(_ content: Store.Content, _ entity: String, _ name: String)
        -> [UInt64: [Int64]]
    {
        (content[entity] ?? [:]).mapValues { numbers($0[name]) }.filter { !$0.value.isEmpty }
    }

    private static func turned(_ links: [UInt64: [Int64]]) -> [UInt64: [Int64]] {
        var result: [UInt64: [Int64]] = [:]
        for (owner, targets) in links {
            for target in targets { result[UInt64(target), default: []].append(Int64(owner)) }
        }
        return result.mapValues { $0.sorted() }
    }

    @Test("References become pairs, and lead where they led")
    func toMany() throws {
        let (store, before) = try Self.filled(Self.model(many: false, back: true))
        let model = Self.model(many: true, back: true)
        let report = try store.migrate(to: model)
        #expect(report.plan.cost == .columnPass)
        let after = try store.check(nil, model)
        #expect(Self.links(after, "Recipe", "tags") == Self.links(before, "Recipe", "tags"))
        #expect(
            Self.links(after, "Tag", "recipes")
                == Self.turned(Self.links(before, "Recipe", "tags")))
        #expect(
            after["Recipe"]?.mapValues { $0["text"] } == before["Recipe"]?.mapValues { $0["text"] })
    }

    @Test("Pairs become references: of several the oldest stays")
    func toOne() throws {
        let (store, before) = try Self.filled(Self.model(many: true, back: true))
        let model = Self.model(many: false, back: true)
        try store.migrate(to: model)
        let after = try store.check(nil, model)
        let was = Self.links(before, "Recipe", "tags")
        let now = Self.links(after, "Recipe", "tags")
        #expect(was.count == 90 && now.count == 90)
        #expect(was.keys.sorted() == now.keys.sorted())
        for (owner, targets) in now {
            #expect(targets.count == 1 && was[owner]?.contains(targets[0]) == true)
        }
        #expect(Self.links(after, "Tag", "recipes") == Self.turned(now))
        #expect(
            after["Recipe"]?.mapValues { $0["text"] } == before["Recipe"]?.mapValues { $0["text"] })
    }

    @Test("A list that becomes ordered keeps its members, and one more comes last (B154)")
    func ordered() throws {
        let (store, before) = try Self.filled(Self.model(many: true, back: true))
        let model = Self.model(many: true, back: true, ordered: true)
        let report = try store.migrate(to: model)
        #expect(report.plan.cost == .metadata)
        let after = try store.check(nil, model)
        let (was, now) = (
            Self.links(before, "Recipe", "tags"), Self.links(after, "Recipe", "tags")
        )
        #expect(now.mapValues { $0.sorted() } == was.mapValues { $0.sorted() })
        // And back again: it is a set.
        let set = Self.model(many: true, back: true)
        try store.migrate(to: set)
        #expect(Self.links(try store.check(nil, set), "Recipe", "tags") == was)
    }

    @Test("What is required must be there: those without a target are counted and named")
    func required() throws {
        let (store, before) = try Self.filled(Self.model(many: false, back: true))
        #expect {
            try store.migrate(to: Self.model(many: false, back: true, optional: false))
        } throws: { error in
            guard let error = error as? StoreError else { return false }
            return error.code == .migrationFailed && error.context.entity == "Recipe"
                && error.context.key == "tags" && error.context.objectID != nil
                && error.message.contains("30 objects have no target")
        }
        _ = try store.check(before, Self.model(many: false, back: true))
    }

    @Test("A relationship without an inverse gets one, and loses it")
    func inverses() throws {
        let oneWay = Store.model(
            Store.entity(
                "Recipe", [.init("n", .integer32), .init("text", .string)],
                [Self.relationship("tags", to: "Tag", many: false, inverse: nil)]),
            Store.entity("Tag", [.init("n", .integer32)]))
        let (store, before) = try Self.filled(oneWay)
        let both = Self.model(many: false, back: true)
        try store.migrate(to: both)
        let after = try store.check(nil, both)
        #expect(
            Self.links(after, "Tag", "recipes")
                == Self.turned(Self.links(before, "Recipe", "tags")))
        try store.migrate(to: oneWay)
        _ = try store.check(before, oneWay)
    }

    @Test("Who is led to by two relationships that become one is led to once")
    func joined() throws {
        func many(_ name: String, was: String? = nil) -> RelationshipDescription {
            var relationship = Self.relationship(name, to: "Tag", many: true, inverse: nil)
            relationship.renamingIdentifier = was
            return relationship
        }
        func model(_ recipes: RelationshipDescription, _ cakes: [RelationshipDescription])
            -> ManagedObjectModel
        {
            Store.model(
                Store.entity("Recipe", [.init("n", .integer32)], [recipes]),
                Store.entity("Cake", under: "Recipe", [.init("layers", .integer32)], cakes),
                Store.entity("Tag", [.init("n", .integer32)]))
        }
        let store = Store()
        // By its name the one of cakes is what that of all becomes, which says so itself.
        try store.with(model(many("labels", was: "tags"), [many("tags")])) { log in
            var request = BatchInsertRequest(entityName: "Tag", objects: [["n": 0]])
            request.resultType = .objectIDs
            let tags = try log.execute(request).objectIDs
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "Cake", objects: [["n": 0, "labels": tags, "tags": tags]]))
        }
        let new = model(many("tags"), [])
        try store.migrate(to: new)
        #expect(Self.links(try store.check(nil, new), "Cake", "tags") == [1: [1]])
    }

    @Test("A hierarchy falls apart: objects keep their numbers, large values and references")
    func split() throws {
        func model(_ isOne: Bool) -> ManagedObjectModel {
            let name = AttributeDescription("name", .string)
            let n = AttributeDescription("n", .integer32)
            let region = Store.entity("Region", [name])
            return ManagedObjectModel(
                entities: (isOne ? [region] : []) + [
                    Store.entity(
                        "City", under: isOne ? "Region" : nil, isOne ? [n] : [name, n],
                        [Self.relationship("land", to: "Land", many: false, inverse: "cities")]),
                    Store.entity(
                        "Land", under: isOne ? "Region" : nil, isOne ? [n] : [name, n],
                        [Self.relationship("cities", to: "City", many: true, inverse: "land")]),
                ])
        }
        let store = Store()
        var before = try store.with(model(true)) { log in
            for name in ["Land", "City"] {
                let land = try #require(log.schema.entity(named: "Land"))
                let lands = try log.snapshot().fetch(StoreFetch(entity: land.index)).ids
                _ = try log.execute(
                    BatchInsertRequest(
                        entityName: name,
                        objects: (0..<60).map { index in
                            var row: [String: Any] = ["n": index, "name": "\(name) \(index)"]
                            if index % 9 == 0 {
                                row["name"] = String(repeating: "x\(index)", count: 3_000)
                            }
                            if name == "City", index % 3 > 0 { row["land"] = lands[index % 7] }
                            return row
                        }))
            }
            return try Store.content(log)
        }
        try store.migrate(to: model(false))
        before["Region"] = nil
        _ = try store.check(before, model(false))
        try store.with(model(false)) { log in
            let result = try log.execute(
                BatchInsertRequest(
                    entityName: "City", objects: [["n": 100, "name": "new"]]))
            #expect(result.insertedCount == 1)
            #expect(try log.check().findings.isEmpty)
        }
    }

    @Test(
        "Links to objects that leave their hierarchy are none afterwards, if they are to the others"
    )
    func leaving() throws {
        func model(_ isOne: Bool) -> ManagedObjectModel {
            Store.model(
                Store.entity(
                    "Box", [],
                    [
                        Self.relationship("things", to: "Thing", many: true, inverse: "boxes"),
                        Self.relationship("first", to: "Thing", many: false, inverse: "firstOf"),
                    ]),
                Store.entity(
                    "Thing", [.init("n", .integer32)],
                    [
                        Self.relationship("boxes", to: "Box", many: true, inverse: "things"),
                        Self.relationship("firstOf", to: "Box", many: true, inverse: "first"),
                    ]), Store.entity("Other", under: isOne ? "Thing" : nil, [.init("m", .string)]))
        }
        let store = Store()
        try store.with(model(true)) { log in
            for (entity, key) in [("Thing", "n"), ("Other", "n")] {
                _ = try log.execute(
                    BatchInsertRequest(entityName: entity, objects: (0..<3).map { [key: $0] }))
            }
            let thing = try #require(log.schema.entity(named: "Thing"))
            let things = try log.snapshot().fetch(StoreFetch(entity: thing.index)).ids
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "Box",
                    objects: things.map { ["first": $0, "things": [things[0], $0, things[5]]] }))
        }
        try store.migrate(to: model(false))
        let content = try store.check(nil, model(false))
        #expect(content["Other"]?.count == 3)
        for number in UInt64(1)...6 {
            let box = try #require(content["Box"]?[number])
            #expect(box["first"] == (number <= 3 ? .integer(Int64(number)) : .null))
            #expect(box["things"] == .string((1 < number && number <= 3) ? "1 \(number)" : "1"))
        }
    }

    @Test("A derived attribute that is new is computed for all, and followed from then on")
    func derived() throws {
        let (store, before) = try Self.filled(Self.model(many: false, back: true))
        var model = Self.model(many: false, back: true)
        var count = AttributeDescription("count", .integer64)
        count.derivationExpression = "recipes.@count"
        model.entities[1].attributes.append(count)
        var upper = AttributeDescription("upper", .string)
        upper.derivationExpression = "uppercase:(text)"
        model.entities[0].attributes.append(upper)
        try store.migrate(to: model)
        let after = try store.check(nil, model)
        let links = Self.links(before, "Tag", "recipes")
        for (number, tag) in after["Tag"] ?? [:] {
            #expect(tag["count"] == .integer(Int64(links[number]?.count ?? 0)))
        }
        for recipe in (after["Recipe"] ?? [:]).values {
            guard case .string(let text) = recipe["text"] else { continue }
            #expect(recipe["upper"] == .string(text.uppercased()))
        }
    }
}

extension RelationshipMigrationTests {
    @Test("Links to objects that go with their entity are none afterwards, however they are kept")
    func linksToWhatGoes() throws {
        func model(_ isNew: Bool) -> ManagedObjectModel {
            let toThings = [
                Self.relationship("things", to: "Thing", many: isNew, inverse: "boxes"),
                Self.relationship("marks", to: "Thing", many: !isNew, inverse: "marked"),
            ]
            let toBoxes = [
                Self.relationship("boxes", to: "Box", many: true, inverse: "things"),
                Self.relationship("marked", to: "Box", many: true, inverse: "marks"),
            ]
            var entities = [
                Store.entity("Box", [.init("n", .integer32)], toThings),
                Store.entity("Thing", [.init("n", .integer32)], toBoxes),
            ]
            if !isNew { entities.append(Store.entity("Tool", under: "Thing")) }
            return ManagedObjectModel(entities: entities)
        }
        let store = Store()
        let before = try store.with(model(false)) { log in
            for name in ["Thing", "Tool"] {
                _ = try log.execute(
                    BatchInsertRequest(entityName: name, objects: (0..<30).map { ["n": $0] }))
            }
            let thing = try #require(log.schema.entity(named: "Thing"))
            let ids = try log.snapshot().fetch(StoreFetch(entity: thing.index)).ids
            var boxes: [[String: Any]] = []
            for index in 0..<60 {
                let marks: [ObjectID] = [ids[index], ids[(index + 31) % 60]]
                boxes.append(["n": index, "things": ids[(index * 7) % 60], "marks": marks])
            }
            _ = try log.execute(BatchInsertRequest(entityName: "Box", objects: boxes))
            return try Store.content(log)
        }
        let things = Set((before["Thing"] ?? [:]).keys.map { Int64($0) })
        try store.migrate(to: model(true))
        let after = try store.check(nil, model(true))
        func kept(_ links: [UInt64: [Int64]]) -> [UInt64: [Int64]] {
            links.mapValues { $0.filter(things.contains) }.filter { !$0.value.isEmpty }
        }
        #expect(
            Self.links(after, "Box", "things") == kept(Self.links(before, "Box", "things")))
        let marks = kept(Self.links(before, "Box", "marks"))
        #expect(Self.links(after, "Box", "marks").keys.sorted() == marks.keys.sorted())
        for (owner, targets) in Self.links(after, "Box", "marks") {
            #expect(marks[owner]?.contains(targets[0]) == true)
        }
        #expect(
            Self.links(after, "Thing", "marked")
                == Self.turned(Self.links(after, "Box", "marks")))
    }
}

extension RelationshipMigrationTests {
    /// How recipes and tags were connected before each leads to one of the other.
    enum Earlier: String, CaseIterable {
        case oneToMany, manyToOne, manyToMany, orderedManyToMany, oneWay
    }

    @Test(
        "Whoever is led to leads back, where both ends are to-one now", arguments: Earlier.allCases)
    func oneToOne(_ earlier: Earlier) throws {
        let old =
            switch earlier {
            case .oneToMany: Self.model(many: false, back: true)
            case .manyToOne: Self.model(many: true, back: false)
            case .manyToMany: Self.model(many: true, back: true)
            case .orderedManyToMany: Self.model(many: true, back: true, ordered: true)
            case .oneWay:
                Store.model(
                    Store.entity(
                        "Recipe", [.init("n", .integer32), .init("text", .string)],
                        [Self.relationship("tags", to: "Tag", many: false, inverse: nil)]),
                    Store.entity("Tag", [.init("n", .integer32)]))
            }
        let (store, before) = try Self.filled(old)
        let new = Self.model(many: false, back: false)
        let report = try store.migrate(to: new)
        #expect(report.plan.cost == .columnPass)
        #expect(report.plan.changes.contains { $0.loss != nil })
        let after = try store.check(nil, new)
        let was = Self.links(before, "Recipe", "tags")
        let now = Self.links(after, "Recipe", "tags")
        #expect(Self.links(after, "Tag", "recipes") == Self.turned(now))
        for (owner, targets) in now {
            #expect(targets.count == 1 && was[owner]?.contains(targets[0]) == true)
        }
        // Nobody is without a partner who had one that is without.
        let taken = Set(now.values.map { $0[0] })
        for (owner, targets) in was where now[owner] == nil {
            #expect(targets.allSatisfy(taken.contains))
        }
        // What is written from then on follows it.
        let lead = try #require(now.first)
        try store.with(new) { log in
            let tag = try #require(log.schema.entity(named: "Tag"))
            let ids = try log.snapshot().fetch(StoreFetch(entity: tag.index)).ids
            let id = try #require(ids.first { Int64($0.reference) == lead.value[0] })
            let result = try log.execute(BatchDeleteRequest(objectIDs: [id]))
            #expect(result.deletedCount == 1)
            let recipes = Self.links(try Store.content(log), "Recipe", "tags")
            #expect(recipes == now.filter { $0.key != lead.key })
            #expect(try log.check().findings.isEmpty)
        }
    }

    @Test("A relationship that is its own inverse: partners agree, and friends are friends once")
    func ownInverse() throws {
        func model(_ many: Bool) -> ManagedObjectModel {
            Store.model(
                Store.entity(
                    "Person", [.init("n", .integer32)],
                    [
                        Self.relationship(
                            "friends", to: "Person", many: many, inverse: "friends")
                    ]))
        }
        let store = Store()
        let before = try store.with(model(true)) { log in
            func insert(_ rows: [[String: Any]]) throws -> [ObjectID] {
                _ = try log.execute(BatchInsertRequest(entityName: "Person", objects: rows))
                return try log.snapshot().fetch(StoreFetch(entity: 0)).ids
            }
            let first = try insert((0..<30).map { ["n": $0] })
            let others = (0..<40).map { index -> [String: Any] in
                let friends: [ObjectID] = [first[index % 30], first[(index * 7) % 30]]
                return ["n": index, "friends": friends]
            }
            _ = try insert(others)
            return try Store.content(log)
        }
        let was = Self.links(before, "Person", "friends")
        #expect(was.values.contains { $0.count > 1 })
        try store.migrate(to: model(false))
        let partners = Self.links(try store.check(nil, model(false)), "Person", "friends")
        #expect(partners == Self.turned(partners) && !partners.isEmpty)
        for (owner, targets) in partners {
            #expect(was[owner]?.contains(targets[0]) == true)
        }
        for (owner, targets) in was where partners[owner] == nil {
            #expect(targets.allSatisfy { partners[UInt64($0)] != nil })
        }
        try store.migrate(to: model(true))
        #expect(
            Self.links(try store.check(nil, model(true)), "Person", "friends") == partners)
    }
}
