// Large values as streams, to and from several stores.

import Cairn
import CairnLog
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Values as streams behind a coordinator")
struct CoordinatedValueTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Building", attributes: [.init("name", .string), .init("plan", .binary)],
            uniquenessConstraints: [["name"]])
    ])

    private static let large = 2_500_000

    private static func write(_ data: Data, to object: ManagedObject) throws {
        let writer = try object.valueWriter(forKey: "plan")
        var rest = data
        while !rest.isEmpty {
            try writer.write(rest.prefix(400_000))
            rest = rest.dropFirst(400_000)
        }
        try writer.finish()
    }

    private static func plan(_ object: ManagedObject) throws -> Data? {
        guard let stream = try object.valueStream(forKey: "plan", chunkBytes: 300_000) else {
            return nil
        }
        var data = Data()
        try stream.forEachChunk {
            #expect($0.count <= 300_000)
            data.append($0)
            return true
        }
        #expect(stream.count == UInt64(data.count))
        return data
    }

    @Test(
        "A value goes to the store of its object, and comes from there", arguments: Backend.allCases
    )
    func each(_ backend: Backend) throws {
        let stores = try TwoStores(Self.model, backend, [nil, nil])
        let context = stores.context()
        let objects = try stores.stores.enumerated().map { number, store in
            let object = try context.make("Building", in: store, ["name": "A"])
            try Self.write(patternedBytes(Self.large, seed: number), to: object)
            #expect(try Self.plan(object) == patternedBytes(Self.large, seed: number))
            return object
        }
        // One that nobody has assigned goes to the first.
        let third = context.make("Building", ["name": "B"])
        try Self.write(patternedBytes(Self.large, seed: 2), to: third)
        try context.save()
        #expect(!context.hasChanges)
        #expect(try stores.counts("Building") == [2, 1])
        #expect(objects.map(\.objectID.store) == stores.stores.map(\.identity.identifier))
        for (number, object) in (objects + [third]).enumerated() {
            let expected = patternedBytes(Self.large, seed: number)
            #expect(object["plan"] as? Data == expected)
            context.refresh(object, mergeChanges: false)
            #expect(try Self.plan(object) == expected && object.isFault)
            let alone = ManagedObjectContext(
                store: stores.stores[
                    object.objectID.store == stores.first.identity.identifier ? 0 : 1])
            #expect(try Self.plan(alone.existingObject(with: object.objectID)) == expected)
            try Self.write(patternedBytes(Self.large, seed: number + 10), to: object)
        }
        let child = ManagedObjectContext(parent: context)
        #expect(
            try Self.plan(child.existingObject(with: objects[1].objectID))
                == patternedBytes(Self.large, seed: 11))
        try context.save()
        let fresh = stores.context()
        for (number, object) in (objects + [third]).enumerated() {
            #expect(
                try Self.plan(fresh.existingObject(with: object.objectID))
                    == patternedBytes(Self.large, seed: number + 10))
        }
    }

    @Test(
        "A pinned context reads values of its state, also of a store that was removed",
        arguments: Backend.allCases)
    func pinned(_ backend: Backend) throws {
        let stores = try TwoStores(Self.model, backend, [nil, nil])
        let writing = stores.context()
        let object = try writing.make("Building", in: stores.second, ["name": "A"])
        try Self.write(patternedBytes(Self.large), to: object)
        try writing.save()
        let reading = stores.context()
        try reading.setQueryGeneration(from: .current)
        let same = try reading.existingObject(with: object.objectID)
        try Self.write(patternedBytes(Self.large, seed: 1), to: object)
        try writing.save()
        #expect(try Self.plan(same) == patternedBytes(Self.large))
        try stores.coordinator.remove(stores.second, closes: false)
        #expect(try Self.plan(same) == patternedBytes(Self.large))
        try reading.setQueryGeneration(from: nil)
        _ = try reading.count("Building")
        #expect(same.isDeleted)
        #expect(storeError { _ = try Self.plan(same) }?.code == .objectNotFound)
    }

    @Test(
        "What a later store refuses keeps its value for the next save", arguments: Backend.allCases)
    func partial(_ backend: Backend) throws {
        let stores = try TwoStores(Self.model, backend, [nil, nil])
        let context = stores.context()
        try context.make("Building", in: stores.second, ["name": "A"])
        try context.save()
        let first = try context.make("Building", in: stores.first, ["name": "A"])
        let second = try context.make("Building", in: stores.second, ["name": "A"])
        for (number, object) in [first, second].enumerated() {
            try Self.write(patternedBytes(Self.large, seed: number), to: object)
        }
        #expect(storeError { try context.save() }?.code == .incompleteSave)
        #expect(try stores.counts("Building") == [1, 1])
        #expect(!first.hasChanges && second.isInserted)
        for (number, object) in [first, second].enumerated() {
            #expect(try Self.plan(object) == patternedBytes(Self.large, seed: number))
        }
        second["name"] = "B"
        try context.save()
        let fresh = stores.context()
        for (number, object) in [first, second].enumerated() {
            #expect(
                try Self.plan(fresh.existingObject(with: object.objectID))
                    == patternedBytes(Self.large, seed: number))
        }
    }

    @Test(
        "A value that waits for its save goes along when the store is moved, wherever it lies",
        arguments: [false, true], [false, true])
    func moved(isBehindOther: Bool, isCopied: Bool) throws {
        try withTemporaryDirectory { directory in
            let coordinator = PersistentStoreCoordinator(try Schema(Self.model))
            let store = try coordinator.addPersistentStore(.init(at: directory.path("old")))
            let context = ManagedObjectContext(store: coordinator)
            let objects = ["A", "B", "C"].map { context.make("Building", ["name": $0]) }
            try context.save()
            if isBehindOther {
                try Self.write(patternedBytes(Self.large), to: objects[0])
                try context.save()
            }
            try Self.write(patternedBytes(Self.large, seed: 1), to: objects[1])
            let begun = try objects[2].valueWriter(forKey: "plan")
            try begun.write(patternedBytes(Self.large, seed: 2))
            let path = directory.path("new")
            if isCopied {
                _ = try store.backup(to: path)
                try coordinator.setURL(URL(fileURLWithPath: path), for: store)
            } else {
                try coordinator.migratePersistentStore(store, to: URL(fileURLWithPath: path))
            }
            #expect(try Self.plan(objects[1]) == patternedBytes(Self.large, seed: 1))
            // What is half written is not: its store is closed.
            #expect(
                storeError {
                    try begun.write(patternedBytes(Self.large, seed: 2))
                    try begun.finish()
                }?.code == .unusable)
            try context.save()
            #expect(!context.hasChanges)
            try coordinator.close()
            for (name, hasPlan) in [("old", false), ("new", true)] {
                let store = try LogStore.open(at: directory.path(name))
                #expect(try store.check().findings.isEmpty)
                let reading = ManagedObjectContext(store: store)
                let plans = try reading.all("Building", sortedBy: "name").map(Self.plan)
                #expect(
                    plans == [
                        isBehindOther ? patternedBytes(Self.large) : nil,
                        hasPlan ? patternedBytes(Self.large, seed: 1) : nil, nil,
                    ])
                try store.close()
            }
        }
    }
}
