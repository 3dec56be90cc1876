// Migrations by mapping models without policies: what becomes of attributes, relationships and whole graphs.

import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Migrations by mappings")
struct MappingMigrationTests {
    private static func mapping(_ old: ManagedObjectModel, _ new: ManagedObjectModel) throws
        -> MappingModel
    {
        MappingModel(drafting: try ModelMigrationPlan(from: old, to: new))
    }

    /// People with relationships of every kind at random.
    private static func people(_ count: Int, _ backend: Backend, seed: UInt64) throws -> Stack {
        var random = RandomSource(seed: seed)
        let stack = try Stack(Models.people, backend)
        let context = stack.context()
        let (_, departments) = PeopleAtRandom.make(count, departments: 5, in: context, &random)
        for number in 0..<count / 2 {
            context.make("Desk", ["number": number, "department": random.pick(departments)])
            context.make("Sign", ["text": "s\(number)", "department": random.pick(departments)])
        }
        try context.save()
        return stack
    }

    @Test(
        "A graph with relationships of every kind is the same graph, more objects than are read and saved at once",
        arguments: Backend.allCases)
    func graph(_ backend: Backend) throws {
        for seed in RandomSource.seeds(1) {
            let old = try Self.people(600, backend, seed: seed)
            let migration = try MigrationBetweenStores(old, to: Models.people, backend)
            let manager = try MigrationManager(
                migration, mapping: Self.mapping(Models.people, Models.people))
            try manager.migrate()
            #expect(migration.ending == "finished" && manager.migrationProgress == 1)
            let before = try Content(old, keys: PeopleAtRandom.keys)
            let after = try Content(migration.stack, keys: PeopleAtRandom.keys)
            #expect(before == after, "seed \(seed)")
            #expect(after.lines.count > 1200)
        }
    }

    @Test("Values of every type stay what they are, nil too", arguments: Backend.allCases)
    func values(_ backend: Backend) throws {
        let old = try Stack(Models.values, backend)
        try old.store { context in
            let parts = ["a", "b"].map { context.make("Part", ["name": $0]) }
            return [
                context.make(
                    "Thing",
                    [
                        "size": 3, "day": Date(timeIntervalSinceReferenceDate: 10.25),
                        "code": "abc", "small": -7, "large": Int.max,
                        "exact": Decimal(string: "1.10"), "ratio": -0.0, "short": Float(0.1),
                        "flag": true, "bytes": Data([1, 0, 2]), "uuid": UUID(),
                        "link": URL(string: "https://example.org/a?b"),
                        "color": ["color.primary": "red", "color.shade": 0.5],
                    ]),
                context.make("Thing"),
                context.make("Box", ["name": "box", "parts": Set(parts), "legs": Set(parts)]),
            ]
        }
        let migration = try MigrationBetweenStores(old, to: Models.values, backend)
        try MigrationManager(
            migration, mapping: Self.mapping(Models.values, Models.values)
        ).migrate()
        let keys = ["Thing": "size", "Box": "name", "Part": "name"]
        #expect(try Content(old, keys: keys) == Content(migration.stack, keys: keys))
    }

    @Test(
        "Each entity of a hierarchy is brought over by its own mapping", arguments: Backend.allCases
    )
    func hierarchy(_ backend: Backend) throws {
        let old = try Stack(Models.vehicles, backend)
        try old.store { context in
            (0..<40).map { number in
                context.make(
                    ["Car", "SportCar", "ExpensiveSportCar", "Truck"][number % 4],
                    ["numberPlate": "n\(number)", "maker": "m\(number % 3)"])
            }
        }
        var mapping = try Self.mapping(Models.vehicles, Models.vehicles)
        mapping["TruckToTruck"] = nil
        let migration = try MigrationBetweenStores(old, to: Models.vehicles, backend)
        try MigrationManager(migration, mapping: mapping).migrate()
        let keys = ["Car", "SportCar", "ExpensiveSportCar", "Truck"]
        let names = Dictionary(uniqueKeysWithValues: keys.map { ($0, "numberPlate") })
        let before = try Content(old, keys: names).lines.filter { !$0.hasPrefix("Truck") }
        #expect(try Content(migration.stack, keys: names).lines == before)
        #expect(before.count == 30)
        // What became of what is told, mapping by mapping.
        #expect(migration.successions.map(\.sources.count) == [10, 10, 10])
        #expect(migration.successions.map(\.sourceEntity) == [0, 1, 2])
        let (olds, news) = (old.context(), migration.stack.context())
        for succession in migration.successions {
            for (source, destination) in zip(succession.sources, succession.destinations) {
                let plates = [(olds, source), (news, destination)].map { context, number in
                    context.object(with: context.identity.id(UInt64(number), entity: 0))
                        .string("numberPlate")
                }
                #expect(plates[0] != nil && plates[0] == plates[1])
            }
        }
    }

    @Test(
        "Value expressions, closures and predicates say what becomes of a value",
        arguments: Backend.allCases)
    func expressions(_ backend: Backend) throws {
        let new = ManagedObjectModel(entities: [
            EntityDescription(
                "Item",
                attributes: [
                    .init("title", .string), .init("cents", .integer64),
                    .init("tagCount", .integer32),
                    .init("shopName", .string), .init("label", .string),
                    .init("kept", .string, optional: false, default: .string("default")),
                ])
        ])
        let old = try Stack(Models.shop, backend)
        try old.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            let tags = ["a", "b"].map { context.make("Tag", ["label": $0]) }
            return [
                context.make(
                    "Product",
                    ["name": "pear", "price": 1.25, "shop": shop, "tags": Set(tags), "stock": 3]),
                context.make("Product", ["name": "plum", "price": 2.0, "stock": 9]),
                context.make("Product", ["name": "old", "price": 2.0]),
            ]
        }
        var items = EntityMapping("ProductToItem", from: "Product", to: "Item")
        items.sourcePredicate = try PredicateNode(format: "stock != nil")
        items.attributeMappings = [
            PropertyMapping("title", copying: "name"),
            PropertyMapping("cents", try ExpressionNode(format: "$source.price * 100")),
            PropertyMapping("tagCount", try ExpressionNode(format: "$source.tags.@count")),
            PropertyMapping("shopName", copying: "shop.name"),
            PropertyMapping("label") { source, manager in
                "\(manager.currentEntityMapping?.name ?? ""): \(source["stock"] ?? 0)"
            },
            PropertyMapping("kept"),
        ]
        let migration = try MigrationBetweenStores(old, to: new, backend)
        try MigrationManager(migration, mapping: MappingModel(entityMappings: [items])).migrate()
        #expect(
            try Content(migration.stack, keys: ["Item": "title"]).lines == [
                "Item/pear title=pear cents=125 tagCount=2 shopName=corner label=ProductToItem: 3 kept=default",
                "Item/plum title=plum cents=200 tagCount=0 shopName=nil label=ProductToItem: 9 kept=default",
            ])
    }

    @Test(
        "An inferred mapping converts widened values, and gives nil the default of what became mandatory"
    )
    func inferred() throws {
        let old = ManagedObjectModel(entities: [
            EntityDescription(
                "Thing", attributes: [.init("count", .integer16), .init("isNew", .boolean)])
        ])
        var new = old
        new.entities[0].attributes = [
            .init("count", .integer64, optional: false, default: .integer(5)),
            .init("isNew", .integer16),
        ]
        let stack = try Stack(old, .log)
        try stack.store {
            [$0.make("Thing", ["count": 3, "isNew": true]), $0.make("Thing", [:])]
        }
        let migration = try MigrationBetweenStores(stack, to: new, .log)
        let mapping = try MappingModel.inferredMappingModel(
            forSourceModel: old, destinationModel: new)
        try MigrationManager(migration, mapping: mapping).migrate()
        #expect(
            try Content(migration.stack, keys: ["Thing": "count"]).lines == [
                "Thing/3 count=3 isNew=1", "Thing/5 count=5 isNew=nil",
            ])
        new.entities[0].attributes[0].type = .string
        new.entities[0].attributes[0].defaultValue = .null
        let error = storeError {
            _ = try MappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        }
        #expect(error?.code.rawValue == 134_190)
        #expect(error?.details.first?.context.key == "count")
    }

    @Test(
        "A mapping that does not fit is refused before anything happens, and the migration cancelled"
    )
    func misfits() throws {
        let old = try Stack(Models.shop, .log)
        var mapping = try Self.mapping(Models.shop, Models.shop)
        mapping["TagToTag"]?["label"]?.valueExpression = try ExpressionNode(
            format: "$source.title")
        let migration = try MigrationBetweenStores(old, to: Models.shop, .log)
        let error = storeError { _ = try MigrationManager(migration, mapping: mapping) }
        #expect(error?.code == .missingMappingModel)
        #expect((error?.cause as? ModelError)?.element == "TagToTag.label")
        #expect(migration.ending == "cancelled")
    }

    @Test(
        "A value that is none of the attribute, and an object that is none of the new store, end it"
    )
    func wrongValues() throws {
        let old = try Stack(Models.shop, .log)
        try old.store { [$0.make("Product", ["name": "x", "shop": $0.make("Shop")])] }
        func error(_ change: (inout MappingModel) throws -> Void) throws -> StoreError? {
            var mapping = try Self.mapping(Models.shop, Models.shop)
            try change(&mapping)
            let migration = try MigrationBetweenStores(old, to: Models.shop, .log)
            let error = storeError {
                try MigrationManager(migration, mapping: mapping).migrate()
            }
            #expect(migration.ending == "cancelled")
            return error
        }
        let number = try error {
            $0["ProductToProduct"]?["price"]?.valueExpression = .path(
                "name", of: .variable("source"))
        }
        #expect(number?.code == .migrationFailed && number?.context.key == "price")
        let any = try error {
            $0["ProductToProduct"]?["price"] = PropertyMapping("price") { _, _ in [1, 2] }
        }
        #expect(any?.code == .migrationFailed && any?.context.key == "price")
        let foreign = try error {
            $0["ProductToProduct"]?["shop"] = PropertyMapping("shop") { source, _ in
                source["shop"]
            }
        }
        #expect(foreign?.code == .migrationFailed && foreign?.context.key == "shop")
        struct Refusal: Error {}
        let thrown = try error {
            $0["ProductToProduct"]?["name"] = PropertyMapping("name") { _, _ in throw Refusal() }
        }
        #expect(thrown?.code == .migrationFailed && thrown?.cause is Refusal)
    }

    @Test(
        "What the new model asks of objects is asked of all of them at the end",
        arguments: Backend.allCases)
    func validation(_ backend: Backend) throws {
        let old = try Stack(Models.shop, backend)
        try old.store { context in
            [context.make("Product", ["name": "a"]), context.make("Product", ["name": "abcdefgh"])]
        }
        var new = Models.shop
        new.entities[1].attributes[1].maximumLength = 4
        new.entities[1].relationships[0].isOptional = false
        let migration = try MigrationBetweenStores(old, to: new, backend)
        let error = storeError {
            try MigrationManager(migration, mapping: Self.mapping(Models.shop, new)).migrate()
        }
        #expect(error?.code == .multiple)
        #expect(
            error?.details.map { "\($0.code) \($0.context.key ?? "")" }.sorted() == [
                "1570 shop", "1570 shop", "1660 name",
            ])
        #expect(migration.ending == "cancelled")
    }
}
