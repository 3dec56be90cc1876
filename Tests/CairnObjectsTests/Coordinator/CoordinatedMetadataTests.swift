// What each of several stores says of itself.

import Cairn
import CairnLog
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Metadata of several stores")
struct CoordinatedMetadataTests {
    @Test("Each store has metadata of its own", arguments: Backend.allCases)
    func own(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let coordinator = stores.coordinator
        try coordinator.setMetadata(["token": .string("a"), "none": .null], for: stores.first)
        try coordinator.setMetadata(["token": .string("b")], for: stores.second)
        #expect(try coordinator.metadata(for: stores.first).values == ["token": .string("a")])
        #expect(try coordinator.metadata(for: stores.second)["token"] == .string("b"))
        for store in stores.stores {
            let metadata = try coordinator.metadata(for: store)
            #expect(metadata.identifier == store.identity.identifier)
            #expect(
                metadata.model.entities.map(\.name) == coordinator.schema.model.entities.map(\.name)
            )
            try coordinator.writeMetadata(for: store)
        }
        #expect(try coordinator.metadata(for: stores.first)["token"] == .string("a"))
        let id = stores.first.identity.id(1, entity: 0)
        #expect(
            storeError { try coordinator.setMetadata(["id": .objectID(id)], for: stores.first) }?
                .code
                == .invalidRequest)
        // Which one the container cannot know.
        #expect(storeError { _ = try stores.container.metadata() }?.code == .invalidRequest)
        #expect(storeError { try stores.container.setMetadata([:]) }?.code == .invalidRequest)
    }

    @Test(
        "Only a store of the coordinator that keeps metadata is asked", arguments: Backend.allCases)
    func refused(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let coordinator = stores.coordinator
        let sealed = SealedStore(try backend.makeStore(coordinator.schema))
        try coordinator.add(sealed)
        let stranger = try backend.makeStore(coordinator.schema)
        try coordinator.remove(stores.second, closes: false)
        for store in [sealed, stranger, stores.second] as [any PersistentStore] {
            #expect(
                storeError { _ = try coordinator.metadata(for: store) }?.code == .invalidRequest)
            #expect(
                storeError { try coordinator.setMetadata([:], for: store) }?.code == .invalidRequest
            )
            #expect(
                storeError { try coordinator.writeMetadata(for: store) }?.code == .invalidRequest)
        }
    }

    @Test(
        "The next save writes the metadata of all stores, also of those whose objects it leaves alone"
    )
    func written() throws {
        try withTemporaryDirectory { directory in
            let paths = [directory.path("a"), directory.path("b"), directory.path("c")]
            let schema = try Schema(Models.shop)
            try LogStore.open(at: paths[2], schema: schema).close()
            let coordinator = PersistentStoreCoordinator(schema)
            let stores = try paths.map {
                var description = PersistentStoreDescription(at: $0)
                description.isReadOnly = $0 == paths[2]
                return try coordinator.addPersistentStore(description)
            }
            let context = ManagedObjectContext(store: coordinator)
            let first = try context.make("Product", in: stores[0], ["serialCode": "A"])
            try context.save()
            for (number, store) in stores.prefix(2).enumerated() {
                try coordinator.setMetadata(["n": .integer(Int64(number))], for: store)
            }
            #expect(
                storeError { try coordinator.setMetadata([:], for: stores[2]) }?.code == .readOnly)
            #expect(stores.map(\.hasMetadataToWrite) == [true, true, false])
            // Neither is written by a save that the first store refuses.
            let twin = try context.make("Product", in: stores[0], ["serialCode": "A"])
            #expect(storeError { try context.save() }?.code == .constraintConflict)
            #expect(stores.map(\.hasMetadataToWrite) == [true, true, false])
            context.delete(twin)
            first["name"] = "changed"
            try context.save()
            #expect(!context.hasChanges && first.string("name") == "changed")
            #expect(stores.map(\.hasMetadataToWrite) == [false, false, false])
            // Without objects to be saved, too; not by a child, which saves to no store.
            try coordinator.setMetadata(["n": .integer(7)], for: stores[1])
            try ManagedObjectContext(parent: context).save()
            #expect(stores[1].hasMetadataToWrite)
            try context.save()
            #expect(stores[1].hasMetadataToWrite == false)
            try coordinator.setMetadata(["n": .integer(1)], for: stores[1])
            try context.save()
            try coordinator.close()
            for (number, path) in paths.prefix(2).enumerated() {
                #expect(
                    try PersistentContainer.metadata(forPersistentStoreAt: path).values == [
                        "n": .integer(Int64(number))
                    ])
            }
        }
    }

    @Test("A copy is added beside the store it was made of under another identifier")
    func copies() throws {
        try withTemporaryDirectory { directory in
            let (path, copy) = (directory.path("store"), directory.path("copy"))
            let coordinator = PersistentStoreCoordinator(try Schema(Models.shop))
            let store = try coordinator.addPersistentStore(.init(at: path))
            let context = ManagedObjectContext(store: coordinator)
            let product = context.make("Product", ["serialCode": "A"])
            try context.save()
            _ = try store.backup(to: copy)
            #expect(
                storeError { try coordinator.addPersistentStore(.init(at: copy)) }?.code
                    == .invalidRequest)
            let identifier = UUID()
            try PersistentContainer.setMetadata(
                [:], identifier: identifier, forPersistentStoreAt: copy)
            let second = try coordinator.addPersistentStore(.init(at: copy))
            #expect(second.identity.identifier == identifier)
            #expect(try context.count("Product") == 2)
            let id = try #require(second.identity.id(movedFrom: product.objectID))
            #expect(try context.existingObject(with: id).string("serialCode") == "A")
            try coordinator.close()
        }
    }
}
