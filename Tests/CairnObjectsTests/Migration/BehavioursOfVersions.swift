// Behaviours of stores and versions of their models, by their ids. B163 needs an app's private stores, and is not here.

import Cairn
import CairnTestSupport
import Foundation
import Testing

@Suite("Behaviours of versions")
struct BehavioursOfVersions {
    // MARK: Renaming

    /// Two versions of orders with their custom fields, as Xcode writes them: the second calls the fields by a name that is not
    /// only for orders, and lets products have some.
    private static func orders(_ isNew: Bool) throws -> ManagedObjectModel {
        let name = isNew ? "MetaData" : "OrderMetaData"
        let product =
            isNew
            ? """
            <relationship name="product" optional="YES" maxCount="1" deletionRule="Nullify"
                destinationEntity="Product" inverseName="customFields" inverseEntity="Product"/>
            """ : ""
        let fields =
            isNew
            ? """
            <relationship name="customFields" optional="YES" toMany="YES" deletionRule="Cascade"
                destinationEntity="MetaData" inverseName="product" inverseEntity="MetaData"/>
            """ : ""
        let xml = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
              <entity name="Order" representedClassName="Order" syncable="YES">
                <attribute name="orderID" attributeType="Integer 64" defaultValueString="0"/>
                <relationship name="customFields" optional="YES" toMany="YES" deletionRule="Cascade"
                  destinationEntity="\(name)" inverseName="order" inverseEntity="\(name)"/>
              </entity>
              <entity name="\(name)" representedClassName="\(name)" syncable="YES"
                \(isNew ? "elementID=\"OrderMetaData\"" : "")>
                <attribute name="key" attributeType="String" defaultValueString=""/>
                <attribute name="metadataID" attributeType="Integer 64" defaultValueString="0"/>
                <attribute name="value" attributeType="String" defaultValueString=""/>
                <relationship name="order" optional="YES" maxCount="1" deletionRule="Nullify"
                  destinationEntity="Order" inverseName="customFields" inverseEntity="Order"/>
                \(product)
              </entity>
              <entity name="Product" representedClassName="Product" syncable="YES">
                <attribute name="productID" attributeType="Integer 64" defaultValueString="0"/>
                \(fields)
              </entity>
            </model>
            """
        return try ModelFile(xml: Data(xml.utf8)).model
    }

    @Test(
        "B155: OrderMetaData that is MetaData by its renaming identifier needs no mapping and keeps its rows"
    )
    func renamedEntity() throws {
        let (old, new) = (try Self.orders(false), try Self.orders(true))
        let plan = try ModelMigrationPlan(from: old, to: new)
        #expect(plan.inferability == .yes && !plan.hasSameVersion)
        #expect(plan.entity(named: "MetaData")?.source == "OrderMetaData")
        let folder = try TemporaryDirectory()
        let path = folder.path("orders.cairn")
        let before = try PersistentContainer(at: path, model: old)
        var ids: [ObjectID] = []
        try Stack(store: before.store).store { context in
            for id in 0..<5 {
                let order = context.make("Order", ["orderID": id])
                order["customFields"] = Set(
                    (0..<id).map {
                        context.make(
                            "OrderMetaData",
                            ["metadataID": id * 10 + $0, "key": "k\($0)", "value": "v\(id)"])
                    })
            }
            context.make("Product", ["productID": 1])
            return []
        }
        ids = try Stack(store: before.store).context()
            .all("OrderMetaData", sortedBy: "metadataID").map(\.objectID)
        try before.store.close()

        let after = try PersistentContainer(at: path, model: new)
        let context = Stack(store: after.store).context()
        let fields = try context.all("MetaData", sortedBy: "metadataID")
        #expect(fields.map(\.objectID) == ids && fields.count == 10)
        for field in fields {
            let (id, number) = (
                field.int("metadataID") ?? -1, field.object("order")?.int("orderID")
            )
            #expect(number == id / 10 && field.object("product") == nil)
            #expect(field.string("key") == "k\(id % 10)" && field.string("value") == "v\(id / 10)")
        }
        for order in try context.all("Order") {
            #expect(order.members("customFields").count == order.int("orderID"))
        }
        // A product may have some now.
        let product = try #require(try context.all("Product").first)
        product["customFields"] = [context.make("MetaData", ["key": "color"])] as Set
        try context.save()
        #expect(try context.count("MetaData") == 11)
        try after.store.close()
    }

    // MARK: Too old

    /// A version of which nobody can say how it becomes the next one.
    private static let ancient = ManagedObjectModel(entities: [
        EntityDescription(
            "Message", attributes: [.init("text", .string), .init("sent", .string)],
            uniquenessConstraints: [["text"]])
    ])
    private static let current: ManagedObjectModel = {
        var model = ManagedObjectModel(entities: [
            EntityDescription(
                "Message",
                attributes: [
                    .init("text", .string), .init("sent", .date),
                    .init("nonce", .uuid, optional: false),
                ])
        ])
        model.entities[0].versionHashModifier = "2"
        return model
    }()

    private static func makeAncient(_ path: String) throws {
        let container = try PersistentContainer(at: path, model: ancient)
        try Stack(store: container.store).store { context in
            (0..<20).map { context.make("Message", ["text": "m\($0)", "sent": "monday"]) }
        }
        try container.store.close()
    }

    /// The files of a store, but for the lock, which holds nothing of it.
    private static func files(_ path: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "lock" {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
        }
        return files
    }

    @Test(
        "B164: a store too old to migrate is refused with 134190 and left as it is; it is wiped, and an empty one of the new model takes its place"
    )
    func tooOld() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("messages.cairn")
        try Self.makeAncient(path)
        let files = try Self.files(path)
        let error = storeError { _ = try PersistentContainer(at: path, model: Self.current) }
        #expect(error?.code == .cannotInferMapping && error?.code.rawValue == 134_190)
        #expect(error?.details.compactMap(\.context.key).sorted() == ["nonce", "sent"])
        #expect(error?.context.path == path)
        #expect(try Self.files(path) == files)
        // It opens with its own model still.
        let old = try PersistentContainer(at: path, model: Self.ancient)
        #expect(try Stack(store: old.store).context().count("Message") == 20)
        try old.store.close()

        func open() throws -> PersistentContainer {
            do {
                return try PersistentContainer(at: path, model: Self.current)
            } catch let error as StoreError where error.code == .cannotInferMapping {
                try PersistentContainer.destroyPersistentStore(at: path)
                return try PersistentContainer(at: path, model: Self.current)
            }
        }
        let container = try open()
        let stack = Stack(store: container.store)
        #expect(try stack.context().count("Message") == 0)
        #expect(container.schema.model == Self.current)
        try stack.store { [$0.make("Message", ["text": "new", "nonce": UUID()])] }
        try container.store.close()
        // The next time it is not wiped.
        let again = try open()
        #expect(try Stack(store: again.store).context().count("Message") == 1)
        try again.store.close()
    }

    @Test(
        "B164: a coordinator refuses it, too, and wipes or replaces it; stores that are open are left alone"
    )
    func tooOldForCoordinator() throws {
        let folder = try TemporaryDirectory()
        let (path, other) = (folder.path("messages.cairn"), folder.path("fresh.cairn"))
        let (url, fresh) = (URL(fileURLWithPath: path), URL(fileURLWithPath: other))
        try Self.makeAncient(path)
        let files = try Self.files(path)
        let coordinator = try PersistentStoreCoordinator(Self.current)
        let description = PersistentStoreDescription(at: path)
        let error = storeError { try coordinator.addPersistentStore(description) }
        #expect(error?.code == .cannotInferMapping)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(try Self.files(path) == files)
        try coordinator.destroyPersistentStore(at: url)
        #expect(!FileManager.default.fileExists(atPath: path))
        let store = try coordinator.addPersistentStore(description)
        let context = ManagedObjectContext(store: coordinator)
        context.make("Message", ["text": "new", "nonce": UUID()])
        try context.save()
        #expect(
            storeError { try coordinator.destroyPersistentStore(at: url) }?.code == .storeInUse)
        #expect(try context.count("Message") == 1)
        try coordinator.remove(store)

        // Or one that comes with the program takes its place.
        try coordinator.destroyPersistentStore(at: url)
        try Self.makeAncient(path)
        let shipped = try PersistentContainer(at: other, model: Self.current)
        try Stack(store: shipped.store).store { context in
            (0..<3).map { context.make("Message", ["text": "s\($0)", "nonce": UUID()]) }
        }
        try shipped.store.close()
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: fresh)
        try coordinator.addPersistentStore(description)
        #expect(try ManagedObjectContext(store: coordinator).count("Message") == 3)
        try coordinator.close()
    }

    // MARK: Hashes

    /// Steps of real models in which only one entity changes, which inherits from another and has none below.
    private static let subentitySteps = [
        ("zmessaging2.7", "zmessaging2.8", "ClientMessage"),
        ("zmessaging2.47.0", "zmessaging2.48.0", nil),
        ("zmessaging2.48.0", "zmessaging2.49.0", nil),
        ("zmessaging2.49.0", "zmessaging2.50.0", "SystemMessage"),
        ("zmessaging2.64.0", "zmessaging2.65.0", "AssetClientMessage"),
    ]

    @Test(
        "B149: in steps of a real model the hashes of what changes change, with those below, and a store is refused for one subentity",
        .enabled(if: Corpus.isAvailable))
    func subentities() throws {
        Corpus.noteUse()
        for (from, to, only) in Self.subentitySteps {
            let models = try [from, to].map {
                try ManagedObjectModel(
                    contentsOf: CorpusStep.url(
                        "wireapp+wire-ios-data-model__zmessaging__\($0).xml"))
            }
            let hashes = models.map(\.entityVersionHashesByName)
            let changed = Set(hashes[1].keys.filter { hashes[0][$0] != hashes[1][$0] })
            var expected: Set<String> = []
            for entity in models[1].entities {
                var line: [EntityDescription] = []
                var next: String? = entity.name
                while let name = next, let one = models[1].entity(named: name) {
                    line.append(one)
                    next = one.superentityName
                }
                let isChanged = line.contains { one in
                    models[0].entity(named: one.name)?.versionHash != one.versionHash
                }
                if isChanged { expected.insert(entity.name) }
            }
            #expect(changed == expected && !changed.isEmpty, "\(to)")
            guard let only else { continue }
            #expect(changed == [only], "\(to)")
            let folder = try TemporaryDirectory()
            let path = folder.path("messages.cairn")
            try PersistentContainer(at: path, model: models[0]).store.close()
            var strict = LogStoreOptions()
            strict.shouldMigrateStoreAutomatically = false
            let error = storeError {
                _ = try PersistentContainer(at: path, model: models[1], options: strict)
            }
            #expect(error?.code.rawValue == 134_100)
            #expect((error?.cause as? ModelMismatch)?.entities == [only])
            let metadata = try PersistentContainer.metadata(forPersistentStoreAt: path)
            #expect(
                !models[1].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        }
    }
}
