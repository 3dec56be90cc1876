// What keeps its number when a model changes, and what stands for what older blocks do not have.

import CairnFormat
import CairnModel
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Catalogs that follow a change of the model")
struct CatalogSuccessorTests {
    private static func entity(
        _ name: String, under parent: String? = nil, _ attributes: [AttributeDescription] = [],
        _ relationships: [RelationshipDescription] = []
    ) -> EntityDescription {
        var entity = EntityDescription(
            name, attributes: attributes, relationships: relationships)
        entity.superentityName = parent
        return entity
    }

    /// The catalog of each model, each from the one before.
    private static func chain(_ models: [[EntityDescription]]) throws -> [CatalogSuccessor] {
        var catalog = try Catalog(new: Schema(ManagedObjectModel(entities: models[0])))
        var successors: [CatalogSuccessor] = []
        for model in models.dropFirst() {
            let next = try successor(of: catalog, ManagedObjectModel(entities: model))
            successors.append(next)
            catalog = next.catalog
        }
        return successors
    }

    private static func successor(of catalog: Catalog, _ model: ManagedObjectModel) throws
        -> CatalogSuccessor
    {
        let plan = ModelMigrationPlan(from: catalog.schema, to: try Schema(model))
        let successor = CatalogSuccessor(of: catalog, plan)
        try check(successor, catalog)
        return successor
    }

    /// What holds of every successor.
    private static func check(_ successor: CatalogSuccessor, _ old: Catalog) throws {
        let new = successor.catalog
        #expect(new.version == old.version + 1)
        #expect(Set(new.entities.map(\.id)).count == new.entities.count)
        #expect(Set(new.trees.map(\.id)).count == new.trees.count)
        for (index, entity) in new.entities.enumerated() {
            let ids = entity.allColumns.map(\.propertyID)
            #expect(Set(ids).count == ids.count)
            #expect(ids.allSatisfy { $0 < new.next.properties[entity.tree] })
            if let source = successor.entities[index] {
                #expect(entity.id == old.entities[source].id)
            } else {
                #expect(entity.id >= old.next.entity && entity.id < new.next.entity)
            }
        }
        for (index, tree) in new.trees.enumerated() {
            if let source = successor.trees[index] {
                #expect(tree.id == old.trees[source].id)
                #expect(new.next.properties[index] >= old.next.properties[source])
            } else {
                #expect(tree.id >= old.next.tree && tree.id < new.next.tree)
            }
        }
        let used = successor.references.compactMap { $0 }
        #expect(Set(used).count == used.count)
        let document = try JSONDecoder().decode(
            SchemaDocument<IgnoredModel>.self, from: Data(CatalogDocument.encode(new)))
        try document.check()
        // What is written is read again: numbers, and what stands for what older blocks lack.
        let bytes = try CatalogDocument.encode(new)
        try bytes.withUnsafeBytes { payload in
            let plain = CatalogDocument.decodePlain(payload)
            for read in [plain, try CatalogDocument.decodeAny(payload)].compactMap({ $0 }) {
                #expect(read.isMigrated && read.version == new.version && read.next == new.next)
                #expect(read.trees.map(\.id) == new.trees.map(\.id))
                #expect(try CatalogDocument.encode(read) == bytes)
            }
        }
    }

    private static func id(_ property: String, of entity: String, _ catalog: Catalog) throws
        -> UInt32
    {
        let found = try #require(catalog.entities.first { $0.name == entity })
        return try #require(found.allColumns.first { $0.name == property }).propertyID
    }

    @Test("A model that stays the same keeps every number and every index")
    func same() throws {
        let model = [
            Self.entity(
                "A", [.init("x", .string)],
                [.init("b", to: "B", inverse: "as"), .init("cs", to: "B", toMany: true)]),
            Self.entity("B", [], [.init("as", to: "A", toMany: true, inverse: "b")]),
        ]
        var unique = model
        unique[0].uniquenessConstraints = [["x"]]
        let old = try Catalog(new: Schema(ManagedObjectModel(entities: unique)))
        let next = try Self.successor(of: old, ManagedObjectModel(entities: unique))
        #expect(next.catalog.entities.map(\.id) == old.entities.map(\.id))
        #expect(
            next.catalog.entities.map { $0.allColumns.map(\.propertyID) }
                == old.entities.map { $0.allColumns.map(\.propertyID) })
        #expect(next.trees == old.trees.indices.map { $0 })
        #expect(next.references == old.references.indices.map { $0 })
        #expect(next.uniques == old.uniques.indices.map { $0 })
        #expect(next.droppedEntities.isEmpty && next.catalog.next == old.next)
        #expect(next.catalog.entities.allSatisfy { $0.columns.allSatisfy { $0.past == nil } })
    }

    @Test(
        "Numbers stay through renamings and another order, and what is gone gives its number to nobody"
    )
    func renamings() throws {
        var color = AttributeDescription("colour", .string)
        color.renamingIdentifier = "color"
        var vehicle = Self.entity("Vehicle", [.init("doors", .integer16), color])
        vehicle.renamingIdentifier = "Car"
        let chain = try Self.chain([
            [
                Self.entity("Car", [.init("color", .string), .init("doors", .integer16)]),
                Self.entity("Man"),
            ],
            [Self.entity("Man"), vehicle],
            [vehicle],
            [vehicle, Self.entity("Man", [.init("name", .string)])],
            [Self.entity("Vehicle", [.init("doors", .integer16)]), Self.entity("Man")],
            [vehicle, Self.entity("Man", [.init("name", .string)])],
        ])
        #expect(chain[0].catalog.entities.map(\.id) == [2, 1])
        #expect(try Self.id("colour", of: "Vehicle", chain[0].catalog) == 1)
        #expect(try Self.id("doors", of: "Vehicle", chain[0].catalog) == 2)
        #expect(chain[1].droppedEntities == [0])
        #expect(chain[2].catalog.entities.map(\.id) == [1, 3])
        #expect(chain[2].catalog.trees.map(\.id) == [1, 3])
        // Gone and come again: another attribute.
        #expect(try Self.id("colour", of: "Vehicle", chain[4].catalog) == 3)
        #expect(try Self.id("name", of: "Man", chain[4].catalog) == 2)
        #expect(chain[4].catalog.version == 6)
    }

    @Test("Properties that move in the hierarchy keep their numbers, and a new parent the tree")
    func hierarchy() throws {
        let name = AttributeDescription("name", .string)
        let chain = try Self.chain([
            [Self.entity("Car", [name, .init("doors", .integer16)])],
            [
                Self.entity("Vehicle", [name]),
                Self.entity("Car", under: "Vehicle", [.init("doors", .integer16)]),
            ],
            [
                Self.entity("Vehicle", [name]), Self.entity("Boat", under: "Vehicle"),
                Self.entity("Car", under: "Vehicle", [.init("doors", .integer16)]),
            ],
            [
                Self.entity("Vehicle"), Self.entity("Boat", under: "Vehicle", [name]),
                Self.entity("Car", under: "Vehicle", [name, .init("doors", .integer16)]),
            ],
        ])
        for next in chain {
            #expect(next.catalog.trees.map(\.id) == [1])
            #expect(try Self.id("name", of: "Car", next.catalog) == 1)
            #expect(try Self.id("doors", of: "Car", next.catalog) == 2)
        }
        // The parent is new, and has no blocks that could hold its column under another number.
        let parent = try Self.id("name", of: "Vehicle", chain[0].catalog)
        #expect(parent == 3)
        #expect(try Self.id("name", of: "Boat", chain[1].catalog) == parent)
        #expect(try Self.id("name", of: "Boat", chain[2].catalog) == parent)
    }

    @Test(
        "A hierarchy that falls apart gets a tree more, and properties keep their numbers in both")
    func split() throws {
        let name = AttributeDescription("name", .string)
        let chain = try Self.chain([
            [
                Self.entity("Region", [name]), Self.entity("A", under: "Region"),
                Self.entity("B", under: "Region"),
            ],
            [Self.entity("A", [name]), Self.entity("B", [name, .init("size", .integer16)])],
        ])
        let next = chain[0]
        #expect(next.catalog.trees.map(\.id) == [1, 2] && next.trees == [0, nil])
        #expect(try Self.id("name", of: "A", next.catalog) == 1)
        #expect(try Self.id("size", of: "B", next.catalog) == 2)
        #expect(next.entities == [1, 2] && next.droppedEntities == [0])
    }

    // MARK: Pairs, references and indexes

    @Test("Pairs keep their tree, turned or not, and order keys their numbers")
    func pairs() throws {
        var ordered = RelationshipDescription("bs", to: "B", toMany: true, inverse: "as")
        ordered.isOrdered = true
        let back = RelationshipDescription("as", to: "A", toMany: true, inverse: "bs")
        let (a, b) = (Self.entity("A", [], [ordered]), Self.entity("B", [], [back]))
        let next = try Self.chain([[a, b], [b, a]])[0]
        let pairs = next.catalog.entities[2]
        #expect(pairs.isHidden && pairs.id == 3 && next.entities[2] == 2 && next.trees[2] == 2)
        // What was the source is the destination now.
        #expect(pairs.columns.map(\.propertyID) == [2, 1])
        #expect(pairs.orders.map(\.reference) == [1] && pairs.orders[0].column.propertyID == 3)
        #expect(next.references == [1, 0])
        // Its key has the numbers in another order.
        #expect(next.uniques == [nil])
    }

    @Test("What is kept otherwise gets a new place, and the rest keeps its inverse tables")
    func rebuilt() throws {
        func model(_ isToMany: Bool) -> [EntityDescription] {
            [
                Self.entity(
                    "A", [],
                    [.init("b", to: "B", toMany: isToMany, inverse: "as"), .init("c", to: "B")]),
                Self.entity("B", [], [.init("as", to: "A", toMany: true, inverse: "b")]),
            ]
        }
        let chain = try Self.chain([model(false), model(true), model(false)])
        let many = chain[0]
        #expect(many.catalog.entities.count == 3 && many.entities[2] == nil && many.trees[2] == nil)
        // `c` goes on; source and destination of the pairs are new.
        #expect(many.references == [1, nil, nil])
        let one = chain[1]
        #expect(one.droppedEntities == [2])
        #expect(try Self.id("b", of: "A", one.catalog) == 3)
        #expect(one.references == [nil, 0])
    }

    @Test("A unique index serves if its keys are the same of the same rows")
    func uniques() throws {
        func model(_ change: (inout EntityDescription) -> Void) -> [EntityDescription] {
            var thing = Self.entity(
                "Thing", [.init("code", .integer32), .init("name", .string)])
            thing.uniquenessConstraints = [["code"]]
            change(&thing)
            return [thing]
        }
        let renamed = model {
            $0.attributes[0].name = "number"
            $0.attributes[0].renamingIdentifier = "code"
            $0.uniquenessConstraints = [["number"]]
        }
        #expect(try Self.chain([model { _ in }, renamed])[0].uniques == [0])
        let widened = model { $0.attributes[0].type = .integer64 }
        #expect(try Self.chain([model { _ in }, widened])[0].uniques == [nil])
        let more = model { $0.uniquenessConstraints = [["name"], ["code"]] }
        #expect(try Self.chain([model { _ in }, more])[0].uniques == [nil, 0])
        // The rows of an entity that goes have keys that nobody has any more.
        let family = model { _ in } + [Self.entity("Tool", under: "Thing")]
        #expect(try Self.chain([family, model { _ in }])[0].uniques == [nil])
    }

    // MARK: Pasts

    @Test("Blocks are read by what the schema said when the column came, or became required")
    func pasts() throws {
        func model(_ attribute: AttributeDescription) -> [EntityDescription] {
            [Self.entity("A", [.init("x", .string), attribute])]
        }
        func n(_ value: Int64?, optional: Bool, _ type: AttributeType = .integer16)
            -> AttributeDescription
        {
            .init("n", type, optional: optional, default: value.map { .integer($0) } ?? .null)
        }
        let chain = try Self.chain([
            [Self.entity("A", [.init("x", .string)])],
            model(n(7, optional: true)),  // 2: comes with 7
            model(n(8, optional: true)),  // 3: another default means nothing for what is there
            model(n(9, optional: false)),  // 4: nil becomes 9
            model(n(1, optional: true, .integer64)),  // 5: wider, and optional again
            model(n(2, optional: false, .integer64)),  // 6: what is nil since 5 becomes 2
        ])
        let past = try #require(chain[4].catalog.entities[0].columns[1].past)
        #expect(past.value(forMissingIn: 1) == .integer(7))
        #expect(past.value(forNilIn: 2) == .integer(9))
        #expect(past.value(forNilIn: 3) == .integer(9) && past.value(forNilIn: 4) == .integer(2))
        #expect(past.value(forNilIn: 5) == .integer(2) && past.value(forNilIn: 6) == .null)
        // A block may leave out a column in which all is nil.
        #expect(past.value(forMissingIn: 3) == .integer(9) && past.value(forMissingIn: 6) == .null)
        let before = try #require(chain[3].catalog.entities[0].columns[1].past)
        #expect(before.value(forNilIn: 3) == .integer(9) && before.value(forNilIn: 5) == .null)
        #expect(chain[0].catalog.entities[0].columns[0].past == nil)
        #expect(chain[4].catalog.entities[0].columns[0].past == nil)
    }

    @Test("Values of the past are widened with the column")
    func widenedPast() throws {
        func model(_ type: AttributeType, _ value: Value) -> [EntityDescription] {
            [Self.entity("A", [.init("f", type, default: value)])]
        }
        let chain = try Self.chain([
            [Self.entity("A")], model(.float, .float(0.5)), model(.double, .null),
        ])
        let past = try #require(chain[1].catalog.entities[0].columns[0].past)
        #expect(past.value(forMissingIn: 1) == .double(0.5))
    }

    // MARK: Real models

    @Test("The versions of real models follow one another", .enabled(if: Corpus.isAvailable))
    func corpus() throws {
        Corpus.noteUse()
        let steps = try CorpusStep.all()
        #expect(steps.count == 101)
        var random = RandomSource()
        /// By file: the catalog that the versions before it have led to.
        var catalogs: [String: Catalog] = [:]
        for step in CorpusStep.sample(steps, oneIn: 4, using: &random) {
            func model(_ file: String) throws -> ManagedObjectModel {
                try ManagedObjectModel(contentsOf: CorpusStep.url(file))
            }
            let old = try catalogs[step.from] ?? Catalog(new: Schema(model(step.from)))
            let next = try Self.successor(of: old, try model(step.to))
            catalogs[step.to] = next.catalog
        }
    }
}
