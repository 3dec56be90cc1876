// Policies of entity mappings: in which order they are asked, what they can do, and what becomes of what they throw.

import CairnModel
import CairnStore
import FoundationEssentials
import StoreBackends
import Synchronization
import Testing

@testable import CairnObjects

@Suite("Policies of entity mappings")
struct PolicyMigrationTests {
    private static func mapping(_ old: ManagedObjectModel, _ new: ManagedObjectModel) throws
        -> MappingModel
    {
        MappingModel(drafting: try ModelMigrationPlan(from: old, to: new))
    }

    /// Writes down what it is asked, in the manager.
    private class Recorder: EntityMigrationPolicy {
        private func note(_ step: String, _ mapping: EntityMapping, _ manager: MigrationManager) {
            let steps = manager.userInfo["steps"] as? Mutable ?? Mutable()
            manager.userInfo["steps"] = steps
            #expect(manager.currentEntityMapping?.name == mapping.name)
            steps.list.append("\(mapping.name) \(step)")
            if mapping.userInfo["list"] != nil, step == "end" {
                Self.steps.withLock { $0 = steps.list }
            }
        }

        final class Mutable { var list: [String] = [] }
        static let steps = Mutex<[String]>([])

        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            note("begin", mapping, manager)
            try super.begin(mapping, with: manager)
        }
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            note("create \(sInstance["name"] ?? "")", mapping, manager)
            try super.createDestinationInstances(
                forSource: sInstance, in: mapping, manager: manager)
            let made = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            #expect(made.count == 1 && made.first?.string("name") == sInstance.string("name"))
            #expect(
                manager.sourceInstances(
                    forEntityMappingName: mapping.name, destinationInstances: made) == [sInstance])
        }
        override func endInstanceCreation(
            forMapping mapping: EntityMapping, manager: MigrationManager
        ) throws {
            note("endInstances", mapping, manager)
        }
        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping,
            manager: MigrationManager
        ) throws {
            note("connect \(dInstance["name"] ?? "")", mapping, manager)
            try super.createRelationships(
                forDestination: dInstance, in: mapping, manager: manager)
            let olds = manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            #expect(olds.map { $0.string("name") } == [dInstance.string("name")])
        }
        override func endRelationshipCreation(
            forMapping mapping: EntityMapping, manager: MigrationManager
        ) throws {
            note("endRelationships", mapping, manager)
        }
        override func performCustomValidation(
            forMapping mapping: EntityMapping, manager: MigrationManager
        ) throws {
            note("validate", mapping, manager)
        }
        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            note("end", mapping, manager)
        }
    }

    @Test("They are asked in Core Data's order, all mappings for one pass before any for the next")
    func order() throws {
        let stack = try Stack(Models.shop, .log)
        try stack.store { context in
            [
                context.make(
                    "Product", ["name": "pear", "shop": context.make("Shop", ["name": "s"])]),
                context.make("Product", ["name": "plum"]),
            ]
        }
        var mapping = try Self.mapping(Models.shop, Models.shop)
        for name in ["ShopToShop", "ProductToProduct"] {
            mapping[name]?.entityMigrationPolicy = Recorder.self
            #expect(mapping[name]?.mappingType == .custom)
        }
        mapping["ProductToProduct"]?.userInfo = ["list": ""]
        let migration = try MigrationBetweenStores(stack, to: Models.shop, .log)
        try MigrationManager(migration, mapping: mapping).migrate()
        #expect(
            Recorder.steps.withLock { $0 } == [
                "ShopToShop begin", "ShopToShop create s", "ShopToShop endInstances",
                "ProductToProduct begin", "ProductToProduct create pear",
                "ProductToProduct create plum", "ProductToProduct endInstances",
                "ShopToShop connect s", "ShopToShop endRelationships",
                "ProductToProduct connect pear", "ProductToProduct connect plum",
                "ProductToProduct endRelationships", "ShopToShop validate",
                "ProductToProduct validate", "ShopToShop end", "ProductToProduct end",
            ])
        let keys = ["Shop": "name", "Product": "name"]
        #expect(try Content(stack, keys: keys) == Content(migration.stack, keys: keys))
    }

    // MARK: Functions

    private final class Names: EntityMigrationPolicy {
        override var functions: [String: Function] {
            [
                "joined": { arguments in
                    arguments.map { "\($0 ?? "-")" }.joined(separator: "+")
                },
                "tagLabels": { arguments in
                    ((arguments[0] as? [Any]) ?? []).compactMap {
                        ($0 as? ManagedObject)?.string("label")
                    }.sorted().joined(separator: ",")
                },
            ]
        }
    }

    @Test("Value expressions call functions of the policy, with values and with objects")
    func functions() throws {
        let stack = try Stack(Models.shop, .log)
        try stack.store { context in
            let tags = ["b", "a"].map { context.make("Tag", ["label": $0]) }
            return [context.make("Product", ["name": "pear", "stock": 3, "tags": Set(tags)])]
        }
        var mapping = try Self.mapping(Models.shop, Models.shop)
        mapping["ProductToProduct"]?.entityMigrationPolicyClassName = "Shop.Names"
        mapping["ProductToProduct"]?["name"]?.valueExpression = try ExpressionNode(
            format: "FUNCTION($entityPolicy, 'joined', $source.name, $source.stock, $source.note)")
        mapping["ProductToProduct"]?["note"]?.valueExpression = try ExpressionNode(
            format:
                "TERNARY(FUNCTION($entityPolicy, 'tagLabels', $source.tags) == 'a,b', 'both', 'other')"
        )
        let migration = try MigrationBetweenStores(stack, to: Models.shop, .log)
        try MigrationManager(
            migration, mapping: mapping, policies: ["Shop.Names": Names.self]
        ).migrate()
        let product = try #require(try migration.stack.context().all("Product").first)
        #expect(product.string("name") == "pear+3+-" && product.string("note") == "both")
    }

    @Test(
        "A function that the policy lacks, and a class that nobody knows, are told before anything happens"
    )
    func unknown() throws {
        let stack = try Stack(Models.shop, .log)
        var mapping = try Self.mapping(Models.shop, Models.shop)
        mapping["ProductToProduct"]?.entityMigrationPolicy = Names.self
        mapping["ProductToProduct"]?["name"]?.valueExpression = try ExpressionNode(
            format: "FUNCTION($entityPolicy, 'split', $source.name)")
        let first = try MigrationBetweenStores(stack, to: Models.shop, .log)
        var error = storeError { _ = try MigrationManager(first, mapping: mapping) }
        #expect(error?.code == .missingMappingModel && error?.context.key == "name")
        #expect(
            error?.message.contains("ProductToProduct: its policy has no function split") == true)
        #expect(first.ending == "cancelled")
        mapping["ProductToProduct"]?.entityMigrationPolicyClassName = "Shop.Nobody"
        let second = try MigrationBetweenStores(stack, to: Models.shop, .log)
        error = storeError { _ = try MigrationManager(second, mapping: mapping) }
        #expect(error?.message.contains("no class was passed for its policy Shop.Nobody") == true)
    }

    // MARK: Ending it

    private struct Refusal: Error, Equatable { let what: String }

    private final class Refuser: EntityMigrationPolicy {
        private func refuse(_ step: String, _ mapping: EntityMapping) throws {
            if mapping.userInfo["refuses"] == step { throw Refusal(what: step) }
        }
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            try refuse("begin", mapping)
        }
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(
                forSource: sInstance, in: mapping, manager: manager)
            if sInstance.string("name") == "1500" {
                try refuse("createDestinationInstances", mapping)
                if mapping.userInfo["cancels"] != nil {
                    manager.cancelMigration(with: Refusal(what: "cancelled"))
                }
            }
        }
        override func endInstanceCreation(
            forMapping mapping: EntityMapping, manager: MigrationManager
        ) throws { try refuse("endInstanceCreation", mapping) }
        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping,
            manager: MigrationManager
        ) throws { try refuse("createRelationships", mapping) }
        override func endRelationshipCreation(
            forMapping mapping: EntityMapping, manager: MigrationManager
        ) throws { try refuse("endRelationshipCreation", mapping) }
        override func performCustomValidation(
            forMapping mapping: EntityMapping, manager: MigrationManager
        ) throws { try refuse("performCustomValidation", mapping) }
        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            try refuse("end", mapping)
        }
    }

    @Test(
        "What a policy throws half-way leaves the store as it was, and comes as the cause (B167)",
        arguments: [
            "begin", "createDestinationInstances", "endInstanceCreation", "createRelationships",
            "endRelationshipCreation", "performCustomValidation", "end",
        ])
    func refusing(_ step: String) throws {
        let stack = try Stack(Models.shop, .log)
        _ = try stack.products(2000)
        let commit = try stack.store.snapshot().commit
        var mapping = try Self.mapping(Models.shop, Models.shop)
        mapping["ProductToProduct"]?.entityMigrationPolicy = Refuser.self
        mapping["ProductToProduct"]?.userInfo["refuses"] = step
        let migration = try MigrationBetweenStores(stack, to: Models.shop, .log)
        let error = storeError {
            try MigrationManager(migration, mapping: mapping).migrate()
        }
        #expect(error?.code == .migrationPolicy && error?.code.rawValue == 134_170)
        #expect(error?.cause as? Refusal == Refusal(what: step))
        #expect(error?.message.contains("ProductToProduct has failed in \(step)") == true)
        #expect(migration.ending == "cancelled")
        #expect(try stack.store.snapshot().commit == commit)
    }

    @Test("A policy cancels, and somebody else does: 134120, and the store is as it was")
    func cancelling() throws {
        let stack = try Stack(Models.shop, .log)
        _ = try stack.products(2000)
        let commit = try stack.store.snapshot().commit
        var mapping = try Self.mapping(Models.shop, Models.shop)
        let other = try MigrationBetweenStores(stack, to: Models.shop, .log)
        let progress = MappingProgress { if $0.fractionCompleted > 0.3 { $0.cancel() } }
        var error = storeError {
            try MigrationManager(other, mapping: mapping, progress: progress).migrate()
        }
        #expect(error?.code.rawValue == 134_120 && error?.cause == nil)
        #expect(progress.fractionCompleted < 0.8 && other.ending == "cancelled")
        mapping["ProductToProduct"]?.entityMigrationPolicy = Refuser.self
        mapping["ProductToProduct"]?.userInfo["cancels"] = ""
        let own = try MigrationBetweenStores(stack, to: Models.shop, .log)
        error = storeError { try MigrationManager(own, mapping: mapping).migrate() }
        #expect(error?.code == .migrationCancelled)
        #expect(error?.cause as? Refusal == Refusal(what: "cancelled"))
        #expect(own.ending == "cancelled")
        #expect(try stack.store.snapshot().commit == commit)
    }

    @Test("The progress goes from 0 to 1 and never back")
    func progress() throws {
        let stack = try Stack(Models.shop, .log)
        _ = try stack.products(1200)
        final class Seen: Sendable { let list = Mutex<[Double]>([]) }
        let seen = Seen()
        let progress = MappingProgress { progress in
            seen.list.withLock { $0.append(progress.fractionCompleted) }
        }
        let manager = try MigrationManager(
            try MigrationBetweenStores(stack, to: Models.shop, .log),
            mapping: try Self.mapping(Models.shop, Models.shop), progress: progress)
        #expect(manager.migrationProgress == 0)
        try manager.migrate()
        let list = seen.list.withLock { $0 }
        #expect(list.count > 3 && list == list.sorted() && list.last == 1)
    }

    // MARK: The old store

    private final class Tidier: EntityMigrationPolicy {
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            let context = manager.sourceContext
            for product in try context.all("Product") {
                if product.string("name") == "3" { context.delete(product) }
                if product.string("name") == "4" { product["name"] = "four" }
            }
            try context.save()
            #expect(throws: StoreError.self) {
                try context.executeBatchDelete(FetchRequest(entityName: "Product"))
            }
            #expect(try context.count("Product") == 9, "a save keeps what is to be seen")
            try super.begin(mapping, with: manager)
        }
    }

    @Test(
        "What a policy changes of the old objects counts, and is never written",
        arguments: Backend.allCases)
    func sourceContext(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try stack.products(10)
        let commit = try stack.store.snapshot().commit
        var mapping = try Self.mapping(Models.shop, Models.shop)
        mapping["ProductToProduct"]?.entityMigrationPolicy = Tidier.self
        let migration = try MigrationBetweenStores(stack, to: Models.shop, backend)
        try MigrationManager(migration, mapping: mapping).migrate()
        let names = try migration.stack.context().all("Product").compactMap { $0.string("name") }
        #expect(names.sorted() == ["0", "1", "2", "5", "6", "7", "8", "9", "four"])
        #expect(try stack.store.snapshot().commit == commit)
        #expect(try stack.context().count("Product") == 10)
    }
}
