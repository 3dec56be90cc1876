// Random commits of every kind on a small disk that fails now and then: what was pinned stays as it was, what
// failed leaves nothing, and what is stored agrees with itself.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Random commits")
struct RandomCommitTests {
    static let model: ManagedObjectModel = {
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("key", .string, optional: false), .init("text", .string),
                .init("value", .integer32), .init("blob", .binary),
            ], uniquenessConstraints: [["key"], ["text"]])
        item.relationships = [
            RelationshipDescription("box", to: "Box", inverse: "items"),
            RelationshipDescription("twin", to: "Item", inverse: "twin"),
            RelationshipDescription("tags", to: "Box", toMany: true, inverse: "tagged"),
            RelationshipDescription("friends", to: "Item", toMany: true, inverse: "friends"),
        ]
        item.indexes = [
            FetchIndexDescription("byText", elements: [.init("text")]),
            FetchIndexDescription(
                "byBox", elements: [.init("box"), .init("value", ascending: false)]),
        ]
        var special = EntityDescription(
            "Special", attributes: [.init("serial", .integer64)],
            uniquenessConstraints: [["serial"], ["box", "value"]])
        special.superentityName = "Item"
        special.indexes = [FetchIndexDescription("byBlob", elements: [.init("blob")])]
        var box = EntityDescription(
            "Box", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        box.relationships = [
            RelationshipDescription(
                "items", to: "Item", toMany: true, inverse: "box", deleteRule: .cascade),
            RelationshipDescription("tagged", to: "Item", toMany: true, inverse: "tags"),
        ]
        return ManagedObjectModel(entities: [item, special, box])
    }()

    private struct Shop {
        let disk: FaultInjectingFileSystem
        var options: LogStoreOptions
        /// Its work beside the commits is done by hand.
        var scheduler = ManualScheduler()
        var store: LogStore

        init(_ random: inout RandomSource) throws {
            disk = FaultInjectingFileSystem(over: MemoryFileSystem())
            options = SampleStore.options(on: disk, durability: .relaxed)
            options.sizes.segmentBytes = [6000, 30_000].randomElement(using: &random)!
            options.sizes.rowsPerBlock = [4, 16, 1024].randomElement(using: &random)!
            options.sizes.hashBits = [5, 10, 32].randomElement(using: &random) ?? 32
            options.sizes.bytesPerBlock = [600, 128 << 10].randomElement(using: &random)!
            options.sizes.mergedBlocks = [3, 32].randomElement(using: &random)!
            options.sizes.largeValueBytes = 100
            options.sizes.writeBufferBytes = [500, 4 << 20].randomElement(using: &random)!
            // Some stores are opened by checkpoints, with and without a log behind them, others are not.
            options.sizes.checkpointBytes = [3000, 64 << 20].randomElement(using: &random)!
            options.sizes.closingCheckpointBytes = [1, 1 << 20].randomElement(using: &random)!
            options.cacheBytes = [0, 1 << 20].randomElement(using: &random)!
            let scheduler = scheduler
            options.makeScheduler = { scheduler }
            store = try LogStore.open(
                at: "/store", schema: try Schema(RandomCommitTests.model), options: options)
        }

        mutating func reopen() throws {
            try store.close()
            let scheduler = ManualScheduler()
            self.scheduler = scheduler
            options.makeScheduler = { scheduler }
            store = try LogStore.open(at: "/store", options: options)
        }
    }

    static func text(_ pin: PinnedState<EngineState>, _ store: LogStore) throws -> String {
        var bytes: [UInt8] = []
        try withExtendedLifetime(pin) {
            var export = CanonicalExport(reader: store.engine.reader, state: pin.state)
            try export.write { bytes.append(contentsOf: $0) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What is wrong with the newest state, as far as the store can tell.
    private func problems(_ store: LogStore) throws -> [String] {
        let pin = store.engine.registry.pin()
        var problems = try store.check().findings.map { "\($0)" }
        problems += pin.state.blocks._checkInvariants()
        for unique in pin.state.uniques { problems += unique._checkInvariants() }
        for (index, inverse) in pin.state.inverses.enumerated() {
            let tree = pin.state.catalog.references[index].target
            problems += inverse._checkInvariants(targetsBelow: pin.state.nextNumbers[tree])
        }
        return problems + store.engine.registry._checkInvariants()
    }

    // MARK: Commits

    private static let texts = (0..<12).map { number in
        number % 3 == 0 ? String(repeating: "long \(number) ", count: 30) : "text \(number)"
    }

    private func batch(_ random: inout RandomSource) -> BatchInsertRequest {
        let isSpecial = random.oneIn(3)
        let rows = (0..<Int.random(in: 1...8, using: &random)).map { _ -> [String: Any] in
            var row: [String: Any] = ["key": "key \(random.next() % 20)"]
            if random.oneIn(2) { row["text"] = Self.texts.randomElement(using: &random)! }
            if random.oneIn(2) { row["value"] = Int(random.next() % 5) }
            if random.oneIn(5) { row["blob"] = Data(random.bytes(Int(random.next() % 300))) }
            if isSpecial, random.oneIn(2) { row["serial"] = Int(random.next() % 10) }
            return row
        }
        var request = BatchInsertRequest(
            entityName: isSpecial ? "Special" : "Item", objects: rows)
        request.mergePolicy = MergePolicyKind.allCases.randomElement(using: &random)
        request.setOnly = random.oneIn(2)
        request.prunesMissing = random.oneIn(20)
        return request
    }

    private func save(_ store: LogStore, _ base: any StoreSnapshot, _ random: inout RandomSource)
        throws -> SaveRequest
    {
        let schema = store.schema
        var request = SaveRequest()
        request.resolution = .policy(MergePolicyKind.allCases.randomElement(using: &random)!)
        request.mergesAssignedOnly = random.oneIn(2)
        var stored: [[Row]] = []
        for entity in schema.entities {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            fetch.includesRows = true
            stored.append(try base.fetch(fetch).rows)
        }
        var items: [(id: ObjectID, entity: Int)] = (stored[0] + stored[1]).map {
            ($0.id, $0.entity)
        }
        var boxes: [ObjectID] = stored[2].map(\.id)
        for number in 0..<Int(random.next() % 4) {
            let entity = Int(random.next() % 3)
            let id = ObjectID(
                temporary: UInt64(number + 1), hierarchy: store.identity.hierarchies[entity],
                context: store.identity.identifier)
            if entity == 2 { boxes.append(id) } else { items.append((id, entity)) }
            request.inserted.append(
                .init(
                    id: id, entity: entity,
                    values: schema.entities[entity].columns.map { _ in .null }, assigned: []))
        }
        func value(_ name: String) -> Value {
            switch name {
            case "key": return .string("key \(random.next() % 20)")
            case "text":
                return random.oneIn(3)
                    ? .null : .string(Self.texts.randomElement(using: &random)!)
            case "value": return .integer(Int64(random.next() % 5))
            case "blob": return .binary(Data(random.bytes(Int(random.next() % 300))))
            case "serial": return random.oneIn(3) ? .null : .integer(Int64(random.next() % 10))
            case "name": return random.oneIn(4) ? .null : .string("name \(random.next() % 6)")
            case "box":
                return boxes.randomElement(using: &random).map { .objectID($0) } ?? .null
            default:
                return random.oneIn(2)
                    ? .null
                    : items.randomElement(using: &random).map { .objectID($0.id) } ?? .null
            }
        }
        for index in request.inserted.indices {
            let columns = schema.entities[request.inserted[index].entity].columns
            for (column, description) in columns.enumerated()
            where description.name == "key" || random.oneIn(2) {
                request.inserted[index].values[column] = value(description.name)
                request.inserted[index].assigned.insert(column)
            }
        }
        var gone: Set<ObjectID> = []
        for row in stored.joined() where random.oneIn(8) {
            if random.oneIn(4) {
                gone.insert(row.id)
                request.deleted.append(
                    .init(id: row.id, entity: row.entity, version: row.version))
                continue
            }
            var changes: [(column: Int, value: Value)] = []
            for (column, description) in schema.entities[row.entity].columns.enumerated()
            where random.oneIn(3) {
                changes.append((column, value(description.name)))
            }
            request.updated.append(
                .init(id: row.id, entity: row.entity, base: row, changes: changes))
        }
        for (pairs, description) in schema.pairs.enumerated() where random.oneIn(2) {
            for _ in 0..<3 {
                func end(_ entity: Int) -> ObjectID? {
                    entity == 2
                        ? boxes.randomElement(using: &random)
                        : items.randomElement(using: &random)?.id
                }
                guard let source = end(description.source),
                    let destination = end(description.destination)
                else { continue }
                request.pairChanges.append(
                    .init(
                        pairs: pairs, source: source, destination: destination,
                        isAddition: !random.oneIn(3)))
            }
        }
        return request
    }

    private func commit(
        _ store: LogStore, _ base: any StoreSnapshot, _ random: inout RandomSource
    ) throws {
        switch random.next() % 10 {
        case 0:
            let predicate = PredicateNode.compare(
                "value", .equal, .integer(Int64(random.next() % 5)))
            _ = try store.execute(
                BatchDeleteRequest(.fetch(StoreFetch(entity: 0, predicate: predicate))))
        case 1:
            let ids = try base.fetch(StoreFetch(entity: 2)).ids
            _ = try store.execute(BatchDeleteRequest(.ids(Array(ids.prefix(1)), entity: 2)))
        case 2...4: _ = try store.execute(batch(&random))
        default: _ = try store.save(try save(store, base, &random))
        }
    }

    @Test("What was pinned stays, what failed leaves nothing, what is stored agrees with itself")
    func random() throws {
        var random = RandomSource()
        for round in 0..<Campaign.count(1, whole: 200) {
            var shop = try Shop(&random)
            var pins: [(pin: PinnedState<EngineState>, text: String)] = []
            var bases: [any StoreSnapshot] = []
            var failures = 0
            for step in 0..<(Campaign.isLong ? 150 : 60) {
                let place: Comment = "round \(round), step \(step), seed \(random.seed)"
                if bases.isEmpty || random.oneIn(3) { bases.append(try shop.store.snapshot()) }
                if bases.count > 3 { bases.removeFirst() }
                if random.oneIn(4) {
                    let pin = shop.store.engine.registry.pin()
                    pins.append((pin, try Self.text(pin, shop.store)))
                }
                if pins.count > 5 { pins.remove(at: Int(random.next() % 5)) }
                let before = try SampleStore.text(shop.store)
                if random.oneIn(6) {
                    shop.disk.fail(
                        .write, number: 1 + Int(random.next() % 3), of: ".segment",
                        with: .noSpace, afterWriting: Int(random.next() % 600))
                }
                do {
                    try commit(shop.store, bases.randomElement(using: &random)!, &random)
                } catch let error as StoreError {
                    failures += 1
                    #expect(error.code != .damaged && error.code != .unusable, "\(error) \(place)")
                    #expect(try SampleStore.text(shop.store) == before, place)
                }
                shop.disk.clearFaults()
                if random.oneIn(5) { shop.scheduler.run() }
                for pin in pins {
                    #expect(try Self.text(pin.pin, shop.store) == pin.text, place)
                }
                let found = try problems(shop.store)
                #expect(found == [], place)
                if !found.isEmpty { return }
                if step % 40 == 39 {
                    pins = []
                    bases = []
                    #expect(shop.store.engine.registry.keptPages == 0)
                    let text = try SampleStore.text(shop.store)
                    try shop.reopen()
                    #expect(try SampleStore.text(shop.store) == text, place)
                }
            }
            #expect(failures < 140)
            try shop.store.close()
        }
    }
}
